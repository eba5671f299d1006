/** Running a script's plans on data of our own making (fusion/tune/synthetic_data.c). */
#pragma once

#include "fusion/weft_program.h"

typedef struct weft_synthetic_run weft_synthetic_run;
/** Data for a script, as one of its compilations has it: n elements of each index set, fewer of
 *  those that a connectivity leads to.
 *  Errors  WEFT_ERROR_UNSUPPORTED: it has loops or operators */
weft_status weft_synthetic_run_make(weft_device *device, const weft_compilation *compilation,
                                    int64_t n, weft_synthetic_run **out, weft_error *error);
void weft_synthetic_run_free(weft_synthetic_run **synthetic_run);
/** Seconds of a run of a program of that script: the best of a few. worthless: what is half as slow
 *  again needs no second measurement; 0: none. */
weft_status weft_synthetic_run_time(weft_synthetic_run *synthetic_run, weft_program *program,
                                    const weft_compilation *compilation, double worthless,
                                    double *seconds, weft_error *error);
/** The same of each of its kernels alone: seconds [n_kernels]. The synthetic run is the
 *  compilation's own. */
weft_status weft_synthetic_run_time_kernels(weft_synthetic_run *synthetic_run,
                                            weft_program *program,
                                            const weft_compilation *compilation, double *seconds,
                                            weft_error *error);
