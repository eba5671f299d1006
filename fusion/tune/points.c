/* Chooses the operating points at which a primitive is measured: three nested grids.
 *
 * The coarse grids are useful alone, so a short calibration gives less detail for all primitives
 * rather than full detail for some. */
#include "fusion/base/target.h"
#include "fusion/tune/benchmark.h"
#include "fusion/tune/tune.h"

#include <string.h>

/* Values on one axis, each with the level of the first grid that contains it. */
typedef struct axis {
    int64_t values[8];
    int levels[8], n;
} axis;

static void add_value(axis *a, int64_t at, int level) {
    for (int i = 0; i < a->n; ++i)
        if (a->values[i] == at)
            return;
    a->values[a->n] = at;
    a->levels[a->n++] = level;
}

static void registers_axes(const weft_cost_primitive *primitive, axis *elements, axis *iterations) {
    static const int64_t blocks[][2] = {{128, 0}, {32, 1}, {512, 1}, {64, 2}, {256, 2}};
    static const int64_t serial[][2] = {{1, 0}, {4, 1}, {16, 1}, {2, 2}, {8, 2}};
    for (int i = 0; i < 5; ++i)
        add_value(elements, blocks[i][0], (int)blocks[i][1]);
    if (primitive->kind == WEFT_COST_COMPUTE)
        add_value(iterations, 0, 0);
    for (int i = 0; i < 5 && primitive->kind != WEFT_COST_COMPUTE; ++i)
        add_value(iterations, serial[i][0], (int)serial[i][1]);
}

static void shared_axes(const weft_limits *limits, const weft_cost_primitive *primitive,
                        axis *elements, axis *threads, axis *iterations) {
    const int warp = limits->target.warp_threads;
    int warps[8];
    const int n = weft_benchmark_warps(limits, primitive, warps);
    add_value(elements, warp, 0);
    for (int i = 0; i < n; ++i) /* the middle first, then the ends, then the rest */
        add_value(threads, warp * warps[i], i == n / 2 ? 0 : i == 0 || i == n - 1 ? 1 : 2);
    add_value(iterations, 1, 0);
    add_value(iterations, 4, 1);
    add_value(iterations, 16, 2);
}

/* Shared memory per block such that 1, 2, 4, 8 or 16 blocks are resident. */
static void extra_axis(const weft_limits *limits, axis *extra) {
    static const int blocks[][2] = {{4, 1}, {1, 1}, {16, 2}, {8, 2}, {2, 2}};
    const int64_t all = (int64_t)limits->onchip_bytes + limits->target.reserved_bytes;
    add_value(extra, 0, 0);
    for (int i = 0; i < 5; ++i)
        add_value(extra, all / blocks[i][0] - limits->target.reserved_bytes, blocks[i][1]);
}

int weft_calibration_points(const weft_limits *limits, const weft_cost_primitive *primitive,
                            weft_calibration_point *out, int most) {
    axis a[4] = {{.n = 0}}; /* elements, threads, iterations, extra */
    int n = 0, at[4];
    if (!weft_target_is_simt(limits)) {
        add_value(&a[0], 0, 0);
        add_value(&a[2], 0, 0);
        add_value(&a[3], 0, 0);
        add_value(&a[3], (int64_t)limits->onchip_bytes, 1);
        add_value(&a[3], (int64_t)limits->onchip_bytes / 4, 2);
    } else if (primitive->shared) {
        shared_axes(limits, primitive, &a[0], &a[1], &a[2]);
        extra_axis(limits, &a[3]);
    } else {
        registers_axes(primitive, &a[0], &a[2]);
        extra_axis(limits, &a[3]);
    }
    if (a[1].n == 0)
        add_value(&a[1], 0, 0);
    for (int level = 0; level < WEFT_CALIBRATION_LEVELS; ++level)
        for (int k = 0; k < a[0].n * a[1].n * a[2].n * a[3].n; ++k) {
            int here = 0, rest = k;
            for (int d = 0; d < 4; ++d) {
                at[d] = rest % a[d].n;
                rest /= a[d].n;
                here = a[d].levels[at[d]] > here ? a[d].levels[at[d]] : here;
            }
            if (here == level && n < most)
                out[n++] = (weft_calibration_point){{a[0].values[at[0]], a[1].values[at[1]],
                                                     a[2].values[at[2]], a[3].values[at[3]]},
                                                    level};
        }
    return n;
}
