/** Running a script's plans on synthetic data, to time them (fusion/tune/synthetic_data.c).
 *  In:  a compilation, the number of elements
 *  Out: seconds of its programs and kernels */
#pragma once

#include "fusion/weft_program.h"

typedef struct weft_synthetic_run weft_synthetic_run;
/** Make data for all compilations of a script.
 *  compilation  one of them
 *  n            elements per index set; fewer in those that only are targets of a connectivity;
 *               the root of n, rounded up, in the factors of a product
 *  out          caller's; weft_synthetic_run_free
 *  Errors       WEFT_ERROR_UNSUPPORTED: the script has loops or operators; WEFT_ERROR_MEMORY;
 *               those of the device */
weft_status weft_synthetic_run_make(weft_device *device, const weft_compilation *compilation,
                                    int64_t n, weft_synthetic_run **out, weft_error *error);
void weft_synthetic_run_free(weft_synthetic_run **synthetic_run);
/** Time a program of the script: the best of a few runs.
 *  worthless  stop early if the time exceeds 1.5 times this, in seconds; 0: never
 *  Errors     WEFT_ERROR_USAGE: the data are another script's; those of running */
weft_status weft_synthetic_run_time(weft_synthetic_run *synthetic_run, weft_program *program,
                                    const weft_compilation *compilation, double worthless,
                                    double *seconds, weft_error *error);
/** Time each kernel of a program separately.
 *  compilation  the one that the synthetic run was made for
 *  seconds      caller's, [weft_compilation_kernels], per launch */
weft_status weft_synthetic_run_time_kernels(weft_synthetic_run *synthetic_run,
                                            weft_program *program,
                                            const weft_compilation *compilation, double *seconds,
                                            weft_error *error);
