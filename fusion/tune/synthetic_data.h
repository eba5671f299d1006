/** Running a script's plans on data of our own making (fusion/tune/synthetic_data.c). */
#pragma once

#include "fusion/weft_program.h"

typedef struct weft_rehearsal weft_rehearsal;
/** Data for a script, as one of its compilations has it: n instances of each index set, fewer of
 *  those that a connectivity leads to.
 *  Errors  WEFT_ERROR_UNSUPPORTED: it has loops or operators */
weft_status weft_rehearsal_make(weft_device *device, const weft_compilation *compilation, int64_t n,
                                weft_rehearsal **out, weft_error *error);
void weft_rehearsal_free(weft_rehearsal **rehearsal);
/** Seconds of a run of a program of that script: the best of a few. worthless: what is half as slow
 *  again needs no second measurement; 0: none. */
weft_status weft_rehearsal_time(weft_rehearsal *rehearsal, weft_program *program,
                                const weft_compilation *compilation, double worthless,
                                double *seconds, weft_error *error);
/** The same of each of its kernels alone: seconds [n_kernels]. The rehearsal is the compilation's
 *  own. */
weft_status weft_rehearsal_time_kernels(weft_rehearsal *rehearsal, weft_program *program,
                                        const weft_compilation *compilation, double *seconds,
                                        weft_error *error);
