/* labels: quick */
/* Ordinary problems end with an answer and exit 0, at the tolerance or at what rounding allows;
 * those that do not say the residual and what to try. Exact solutions of problems that depend on x
 * alone are those of the line, for which linear elements with these loads are exact at the nodes.
 * The sizes at which people meet them are in test_stopping_large.c. */
#include "ad_run.h"
#include "solve_run.h"

#include <unistd.h>

/* -(k u')' = 1, u(0) = 0, u'(1) = 0, k = 1 up to 1/2, then K: k u' = 1 - x. */
static double jump_at_end(double K) {
    return 0.375 + 0.125 / K;
}

static void expect_rounding(const json_t *root) {
    assert_string_equal("converged", app_text(root, "outcome"));
    assert_true(json_is_true(json_object_get(root, "to_rounding")));
    assert_true(app_number(root, "backward_error") < 1e-13);
}

static void coefficients_that_jump(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:50", "--diffusivity", "select(x<0.5,1,1e4)",
                           "--dirichlet", "left=0", "--probe", "1,0.5", "--tolerance", "1e-10");
    expect_rounding(root);
    assert_double_near(jump_at_end(1e4), app_probe_value(root, 0), 1e-6, 0);
    json_decref(root);
    root = POISSON(0, "--mesh", "square:50", "--diffusivity", "select(x<0.5,1,1e8)", "--dirichlet",
                   "left=0", "--probe", "1,0.5");
    expect_rounding(root);
    assert_double_near(jump_at_end(1e8), app_probe_value(root, 0), 1e-4, 0);
    json_decref(root);
    root = POISSON(0, "--mesh", "cube:12", "--diffusivity", "select(x<0.5,1,1e4)", "--dirichlet",
                   "left=0", "--probe", "1,0.5,0.5");
    assert_string_equal("converged", app_text(root, "outcome"));
    /* the diagonals of a cube's tetrahedra are not symmetric about x: h^2 apart */
    assert_double_near(jump_at_end(1e4), app_probe_value(root, 0), 0.02, 0);
    json_decref(root);
}

/* The same held at its stiff end: u(1) = 1, u(0) = 1 + 1/8. A residual of 1e-8 of the right-hand
 * side, which is 1e8 there, says nothing about the soft half. */
static void a_stiff_end_does_not_hide_the_soft_one(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:50", "--diffusivity", "select(x<0.5,1,1e8)",
                           "--dirichlet", "right=1", "--probe", "0,0.5");
    assert_string_equal("converged", app_text(root, "outcome"));
    assert_double_near(1.125, app_probe_value(root, 0), 1e-4, 0);
    json_decref(root);
}

/* u = 101 - x on a weak spring: 1e-10 of the right-hand side is below rounding. */
static void a_weak_spring(void **state) {
    (void)state;
    json_t *root =
        POISSON(0, "--mesh", "square:100", "--neumann", "left=1", "--robin", "right=0.01,0",
                "--source", "0", "--exact", "101-x", "--tolerance", "1e-12");
    expect_rounding(root);
    assert_true(app_number(root, "l2_error") < 1e-6);
    json_decref(root);
}

static void a_solid_that_jumps(void **state) {
    (void)state;
    /* A bar on rollers under a traction of 1, with Poisson's ratio 0: E u' = 1. */
    json_t *root =
        SOLVE(0, "elasticity.weft", "--mesh", "square:20", "--define", "young=select(x<0.5,1,1e4)",
              "--define", "poisson=0", "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0",
              "--neumann", "right=1,0", "--probe", "1,0.5", "--tolerance", "1e-12");
    assert_string_equal("converged", app_text(root, "outcome"));
    const json_t *u = json_object_get(json_array_get(json_object_get(root, "probes"), 0), "u");
    assert_double_near(0.5 + 0.5e-4, json_number_value(json_array_get(u, 0)), 1e-5, 0);
    json_decref(root);
}

/* Half a solution is written where that is asked for; its exit code is 1 all the same. */
static void unconverged_files_are_kept_on_request(void **state) {
    char *folder = test_folder_make(), *output = test_path(folder, "u.vtkhdf");
    (void)state;
    for (int keep = 0; keep < 2; ++keep) {
        const char *const command[] = {WEFT_BINARY_DIR "/poisson",
                                       "--mesh",
                                       "square:16",
                                       "--max-iterations",
                                       "3",
                                       "--output",
                                       output,
                                       keep ? "--keep-unconverged" : NULL,
                                       NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(1, run.exit_code);
        assert_int_equal(keep ? 0 : -1, access(output, F_OK));
        assert_non_null(strstr(run.error, "not converged: max_iterations after 3 iterations, "
                                          "relative residual "));
        assert_non_null(strstr(run.error, "(tolerance 1e-08)"));
        assert_non_null(strstr(run.error, "hint: raise --max-iterations or --tolerance"));
        assert_int_equal(!keep, strstr(run.error, "--keep-unconverged") != NULL);
        test_run_free(&run);
    }
    free(output);
    test_folder_remove(&folder);
}

/* ---- Newton -------------------------------------------------------------------------------- */

/* The problem of jump_at_end, stated as r(u) = 0. */
static const char jump_script[] =
    "parameter d = 2, degree = 1;\n"
    "index cells, nodes;\n"
    "connectivity dofs : cells -> nodes[d + 1];\n"
    "input x : real[d] over nodes;\n"
    "input u : real over nodes;\n"
    "expression k(x, y, z) = 1;\n"
    "expression f(x, y, z) = 1;\n"
    "X = x[dofs];\n"
    "U = u[dofs];\n"
    "J = jacobian(X);\n"
    "P = quadrature_points(X, degree = degree);\n"
    "K = quadrature_mean(k(P), d = d, degree = degree)*dshape_dot_dshape(tform_dshape(J), J);\n"
    "r[dofs] += mvmul(K, U) - quadrature_load(f(P), J, degree = degree);\n";

/* Symmetric at u = 0 alone. */
static const char bent_script[] = "parameter d = 2;\n"
                                  "index cells, nodes;\n"
                                  "connectivity dofs : cells -> nodes[d + 1];\n"
                                  "input x : real[d] over nodes;\n"
                                  "input u : real over nodes;\n"
                                  "X = x[dofs];\n"
                                  "U = u[dofs];\n"
                                  "J = jacobian(X);\n"
                                  "L = dshape_dot_dshape(tform_dshape(J), J);\n"
                                  "w = mvmul(shape_shape(J), U);\n"
                                  "K = L + outer(w, U);\n"
                                  "r[dofs] += mvmul(L, U) + norm2(U)*norm2(U)/2*w;\n";

static char *script_write(const char *folder, const char *name, const char *text) {
    char *path = test_path(folder, name);
    test_text_write(path, text);
    return path;
}

/* u = 0 on the left, and two further arguments or NULL. */
static test_run run_newton(const char *script, const char *more, const char *further) {
    const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                   script,
                                   "--nonlinear",
                                   "--mesh",
                                   "square:8",
                                   "--dirichlet",
                                   "left=0",
                                   more,
                                   further,
                                   NULL};
    return test_program(command, NULL);
}

static void newton_ends_at_rounding(void **state) {
    char *folder = test_folder_make(), *script = script_write(folder, "jump.weft", jump_script);
    (void)state;
    json_t *root = SOLVE(0, script, "--nonlinear", "--mesh", "square:50", "--define",
                         "k=select(x<0.5,1,1e8)", "--dirichlet", "left=0", "--probe", "1,0.5");
    assert_true(json_is_true(json_object_get(root, "newton_converged")));
    assert_true(json_is_true(json_object_get(root, "newton_to_rounding")));
    assert_in_range(json_array_size(json_object_get(root, "newton")), 3, 8);
    assert_double_near(jump_at_end(1e8), app_probe_value(root, 0), 1e-4, 0);
    json_decref(root);
    test_run run = run_newton(script, NULL, NULL);
    assert_int_equal(0, run.exit_code);
    assert_non_null(strstr(run.output, "relative to its terms at the end"));
    assert_non_null(strstr(run.output, "  relative to "));
    test_run_free(&run);
    free(script);
    test_folder_remove(&folder);
}

static void every_tangent_is_looked_at(void **state) {
    char *folder = test_folder_make(), *script = script_write(folder, "bent.weft", bent_script);
    (void)state;
    test_run run = run_newton(script, "--dirichlet=right=1", "--method=cg");
    assert_int_equal(2, run.exit_code);
    assert_non_null(strstr(run.error, "bent.weft: error: the local matrix 'K' is not symmetric in "
                                      "load step 1, iteration 1: |K - K^T| is "));
    assert_non_null(strstr(run.error, "--method cg needs K(i,j) = K(j,i)"));
    test_run_free(&run);
    run = run_newton(script, "--dirichlet=right=1", NULL);
    assert_int_equal(0, run.exit_code);
    assert_non_null(strstr(run.output, "  CG  "));
    assert_non_null(strstr(run.output, "  GMRES  "));
    test_run_free(&run);
    free(script);
    test_folder_remove(&folder);
}

/* -K for K: what CG finds is named, and so is the place. */
static void an_indefinite_tangent_is_named(void **state) {
    char *folder = test_folder_make(), text[sizeof jump_script + 8];
    (void)state;
    const char *matrix = strstr(jump_script, "K = ");
    assert_non_null(matrix);
    snprintf(text, sizeof text, "%.*sK = 0 - %s", (int)(matrix - jump_script), jump_script,
             matrix + strlen("K = "));
    char *script = script_write(folder, "negative.weft", text);
    test_run run = run_newton(script, NULL, NULL);
    assert_int_equal(1, run.exit_code);
    assert_non_null(strstr(run.error, "conjugate gradients: indefinite"));
    assert_non_null(strstr(run.error, "in load step 1, iteration 0"));
    assert_non_null(strstr(run.error, "the tangent is not positive definite there"));
    test_run_free(&run);
    free(script);
    test_folder_remove(&folder);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Implicit steps so long that they end in the steady state: the flux q = (1 - T(1/2)) 2 through k =
 * 1 is that through 1e4, T(1/2) 2e4, so that T(1/2) = 1e-4/(1 + 1e-4). */
static void long_steps_with_a_jump(void **state) {
    (void)state;
    static const char *const tolerances[] = {"1e-10", "0"};
    const double at_half = 1e-4 / (1 + 1e-4);
    for (int i = 0; i < 2; ++i) {
        json_t *root = AD(0, "--mesh", "square:20", "--diffusivity", "select(x<0.5,1,1e4)",
                          "--theta", "1", "--dt", "1e6", "--steps", "3", "--initial", "1-x",
                          "--dirichlet", "left=1", "--dirichlet", "right=0", "--probe", "0.25,0.5",
                          "--probe", "0.5,0.5", "--tolerance", tolerances[i]);
        assert_string_equal("done", app_text(root, "outcome"));
        const json_t *probes = json_object_get(ad_entry(root, -1), "probes");
        const double quarter = json_number_value(json_array_get(probes, 0)),
                     half = json_number_value(json_array_get(probes, 1));
        assert_double_near((1 + at_half) / 2, quarter, 1e-5, 0);
        assert_double_near(at_half, half, 0, 1e-5);
        json_decref(root);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_that_jump),
        cmocka_unit_test(a_stiff_end_does_not_hide_the_soft_one),
        cmocka_unit_test(a_weak_spring),
        cmocka_unit_test(a_solid_that_jumps),
        cmocka_unit_test(unconverged_files_are_kept_on_request),
        cmocka_unit_test(newton_ends_at_rounding),
        cmocka_unit_test(every_tangent_is_looked_at),
        cmocka_unit_test(an_indefinite_tangent_is_named),
        cmocka_unit_test(long_steps_with_a_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
