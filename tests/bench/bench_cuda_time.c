#include "bench_cuda.h"
#include "core/weft_core.h"

#include <stdlib.h>

enum { REPEATS_MAX = 99, RUNS_MAX = 100, WARM_UP = 3 };
/* Long enough for an event's half microsecond to be a fraction of a percent. */
#define SHORTEST 3e-4

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static weft_status run_many(bench_timing_loop watch, bench_task task, void *user, int n,
                            double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(watch.start(watch.user, error));
    for (int i = 0; i < n; ++i)
        TRY(task(user, error));
    TRY(watch.stop(watch.user, seconds, error));
done:
    return status;
}

weft_status bench_measure(bench_timing_loop watch, bench_task task, void *user, int repeats,
                          double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[REPEATS_MAX], once = 0;
    const int n = repeats < REPEATS_MAX ? repeats : REPEATS_MAX;
    int runs = 1;
    for (int i = 0; i < WARM_UP; ++i)
        TRY(run_many(watch, task, user, 1, &once, error));
    if (once < SHORTEST)
        runs = once > SHORTEST / RUNS_MAX ? (int)(SHORTEST / once) + 1 : RUNS_MAX;
    for (int i = 0; i < n; ++i) {
        TRY(run_many(watch, task, user, runs, &taken[i], error));
        taken[i] /= runs;
    }
    *seconds = bench_median(taken, n);
done:
    return status;
}

static weft_status timer_start(void *user, weft_error *error) {
    return weft_timer_start(user, error);
}

static weft_status timer_stop(void *user, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_timer_stop(user, error));
    TRY(weft_timer_seconds(user, seconds, error));
done:
    return status;
}

bench_timing_loop bench_timer_timing_loop(weft_timer *timer) {
    return (bench_timing_loop){timer_start, timer_stop, timer};
}
