/** The blocks in which the implementations of a fusion may run on a GPU (fusion/plan/block_shapes.c). */
#pragma once

#include "fusion/plan/fusions.h"

enum {
    WEFT_BLOCK_THREADS = 1024,  /* of a block, at most */
    WEFT_BLOCK_ITERATIONS = 64, /* iterations that a script may ask for, at most */
    WEFT_BLOCK_SHAPES = 12      /* that are tried with one choice of variants */
};

/** Threads of an element (0: one, in registers), elements of a block, iterations. */
typedef struct weft_block_shape {
    int threads_per_element, elements, iterations;
} weft_block_shape;

/** What the fuse blocks ask of a fusion that has calls of theirs, by weft_fuse_choice; 0: nothing.
 *  Not possible: two of them ask for different things. The unfused plan is as ever. */
typedef struct weft_block_directive {
    int choices[FUSE_CHOICES];
    bool possible;
} weft_block_directive;
weft_block_directive weft_block_directive_of(const weft_graph *graph,
                                             const weft_compile_options *options,
                                             const weft_fusion *fusion);
/** Is this shape as the directives say? */
bool weft_block_meets_directive(const weft_block_directive *directive,
                                const weft_block_shape *shape);

/** The shapes to try, [WEFT_BLOCK_SHAPES], as the directives say; how many. measured: times of
 *  several iterations may differ. For one thread per element: */
int weft_blocks_of_one(const weft_block_directive *directive, bool measured,
                       weft_block_shape *shapes);
/** for several, as many as the call with most has, or as the one with fewest above one: the others
 *  then go round. */
int weft_blocks_of_several(const weft_block_directive *directive, int most, int fewest,
                           bool measured, weft_block_shape *shapes);
