/* labels: full
 * solve with form files: orders of linear elements (2 in L2, 1 in H1) for known solutions, the same results as
 * scripts by hand, quadratic convergence of Newton's method with a derived tangent, and refusals. */
#include "solve_run.h"

#define FORMS(name) WEFT_SOURCE_DIR "/docs/examples/forms/" name
#define SINES "sin(pi*x)*sin(pi*y)"

static void orders_of_poisson(void **state) {
    static const char *const meshes[] = {"square:16", "square:32"};
    double l2[2], h1[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *a = SOLVE(0, FORMS("Poisson.ufl"), "--mesh", meshes[i], "--dirichlet", "boundary=0",
                          "--input", "kappa=3", "--input", "f=6*pi^2*" SINES, "--exact", SINES);
        l2[i] = app_number(a, "l2_error");
        h1[i] = app_number(a, "h1_error");
        assert_string_equal(app_text(a, "method"), "cg");
        json_decref(a);
    }
    assert_true(log2(l2[0] / l2[1]) > 1.8);
    assert_true(log2(h1[0] / h1[1]) > 0.9);
}

/* u = x + y solves -div((1 + u^2) grad u) = -4 u exactly, in P1 too: (grad u, grad v) terms are integrated exactly. */
static void quasilinear_with_derived_tangent(void **state) {
    (void)state;
    json_t *a = SOLVE(0, FORMS("Quasilinear.py"), "--mesh", "square:8", "--nonlinear", "--input",
                      "f=-4*(x + y)", "--dirichlet", "boundary=x + y", "--exact", "x + y");
    /* the load is interpolated and integrated exactly, so that only Newton's tolerance is left */
    assert_true(app_number(a, "l2_error") < 1e-8);
    json_decref(a);
}

/* The same problem by the shipped script: E = 5/2, nu = 1/4 is lambda = mu = 1. */
static void elasticity_as_the_script(void **state) {
    (void)state;
    json_t *a =
        SOLVE(0, FORMS("Elasticity.ufl"), "--mesh", "cube:4", "--input", "lame=1", "--input",
              "mu=1", "--input", "f=0,0,-1", "--dirichlet", "bottom=0,0,0", "--tolerance", "1e-12");
    json_t *b = SOLVE(0, "elasticity", "--mesh", "cube:4", "--define", "young=2.5", "--define",
                      "poisson=0.25", "--define", "force_z=-1", "--dirichlet", "bottom=0,0,0",
                      "--tolerance", "1e-12");
    assert_double_near(app_number(a, "energy"), app_number(b, "energy"), 1e-9, 0);
    assert_true(app_number(a, "energy") > 1e-3);
    json_decref(a);
    json_decref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_poisson),
        cmocka_unit_test(quasilinear_with_derived_tangent),
        cmocka_unit_test(elasticity_as_the_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
