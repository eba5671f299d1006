/* labels: full
 * Problems with matrices that are not symmetric or not definite, whose solutions are known, by solve and the
 * scripts in docs/examples: which method is chosen and why, and that errors fall with the orders of linear
 * elements, 2 in L2 and 1 in H1, here 1.8 and 0.9 as meshes are coarse. */
#include "solve_run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SCRIPT(name) WEFT_SOURCE_DIR "/docs/examples/" name
#define SINES "sin(pi*x)*sin(pi*y)"

static void check_orders(const double l2[], const double h1[], int n) {
    for (int i = 1; i < n; ++i) {
        assert_true(log2(l2[i - 1] / l2[i]) > 1.8);
        assert_true(log2(h1[i - 1] / h1[i]) > 0.9);
    }
}

static json_t *solve_convection(const char *mesh, const char *method, const char *assembly) {
    return SOLVE(0, SCRIPT("convection.weft"), "--mesh", mesh, "--input", "velocity=2,1", "--input",
                 "k=1e-3", "--define",
                 "source=2e-3*pi^2*" SINES " + 2*pi*cos(pi*x)*sin(pi*y) + pi*sin(pi*x)*cos(pi*y)",
                 "--exact", SINES, "--method", method, "--assembly", assembly);
}

static void convection(void **state) {
    static const char *const meshes[] = {"square:16", "square:32", "square:64"};
    static const char *const methods[] = {"auto", "bicgstab"};
    double l2[3], h1[3];
    (void)state;
    for (int m = 0; m < 2; ++m) {
        for (int i = 0; i < 3; ++i) {
            json_t *a = solve_convection(meshes[i], methods[m], "auto");
            l2[i] = app_number(a, "l2_error");
            h1[i] = app_number(a, "h1_error");
            assert_string_equal(app_text(a, "method"), m == 0 ? "gmres" : "bicgstab");
            assert_non_null(
                strstr(app_text(a, "method_reason"), m == 0 ? "not symmetric" : "as requested"));
            assert_true(app_number(a, "asymmetry") > 0.5);
            assert_string_not_equal(app_text(a, "assembly"), "edge");
            json_decref(a);
        }
        check_orders(l2, h1, 3);
    }
}

/* K, not its transpose, in every format; the error differs by what the tolerance leaves. */
static void convection_in_every_format(void **state) {
    static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free"};
    double first = 0;
    (void)state;
    for (int i = 0; i < 4; ++i) {
        json_t *a = solve_convection("square:16", "gmres", assemblies[i]);
        first = i == 0 ? app_number(a, "l2_error") : first;
        assert_true(first < 1e-2);
        assert_double_near(app_number(a, "l2_error"), first, 1e-4, 0);
        json_decref(a);
    }
}

/* BoomerAMG and PETSc's ILU(0) take such matrices, a Cholesky factorization does not. With Jacobi's
 * preconditioner there are more than 200 iterations. */
static void convection_with_libraries(void **state) {
    (void)state;
    static const struct {
        const char *option, *most;
    } cases[] = {{"--preconditioner=hypre", "--max-iterations=40"},
                 {"--preconditioner=petsc", "--max-iterations=40"},
                 {"--preconditioner=cholmod", NULL}};
    int n_missing = 0;
    for (int i = 0; i < 3; ++i) {
        const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                       SCRIPT("convection.weft"),
                                       "--mesh=square:64",
                                       "--input=velocity=2,1",
                                       "--input=k=1e-3",
                                       "--assembly=csr",
                                       cases[i].option,
                                       cases[i].most,
                                       NULL};
        test_run run = test_program(command, NULL);
        if (strstr(run.error, "is not found") || strstr(run.error, "there is no header")) {
            ++n_missing;
        } else if (cases[i].most) {
            assert_int_equal(run.exit_code, 0);
            assert_non_null(strstr(run.output, "GMRES       converged"));
        } else {
            assert_int_not_equal(run.exit_code, 0);
            assert_non_null(strstr(run.error, "not symmetric"));
        }
        test_run_free(&run);
    }
    if (n_missing == 3)
        skip_test("none of the libraries is installed");
}

/* With the preconditioners of the symmetric part, convection of a Peclet number of 2 in the domain takes as few
 * iterations on every mesh, and has the solution of Jacobi's: residuals of 1e-10 mean errors of 1e-10 times the condition,
 * about 1e4. */
static void little_convection(void **state) {
    static const char *const meshes[] = {"square:64", "square:128"};
    static const char *const kinds[] = {"jacobi", "auto", "aggregation", "multigrid"};
    (void)state;
    for (int m = 0; m < 2; ++m) {
        double integral = 0;
        for (int k = 0; k < 4; ++k) {
            json_t *a =
                SOLVE(0, SCRIPT("convection.weft"), "--mesh", meshes[m], "--input", "velocity=2,1",
                      "--input", "k=1", "--preconditioner", kinds[k], "--tolerance", "1e-10",
                      "--device", "host:2"); /* auto counts threads */
            integral = k == 0 ? app_number(a, "integral_u") : integral;
            assert_double_near(app_number(a, "integral_u"), integral, 1e-6, 0);
            if (k > 0)
                assert_in_range(app_number(a, "iterations"), 5, 35);
            if (k == 1)
                assert_string_equal(app_text(a, "preconditioner"), "aggregation");
            json_decref(a);
        }
    }
}

/* u = x y z is carried along x: 4 u_x = 4 y z, and it does not diffuse. */
static void convection_in_space(void **state) {
    double error[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *a = SOLVE(0, SCRIPT("convection.weft"), "--mesh", i == 0 ? "cube:4" : "cube:8",
                          "--input", "velocity=4,0,0", "--input", "k=0.01", "--define",
                          "source=4*y*z", "--dirichlet", "boundary=x*y*z", "--exact", "x*y*z");
        assert_string_equal(app_text(a, "method"), "gmres");
        error[i] = app_number(a, "l2_error");
        json_decref(a);
    }
    assert_true(log2(error[0] / error[1]) > 1.8);
}

/* -div(grad u) - 60 u: the eigenvalues 2 pi^2 and 5 pi^2 of -div(grad) are below 60, the next above. */
static void negative_shift(void **state) {
    static const char *const meshes[] = {"square:16", "square:32", "square:64"};
    double l2[3], h1[3];
    (void)state;
    for (int i = 0; i < 3; ++i) {
        json_t *a = SOLVE(0, "helmholtz.weft", "--mesh", meshes[i], "--define", "lambda=-60",
                          "--define", "source=(2*pi^2-60)*" SINES, "--exact", SINES);
        assert_string_equal(app_text(a, "method"), "minres");
        assert_non_null(strstr(app_text(a, "method_reason"), "not positive definite"));
        l2[i] = app_number(a, "l2_error");
        h1[i] = app_number(a, "h1_error");
        json_decref(a);
    }
    check_orders(l2, h1, 3);
}

/* The tangent is symmetric for u = 0 only; its residuals are squared in every step. */
static void exact_tangent(void **state) {
    static const char *const meshes[] = {"square:8", "square:16", "square:32"};
    double l2[3], h1[3];
    (void)state;
    for (int i = 0; i < 3; ++i) {
        json_t *a =
            SOLVE(0, SCRIPT("quasilinear.weft"), "--nonlinear", "--mesh", meshes[i], "--define",
                  "source=2*pi^2*" SINES "*(1 + 3*(" SINES ")^2 - sin(pi*x)^2 - sin(pi*y)^2)",
                  "--exact", SINES);
        const json_t *newton = json_object_get(a, "newton");
        const size_t n = json_array_size(newton);
        assert_in_range(n, 5, 8);
        for (size_t k = 0; k + 1 < n; ++k) {
            const json_t *now = json_array_get(newton, k), *next = json_array_get(newton, k + 1);
            const double before = app_number(now, "residual");
            assert_string_equal(app_text(now, "method"), k == 0 ? "cg" : "gmres");
            if (k >= 2 && before > 1e-5)
                assert_true(app_number(next, "residual") < 2 * before * before);
        }
        assert_true(json_is_true(json_object_get(a, "newton_converged")));
        l2[i] = app_number(a, "l2_error");
        h1[i] = app_number(a, "h1_error");
        json_decref(a);
    }
    check_orders(l2, h1, 3);
}

/* Every method solves a problem that suits CG. */
static void every_method(void **state) {
    static const char *const methods[] = {"cg", "minres", "gmres", "bicgstab"};
    (void)state;
    for (int i = 0; i < 4; ++i) {
        json_t *a =
            POISSON(0, "--mesh", "square:24", "--source", "2*pi^2*" SINES, "--method", methods[i],
                    "--restart", "50", "--probe", "0.5,0.5", "--tolerance", "1e-11");
        json_t *b = POISSON(0, "--mesh", "square:24", "--source", "2*pi^2*" SINES, "--probe",
                            "0.5,0.5", "--tolerance", "1e-11");
        assert_string_equal(app_text(a, "method"), methods[i]);
        assert_string_equal(app_text(b, "method"), "cg");
        assert_double_near(app_probe_value(a, 0), app_probe_value(b, 0), 1e-8, 0);
        json_decref(a);
        json_decref(b);
    }
}

/* Matrices that are symmetric at t = 0 alone. Implicit Euler's method and linear elements have the solutions, which are linear in t
 * and x: u_old u_x with u = t x in a scheme of its own; t u_x with u = x + t; and the same with u^3 by Newton's method. */
static void symmetric_at_the_start(void **state) {
    (void)state;
    static const struct {
        const char *text, *boundary, *nonlinear;
    } cases[] = {
        {"dt, t = Constant(triangle), Constant(triangle)\nu_old = Coefficient(element)\n"
         "u = TrialFunction(element)\n"
         "a = u*v*dx + dt*inner(grad(u), grad(v))*dx + dt*u_old*u.dx(0)*v*dx\n"
         "L = u_old*v*dx + dt*(1 + (t - dt)*t)*x[0]*v*dx\n",
         "boundary=t*x", NULL},
        {"t = Constant(triangle)\nu = TrialFunction(element)\nm = u*v*dx\n"
         "a = inner(grad(u), grad(v))*dx + t*u.dx(0)*v*dx\nL = (1 + t)*v*dx\n",
         "boundary=x+t", NULL},
        {"t = Constant(triangle)\nu, w = Coefficient(element), TrialFunction(element)\n"
         "m = w*v*dx\n"
         "F = inner(grad(u), grad(v))*dx + (t*u.dx(0) - 1 - t + u**3 - (x[0] + t)**3)*v*dx\n",
         "boundary=x+t", "--nonlinear"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char *folder = test_folder_make(), *path = test_path(folder, "moving.ufl"), text[800];
        snprintf(text, sizeof text,
                 "element = FiniteElement('P', triangle, 1)\nv = TestFunction(element)\n"
                 "x = SpatialCoordinate(triangle)\n%s",
                 cases[i].text);
        test_text_write(path, text);
        const char *command[] = {WEFT_BINARY_DIR "/solve",
                                 path,
                                 "--mesh=square:16",
                                 "--dirichlet",
                                 cases[i].boundary,
                                 "--time=0.25,1",
                                 "--tolerance=1e-12",
                                 i == 0 ? "--exact=x" : "--exact=x+1",
                                 i == 0 ? "--probe=0.25,0.5" : "--initial=x",
                                 cases[i].nonlinear,
                                 NULL};
        json_t *root = app_solve("solve", 0, command + 1);
        assert_string_equal(app_text(root, "method"), "gmres");
        assert_non_null(strstr(app_text(root, "method_reason"), "not symmetric"));
        assert_true(app_number(root, "l2_error") < 1e-9);
        json_decref(root);
        test_run run = test_program(command, NULL);
        assert_non_null(strstr(run.output, "GMRES since the step to t = "));
        test_run_free(&run);
        command[8] = i == 0 ? "--method=cg" : command[8];
        run = test_program(command, NULL);
        assert_int_equal(run.exit_code, i == 0 ? 2 : 0);
        if (i == 0)
            assert_non_null(strstr(run.error, "is not symmetric in the step to t = 0.5"));
        test_run_free(&run);
        free(path);
        test_folder_remove(&folder);
    }
}

/* A restart length of 1 is too short for convection of this kind; what to do is said. */
static void advice(void **state) {
    (void)state;
    const char *const command[] = {WEFT_BINARY_DIR "/solve", SCRIPT("convection.weft"),
                                   "--mesh=square:16",       "--input=velocity=2,1",
                                   "--input=k=1e-3",         "--restart=1",
                                   "--max-iterations=20",    NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 1);
    assert_non_null(strstr(run.error, "max_iterations after 20 iterations"));
    assert_non_null(strstr(run.error, "hint: raise --restart, try --method bicgstab"));
    assert_non_null(strstr(run.output, "method      GMRES: the matrix is not symmetric"));
    assert_non_null(strstr(run.output, "GMRES       max_iterations, 20 iterations"));
    test_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convection),
        cmocka_unit_test(convection_in_every_format),
        cmocka_unit_test(little_convection),
        cmocka_unit_test(convection_in_space),
        cmocka_unit_test(convection_with_libraries),
        cmocka_unit_test(negative_shift),
        cmocka_unit_test(exact_tangent),
        cmocka_unit_test(every_method),
        cmocka_unit_test(advice),
        cmocka_unit_test(symmetric_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
