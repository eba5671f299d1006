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
        tried += search->candidates[i].outcome != WEFT_GEMM_UNTRIED;
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
    assert_int_equal(search.candidates[search.standard].outcome, WEFT_GEMM_RUNS);
    assert_true(search.candidates[search.best].seconds[2] > 0);
    for (int i = 0; i < search.n; ++i)
        if (search.candidates[i].seconds[2] > 0)
            assert_true(search.candidates[i].seconds[2] >=
                        search.candidates[search.best].seconds[2]);
    check_t4(&product, &search);
    check(weft_gemm_search_store(tuning, device, &product, 1, &search, &error), &error);
    check(weft_gemm_tuned(tuning, device, &product, 1, &point, &found, &error), &error);
    assert_true(found);
    assert_memory_equal(&point, &search.candidates[search.best].point, sizeof point);
    weft_memory *memories[] = {product.a.memory, product.b.memory, product.c.memory};
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&memories[i]);
    weft_arena_free(&arena);
    weft_tuning_close(&tuning);
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
