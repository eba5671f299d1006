/* What fem/order/bisection.c (the recursion) and fem/order/split.c (one range halved) share. Not installed. */
#pragma once

#include "core/weft_core.h"

/** A node: its coordinates over the extent of the mesh, in units of 2^-32 (q[2] = 0 in 2D). */
typedef struct weft_point {
    uint32_t q[3];
    int32_t node;
} weft_point;

#define WEFT_SPLIT_SHARES 256 /* of a range that all threads work on */
#define WEFT_SPLIT_BINS 512

/** What one share of a range has found. */
typedef struct weft_split_share {
    uint32_t low[3], high[3];
    int32_t bins[WEFT_SPLIT_BINS], less;
} weft_split_share;

typedef struct weft_split {
    const weft_point *from;
    weft_point *to;
    int64_t n, k;             /* k points go to the left */
    weft_split_share *shares; /* [n_shares] */
    int64_t n_shares;
    int axis, shift, bin;
    uint32_t low;
    weft_point pivot; /* the first of the right */
} weft_split;

/** Put the k lowest of the n points of `from` along the longest axis of their box, 0 < k < n, to
 *  the front of `to`, and the others behind them, in any order. `from` is kept.
 *  device  NULL: one share, on this thread */
void weft_split_range(weft_device *device, weft_split *split);
/** Ascending along the longest axis of their box, in place. For a few tens of points. */
void weft_points_sort(weft_point *points, int64_t n);
