/* labels: quick */
/* Synthetic vectors, on the host and on a device on which set-up runs, at sizes around those of thread blocks: they are the
 * same, in [-1, 1) with a mean near 0. */
#include "fem/form/compare.h"
#include "setup_support.h"
#include "test_support.h"

#include <math.h>

static void vectors(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 255, 256, 257, 100003};
    weft_device *devices[2] = {NULL, setup_device()};
    assert_int_equal(weft_device_open("host:1", NULL, &devices[0], NULL), WEFT_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        const int64_t n = sizes[s];
        const size_t bytes = (size_t)n * sizeof(double);
        double *values[2] = {NULL, NULL}, sum = 0;
        for (int which = 0; which < 2; ++which) {
            weft_memory *a = NULL;
            assert_int_equal(weft_memory_make(devices[which], bytes, &a, NULL), WEFT_OK);
            assert_int_equal(weft_write_synthetic(devices[which], a, n, NULL), WEFT_OK);
            values[which] = setup_read(a, bytes);
            weft_memory_free(&a);
        }
        assert_memory_equal(values[0], values[1], bytes);
        for (int64_t i = 0; i < n; ++i) {
            assert_true(values[0][i] >= -1 && values[0][i] < 1);
            sum += values[0][i];
        }
        assert_true(fabs(sum) < 4 * sqrt((double)n)); /* seven times the standard deviation */
        free(values[0]);
        free(values[1]);
    }
    weft_device_free(&devices[0]);
    weft_device_free(&devices[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
