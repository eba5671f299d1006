/* labels: quick */
/* Four assemblies and two plans are one operator: they agree to 1e-9 relative, with CG driven to
 * 1e-12 so that its own error does not count. Any number of threads gives bitwise identical
 * results. */
#include "poisson_run.h"

#include <stdbool.h>

static const double TOLERANCE = 1e-9;

enum { N_PROBES = 5 };
#define PROBES                                                                                     \
    "--probe", "0.1,0.2", "--probe", "0.5,0.5", "--probe", "0.9,0.3", "--probe", "0.25,0.75",      \
        "--probe", "1,1"
#define PROBLEM                                                                                    \
    "--source", "1+x*exp(y)", "--diffusivity", "1+x*y", "--dirichlet", "left=y", "--neumann",      \
        "right=sin(y)", "--robin", "top=1+x,x"

static void compare(const json_t *a, const json_t *b, double tolerance) {
    assert_double_near(app_number(a, "integral_u"), app_number(b, "integral_u"), tolerance, 0);
    assert_double_near(app_number(a, "energy"), app_number(b, "energy"), tolerance, 0);
    for (size_t i = 0; i < N_PROBES; ++i)
        assert_double_near(app_probe_value(a, i), app_probe_value(b, i), tolerance, 0);
}

static void test_assemblies_and_plans(void **state) {
    static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free", "edge"};
    static const char *const plans[] = {"fused", "unfused"};
    json_t *first = NULL;
    (void)state;
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 2; ++j) {
            json_t *next = POISSON(0, "--mesh", "square:17", "--tolerance", "1e-12", "--assembly",
                                   assemblies[i], "--plan", plans[j], PROBLEM, PROBES);
            assert_string_equal(assemblies[i], app_text(next, "assembly"));
            if (first) {
                compare(first, next, TOLERANCE);
                json_decref(next);
            } else {
                first = next;
            }
        }
    json_decref(first);
}

/* Every residual of every iteration, to the last bit: JSON keeps 17 digits. */
static void compare_bits(const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "history"), *y = json_object_get(b, "history");
    assert_true(json_array_size(x) > 10);
    assert_true(json_equal(x, y));
    assert_true(json_equal(json_object_get(a, "probes"), json_object_get(b, "probes")));
    assert_true(app_number(a, "energy") == app_number(b, "energy"));
    assert_true(app_number(a, "integral_u") == app_number(b, "integral_u"));
}

static void test_threads(void **state) {
    static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free", "edge"};
    static const char *const devices[] = {"host:1", "host:2", "host:3", "host:4"};
    (void)state;
    for (int i = 0; i < 5; ++i) {
        json_t *results[4];
        for (int j = 0; j < 4; ++j)
            results[j] = POISSON(0, "--mesh", "square:100", "--assembly", assemblies[i], "--device",
                                 devices[j], "--verbose", PROBLEM, PROBES);
        for (int j = 1; j < 4; ++j)
            compare_bits(results[0], results[j]);
        for (int j = 0; j < 4; ++j)
            json_decref(results[j]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_assemblies_and_plans),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
