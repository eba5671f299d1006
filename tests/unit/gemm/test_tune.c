/* labels: full */
/* The search for the fastest kernel, in the emulation of CUDA text: candidates are compiled and
 * timed, those that the compiler refuses are marked, the winner is found again in the tuning
 * database, and the T4 text has a result for each candidate that was tried. Times of the emulation
 * mean nothing, so no expectation depends on them. */
#include "emulated_gpu.h"
#include "gemm/tune.h"
#include "test_support.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static weft_gemm_matrix matrix_make(weft_device *device, int64_t n) {
    weft_error error;
    weft_gemm_matrix matrix = {.ld = n};
    check(weft_memory_make(device, (size_t)(n * n) * 8, &matrix.memory, &error), &error);
    return matrix;
}

static void check_t4(const weft_gemm_product *product, const weft_gemm_search *search) {
    weft_text text = {0};
    weft_gemm_search_t4(product, search, &text);
    json_t *json = json_loads(text.data, 0, NULL);
    assert_non_null(json);
    const json_t *results = json_object_get(json, "results");
    int tried = 0;
    for (int i = 0; i < search->n; ++i)
        tried += search->candidates[i].trial.outcome != WEFT_TRIAL_UNTRIED;
    assert_true(tried >= 3);
    assert_int_equal(json_array_size(results), tried);
    const json_t *first = json_array_get(results, 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(first, "configuration"), "BM")),
        search->candidates[0].point.values[MMA_BM]);
    assert_string_equal(json_string_value(json_object_get(first, "invalidity")), "correct");
    json_decref(json);
    weft_text_free(&text);
}

/* A second search compiles and times no candidate that the first has timed, before its last stage, and keeps
 * their times; those that are new follow. */
static void check_second_search(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                weft_tuning *tuning, const weft_gemm_search *first,
                                weft_error *error) {
    weft_arena *arena = NULL;
    weft_gemm_search again;
    check(weft_arena_make(&arena, error), error);
    check(weft_gemm_search_best(kernels, product, 1,
                                &(weft_gemm_search_options){.seconds = 1e-3,
                                                            .threads = 1,
                                                            .spill_bytes = -1,
                                                            .chunk = 3,
                                                            .least = 1e-9,
                                                            .known = tuning},
                                arena, &again, error),
          error);
    assert_true(first->n_timed > 0);
    assert_int_equal(first->n_known, 0);
    /* and those with other groups of tiles, which only the last stage has compiled */
    assert_true(again.n_known >= first->n_timed);
    for (int i = 0; i < first->n_timed; ++i)
        if (again.candidates[i].trial.known)
            assert_memory_equal(&again.candidates[i].point, &first->candidates[i].point,
                                sizeof again.candidates[i].point);
    assert_true(again.n_compiled <= 3 && again.n_timed == again.n_compiled);
    assert_int_equal(again.candidates[again.best].trial.outcome, WEFT_TRIAL_RUNS);
    /* what is stored is read without any measurement */
    weft_gemm_search stored;
    check(weft_gemm_search_read(kernels, product, 1, tuning, arena, &stored, error), error);
    assert_true(stored.n_known >= first->n_timed);
    assert_memory_equal(&stored.candidates[stored.best].point,
                        &first->candidates[first->best].point, sizeof(weft_gemm_point));
    assert_true(stored.candidates[stored.best].trial.seconds[2] ==
                first->candidates[first->best].trial.seconds[2]);
    weft_arena_free(&arena);
}

static weft_gemm_candidate with_times(double median, double step, double joules) {
    weft_gemm_candidate c = {.trial.outcome = WEFT_TRIAL_RUNS, .joules = joules};
    for (int i = 0; i < WEFT_TRIAL_ROUNDS; ++i)
        c.trial.rounds[i] = median + (i - WEFT_TRIAL_ROUNDS / 2) * step;
    c.trial.seconds[WEFT_TRIAL_STAGES - 1] = median;
    return c;
}

/* Ranks worked out by hand: of the 81 pairs of 96, 97 ... 104 and 97, 98 ... 105 28 are in the other order and
 * 8 equal, so 32, which is chance; of those of 96 ... 104 and 103 ... 111 1 and 2, so 2, which is not. */
static void test_rank(void **state) {
    (void)state;
    weft_gemm_candidate list[] = {with_times(107, 1, 1), with_times(101, 1, 5),
                                  with_times(100, 1, 7), with_times(100.9, 1, 0),
                                  with_times(110, 1, 3)};
    const int order[] = {0, 1, 2, 3, 4};
    int tied[5];
    const weft_trials trials = {list, sizeof *list, 5};
    assert_true(weft_trial_same_time(list[1].trial.rounds, list[2].trial.rounds));
    assert_true(weft_trial_same_time(list[2].trial.rounds, list[2].trial.rounds));
    assert_false(weft_trial_same_time(list[0].trial.rounds, list[2].trial.rounds));
    assert_false(weft_trial_same_time(list[2].trial.rounds, list[0].trial.rounds));
    assert_int_equal(weft_trial_tied(&trials, order, 5, tied), 3);
    assert_int_equal(tied[0], 2);
    assert_int_equal(tied[1], 3);
    assert_int_equal(tied[2], 1);
    assert_int_equal(weft_gemm_least_energy(list, tied, 3), 1);
    assert_int_equal(weft_gemm_least_energy(list, tied, 2), 2); /* its energy is unknown */
}

static void test_search(void **state) {
    (void)state;
    enum { SIZE = 40 };
    weft_device *device = NULL;
    weft_gemm_kernels *kernels = NULL;
    weft_tuning *tuning = NULL;
    weft_arena *arena = NULL;
    weft_gemm_search search;
    weft_error error;
    bool found = false;
    weft_gemm_point point;
    weft_device_options options = weft_device_options_default(NULL);
    options.cache = WEFT_CACHE_OFF; /* the database is in memory */
    check(weft_device_open("host:1", &options, &device, &error), &error);
    emulated_gpu_make(device);
    check(weft_gemm_kernels_make(device, &kernels, &error), &error);
    check(weft_tuning_open(&options, &tuning, &error), &error);
    check(weft_arena_make(&arena, &error), &error);
    const weft_gemm_product product = {.type = WEFT_GEMM_DOUBLE,
                                       .m = SIZE,
                                       .n = SIZE,
                                       .k = SIZE,
                                       .alpha = {1, 0},
                                       .a = matrix_make(device, SIZE),
                                       .b = matrix_make(device, SIZE),
                                       .c = matrix_make(device, SIZE)};
    check(weft_gemm_tuned(tuning, device, &product, 1, &point, &found, &error), &error);
    assert_false(found);
    check(weft_gemm_search_best(
              kernels, &product, 1,
              &(weft_gemm_search_options){
                  .seconds = 1e-3, .threads = 1, .spill_bytes = -1, .chunk = 3, .least = 1e-9},
              arena, &search, &error),
          &error);
    assert_int_equal(search.n_compiled, 3); /* a chunk */
    assert_int_equal(search.candidates[search.standard].trial.outcome, WEFT_TRIAL_RUNS);
    assert_true(search.candidates[search.best].trial.seconds[2] > 0);
    for (int i = 0; i < search.n; ++i)
        if (search.candidates[i].trial.seconds[2] > 0)
            assert_true(search.candidates[i].trial.seconds[2] >=
                        search.candidates[search.best].trial.seconds[2]);
    check_t4(&product, &search);
    check(weft_gemm_search_store(tuning, device, &product, 1, &search, &error), &error);
    check(weft_gemm_tuned(tuning, device, &product, 1, &point, &found, &error), &error);
    assert_true(found);
    assert_memory_equal(&point, &search.candidates[search.best].point, sizeof point);
    check_second_search(kernels, &product, tuning, &search, &error);
    weft_memory *memories[] = {product.a.memory, product.b.memory, product.c.memory};
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&memories[i]);
    weft_arena_free(&arena);
    weft_tuning_close(&tuning);
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rank), cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
