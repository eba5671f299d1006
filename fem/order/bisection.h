/* Shared by fem/order/bisection.c, the recursion, and fem/order/split.c, which splits one range.
 * Not installed. */
#pragma once

#include "core/weft_core.h"

/** A node: its coordinates relative to the extent of the mesh, in units of 2^-32 (2D: q[2] = 0). */
typedef struct weft_point {
    uint32_t q[3];
    int32_t node;
} weft_point;

#define WEFT_SPLIT_CHUNKS 256 /* of a range that is processed by all threads */
#define WEFT_SPLIT_BINS 512

/** Partial results of one chunk of a range: bounding box, histogram, points below the pivot. */
typedef struct weft_split_chunk {
    uint32_t low[3], high[3];
    int32_t bins[WEFT_SPLIT_BINS], less;
} weft_split_chunk;

typedef struct weft_split {
    const weft_point *from;
    weft_point *to;
    int64_t n, k;             /* the k lowest points go to the front */
    weft_split_chunk *chunks; /* [n_chunks] */
    int64_t n_chunks;
    int axis, shift, bin;
    uint32_t low;
    weft_point pivot; /* the lowest of the other points */
} weft_split;

/** Copy the n points of `from` to `to`, the k lowest along the longest axis of their bounding box,
 *  0 < k < n, first; the order within both parts is unspecified.
 *  device  NULL: one chunk, on this thread */
void weft_split_range(weft_device *device, weft_split *split);
/** Sort points along the longest axis of their bounding box, in place. For a few tens of points. */
void weft_points_sort(weft_point *points, int64_t n);
