/* labels: quick */
/* Inputs of scripts and form files that depend on t: over nodes, over cells, single numbers and vectors. With the
 * trapezoidal rule, which integrates loads that are linear in t without error, u = x t^2 - t^2 is found up to the
 * solver's tolerance; a scheme that sets u to its input has the input at the end. What cannot depend on t is refused.
 * Tolerance: solves to 1e-13 over 10 steps, values of size 1: 1e-9. */
#include "solve_run.h"

#include <unistd.h>

static const double NEAR = 1e-9;
static char script[64], form[64];

/* du/dt - k u'' = f + q;  m multiplies the mass */
static const char heat[] = "parameter d = 2;\n"
                           "index cells, nodes;\n"
                           "connectivity dofs : cells -> nodes[d + 1];\n"
                           "input x : real[d] over nodes;\n"
                           "input f : real over nodes;\n"
                           "input q : real over cells;\n"
                           "input k, m : real;\n"
                           "X = x[dofs];\n"
                           "J = jacobian(X);\n"
                           "M = m*shape_shape(J);\n"
                           "N = shape_shape(J);\n"
                           "K = k*dshape_dot_dshape(tform_dshape(J), J);\n"
                           "b[dofs] += mvmul(N, f[dofs]) + q*mvmul(N, 0*f[dofs] + 1);\n";

static const char vector[] =
    "from basix.ufl import element\n"
    "from ufl import *\n"
    "mesh = Mesh(element('Lagrange', 'quadrilateral', 1, shape=(2,)))\n"
    "V = FunctionSpace(mesh, element('Lagrange', 'quadrilateral', 2, shape=(2,)))\n"
    "W = FunctionSpace(mesh, element('DG', 'quadrilateral', 0))\n"
    "u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
    "f, w, c = Coefficient(V), Coefficient(W), Constant(mesh, shape=(2,))\n"
    "a = inner(u, v)*dx\n"
    "L = inner(f + w*c, v)*dx + 1e-30*inner(u_old, v)*dx\n";

static void put(const char *path, const char *text) {
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static int put_files(void **state) {
    (void)state;
    snprintf(script, sizeof script, "/tmp/weft-moving-%ld.weft", (long)getpid());
    snprintf(form, sizeof form, "/tmp/weft-moving-%ld.py", (long)getpid());
    put(script, heat);
    put(form, vector);
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    unlink(script);
    return unlink(form);
}

static void test_script(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1:sse2", "host:2"};
    for (int i = 0; i < 2; ++i) {
        json_t *root =
            SOLVE(0, script, "--mesh", "square:5", "--time", "0.1,1", "--scheme", "theta",
                  "--input", "f=2*x*t", "--input", "q=-2*t", "--input", "k=1+t", "--input", "m=1",
                  "--dirichlet", "left=-t^2", "--dirichlet", "right=0", "--exact", "x*t^2-t^2",
                  "--tolerance", "1e-13", "--device", devices[i], "--integral", "s=f+0*q");
        assert_true(app_number(root, "l2_error") < NEAR);
        json_t *derived = json_array_get(json_object_get(root, "derived"), 0);
        assert_double_near(app_number(derived, "integral"), 1, NEAR, NEAR); /* f at the end */
        json_decref(root);
    }
}

/* A formula for a group: f is t at the two nodes on the left of one box, whose shape functions integrate to 1/6 and 1/3, and 1
 * at the other two. */
static void test_group(void **state) {
    (void)state;
    json_t *root = SOLVE(0, script, "--mesh", "square:1", "--time", "0.5,2", "--input",
                         "f=@\"left\"=t; 1", "--input", "q=0", "--input", "k=1", "--input", "m=1",
                         "--dirichlet", "left=0", "--integral", "s=f");
    json_t *derived = json_array_get(json_object_get(root, "derived"), 0);
    assert_double_near(app_number(derived, "integral"), 2 * 0.5 + 1 * 0.5, NEAR, NEAR);
    json_decref(root);
}

/* u = f + w c, f a vector in P2, w constant in cells, c a vector of two numbers. */
static void test_form(void **state) {
    (void)state;
    json_t *root =
        SOLVE(0, form, "--mesh", "quads:3", "--time", "0.25,1", "--input", "f=x^2*t,y-t", "--input",
              "w=t^2+t", "--input", "c=1/2,-t", "--exact", "x^2+1,y-3", "--tolerance", "1e-13",
              "--neumann", "boundary=0,0", "--device", "host:2:sse2");
    assert_true(app_number(root, "l2_error") < NEAR);
    json_decref(root);
}

static void refuse(const char *words, const char *f, const char *k, const char *m) {
    const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                   script,
                                   "--mesh=square:2",
                                   "--time=0.1,1",
                                   "--input=q=1",
                                   "--input",
                                   f,
                                   "--input",
                                   k,
                                   "--input",
                                   m,
                                   "--quiet",
                                   NULL};
    test_run run = test_program(command, NULL);
    if (run.exit_code != 2 || !strstr(run.error, words))
        fail_msg("%s %s %s: exit %d: %s", f, k, m, run.exit_code, run.error);
    test_run_free(&run);
}

static void test_refused(void **state) {
    (void)state;
    refuse("--input k:1:1: error: this input is a single number, and this formula depends on the "
           "place",
           "f=1", "k=x*t", "m=1");
    refuse("the mass matrix 'M' depends on 'm'", "f=1", "k=1", "m=1+t");
    refuse("--input f:1:3: error: 's' is unknown here", "f=t+s", "k=1", "m=1");
    refuse("2 expressions are given, but this input has 1 component", "f=t,1", "k=1", "m=1");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_script), cmocka_unit_test(test_form),
                                       cmocka_unit_test(test_group),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, put_files, remove_files);
}
