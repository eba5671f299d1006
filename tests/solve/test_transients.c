/* labels: quick */
/* Problems in time against u = x exp(-t), which linear elements represent exactly, so that the error is
 * that of the time integration: 6 du/dt - div(k grad u) = f with f = -6 x exp(-t) and any k(t). Orders
 * of the schemes: Hairer and Wanner 1996, IV.8 and V.1; Bank et al. 1985. Tolerance: halving a step of
 * 0.1 leaves terms of the next order, which are below a tenth of the order. */
#include "solve_run.h"

static const double TOLERANCE = 0.1;

#define HEAT                                                                                       \
    "heat.weft", "--mesh=square:2", "--define=density=2", "--define=capacity=3",                   \
        "--define=source=-6*x*exp(-t)", "--initial=x", "--exact=x*exp(-t)", "--tolerance=1e-13",   \
        "--dirichlet=left=0"

static double error_of(const char *time, const char *const *options) {
    const char *all[40] = {HEAT, time};
    int n = 0;
    while (all[n])
        ++n;
    while (*options)
        all[n++] = *options++;
    json_t *root = app_solve("solve", 0, all);
    const double error = app_number(root, "l2_error");
    json_decref(root);
    return error;
}

/* The order between steps of 0.1 and 0.05. */
static double order(const char *const *options) {
    return log2(error_of("--time=0.1,1", options) / error_of("--time=0.05,1", options));
}

#define ORDER(...) order((const char *const[]){__VA_ARGS__, NULL})
#define MOVING "--define=conductivity=1+t"

/* Of each scheme, with a value, a flux and convection that depend on t, and a conductivity that does. */
static void test_orders(void **state) {
    (void)state;
    assert_double_near(1, ORDER("--scheme=theta", "--theta=1", "--dirichlet=right=exp(-t)"), 0,
                       TOLERANCE);
    assert_double_near(2, ORDER("--scheme=theta", "--neumann=right=exp(-t)"), 0, TOLERANCE);
    assert_double_near(2, ORDER("--scheme=theta", MOVING, "--neumann=right=(1+t)*exp(-t)"), 0,
                       TOLERANCE);
    assert_double_near(2, ORDER("--robin=right=2+t,(3+t)*exp(-t)"), 0, TOLERANCE);
    assert_double_near(2, ORDER(MOVING, "--dirichlet=right=exp(-t)", "--assembly=matrix-free"), 0,
                       TOLERANCE);
    assert_double_near(2, ORDER("--scheme=sdirk2", MOVING, "--robin=right=2,(3+t)*exp(-t)"), 0,
                       TOLERANCE);
}

/* u' = -u^2, which is 1/(1 + t), of no space: no order is lost to boundaries. A scheme of order 3 is below those of order 2
 * at the same step, and with a tolerance takes fewer steps; errors add up to the tolerance within a factor of three. */
static void test_reaction(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double order;
    } schemes[] = {{"bdf2", 2}, {"sdirk2", 2}, {"theta", 2}, {"sdirk3", 3}};
    char *folder = test_folder_make(), *script = test_path(folder, "reaction.weft");
    test_text_write(script, "parameter d = 2, degree = 4;\n"
                            "index cells, nodes;\n"
                            "connectivity dofs : cells -> nodes[d + 1];\n"
                            "input x : real[d] over nodes;\n"
                            "input u : real over nodes;\n"
                            "J = jacobian(x[dofs]);\n"
                            "T = interpolate(u[dofs], degree = degree);\n"
                            "M = shape_shape(J);\n"
                            "K = quadrature_shape_shape(2*T, J, degree = degree);\n"
                            "r[dofs] += quadrature_load(T*T, J, degree = degree);\n");
    double errors[4][3], steps[4];
    for (int s = 0; s < 4; ++s) {
        static const char *const times[] = {"--time=0.1,1", "--time=0.05,1", "--time=0.01,1"};
        for (int i = 0; i < 3; ++i) {
            json_t *root = app_solve(
                "solve", 0,
                (const char *const[]){script, "--nonlinear", "--mesh=square:2", times[i],
                                      i == 2 ? "--time-tolerance=1e-4" : "--time-tolerance=0",
                                      "--scheme", schemes[s].name, "--initial=1",
                                      "--neumann=boundary=0", "--tolerance=1e-12",
                                      "--newton-tolerance=1e-12", "--exact=1/(1+t)", NULL});
            const json_t *time = json_object_get(root, "time");
            assert_string_equal(app_text(time, "scheme"), schemes[s].name);
            errors[s][i] = app_number(root, "l2_error");
            steps[s] = app_number(time, "steps");
            json_decref(root);
        }
        assert_double_near(schemes[s].order, log2(errors[s][0] / errors[s][1]), 0, TOLERANCE);
        assert_true(errors[s][2] < 3e-4);
    }
    assert_true(errors[3][1] < errors[1][1] / 10 && steps[3] < steps[1]);
    free(script);
    test_folder_remove(&folder);
}

/* A last step that is shorter ends at the end; the result does not depend on the assembly. */
static void test_ends(void **state) {
    (void)state;
    static const char *const assemblies[] = {"--assembly=csr", "--assembly=edge", "--assembly=lma"};
    double first = 0;
    for (int i = 0; i < 3; ++i) {
        json_t *root = app_solve("solve", 0,
                                 (const char *const[]){HEAT, "--time=0.3,1", assemblies[i],
                                                       "--dirichlet=right=exp(-t)", NULL});
        const json_t *time = json_object_get(root, "time");
        assert_int_equal(app_number(time, "steps"), 4);
        assert_double_near(app_number(time, "t"), 1, 1e-12, 0);
        const double error = app_number(root, "l2_error");
        if (i == 0)
            first = error;
        assert_double_near(error, first, 1e-9, 0);
        json_decref(root);
    }
}

/* du/dt - div((1 + u^2) grad u) = f of the same u: u_x^2 (1 + u^2)' = 2 x exp(-3t). */
static void test_newton(void **state) {
    (void)state;
    static const char *const times[] = {"--time=0.1,1", "--time=0.05,1"};
    static const char *const schemes[] = {"bdf2", "sdirk2"};
    for (int s = 0; s < 2; ++s) {
        double errors[2];
        for (int i = 0; i < 2; ++i) {
            json_t *root =
                app_solve("solve", 0,
                          (const char *const[]){"heat_nonlinear.weft", "--nonlinear",
                                                "--mesh=square:2", times[i], "--scheme", schemes[s],
                                                "--initial=x", "--dirichlet=left=0",
                                                "--robin=right=1+t,exp(-t)*(2+t+exp(-2*t))",
                                                "--define=conductivity=1+u^2",
                                                "--define=source=-x*exp(-t)-2*x*exp(-3*t)",
                                                "--tolerance=1e-12", "--exact=x*exp(-t)", NULL});
            assert_string_equal(app_text(root, "method"), "gmres");
            errors[i] = app_number(root, "l2_error");
            json_decref(root);
        }
        assert_double_near(2, log2(errors[0] / errors[1]), 0, TOLERANCE);
    }
}

/* Steps are chosen such that the error at the end is the tolerance within a factor of three, relative to the
 * largest norm of u, in M's norm: where it decays, of u = x exp(-t), and where it adds up, of an oscillation
 * without conduction, u = (1 + cos t)/2 up to t = 3, when all errors have had one sign. */
static void test_tolerance(void **state) {
    (void)state;
    static const char *const schemes[] = {"bdf2", "sdirk2", "theta"};
    for (int i = 0; i < 4; ++i) {
        json_t *root =
            i == 3
                ? app_solve("solve", 0,
                            (const char *const[]){HEAT, "--time=0.01,2", "--time-tolerance=1e-4",
                                                  "--dirichlet=right=exp(-t)", NULL})
                : app_solve("solve", 0,
                            (const char *const[]){"heat.weft", "--mesh=square:2", "--time=0.01,3",
                                                  "--time-tolerance=1e-3", "--scheme", schemes[i],
                                                  "--initial=1", "--define=source=-0.5*sin(t)",
                                                  "--neumann=boundary=0", "--exact=0.5*(1+cos(t))",
                                                  NULL});
        const double size = i == 3 ? sqrt(1.0 / 3) : 1, tolerance = i == 3 ? 1e-4 : 1e-3;
        const double ratio = app_number(root, "l2_error") / size / tolerance;
        if (!(ratio < 3 && ratio > 1.0 / 3))
            fail_msg("the error is %g of the tolerance", ratio);
        assert_double_near(app_number(json_object_get(root, "time"), "t"), i == 3 ? 2 : 3, 1e-12,
                           0);
        json_decref(root);
    }
}

/* A jump between initial and boundary values needs short steps first; u = 1 - x in the end. */
static void test_jump(void **state) {
    (void)state;
    json_t *root = app_solve("solve", 0,
                             (const char *const[]){"heat.weft", "--mesh=square:16", "--time=0.1,2",
                                                   "--time-tolerance=1e-3", "--dirichlet=left=1",
                                                   "--dirichlet=right=0", "--exact=1-x", NULL});
    const json_t *time = json_object_get(root, "time");
    assert_true(app_number(time, "rejected") > 0);
    assert_true(app_number(time, "steps") < 100);
    assert_true(app_number(root, "l2_error") < 3e-3);
    json_decref(root);
}

/* The heat that a flux of 1 brings in is t, whatever the conductivity: each row of the table has it. */
static void test_history(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "heat.csv"), *text = NULL;
    json_t *root = app_solve(
        "solve", 0,
        (const char *const[]){"heat.weft", "--mesh=square:2", "--time=0.25,1", "--history", path,
                              "--define=conductivity=2+t", "--neumann=left=1", "--probe=0.5,0.5",
                              "--integral=total=u", "--tolerance=1e-12", NULL});
    json_decref(root);
    text = test_file_read(path, NULL);
    assert_non_null(text);
    assert_memory_equal(text, "t,\"u(0.5,0.5)\",\"total\"\n", 23);
    int n = 0;
    for (const char *row = strchr(text, '\n'); row && row[1]; row = strchr(row + 1, '\n'), ++n) {
        double t = 0, u = 0, total = 0;
        assert_int_equal(sscanf(row + 1, "%lf,%lf,%lf", &t, &u, &total), 3);
        assert_double_near(t, 0.25 * n, 0, 1e-12);
        assert_double_near(total, t, 0, 1e-9);
    }
    assert_int_equal(n, 5);
    free(text);
    free(path);
    test_folder_remove(&folder);
}

/* A form file with a mass, which schemes take as they take that of a script: u = x^2 exp(-t) with the condition
 * du/dt + du/dn + u = 2 exp(-t) at x = 1. A mass that changes is refused. */
static void test_mass_of_forms(void **state) {
    (void)state;
    static const char text[] =
        "element = FiniteElement('Lagrange', triangle, 2)\n"
        "u = TrialFunction(element)\nv = TestFunction(element)\n"
        "t = Constant(triangle)\nx = SpatialCoordinate(triangle)\n"
        "%s = %s*u*v*dx + u*v*ds(2)\na = inner(grad(u), grad(v))*dx + u*v*ds(2)\n"
        "L = -(x[0]**2 + 2)*exp(-t)*v*dx + 2*exp(-t)*v*ds(2)\n";
    static const char *const times[] = {"--time=0.1,1", "--time=0.05,1"};
    static const char *const schemes[] = {"--scheme=bdf2", "--scheme=sdirk2"};
    char *folder = test_folder_make(), *path = test_path(folder, "heat.ufl"), file[600];
    for (int k = 0; k < 2; ++k) {
        double errors[2];
        (void)snprintf(file, sizeof file, text, k ? "inertia" : "m", "1");
        test_text_write(path, file);
        for (int i = 0; i < 2; ++i) {
            const char *options[] = {path,
                                     "--mesh=square:2",
                                     times[i],
                                     schemes[k],
                                     "--initial=x^2",
                                     "--dirichlet=left=0",
                                     "--exact=x^2*exp(-t)",
                                     "--tolerance=1e-12",
                                     k ? "--mass=inertia" : NULL,
                                     NULL};
            json_t *root = app_solve("solve", 0, options);
            errors[i] = app_number(root, "l2_error");
            json_decref(root);
        }
        assert_double_near(2, log2(errors[0] / errors[1]), 0, TOLERANCE);
    }
    (void)snprintf(file, sizeof file, text, "m", "exp(t)");
    test_text_write(path, file);
    const char *const bad[][3] = {
        {"--mass=m", "the mass matrix 'm' depends on 't'", NULL},
        {"--mass=q", "no bilinear form q in the space of the unknown", NULL}};
    for (int k = 0; k < 2; ++k) {
        test_run run =
            test_program((const char *const[]){WEFT_BINARY_DIR "/solve", path, "--mesh=square:2",
                                               times[0], bad[k][0], NULL},
                         NULL);
        assert_int_not_equal(0, run.exit_code);
        assert_non_null(strstr(run.error, bad[k][1]));
        test_run_free(&run);
    }
    test_folder_remove(&folder);
    free(path);
}

/* A symmetric stiffness and a mass that is not, m(u, v) = (u + 5 du/dx, v): the same u, in degree 2 exact in space. CG is not for it. */
static void test_skew_mass(void **state) {
    (void)state;
    static const char *const times[] = {"--time=0.05,1", "--time=0.025,1"};
    char *folder = test_folder_make(), *path = test_path(folder, "skew.ufl");
    double errors[2];
    test_text_write(path, "V = FiniteElement('Lagrange', triangle, 2)\n"
                          "u, v = TrialFunction(V), TestFunction(V)\n"
                          "t, x = Constant(triangle), SpatialCoordinate(triangle)\n"
                          "m = u*v*dx + 5*u.dx(0)*v*dx\na = inner(grad(u), grad(v))*dx\n"
                          "L = exp(-t)*(-(x[0]**2 + 10*x[0] + 2)*v*dx + 2*v*ds(2))\n");
    for (int i = 0; i < 2; ++i) {
        json_t *root = SOLVE(0, path, "--mesh", "square:4", times[i], "--scheme", "bdf2",
                             "--initial", "x^2", "--dirichlet", "left=0", "--exact", "x^2*exp(-t)",
                             "--tolerance", "1e-12", "--preconditioner", "jacobi");
        assert_string_not_equal("cg", app_text(root, "method"));
        errors[i] = app_number(root, "l2_error");
        json_decref(root);
    }
    assert_double_near(2, log2(errors[0] / errors[1]), 0, TOLERANCE);
    test_run run =
        test_program((const char *const[]){WEFT_BINARY_DIR "/solve", path, "--mesh=square:4",
                                           times[0], "--method=cg", NULL},
                     NULL);
    assert_int_equal(2, run.exit_code);
    assert_non_null(strstr(run.error, "the mass matrix 'm' is not symmetric"));
    test_run_free(&run);
    test_folder_remove(&folder);
    free(path);
}

/* A form file that is implicit Euler: u = x^2 exp(-t) has no error in space with quadratic elements. And a
 * nonlinear one, which gives what theta = 1 gives of the script for the same problem. */
static void test_forms(void **state) {
    (void)state;
    static const char linear[] =
        "element = FiniteElement('Lagrange', triangle, 2)\n"
        "u = TrialFunction(element)\nv = TestFunction(element)\nu_old = Coefficient(element)\n"
        "dt = Constant(triangle)\nt = Constant(triangle)\nx = SpatialCoordinate(triangle)\n"
        "a = u*v*dx + dt*inner(grad(u), grad(v))*dx\n"
        "L = u_old*v*dx - dt*(x[0]**2 + 2)*exp(-t)*v*dx\n";
    static const char nonlinear[] =
        "element = FiniteElement('Lagrange', triangle, 1)\n"
        "u = Coefficient(element)\nv = TestFunction(element)\nu_old = Coefficient(element)\n"
        "dt = Constant(triangle)\nt = Constant(triangle)\nx = SpatialCoordinate(triangle)\n"
        "f = -x[0]*exp(-t) - 2*x[0]*exp(-3*t)\n"
        "F = (u - u_old)/dt*v*dx + (1 + u**2)*inner(grad(u), grad(v))*dx - f*v*dx\n";
    static const char *const times[] = {"--time=0.1,1", "--time=0.05,1"};
    char *folder = test_folder_make(), *path = test_path(folder, "heat.ufl");
    double errors[2];
    test_text_write(path, linear);
    for (int i = 0; i < 2; ++i) {
        json_t *root =
            app_solve("solve", 0,
                      (const char *const[]){path, "--mesh=square:2", times[i], "--initial=x^2",
                                            "--dirichlet=left=0", "--dirichlet=right=exp(-t)",
                                            "--exact=x^2*exp(-t)", NULL});
        errors[i] = app_number(root, "l2_error");
        json_decref(root);
    }
    assert_double_near(1, log2(errors[0] / errors[1]), 0, TOLERANCE);
    test_text_write(path, nonlinear);
    for (int i = 0; i < 2; ++i) {
        const char *own[] = {path, NULL}, *theta[] = {"heat_nonlinear.weft",
                                                      "--scheme=theta",
                                                      "--theta=1",
                                                      "--define=conductivity=1+u^2",
                                                      "--define=source=-x*exp(-t)-2*x*exp(-3*t)",
                                                      NULL};
        const char *all[20] = {"--nonlinear",        "--mesh=square:2",
                               "--time=0.25,1",      "--initial=x",
                               "--dirichlet=left=0", "--dirichlet=right=exp(-t)",
                               "--tolerance=1e-12",  "--exact=x*exp(-t)"};
        for (int k = 0, n = 8; (i ? theta : own)[k]; ++k)
            all[n++] = (i ? theta : own)[k];
        json_t *root = app_solve("solve", 0, all);
        errors[i] = app_number(root, "l2_error");
        json_decref(root);
    }
    assert_double_near(errors[0], errors[1], 1e-6, 0);
    free(path);
    test_folder_remove(&folder);
}

/* Rotation with weak diffusion, 1e12 long, so that the mass is rounding: the stationary u = x of (1/2 - y) du/dx + ... =
 * 1/2 - y, which GMRES finds only with more iterations between restarts than at first, as in stationary problems. */
static void test_long_cycles(void **state) {
    (void)state;
    static const char text[] =
        "element = FiniteElement('Lagrange', triangle, 1)\n"
        "u = TrialFunction(element)\nv = TestFunction(element)\nx = SpatialCoordinate(triangle)\n"
        "w = as_vector([0.5 - x[1], x[0] - 0.5])\n"
        "a = 1e-4*inner(grad(u), grad(v))*dx + dot(w, grad(u))*v*dx\n"
        "M = u*v*dx\nL = (0.5 - x[1])*v*dx\n";
    char *folder = test_folder_make(), *path = test_path(folder, "rotation.ufl");
    test_text_write(path, text);
    json_t *root =
        app_solve("solve", 0,
                  (const char *const[]){path, "--mesh=square:16", "--time=1e12,1e12",
                                        "--scheme=theta", "--theta=1", "--dirichlet=boundary=x",
                                        "--tolerance=1e-10", "--exact=x", NULL});
    assert_double_near(app_number(root, "l2_error"), 0, 0, 1e-6);
    json_decref(root);
    test_folder_remove(&folder);
    free(path);
}

static void test_null(void **state) {
    (void)state;
    json_t *root = app_solve(
        "solve", 0, (const char *const[]){HEAT, "--time=0.1,1", "--device=null:h200", NULL});
    assert_string_equal(app_text(root, "outcome"), "planned");
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_reaction),      cmocka_unit_test(test_newton),
        cmocka_unit_test(test_tolerance),     cmocka_unit_test(test_jump),
        cmocka_unit_test(test_history),       cmocka_unit_test(test_forms),
        cmocka_unit_test(test_mass_of_forms), cmocka_unit_test(test_long_cycles),
        cmocka_unit_test(test_null),          cmocka_unit_test(test_skew_mass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
