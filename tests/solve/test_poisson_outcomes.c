/* labels: quick */
/* How poisson ends and what it says: outcomes and exit codes, JSON's keys, probes, quiet, null
 * device. */
#include "poisson_run.h"

#include <stdbool.h>
#include <unistd.h>

static void test_keys(void **state) {
    static const char *const keys[] = {
        "mesh",     "assembly", "plan",       "device", "iterations", "outcome",    "residual",
        "l2_error", "h1_error", "integral_u", "energy", "probes",     "bytes_peak", "seconds"};
    static const char *const seconds[] = {"mesh",     "order", "plan",  "compile",
                                          "assembly", "solve", "output"};
    (void)state;
    json_t *root = POISSON(0, "--mesh", "cube:3");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i)
        assert_non_null(json_object_get(root, keys[i]));
    json_t *mesh = json_object_get(root, "mesh");
    assert_int_equal(6 * 27, json_integer_value(json_object_get(mesh, "cells")));
    assert_int_equal(64, json_integer_value(json_object_get(mesh, "nodes")));
    assert_int_equal(3, json_integer_value(json_object_get(mesh, "dimension")));
    assert_true(json_integer_value(json_object_get(json_object_get(root, "plan"), "kernels")) > 0);
    assert_true(json_is_string(json_object_get(root, "assembly")));
    assert_string_equal("converged", app_text(root, "outcome"));
    assert_true(json_is_integer(json_object_get(root, "iterations")));
    assert_true(app_number(root, "residual") <= 1e-8); /* the default tolerance */
    assert_true(json_is_false(json_object_get(root, "to_rounding")));
    assert_true(json_is_null(json_object_get(root, "backward_error")));
    assert_true(app_number(root, "bytes_peak") > 1e6);
    assert_int_equal(0, json_array_size(json_object_get(root, "probes")));
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; ++i) {
        json_t *value = json_object_get(json_object_get(root, "seconds"), seconds[i]);
        assert_true(json_is_number(value) && json_number_value(value) >= 0);
    }
    /* there is no error without --exact */
    assert_true(json_is_null(json_object_get(root, "l2_error")));
    assert_true(json_is_null(json_object_get(root, "h1_error")));
    json_decref(root);
}

/* auto: many products, as a larger mesh takes, pay for a stored matrix */
static void test_assembly(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:64");
    assert_string_equal("csr", app_text(root, "assembly"));
    json_decref(root);
}

static void test_probes(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:4", "--source", "0", "--dirichlet",
                           "boundary=x+2*y", "--probe", "0.3,0.6", "--probe", "1.5,0.5", "--probe",
                           "0,1", "--tolerance", "1e-12");
    json_t *probes = json_object_get(root, "probes");
    assert_int_equal(3, json_array_size(probes));
    assert_double_near(1.5, app_probe_value(root, 0), 1e-10, 0);
    assert_true(json_is_null(json_object_get(json_array_get(probes, 1), "u")));
    assert_double_near(2, app_probe_value(root, 2), 1e-10, 0);
    json_t *point = json_object_get(json_array_get(probes, 1), "point");
    assert_true(json_number_value(json_array_get(point, 0)) == 1.5);
    json_decref(root);
}

static test_run run_with(const char *const *arguments) {
    const char *command[APP_ARGUMENTS_MAX] = {WEFT_BINARY_DIR "/poisson"};
    for (int i = 0; arguments[i]; ++i)
        command[i + 1] = arguments[i];
    return test_program(command, NULL);
}
#define RUN(...) run_with((const char *const[]){__VA_ARGS__, NULL})

static void test_too_few_iterations(void **state) {
    char *folder = test_folder_make(), *output = test_path(folder, "u.vtkhdf");
    (void)state;
    json_t *root = POISSON(1, "--mesh", "square:16", "--max-iterations", "3", "--output", output);
    assert_string_equal("max_iterations", app_text(root, "outcome"));
    assert_int_equal(3, json_integer_value(json_object_get(root, "iterations")));
    assert_true(app_number(root, "residual") > 1e-10);
    json_decref(root);
    assert_int_not_equal(0, access(output, F_OK));
    test_run run = RUN("--mesh", "square:16", "--max-iterations", "3");
    assert_int_equal(1, run.exit_code);
    assert_non_null(strstr(run.error, "not converged: max_iterations after 3 iterations"));
    assert_non_null(strstr(run.error, "hint: raise --max-iterations"));
    test_run_free(&run);
    free(output);
    test_folder_remove(&folder);
}

static void test_indefinite(void **state) {
    (void)state;
    json_t *root =
        POISSON(1, "--mesh", "square:8", "--diffusivity", "-1", "--preconditioner", "none");
    assert_string_equal("indefinite", app_text(root, "outcome"));
    json_decref(root);
    root = POISSON(1, "--mesh", "square:8", "--robin", "boundary=-50,1");
    assert_string_equal("indefinite", app_text(root, "outcome"));
    json_decref(root);
}

/* NaN is named on every line, without a sign. */
static void test_nan(void **state) {
    (void)state;
    test_run run = RUN("--mesh", "square:8", "--diffusivity", "log(x-2)", "--exact", "log(x-2)");
    assert_int_equal(1, run.exit_code);
    assert_non_null(strstr(run.output, "CG          nan, 0 iterations, relative residual nan\n"));
    assert_non_null(strstr(run.output, "error       L2 nan, H1 seminorm nan\n"));
    assert_non_null(strstr(run.error, "not converged: nan"));
    assert_non_null(strstr(run.error, "look at --diffusivity"));
    test_run_free(&run);
}

/* k du/dn + 0 u = g is a Neumann condition: alone it leaves the constant free, and the mean-free
 * solution is taken. On the unit square with f = -1 and a flux of 1 on the left, u'' = 1 and
 * u'(0) = -1: u = x^2/2 - x + 1/3. */
static void test_robin_without_exchange(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:16", "--source", "-1", "--robin", "left=0,1",
                           "--exact", "x^2/2-x+1/3");
    assert_string_equal("converged", app_text(root, "outcome"));
    assert_double_near(0, app_number(root, "integral_u"), 0, 1e-12);
    assert_true(app_number(root, "l2_error") < 1e-3);
    json_decref(root);
}

static void test_preconditioner(void **state) {
    (void)state;
    /* a diffusivity over four decades: scaling the diagonal must help */
    json_t *none =
        POISSON(0, "--mesh", "square:16", "--diffusivity", "10^(4*x)", "--preconditioner", "none");
    json_t *jacobi = POISSON(0, "--mesh", "square:16", "--diffusivity", "10^(4*x)",
                             "--preconditioner", "jacobi");
    assert_true(app_number(jacobi, "iterations") < app_number(none, "iterations"));
    assert_double_near(app_number(none, "integral_u"), app_number(jacobi, "integral_u"), 1e-6, 0);
    json_t *polynomial = POISSON(0, "--mesh", "square:16", "--diffusivity", "10^(4*x)",
                                 "--preconditioner", "chebyshev", "--smoother-degree", "4");
    assert_true(3 * app_number(polynomial, "iterations") < app_number(jacobi, "iterations"));
    assert_double_near(app_number(none, "integral_u"), app_number(polynomial, "integral_u"), 1e-6,
                       0);
    json_decref(polynomial);
    json_t *aggregation = POISSON(0, "--mesh", "square:64", "--diffusivity", "1+100*x",
                                  "--preconditioner", "aggregation", "--assembly", "csr");
    json_t *without = POISSON(0, "--mesh", "square:64", "--diffusivity", "1+100*x");
    assert_true(app_number(aggregation, "iterations") <= 16);
    assert_double_near(app_number(aggregation, "integral_u"), app_number(without, "integral_u"),
                       1e-6, 0);
    json_decref(aggregation);
    json_decref(without);
    json_decref(none);
    json_decref(jacobi);
}

/* Geometric multigrid takes as many iterations on any level of refinement, also with coefficients
 * that jump inside coarse cells, with natural and with no Dirichlet conditions. */
static void test_multigrid(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *refine, *diffusivity, *condition, *degree;
        double most;
    } cases[] = {
        {"square_with_hole.geo", "2", "1", "--dirichlet=boundary=0", "2", 9},
        {"square_with_hole.geo", "4", "1", "--dirichlet=boundary=0", "2", 9},
        {"square_with_hole.geo", "3", "1", "--dirichlet=boundary=0", "3", 7},
        {"l_shape.geo", "3", "1", "--dirichlet=boundary=0", "2", 9},
        {"square:2", "5", "select(hypot(x-0.5,y-0.5)<0.3,1e4,1)", "--dirichlet=left=0", "2", 18},
        {"square:2", "5", "select(hypot(x-0.5,y-0.5)<0.3,1e4,1)", "--dirichlet=left=0", "3", 14},
        {"square:2", "5", "1", "--robin=left=1,1", "2", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char mesh[512];
        snprintf(mesh, sizeof mesh, "%s%s",
                 strchr(cases[i].mesh, ':') ? "" : WEFT_SOURCE_DIR "/meshes/", cases[i].mesh);
        json_t *with = POISSON(0, "--mesh", mesh, "--refine", cases[i].refine, "--diffusivity",
                               cases[i].diffusivity, cases[i].condition, "--preconditioner",
                               "multigrid", "--smoother-degree", cases[i].degree);
        json_t *without =
            POISSON(0, "--mesh", mesh, "--refine", cases[i].refine, "--diffusivity",
                    cases[i].diffusivity, cases[i].condition, "--preconditioner", "jacobi");
        assert_string_equal("converged", app_text(with, "outcome"));
        if (app_number(with, "iterations") > cases[i].most)
            fail_msg("case %zu: %g iterations", i, app_number(with, "iterations"));
        assert_double_near(app_number(with, "integral_u"), app_number(without, "integral_u"), 1e-6,
                           1e-12);
        json_decref(with);
        json_decref(without);
    }
}

/* By default Jacobi's preconditioner is taken where its few iterations are fastest, and multigrid where
 * a mesh was refined often; also not where the method or the assembly does not suit it. */
static void test_auto(void **state) {
    (void)state;
    json_t *small = POISSON(0, "--mesh", "square:16");
    json_t *large = POISSON(0, "--mesh", "square:2", "--refine", "8");
    json_t *minres = POISSON(0, "--mesh", "square:8", "--refine", "1", "--method", "minres");
    json_t *free_of = POISSON(0, "--mesh", "square:8", "--assembly", "matrix-free");
    assert_string_equal("jacobi", app_text(small, "preconditioner"));
    assert_non_null(strstr(app_text(small, "preconditioner_reason"), " predicted, aggregation "));
    assert_string_equal("multigrid", app_text(large, "preconditioner"));
    assert_non_null(strstr(app_text(large, "preconditioner_reason"), ", jacobi "));
    assert_true(app_number(large, "iterations") <= 9);
    assert_string_equal("jacobi", app_text(minres, "preconditioner"));
    assert_string_equal("the method is MINRES", app_text(minres, "preconditioner_reason"));
    assert_string_equal("jacobi", app_text(free_of, "preconditioner"));
    assert_string_equal("the assembly stores no matrix",
                        app_text(free_of, "preconditioner_reason"));
    json_decref(small);
    json_decref(large);
    json_decref(minres);
    json_decref(free_of);
}

/* The forecast of the memory on the device is right within a fifth. */
static void test_memory_forecast(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:200", "cube:32"};
    static const char *const names[] = {"jacobi", "chebyshev", "multigrid", "aggregation"};
    for (int i = 0; i < 8; ++i) {
        json_t *run = POISSON(0, "--mesh", meshes[i % 2], "--preconditioner", names[i / 2],
                              "--assembly", "csr");
        const double bytes = app_number(run, "bytes_device");
        assert_double_near(app_number(run, "bytes_device_predicted"), bytes, 0.2, 0);
        json_decref(run);
    }
}

static void test_later_dirichlet_holds(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:4", "--dirichlet", "left=1", "--dirichlet",
                           "bottom=2", "--probe", "0,0");
    assert_true(app_probe_value(root, 0) == 2);
    json_decref(root);
    root = POISSON(0, "--mesh", "square:4", "--dirichlet", "bottom=2", "--dirichlet", "left=1",
                   "--probe", "0,0");
    assert_true(app_probe_value(root, 0) == 1);
    json_decref(root);
}

static void test_what_is_printed_where(void **state) {
    (void)state;
    test_run run = RUN("--mesh", "square:4", "--exact", "x", "--probe", "2,2");
    assert_int_equal(0, run.exit_code);
    assert_string_equal("", run.error); /* no terminal: no progress bar */
    assert_non_null(strstr(run.output, "square:4: 32 triangles, 25 nodes"));
    assert_non_null(strstr(run.output, "converged"));
    assert_non_null(strstr(run.output, "error       L2 "));
    assert_non_null(strstr(run.output, "u(2,2)  outside"));
    test_run_free(&run);
    run = RUN("--mesh", "square:4", "--quiet");
    assert_int_equal(0, run.exit_code);
    assert_string_equal("", run.output);
    assert_string_equal("", run.error);
    test_run_free(&run);
    run = RUN("--mesh", "square:4", "--verbose");
    assert_non_null(strstr(run.output, "iteration  relative residual"));
    assert_non_null(strstr(run.error, "poisson: info: "));
    test_run_free(&run);
    run = RUN("--help");
    assert_int_equal(0, run.exit_code);
    assert_non_null(strstr(run.output, "--robin=GROUP=ALPHA,EXPR"));
    assert_non_null(strstr(run.output, "Examples:"));
    test_run_free(&run);
    run = RUN("--version");
    assert_int_equal(0, run.exit_code);
    assert_string_equal("poisson (Weft) " WEFT_VERSION "\n", run.output);
    test_run_free(&run);
}

/* The compiler's failure is the machine's, not the user's: exit 3, and what to do. */
static void test_no_compiler(void **state) {
    const char *const environment[] = {"CC=/nowhere/cc", "WEFT_CACHE=off", NULL};
    const char *command[] = {WEFT_BINARY_DIR "/poisson", "--mesh", "square:4", NULL};
    (void)state;
    test_run run = test_program(command, environment);
    assert_int_equal(3, run.exit_code);
    assert_non_null(strstr(run.error, "/nowhere/cc"));
    assert_non_null(strstr(run.error, "hint: "));
    test_run_free(&run);
}

/* A full disk behind stdout is reported, not passed over. */
static void test_full_stdout(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip_test("there is no /dev/full here");
    const char *command[] = {"sh", "-c",
                             "'" WEFT_BINARY_DIR "/poisson' --mesh square:4 > /dev/full", NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(2, run.exit_code);
    assert_non_null(strstr(run.error, "cannot write to standard output"));
    test_run_free(&run);
}

static void test_null_device(void **state) {
    char *folder = test_folder_make(), *output = test_path(folder, "u.vtkhdf");
    (void)state;
    test_run run = RUN("--mesh", "square:4", "--device", "null", "--output", output);
    assert_int_equal(0, run.exit_code);
    assert_non_null(strstr(run.output, "kernel"));
    assert_non_null(strstr(run.output, "nothing was computed"));
    test_run_free(&run);
    assert_int_not_equal(0, access(output, F_OK));
    json_t *root = POISSON(0, "--mesh", "square:4", "--device", "null");
    assert_string_equal("planned", app_text(root, "outcome"));
    assert_true(json_is_null(json_object_get(root, "residual")));
    json_decref(root);
    free(output);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_assembly),
                                       cmocka_unit_test(test_probes),
                                       cmocka_unit_test(test_too_few_iterations),
                                       cmocka_unit_test(test_indefinite),
                                       cmocka_unit_test(test_nan),
                                       cmocka_unit_test(test_robin_without_exchange),
                                       cmocka_unit_test(test_preconditioner),
                                       cmocka_unit_test(test_multigrid),
                                       cmocka_unit_test(test_auto),
                                       cmocka_unit_test(test_memory_forecast),
                                       cmocka_unit_test(test_later_dirichlet_holds),
                                       cmocka_unit_test(test_what_is_printed_where),
                                       cmocka_unit_test(test_no_compiler),
                                       cmocka_unit_test(test_full_stdout),
                                       cmocka_unit_test(test_null_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
