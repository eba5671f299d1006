/* labels: full
 * The balance of a solution: reactions + loads + exchange - equation - storage = 0 for every kind of condition, of linear and
 * nonlinear problems, scripts and forms, and each part has the value that equilibrium, or a solution by hand, gives.
 * Tolerance: 1e-9 of loads of 1 to 10, where systems are solved to 1e-13 and residuals to 1e-12. */
#include "solve_run.h"

#include <unistd.h>

/* The least to compile. */
#define DEVICE "--device", "host:1:sse2"
#define REACT "--reactions", "--tolerance", "1e-13", "--newton-tolerance", "1e-12", DEVICE
#define POISSON_REACT "--reactions", "--tolerance", "1e-13", DEVICE

static const double NEAR = 1e-9;
static char *folder, file[4096];

static int setup(void **state) {
    (void)state;
    folder = test_folder_make();
    snprintf(file, sizeof file, "%s/forms.ufl", folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    test_folder_remove(&folder);
    return 0;
}

static void put(const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

/* A free component supplies nothing, which is null. */
static bool is_free(const json_t *one, const char *key, size_t k) {
    const json_t *value = json_object_get(one, key);
    return json_is_null(json_is_array(value) ? json_array_get(value, k) : value);
}

/* Component k of all entries, or of the one of a group. */
static double flow(const json_t *root, const char *list, const char *key, const char *group,
                   size_t k) {
    const json_t *all = json_object_get(root, list);
    double sum = 0;
    bool found = !group;
    for (size_t i = 0; i < json_array_size(all); ++i) {
        const json_t *one = json_array_get(all, i);
        if (group && strcmp(app_text(one, "group"), group) != 0)
            continue;
        sum += is_free(one, key, k) ? 0 : app_component(one, key, k);
        found = true;
    }
    if (!found)
        fail_msg("%s has no entry of %s", list, group);
    return sum;
}

static double reaction(const json_t *root, const char *group, size_t k) {
    return flow(root, "reactions", "reaction", group, k);
}

static double exchange(const json_t *root, const char *group, size_t k) {
    return flow(root, "exchange", "exchange", group, k);
}

/* What is printed is the sum of its parts, and zero. */
static void check_balance(const json_t *root, size_t n) {
    for (size_t k = 0; k < n; ++k) {
        const bool is_known = !json_is_null(json_object_get(root, "loads"));
        const double sum =
            reaction(root, NULL, k) +
            app_component(root, is_known ? "loads" : "loads_of_conditions", k) +
            exchange(root, NULL, k) - app_component(root, "equation", k) -
            (json_object_get(root, "storage") ? app_component(root, "storage", k) : 0);
        expect(sum, 0, NEAR);
        expect(app_component(root, "balance", k), sum, NEAR);
    }
}

/* A group alone holds what ties and periodic sides pass on. */
static void ties(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:4", "--periodic", "left=right", "--dirichlet",
                           "left=0", "--source", "1", POISSON_REACT);
    expect(reaction(root, "left", 0), -1, NEAR);
    check_balance(root, 1);
    json_decref(root);
    root = POISSON(0, "--mesh", "square:4", "--tie", "left", "--dirichlet", "bottom=0", "--source",
                   "1", POISSON_REACT);
    expect(reaction(root, "bottom", 0), -1, NEAR);
    check_balance(root, 1);
    json_decref(root);
    root = SOLVE(0, "elasticity.weft", "--mesh", "square:4", "--tie", "left", "--dirichlet",
                 "bottom=0,0", "--neumann", "right=1,0", REACT);
    expect(reaction(root, "bottom", 0), -1, NEAR);
    expect(reaction(root, "bottom", 1), 0, NEAR);
    check_balance(root, 2);
    json_decref(root);
    root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--tie", "left",
                 "--dirichlet", "bottom=0,0", "--neumann", "right=1e-2,0", REACT);
    expect(reaction(root, "bottom", 0), -1e-2, NEAR);
    check_balance(root, 2);
    json_decref(root);
}

/* Symmetry planes and values at points supply what they hold; planes that share dofs are one entry. */
static void constraints(void **state) {
    (void)state;
    json_t *root =
        SOLVE(0, "elasticity.weft", "--mesh", "cube:2", "--symmetry", "left", "--symmetry",
              "bottom", "--symmetry", "front", "--point-load", "1,1,1=1,2,3", REACT);
    expect(reaction(root, "--symmetry left", 0), -1, NEAR);
    expect(reaction(root, "--symmetry front", 1), -2, NEAR);
    expect(reaction(root, "--symmetry bottom", 2), -3, NEAR);
    check_balance(root, 3);
    json_decref(root);
    root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--symmetry", "left",
                 "--symmetry", "bottom", "--neumann", "right=0.02,0", "--point-load",
                 "1,1=0.01,0.03", "--load-steps", "2", REACT);
    expect(reaction(root, "--symmetry left", 0), -0.03, NEAR);
    expect(reaction(root, "--symmetry bottom", 1), -0.03, NEAR);
    expect(app_component(root, "loads", 0), 0.03, NEAR);
    check_balance(root, 2);
    json_decref(root);
    root = POISSON(0, "--mesh", "square:4", "--source", "1", "--point-value", "0.31,0.4=2",
                   POISSON_REACT);
    expect(reaction(root, "--point-value 0.31,0.4=2", 0), -1, NEAR);
    check_balance(root, 1);
    json_decref(root);
}

/* u = 1 + s x with s + 3 (1 + s) = 1, i.e. s = -1/2: 1/2 flows in on the left and out on the right. Then all loads. */
static void exchanges(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:4", "--source", "0", "--dirichlet", "left=1",
                           "--robin", "right=3,1", POISSON_REACT);
    expect(reaction(root, "left", 0), 0.5, NEAR);
    expect(exchange(root, "right", 0), -0.5, NEAR);
    expect(app_component(root, "loads", 0), 0, NEAR);
    check_balance(root, 1);
    json_decref(root);
    root = POISSON(0, "--mesh", "square:8", "--source", "2", "--robin", "right=3,1+y", "--robin",
                   "top=1,2", "--neumann", "bottom=5", "--dirichlet", "left=1", "--point-load",
                   "0.3,0.4=7", POISSON_REACT);
    expect(app_component(root, "loads", 0), 2 + 5 + 7, NEAR);
    assert_int_equal(json_array_size(json_object_get(root, "exchange")), 2);
    check_balance(root, 1);
    json_decref(root);
    root = SOLVE(0, "elasticity.weft", "--mesh", "square:4", "--define", "force_y=-x", "--robin",
                 "bottom=2,0,0", "--dirichlet", "left=0,free", "--neumann", "right=0.1,0.2", REACT);
    expect(exchange(root, "bottom", 1), 0.5 - 0.2, NEAR);
    check_balance(root, 2);
    json_decref(root);
}

/* The loads of a residual are the multiples of its input `load`, besides those of conditions. */
static void residuals(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--dirichlet",
                         "left=0,0", "--neumann", "right=1e-6,0", "--reactions", DEVICE);
    expect(app_component(root, "loads", 0), 1e-6, 1e-15);
    expect(reaction(root, "left", 0), -1e-6, 1e-15);
    json_decref(root);
    root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--dirichlet",
                 "left=0,0", "--robin", "right=0.5,0.01,0", "--define", "force_y=-1e-3",
                 "--load-steps", "2", REACT);
    expect(app_component(root, "loads", 0), 0, NEAR);
    expect(app_component(root, "loads", 1), -1e-3, NEAR);
    check_balance(root, 2);
    json_decref(root);
}

/* Parts of the boundary exchange what the form has there: the solution by hand of `exchanges`, with a mass term 2 u. */
static void forms(void **state) {
    (void)state;
    put("V = FiniteElement('P', quadrilateral, 2)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "x = SpatialCoordinate(quadrilateral)\n"
        "a = inner(grad(u), grad(v))*dx + 2*u*v*dx + 3*u*v*ds(2)\n"
        "L = 2*(1 - x[0]/2)*v*dx + 1*v*ds(2)\n");
    json_t *root = SOLVE(0, file, "--mesh", "quads:3", "--dirichlet", "left=1", REACT);
    expect(reaction(root, "left", 0), 0.5, NEAR);
    expect(exchange(root, "ds(2)", 0), -0.5, NEAR);
    expect(app_component(root, "equation", 0), 1.5, NEAR);
    expect(app_component(root, "loads", 0), 1.5, NEAR);
    check_balance(root, 1);
    json_decref(root);
    put("V = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "u, p = TrialFunctions(V)\n"
        "v, q = TestFunctions(V)\n"
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "L = 2*v[0]*dx\n");
    root = SOLVE(0, file, "--mesh", "square:3", "--dirichlet", "boundary=0,0,free", "--dirichlet",
                 "top=1,0,free", REACT);
    expect(reaction(root, NULL, 0), -2, NEAR);
    expect(app_component(root, "loads", 0), 2, NEAR);
    check_balance(root, 3);
    json_decref(root);
    put("V = FiniteElement('P', triangle, 1) + FiniteElement('B', triangle, 3)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "a, L = inner(grad(u), grad(v))*dx, 2*v*dx\n");
    root = SOLVE(0, file, "--mesh", "square:3", "--dirichlet", "left=0", REACT);
    expect(reaction(root, "left", 0), -2, NEAR);
    expect(app_component(root, "loads", 0), 2, NEAR);
    check_balance(root, 1);
    json_decref(root);
}

/* Sources inside of F cannot be told from its other terms: no loads, and a reason; on a measure of their own they can. */
static void nonlinear_forms(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 1)\n"
        "u, v = Coefficient(V), TestFunction(V)\n"
        "F = (1 + u**2)*inner(grad(u), grad(v))*dx - 5*v*dx + 3*(u - 4)*v*ds(1) - 7*v*ds(2)\n");
    json_t *root = SOLVE(0, file, "--nonlinear", "--mesh", "square:4", "--dirichlet", "top=1",
                         "--neumann", "bottom=2", REACT);
    assert_true(json_is_null(json_object_get(root, "loads")));
    assert_non_null(json_object_get(root, "loads_reason"));
    expect(app_component(root, "loads_of_conditions", 0), 9, NEAR);
    expect(app_component(root, "equation", 0), -5, NEAR);
    check_balance(root, 1);
    json_decref(root);
}

/* u = t + 3 x with capacity 2, source 2 and flux 3, which linear elements have: 2 are stored, and 3 flow through. Then everything
 * that depends on time, where the parts have to add up; loads are those of the end, or of the middle of the step. */
static void schemes(void **state) {
    (void)state;
    static const char *const all[][4] = {{"--scheme", "bdf2", "--theta", "0.5"},
                                         {"--scheme", "sdirk2", "--theta", "0.5"},
                                         {"--scheme", "theta", "--theta", "0.5"},
                                         {"--scheme", "theta", "--theta", "1"},
                                         {"--scheme", "sdirk3", "--theta", "0.5"}};
    for (int i = 0; i < 5; ++i) {
        const char *const *scheme = all[i];
        json_t *root =
            SOLVE(0, "heat.weft", "--mesh", "square:4", "--time", "0.02,0.1", scheme[0], scheme[1],
                  scheme[2], scheme[3], "--initial", "3*x", "--define", "source=2", "--define",
                  "capacity=2", "--dirichlet", "left=t", "--neumann", "right=3", REACT);
        expect(reaction(root, "left", 0), -3, NEAR);
        expect(app_component(root, "storage", 0), 2, NEAR);
        check_balance(root, 1);
        json_decref(root);
        root = SOLVE(0, "heat.weft", "--mesh", "square:4", "--time", "0.02,0.1", scheme[0],
                     scheme[1], scheme[2], scheme[3], "--define", "source=1+t", "--dirichlet",
                     "left=t", "--robin", "right=2+t,3*t", "--neumann", "top=x+t", "--point-load",
                     "0.3,0.4=1+t", "--tie", "bottom", REACT);
        const double t = i == 2 ? 0.09 : 0.1;
        expect(app_component(root, "loads", 0), 2.5 + 3 * t, NEAR);
        check_balance(root, 1);
        json_decref(root);
    }
}

/* A residual in time, and a form with its own scheme, whose equation has what is stored. */
static void residuals_in_time(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "heat_nonlinear.weft", "--nonlinear", "--mesh", "square:4", "--time",
                         "0.02,0.1", "--define", "conductivity=1+u", "--dirichlet", "left=t",
                         "--robin", "right=2+t,3*t", "--neumann", "top=1+t", REACT);
    expect(app_component(root, "loads_of_conditions", 0), 1.1, NEAR);
    assert_true(json_is_null(json_object_get(root, "loads")));
    check_balance(root, 1);
    json_decref(root);
    put("V = FiniteElement('P', triangle, 1)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "u_old, dt = Coefficient(V), Constant(triangle)\n"
        "a = (u*v/dt + inner(grad(u), grad(v)))*dx\n"
        "L = (u_old*v/dt + 3*v)*dx\n");
    root =
        SOLVE(0, file, "--mesh", "square:4", "--time", "0.02,0.1", "--dirichlet", "left=0", REACT);
    assert_null(json_object_get(root, "storage"));
    check_balance(root, 1);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties),      cmocka_unit_test(constraints),
        cmocka_unit_test(exchanges), cmocka_unit_test(residuals),
        cmocka_unit_test(forms),     cmocka_unit_test(nonlinear_forms),
        cmocka_unit_test(schemes),   cmocka_unit_test(residuals_in_time)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
