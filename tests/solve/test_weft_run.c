/* labels: quick */
/* weft run: a script with a loop of its own. The standing wave u = cos(sqrt(2) pi t) sin(pi x) sin(pi y) of
 * u'' = div(grad u), integrated by the leapfrog scheme with a lumped mass, is as at the start after the
 * period sqrt(2), and its velocity is zero, up to the dispersion of mesh and scheme, which is of second
 * order: (pi/16)^2 of a period at most, the square of which is what u lacks. */
#include "test_support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char wave[] =
    "index cells, nodes;\n"
    "connectivity dofs : cells -> nodes[3];\n"
    "operator A over nodes;\n"
    "input x : real[2] over nodes;\n"
    "input u, v, free : real over nodes;\n"
    "input t, dt, end : real;\n"
    "P = quadrature_points(x[dofs], degree = 2);\n"
    "m[dofs] += quadrature_load(0*P[0] + 1, jacobian(x[dofs]), degree = 2);\n"
    "repeat at most 100000 while (t < end - dt/2) {\n"
    "    a = apply(A, u);\n"
    "    update v = v - dt*free*a/m;\n"
    "    update u = u + dt*v;\n"
    "    update t = t + dt;\n"
    "}\n"
    "area = dot(m, m)/dot(m, m);\n"
    "return area;\n";

static char *folder, *script, *output;

static int set_up(void **state) {
    (void)state;
    folder = test_folder_make();
    script = test_path(folder, "wave.weft");
    output = test_path(folder, "wave.vtu");
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs(wave, file);
    fclose(file);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(script);
    free(output);
    test_folder_remove(&folder);
    return 0;
}

#define WAVE                                                                                       \
    WEFT_BINARY_DIR "/weft", "run", script, "--mesh=square:16", "--input=free=1",                  \
        "--input=free@boundary=0", "--input=u=sin(pi*x)*sin(pi*y)", "--input=v=0", "--input=t=0",  \
        "--input=end=sqrt(2)", "--input=dt=sqrt(2)/200"

static test_run run(const char *const *command) {
    return test_program(command, NULL);
}
#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

/* The greater number of a line "NAME over nodes, A to B". */
static double greatest(const char *text, const char *name) {
    const char *at = strstr(text, name);
    assert_non_null(at);
    at = strstr(at, " to ");
    assert_non_null(at);
    return strtod(at + 4, NULL);
}

static void test_wave(void **state) {
    (void)state;
    test_run got = RUN(WAVE, "--operator=A=poisson.weft", "--output", output);
    assert_int_equal(got.exit_code, 0);
    assert_double_near(greatest(got.output, "\nu  "), 1, 5e-3, 0);
    assert_double_near(greatest(got.output, "\nv  "), 0, 0, 0.1);
    assert_non_null(strstr(got.output, "\narea        1\n"));
    test_run_free(&got);
    FILE *file = fopen(output, "r");
    assert_non_null(file);
    fclose(file);
}

static void check(test_run got, const char *message) {
    if (got.exit_code != 2 || !strstr(got.error, message))
        fail_msg("exit %d: %s", got.exit_code, got.error);
    test_run_free(&got);
}

static void test_refused(void **state) {
    (void)state;
    check(RUN(WAVE, "--operator=A=poisson.weft", "--input=w=1"), "unknown input 'w'");
    check(RUN(WAVE), "the operator 'A' is not given");
    check(
        RUN(WEFT_BINARY_DIR "/weft", "run", script, "--mesh=square:2", "--operator=A=poisson.weft"),
        "the input 'u' has no value");
    check(RUN(WEFT_BINARY_DIR "/weft", "run", script), "no mesh is given");
    check(RUN(WAVE, "--operator=A=poisson.weft", "--input=u@bottm=1"), "bottm");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wave), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
