/* labels: quick */
/* The method follows what the matrix is now: it may become indefinite or not symmetric in any step, in one region, or in
 * units that hide it. Solutions are polynomials that the elements and schemes represent exactly.
 * Tolerance: solves to 1e-12 of values of size 1 over at most 10 steps: 1e-8. */
#include "solve_run.h"

#include <stdlib.h>
#include <string.h>

static const double NEAR = 1e-8;

#define SPACE                                                                                      \
    "V = FiniteElement('P', triangle, 1)\n"                                                        \
    "u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)\n"                            \
    "dt, t, x = Constant(triangle), Constant(triangle), SpatialCoordinate(triangle)\n"

/* u_t + u_old u_x - u''/10 = x + t (t - dt) x: the convection of u_old = 0 is none in the first step. */
static const char burgers[] =
    SPACE "a = u*v*dx + dt*0.1*inner(grad(u), grad(v))*dx + dt*u_old*u.dx(0)*v*dx\n"
          "L = u_old*v*dx + dt*(x[0] + t*(t - dt)*x[0])*v*dx\n";

/* u_t - u'' - 1000 t u = x - 1000 t^2 x: eigenvalues of -u'' + 1/dt are below 1000 t in the later steps. */
static const char growth[] = SPACE "m = u*v*dx\n"
                                   "a = inner(grad(u), grad(v))*dx - 1000*t*u*v*dx\n"
                                   "L = (x[0] - 1000*t**2*x[0])*v*dx\n";

/* The same by a scheme of its own. */
static const char own_growth[] =
    SPACE "a = u*v*dx + dt*inner(grad(u), grad(v))*dx - dt*1000*t*u*v*dx\n"
          "L = u_old*v*dx + dt*(x[0] - 1000*t**2*x[0])*v*dx\n";

/* Convection comes later, and the first matrix is symmetric. */
static const char rising[] =
    SPACE "m = u*v*dx\n"
          "a = inner(grad(u), grad(v))*dx + conditional(lt(t, 0.45), 0, 1)*50*u.dx(0)*v*dx\n"
          "L = x[0]*v*dx + conditional(lt(t, 0.45), 0, 1)*50*t*v*dx\n";

static json_t *run(const char *text, int exit_code, const char *const *options) {
    char *folder = test_folder_make(), *form = test_path(folder, "form.ufl");
    const char *all[30] = {form};
    int n = 1;
    test_text_write(form, text);
    while (*options)
        all[n++] = *options++;
    json_t *root = app_solve("solve", exit_code, all);
    free(form);
    test_folder_remove(&folder);
    return root;
}

#define RUN(text, ...) run(text, 0, (const char *const[]){__VA_ARGS__, NULL})
#define STEPS                                                                                      \
    "--mesh=square:8", "--time=0.1,1", "--dirichlet=boundary=x*t", "--exact=x*t",                  \
        "--tolerance=1e-12"

static void check_steps(json_t *root, const char *method, const char *reason) {
    assert_string_equal(app_text(root, "method"), method);
    assert_non_null(strstr(app_text(root, "method_reason"), reason));
    expect(app_number(root, "l2_error"), 0, NEAR);
    json_decref(root);
}

static void loses_symmetry(void **state) {
    (void)state;
    check_steps(RUN(burgers, STEPS, "--initial=0"), "gmres", "not symmetric");
    check_steps(RUN(burgers, STEPS, "--initial=0", "--preconditioner=aggregation"), "gmres",
                "not symmetric");
    check_steps(RUN(rising, STEPS, "--scheme=bdf2"), "gmres", "not symmetric");
}

static void loses_definiteness(void **state) {
    static const char *const schemes[] = {"theta", "bdf2", "sdirk3"};
    char scheme[32];
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        snprintf(scheme, sizeof scheme, "--scheme=%s", schemes[i]);
        check_steps(RUN(growth, STEPS, scheme), "minres", "not positive definite");
    }
    check_steps(RUN(own_growth, STEPS, "--initial=0"), "minres", "not positive definite");
}

/* What was requested is kept, and its failure is one. */
static void requested(void **state) {
    (void)state;
    json_decref(run(growth, 1, (const char *const[]){STEPS, "--method=cg", NULL}));
}

/* Large coefficients elsewhere do not make the soft half symmetric. */
static void beside_stiff_cells(void **state) {
    static const char text[] = SPACE "k = Coefficient(FiniteElement('DG', triangle, 0))\n"
                                     "a = k*inner(grad(u), grad(v))*dx + 30*u.dx(0)*v*dx\n"
                                     "L = v*dx\n";
    double integrals[2];
    (void)state;
    for (int i = 0; i < 2; ++i) { /* u is 0 in stiff cells up to 1e-9 of it, however stiff */
        json_t *root = RUN(text, "--mesh=square:16", "--input",
                           i == 0 ? "k=select(x<0.5,1,1e13)" : "k=select(x<0.5,1,1e9)",
                           "--dirichlet=boundary=0", "--tolerance=1e-10");
        assert_string_equal(app_text(root, "method"), "gmres");
        integrals[i] = app_number(root, "integral_u");
        json_decref(root);
    }
    assert_true(integrals[0] > 1e-3);
    expect(integrals[0] / integrals[1], 1, 1e-6);
}

/* A viscosity of 1e21, as of the Earth's mantle, makes the signs of div too small to be seen in |K|: the flow is that of 1. */
static void units_of_functions(void **state) {
    double energies[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        char text[800];
        snprintf(text, sizeof text,
                 "V = VectorElement('P', triangle, 2)\n"
                 "W = V*FiniteElement('P', triangle, 1)\n"
                 "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
                 "x = SpatialCoordinate(triangle)\n"
                 "a = %s*inner(grad(u), grad(v))*dx - p*div(v)*dx + q*div(u)*dx\n"
                 "L = %s*x[0]*x[0]*v[1]*dx\n",
                 i == 0 ? "1" : "1e21", i == 0 ? "1" : "1e21");
        json_t *root =
            RUN(text, "--mesh=square:16", "--dirichlet=boundary=0,0,free", "--tolerance=1e-10");
        assert_string_equal(app_text(root, "method"), "gmres");
        energies[i] = app_number(root, "energy");
        json_decref(root);
    }
    assert_true(energies[0] > 1e-6);
    expect(energies[1] / energies[0] / 1e21, 1, 1e-5);
}

/* Messages of a solve of a mixed problem, in a few iterations, by Jacobi's preconditioner in place of block's. */
static char *messages(const char *matrix) {
    char *folder = test_folder_make(), *form = test_path(folder, "form.ufl"), text[800];
    snprintf(text, sizeof text,
             "V = FiniteElement('P', triangle, 1)\n"
             "W = V*V\n"
             "x = SpatialCoordinate(triangle)\n"
             "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
             "s = conditional(lt(x[0], 0.5), 1, -1)\n"
             "a = %s\n"
             "L = (1 + x[0])*v*dx + q*dx\n",
             matrix);
    test_text_write(form, text);
    test_run run = test_program((const char *const[]){WEFT_BINARY_DIR "/solve", form, "--mesh",
                                                      "square:32", "--max-iterations", "20", NULL},
                                NULL);
    char *error = strdup(run.error);
    test_run_free(&run);
    free(form);
    test_folder_remove(&folder);
    return error;
}

/* What Jacobi's preconditioner costs where block refuses: 10 times 3.2 iterations for each of 32 edges, and 1. Nothing is said of
 * mass matrices, which it suits as well. */
static void block_refuses(void **state) {
    (void)state;
    char *odd = messages("s*u*v*dx + p*v*dx + u*q*dx - s*p*q*dx"),
         *mass = messages("2*u*v*dx + p*v*dx + u*q*dx + 2*p*q*dx");
    assert_non_null(
        strstr(odd, "the preconditioner block does not suit the matrix (the diagonal "));
    assert_non_null(strstr(odd, "about 1040 iterations on this mesh"));
    assert_non_null(strstr(odd, "try --preconditioner lu"));
    assert_null(strstr(mass, "block"));
    free(odd);
    free(mass);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loses_symmetry),     cmocka_unit_test(loses_definiteness),
        cmocka_unit_test(requested),          cmocka_unit_test(beside_stiff_cells),
        cmocka_unit_test(units_of_functions), cmocka_unit_test(block_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
