/* labels: quick */
/* Linear elements converge with order 2 in L2 and 1 in H1 (Ern and Guermond 2021, Finite Elements
 * II, section 32.3). The meshes are halved uniformly, so the observed orders come within 0.1 on
 * meshes this fine. */
#include "poisson_run.h"

static const double TOLERANCE = 0.1;

static void check_orders(json_t *coarse, json_t *fine) {
    assert_double_near(2, poisson_order(coarse, fine, "l2_error"), 0, TOLERANCE);
    assert_double_near(1, poisson_order(coarse, fine, "h1_error"), 0, TOLERANCE);
}

/* -lap u = f with u = 0 on the boundary */
static void test_square(void **state) {
    static const char *const meshes[] = {"square:8", "square:16", "square:32", "square:64"};
    json_t *last = NULL;
    (void)state;
    for (int i = 0; i < 4; ++i) {
        json_t *next = POISSON(0, "--mesh", meshes[i], "--source", "2*pi^2*sin(pi*x)*sin(pi*y)",
                               "--exact", "sin(pi*x)*sin(pi*y)");
        if (last)
            check_orders(last, next);
        json_decref(last);
        last = next;
    }
    /* integral of sin(pi x) sin(pi y): (2/pi)^2, with an error of order h^2 */
    assert_double_near(4 / (M_PI * M_PI), app_number(last, "integral_u"), 1e-3, 0);
    json_decref(last);
}

static void test_cube(void **state) {
    static const char *const meshes[] = {"cube:8", "cube:16", "cube:32"};
    json_t *last = NULL;
    (void)state;
    for (int i = 0; i < 3; ++i) {
        json_t *next =
            POISSON(0, "--mesh", meshes[i], "--source", "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)",
                    "--exact", "sin(pi*x)*sin(pi*y)*sin(pi*z)");
        if (last)
            check_orders(last, next);
        json_decref(last);
        last = next;
    }
    json_decref(last);
}

/* -div((1 + x^2) grad u) = f, u = sin(pi x) sin(pi y):
 * f = 2 pi^2 (1 + x^2) sin(pi x) sin(pi y) - 2 pi x cos(pi x) sin(pi y) */
static void test_variable_diffusivity(void **state) {
    static const char *const meshes[] = {"square:16", "square:32"};
    json_t *results[2];
    (void)state;
    for (int i = 0; i < 2; ++i)
        results[i] = POISSON(0, "--mesh", meshes[i], "--diffusivity", "1+x^2", "--source",
                             "2*pi^2*(1+x^2)*sin(pi*x)*sin(pi*y) - 2*pi*x*cos(pi*x)*sin(pi*y)",
                             "--exact", "sin(pi*x)*sin(pi*y)");
    check_orders(results[0], results[1]);
    json_decref(results[0]);
    json_decref(results[1]);
}

/* u = exp(x) sin(y) is harmonic. right: du/dn = u; top: du/dn = exp(x) cos(1); left, Robin with
 * alpha = 2 + y: du/dn + alpha u = -sin(y) + (2 + y) sin(y) */
static void test_neumann_and_robin(void **state) {
    static const char *const meshes[] = {"square:16", "square:32"};
    json_t *results[2];
    (void)state;
    for (int i = 0; i < 2; ++i)
        results[i] = POISSON(0, "--mesh", meshes[i], "--source", "0", "--dirichlet", "bottom=0",
                             "--neumann", "right=exp(1)*sin(y)", "--neumann", "top=exp(x)*cos(1)",
                             "--robin", "left=2+y,(1+y)*sin(y)", "--exact", "exp(x)*sin(y)");
    check_orders(results[0], results[1]);
    json_decref(results[0]);
    json_decref(results[1]);
}

/* The same in space: u = exp(x) sin(y), with flux and exchange on whole faces. */
static void test_neumann_and_robin_in_space(void **state) {
    static const char *const meshes[] = {"cube:8", "cube:16"};
    json_t *results[2];
    (void)state;
    for (int i = 0; i < 2; ++i)
        results[i] = POISSON(0, "--mesh", meshes[i], "--source", "0", "--dirichlet", "front=0",
                             "--neumann", "right=exp(1)*sin(y)", "--neumann", "back=exp(x)*cos(1)",
                             "--robin", "left=2+z,(1+z)*sin(y)", "--exact", "exp(x)*sin(y)");
    check_orders(results[0], results[1]);
    json_decref(results[0]);
    json_decref(results[1]);
}

/* No condition but zero flux: u = cos(pi x) cos(pi y), whose integral is zero. */
static void test_pure_neumann(void **state) {
    static const char *const meshes[] = {"square:16", "square:32"};
    json_t *results[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        results[i] = POISSON(0, "--mesh", meshes[i], "--source", "2*pi^2*cos(pi*x)*cos(pi*y)",
                             "--neumann", "boundary=0", "--exact", "cos(pi*x)*cos(pi*y)");
        assert_double_near(0, app_number(results[i], "integral_u"), 0, 1e-12);
    }
    check_orders(results[0], results[1]);
    json_decref(results[0]);
    json_decref(results[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_square),
                                       cmocka_unit_test(test_cube),
                                       cmocka_unit_test(test_variable_diffusivity),
                                       cmocka_unit_test(test_neumann_and_robin),
                                       cmocka_unit_test(test_neumann_and_robin_in_space),
                                       cmocka_unit_test(test_pure_neumann)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
