/** Sizes of kernels that all stages agree on. */
#pragma once

#include "core/weft_core.h"

/** Blocks of lanes whose contributions a reduction joins into one partial result. With the lanes it
 *  fixes the tree of a sum: partial results are the same whatever the threads, and are joined
 *  pairwise. On cuda it is a thread block. */
#define WEFT_REDUCTION_BLOCKS 256
#define WEFT_CUDA_LANES 32      /* a warp */
#define WEFT_CUDA_THREADS 128   /* a thread block */
#define WEFT_CUDA_RESERVED 1024 /* bytes of shared memory that each block takes beside its own */
#define WEFT_CUDA_WARPS_MAX 32
#define WEFT_CUDA_REDUCTION_TILE 512 /* elements whose contributions are one partial result */
#define WEFT_PATCH_NODES 512         /* of a patch (fusion/connectivity/vertex_patches.h) */
#define WEFT_PATCH_THREADS 128       /* each walks weft_patch_walks patches */
#define WEFT_EDGE_PATCH_THREADS 256
#define WEFT_PATCH_MATRIX_THREADS 512

static inline bool weft_target_is_simt(const weft_limits *limits) {
    return limits->execution == WEFT_EXECUTION_SIMT;
}
/** Instances of a block of interleaved data. */
static inline int weft_target_lanes(const weft_limits *limits, bool single) {
    return single ? limits->lanes_float : limits->lanes_double;
}
