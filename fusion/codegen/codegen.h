/** Code generation. In: a compilation with steps and plans. Out: the source text of its module. */
#pragma once

#include "fusion/control/program.h"

/** Write the module of a compilation: the prelude, the kernels of each segment and, on devices with
 *  threads, one-thread kernels for uniform arithmetic ("scalars_N") and for loops ("loop_N_begin",
 *  "loop_N_iteration"). The arguments of one-thread kernels are the number of elements, the uniform
 *  names that weft_control_uses returns true for, in their order, then `active` of the loop, then
 *  those that fusion/codegen/program.c lists.
 *  Sets source and body of the compilation, in its arena. The body of a kept plan is taken as it is.
 *  Errors  WEFT_ERROR_MEMORY; they are untouched */
weft_status weft_source_make(weft_compilation *compilation, weft_error *error);

/** The spelling of generated code on one backend. */
typedef struct weft_backend {
    const char *language; /* see weft_limits */
    const char *cheaply;  /* text before all else that runs once (weft_compile_options.runs_once) */
    /** Everything before the kernels: types, loads, stores, intrinsics. */
    void (*prelude)(weft_text *out, const weft_limits *limits, bool single);
    const char *nested;  /* file of the prelude for kernels over a product of two index sets */
    const char *combine; /* file of the text of an operator of reductions */
    const char *exact;   /* file of the text of sums over several ranks; NULL: there are none */
    const char *combine_nested; /* the same for kernels over a product of two index sets */
    const char *splat;          /* see weft_body_style */
    /* the number of the element as a `real`; of pair (i, j) in kernels over rows and columns */
    const char *element, *element_of_pair;
    /** True: one thread per element, with the number `lane` in its block. False: a loop over
     *  blocks, whose elements are the lanes of vectors. */
    bool is_threaded;
} weft_backend;
/** The backend of limits->language; if that is NULL, the first one of limits->execution. */
const weft_backend *weft_source_backend(const weft_limits *limits);
/** Do threads share a target of a KERNEL_GATHER? As many as this: about sixteen contributions each, but one thread for few. */
bool weft_source_shares_targets(const weft_graph *graph, bool is_threaded,
                                const weft_plan_kernel *kernel);
int weft_source_gather_threads(const weft_target *target, int64_t contributions, int64_t targets,
                               bool distributed);
/** How a KERNEL_NESTED uses a GPU, with clusters or of few rows, for the sizes of a run. */
typedef struct weft_nested_shape {
    int few_rows; /* at most these, of which each thread has whole columns; 0: of any number */
    int threads;  /* per block that compute; over rows, one more warp copies */
    int steps;    /* columns per thread over rows, rows per thread over columns; few rows at once */
    int full;     /* over rows: of these, those that every block has */
    int held;     /* over columns: of these, those that stay in shared memory */
    int cluster;  /* blocks that share a slice */
    int slots, part_bytes; /* of the ring: rows, or steps; bytes per matrix and slot */
    int shared_bytes;      /* dynamic, per block */
    int64_t n_parts;       /* clusters */
} weft_nested_shape;
/** Choose the shape. Returns false if the kernel of weft_source_make serves these sizes. */
bool weft_nested_shape_make(const weft_segment *segment, const weft_plan_kernel *kernel,
                            int64_t n_first, int64_t n_second, weft_nested_shape *out);
/** Write a module with this kernel alone, for one shape, under the kernel's usual name.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_source_nested_sized(const weft_segment *segment, const weft_plan_kernel *kernel,
                                     const weft_nested_shape *shape, weft_text *out,
                                     weft_error *error);
/** Threads per block of a KERNEL_MAP whose block shape is not the default (weft_target.block_threads of
 *  one element each); else 0. */
int weft_source_block_threads(const weft_plan *plan, const weft_plan_kernel *kernel);

/** Suffix of a predicated kernel's name: the kernel that zeroes a list that it accumulates into.
 *  Arguments: list, active. */
#define WEFT_CLEAR_SUFFIX "_clear"
