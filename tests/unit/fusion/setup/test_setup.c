/* labels: quick */
/* Exclusive sums on a device, against sums in a loop, at sizes around those of tiles and of the
 * block that adds the tiles; and the launch of what does not exist. Every text compiles for a GPU, where NVRTC is. */
#include "fusion/embedded_setup.h"
#include "fusion/setup/setup.h"
#include "nvrtc_support.h"
#include "setup_support.h"
#include "test_support.h"

static void sums_are_exclusive(void **state) {
    (void)state;
    static const int64_t sizes[] = {0,    1,    7,    8,        9,      255,    256,
                                    2047, 2048, 2049, 4096 + 5, 524288, 524289, 600001};
    weft_device *device = setup_device();
    weft_setup *setup = NULL;
    uint64_t seed = 12345;
    assert_int_equal(weft_setup_make(device, &setup, NULL), WEFT_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        const int64_t n = sizes[s];
        uint32_t *counts = malloc((size_t)(n + 1) * sizeof *counts);
        int64_t *expected = malloc((size_t)(n + 1) * sizeof *expected), total = -1;
        weft_memory *memory = NULL, *out = NULL;
        expected[0] = 0;
        for (int64_t i = 0; i < n; ++i) {
            /* beyond 2^32 in all */
            counts[i] = (uint32_t)setup_random(&seed) >> (i % 3 * 12);
            expected[i + 1] = expected[i] + counts[i];
        }
        assert_int_equal(weft_memory_make(device, (size_t)(n + 1) * 4, &memory, NULL), WEFT_OK);
        assert_int_equal(weft_memory_write(memory, 0, counts, (size_t)n * 4, NULL), WEFT_OK);
        assert_int_equal(weft_setup_sums(setup, memory, n, &out, &total, NULL), WEFT_OK);
        assert_int_equal(total, expected[n]);
        setup_equal("sums", out, expected, (size_t)(n + 1) * sizeof *expected);
        weft_memory_free(&memory);
        weft_memory_free(&out);
        free(counts);
        free(expected);
    }
    weft_setup_free(&setup);
    weft_device_free(&device);
}

static void unknown_files_are_refused(void **state) {
    (void)state;
    weft_device *device = setup_device();
    weft_setup *setup = NULL;
    weft_error error = {0};
    assert_int_equal(weft_setup_make(device, &setup, NULL), WEFT_OK);
    const weft_setup_kernel kernel = {"nothing", "nothing", 1, 0, 0};
    assert_int_equal(weft_setup_launch(setup, &kernel, NULL, 0, &error), WEFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "nothing.cu"));
    weft_setup_free(&setup);
    weft_device_free(&device);
}

static void only_devices_with_threads_and_data(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool expected;
    } cases[] = {{"host:1", false}, {"null", false}, {"null:h200", false}};
    assert_false(weft_setup_on_device(NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_device *device = NULL;
        assert_int_equal(weft_device_open(cases[i].name, NULL, &device, NULL), WEFT_OK);
        assert_int_equal(weft_setup_on_device(device), cases[i].expected);
        weft_device_free(&device);
    }
    weft_device *device = setup_device();
    assert_true(weft_setup_on_device(device));
    weft_device_free(&device);
}

static void every_file_compiles(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    nvrtc_open_or_skip(&nvrtc);
    for (size_t i = 0; i < weft_embedded_setup_count; ++i) {
        char name[64];
        weft_text text = {0};
        snprintf(name, sizeof name, "%s", weft_embedded_setup[i].name);
        *strstr(name, ".cu") = '\0';
        if (strcmp(name, "prelude") != 0) {
            assert_int_equal(weft_setup_source(name, &text, NULL), WEFT_OK);
            nvrtc_expect_compiles(&nvrtc, name, text.data);
        }
        weft_text_free(&text);
    }
    weft_nvrtc_close(&nvrtc);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_exclusive),
                                       cmocka_unit_test(unknown_files_are_refused),
                                       cmocka_unit_test(every_file_compiles),
                                       cmocka_unit_test(only_devices_with_threads_and_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
