/* The measured cost source: interpolates the times of each primitive on a grid of points.
 *
 * Interpolation is linear in the logarithms; there is no extrapolation.
 *
 * Decision  docs/decisions/0017-predictions-do-not-extrapolate.md */
#include "fusion/cost/measured.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/cost/occupancy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 4 /* elements, threads, iterations, extra */, VALUES = 16, EXTRA = 3 };

typedef struct product_kernel_grid {
    const char *name;
    int64_t values[AXES][VALUES]; /* ascending */
    double places[EXTRA][VALUES]; /* log2 of the values, for all axes but the last */
    int n[AXES];
    double *logs; /* of seconds, [n[0]][n[1]][n[2]][n[3]] */
} product_kernel_grid;

struct weft_measured_costs {
    weft_arena *arena;
    weft_limits limits;
    product_kernel_grid *grids; /* by name */
    int n;
    weft_cost_terms terms; /* of the class of the script that is being predicted */
    weft_cost_terms terms_of[WEFT_SCRIPT_CLASSES];
    char identity[33];
};

static void values_of(const weft_tuning_point *point, int64_t out[AXES]) {
    out[0] = point->elements;
    out[1] = point->threads;
    out[2] = point->iterations;
    out[EXTRA] = point->extra;
}

static void add_value(product_kernel_grid *grid, int d, int64_t at) {
    int k = 0;
    while (k < grid->n[d] && grid->values[d][k] < at)
        ++k;
    if ((k < grid->n[d] && grid->values[d][k] == at) || grid->n[d] == VALUES)
        return;
    memmove(&grid->values[d][k + 1], &grid->values[d][k],
            (size_t)(grid->n[d] - k) * sizeof grid->values[d][0]);
    grid->values[d][k] = at;
    ++grid->n[d];
}

static int find_value(const product_kernel_grid *grid, int d, int64_t at) {
    for (int k = 0; k < grid->n[d]; ++k)
        if (grid->values[d][k] == at)
            return k;
    return -1;
}

/* Index of a time in the grid; -1: not on it. */
static int64_t place_of(const product_kernel_grid *grid, const weft_tuning_time *time) {
    int64_t at[AXES], place = 0;
    values_of(&time->point, at);
    for (int d = 0; d < AXES; ++d) {
        const int k = find_value(grid, d, at[d]);
        if (k < 0)
            return -1;
        place = place * grid->n[d] + k;
    }
    return place;
}

static int64_t size_of(const product_kernel_grid *grid) {
    int64_t size = 1;
    for (int d = 0; d < AXES; ++d)
        size *= grid->n[d];
    return size;
}

/* An interrupted calibration leaves points missing: remove the axis value with the largest fraction
 * of missing points. Returns false if the grid is complete. */
static bool shrink(product_kernel_grid *grid, const weft_tuning_time *times, size_t n) {
    double worst = 0;
    int axis = -1, which = -1;
    for (int d = 0; d < AXES; ++d)
        for (int k = 0; k < grid->n[d]; ++k) {
            int64_t here = 0;
            const double all = (double)size_of(grid) / grid->n[d];
            for (size_t i = 0; i < n; ++i) {
                int64_t at[AXES];
                values_of(&times[i].point, at);
                here += at[d] == grid->values[d][k] && place_of(grid, &times[i]) >= 0;
            }
            const double missing = 1 - (double)here / all;
            if (missing > worst) {
                worst = missing;
                axis = d;
                which = k;
            }
        }
    if (axis < 0)
        return false;
    --grid->n[axis];
    memmove(&grid->values[axis][which], &grid->values[axis][which + 1],
            (size_t)(grid->n[axis] - which) * sizeof grid->values[axis][0]);
    return true;
}

/* Coordinate of extra bytes on the last axis. GPU: minus log2 of the threads that remain resident.
 * Host: log2 of the bytes, offset by a sixteenth of the L1 cache so that it is flat near 0. */
static double place_of_extra(const weft_limits *limits, int64_t threads, int64_t extra) {
    const weft_operating_point point = {.threads = (int)threads, .extra_bytes = (size_t)extra};
    return weft_target_is_simt(limits)
               ? -log2(weft_cost_resident(limits, &point))
               : log2((double)extra + (double)limits->onchip_bytes / 16 + 1);
}

static weft_status make_grid(weft_measured_costs *costs, const weft_tuning_time *times, size_t n,
                             weft_error *error) {
    product_kernel_grid *grid = &costs->grids[costs->n];
    *grid = (product_kernel_grid){.name = times[0].primitive};
    for (size_t i = 0; i < n; ++i) {
        int64_t at[AXES];
        values_of(&times[i].point, at);
        for (int d = 0; d < AXES; ++d)
            add_value(grid, d, at[d]);
    }
    while (shrink(grid, times, n)) {
    }
    if (size_of(grid) == 0)
        return WEFT_OK;
    grid->logs = weft_arena_alloc(costs->arena, (size_t)size_of(grid), sizeof *grid->logs);
    if (!grid->logs)
        return weft_no_memory(error);
    for (size_t i = 0; i < n; ++i) {
        const int64_t place = place_of(grid, &times[i]);
        if (place >= 0)
            grid->logs[place] = log2(times[i].seconds);
    }
    for (int d = 0; d < EXTRA; ++d) /* logarithmic axes */
        for (int k = 0; k < grid->n[d]; ++k)
            grid->places[d][k] = grid->values[d][k] > 0 ? log2((double)grid->values[d][k]) : 0;
    ++costs->n;
    return WEFT_OK;
}

void weft_cost_terms_names(weft_script_class script_class, weft_cost_terms *terms,
                           weft_cost_term out[WEFT_COST_TERMS]) {
    static const char *const names[WEFT_COST_TERMS] = {"launch",   "serial",      "serial barrier",
                                                       "together", "cache bytes", "cache factor"};
    double *const values[WEFT_COST_TERMS] = {
        &terms->launch_seconds,  &terms->non_overlapped, &terms->non_overlapped_barrier,
        &terms->latency_overlap, &terms->cache_bytes,    &terms->cache_factor};
    for (int i = 0; i < WEFT_COST_TERMS; ++i) {
        snprintf(out[i].name, sizeof out[i].name, "term %s %s",
                 script_class == WEFT_SCRIPT_INDIRECT ? "indirect" : "direct", names[i]);
        out[i].value = values[i];
    }
}

/* Read the terms fitted by `weft calibrate --validate` for a class of scripts; if it has not run,
 * equation 3 with the measured launch time. */
static weft_status read_terms(weft_tuning *tuning, const char *device,
                              weft_script_class script_class, weft_cost_terms *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cost_term terms[WEFT_COST_TERMS];
    bool found = false;
    *out = (weft_cost_terms){.launch_seconds = -1, .cache_factor = 1};
    TRY(weft_tuning_get(tuning, device, "launch seconds", &out->launch_seconds, &found, error));
    weft_cost_terms_names(script_class, out, terms);
    for (int i = 0; i < WEFT_COST_TERMS; ++i)
        TRY(weft_tuning_get(tuning, device, terms[i].name, terms[i].value, &found, error));
done:
    return status;
}

/* Hash all measurements that predictions are made of. */
static weft_status identify(weft_measured_costs *costs, const weft_tuning_time *times, size_t n,
                            weft_error *error) {
    weft_text all = {0};
    for (int k = 0; k < WEFT_SCRIPT_CLASSES; ++k) {
        weft_cost_term terms[WEFT_COST_TERMS];
        weft_cost_terms_names((weft_script_class)k, &costs->terms_of[k], terms);
        for (int i = 0; i < WEFT_COST_TERMS; ++i)
            weft_text_add(&all, "%s %.17g|", terms[i].name, *terms[i].value);
    }
    for (size_t i = 0; i < n; ++i) {
        int64_t at[AXES];
        values_of(&times[i].point, at);
        weft_text_add(&all, "%s %.17g|", times[i].primitive, times[i].seconds);
        weft_text_add_bytes(&all, (const char *)at, sizeof at);
    }
    const bool failed = all.failed;
    if (!failed)
        weft_hash(all.data, all.length, costs->identity);
    weft_text_free(&all);
    return failed ? weft_no_memory(error) : WEFT_OK;
}

weft_status weft_measured_costs_make(weft_tuning *tuning, const char *device,
                                     const weft_limits *limits, weft_measured_costs **out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_tuning_time *times = NULL;
    size_t n = 0, first = 0;
    TRY(weft_arena_make(&arena, error));
    weft_measured_costs *made = NULL;
    TRY(WEFT_ALLOC(arena, made, 1, error));
    made->arena = arena;
    made->limits = *limits;
    for (int k = 0; k < WEFT_SCRIPT_CLASSES; ++k)
        TRY(read_terms(tuning, device, (weft_script_class)k, &made->terms_of[k], error));
    made->terms = made->terms_of[WEFT_SCRIPT_DIRECT];
    TRY(weft_tuning_times(tuning, device, NULL, arena, &times, &n, error));
    TRY(identify(made, times, n, error));
    size_t n_names = 1;
    for (size_t i = 1; i < n; ++i)
        n_names += strcmp(times[i].primitive, times[i - 1].primitive) != 0;
    TRY(WEFT_ALLOC(arena, made->grids, n_names, error));
    for (size_t i = 1; i <= n; ++i)
        if (i == n || strcmp(times[i].primitive, times[first].primitive) != 0) {
            TRY(make_grid(made, times + first, i - first, error));
            first = i;
        }
    *out = made;
    arena = NULL;
done:
    weft_arena_free(&arena);
    return status;
}

void weft_measured_costs_free(weft_measured_costs **costs) {
    if (!costs || !*costs)
        return;
    weft_arena *arena = (*costs)->arena;
    *costs = NULL;
    weft_arena_free(&arena);
}

int weft_measured_costs_size(const weft_measured_costs *costs) {
    return costs->n;
}

static int compare_names(const void *name, const void *grid) {
    return strcmp(name, ((const product_kernel_grid *)grid)->name);
}

static weft_status prepare(void *user, weft_cost_primitive *const *primitives, int n,
                           weft_error *error) {
    weft_measured_costs *costs = user;
    (void)error;
    costs->terms = costs->terms_of[WEFT_SCRIPT_DIRECT];
    for (int i = 0; i < n; ++i) {
        if (primitives[i]->kind != WEFT_COST_COMPUTE && primitives[i]->width > 0)
            costs->terms = costs->terms_of[WEFT_SCRIPT_INDIRECT];
        const product_kernel_grid *found =
            costs->n > 0 ? bsearch(primitives[i]->name, costs->grids, (size_t)costs->n,
                                   sizeof *costs->grids, compare_names)
                         : NULL;
        primitives[i]->handle = found ? (int)(found - costs->grids) : -1;
    }
    return WEFT_OK;
}

/* Locate a point on an axis: the grid value at or below, and the fraction of the way to the next.
 * Returns false: out of range. */
static bool find_place(const product_kernel_grid *grid, int d, double at, int *low, double *part) {
    const int n = grid->n[d];
    *low = 0;
    *part = 0;
    if (n == 1)
        return grid->values[d][0] == 0 || fabs(at - (double)grid->values[d][0]) < 0.5;
    if (at < (double)grid->values[d][0] || at > (double)grid->values[d][n - 1])
        return false;
    while (*low < n - 2 && at >= (double)grid->values[d][*low + 1])
        ++*low;
    *part =
        (log2(at) - grid->places[d][*low]) / (grid->places[d][*low + 1] - grid->places[d][*low]);
    return true;
}

/* The same on the last axis, whose coordinates depend on the threads per block. On a GPU points
 * outside are clamped, because there cannot be fewer threads than one block, or more than all. */
static bool find_extra(const product_kernel_grid *grid, const weft_limits *limits, int64_t threads,
                       double at, int *low, double *part) {
    const int n = grid->n[EXTRA];
    double before = place_of_extra(limits, threads, grid->values[EXTRA][0]), next = before;
    *low = 0;
    *part = 0;
    if (n == 1 || at <= before)
        return at <= before || (n > 1 && weft_target_is_simt(limits));
    for (; *low < n - 1; ++*low, before = next) {
        next = place_of_extra(limits, threads, grid->values[EXTRA][*low + 1]);
        if (at <= next)
            break;
    }
    if (*low == n - 1)
        return weft_target_is_simt(limits);
    *part = next > before ? (at - before) / (next - before) : 0;
    return true;
}

static bool lookup(void *user, const weft_cost_primitive *primitive,
                   const weft_operating_point *point, double *seconds) {
    const weft_measured_costs *costs = user;
    const weft_limits *limits = &costs->limits;
    if (primitive->handle < 0 || primitive->handle >= costs->n ||
        (weft_target_is_simt(limits) && point->extra_bytes > limits->onchip_bytes))
        return false;
    const product_kernel_grid *grid = &costs->grids[primitive->handle];
    /* in shared memory, a block of the elements of k warps counts as k blocks of one */
    const int warp = limits->target.warp_threads;
    const double blocks = primitive->shared && point->elements > warp && grid->n[0] == 1
                              ? (double)point->elements / warp
                              : 1;
    const double at[EXTRA] = {point->elements / blocks, point->threads / blocks, point->iterations};
    /* in registers, one thread per element works while the element's other threads wait */
    const double at_work =
        primitive->shared || point->threads <= 0 ? 1 : (double)point->elements / point->threads;
    const double left = weft_target_is_simt(limits)
                            ? -log2(weft_cost_resident(limits, point) * at_work)
                            : place_of_extra(limits, 0, (int64_t)point->extra_bytes);
    int low[EXTRA], low_extra = 0;
    double part[EXTRA], part_extra = 0, sum = 0;
    for (int d = 0; d < EXTRA; ++d)
        if (!find_place(grid, d, at[d], &low[d], &part[d]))
            return false;
    for (int corner = 0; corner < 1 << EXTRA; ++corner) {
        double weight = 1;
        int64_t place = 0, here[EXTRA];
        for (int d = 0; d < EXTRA; ++d) {
            const int up = corner >> d & 1;
            const int k = low[d] + up < grid->n[d] ? low[d] + up : low[d];
            weight *= up ? part[d] : 1 - part[d];
            place = place * grid->n[d] + k;
            here[d] = grid->values[d][k];
        }
        if (weight <= 0)
            continue;
        if (!find_extra(grid, limits, here[1] > 0 ? here[1] : here[0], left, &low_extra,
                        &part_extra))
            return false;
        const double *row = &grid->logs[place * grid->n[EXTRA] + low_extra];
        sum += weight * (part_extra > 0 ? (1 - part_extra) * row[0] + part_extra * row[1] : row[0]);
    }
    *seconds = exp2(sum);
    return true;
}

weft_cost_source weft_measured_costs_source(weft_measured_costs *costs) {
    return (weft_cost_source){.name = "measured",
                              .user = costs,
                              .prepare = prepare,
                              .lookup = lookup,
                              .terms = &costs->terms,
                              .identity = costs->identity};
}
