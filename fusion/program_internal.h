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
    weft_memory **arguments;  /* for one launch */
    bool ready;
};

#endif
