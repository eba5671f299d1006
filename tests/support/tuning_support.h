/** Helpers for tests of the tuning database: a folder of their own, and the log of the cache's
 * tests. */
#ifndef WEFT_TUNING_SUPPORT_H
#define WEFT_TUNING_SUPPORT_H

#include "cache_support.h"
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "fusion/weft_compile.h"

#include <sqlite3.h>

typedef struct tuning_place {
    char *folder, *cache, *file;
    cache_log log;
    weft_monitor monitor;
    weft_device_options options;
} tuning_place;

static inline tuning_place *tuning_place_make(void) {
    tuning_place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->folder = test_folder_make();
    place->cache = test_path(place->folder, "cache");
    place->file = test_path(place->cache, "tuning-1.sqlite");
    place->monitor = (weft_monitor){.log = cache_log_add, .user = &place->log};
    place->options = (weft_device_options){.size = sizeof(weft_device_options),
                                           .monitor = &place->monitor,
                                           .cache = WEFT_CACHE_ON,
                                           .cache_directory = place->cache};
    return place;
}

static inline void tuning_place_free(tuning_place *place) {
    free(place->cache);
    free(place->file);
    test_folder_remove(&place->folder);
    free(place);
}

/** Predicted seconds of a run: the sum over the kernels. */
static inline double tuning_predicted(const weft_compilation *compilation) {
    double sum = 0;
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info kernel;
        weft_compilation_kernel(compilation, i, &kernel);
        sum += kernel.seconds;
    }
    return sum;
}

static inline void tuning_ok(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s: %s", weft_status_name(status), error->message);
}

static inline weft_tuning *tuning_open(tuning_place *place) {
    weft_error error = {0};
    weft_tuning *tuning = NULL;
    tuning_ok(weft_tuning_open(&place->options, &tuning, &error), &error);
    return tuning;
}

/* `n` times of one primitive: at i + 1 iterations, i + 1 nanoseconds. */
static inline void tuning_add(weft_tuning *tuning, const char *device, const char *primitive,
                              int n) {
    weft_error error = {0};
    for (int i = 0; i < n; ++i) {
        const weft_tuning_time one = {primitive, {32, 0, i + 1, 0}, 1e-9 * (i + 1)};
        tuning_ok(weft_tuning_add_times(tuning, device, &one, 1, &error), &error);
    }
}

/* How many times a primitive has; each must be as tuning_add wrote it. */
static inline int tuning_count(weft_tuning *tuning, const char *device, const char *primitive) {
    weft_error error = {0};
    weft_arena *arena = NULL;
    weft_tuning_time *times = NULL;
    size_t n = 0;
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_tuning_times(tuning, device, primitive, arena, &times, &n, &error), &error);
    for (size_t i = 0; i < n; ++i) {
        assert_int_equal(times[i].point.elements, 32);
        assert_double_near(times[i].seconds, 1e-9 * (double)times[i].point.iterations, 0, 0);
    }
    weft_arena_free(&arena);
    return (int)n;
}

/* What another program does to the file. */
static inline void tuning_sql(const char *file, const char *sql) {
    sqlite3 *database = NULL;
    assert_int_equal(
        sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

#endif
