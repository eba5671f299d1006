/* labels: quick */
/* Formulas by group in the programs: a wall of two materials between u = 1 and u = 0 has the exact solution
 * u = 1 - q x/50 in steel and q (1 - x)/0.02 in air, q = 1/(0.5/50 + 0.5/0.02); sources on cells and
 * facets; initial values. Tolerance: that of the solver, 1e-12, times the number of iterations. */
#include "poisson_run.h"
#include "wall_support.h"

static const double SOLVED = 1e-9;

static char *folder, *mesh_path;

static int set_up(void **state) {
    (void)state;
    weft_mesh *mesh = wall_mesh(2, 8, false, false);
    weft_error error = {0};
    folder = test_folder_make();
    mesh_path = test_path(folder, "wall.vtkhdf");
    assert_int_equal(weft_result_write(mesh_path, mesh, NULL, 0, &error), WEFT_OK);
    weft_mesh_free(&mesh);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(mesh_path);
    test_folder_remove(&folder);
    return 0;
}

#define BETWEEN                                                                                    \
    "--dirichlet=left=1", "--dirichlet=right=0", "--tolerance=1e-12", "--probe=0.25,0.4",          \
        "--probe=0.75,0.6"

static void check_wall(json_t *root) {
    const double q = 1 / (0.5 / 50 + 0.5 / 0.02);
    assert_double_near(app_probe_value(root, 0), 1 - q * 0.25 / 50, SOLVED, 0);
    assert_double_near(app_probe_value(root, 1), q * 0.25 / 0.02, SOLVED, 0);
    json_decref(root);
}

static void test_wall(void **state) {
    (void)state;
    check_wall(POISSON(0, "--mesh", mesh_path, "--diffusivity=@steel=50", "--diffusivity=@air=0.02",
                       "--source=0", BETWEEN));
    check_wall(POISSON(0, "--mesh", mesh_path, "--diffusivity=0.02", "--diffusivity=@steel=50+0*y",
                       "--source=0", "--assembly=csr", BETWEEN));
    check_wall(app_solve("solve", 0,
                         (const char *const[]){
                             "diffusion.weft", "--mesh", mesh_path, "--define=diffusivity@steel=50",
                             "--define=diffusivity@air=0.02", "--define=source=0", BETWEEN, NULL}));
    json_t *root = POISSON(0, "--mesh", mesh_path, "--diffusivity=@steel=50",
                           "--diffusivity=@air=0.02", "--device=null");
    json_decref(root);
}

/* -u'' = 1 where x < 1/2, u(0) = u(1) = 0: u = x (3/4 - x)/2 there, (1 - x)/8 beyond, exact at nodes
 * of a mesh whose columns are equal. A source g on x = 0 with u(1) = 0 is a flux: u = g (1 - x). */
static void test_sources(void **state) {
    (void)state;
    json_t *root =
        POISSON(0, "--mesh", mesh_path, "--source=@steel=1", "--source=0", "--dirichlet=left=0",
                "--dirichlet=right=0", "--tolerance=1e-12", "--probe=0.25,0.5", "--probe=0.75,0.5");
    assert_double_near(app_probe_value(root, 0), 0.25 * 0.5 / 2, SOLVED, 0);
    assert_double_near(app_probe_value(root, 1), 0.25 / 8, SOLVED, 0);
    json_decref(root);
    root = POISSON(0, "--mesh", mesh_path, "--source=0", "--source=@left=3", "--dirichlet=right=0",
                   "--tolerance=1e-12", "--probe=0.25,0.5");
    assert_double_near(app_probe_value(root, 0), 3 * 0.75, SOLVED, 0);
    json_decref(root);
}

/* 4 in steel, the nodes between both belong to the last group: int T = 4 (1/2 - h/2), h = 1/8. */
static void test_initial(void **state) {
    (void)state;
    json_t *root = app_solve("advection_diffusion", 0,
                             (const char *const[]){"--mesh", mesh_path, "--initial=@steel=4",
                                                   "--initial=@air=0", "--diffusivity=@steel=1e-30",
                                                   "--diffusivity=@air=1e-30", "--dt=1e-9",
                                                   "--steps=0", "--probe=0.25,0.5", NULL});
    const json_t *series = json_object_get(root, "series");
    const json_t *first = json_array_get(series, 0);
    assert_double_near(app_number(first, "mass"), 4 * (0.5 - 1.0 / 16), 1e-12, 0);
    json_decref(root);
}

/* Components of an input, by group: a force in steel alone, per component. */
static void test_inputs(void **state) {
    static const char script[] =
        "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
        "input x : real[d] over nodes;\ninput f : real[2] over cells;\nJ = jacobian(x[dofs]);\n"
        "K = shape_shape(J);\nb[dofs] += mvmul(K, mvmul(x[dofs], f));\n";
    (void)state;
    char *path = test_path(folder, "my.weft");
    test_text_write(path, script);
    test_run run =
        test_program((const char *const[]){WEFT_BINARY_DIR "/solve", path, "--mesh", mesh_path,
                                           "--input=f@steel=1,2", "--input=f@air=1,2,3", NULL},
                     NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(
        strstr(run.error, "3 expressions are given for the group `air`, and 2 before it"));
    test_run_free(&run);
    free(path);
}

/* A script with a formula by group of its own. */
static void test_script(void **state) {
    static const char script[] =
        "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
        "input x : real[d] over nodes;\nexpression k(x, y, z) = 50, air: 0.02 + 0*x;\n"
        "X = x[dofs];\nJ = jacobian(X);\nP = quadrature_points(X, degree = 2);\n"
        "K = smmul(dshape_dot_dshape(tform_dshape(J), J), quadrature_mean(k(P), d = d, degree = "
        "2));\n";
    (void)state;
    char *path = test_path(folder, "groups.weft");
    test_text_write(path, script);
    check_wall(
        app_solve("solve", 0, (const char *const[]){path, "--mesh", mesh_path, BETWEEN, NULL}));
    check_wall(app_solve("solve", 0,
                         (const char *const[]){path, "--mesh", mesh_path, "--define=k@air=0.02",
                                               "--define=k=50", BETWEEN, NULL}));
    free(path);
}

/* The errors of the wall's temperature against exact formulas by group, in elements of degree 1 and 2: none; and with
 * formulas of air that differ by 2 and by 3 x, over half of the square, what these have there. */
static void test_exact(void **state) {
    static const char form[] =
        "V, D = FiniteElement('P', triangle, %d), FiniteElement('DG', triangle, 0)\n"
        "u, v, k = TrialFunction(V), TestFunction(V), Coefficient(D)\n"
        "a = k*inner(grad(u), grad(v))*dx\n";
    static const char *const more[] = {"", "+2", "+3*x"};
    static const double l2[] = {0, 2, 9 * 7.0 / 24}, h1[] = {0, 0, 4.5};
    (void)state;
    char *path = test_path(folder, "wall.ufl"), text[400], exact[200];
    const double q = 1 / (0.5 / 50 + 0.5 / 0.02);
    for (int i = 0; i < 6; ++i) {
        const int degree = 1 + i / 3, k = i % 3;
        snprintf(text, sizeof text, form, degree);
        test_text_write(path, text);
        snprintf(exact, sizeof exact, "--exact=%s%.17g*(1-x)%s; @steel=1-%.17g*x",
                 degree == 1 ? "@air=" : "", q / 0.02, more[k], q / 50);
        json_t *root =
            app_solve("solve", 0,
                      (const char *const[]){path, "--mesh", mesh_path, "--input=k@steel=50",
                                            "--input=k@air=0.02", exact, BETWEEN, NULL});
        assert_double_near(app_number(root, "l2_error"), sqrt(l2[k]), 0, SOLVED);
        assert_double_near(app_number(root, "h1_error"), sqrt(h1[k]), 0, 100 * SOLVED);
        json_decref(root);
    }
    free(path);
}

/* A field of a file that is linear, of degree 1, against which the same function of degree 2 has no error. */
static void test_exact_field(void **state) {
    static const char form[] = "V = FiniteElement('P', triangle, 2)\n"
                               "u, v = TrialFunction(V), TestFunction(V)\n"
                               "a = inner(grad(u), grad(v))*dx\n";
    (void)state;
    char *path = test_path(folder, "plane.ufl"), *field = test_path(folder, "plane.vtkhdf");
    char exact[4200];
    test_text_write(path, form);
    json_decref(POISSON(0, "--mesh=square:5", "--source=0", "--dirichlet=boundary=x+2*y",
                        "--output", field, "--tolerance=1e-12"));
    for (int k = 0; k < 2; ++k) {
        snprintf(exact, sizeof exact, "--exact=%s*field(%s, u)", k == 0 ? "1" : "0.5", field);
        json_t *root =
            app_solve("solve", 0,
                      (const char *const[]){path, "--mesh=square:5", "--dirichlet=boundary=x+2*y",
                                            "--tolerance=1e-12", exact, NULL});
        /* half of ∫ (x + 2y)² = 1/3 + 1 + 4/3, and of |(1, 2)|² = 5 */
        assert_double_near(app_number(root, "l2_error"), k * sqrt(8.0 / 3) / 2, 0, SOLVED);
        assert_double_near(app_number(root, "h1_error"), k * sqrt(5) / 2, 0, 100 * SOLVED);
        json_decref(root);
    }
    free(path);
    free(field);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wall),       cmocka_unit_test(test_sources),
        cmocka_unit_test(test_initial),    cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_script),     cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exact_field)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
