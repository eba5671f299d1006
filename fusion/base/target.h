/** Sizes of kernels that all stages share. */
#pragma once

#include "core/weft_core.h"

/** Host: blocks of lanes whose contributions a reduction joins into one partial result. With the
 *  number of lanes it determines the reduction tree: partial results do not depend on the number of
 *  threads, and are joined pairwise. */
#define WEFT_REDUCTION_BLOCKS 256
#define WEFT_WARP_MOST 64 /* threads of a warp, at most */
/* Of text by hand: native bodies, product kernels, tiles of matrix products, patches of nodes and edges. GPUs with other warps
 * run plain bodies, and add atomically or by gathers instead. */
#define WEFT_NATIVE_WARP 32
#define WEFT_PATCH_NODES 512   /* of a patch (fusion/connectivity/vertex_patches.h) */
#define WEFT_PATCH_THREADS 128 /* each walks weft_patch_walks patches */
#define WEFT_EDGE_PATCH_THREADS 256
#define WEFT_PATCH_MATRIX_THREADS 512
/* Kernels over a product of two index sets: threads per thread block; maximum number of parts on the
 * host; slices per part below which there are fewer parts. */
#define WEFT_NESTED_THREADS 256
#define WEFT_NESTED_PARTS 64
#define WEFT_NESTED_SLICES 8

static inline bool weft_target_is_simt(const weft_limits *limits) {
    return limits->execution == WEFT_EXECUTION_SIMT;
}
/** Can kernels be made for the target of a SIMT device?
 *
 *      warp_threads        that run together, a power of two: as many as blocks of interleaved data have lanes
 *      block_threads       of a thread block where the plan chooses nothing else: a power of two of warps
 *      block_threads_most  of any thread block: whole warps
 *      resident_threads, resident_blocks
 *                          of a multiprocessor, at most
 *      reserved_bytes      of shared memory, which the system takes per block
 *      reduction_tile      elements per partial result, and threads of the block that joins these: a power of two of usual
 *                          blocks that fits into the largest one, with at most as many warps as a warp has threads, for one
 *                          warp joins what they give
 *      joined_direct       partial results that one block joins; joined_exact: of exact sums, which take five times as long
 *      joined_before       where there are more: of each block that joins some before
 *
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_target_check(const weft_limits *limits, weft_error *error);
/** Elements that a kernel computes together where its plan chooses nothing else: of a thread block, or of a vector. */
static inline int weft_target_block(const weft_limits *limits, bool single) {
    return weft_target_is_simt(limits) ? limits->target.block_threads
           : single                    ? limits->lanes_float
                                       : limits->lanes_double;
}
/** Elements per block of interleaved data. */
static inline int weft_target_lanes(const weft_limits *limits, bool single) {
    return single ? limits->lanes_float : limits->lanes_double;
}
