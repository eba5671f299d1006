/* labels: quick */
/* What the equation keeps and where it leads: mass, a cone that comes back, a boundary layer, a
 * temperature that stays between its bounds. */
#include "ad_run.h"

/* Far from the boundary sum_i of M, of the advection with div u = 0 and of S are what they are for
 * a whole space, so that the sum of a step's equations is: mass stays, to the residuals of the
 * solves (1e-12 of the right-hand side each) and rounding. */
static void check_mass(const char *const *more) {
    const char *arguments[APP_ARGUMENTS_MAX] = {
        "--mesh",         "square:96",
        "--velocity",     "0.5-y,x-0.5",
        "--diffusivity",  "1e-4,5e-5;5e-5,2e-4",
        "--initial",      "exp(-((x-0.5)^2+(y-0.55)^2)/0.004)",
        "--dt",           "0.01",
        "--tolerance",    "1e-12",
        "--steps",        "10",
        "--output-every", "1"};
    int n = 16;
    for (int i = 0; more[i]; ++i)
        arguments[n++] = more[i];
    json_t *run = app_solve("advection_diffusion", 0, arguments);
    const double first = app_number(ad_entry(run, 0), "mass");
    for (int i = 0; i <= 10; ++i) {
        const json_t *entry = ad_entry(run, i);
        assert_int_equal((int)app_number(entry, "step"), i);
        assert_double_near(first, app_number(entry, "mass"), 0, 1e-10);
    }
    /* int exp(-r^2/0.004) = 0.004 pi, of the interpolant with an error of order h^2 */
    assert_double_near(0.004 * M_PI, first, 0, 1e-3);
    json_decref(run);
}

static void mass_is_kept(void **state) {
    (void)state;
    check_mass((const char *const[]){NULL});
    check_mass((const char *const[]){"--splitting", "strang", "--theta", "1", NULL});
    check_mass((const char *const[]){"--mass", "lumped", NULL});
}

/* One revolution, 2 pi long. Without diffusion, T comes back to where it was: what is lost is of
 * the corners of the cone, some cells wide. */
static void cone_comes_back(void **state) {
    (void)state;
    static const char cone[] = "max(0,1-sqrt((x-0.5)^2+(y-0.75)^2)/0.15)";
    char dt[32];
    snprintf(dt, sizeof dt, "%.17g", 2 * M_PI / 300);
    json_t *run = AD(0, "--mesh", "square:48", "--velocity", "0.5-y,x-0.5", "--initial", cone,
                     "--exact", cone, "--dt", dt, "--steps", "300", "--dirichlet", "boundary=0");
    const json_t *first = ad_entry(run, 0), *last = ad_entry(run, -1);
    const json_t *centroid = json_object_get(last, "centroid");
    assert_double_near(0.5, json_number_value(json_array_get(centroid, 0)), 1e-3, 0);
    assert_double_near(0.75, json_number_value(json_array_get(centroid, 1)), 1e-3, 0);
    assert_double_near(app_number(first, "mass"), app_number(last, "mass"), 0, 1e-3);
    assert_double_near(app_number(first, "l2_norm"), app_number(last, "l2_norm"), 0, 1e-3);
    assert_true(app_number(last, "l2_error") < 0.1 * app_number(first, "l2_norm"));
    assert_true(app_number(last, "maximum") > 0.85 && app_number(last, "maximum") < 1.05);
    assert_true(app_number(last, "minimum") > -0.06);
    json_decref(run);
}

/* u T' = mu T'' with T(0) = 0 and T(1) = 1: T = (exp(x/mu) - 1)/(exp(1/mu) - 1), reached from T = 0
 * to exp(-3.5 t). The splitting moves T at the outflow by some dt T' in each part of a step, so the
 * steady state is wrong by that, and less with smaller steps. */
static void boundary_layer(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:32", "square:64"};
    static const char *const lengths[] = {"0.0075", "0.00375"}, *const steps[] = {"400", "800"};
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        json_t *run =
            AD(0, "--mesh", meshes[i], "--velocity", "1,0", "--diffusivity", "0.1", "--dirichlet",
               "left=0", "--dirichlet", "right=1", "--exact", "(exp(x/0.1)-1)/(exp(1/0.1)-1)",
               "--dt", lengths[i], "--steps", steps[i], "--splitting", "strang");
        errors[i] = app_number(run, "l2_error");
        assert_double_near(1, app_number(ad_entry(run, -1), "maximum"), 1e-12, 0);
        json_decref(run);
    }
    assert_true(errors[0] < 0.015 * sqrt(0.05)); /* sqrt(0.05): the norm of T */
    assert_true(errors[1] < 0.6 * errors[0]);
}

/* Implicit Euler with lumped mass on a mesh without obtuse angles: T stays between the least and
 * the largest value given (Thomee 2006, chapter 15). */
static void diffusion_keeps_bounds(void **state) {
    (void)state;
    json_t *run = AD(0, "--mesh", "square:24", "--diffusivity", "0.1", "--initial",
                     "max(0,1-100*abs(x-0.5))", "--theta", "1", "--mass", "lumped", "--dt", "0.001",
                     "--steps", "5", "--output-every", "1", "--tolerance", "1e-12");
    double before = 1;
    for (int i = 0; i <= 5; ++i) {
        const double most = app_number(ad_entry(run, i), "maximum");
        assert_true(app_number(ad_entry(run, i), "minimum") >= -1e-10);
        assert_true(most <= before + 1e-10);
        before = most;
    }
    json_decref(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_is_kept), cmocka_unit_test(cone_comes_back),
        cmocka_unit_test(boundary_layer), cmocka_unit_test(diffusion_keeps_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
