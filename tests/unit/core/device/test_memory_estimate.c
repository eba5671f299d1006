/* labels: quick */
/* Forecasts of memory: what is added up, what is logged, what is refused and in which words. */
#include "core/weft_core.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct heard {
    weft_monitor monitor;
    int n;
    char all[8000];
} heard;

static void hear(void *user, weft_log_level level, const char *message) {
    heard *h = user;
    if (level != WEFT_LOG_INFO)
        return;
    size_t used = strlen(h->all);
    h->n += 1;
    snprintf(h->all + used, sizeof h->all - used, "%s\n", message);
}

static void sums(void **state) {
    (void)state;
    weft_memory_estimate f = {0};
    weft_memory_estimate_add(&f, "nothing", 0, 8);
    assert_int_equal(f.n_arrays, 0);
    weft_memory_estimate_add(&f, "matrix", 1000, 8);
    weft_memory_estimate_add(&f, "vectors", 10, 8);
    weft_memory_estimate_add(&f, "matrix", 5, 1);
    assert_int_equal(f.n_arrays, 2);
    assert_int_equal(f.arrays[0].bytes, 8005);
    assert_int_equal(f.arrays[1].bytes, 80);
    assert_int_equal(f.bytes, 8085);
    char name[20];
    for (int i = 0; i < 200; ++i) {
        snprintf(name, sizeof name, "array %d", i);
        weft_memory_estimate_add(&f, name, 1, 3);
    }
    assert_int_equal(f.bytes, 8085 + 600);
    assert_int_equal(f.n_arrays, WEFT_MEMORY_ESTIMATE_ARRAYS);
    const weft_memory_estimate_array *last = &f.arrays[WEFT_MEMORY_ESTIMATE_ARRAYS - 1];
    assert_string_equal(last->name, "others");
    assert_int_equal(last->bytes, 3 * (200 - (WEFT_MEMORY_ESTIMATE_ARRAYS - 3)));
    weft_memory_estimate_add(&f, "array 1", SIZE_MAX / 2, 8);
    assert_true(f.bytes == SIZE_MAX);
    weft_memory_estimate_add(&f, "a name that is longer than the forty characters there are", 1, 1);
    assert_true(f.bytes == SIZE_MAX);
}

/* An H200 has 141 GB. */
static void refusals(void **state) {
    (void)state;
    heard h = {.monitor = {.log = hear, .user = &h}};
    weft_device_options options = weft_device_options_default(&h.monitor);
    weft_device *device = NULL;
    weft_memory *memory = NULL;
    weft_error error = {0};
    weft_memory_estimate f = {0};
    assert_int_equal(weft_device_open("null:h200", &options, &device, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, 1000000000, &memory, NULL), WEFT_OK);
    assert_int_equal(weft_device_bytes_free(device), 140000000000);
    weft_memory_estimate_add(&f, "local matrices", 100, 1000000000);
    weft_memory_estimate_add(&f, "vectors", 40, 1000000000);
    assert_int_equal(weft_memory_estimate_check(&f, device, "hint", &error), WEFT_OK);
    assert_int_equal(h.n, 3);
    assert_non_null(strstr(h.all, "local matrices"));
    assert_non_null(strstr(h.all, "100000.000 MB\n"));
    assert_non_null(strstr(h.all, "140000.000 MB of 140000.000 MB free on null: NVIDIA H200"));
    weft_memory_estimate_add(&f, "connectivity", 1, 1);
    assert_int_equal(weft_memory_estimate_check(&f, device, "take less", &error),
                     WEFT_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "the largest arrays: local matrices 1e+05 MB, vectors "
                                          "4e+04 MB, connectivity"));
    assert_string_equal(error.hint, "take less");
    assert_int_equal(weft_status_exit_code(error.status), 3);
    assert_int_equal(weft_memory_estimate_check(&f, device, NULL, NULL), WEFT_ERROR_MEMORY);
    weft_memory_free(&memory);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
