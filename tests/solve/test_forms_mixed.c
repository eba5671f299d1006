/* labels: full
 * solve with form files in mixed spaces: solutions in the space are found exactly, with a pressure that is fixed up to a
 * constant, whose mean becomes zero. */
#include "solve_run.h"

#include <unistd.h>

/* Of an exact solution: a residual of 1e-12 of the load times a condition number below 1e5. */
static const double EXACT = 1e-7;

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-mixed-%ld.ufl", (long)getpid());
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(file);
}

static void put(const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static double component(const json_t *root, const char *key, int k) {
    const json_t *value = json_array_get(json_object_get(root, key), (size_t)k);
    assert_non_null(value);
    return json_number_value(value);
}

/* Taylor-Hood elements: u = (y^2, x^2), p = 2 x + 2 y - 2 without a body force. */
static void stokes(void **state) {
    (void)state;
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "f = Constant(triangle)\n"
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "L = f*q*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "square:4", "--input", "f=0", "--dirichlet",
                      "boundary=y^2,x^2,free", "--exact", "y^2,x^2,2*x + 2*y - 2", "--tolerance",
                      "1e-12", "--device", "host:1:sse2");
    assert_string_equal(app_text(a, "method"), "minres");
    assert_int_equal(json_integer_value(json_object_get(a, "components")), 3);
    for (int k = 0; k < 3; ++k)
        assert_true(component(a, "l2_errors", k) < EXACT);
    assert_double_near(component(a, "integral_u", 0), 1.0 / 3, EXACT, 0);
    assert_true(fabs(component(a, "integral_u", 2)) < EXACT);
    json_decref(a);
}

/* Flow between plates, u = (y (1 - y), 0), p = (1 - 2 x)/20: a stationary solution of Navier and Stokes' equations
 * with viscosity 1/20 in which all terms but convection balance, and this vanishes. */
static void navier_stokes(void **state) {
    (void)state;
    put("V, Q = VectorElement('P', quadrilateral, 2), FiniteElement('P', quadrilateral, 1)\n"
        "W = V*Q\n"
        "w, nu = Coefficient(W), Constant(quadrilateral)\n"
        "(u, p), (v, q) = split(w), TestFunctions(W)\n"
        "F = nu*inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx - p*div(v)*dx - q*div(u)*dx\n"
        "unknown = w\n");
    json_t *a =
        SOLVE(0, file, "--mesh", "quads:3", "--nonlinear", "--input", "nu=1/20", "--dirichlet",
              "boundary=y*(1 - y),0,free", "--exact", "y*(1 - y),0*x,(1 - 2*x)/20", "--tolerance",
              "1e-11", "--device", "host:1:sse2");
    for (int k = 0; k < 3; ++k)
        assert_true(component(a, "l2_errors", k) < EXACT);
    json_decref(a);
}

/* What is printed of a mixed space. */
static void report(void **state) {
    (void)state;
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n");
    const char *const command[] = {WEFT_BINARY_DIR "/solve", file, "--mesh", "square:2", "--dirichlet",
                                   "boundary=y,0,free", NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, "matrix K, vector none, 3 components in a mixed space\n"));
    test_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stokes),
        cmocka_unit_test(navier_stokes),
        cmocka_unit_test(report),
    };
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
