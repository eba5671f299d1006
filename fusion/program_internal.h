/** What program.c (making and binding) and program_run.c (running) share. */
#ifndef PROGRAM_INTERNAL_H
#define PROGRAM_INTERNAL_H

#include "graph_internal.h"

struct weft_program {
    weft_device *device;
    const weft_compilation *compilation;
    weft_module *module;
    int64_t *sizes;           /* [n_index_sets], -1: unknown */
    weft_memory **data;       /* [n_data] bound or own */
    bool *own;                /* [n_data] */
    weft_memory **positions;  /* [n_data] of matrices, borrowed */
    weft_connectivity **maps; /* [n_maps], borrowed */
    weft_memory **buffers;    /* [n_buffers] of intermediates */
    weft_memory **partials;   /* [n_data] of reductions' results, own */
    weft_schedule **chunks;   /* [n_kernels] of those with reductions: their ranges, own */
    weft_memory **arrived;    /* [n_kernels] of those that join partial results, own */
    weft_memory **twins;      /* [n_data] of lists whose next value alternates with them, own */
    bool *swapped;            /* [n_data] is the list's value in its twin? */
    const weft_rows **rows;   /* [n_operators], borrowed */
    weft_memory **arguments;  /* for one launch */
    bool ready;
};

/** program_rows.c: tables, and what kernels with rows routines and joined reductions need besides.
 */
weft_status weft_program_rows_allocate(weft_program *p, weft_error *error);
void weft_program_rows_free(weft_program *p);
weft_status weft_program_rows_prepare(weft_program *p, weft_error *error);
weft_status weft_program_rows_argument(const weft_program *p, const weft_argument *argument,
                                       weft_memory **out, weft_error *error);
/** Grid, block and shared memory of a kernel on cuda. */
void weft_program_rows_launch(const weft_program *p, const weft_plan_kernel *kernel,
                              weft_launch *launch);
/** After a launch: lists whose next value went to their twin are there now. */
void weft_program_rows_swap(weft_program *p, const weft_plan_kernel *kernel);
/** After a loop: bring lists that are in their twins back to the memory that is bound. */
weft_status weft_program_rows_settle(weft_program *p, weft_error *error);

#endif
