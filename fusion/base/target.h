/** Sizes of kernels that all stages share. */
#pragma once

#include "core/weft_core.h"

/** Host: blocks of lanes whose contributions a reduction joins into one partial result. With the
 *  number of lanes it determines the reduction tree: partial results do not depend on the number of
 *  threads, and are joined pairwise. */
#define WEFT_REDUCTION_BLOCKS 256
#define WEFT_CUDA_LANES 32      /* a warp */
#define WEFT_CUDA_THREADS 128   /* a thread block */
#define WEFT_CUDA_RESERVED 1024 /* bytes of shared memory that the system reserves per block */
#define WEFT_CUDA_WARPS_MAX 32
#define WEFT_CUDA_REDUCTION_TILE 512 /* elements per partial result */
#define WEFT_CUDA_DIRECT 40960       /* partial results that one thread block joins */
#define WEFT_CUDA_DIRECT_EXACT 4096  /* the same of exact sums, which are five times as long */
#define WEFT_CUDA_JOINED 2048  /* where there are more: of each block that joins some before */
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
/** Elements per block of interleaved data. */
static inline int weft_target_lanes(const weft_limits *limits, bool single) {
    return single ? limits->lanes_float : limits->lanes_double;
}
