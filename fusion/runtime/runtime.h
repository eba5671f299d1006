/** Running programs. In: a compilation, memories bound by name. Out: launches on a device. */
#pragma once

#include "fusion/codegen/codegen.h"
#include "fusion/control/program.h"
#include "fusion/weft_share.h"

/** What a KERNEL_NESTED has on a device, own. */
typedef struct weft_nested_launch {
    weft_memory *sizes;      /* ARGUMENT_SIZES */
    weft_module *module;     /* with the kernel for these sizes; NULL: the program's module */
    weft_nested_shape shape; /* of that kernel */
} weft_nested_launch;

/** Where the entries of elements go in the values of a matrix. */
typedef struct weft_bound_positions {
    weft_memory *memory; /* borrowed; NULL: not bound */
    size_t n_checked;    /* positions that have been read on the host, from the first */
    uint32_t greatest;   /* of these */
} weft_bound_positions;

/** A segment on a device. */
typedef struct weft_program_segment {
    weft_device *device;
    const weft_segment *segment; /* with the plan for the current sizes: one of the two */
    const weft_segment *first;   /* the compilation's; its `otherwise` may be in use */
    weft_module *module;         /* the program's; NULL: it has no kernels */
    /* flag of a predicated plan (weft_plan), borrowed; NULL: use `always` */
    weft_memory *active;
    weft_memory *always;                /* a constant 1, own; NULL: not needed yet */
    int64_t *sizes;                     /* [n_index_sets], -1: unknown */
    weft_memory **data;                 /* [n_values] bound or own */
    bool *own;                          /* [n_values] */
    weft_bound_positions *positions;    /* [n_values][n_connectivities] of matrices */
    weft_matrix_rows *matrix_rows;      /* [n_values] of matrices assembled by rows */
    weft_connectivity **connectivities; /* [n_connectivities], borrowed */
    weft_memory **buffers;              /* [n_buffers] of intermediates; own, or of shared */
    weft_shared_buffers *shared;        /* NULL, or where buffers are from; borrowed */
    weft_memory **partials;             /* [n_values] of reductions' results, own */
    weft_nested_launch *nested;         /* [n_kernels] */
    weft_memory **members;              /* [n_kernels] of groups: their ARGUMENT_MEMBERS, own */
    weft_schedule **chunks;             /* [n_kernels] kernels with reductions: their ranges, own */
    weft_memory **double_buffers; /* [n_values] of lists that alternate between two memories, own */
    bool *swapped;                /* [n_values] is the list's value in its double buffer? */
    const weft_product_arguments **rows; /* [n_operators], borrowed */
    weft_memory **arguments;             /* for one launch */
    struct weft_operator_clock *clock;   /* the program's, or NULL */
    const weft_share **shares;           /* [n_index_sets], borrowed; NULL: not known */
    bool ready;
    bool patches_tried,
        patches_refused; /* those of the first plan, for the connectivities that are bound */
    bool leaves_join;    /* its final reduction is not launched, because loop_N_iteration does it */
} weft_program_segment;

/** Seconds of the script's operators (fusion/runtime/clock.c). */
typedef struct weft_operator_clock weft_operator_clock;

typedef struct weft_program_operator {
    weft_program_apply apply;
    void *user;
} weft_program_operator;

struct weft_program {
    weft_device *device;
    const weft_compilation *compilation;
    weft_module *module; /* own or the compilation's; NULL: there are no kernels */
    bool owns_module;
    weft_program_segment **segments;  /* [n_segments] */
    int64_t *sizes;                   /* [n_indices] of the script, -1: unknown */
    weft_memory **memory;             /* [n_names] bound or own */
    bool *own;                        /* [n_names] */
    bool *beginning;                  /* [n_names] the list is the beginning of the memory */
    weft_program_operator *operators; /* [script->n_operators] */
    int captured[WEFT_HISTORIES_MAX]; /* names with a recorded history, or -1 */
    weft_memory *histories[WEFT_HISTORIES_MAX];
    int64_t capacities[WEFT_HISTORIES_MAX];
    int64_t iterations;            /* of the last of the outermost loops, in the last run */
    struct weft_loop_graph *graph; /* fusion/runtime/graph.c; NULL: none yet */
    weft_memory **arguments;       /* for one launch */
    weft_memory *active;           /* of weft_program_predicate, borrowed */
    weft_operator_clock *clock;    /* NULL: nothing is timed */
    bool loops_on_host;            /* weft_program_loop_on_host */
    bool has_agreed;               /* with other ranks, on the order of sums */
    weft_shared_buffers *shared;   /* NULL, or where intermediate values are from; borrowed */
    bool ready;
};

/** Run one kernel of a prepared program of one segment, on the current contents of memory. */
weft_status weft_program_launch_kernel(weft_program *program, int kernel, weft_error *error);
