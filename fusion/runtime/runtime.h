/** A program that is made, bound and run. In: a compilation and memories. Out: launches. */
#ifndef FUSION_RUNTIME_RUNTIME_H
#define FUSION_RUNTIME_RUNTIME_H

#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

struct weft_program {
    weft_device *device;
    const weft_compilation *compilation;
    weft_module *module; /* NULL: there is no kernel */
    bool own_module;
    weft_memory *go;                /* of a guarded plan (weft_plan), borrowed; NULL: `always` */
    weft_memory *always;            /* a 1, own; NULL: nobody has asked for it */
    struct weft_program_flow *flow; /* NULL: straight */
    int64_t *sizes;                 /* [n_index_sets], -1: unknown */
    weft_memory **data;             /* [n_data] bound or own */
    bool *own;                      /* [n_data] */
    weft_memory **positions;        /* [n_data] of matrices, borrowed */
    weft_matrix_rows *matrix_rows;  /* [n_data] of matrices made row by row */
    weft_connectivity **maps;       /* [n_maps], borrowed */
    weft_memory **buffers;          /* [n_buffers] of intermediates */
    weft_memory **partials;         /* [n_data] of reductions' results, own */
    weft_schedule **chunks;         /* [n_kernels] of those with reductions: their ranges, own */
    weft_memory **twins;     /* [n_data] of lists whose next value alternates with them, own */
    bool *swapped;           /* [n_data] is the list's value in its twin? */
    const weft_rows **rows;  /* [n_operators], borrowed */
    weft_memory **arguments; /* for one launch */
    bool ready;
    bool leaves_join; /* the kernel that joins its last reductions is not launched: another does it
                       */
};
/** Run one kernel of a program without a flow, prepared, whatever the others have left for it. */
weft_status weft_program_launch_kernel(weft_program *program, int kernel, weft_error *error);

#endif
