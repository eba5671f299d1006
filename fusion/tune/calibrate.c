/* The calibration loop: measures the missing points of many primitives within a time limit.
 *
 * Coarse points of all primitives come before fine points of any. Results are written to the
 * database about once a second, so an interrupted calibration resumes where it stopped. */
#include "fusion/tune/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEFAULT_SECONDS = 300, KEEP_SECONDS = 1;
enum { PENDING_MOST = 512 };

typedef struct calibration {
    const weft_cost_primitive_set *primitives;
    weft_tuning *tuning;
    const weft_limits *limits;
    weft_calibration_options options;
    const char *device;
    weft_tuning_time *known; /* sorted as by compare_times, the database's order */
    size_t n_known;
    weft_tuning_time pending[PENDING_MOST];
    size_t n_pending;
    double start, kept;
    bool *unsupported; /* [n] */
    int64_t done;
    weft_calibration_result *result;
} calibration;

static double clock_of(void *user) {
    (void)user;
    return weft_clock();
}

static int compare_times(const void *a, const void *b) {
    const weft_tuning_time *x = a, *y = b;
    const int64_t p[] = {x->point.elements, x->point.threads, x->point.iterations, x->point.extra};
    const int64_t q[] = {y->point.elements, y->point.threads, y->point.iterations, y->point.extra};
    int order = strcmp(x->primitive, y->primitive);
    for (int i = 0; i < 4 && order == 0; ++i)
        order = (p[i] > q[i]) - (p[i] < q[i]);
    return order;
}

static bool is_known(const calibration *c, const char *primitive, const weft_tuning_point *at) {
    const weft_tuning_time wanted = {.primitive = primitive, .point = *at};
    return !c->options.again && c->n_known > 0 &&
           bsearch(&wanted, c->known, c->n_known, sizeof *c->known, compare_times);
}

static weft_status keep(calibration *c, weft_error *error) {
    weft_status status = WEFT_OK;
    if (c->n_pending > 0)
        TRY(weft_tuning_add_times(c->tuning, c->device, c->pending, c->n_pending, error));
    c->n_pending = 0;
    c->kept = c->options.clock(c->options.user);
done:
    return status;
}

static weft_status measure_point(calibration *c, int i, const weft_tuning_point *at,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cost_primitive *primitive = &c->primitives->list[i];
    double seconds = 0;
    status = c->options.measure(c->options.user, primitive, at, &seconds, error);
    if (status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_COMPILER) {
        weft_log(c->options.monitor,
                 status == WEFT_ERROR_COMPILER ? WEFT_LOG_WARNING : WEFT_LOG_DEBUG, "left out: %s",
                 error ? error->message : primitive->name);
        c->unsupported[i] = true;
        ++c->result->n_unsupported;
        status = WEFT_OK;
        goto done;
    }
    TRY(status);
    ++c->result->n_measured;
    if (!(isfinite(seconds) && seconds > 0)) /* below the clock's resolution */
        seconds = 1e-15;
    c->pending[c->n_pending++] = (weft_tuning_time){primitive->name, *at, seconds};
    if (c->n_pending == PENDING_MOST || c->options.clock(c->options.user) - c->kept > KEEP_SECONDS)
        TRY(keep(c, error));
done:
    return status;
}

static weft_status count_points(calibration *c, weft_calibration_point *points, weft_error *error) {
    c->unsupported = calloc((size_t)c->primitives->n + 1, sizeof *c->unsupported);
    if (!c->unsupported)
        return weft_out_of_memory(error, "a calibration");
    for (int i = 0; i < c->primitives->n; ++i)
        c->result->n_points += weft_calibration_points(c->limits, &c->primitives->list[i], points,
                                                       WEFT_CALIBRATION_POINTS);
    return WEFT_OK;
}

static weft_status measure_level(calibration *c, int level, weft_calibration_point *points,
                                 bool *out_of_time, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < c->primitives->n && !*out_of_time; ++i) {
        const weft_cost_primitive *primitive = &c->primitives->list[i];
        const int n =
            weft_calibration_points(c->limits, primitive, points, WEFT_CALIBRATION_POINTS);
        for (int k = 0; k < n && !*out_of_time; ++k) {
            if (points[k].level != level)
                continue;
            ++c->done;
            if (is_known(c, primitive->name, &points[k].at)) {
                ++c->result->n_known;
                continue;
            }
            *out_of_time = c->options.clock(c->options.user) - c->start >= c->options.seconds;
            if (!c->unsupported[i] && !*out_of_time)
                TRY(measure_point(c, i, &points[k].at, error));
        }
        weft_progress(c->options.monitor, "calibrate", (double)c->done,
                      (double)c->result->n_points);
    }
done:
    return status;
}

weft_status weft_calibrate_run(const weft_limits *limits, const char *device,
                               const weft_cost_primitive_set *primitives, weft_tuning *tuning,
                               const weft_calibration_options *options,
                               weft_calibration_result *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_calibration_point *points = NULL;
    bool out_of_time = false;
    calibration *c = calloc(1, sizeof *c);
    *out = (weft_calibration_result){0};
    points = calloc(WEFT_CALIBRATION_POINTS, sizeof *points);
    if (!c || !points)
        TRY(weft_out_of_memory(error, "a calibration"));
    c->primitives = primitives;
    c->tuning = tuning;
    c->limits = limits;
    c->options = *options;
    c->device = device;
    c->result = out;
    if (!c->options.clock)
        c->options.clock = clock_of;
    if (!(c->options.seconds > 0))
        c->options.seconds = DEFAULT_SECONDS;
    c->start = c->kept = c->options.clock(c->options.user);
    TRY(weft_arena_make(&arena, error));
    TRY(weft_tuning_times(tuning, device, NULL, arena, &c->known, &c->n_known, error));
    TRY(count_points(c, points, error));
    for (int level = 0; level < WEFT_CALIBRATION_LEVELS; ++level)
        TRY(measure_level(c, level, points, &out_of_time, error));
    TRY(keep(c, error));
    out->seconds = c->options.clock(c->options.user) - c->start;
    out->n_left = out->n_points - out->n_known - out->n_measured;
done:
    if (status != WEFT_OK && c && c->n_pending > 0) /* times measured before the error are valid */
        (void)weft_tuning_add_times(tuning, device, c->pending, c->n_pending, NULL);
    free(c ? c->unsupported : NULL);
    free(points);
    free(c);
    weft_arena_free(&arena);
    return status;
}
