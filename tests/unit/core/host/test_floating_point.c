/* labels: quick */
/* What the options of generated code mean for numbers: infinities, signed zeros and subnormals are
 * kept inside of kernels, and loading one leaves the process's floating-point mode alone. */
#include "core/weft_core.h"
#include "test_support.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const char source[] = "#include <stdint.h>\n"
                             "void k(void *const *a, int64_t n, int64_t first, int64_t last)\n"
                             "{ double *x = a[0]; (void)n;\n"
                             "  for (int64_t b = first; b < last; ++b) {\n"
                             "    x[8 * b] = 1 / (x[8 * b] + -0.0);\n"  /* -0.0 + -0.0 is -0.0 */
                             "    x[8 * b + 1] = x[8 * b + 1] * 0.5;\n" /* subnormal */
                             "    x[8 * b + 2] = x[8 * b + 2] != x[8 * b + 2];\n" /* NaN */
                             "    x[8 * b + 3] = (x[8 * b + 3] + 1) - 1;\n" /* not reassociated */
                             "    x[8 * b + 4] = x[8 * b + 4] / 3;\n" /* not by a reciprocal */
                             "  } }\n";

static void numbers_keep_their_meaning(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_module *module = NULL;
    weft_memory *memory = NULL;
    weft_error error = {0};
    volatile double tiny = DBL_MIN;
    if (weft_device_open("host:2", NULL, &device, &error) != WEFT_OK ||
        weft_module_make(device, "floating", source, &module, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(tiny / 2 > 0); /* subnormals are alive here */
    assert_int_equal(fegetround(), FE_TONEAREST);
    enum { N_BLOCKS = 1000 };
    assert_int_equal(weft_memory_make(device, N_BLOCKS * 64, &memory, &error), WEFT_OK);
    double *x = weft_memory_host(memory);
    for (int b = 0; b < N_BLOCKS; ++b) {
        x[8 * b] = -0.0;
        x[8 * b + 1] = DBL_MIN;
        x[8 * b + 2] = NAN;
        x[8 * b + 3] = 1e-17;
        x[8 * b + 4] = 5;
    }
    weft_launch launch = {.module = module,
                          .kernel = "k",
                          .arguments = &memory,
                          .n_arguments = 1,
                          .n_elements = N_BLOCKS * 8,
                          .lanes = 8};
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_OK);
    for (int b = 0; b < N_BLOCKS; ++b) {
        assert_true(isinf(x[8 * b]) && x[8 * b] < 0);
        assert_double_near(x[8 * b + 1], DBL_MIN / 2, 0, 0);
        assert_double_near(x[8 * b + 2], 1, 0, 0);
        assert_double_near(x[8 * b + 3], 0, 0, 0);
        assert_double_near(x[8 * b + 4], 5.0 / 3.0, 0, 0);
    }
    weft_memory_free(&memory);
    weft_module_free(&module);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_keep_their_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
