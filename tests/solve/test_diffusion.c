/* labels: quick */
/* solve with diffusion.weft is poisson: the same kernels in the same order, so that answers agree
 * to what CG leaves, 1e-9, whatever the conditions. */
#include "solve_run.h"

static void compare(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"integral_u", "energy", "l2_error", "h1_error", "dofs"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        assert_double_near(app_number(a, keys[i]), app_number(b, keys[i]), 1e-9, 1e-11);
    assert_double_near(app_number(a, "iterations"), app_number(b, "iterations"), 0, 1);
    assert_double_near(app_probe_value(a, 0), app_probe_value(b, 0), 1e-9, 1e-11);
}

static void fixed_boundary(void **state) {
    (void)state;
    json_t *a = POISSON(0, "--mesh", "square:12", "--source", "x*exp(y)", "--probe", "0.3,0.6",
                        "--exact", "x", "--tolerance", "1e-12");
    json_t *b = SOLVE(0, "diffusion.weft", "--mesh", "square:12", "--define", "source=x*exp(y)",
                      "--probe", "0.3,0.6", "--exact", "x", "--tolerance", "1e-12");
    compare(a, b);
    json_decref(a);
    json_decref(b);
}

static void every_condition(void **state) {
    static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free", "edge"};
    (void)state;
    for (int i = 0; i < 5; ++i) {
        json_t *a = POISSON(0, "--mesh", "cube:4", "--source", "z", "--diffusivity", "1+x*x",
                            "--dirichlet", "left=y", "--neumann", "top=x", "--robin", "right=1+y,2",
                            "--probe", "0.3,0.6,0.2", "--exact", "x", "--tolerance", "1e-12",
                            "--assembly", assemblies[i]);
        json_t *b =
            SOLVE(0, "diffusion.weft", "--mesh", "cube:4", "--define", "source=z", "--define",
                  "diffusivity=1+x*x", "--param", "degree=4", "--dirichlet", "left=y", "--neumann",
                  "top=x", "--robin", "right=1+y,2", "--probe", "0.3,0.6,0.2", "--exact", "x",
                  "--tolerance", "1e-12", "--assembly", assemblies[i]);
        compare(a, b);
        json_decref(a);
        json_decref(b);
    }
}

/* Nothing fixes the constant: both take the solution whose integral is zero. */
static void insulated(void **state) {
    (void)state;
    json_t *a = POISSON(0, "--mesh", "square:10", "--source", "x-0.5", "--neumann", "top=0",
                        "--probe", "0.3,0.6", "--exact", "x", "--tolerance", "1e-12");
    json_t *b =
        SOLVE(0, "diffusion.weft", "--mesh", "square:10", "--define", "source=x-0.5", "--neumann",
              "top=0", "--probe", "0.3,0.6", "--exact", "x", "--tolerance", "1e-12");
    assert_double_near(app_number(b, "integral_u"), 0, 0, 1e-12);
    assert_double_near(app_number(a, "energy"), app_number(b, "energy"), 1e-10, 0);
    assert_double_near(app_probe_value(a, 0), app_probe_value(b, 0), 1e-10, 0);
    json_decref(a);
    json_decref(b);
}

/* poisson.weft, which has no vector, and the load as a flux. */
static void a_script_without_a_vector(void **state) {
    (void)state;
    json_t *a = SOLVE(0, "poisson.weft", "--mesh", "square:6", "--dirichlet", "left=0", "--neumann",
                      "right=2", "--exact", "2*x", "--tolerance", "1e-12");
    assert_true(app_number(a, "l2_error") < 1e-10);
    json_decref(a);
}

/* The parts of a run do not overlap, so that they are not more than all of it: above all compiling
 * and what it is done for, where no cache makes it short. */
static void seconds_add_up(void **state) {
    static const char *const parts[] = {"mesh", "plan", "compile", "assembly", "solve", "output"};
    (void)state;
    assert_int_equal(setenv("WEFT_CACHE", "off", 1), 0);
    for (int i = 0; i < 2; ++i) {
        json_t *a = i == 0 ? SOLVE(0, "diffusion.weft", "--mesh", "square:4")
                           : SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4",
                                   "--dirichlet", "left=0,0", "--dirichlet", "right=0.1,0");
        const json_t *seconds = json_object_get(a, "seconds");
        double sum = 0;
        for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k)
            sum += app_number(seconds, parts[k]);
        assert_true(sum > 0);
        assert_true(sum <= app_number(seconds, "total"));
        json_decref(a);
    }
    unsetenv("WEFT_CACHE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_boundary), cmocka_unit_test(every_condition),
        cmocka_unit_test(insulated), cmocka_unit_test(a_script_without_a_vector),
        cmocka_unit_test(seconds_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
