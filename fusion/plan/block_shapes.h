/** Thread block shapes in which the implementations of a fusion may run on a GPU. */
#pragma once

#include "fusion/plan/fusions.h"

enum {
    WEFT_BLOCK_ITERATIONS = 64,    /* maximum iterations that a script may request */
    WEFT_REDUCTION_ITERATIONS = 8, /* of kernels with reductions: 1, 2, 4 or 8 */
    WEFT_BLOCK_SHAPES = 128        /* maximum shapes tried per choice of variants */
};

/** May a thread block have this number of elements? A multiple of the warp size, or, if each has several
 *  threads, a power of two below it. */
bool weft_block_elements_are_possible(const weft_target *target, int elements,
                                      bool several_threads);
/** The most elements with this number of threads each that a block may have. */
int weft_block_elements_most(const weft_target *target, int threads);

/** Threads per element (0: one, data in registers), elements per block, serial iterations, and the
 *  number of elements between those of a thread, which divides `elements`. */
typedef struct weft_block_shape {
    int threads_per_element, elements, iterations, stride;
} weft_block_shape;

/** The choices that `fuse` blocks make for a fusion containing their calls, by weft_fuse_choice;
 *  0: free. possible is false if two blocks contradict each other. Unfused plans ignore them. */
typedef struct weft_block_directive {
    int choices[FUSE_CHOICES];
    bool possible;
    weft_target target; /* of the device */
} weft_block_directive;
weft_block_directive weft_block_directive_of(const weft_graph *graph, const weft_limits *limits,
                                             const weft_compile_options *options,
                                             const weft_fusion *fusion);
/** Does the shape satisfy the directive? */
bool weft_block_meets_directive(const weft_block_directive *directive,
                                const weft_block_shape *shape);

/** Candidate shapes for one thread per element, with one iteration unless the script requests more, the preferred of
 *  equal ones first. Returns their number.
 *  shapes  caller's, [WEFT_BLOCK_SHAPES] */
int weft_blocks_of_one(const weft_block_directive *directive, weft_block_shape *shapes);
/** The same for several threads per element: every power of two below the most, and `fewest`.
 *  most, fewest  maximum, and minimum above one, of threads over the calls; with fewer threads per
 *                element than a call has, it loops over its own */
int weft_blocks_of_several(const weft_block_directive *directive, int most, int fewest,
                           weft_block_shape *shapes);
