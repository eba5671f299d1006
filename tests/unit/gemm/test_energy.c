/* labels: quick */
/* The energy of launches without a power monitor: nothing is launched, and all is 0. */
#include "gemm/tune.h"
#include "test_support.h"

static weft_status count(void *user, weft_error *error) {
    (void)error;
    ++*(int *)user;
    return WEFT_OK;
}

static void test_without_monitor(void **state) {
    (void)state;
    weft_error error;
    weft_device *device = NULL;
    int launches = 0;
    const weft_gemm_work work = {count, &launches};
    weft_gemm_energy energy = {.joules = 1, .launches = 1};
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    assert_null(weft_power_monitor_open(device));
    assert_int_equal(weft_gemm_energy_measure(device, NULL, &work, 1, &energy, &error), WEFT_OK);
    assert_int_equal(launches, 0);
    assert_int_equal(energy.launches, 0);
    assert_true(energy.joules == 0);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_monitor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
