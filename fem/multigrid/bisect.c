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
    weft_split_share *shares;
    weft_node_sets *sets;
    point_range *tasks;
    int64_t n_tasks;
} bisection;

/* Points from the coordinates of active nodes, in units of 2^-32 of the extent. Returns their
 * number; a node with a coordinate that is not finite is *refused. */
static int64_t points_make(const weft_coarsening *level, const uint8_t *active, weft_point *points,
                           int64_t *refused) {
    int d = level->dimension;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, extent = 0, scale;
    double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    int64_t n = 0;
    *refused = -1;
    for (int64_t i = 0; i < level->n_nodes; ++i)
        for (int c = 0; c < d && active[i]; ++c) {
            double x = level->x[i * d + c] / 2;
            if (!isfinite(x) && *refused < 0)
                *refused = i;
            low[c] = fmin(low[c], x);
            high[c] = fmax(high[c], x);
        }
    for (int c = 0; c < d; ++c)
        extent = fmax(extent, high[c] - low[c]);
    scale = extent > 0 ? 4294967294.0 / extent : 0;
    if (!isfinite(scale))
        scale = 0; /* the extent is not a normal number: all points coincide */
    for (int64_t i = 0; i < level->n_nodes && *refused < 0; ++i)
        if (active[i]) {
            weft_point p = {{0, 0, 0}, (int32_t)i};
            for (int c = 0; c < d; ++c)
                p.q[c] = (uint32_t)((level->x[i * d + c] / 2 - low[c]) * scale + 0.5);
            points[n++] = p;
        }
    return n;
}

/* The first part of a range gets half of its sets. */
static point_range halve(bisection *b, weft_device *device, point_range *r) {
    int64_t n = r->last - r->first, n_sets = r->n_sets / 2;
    weft_split split = {.from = b->buffers[r->buffer] + r->first,
                        .to = b->buffers[!r->buffer] + r->first,
                        .n = n,
                        .k = n * n_sets / r->n_sets,
                        .shares = b->shares,
                        .n_shares = WEFT_SPLIT_SHARES};
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
    int64_t n_points, refused;
    size_t n_nodes = (size_t)level->n_nodes;
    for (int i = 0; i < 2; ++i)
        b.buffers[i] = weft_scratch_make(n_nodes, sizeof *b.buffers[i]);
    b.shares = malloc(WEFT_SPLIT_SHARES * sizeof *b.shares);
    /* Halving leaves no range below a third of a subtree, unless sets are larger than subtrees. */
    b.tasks = malloc((4 * n_nodes / SUBTREE + 2) * sizeof *b.tasks);
    made.nodes = malloc((n_nodes + 1) * sizeof *made.nodes);
    if (!b.buffers[0] || !b.buffers[1] || !b.shares || !b.tasks || !made.nodes)
        TRY(weft_out_of_memory(error, "aggregates"));
    n_points = points_make(level, graph->active, b.buffers[0], &refused);
    if (refused >= 0)
        TRY(weft_error_set(error, WEFT_ERROR_INPUT, "a coordinate of node %lld is not finite",
                           (long long)refused));
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
    for (int i = 0; i < 2; ++i)
        free(b.buffers[i]);
    free(b.shares);
    free(b.tasks);
    weft_node_sets_clear(&made);
    return status;
}
