/* labels: full */
/* Mixed and discontinuous spaces on several ranks: flows, whose pressure may be open up to a constant, stationary, by Newton's
 * method and in time; and problems whose mean nothing fixes. Any number of ranks has the same bits. */
#include "ranks_run.h"

#include <stdio.h>

#define TAYLOR_HOOD                                                                                \
    "W = VectorElement(\"Lagrange\", triangle, 2)*FiniteElement(\"Lagrange\", triangle, 1)\n"
#define WALLS                                                                                      \
    "--dirichlet", "left=0,0,free", "--dirichlet", "right=0,0,free", "--dirichlet",                \
        "bottom=0,0,free"
#define NEAR "--probe", "0.4,0.3", "--probe", "0.5,0.5"

static const char stokes[] = TAYLOR_HOOD
    "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\nx = SpatialCoordinate(triangle)\n"
    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
    "L = dot(as_vector([x[1], -x[0]*x[0]]), v)*dx\n";

/* A closed cavity and an open channel; on the channel the pressure is fixed by the outflow. */
static void test_stokes(void **state) {
    (void)state;
    ranks_write("ranks_stokes.ufl", stokes);
    const rank_case cavity = {"solve",
                              {"ranks_stokes.ufl", "--mesh", "square:4", WALLS, "--dirichlet",
                               "top=4*x*(1-x),0,free", TIGHT, NEAR}};
    const rank_case channel = {"solve",
                               {"ranks_stokes.ufl", "--mesh", "square:3", "--dirichlet",
                                "left=y*(1-y),0,free", "--dirichlet", "bottom=0,0,free",
                                "--dirichlet", "top=0,0,free", TIGHT, NEAR}};
    const rank_case few = {"solve",
                           {"ranks_stokes.ufl", "--mesh", "square:1", "--dirichlet",
                            "left=y,0,free", "--dirichlet", "bottom=0,0,free", TIGHT, NEAR}};
    ranks_check_up_to(&cavity, 7, 1e-6); /* by MINRES, or by a factorization */
    ranks_check_up_to(&channel, 7, 1e-6);
    ranks_check_up_to(&few, 4, 1e-6);
    (void)remove("ranks_stokes.ufl");
}

/* Pressures that are constant in each cell, and bubbles. */
static void test_elements(void **state) {
    (void)state;
    static const char *const spaces[] = {
        "W = VectorElement(\"Lagrange\", triangle, 2)*FiniteElement(\"DG\", triangle, 0)\n",
        "W = VectorElement(FiniteElement(\"Lagrange\", triangle, 1) + FiniteElement(\"Bubble\", "
        "triangle, 3))*FiniteElement(\"Lagrange\", triangle, 1)\n"};
    for (int i = 0; i < 2; ++i) {
        char text[1000];
        (void)snprintf(text, sizeof text,
                       "%s(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
                       "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = v[0]*dx\n",
                       spaces[i]);
        ranks_write("ranks_elements.ufl", text);
        const rank_case one = {"solve",
                               {"ranks_elements.ufl", "--mesh", "square:3", "--dirichlet",
                                "left=y,0,free", "--dirichlet", "bottom=0,0,free", "--dirichlet",
                                "top=0,0,free", TIGHT, NEAR}};
        ranks_check_up_to(&one, 7, 1e-6);
    }
    (void)remove("ranks_elements.ufl");
}

static void test_navier_stokes(void **state) {
    (void)state;
    ranks_write("ranks_navier.ufl",
                TAYLOR_HOOD "w, (v, q) = Coefficient(W), TestFunctions(W)\nu, p = split(w)\n"
                            "F = 0.05*inner(grad(u), grad(v))*dx + dot(dot(grad(u), u), v)*dx"
                            " - p*div(v)*dx - q*div(u)*dx\n");
    const rank_case one = {"solve",
                           {"ranks_navier.ufl", "--nonlinear", "--mesh", "square:4", WALLS,
                            "--dirichlet", "top=4*x*(1-x),0,free", "--restart", "200",
                            "--tolerance", "1e-10", NEAR}};
    ranks_check_up_to(&one, 7, 1e-6);
    (void)remove("ranks_navier.ufl");
}

/* By a mass of the velocity alone, and by a scheme of the form's own. */
static void test_time(void **state) {
    (void)state;
    static const char *const forms[] = {
        "t = Constant(triangle)\n(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "m = inner(u, v)*dx\n"
        "a = 0.1*inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = t*v[0]*dx\n",
        "w_old, dt = Coefficient(W), Constant(triangle)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\nu_0, p_0 = split(w_old)\n"
        "a = (inner(u, v) + 0.1*dt*inner(grad(u), grad(v)) - dt*p*div(v) - dt*q*div(u))*dx\n"
        "L = inner(u_0, v)*dx\n"};
    for (int i = 0; i < 2; ++i) {
        char text[1000];
        (void)snprintf(text, sizeof text, "%s%s", TAYLOR_HOOD, forms[i]);
        ranks_write("ranks_flow.ufl", text);
        const rank_case one = {"solve",
                               {"ranks_flow.ufl", "--mesh", "square:3", WALLS, "--dirichlet",
                                "top=4*x*(1-x),0,free", "--time", "0.1,0.4", "--reactions", TIGHT,
                                NEAR, i ? "--previous" : "--scheme", i ? "w_old" : "bdf2"}};
        ranks_check_up_to(&one, 7, 1e-6);
    }
    (void)remove("ranks_flow.ufl");
}

/* Nothing fixes the constant: the mean is zero. Weak terms fix it, or the matrix does. */
static void test_natural(void **state) {
    (void)state;
    char text[1000];
    static const char *const forms[] = {
        "a = (1 + x[1])*inner(grad(u), grad(v))*dx\nL = (x[0] - 0.5)*v*dx\n",
        "a = (1 + x[1])*inner(grad(u), grad(v))*dx + u*v*dx\nL = x[0]*v*dx\n"};
    const rank_case fluxes = {"poisson",
                              {"--mesh", "square:6", "--source", "0", "--neumann", "right=1",
                               "--neumann", "left=-1", IN_PLANE}};
    const rank_case robin = {
        "poisson", {"--mesh", "square:6", "--source", "x", "--robin", "right=1,2", IN_PLANE}};
    json_t *result = ranks_run(&fluxes, "--ranks", "3");
    ranks_check(&fluxes);
    ranks_check(&robin);
    /* u = x - 1/2 */
    assert_double_near(app_component(json_array_get(json_object_get(result, "probes"), 0), "u", 0),
                       -0.1, 1e-9, 0);
    json_decref(result);
    for (int i = 0; i < 2; ++i) {
        (void)snprintf(text, sizeof text, "%su, v = TrialFunction(V), TestFunction(V)\n%s",
                       ranks_quadratic, forms[i]);
        ranks_write("ranks_natural.ufl", text);
        const rank_case one = {
            "solve",
            {"ranks_natural.ufl", "--mesh", "square:4", "--preconditioner", "jacobi", IN_PLANE}};
        ranks_check(&one);
    }
    (void)remove("ranks_natural.ufl");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stokes),
                                       cmocka_unit_test(test_elements),
                                       cmocka_unit_test(test_navier_stokes),
                                       cmocka_unit_test(test_time), cmocka_unit_test(test_natural)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
