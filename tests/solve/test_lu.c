/* labels: full
 * solve and poisson with --preconditioner lu: solutions in the space, of matrices of every kind, in at most three iterations
 * of the Krylov method, and what is refused. Residuals of 1e-12 mean errors of 1e-12 times the condition, below 1e5. */
#include "external_support.h"
#include "solve_run.h"

#include <unistd.h>

static const double EXACT = 1e-7;

static char file[64];

static int start(void **state) {
    (void)state;
    setenv("WEFT_MUMPS", "none", 1);
    snprintf(file, sizeof file, "/tmp/weft-lu-%ld.ufl", (long)getpid());
    return 0;
}

static int stop(void **state) {
    (void)state;
    (void)unlink(file); /* skipped tests have made none */
    return 0;
}

static void put(const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

typedef struct linear_case {
    const char *form, *mesh, *exact, *dirichlet, *method;
} linear_case;

static const linear_case cases[] = {
    {"V = FiniteElement('P', triangle, 1)\n" /* convection: not symmetric */
     "u, v = TrialFunction(V), TestFunction(V)\n"
     "a = (1e-3*inner(grad(u), grad(v)) + 2*u.dx(0)*v + u.dx(1)*v)*dx\n"
     "L = 4*v*dx\n",
     "square:16", "x+2*y", "boundary=x+2*y", "gmres"},
    {"V = FiniteElement('P', tetrahedron, 2)\n" /* symmetric, neither positive nor negative definite */
     "u, v = TrialFunction(V), TestFunction(V)\n"
     "x = SpatialCoordinate(tetrahedron)\n"
     "a = (inner(grad(u), grad(v)) - 60*u*v)*dx\n"
     "L = -60*x[0]*x[1]*v*dx\n",
     "cube:4", "x*y", "boundary=x*y", NULL},
    {"V = FiniteElement('P', triangle, 2)\n" /* definite */
     "u, v = TrialFunction(V), TestFunction(V)\n"
     "a = inner(grad(u), grad(v))*dx\n"
     "L = -4*v*dx\n",
     "square:8", "x^2+y^2", "boundary=x^2+y^2", "cg"},
    {"V = VectorElement('P', triangle, 1)\n" /* some components of nodes are free */
     "u, v = TrialFunction(V), TestFunction(V)\n"
     "a = (inner(grad(u), grad(v)) + u[0].dx(0)*v[1])*dx\n"
     "L = v[1]*dx\n",
     "square:8", "x,y", "boundary=x,free;left=0,y;right=1,y;bottom=x,0;top=x,1", "gmres"},
    {"W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n" /* an open pressure */
     "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
     "f = Constant(triangle)\n"
     "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
     "L = f*q*dx\n",
     "square:6", "y^2,x^2,2*x+2*y-2", "boundary=y^2,x^2,free", "gmres"},
    {"W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n" /* not symmetric */
     "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
     "f = Constant(triangle)\n"
     "a = inner(grad(u), grad(v))*dx - p*div(v)*dx + q*div(u)*dx\n"
     "L = f*q*dx\n",
     "square:6", "y^2,x^2,2*x+2*y-2", "boundary=y^2,x^2,free", "gmres"},
    {"W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n" /* block stagnates */
     "(u, p), (v, q), x = TrialFunctions(W), TestFunctions(W), SpatialCoordinate(triangle)\n"
     "a = (inner(grad(u), grad(v)) - 400*inner(u, v) - p*div(v) - q*div(u))*dx\n"
     "L = -400*(x[1]**2*v[0] + x[0]**2*v[1])*dx\n",
     "square:16", "y^2,x^2,2*x+2*y-2", "boundary=y^2,x^2,free", "gmres"},
    {"V = FiniteElement('P', triangle, 1)\n" /* block refuses: diagonals of either sign */
     "W = V*V\n"
     "x = SpatialCoordinate(triangle)\n"
     "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
     "s = conditional(lt(x[0], 0.5), 1, -1)\n"
     "a = s*u*v*dx + p*v*dx + u*q*dx - s*p*q*dx\n"
     "L = (s*x[0] + x[1])*v*dx + (x[0] - s*x[1])*q*dx\n",
     "square:32", "x,y", "boundary=x,y", "gmres"},
    {"V = FiniteElement('P', triangle, 2)\n" /* each entry of the diagonal is negative */
     "u, v = TrialFunction(V), TestFunction(V)\n"
     "x = SpatialCoordinate(triangle)\n"
     "a = (inner(grad(u), grad(v)) - 900*u*v)*dx\n"
     "L = -900*x[0]*x[1]*v*dx\n",
     "square:4", "x*y", "boundary=x*y", NULL},
};

/* "a;b" gives the option --dirichlet twice. */
static json_t *run_case(const linear_case *one, const char *preconditioner) {
    const char *arguments[40] = {file,           "--mesh",      one->mesh, "--exact",
                                 one->exact,     "--input",     "f=0",     "--preconditioner",
                                 preconditioner, "--tolerance", "1e-12"};
    int n = 11;
    char list[200], *rest = list;
    put(one->form);
    if (!strstr(one->form, "f = Constant")) /* no such input */
        memmove(&arguments[5], &arguments[7], 4 * sizeof *arguments), n -= 2;
    snprintf(list, sizeof list, "%s", one->dirichlet);
    for (char *item; (item = strsep(&rest, ";"));) {
        arguments[n++] = "--dirichlet";
        arguments[n++] = item;
    }
    arguments[n] = NULL;
    return app_solve("solve", 0, arguments);
}

static void exact_solutions(void **state) {
    const linear_case *one = *state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    json_t *a = run_case(one, "lu");
    const json_t *errors = json_object_get(a, "l2_errors");
    assert_string_equal(app_text(a, "outcome"), "converged");
    assert_true(app_number(a, "iterations") <= 3);
    if (one->method)
        assert_string_equal(app_text(a, "method"), one->method);
    if (errors)
        for (size_t k = 0; k < json_array_size(errors); ++k)
            assert_true(json_number_value(json_array_get(errors, k)) < EXACT);
    else
        assert_true(app_number(a, "l2_error") < EXACT);
    json_decref(a);
}

/* Nothing fixes the constant; u = cos(pi x) has order 2, and Jacobi's solution. */
static void pure_neumann(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    double integral[2];
    static const char *const names[] = {"lu", "jacobi"};
    for (int i = 0; i < 2; ++i) {
        json_t *a = POISSON(0, "--mesh", "square:16", "--source", "pi^2*cos(pi*x)", "--neumann",
                            "boundary=0", "--tolerance", "1e-12", "--exact", "cos(pi*x)",
                            "--preconditioner", names[i]);
        if (i == 0)
            assert_true(app_number(a, "iterations") <= 3);
        integral[i] = app_number(a, "l2_error");
        json_decref(a);
    }
    assert_true(integral[0] < 1e-2);
    assert_double_near(integral[0], integral[1], 1e-7, 0);
}

/* Flow between plates is stationary, and its convection vanishes: Newton's method, and steps in time that keep it. The
 * pressure is open. */
static void tangents_and_steps(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    put("V, Q = VectorElement('P', triangle, 2), FiniteElement('P', triangle, 1)\n"
        "W = V*Q\n"
        "w, nu = Coefficient(W), Constant(triangle)\n"
        "(u, p), (v, q) = split(w), TestFunctions(W)\n"
        "F = nu*inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx - p*div(v)*dx - q*div(u)*dx\n"
        "unknown = w\n");
    json_t *a =
        SOLVE(0, file, "--mesh", "square:4", "--nonlinear", "--input", "nu=1/20", "--dirichlet",
              "boundary=y*(1 - y),0,free", "--exact", "y*(1 - y),0*x,(1 - 2*x)/20", "--tolerance",
              "1e-12", "--preconditioner", "lu");
    for (int k = 0; k < 3; ++k)
        assert_true(app_component(a, "l2_errors", (size_t)k) < EXACT);
    json_decref(a);
    put("V, Q = VectorElement('P', triangle, 2), FiniteElement('P', triangle, 1)\n"
        "W = V*Q\n"
        "w, w_old = Coefficient(W), Coefficient(W)\n"
        "dt, nu = Constant(triangle), Constant(triangle)\n"
        "(u, p), (v, q), (u_0, p_0) = split(w), TestFunctions(W), split(w_old)\n"
        "F = inner(u - u_0, v)/dt*dx + nu*inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx \\\n"
        "    - p*div(v)*dx - q*div(u)*dx\n"
        "unknown, old = w, w_old\n");
    a = SOLVE(0, file, "--mesh", "square:4", "--nonlinear", "--previous", "w_old", "--time",
              "0.25,1", "--input", "nu=1/20", "--initial", "y*(1 - y),0,0", "--dirichlet",
              "boundary=y*(1 - y),0,free", "--exact", "y*(1 - y),0*x,(1 - 2*x)/20", "--tolerance",
              "1e-12", "--preconditioner", "lu");
    for (int k = 0; k < 3; ++k)
        assert_true(app_component(a, "l2_errors", (size_t)k) < EXACT);
    json_decref(a);
}

/* What an iteration cannot solve, or takes longer, is factorised where the library is found. */
static void automatic(void **state) {
    (void)state;
    static const int which[] = {1, 4, 5, 7, 6};
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (int i = 0; i < 5; ++i) {
        json_t *a = run_case(&cases[which[i]], "auto");
        assert_string_equal(app_text(a, "preconditioner"), "lu");
        assert_string_equal(app_text(a, "method"), "gmres");
        assert_string_equal(app_text(a, "outcome"), "converged");
        const char *failure = which[i] == 6   ? "with block: "
                              : which[i] == 7 ? "the diagonal "
                                              : NULL;
        if (failure) /* otherwise they are not solved */
            assert_non_null(strstr(app_text(a, "preconditioner_reason"), failure));
        json_decref(a);
        if (failure)
            continue;
        setenv("WEFT_UMFPACK", "none", 1);
        a = run_case(&cases[which[i]], "auto");
        assert_string_not_equal(app_text(a, "preconditioner"), "lu");
        json_decref(a);
        unsetenv("WEFT_UMFPACK");
    }
}

/* A membrane with a load of 1e12 beside a plate that cools by radiation, whose residual is not seen beside that of the membrane
 * (tests/solve/test_newton.c): every tangent is solved to rounding in both. */
static void functions_of_other_sizes(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    put("W = FiniteElement('P', triangle, 1)*FiniteElement('P', triangle, 1)\nw = Coefficient(W)\n"
        "u, p = split(w)\nv, q = TestFunctions(W)\nbig = Constant(triangle)\n"
        "F = (inner(grad(u), grad(v)) - big*v + 1e-3*inner(grad(p), grad(q)) + 5.67e-8*p**4*q "
        "- 1000*q)*dx\nunknown = w\n");
    json_t *a = SOLVE(0, file, "--nonlinear", "--mesh", "square:8", "--input", "big=1e12",
                      "--dirichlet", "left=0,300", "--preconditioner", "lu");
    expect(app_component(a, "integral_u", 1), 361.8472331183468, 1e-5);
    json_decref(a);
}

static void assert_message(const char *const *arguments, const char *variable, int exit_code,
                           const char *message) {
    const char *const environment[] = {variable, NULL};
    test_run run = test_program(arguments, environment);
    if (!strstr(run.error, message))
        fail_msg("%s\nexpected: %s", run.error, message);
    assert_int_equal(run.exit_code, exit_code);
    test_run_free(&run);
}

static void missing(void **state) {
    (void)state;
    assert_message((const char *const[]){WEFT_BINARY_DIR "/poisson", "--mesh=square:4",
                                         "--preconditioner=lu", NULL},
                   "WEFT_UMFPACK=libno_such.so", 2,
                   "poisson: error: UMFPACK is not found: libno_such.so: cannot open shared object "
                   "file: No such file or directory\n"
                   "hint: install it (libumfpack5 in Debian 12, libumfpack6 in Debian 13 and "
                   "Ubuntu 24.04), or set WEFT_UMFPACK to a library\n");
}

/* What is advised where the library is not found. */
static void advised(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 1)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "a = (inner(grad(u), grad(v)) - 60*u*v)*dx\n"
        "L = v*dx\n");
    assert_message(
        (const char *const[]){WEFT_BINARY_DIR "/solve", file, "--mesh=square:8",
                              "--dirichlet=boundary=0", "--method=cg", NULL},
        "WEFT_UMFPACK=none", 1,
        "; or --method gmres --preconditioner lu, a factorisation (UMFPACK or MUMPS must "
        "be installed): ");
}

/* u of the second form is free where the coefficient is zero. */
static void refused(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    put("V = FiniteElement('P', triangle, 1)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "a = (inner(grad(u), grad(v)) - 60*u*v)*dx\n"
        "L = v*dx\n");
    assert_message((const char *const[]){WEFT_BINARY_DIR "/solve", file, "--mesh=square:8",
                                         "--dirichlet=boundary=0", "--preconditioner=lu",
                                         "--method=minres", NULL},
                   "WEFT_UMFPACK=", 2,
                   "--method: error: MINRES needs a positive definite preconditioner, which lu is "
                   "not where the matrix is indefinite\n"
                   "hint: leave out --method, or use --method gmres\n");
    put("V = FiniteElement('P', triangle, 1)\n"
        "u, v, x = TrialFunction(V), TestFunction(V), SpatialCoordinate(triangle)\n"
        "k = conditional(gt(x[0], 0.4999), 0.0, 1.0)\n"
        "a = (k*inner(grad(u), grad(v)) + k*u.dx(0)*v)*dx\n"
        "L = k*v*dx\n");
    assert_message((const char *const[]){WEFT_BINARY_DIR "/solve", file, "--mesh=square:8",
                                         "--dirichlet=left=0", "--preconditioner=lu", NULL},
                   "WEFT_UMFPACK=", 2, "the matrix is singular, as UMFPACK found");
}

int main(void) {
    const char *sanitizer = getenv("ASAN_OPTIONS");
    char options[256];
    snprintf(options, sizeof options, "%s:%s", sanitizer ? sanitizer : "",
             __asan_default_options());
    setenv("ASAN_OPTIONS", options, 1); /* of the programs */
#define CASE(name, i)                                                                              \
    { "exact_solutions (" name ")", exact_solutions, NULL, NULL, (void *)&cases[i] }
    const struct CMUnitTest tests[] = {
        CASE("convection", 0),
        CASE("indefinite", 1),
        CASE("definite", 2),
        CASE("components", 3),
        CASE("saddle point", 4),
        CASE("saddle point, not symmetric", 5),
        CASE("negative", 8),
        cmocka_unit_test(pure_neumann),
        cmocka_unit_test(tangents_and_steps),
        cmocka_unit_test(functions_of_other_sizes),
        cmocka_unit_test(missing),
        cmocka_unit_test(automatic),
        cmocka_unit_test(advised),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
