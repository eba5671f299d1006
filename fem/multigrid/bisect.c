/* Bisects nodes by their coordinates into sets of a given size. */
#include "fem/multigrid/private.h"

#include "fem/base/memory.h"
#include "fem/order/bisection.h"

#include <math.h>
#include <stdlib.h>

enum { SUBTREE = 1 << 14 }; /* largest number of points of a task */

typedef struct point_range {
    int64_t first, last; /* points */
    int64_t set, n_sets; /* that it is divided into */
    int buffer;          /* that holds it */
} point_range;

typedef struct bisection {
    weft_device *device;
    weft_point *buffers[2];
    weft_split_chunk *chunks;
    weft_node_sets *sets;
    point_range *tasks;
    int64_t n_tasks;
} bisection;

/* ---- points from coordinates ---------------------------------------------------------------- */

typedef struct point_chunk {
    double low[3], high[3];
    int64_t n; /* active nodes; then the place of the first one */
    bool refused;
} point_chunk;

typedef struct points_work {
    const weft_coarsening *level;
    const uint8_t *active;
    weft_point *points;
    double low[3], scale;
    point_chunk chunks[WEFT_SPLIT_CHUNKS];
} points_work;

static void chunk_extent(void *user, int64_t chunk) {
    points_work *w = user;
    const int d = w->level->dimension;
    point_chunk s = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0, false};
    int64_t last = weft_chunk_start(w->level->n_nodes, chunk + 1, WEFT_SPLIT_CHUNKS);
    for (int64_t i = weft_chunk_start(w->level->n_nodes, chunk, WEFT_SPLIT_CHUNKS); i < last; ++i) {
        s.n += w->active[i];
        for (int c = 0; c < d && w->active[i]; ++c) {
            double x = w->level->x[i * d + c] / 2; /* differences do not overflow */
            s.refused |= !isfinite(x);
            s.low[c] = x < s.low[c] ? x : s.low[c];
            s.high[c] = x > s.high[c] ? x : s.high[c];
        }
    }
    w->chunks[chunk] = s;
}

static void chunk_points(void *user, int64_t chunk) {
    const points_work *w = user;
    const int d = w->level->dimension;
    int64_t n = w->chunks[chunk].n;
    int64_t last = weft_chunk_start(w->level->n_nodes, chunk + 1, WEFT_SPLIT_CHUNKS);
    for (int64_t i = weft_chunk_start(w->level->n_nodes, chunk, WEFT_SPLIT_CHUNKS); i < last; ++i) {
        weft_point p = {{0, 0, 0}, (int32_t)i};
        for (int c = 0; c < d && w->active[i]; ++c)
            p.q[c] = (uint32_t)((w->level->x[i * d + c] / 2 - w->low[c]) * w->scale + 0.5);
        if (w->active[i])
            w->points[n++] = p;
    }
}

static weft_status refuse_coordinate(const points_work *w, weft_error *error) {
    const int d = w->level->dimension;
    int64_t k = 0;
    while (!w->active[k / d] || isfinite(w->level->x[k]))
        ++k;
    return weft_error_set(error, WEFT_ERROR_INPUT, "a coordinate of node %lld is not finite",
                          (long long)(k / d));
}

/* Points of the active nodes in units of 2^-32 of the extent. */
static weft_status points_make(points_work *w, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    double extent = 0;
    TRY(weft_device_for(w->level->device, WEFT_SPLIT_CHUNKS, chunk_extent, w, error));
    *n = 0;
    for (int c = 0; c < w->level->dimension; ++c) {
        double high = -HUGE_VAL;
        w->low[c] = HUGE_VAL;
        for (int s = 0; s < WEFT_SPLIT_CHUNKS; ++s) {
            w->low[c] = fmin(w->low[c], w->chunks[s].low[c]);
            high = fmax(high, w->chunks[s].high[c]);
        }
        extent = fmax(extent, high - w->low[c]);
    }
    for (int s = 0; s < WEFT_SPLIT_CHUNKS; ++s) {
        int64_t count = w->chunks[s].n;
        if (w->chunks[s].refused)
            TRY(refuse_coordinate(w, error));
        w->chunks[s].n = *n;
        *n += count;
    }
    w->scale = extent > 0 ? 4294967294.0 / extent : 0;
    if (!isfinite(w->scale))
        w->scale = 0; /* the extent is not a normal number: all points coincide */
    TRY(weft_device_for(w->level->device, WEFT_SPLIT_CHUNKS, chunk_points, w, error));
done:
    return status;
}

/* ---- the recursion -------------------------------------------------------------------------- */

/* The first part of a range gets half of its sets. */
static point_range halve(bisection *b, weft_device *device, point_range *r) {
    int64_t n = r->last - r->first, n_sets = r->n_sets / 2;
    weft_split split = {.from = b->buffers[r->buffer] + r->first,
                        .to = b->buffers[!r->buffer] + r->first,
                        .n = n,
                        .k = n * n_sets / r->n_sets,
                        .chunks = b->chunks,
                        .n_chunks = WEFT_SPLIT_CHUNKS};
    weft_split_range(device, &split);
    point_range rest = {r->first + split.k, r->last, r->set + n_sets, r->n_sets - n_sets,
                        !r->buffer};
    *r = (point_range){r->first, r->first + split.k, r->set, n_sets, !r->buffer};
    return rest;
}

static void set_fill(bisection *b, point_range r) {
    const weft_point *points = b->buffers[r.buffer];
    int32_t *nodes = b->sets->nodes;
    b->sets->start[r.set] = r.first;
    for (int64_t i = r.first; i < r.last; ++i) {
        int64_t k = i;
        for (; k > r.first && nodes[k - 1] > points[i].node; --k)
            nodes[k] = nodes[k - 1];
        nodes[k] = points[i].node;
    }
}

static void bisect(bisection *b, point_range r) {
    if (r.n_sets < 2) {
        set_fill(b, r);
        return;
    }
    point_range rest = halve(b, NULL, &r);
    bisect(b, r);
    bisect(b, rest);
}

static void bisect_task(void *user, int64_t i) {
    bisection *b = user;
    bisect(b, b->tasks[i]);
}

static void divide(bisection *b, point_range r) {
    if (r.n_sets < 2 || r.last - r.first <= SUBTREE) {
        b->tasks[b->n_tasks++] = r;
        return;
    }
    point_range rest = halve(b, b->device, &r);
    divide(b, r);
    divide(b, rest);
}

weft_status weft_nodes_bisect(const weft_coarsening *level, const weft_node_graph *graph,
                              weft_node_sets *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_node_sets made = {0};
    bisection b = {.device = level->device, .sets = &made};
    points_work *points = malloc(sizeof *points);
    int64_t n_points = 0;
    size_t n_nodes = (size_t)level->n_nodes;
    for (int i = 0; i < 2; ++i)
        b.buffers[i] = weft_scratch_make(n_nodes, sizeof *b.buffers[i]);
    b.chunks = malloc(WEFT_SPLIT_CHUNKS * sizeof *b.chunks);
    /* Halving leaves no range below a third of a subtree, unless sets are larger than subtrees. */
    b.tasks = malloc((4 * n_nodes / SUBTREE + 2) * sizeof *b.tasks);
    made.nodes = malloc((n_nodes + 1) * sizeof *made.nodes);
    if (!points || !b.buffers[0] || !b.buffers[1] || !b.chunks || !b.tasks || !made.nodes)
        TRY(weft_out_of_memory(error, "aggregates"));
    *points = (points_work){.level = level, .active = graph->active, .points = b.buffers[0]};
    TRY(points_make(points, &n_points, error));
    made.n = (int64_t)((double)n_points / level->aggregate_nodes + 0.5);
    made.n = made.n < 1 ? n_points > 0 : made.n;
    made.start = malloc((size_t)(made.n + 1) * sizeof *made.start);
    if (!made.start)
        TRY(weft_out_of_memory(error, "aggregates"));
    made.start[made.n] = n_points;
    if (made.n)
        divide(&b, (point_range){0, n_points, 0, made.n, 0});
    TRY(weft_device_for(level->device, b.n_tasks, bisect_task, &b, error));
    *out = made;
    made = (weft_node_sets){0};
done:
    free(points);
    for (int i = 0; i < 2; ++i)
        free(b.buffers[i]);
    free(b.chunks);
    free(b.tasks);
    weft_node_sets_clear(&made);
    return status;
}
