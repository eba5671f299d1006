/** The plan. In: graph, limits, options, cover. Out: kernels, buffers, launches. */
#pragma once

#include "fusion/plan/cover.h"

/** Argument of a kernel. */
typedef enum weft_argument_kind {
    ARGUMENT_VALUE,         /* buffer of a value */
    ARGUMENT_CONNECTIVITY,  /* interleaved connectivity */
    ARGUMENT_POSITIONS,     /* positions of a matrix accumulation */
    ARGUMENT_PARTIALS,      /* a reduction's partial results, one a tile: index is its value */
    ARGUMENT_PATCH,         /* the patches of a connectivity: part is a place in
                              weft_patch_arguments */
    ARGUMENT_PRODUCT,       /* argument `part` of the product kernel of operator `index` */
    ARGUMENT_DOUBLE_BUFFER, /* where the next value of a value goes that other blocks still
                                      read */
    ARGUMENT_PATCH_MATRIX,  /* the rows of a matrix (index): part is a place in
                             weft_patch_matrix_arguments */
    ARGUMENT_COLOUR,        /* the elements of one colour of a connectivity: index is the
                             connectivity */
    ARGUMENT_GATHER /* transposed connectivity: start[n_to + 1] (part 0) and positions (part 1) */
} weft_argument_kind;

typedef struct weft_argument {
    weft_argument_kind kind;
    int index; /* value or connectivity; ARGUMENT_GATHER: connectivity */
    int part;  /* ARGUMENT_GATHER: 0 start, 1 positions; ARGUMENT_PATCH, ARGUMENT_PRODUCT: which */
} weft_argument;

/** What a kernel is. Decided once, in fusion/plan/plan.c; one row for each kind stands in the tables
 *  that print (fusion/plan/print.c), write (fusion/codegen/kernel.c) and launch
 *  (fusion/runtime/run.c) kernels. */
typedef enum weft_kernel_kind {
    KERNEL_MAP,          /* one thread, or one lane of a vector, per element */
    KERNEL_REDUCTION,    /* the same, with a partial result of its reductions per tile */
    KERNEL_CELL_COLOURS, /* the same, launched once per colour of elements; additions are plain */
    KERNEL_MULTI_THREAD, /* several threads per element */
    KERNEL_PRODUCT,      /* starts with the product kernel that makes whole rows of a product */
    KERNEL_VERTEX_PATCH, /* its one accumulation is done by the owner: the cells round a vertex */
    KERNEL_EDGE_PATCH,   /* the same, each cell of a patch once, along edges */
    KERNEL_MATRIX_PATCH, /* the same, whole rows of a matrix */
    KERNEL_FINAL_REDUCTION, /* joins the partial results that the kernel before it has made */
    KERNEL_GATHER,          /* targets sum what was stored for them */
    WEFT_KERNEL_KINDS
} weft_kernel_kind;

typedef struct weft_plan_kernel {
    weft_kernel_kind kind;
    const char *name;
    const weft_implementation *implementation; /* NULL: KERNEL_FINAL_REDUCTION, KERNEL_GATHER */
    int index_set;
    weft_operand *loads; /* loaded at the start: whole data, direct or through a connectivity */
    int n_loads;
    int *stores; /* data stored */
    int n_stores;
    int *scatters; /* accumulations done by this kernel, without gathers */
    int n_scatters;
    int gather;   /* KERNEL_GATHER: the accumulation; else -1 */
    int product;  /* KERNEL_PRODUCT: the call whose whole rows it makes; else -1 */
    int prologue; /* KERNEL_PRODUCT: call that the product kernel computes at every row it reads, or
                     -1 */
    int patch_nodes;  /* of a patch */
    bool accumulates; /* a gather or patches add to what is there, else they write */
    weft_argument *arguments;
    int n_arguments;
    int *reductions; /* calls whose partial results this kernel makes, or joins
                        (KERNEL_FINAL_REDUCTION) */
    int n_reductions;
    int *zero; /* data zeroed before the launch */
    int n_zero;
    double bytes_loaded, bytes_stored, flops;
} weft_plan_kernel;

/** A buffer of device memory; intermediates with disjoint lifetimes share one. */
typedef struct weft_plan_buffer {
    int index_set, components; /* components: the most of those that share it */
    int first, last;           /* kernels in whose span it is in use */
} weft_plan_buffer;

typedef struct weft_plan {
    weft_plan_kernel *kernels;
    int n_kernels;
    int *buffer_of; /* [n_values] buffer of an intermediate stored in memory, or -1 (bound, returned
                       or on chip) */
    weft_plan_buffer *buffers;
    int n_buffers;
    int lanes;
    bool is_simt; /* weft_limits.execution */
    int reduction_blocks;
    bool predicated; /* in a loop, on a device with threads, or as the options ask: kernels, and
                        what zeroes for them, do nothing where *active is 0 */
} weft_plan;

/** Does the owner of each target accumulate, over a patch of cells? */
bool weft_kernel_is_patch(weft_kernel_kind kind);
/** Of a patch of a vector's store. */
int weft_patch_nodes(const weft_compile_options *options);
weft_status weft_plan_make(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                           const weft_limits *limits, const weft_compile_options *options,
                           weft_plan **out, weft_error *error);

/** How a kernel adds to its targets: "atomic", "tile-colored", "cell-colored", "gather",
 *  "vertex-patch" or "edge-patch"; NULL: it adds to none. */
const char *weft_plan_scatter_name(const weft_plan *plan, const weft_plan_kernel *kernel);
void weft_plan_print_text(const weft_graph *graph, const weft_plan *plan, weft_text *out);
void weft_plan_print_dot(const weft_graph *graph, const weft_plan *plan, weft_text *out);
/** As fusion/base/json.h says. segment: its number in the compilation; -1: it has none. */
struct json_t *weft_plan_json(const weft_graph *graph, const weft_plan *plan, int segment);
