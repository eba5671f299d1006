/* labels: full
 * Elasticity in displacements of degree 2 and pressures of degree 1, up to an incompressible body (docs/examples/gallery): the
 * errors of a given solution have the orders of Taylor-Hood elements, 3 and 2 in L2, and are the same for every Poisson ratio;
 * iterations of MINRES by blocks depend neither on it nor on the mesh.
 * Tolerance: between 16 and 32 cells a side orders are within 0.2 of their limits; 45 to 75 iterations are seen, those of
 * 0.3 fewer, as the compressibility is added to the Schur complement. */
#include "solve_run.h"

#include <math.h>
#include <stdio.h>

#define FORM WEFT_SOURCE_DIR "/docs/examples/gallery/nearly_incompressible.ufl"

enum { MESHES = 3, MOST_ITERATIONS = 90 };
static const double NEAR = 0.2;

static json_t *run(const char *mesh, const char *nu, const char *preconditioner) {
    char ratio[32], exact[512];
    (void)snprintf(ratio, sizeof ratio, "nu=%s", nu);
    (void)snprintf(exact, sizeof exact,
                   "sin(2*pi*y)*(cos(2*pi*x) - 1) + (1 - 2*%s)*sin(pi*x)*sin(pi*y),"
                   "sin(2*pi*x)*(1 - cos(2*pi*y)) + (1 - 2*%s)*sin(pi*x)*sin(pi*y),"
                   "-%s/(1 + %s)*pi*sin(pi*(x + y))",
                   nu, nu, nu, nu);
    json_t *a = SOLVE(0, FORM, "--mesh", mesh, "--input", "E=1", "--input", ratio, "--dirichlet",
                      "boundary=0,0,free", "--exact", exact, "--preconditioner", preconditioner,
                      "--device", "host:1:sse2");
    assert_string_equal(app_text(a, "outcome"), "converged");
    return a;
}

static double order(const json_t *coarse, const json_t *fine, size_t component) {
    return log2(app_component(coarse, "l2_errors", component) /
                app_component(fine, "l2_errors", component));
}

static void orders_and_iterations(void **state) {
    (void)state;
    static const char *const meshes[MESHES] = {"square:16", "square:32", "square:64"};
    static const char *const ratios[] = {"0.3", "0.49", "0.4999", "0.5"};
    double first = 0;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; ++i) {
        json_t *runs[MESHES];
        double least = INFINITY, most = 0;
        for (int k = 0; k < MESHES; ++k) {
            runs[k] = run(meshes[k], ratios[i], "block");
            assert_string_equal(app_text(runs[k], "method"), "minres");
            least = fmin(least, app_number(runs[k], "iterations"));
            most = fmax(most, app_number(runs[k], "iterations"));
        }
        assert_true(most < MOST_ITERATIONS && most < 1.3 * least);
        for (int k = 0; k + 1 < MESHES; ++k)
            for (size_t c = 0; c < 3; ++c)
                assert_double_near(order(runs[k], runs[k + 1], c), c < 2 ? 3 : 2, 0, NEAR);
        const double error = app_component(runs[1], "l2_errors", 0);
        first = i == 0 ? error : first;
        assert_double_near(error, first, 0.02, 0); /* no locking */
        for (int k = 0; k < MESHES; ++k)
            json_decref(runs[k]);
    }
}

/* Jacobi's preconditioner finds the same solution, in more than ten times the iterations. */
static void beside_jacobi(void **state) {
    (void)state;
    json_t *a = run("square:32", "0.4999", "block"), *b = run("square:32", "0.4999", "jacobi");
    for (size_t c = 0; c < 3; ++c) /* tolerances of 1e-8 */
        assert_double_near(app_component(a, "l2_errors", c), app_component(b, "l2_errors", c), 0,
                           1e-6);
    assert_true(app_number(b, "iterations") > 10 * app_number(a, "iterations"));
    json_decref(a);
    json_decref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_iterations),
        cmocka_unit_test(beside_jacobi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
