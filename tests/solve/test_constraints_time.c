/* labels: full */
/* Constraints of problems in time. Observed orders are those of the schemes (Hairer and Wanner 1996, IV.8 and V.1; Bank
 * et al. 1985): halving a step leaves terms of the next order, below a tenth of the order. Heat that comes in
 * is exact up to the solves, which stop at 1e-14; half a body on a plane of symmetry is half of the whole body up to
 * solves of 1e-13 and condition numbers below 10^4. */
#include "mirrored_mesh.h"
#include "solve_run.h"

#include <stdio.h>
#include <stdlib.h>

static const double TOLERANCE = 0.1, BALANCE = 1e-12, SAME = 1e-9;
static const double PI = 3.14159265358979323846;

/* The options of all schemes, with their orders. */
static const struct {
    const char *scheme, *theta;
    double order;
} schemes[] = {{"theta", "1", 1},
               {"theta", "0.5", 2},
               {"bdf2", "0.5", 2},
               {"sdirk2", "0.5", 2},
               {"sdirk3", "0.5", 3}};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* ---- a periodic mode ------------------------------------------------------------------------- */

#define PERIODIC "--periodic", "left=right", "--periodic", "bottom=top", "--tolerance", "1e-13"

/* On square:16 sin(2 pi x + phi) is an eigenvector of mass and stiffness, whose quotient is that of linear elements
 * on the line: it decays as exp(-rate t). */
static double rate(void) {
    const double h = 1.0 / 16, c = cos(2 * PI * h);
    return 6 / (h * h) * (1 - c) / (2 + c);
}

static double mode_error(const char *script, const char *nonlinear, int s, const char *time) {
    json_t *root =
        SOLVE(0, script, nonlinear, "--mesh", "square:16", PERIODIC, "--time", time, "--scheme",
              schemes[s].scheme, "--theta", schemes[s].theta, "--initial", "sin(2*pi*x+0.3)",
              "--probe", "0.25,0.5", "--probe", "1,1", "--probe", "0,0.25");
    const double decayed = exp(-rate() * 0.02);
    const double error = app_probe_value(root, 0) - sin(PI / 2 + 0.3) * decayed;
    expect(app_probe_value(root, 1), app_probe_value(root, 2), BALANCE);
    json_decref(root);
    return fabs(error);
}

static void periodic_mode(void **state) {
    (void)state;
    for (int s = 0; s < SCHEMES; ++s) {
        const double coarse = mode_error("heat.weft", "--quiet", s, "0.002,0.02");
        const double fine = mode_error("heat.weft", "--quiet", s, "0.001,0.02");
        assert_double_near(schemes[s].order, log2(coarse / fine), 0, TOLERANCE);
    }
    for (int s = 2; s < SCHEMES; ++s) {
        const double coarse = mode_error("heat_nonlinear.weft", "--nonlinear", s, "0.002,0.02");
        const double fine = mode_error("heat_nonlinear.weft", "--nonlinear", s, "0.001,0.02");
        assert_double_near(schemes[s].order, log2(coarse / fine), 0, TOLERANCE);
    }
}

/* The mode of the differential equation, with short steps. */
static void periodic_in_space(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:16", "square:32"};
    json_t *roots[2];
    for (int i = 0; i < 2; ++i)
        roots[i] = SOLVE(0, "heat.weft", "--mesh", meshes[i], PERIODIC, "--time", "0.0002,0.01",
                         "--scheme", "sdirk2", "--initial", "sin(2*pi*(x+0.1))*cos(2*pi*(y+0.2))",
                         "--exact", "exp(-8*pi^2*t)*sin(2*pi*(x+0.1))*cos(2*pi*(y+0.2))");
    assert_true(poisson_order(roots[0], roots[1], "l2_error") > 1.9);
    json_decref(roots[0]);
    json_decref(roots[1]);
}

/* Steps whose error is controlled: it is the tolerance within a factor of three, relative to the initial amplitude. */
static void controlled_steps(void **state) {
    (void)state;
    for (int s = 1; s < SCHEMES; ++s) {
        json_t *root = SOLVE(0, "heat.weft", "--mesh", "square:16", PERIODIC, "--time",
                             "0.0001,0.02", "--time-tolerance", "1e-3", "--scheme",
                             schemes[s].scheme, "--initial", "sin(2*pi*x)", "--probe", "0.25,0.5");
        const double error = fabs(app_probe_value(root, 0) - exp(-rate() * 0.02));
        if (!(error < 3e-3 && error > 1e-3 / 10))
            fail_msg("%s: the error is %g", schemes[s].scheme, error);
        json_decref(root);
    }
}

/* ---- values that depend on time -------------------------------------------------------------- */

/* u = x exp(-t), which linear elements have exactly, and whose right side is tied and given at one point. */
static double given_error(const char *const *equation, int s, const char *time, bool inside) {
    const char *all[30] = {"--mesh=square:2",
                           "--initial=x",
                           "--dirichlet=left=0",
                           "--tie=right",
                           "--point-value=1,0.3=exp(-t)",
                           "--tolerance=1e-13",
                           "--exact=x*exp(-t)",
                           "--scheme",
                           schemes[s].scheme,
                           "--theta",
                           schemes[s].theta,
                           "--time",
                           time};
    int n = 13;
    while (*equation)
        all[n++] = *equation++;
    if (inside)
        all[n++] = "--point-value=0.3,0.4=x*exp(-t)";
    json_t *root = app_solve("solve", 0, all);
    const double error = app_number(root, "l2_error");
    json_decref(root);
    return error;
}

static void given_values(void **state) {
    (void)state;
    static const char *const linear[] = {"heat.weft",
                                         "--define=density=2",
                                         "--define=capacity=3",
                                         "--define=source=-6*x*exp(-t)",
                                         "--define=conductivity=1+t",
                                         NULL};
    static const char *const nonlinear[] = {"heat_nonlinear.weft", "--nonlinear",
                                            "--define=conductivity=1+u^2",
                                            "--define=source=-x*exp(-t)-2*x*exp(-3*t)", NULL};
    for (int i = 0; i < 2 * SCHEMES; ++i) {
        const char *const *equation = i % 2 ? nonlinear : linear;
        const double coarse = given_error(equation, i / 2, "0.1,1", false);
        const double fine = given_error(equation, i / 2, "0.05,1", false);
        /* the stages have order 2, and given values that move show it: Hairer and Wanner 1996, IV.15 */
        assert_double_near(schemes[i / 2].order, log2(coarse / fine), 0,
                           schemes[i / 2].order > 2 ? 0.5 : TOLERANCE);
    }
    for (int i = 0; i < 2; ++i) {
        const double coarse = given_error(i ? nonlinear : linear, 3, "0.1,1", true);
        const double fine = given_error(i ? nonlinear : linear, 3, "0.05,1", true);
        assert_double_near(2, log2(coarse / fine), 0, TOLERANCE);
    }
}

/* ---- balances -------------------------------------------------------------------------------- */

/* The last row of a table of t and a value. */
static void last_row(const char *path, double *t, double *value) {
    char *text = test_file_read(path, NULL);
    assert_non_null(text);
    text[strlen(text) - 1] = '\0';
    const char *row = strrchr(text, '\n');
    assert_non_null(row);
    assert_int_equal(sscanf(row + 1, "%lf,%lf", t, value), 2);
    free(text);
}

/* An insulated body has what comes in: by a flux of int 1 + y = 3/2 into a tied side, whose nodes began with
 * different values, and by a load t at a point, of which schemes of second order have t^2/2 exactly and the implicit
 * Euler scheme the sum of dt t. */
static void heat_balances(void **state) {
    (void)state;
    static const char *const scripts[] = {"heat.weft", "heat_nonlinear.weft"};
    static const char *const kinds[] = {"--quiet", "--nonlinear"};
    static const char *const conductivities[] = {"--define=conductivity=1+t",
                                                 "--define=conductivity=1+u^2"};
    char *folder = test_folder_make(), *path = test_path(folder, "heat.csv");
    for (int i = 0; i < 2 * SCHEMES; ++i) {
        const int s = i / 2, k = i % 2;
        double t = 0, total[2] = {0, 0};
        for (int step = 0; step < 2; ++step) {
            json_t *root =
                SOLVE(0, scripts[k], kinds[k], conductivities[k], "--mesh=square:4", "--scheme",
                      schemes[s].scheme, "--theta", schemes[s].theta, "--time",
                      step ? "0.125,1" : "1e-9,1e-9", "--initial=x*(1+y)", "--tie=right",
                      "--neumann=right=1+y", "--point-load=0.6,0.3=t", "--integral=total=u",
                      "--history", path, "--tolerance=1e-14", "--newton-tolerance=1e-13");
            json_decref(root);
            last_row(path, &t, &total[step]);
        }
        const double load = schemes[s].order > 1 ? 0.5 : 0.5 + 0.125 / 2;
        expect(total[1] - total[0], 1.5 + load, 1e-8); /* the short run brings in 1.5e-9 */
    }
    free(path);
    test_folder_remove(&folder);
}

/* The first row is the projection of the initial values, which keeps the heat: int x (1 + y) on the nodes. */
static void initial_values(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "heat.csv");
    double t = 0, totals[2];
    for (int i = 0; i < 2; ++i) {
        json_t *root =
            SOLVE(0, "heat.weft", "--mesh=square:4", "--time=0.25,0.5", "--initial=x*(1+y)",
                  i ? "--tie=right" : "--quiet", i ? "--tie=bottom" : "--quiet", "--neumann=left=0",
                  "--integral=total=u", "--history", path, "--tolerance=1e-14");
        json_decref(root);
        last_row(path, &t, &totals[i]);
    }
    expect(totals[0], totals[1], BALANCE);
    free(path);
    test_folder_remove(&folder);
}

/* ---- planes of symmetry ---------------------------------------------------------------------- */

/* A body that is heated more and more, and more along the plane, expands against a viscous medium; with a
 * cubic resistance it is nonlinear. */
static void write_heated(const char *path, double angle, bool nonlinear) {
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "element = VectorElement('Lagrange', triangle, 1)\n"
                   "u = %s(element)\nv = TestFunction(element)\nu_old = Coefficient(element)\n"
                   "dt = Constant(triangle)\nt = Constant(triangle)\n"
                   "x = SpatialCoordinate(triangle)\n"
                   "T = t*(1 + %.17g*x[0] + %.17g*x[1])\n"
                   "K = 2*inner(sym(grad(u)), sym(grad(v))) + div(u)*div(v)\n"
                   "%s",
                   nonlinear ? "Coefficient" : "TrialFunction", -sin(angle), cos(angle),
                   nonlinear ? "F = dot(u - u_old, v)/dt*dx + K*dx + 5*dot(u, u)*dot(u, v)*dx"
                               " - 0.3*T*div(v)*dx\n"
                             : "a = dot(u, v)/dt*dx + K*dx\n"
                               "L = dot(u_old, v)/dt*dx + 0.3*T*div(v)*dx\n");
    test_text_write(path, text);
}

static void heated_body(void **state) {
    (void)state;
    static const double angles[] = {0, 0.7, 2.1};
    static const double points[][2] = {{1, 0.5}, {0.5, 1}, {0, 0.5}};
    char *folder = test_folder_make(), *path = test_path(folder, "heated.ufl");
    for (int c = 0; c < 6; ++c) {
        const double angle = angles[c / 2];
        char *half = mirrored_mesh_write(folder, false, angle);
        char *whole = mirrored_mesh_write(folder, true, angle), at[3][80];
        for (int i = 0; i < 3; ++i) {
            double p[2];
            mirrored_turn(angle, points[i][0] * (1 - 1e-12), points[i][1] * (1 - 1e-12), p);
            (void)snprintf(at[i], sizeof at[i], "%.17g,%.17g", p[0], p[1]);
        }
        write_heated(path, angle, c % 2);
        const char *kind = c % 2 ? "--nonlinear" : "--quiet";
        json_t *roots[2] = {SOLVE(0, path, kind, "--mesh", half, "--symmetry", "plane", "--time",
                                  "0.1,0.5", "--tolerance", "1e-13", "--newton-tolerance", "1e-12",
                                  "--probe", at[0], "--probe", at[1], "--probe", at[2]),
                            SOLVE(0, path, kind, "--mesh", whole, "--neumann", "far=0,0", "--time",
                                  "0.1,0.5", "--tolerance", "1e-13", "--newton-tolerance", "1e-12",
                                  "--probe", at[0], "--probe", at[1], "--probe", at[2])};
        for (size_t i = 0; i < 3; ++i)
            for (size_t k = 0; k < 2; ++k)
                expect(solve_item(roots[0], "probes", i, "u", k),
                       solve_item(roots[1], "probes", i, "u", k), SAME);
        assert_true(hypot(solve_item(roots[0], "probes", 0, "u", 0),
                          solve_item(roots[0], "probes", 0, "u", 1)) > 1e-3);
        json_decref(roots[0]);
        json_decref(roots[1]);
        free(half);
        free(whole);
    }
    free(path);
    test_folder_remove(&folder);
}

static void null_device(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "heat.weft", "--mesh=square:8", "--device=null:h200", "--time=0.1,1",
                         "--tie=right", "--point-value=0.3,0.4=t", "--point-load=0.6,0.6=t");
    assert_string_equal(app_text(root, "outcome"), "planned");
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_mode),    cmocka_unit_test(periodic_in_space),
        cmocka_unit_test(controlled_steps), cmocka_unit_test(given_values),
        cmocka_unit_test(heat_balances),    cmocka_unit_test(initial_values),
        cmocka_unit_test(heated_body),      cmocka_unit_test(null_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
