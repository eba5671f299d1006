/** The blocks in which the implementations of a fusion may run on a GPU (fusion/plan/block_shapes.c). */
#pragma once

#include "fusion/plan/fusions.h"

enum {
    WEFT_BLOCK_THREADS = 1024, /* of a block, at most */
    WEFT_BLOCK_TURNS = 64,     /* iterations that a script may ask for, at most */
    WEFT_BLOCK_SHAPES = 12     /* that are tried with one choice of variants */
};

/** Threads of an instance (0: one, in registers), instances of a block, iterations. */
typedef struct weft_block_shape {
    int warps, instances, iterations;
} weft_block_shape;

/** What the fuse blocks ask of a fusion that has calls of theirs, by weft_fuse_choice; 0: nothing.
 *  Not possible: two of them ask for different things. The unfused plan is as ever. */
typedef struct weft_block_wish {
    int choices[FUSE_CHOICES];
    bool possible;
} weft_block_wish;
weft_block_wish weft_block_wish_of(const weft_graph *graph, const weft_compile_options *options,
                                   const weft_fusion *fusion);
/** Is this shape as is wished? */
bool weft_block_wished(const weft_block_wish *wish, const weft_block_shape *shape);

/** The shapes to try, [WEFT_BLOCK_SHAPES], as is wished; how many. measured: times of several
 *  iterations may differ. For one thread an instance: */
int weft_blocks_of_one(const weft_block_wish *wish, bool measured, weft_block_shape *shapes);
/** for several, as many as the call with most has, or as the one with fewest above one: the others
 *  then go round. */
int weft_blocks_of_several(const weft_block_wish *wish, int most, int fewest, bool measured,
                           weft_block_shape *shapes);
