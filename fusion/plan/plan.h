/** The plan. In: graph, limits, options, cover. Out: kernels, buffers, launches. */
#ifndef FUSION_PLAN_PLAN_H
#define FUSION_PLAN_PLAN_H

#include "core/weft_core.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/implementation.h"
#include "fusion/weft_compile.h"

/** Argument of a kernel. */
typedef enum weft_argument_kind {
    ARGUMENT_DATUM,       /* buffer of a datum */
    ARGUMENT_MAP,         /* interleaved connectivity */
    ARGUMENT_POSITIONS,   /* positions of a matrix accumulation */
    ARGUMENT_PARTIALS,    /* a reduction's partial results, one a chunk: index is its datum */
    ARGUMENT_STAR,        /* the stars of a map: part is a place in weft_star_arguments */
    ARGUMENT_ROWS,        /* argument `part` of the routine of operator `index` */
    ARGUMENT_TWIN,        /* where the next value of a datum goes that other blocks still read */
    ARGUMENT_STAR_MATRIX, /* the rows of a matrix (index): part is a place in
                             weft_star_matrix_arguments */
    ARGUMENT_COLOUR,      /* the instances of one colour of a map: index is the map */
    ARGUMENT_GATHER /* transposed connectivity: start[n_to + 1] (part 0) and positions (part 1) */
} weft_argument_kind;

typedef struct weft_argument {
    weft_argument_kind kind;
    int index; /* datum or map; ARGUMENT_GATHER: map */
    int part;  /* ARGUMENT_GATHER: 0 start, 1 positions; ARGUMENT_STAR, ARGUMENT_ROWS: which */
} weft_argument;

typedef struct weft_plan_kernel {
    const char *name;
    const weft_implementation *implementation; /* NULL: a gather */
    int index_set;
    weft_operand *loads; /* loaded at the start: whole data, direct or through a map */
    int n_loads;
    int *stores; /* data stored */
    int n_stores;
    int *scatters; /* accumulations done by coloured stores */
    int n_scatters;
    int gather;        /* accumulation that this kernel gathers, or -1 */
    int rows;          /* call whose whole rows this kernel makes first, or -1 */
    int folded;        /* call that the routine computes at every row it reads, or -1 */
    bool stars;        /* its one accumulation is done by the owner, star by star */
    bool edges;        /* stars of edges, not of vertices */
    int star_nodes;    /* of a patch of stars */
    bool cell_colours; /* its accumulations are plain additions: a launch a colour of instances */
    bool adds;         /* a gather, or stars, that add to what is there, else they write */
    weft_argument *arguments;
    int n_arguments;
    int *reductions; /* calls whose partial results this kernel makes */
    int n_reductions;
    bool finishes; /* it joins the partial results of these reductions, made by the kernel before */
    int *zero;     /* data zeroed before the launch */
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
    int *buffer_of; /* [n_data] buffer of an intermediate stored in memory, or -1 (bound, returned
                       or on chip) */
    weft_plan_buffer *buffers;
    int n_buffers;
    int lanes;
    bool is_simt; /* weft_limits.execution */
    int reduction_blocks;
    bool guarded; /* in a loop, on a device with threads, or as the options ask: kernels, and what
                     zeroes for them, do nothing where *go is 0 */
} weft_plan;

/** Of a patch of stars of a vector. */
int weft_star_nodes(const weft_compile_options *options);
weft_status weft_plan_make(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                           const weft_limits *limits, const weft_compile_options *options,
                           weft_plan **out, weft_error *error);


/** How a kernel adds to its targets: "atomic", "chunk-colored", "cell-colored", "gather",
 *  "vertex-patch" or "edge-patch"; NULL: it adds to none. */
const char *weft_plan_scatter_name(const weft_plan *plan, const weft_plan_kernel *kernel);
void weft_plan_print_text(const weft_graph *graph, const weft_plan *plan, weft_text *out);
void weft_plan_print_dot(const weft_graph *graph, const weft_plan *plan, weft_text *out);
/** segment: of the compilation. */
void weft_plan_print_json(const weft_graph *graph, const weft_plan *plan, int segment,
                          weft_text *out);

#endif
