/* Numbers nodes by recursive coordinate bisection. A range of points is halved along the longest
 * axis of its bounding box: a histogram finds the bin of the median, selection within the bin finds
 * the median, and the points are copied to its two sides in the other of two buffers. Large ranges
 * are processed by all threads, smaller ones are a task each. All comparisons use a total order, so
 * the result depends neither on the number of threads nor on the selection algorithm.
 *
 * Decision  docs/decisions/0028-bisection-is-the-default-ordering.md */
#include "fem/order/bisection.h"
#include "fem/base/memory.h"
#include "fem/order/private.h"

#include <math.h>
#include <stdlib.h>

enum {
    SUBTREE = 1 << 16, /* maximum points per task: its two buffers fit into the L2 cache */
    ATOM = 32 /* bisection continues within a leaf down to a warp's points, which are sorted */
};

typedef struct range {
    int64_t first, last;
    int buffer; /* index of the buffer that holds it */
} range;

typedef struct bisection {
    weft_device *device;
    const weft_mesh *mesh;
    int64_t leaf;
    weft_point *buffers[2]; /* [n_nodes] */
    int32_t *old;
    double low[3], scale; /* low is that of x / 2, so that differences do not overflow */
    weft_split_chunk *chunks;
    range *ranges; /* tasks */
    int64_t n_ranges;
} bisection;

static int64_t chunk_start(const bisection *b, int64_t chunk) {
    return b->mesh->n_nodes * chunk / WEFT_SPLIT_CHUNKS;
}

/* ---- points from coordinates --------------------------------------------------------------- */

typedef struct extents {
    const bisection *b;
    double low[WEFT_SPLIT_CHUNKS][3], high[WEFT_SPLIT_CHUNKS][3];
} extents;

static void chunk_extents(void *user, int64_t chunk) {
    extents *e = user;
    int d = e->b->mesh->dimension;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int64_t i = chunk_start(e->b, chunk); i < chunk_start(e->b, chunk + 1); ++i)
        for (int c = 0; c < d; ++c) {
            double x = e->b->mesh->x[i * d + c] / 2;
            low[c] = x < low[c] ? x : low[c];
            high[c] = x > high[c] ? x : high[c];
        }
    for (int c = 0; c < 3; ++c) {
        e->low[chunk][c] = low[c];
        e->high[chunk][c] = high[c];
    }
}

static void chunk_points(void *user, int64_t chunk) {
    bisection *b = user;
    int d = b->mesh->dimension;
    for (int64_t i = chunk_start(b, chunk); i < chunk_start(b, chunk + 1); ++i) {
        weft_point p = {{0, 0, 0}, (int32_t)i};
        for (int c = 0; c < d; ++c)
            p.q[c] = (uint32_t)((b->mesh->x[i * d + c] / 2 - b->low[c]) * b->scale + 0.5);
        b->buffers[0][i] = p;
    }
}

double weft_order_scale(double longest) {
    const double scale = longest > 0 ? 4294967294.0 / longest : 0;
    return isfinite(scale) ? scale : 0; /* else the extent is not a normal number */
}

/* Use the same scale for all axes, so that lengths are comparable. */
static weft_status points_make(bisection *b, weft_error *error) {
    weft_status status = WEFT_OK;
    double longest = 0;
    extents *e = malloc(sizeof *e);
    if (!e)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory to order %lld nodes",
                           (long long)b->mesh->n_nodes));
    e->b = b;
    TRY(weft_device_for(b->device, WEFT_SPLIT_CHUNKS, chunk_extents, e, error));
    for (int c = 0; c < b->mesh->dimension; ++c) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int i = 0; i < WEFT_SPLIT_CHUNKS; ++i) {
            low = fmin(low, e->low[i][c]);
            high = fmax(high, e->high[i][c]);
        }
        b->low[c] = low;
        longest = fmax(longest, high - low);
    }
    b->scale = weft_order_scale(longest);
    TRY(weft_device_for(b->device, WEFT_SPLIT_CHUNKS, chunk_points, b, error));
done:
    free(e);
    return status;
}

/* ---- the recursion ------------------------------------------------------------------------- */

/* Halve a range of more than `unit` points at a multiple of `unit`. */
static int64_t halve(weft_device *device, bisection *b, range r, int64_t unit) {
    int64_t n = r.last - r.first;
    weft_split split = {.from = b->buffers[r.buffer] + r.first,
                        .to = b->buffers[!r.buffer] + r.first,
                        .n = n,
                        .k = (n + unit - 1) / unit / 2 * unit,
                        .chunks = b->chunks,
                        .n_chunks = WEFT_SPLIT_CHUNKS};
    weft_split_range(device, &split);
    return r.first + split.k;
}

static void bisect(bisection *b, range r) {
    int64_t n = r.last - r.first;
    if (n <= ATOM) {
        weft_points_sort(b->buffers[r.buffer] + r.first, n);
        for (int64_t i = r.first; i < r.last; ++i)
            b->old[i] = b->buffers[r.buffer][i].node;
        return;
    }
    int64_t middle = halve(NULL, b, r, n > b->leaf ? b->leaf : ATOM);
    bisect(b, (range){r.first, middle, !r.buffer});
    bisect(b, (range){middle, r.last, !r.buffer});
}

static void bisect_task(void *user, int64_t i) {
    bisection *b = user;
    bisect(b, b->ranges[i]);
}

static void divide(bisection *b, range r) {
    int64_t n = r.last - r.first;
    if (n <= SUBTREE || n <= b->leaf) {
        b->ranges[b->n_ranges++] = r;
        return;
    }
    int64_t middle = halve(b->device, b, r, b->leaf);
    divide(b, (range){r.first, middle, !r.buffer});
    divide(b, (range){middle, r.last, !r.buffer});
}

weft_status weft_order_bisect(weft_device *device, const weft_mesh *mesh, int64_t leaf,
                              int32_t *old, weft_error *error) {
    weft_status status = WEFT_OK;
    bisection b = {.device = device, .mesh = mesh, .leaf = leaf, .old = old};
    const range all = {0, mesh->n_nodes, 0};
    bool shared = device && weft_device_limits(device)->threads > 1;
    for (int i = 0; i < 2; ++i)
        b.buffers[i] = weft_scratch_make((size_t)mesh->n_nodes, sizeof *b.buffers[i]);
    b.chunks = malloc(WEFT_SPLIT_CHUNKS * sizeof *b.chunks);
    /* Halving leaves no range below a quarter of a subtree, but for the one with the last leaf. */
    b.ranges = malloc((4 * (size_t)mesh->n_nodes / SUBTREE + 2) * sizeof *b.ranges);
    if (!b.buffers[0] || !b.buffers[1] || !b.chunks || !b.ranges)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to order %lld nodes",
                           mesh->source, (long long)mesh->n_nodes));
    TRY(points_make(&b, error));
    if (shared) {
        divide(&b, all);
        TRY(weft_device_for(device, b.n_ranges, bisect_task, &b, error));
    } else {
        bisect(&b, all);
    }
done:
    free(b.buffers[0]);
    free(b.buffers[1]);
    free(b.chunks);
    free(b.ranges);
    return status;
}
