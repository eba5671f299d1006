/* labels: full */
/* Steps in time on several ranks: every decision, as the length of a step, is made of the same numbers, so that all ranks make the
 * same steps, and any number of ranks has the same bits, in files too. */
#include "ranks_run.h"

#include <stdio.h>

#define HEAT(mesh) "heat.weft", "--mesh", mesh, "--initial", "x*(1-x)", IN_PLANE

/* Values that move, what is stored as a boundary condition, steps of any length; a mesh with fewer cells than ranks. */
static void test_schemes(void **state) {
    (void)state;
    static const char *const schemes[] = {"theta", "bdf2", "sdirk2", "sdirk3"};
    for (int i = 0; i < 4; ++i) {
        const rank_case steps = {"solve",
                                 {HEAT("square:6"), "--time", "0.02,0.1", "--scheme", schemes[i],
                                  "--dirichlet", "left=sin(10*t)", "--neumann", "right=t",
                                  "--robin", "top=1+t,x"}};
        const rank_case lengths = {"solve",
                                   {HEAT("square:6"), "--time", "0.02,0.5", "--time-tolerance",
                                    "1e-3", "--scheme", schemes[i], "--dirichlet", "left=0"}};
        ranks_check(&steps);
        ranks_check_up_to(&lengths, 7, 1e-6); /* whose lengths depend on rounding */
    }
    const rank_case few = {"solve", {HEAT("square:1"), "--time", "0.02,0.1"}};
    ranks_check_up_to(&few, 4, 1e-9);
}

/* Insulated bodies, whose mean is kept apart where the step is so long that the mass hardly holds it: heat is kept. */
static void test_means(void **state) {
    (void)state;
    static const char *const steps[] = {"0.02,0.1", "1e9,1e10"};
    static const double tolerances[] = {1e-9, 1e-5}; /* rounding of fluxes times the time, 1e-6 */
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"solve",
                               {HEAT("square:5"), "--time", steps[i], "--scheme",
                                i ? "bdf2" : "theta", "--neumann", "right=1", "--neumann",
                                "left=-1"}};
        json_t *result = ranks_run(&one, "--ranks", "3");
        ranks_check_up_to(&one, 7, tolerances[i]);
        /* that of the interpolant of degree 1, by the trapezoidal rule */
        assert_double_near(app_number(result, "integral_u"), 1. / 6 - 1. / 150, tolerances[i], 0);
        json_decref(result);
    }
}

/* Elements of degree 2, and a scheme of the form's own. */
static void test_forms(void **state) {
    (void)state;
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "%su, v, t = TrialFunction(V), TestFunction(V), Constant(V)\n%s",
                   ranks_quadratic,
                   "m = (1 + x[0])*u*v*dx\na = (1 + t*x[1])*inner(grad(u), grad(v))*dx + u*v*ds\n"
                   "L = (1 + x[0]*t)*v*dx\n");
    ranks_write("ranks_mass.ufl", text);
    (void)snprintf(text, sizeof text,
                   "%su, v, t = TrialFunction(V), TestFunction(V), Constant(V)\n%s",
                   ranks_quadratic,
                   "u_old, dt = Coefficient(V), Constant(V)\n"
                   "a = u*v*dx + dt*inner(grad(u), grad(v))*dx + dt*u.dx(0)*v*dx\n"
                   "L = u_old*v*dx + dt*t*v*dx\n");
    ranks_write("ranks_own.ufl", text);
    const rank_case cases[] = {{"solve",
                                {"ranks_mass.ufl", "--mesh", "square:4", "--time", "0.05,0.3",
                                 "--initial", "x*y", "--dirichlet", "left=t*y", IN_PLANE}},
                               {"solve",
                                {"ranks_own.ufl", "--mesh", "square:2", "--time", "0.05,0.3",
                                 "--initial", "x*y", "--dirichlet", "left=t", IN_PLANE}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ranks_check(&cases[i]);
    (void)remove("ranks_mass.ufl");
    (void)remove("ranks_own.ufl");
}

/* What flows into u in the last step: of the theta scheme means over it; of forms, of own schemes and of Newton's method. */
static void test_reactions(void **state) {
    (void)state;
    static const char *const schemes[] = {"theta", "bdf2", "sdirk2", "sdirk3"};
    char text[2000];
    for (int i = 0; i < 4; ++i) {
        const rank_case one = {"solve",
                               {HEAT("square:6"), "--time", "0.02,0.1", "--scheme", schemes[i],
                                "--dirichlet", "left=sin(10*t)", "--neumann", "right=t", "--robin",
                                "top=1+t,x*t", "--define", "conductivity=1+y*t", "--reactions"}};
        ranks_check(&one);
    }
    (void)snprintf(text, sizeof text, "%s%s", ranks_quadratic,
                   "u, v, t = TrialFunction(V), TestFunction(V), Constant(V)\n"
                   "u_old, dt = Coefficient(V), Constant(V)\n"
                   "a = u*v*dx + dt*inner(grad(u), grad(v))*dx + dt*u*v*ds\n"
                   "L = u_old*v*dx + dt*t*v*dx\n");
    ranks_write("ranks_own.ufl", text);
    const rank_case cases[] = {
        {"solve",
         {"ranks_own.ufl", "--mesh", "square:3", "--time", "0.05,0.3", "--initial", "x*y",
          "--dirichlet", "left=t", "--reactions", IN_PLANE}},
        {"solve",
         {"heat_nonlinear.weft", "--nonlinear", "--mesh", "square:5", "--initial", "1", "--time",
          "0.05,0.2", "--dirichlet", "left=1+t", "--robin", "right=1+t,2", "--define",
          "conductivity=0.5+0.1*u", "--newton-tolerance", "1e-12", "--reactions", IN_PLANE}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ranks_check(&cases[i]);
    (void)remove("ranks_own.ufl");
}

/* u = x + t of -div grad u + du/dt = 1: a flux of 1 enters on the right and leaves on the left. */
static void test_known_reactions(void **state) {
    (void)state;
    const rank_case one = {"solve",
                           {"heat.weft", "--mesh", "square:5", "--initial", "x", "--define",
                            "source=1", "--dirichlet", "left=t", "--dirichlet", "right=1+t",
                            "--time", "0.1,0.5", "--reactions", IN_PLANE}};
    json_t *result = ranks_run(&one, "--ranks", "4");
    for (size_t i = 0; i < 2; ++i)
        assert_double_near(solve_item(result, "reactions", i, "reaction", 0), i ? 1 : -1, 1e-8, 0);
    assert_double_near(app_number(result, "loads"), 1, 1e-8, 0);
    assert_double_near(app_number(result, "storage"), 1, 1e-8, 0);
    json_decref(result);
}

static void same_files(const char *a, const char *b) {
    size_t n = 0, m = 0;
    char *x = test_file_read(a, &n), *y = test_file_read(b, &m);
    assert_true(n > 100 && n == m && memcmp(x, y, n) == 0);
    free(x);
    free(y);
}

/* The first rank writes the whole of series and tables: the same files for any number of ranks. */
static void test_files(void **state) {
    (void)state;
    for (int i = 0; i < RANK_COUNTS; ++i) {
        char output[40], table[40];
        (void)snprintf(output, sizeof output, "ranks_%s.pvd", rank_counts[i]);
        (void)snprintf(table, sizeof table, "ranks_%s.csv", rank_counts[i]);
        json_decref(SOLVE(0, HEAT("square:6"), "--time", "0.02,0.1", "--dirichlet", "left=t",
                          "--output", output, "--output-interval", "0.05", "--history", table,
                          "--history-every", "2", "--integral", "q=u*u", "--overwrite", "--ranks",
                          rank_counts[i]));
        for (int k = 0; k < 3 && i > 0; ++k) {
            char a[60], b[60];
            (void)snprintf(a, sizeof a, "ranks_1_steps/%06d.vtu", k);
            (void)snprintf(b, sizeof b, "ranks_%s_steps/%06d.vtu", rank_counts[i], k);
            same_files(a, b);
        }
        same_files("ranks_1.csv", table);
    }
    for (int i = 0; i < RANK_COUNTS; ++i)
        for (int k = 0; k < 6; ++k) {
            static const char *const others[] = {"ranks_%s_steps", "ranks_%s.pvd", "ranks_%s.csv"};
            char path[60];
            if (k < 3)
                (void)snprintf(path, sizeof path, "ranks_%s_steps/%06d.vtu", rank_counts[i], k);
            else
                (void)snprintf(path, sizeof path, others[k - 3], rank_counts[i]);
            (void)remove(path);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes),         cmocka_unit_test(test_means),
        cmocka_unit_test(test_forms),           cmocka_unit_test(test_reactions),
        cmocka_unit_test(test_known_reactions), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
