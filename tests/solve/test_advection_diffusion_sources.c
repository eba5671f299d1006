/* labels: quick */
/* advection_diffusion with sources, fluxes, Robin conditions and capacity against T = x exp(-t), which has no
 * error in space: 2 (dT/dt + T_x) = T_xx + f, f = 2 (-x + 1) exp(-t). Diffusion alone by Crank and Nicolson
 * is of second order in time (Hairer and Wanner 1996, IV.3), as is Strang's splitting, which loses some of
 * it at boundaries. Tolerance: terms of the next order, below a tenth. */
#include "ad_run.h"

#define EXACT                                                                                      \
    "--mesh=square:2", "--initial=x", "--exact=x*exp(-t)", "--tolerance=1e-13", "--dirichlet=left=0"

static double error_of(const char *dt, const char *steps, const char *const *options) {
    const char *all[40] = {EXACT, "--dt", dt, "--steps", steps};
    int n = 0;
    while (all[n])
        ++n;
    while (*options)
        all[n++] = *options++;
    json_t *root = app_solve("advection_diffusion", 0, all);
    const double error = app_number(root, "l2_error");
    json_decref(root);
    return error;
}

static double order(const char *const *options) {
    return log2(error_of("0.1", "10", options) / error_of("0.05", "20", options));
}
#define ORDER(...) order((const char *const[]){__VA_ARGS__, NULL})

static void test_orders(void **state) {
    (void)state;
    assert_double_near(ORDER("--diffusivity=1", "--capacity=2", "--source=-2*x*exp(-t)",
                             "--neumann=right=exp(-t)"),
                       2, 0, 0.1);
    assert_double_near(ORDER("--diffusivity=1", "--capacity=1+1", "--source=-2*x*exp(-t)",
                             "--robin=right=2+t,(3+t)*exp(-t)", "--assembly=edge"),
                       2, 0, 0.1);
    assert_double_near(ORDER("--source=-x*exp(-t)"), 2, 0, 0.1);
    assert_double_near(ORDER("--velocity=1,0", "--diffusivity=1", "--capacity=2",
                             "--splitting=strang", "--source=2*(1-x)*exp(-t)",
                             "--robin=right=2,3*exp(-t)"),
                       2, 0, 0.25);
}

/* Heat that comes in stays: c int T grows by the flux through the left side, 3, and the source, 2, per unit
 * of time. */
static void test_balance(void **state) {
    (void)state;
    json_t *root = AD(0, "--mesh=square:8", "--capacity=4", "--diffusivity=0.1", "--source=2",
                      "--neumann=left=3", "--dt=0.05", "--steps=10", "--tolerance=1e-13");
    assert_double_near(app_number(ad_entry(root, -1), "mass"), (2 + 3) * 0.5 / 4, 1e-10, 0);
    json_decref(root);
}

/* Every preconditioner gives the solution of Jacobi's, in fewer iterations. */
static void test_preconditioners(void **state) {
    (void)state;
    static const char *const names[] = {"jacobi", "chebyshev", "aggregation", "multigrid"};
    double value = 0, jacobi = 0;
    for (int i = 0; i < 4; ++i) {
        json_t *root = AD(0, "--mesh=square:32", "--diffusivity=1", "--source=1+t",
                          "--dirichlet=left=0", "--robin=right=1,2", "--initial=sin(3*x)",
                          "--dt=0.2", "--steps=2", "--probe=0.5,0.5", "--preconditioner", names[i]);
        const double iterations = app_number(root, "iterations");
        if (i == 0) {
            jacobi = iterations;
            value = app_probe_value(root, 0);
        }
        assert_double_near(app_probe_value(root, 0), value, 1e-7, 0);
        assert_true(i == 0 || iterations < 0.7 * jacobi);
        json_decref(root);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_balance),
                                       cmocka_unit_test(test_preconditioners)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
