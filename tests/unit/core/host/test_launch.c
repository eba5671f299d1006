/* labels: quick */
/* Launches: every block once, in the schedule's order, and so bitwise the same on any number of
 * threads; wrong launches are refused. */
#include "core/weft_core.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, MOST_THREADS = 4 };

static const char source[] = "#include <stdint.h>\n"
                             /* counts[b] += 1 */
                             "void count(void *const *a, int64_t n, int64_t first, int64_t last)\n"
                             "{ double *counts = a[0]; (void)n;\n"
                             "  for (int64_t b = first; b < last; ++b) counts[b] += 1; }\n"
                             /* node sums: cell c adds to nodes c, c + 1 and c + 2 */
                             "void add(void *const *a, int64_t n, int64_t first, int64_t last)\n"
                             "{ double *y = a[0]; const double *w = a[1];\n"
                             "  for (int64_t c = 8 * first; c < 8 * last && c < n; ++c) {\n"
                             "    y[c] += w[c]; y[c + 1] += 3 * w[c]; y[c + 2] += w[c] / 7; } }\n"
                             /* 70 arguments */
                             "void wide(void *const *a, int64_t n, int64_t first, int64_t last)\n"
                             "{ (void)n; (void)first; (void)last;\n"
                             "  for (int i = 0; i < 70; ++i) *(double *)a[i] = i; }\n";

typedef struct fixture {
    weft_device *device;
    weft_module *module;
} fixture;

static fixture fixture_make(const char *name) {
    fixture f = {NULL, NULL};
    weft_error error = {0};
    if (weft_device_open(name, NULL, &f.device, &error) != WEFT_OK ||
        weft_module_make(f.device, "launch", source, &f.module, &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
    return f;
}

static fixture fixture_on(int threads) {
    char name[16];
    snprintf(name, sizeof name, "host:%d", threads);
    return fixture_make(name);
}

static void fixture_free(fixture *f) {
    weft_module_free(&f->module);
    weft_device_free(&f->device);
}

static void every_block_runs_once(void **state) {
    static const int64_t sizes[] = {0,    1,    7,    8,     9,     63,    64,
                                    4095, 4096, 4097, 10000, 32768, 99999, 200003};
    (void)state;
    for (int threads = 1; threads <= MOST_THREADS; ++threads) {
        fixture f = fixture_on(threads);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            int64_t n_blocks = (sizes[s] + LANES - 1) / LANES;
            weft_memory *memory = NULL;
            assert_int_equal(weft_memory_make(f.device, (size_t)(n_blocks + 1) * 8, &memory, NULL),
                             WEFT_OK);
            weft_launch launch = {.module = f.module,
                                  .kernel = "count",
                                  .arguments = &memory,
                                  .n_arguments = 1,
                                  .n_elements = sizes[s],
                                  .lanes = LANES};
            for (int round = 0; round < 30; ++round)
                assert_int_equal(weft_device_launch(f.device, &launch, NULL), WEFT_OK);
            const double *counts = weft_memory_host(memory);
            for (int64_t b = 0; b < n_blocks; ++b)
                assert_double_near(counts[b], 30, 0, 0);
            assert_double_near(counts[n_blocks], 0, 0, 0);
            weft_memory_free(&memory);
        }
        assert_int_equal(weft_device_launches(f.device),
                         30 * (int64_t)(sizeof sizes / sizeof sizes[0]));
        fixture_free(&f);
    }
}

/* Ranges of `width` blocks, even ones in the first colour and odd ones in the second: cells of two
 * ranges of one colour share no node as long as a range has two cells. */
static weft_schedule *two_colours(int64_t n_blocks, int64_t width) {
    int64_t n_ranges = (n_blocks + width - 1) / width, n_even = (n_ranges + 1) / 2;
    weft_schedule *schedule = calloc(1, sizeof *schedule);
    assert_non_null(schedule);
    schedule->n_colours = 2;
    schedule->colour_start = calloc(3, sizeof *schedule->colour_start);
    schedule->ranges = calloc((size_t)n_ranges + 1, sizeof *schedule->ranges);
    assert_non_null(schedule->colour_start);
    assert_non_null(schedule->ranges);
    schedule->colour_start[1] = n_even;
    schedule->colour_start[2] = n_ranges;
    for (int64_t r = 0; r < n_ranges; ++r) {
        int64_t at = r % 2 == 0 ? r / 2 : n_even + r / 2;
        schedule->ranges[at][0] = r * width;
        schedule->ranges[at][1] = (r + 1) * width < n_blocks ? (r + 1) * width : n_blocks;
    }
    return schedule;
}

/* The schedule's meaning in plain C. */
static void add_in_order(const weft_schedule *schedule, int64_t n, const double *w, double *y) {
    int64_t n_ranges = schedule->colour_start[schedule->n_colours];
    for (int64_t r = 0; r < n_ranges; ++r)
        for (int64_t c = LANES * schedule->ranges[r][0];
             c < LANES * schedule->ranges[r][1] && c < n; ++c) {
            y[c] += w[c];
            y[c + 1] += 3 * w[c];
            y[c + 2] += w[c] / 7;
        }
}

static double *weights_make(int64_t n) {
    double *w = weft_array_make((size_t)n, sizeof *w);
    assert_non_null(w);
    uint64_t random = 12345;
    for (int64_t c = 0; c < n; ++c) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        w[c] = (double)(random >> 11) * 0x1p-53 - 0.5;
    }
    return w;
}

/* Against plain C to rounding (the kernel may fuse the product with the sum), and bitwise between
 * numbers of threads. */
static void results_do_not_depend_on_threads(void **state) {
    enum { N = 100003, N_BLOCKS = (N + LANES - 1) / LANES };
    (void)state;
    const size_t bytes = (N + 2) * sizeof(double);
    double *w = weights_make(N), *reference = calloc(N + 2, sizeof *reference);
    double *first = calloc(N + 2, sizeof *first);
    weft_schedule *schedule = two_colours(N_BLOCKS, 13);
    add_in_order(schedule, N, w, reference);
    for (int threads = 1; threads <= MOST_THREADS; ++threads) {
        fixture f = fixture_on(threads);
        weft_memory *memories[2] = {NULL, NULL};
        assert_int_equal(weft_memory_make(f.device, bytes, &memories[0], NULL), WEFT_OK);
        assert_int_equal(weft_memory_wrap(f.device, w, N * sizeof(double), &memories[1], NULL),
                         WEFT_OK);
        weft_launch launch = {.module = f.module,
                              .kernel = "add",
                              .arguments = memories,
                              .n_arguments = 2,
                              .n_elements = N,
                              .lanes = LANES,
                              .schedule = schedule};
        for (int round = 0; round < 50; ++round) {
            assert_int_equal(weft_memory_zero(memories[0], NULL), WEFT_OK);
            assert_int_equal(weft_device_launch(f.device, &launch, NULL), WEFT_OK);
            const double *y = weft_memory_host(memories[0]);
            if (threads == 1 && round == 0) {
                memcpy(first, y, bytes);
                for (int64_t i = 0; i < N + 2; ++i)
                    assert_double_near(y[i], reference[i], 0, 4e-16 * 2);
            } else {
                assert_memory_equal(y, first, bytes);
            }
        }
        weft_memory_free(&memories[0]);
        weft_memory_free(&memories[1]);
        fixture_free(&f);
    }
    weft_schedule_free(&schedule);
    assert_null(schedule);
    weft_schedule_free(&schedule);
    weft_schedule_free(NULL);
    free(w);
    free(first);
    free(reference);
}

static void colours_may_be_empty(void **state) {
    (void)state;
    fixture f = fixture_on(2);
    weft_memory *memory = NULL;
    int64_t starts[] = {0, 0, 2, 2, 3}, ranges[][2] = {{0, 1}, {1, 1}, {1, 3}};
    weft_schedule schedule = {4, starts, ranges};
    assert_int_equal(weft_memory_make(f.device, 32, &memory, NULL), WEFT_OK);
    weft_launch launch = {.module = f.module,
                          .kernel = "count",
                          .arguments = &memory,
                          .n_arguments = 1,
                          .n_elements = 24,
                          .lanes = LANES,
                          .schedule = &schedule};
    assert_int_equal(weft_device_launch(f.device, &launch, NULL), WEFT_OK);
    const double *counts = weft_memory_host(memory);
    for (int b = 0; b < 3; ++b)
        assert_double_near(counts[b], 1, 0, 0);
    weft_schedule none = {0, NULL, NULL};
    launch.schedule = &none;
    launch.n_elements = 0;
    assert_int_equal(weft_device_launch(f.device, &launch, NULL), WEFT_OK);
    weft_memory_free(&memory);
    fixture_free(&f);
}

static void many_arguments(void **state) {
    (void)state;
    fixture f = fixture_on(1);
    weft_memory *memories[70] = {NULL};
    for (int i = 0; i < 70; ++i)
        assert_int_equal(weft_memory_make(f.device, 8, &memories[i], NULL), WEFT_OK);
    weft_launch launch = {.module = f.module,
                          .kernel = "wide",
                          .arguments = memories,
                          .n_arguments = 70,
                          .n_elements = 1,
                          .lanes = LANES};
    assert_int_equal(weft_device_launch(f.device, &launch, NULL), WEFT_OK);
    for (int i = 0; i < 70; ++i) {
        assert_double_near(*(double *)weft_memory_host(memories[i]), i, 0, 0);
        weft_memory_free(&memories[i]);
    }
    fixture_free(&f);
}

static void wrong_launches(void **state) {
    static const char *const names[] = {"host:1", "null"};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        fixture f = fixture_make(names[k]), other = fixture_make("null");
        weft_memory *memory = NULL, *foreign = NULL, *missing = NULL;
        weft_error error;
        assert_int_equal(weft_memory_make(f.device, 800, &memory, NULL), WEFT_OK);
        assert_int_equal(weft_memory_make(other.device, 800, &foreign, NULL), WEFT_OK);
        const weft_launch right = {.module = f.module,
                                   .kernel = "count",
                                   .arguments = &memory,
                                   .n_arguments = 1,
                                   .n_elements = 800,
                                   .lanes = LANES};
        assert_int_equal(weft_device_launch(f.device, &right, &error), WEFT_OK);
        weft_launch wrong = right;
        wrong.kernel = "coun";
        assert_int_equal(weft_device_launch(f.device, &wrong, &error), WEFT_ERROR_DEVICE);
        assert_non_null(strstr(error.message, "has no kernel coun"));
        int64_t starts[] = {0, 2}, late[] = {1, 2}, falling[] = {0, -1};
        int64_t outside[][2] = {{0, 50}, {50, 101}}, twice[][2] = {{0, 60}, {50, 100}};
        int64_t backward[][2] = {{100, 0}, {0, 200}}, negative[][2] = {{-1, 50}, {50, 99}};
        weft_schedule schedules[] = {
            {1, starts, outside}, {1, starts, twice},  {1, starts, backward}, {1, starts, negative},
            {1, late, twice},     {1, falling, twice}, {-1, starts, twice},   {0, NULL, NULL}};
        for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; ++i) {
            wrong = right;
            wrong.schedule = &schedules[i];
            assert_int_equal(weft_device_launch(f.device, &wrong, &error), WEFT_ERROR_USAGE);
        }
        weft_launch others[7];
        for (int i = 0; i < 7; ++i)
            others[i] = right;
        others[0].module = other.module;
        others[1].arguments = &foreign;
        others[2].arguments = &missing;
        others[3].lanes = 0;
        others[4].n_elements = -1;
        others[5].n_arguments = -1;
        others[6].kernel = NULL;
        for (int i = 0; i < 7; ++i)
            assert_int_equal(weft_device_launch(f.device, &others[i], &error), WEFT_ERROR_USAGE);
        assert_int_equal(weft_device_launches(f.device), 1);
        weft_memory_free(&memory);
        weft_memory_free(&foreign);
        fixture_free(&f);
        fixture_free(&other);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_runs_once), cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(colours_may_be_empty),  cmocka_unit_test(many_arguments),
        cmocka_unit_test(wrong_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
