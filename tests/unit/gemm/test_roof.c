/* labels: quick */
/* Rooflines: the larger of both times; refused on a host, and on a device that computes nothing. */
#include "gemm/roof.h"
#include "test_support.h"

#include <string.h>

static void test_seconds(void **state) {
    (void)state;
    const weft_gemm_roof roof = {.bandwidth = 4, .flops = 8};
    bool arithmetic = false;
    assert_true(weft_gemm_roof_seconds(&roof, 32, 8, &arithmetic) == 4);
    assert_true(arithmetic);
    assert_true(weft_gemm_roof_seconds(&roof, 32, 64, &arithmetic) == 16);
    assert_false(arithmetic);
    assert_true(weft_gemm_roof_seconds(&roof, 8, 4, NULL) == 1);
}

static void expect_refusal(const char *name, const char *message) {
    weft_error error;
    weft_device *device = NULL;
    weft_gemm_kernels *kernels = NULL;
    weft_gemm_roof roof;
    assert_int_equal(weft_device_open(name, NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_gemm_kernels_make(device, &kernels, &error), WEFT_OK);
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type) {
        assert_int_equal(weft_gemm_roof_measure(kernels, (weft_gemm_type)type, &roof, &error),
                         WEFT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, message));
    }
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refusal("host:1", "GPUs only");
    expect_refusal("null:h200", "computes nothing");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seconds),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
