/* labels: full */
/* The sizes at which people meet what test_stopping.c has in small: minutes. */
#include "solve_run.h"

static void expect_converged(json_t *root) {
    assert_string_equal("converged", app_text(root, "outcome"));
    json_decref(root);
}

static void large_squares(void **state) {
    (void)state;
    /* -div grad u = 2 pi^2 sin(pi x) sin(pi y): h^2 */
    static const char *const meshes[] = {"square:700", "square:1000"};
    for (int i = 0; i < 2; ++i) {
        json_t *root = POISSON(0, "--mesh", meshes[i], "--source", "2*pi^2*sin(pi*x)*sin(pi*y)",
                               "--exact", "sin(pi*x)*sin(pi*y)");
        assert_true(app_number(root, "l2_error") < 1e-5);
        expect_converged(root);
    }
    expect_converged(POISSON(0, "--mesh", "square:700"));
}

static void large_cubes(void **state) {
    static const char *const jumps[] = {"select(x<0.5,1,1e3)", "select(x<0.5,1,1e4)"};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *root = POISSON(0, "--mesh", "cube:40", "--diffusivity", jumps[i], "--dirichlet",
                               "left=0", "--probe", "1,0.5,0.5");
        assert_double_near(0.375 + 0.125 / (i ? 1e4 : 1e3), app_probe_value(root, 0), 2e-3, 0);
        expect_converged(root);
    }
}

static void a_weak_spring(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:400", "--neumann", "left=1", "--robin",
                           "right=0.01,0", "--source", "0", "--exact", "101-x");
    assert_true(app_number(root, "l2_error") < 1e-4);
    expect_converged(root);
}

static void a_solid_that_jumps(void **state) {
    (void)state;
    json_t *root =
        SOLVE(0, "elasticity.weft", "--mesh", "square:100", "--define", "young=select(x<0.5,1,1e4)",
              "--define", "poisson=0", "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0",
              "--neumann", "right=1,0", "--probe", "1,0.5");
    const json_t *u = json_object_get(json_array_get(json_object_get(root, "probes"), 0), "u");
    assert_double_near(0.5 + 0.5e-4, json_number_value(json_array_get(u, 0)), 1e-5, 0);
    expect_converged(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_squares),
        cmocka_unit_test(large_cubes),
        cmocka_unit_test(a_weak_spring),
        cmocka_unit_test(a_solid_that_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
