/* labels: full */
/* Multigrid in single precision inside of a captured loop of conjugate gradients, by CUDA text on an
 * emulated GPU (emulated_gpu.h): as many iterations as in double precision on the host, give or take
 * one, to residuals of 1e-10, and the same solution to 1e-8. */
#include "preconditioner_support.h"

static void converges_as_on_the_host(void **state) {
    (void)state;
    static const case_options cases[] = {
        {.d = 2, .n = 12, .times = 1, .components = 1, .kind = "multigrid"},
        {.d = 2, .n = 12, .times = 1, .components = 1, .kind = "multigrid", .is_free = true},
        {.d = 2, .n = 24, .times = 1, .components = 1, .kind = "multigrid"}, /* 3 levels */
        {.d = 2, .n = 24, .times = 1, .components = 1, .kind = "multigrid", .is_pinned = true},
        {.d = 2, .n = 8, .times = 1, .components = 2, .kind = "multigrid"},
        {.d = 2, .n = 24, .times = 0, .components = 1, .kind = "aggregation"},
        {.d = 3, .n = 17, .times = 0, .components = 1, .kind = "aggregation"}, /* on the device */
        {.d = 2, .n = 72, .times = 0, .components = 1, .kind = "aggregation", .is_free = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        multigrid_case host, gpu;
        case_options options = cases[i];
        multigrid_case_make(&host, &options);
        options.device = "host:1";
        options.is_emulated = true;
        multigrid_case_make(&gpu, &options);
        const int expected = multigrid_solve(&host, true, 1e-10);
        emulated_gpu *device = gpu_of(gpu.device);
        device->counted = "to_single"; /* once per cycle; none after the end of the loop */
        const int found = multigrid_solve(&gpu, true, 1e-10);
        assert_in_range(found, expected - 1, expected + 1);
        assert_int_equal(device->n_wanted, found);
        assert_int_equal(device->n_idle, 0);
        double most = 0;
        for (int64_t j = 0; j < host.n; ++j)
            most = fmax(most, fabs(host.z_values[j]));
        for (int64_t j = 0; j < host.n; ++j)
            assert_double_near(gpu.z_values[j], host.z_values[j], 0, 1e-8 * most);
        multigrid_case_free(&host);
        multigrid_case_free(&gpu);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(converges_as_on_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
