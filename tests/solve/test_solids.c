/* labels: full */
/* Solids: the patch test, a cantilever against Timoshenko's beam, homogeneous large deformations
 * whose formulas are known, and Newton's method that converges quadratically. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "solve_run.h"

#include <stdbool.h>

static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free", "edge"};

/* Component k of the solution at probe i. */
static double probe(const json_t *root, size_t i, size_t k) {
    const json_t *u = json_object_get(json_array_get(json_object_get(root, "probes"), i), "u");
    assert_true(json_is_number(json_array_get(u, k)));
    return json_number_value(json_array_get(u, k));
}

/* A linear displacement lies in the space: exact to what CG leaves, 1e-10 with residuals of 1e-12.
 * The energy is lambda/2 (tr e)^2 + mu e:e. */
static void patch_test(void **state) {
    (void)state;
    for (int i = 0; i < 5; ++i) {
        json_t *plane = SOLVE(0, "elasticity.weft", "--mesh", "square:7", "--define",
                              "poisson=0.25", "--dirichlet", "boundary=x+2*y,3*x-2*y", "--exact",
                              "x+2*y,3*x-2*y", "--tolerance", "1e-12", "--assembly", assemblies[i]);
        assert_true(app_number(plane, "l2_error") < 1e-10);
        assert_true(app_number(plane, "h1_error") < 1e-9);
        /* e = [1 2.5; 2.5 -2] */
        assert_double_near(app_number(plane, "energy"), 0.2 * 1 + 0.4 * (1 + 4 + 12.5), 1e-9, 0);
        json_decref(plane);
        json_t *space =
            SOLVE(0, "elasticity.weft", "--mesh", "cube:4", "--define", "poisson=0.25",
                  "--dirichlet", "boundary=x+2*y-z,3*x-y,z+x", "--exact", "x+2*y-z,3*x-y,z+x",
                  "--tolerance", "1e-12", "--assembly", assemblies[i]);
        assert_true(app_number(space, "l2_error") < 1e-10);
        /* e = [1 2.5 0; 2.5 -1 0; 0 0 1] */
        assert_double_near(app_number(space, "energy"), 0.2 * 1 + 0.4 * (3 + 12.5), 1e-9, 0);
        json_decref(space);
    }
}

/* The same state by tractions on three sides, sigma n, and rollers and springs that hold it:
 * u = (x, -y/3) with nu = 0.25 in the plane: lambda = mu = 0.4, sigma = diag(16/15, 0). */
static void tractions_and_rollers(void **state) {
    (void)state;
    for (int i = 0; i < 5; ++i) {
        json_t *result = SOLVE(0, "elasticity.weft", "--mesh", "square:6", "--define",
                               "poisson=0.25", "--dirichlet", "left=0,free", "--dirichlet",
                               "bottom=free,0", "--neumann", "right=16/15,0", "--exact", "x,-y/3",
                               "--tolerance", "1e-12", "--assembly", assemblies[i]);
        assert_true(app_number(result, "l2_error") < 1e-10);
        json_decref(result);
        /* a spring of stiffness 2 at the right: traction g - 2 u_x with u_x = 1 there */
        result = SOLVE(0, "elasticity.weft", "--mesh", "square:6", "--define", "poisson=0.25",
                       "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0", "--robin",
                       "right=2,16/15+2,free", "--exact", "x,-y/3", "--tolerance", "1e-12",
                       "--assembly", assemblies[i]);
        assert_true(app_number(result, "l2_error") < 1e-10);
        json_decref(result);
    }
}

static char *write_beam(const char *folder, int dimension, int64_t n, int64_t length) {
    weft_mesh *tile = NULL, *beam = NULL;
    weft_error error = {0};
    char *path = test_path(folder, dimension == 2 ? "beam2.vtkhdf" : "beam3.vtkhdf");
    const int64_t counts[3] = {length, 1, 1};
    assert_int_equal(WEFT_OK, dimension == 2 ? weft_mesh_make_square(n, &tile, &error)
                                             : weft_mesh_make_cube(n, &tile, &error));
    if (weft_mesh_tile(NULL, tile, counts, &beam, &error) != WEFT_OK ||
        weft_result_write(path, beam, NULL, 0, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    weft_mesh_free(&tile);
    weft_mesh_free(&beam);
    return path;
}

/* Deflection of the tip of a cantilever of height 1 (and width 1) under a shear load P = 0.001:
 * P L^3/(3 E I) + P L/(k G A), E = 1, nu = 0, so G = 1/2, I = 1/12, k = 5/6 (Timoshenko and Goodier
 * 1970, section 21; Cowper 1966 for k at nu = 0). Linear elements are too stiff in bending by about
 * (1.6/n)^2 with n of them over the height, so 2 % and 4 % are expected to be left. */
static void cantilevers(void **state) {
    (void)state;
    char *folder = test_folder_make();
    char *plane = write_beam(folder, 2, 12, 10), *space = write_beam(folder, 3, 8, 6);
    const double expected2 = 1e-3 * (10 * 10 * 10 * 12 / 3.0 + 10 / (5.0 / 6 / 2)),
                 expected3 = 1e-3 * (6 * 6 * 6 * 12 / 3.0 + 6 / (5.0 / 6 / 2));
    json_t *a = SOLVE(0, "elasticity.weft", "--mesh", plane, "--define", "poisson=0", "--dirichlet",
                      "left=0,0", "--neumann", "right=0,-0.001", "--probe", "10,0.5", "--tolerance",
                      "1e-8", "--max-iterations", "100000");
    json_t *b = SOLVE(0, "elasticity.weft", "--mesh", space, "--define", "poisson=0", "--dirichlet",
                      "left=0,0,0", "--neumann", "right=0,0,-0.001", "--probe", "6,0.5,0.5",
                      "--tolerance", "1e-8", "--max-iterations", "100000");
    print_message("plane: %.5f of %.5f, space: %.5f of %.5f\n", -probe(a, 0, 1), expected2,
                  -probe(b, 0, 2), expected3);
    assert_double_near(-probe(a, 0, 1), expected2, 0.03, 0);
    assert_double_near(-probe(b, 0, 2), expected3, 0.06, 0);
    json_decref(a);
    json_decref(b);
    free(plane);
    free(space);
    test_folder_remove(&folder);
}

/* The shipped form file with two cells over the height: degree 1 is the script, and locks, with a warning; degree 2
 * has 0.5 % of error at most. The cells of the mesh are not known from its name. */
static void cantilevers_of_degree_2(void **state) {
    (void)state;
    char *folder = test_folder_make();
    char *plane = write_beam(folder, 2, 2, 10), *space = write_beam(folder, 3, 2, 6);
    const double expected[2] = {1e-3 * (10 * 10 * 10 * 12 / 3.0 + 10 / (5.0 / 6 / 2)),
                                1e-3 * (6 * 6 * 6 * 12 / 3.0 + 6 / (5.0 / 6 / 2))};
    for (int d = 2; d <= 3; ++d)
        for (int degree = 1; degree <= 2; ++degree) {
            const char *const options[] = {"elasticity.ufl",
                                           "--degree",
                                           degree == 1 ? "1" : "2",
                                           "--mesh",
                                           d == 2 ? plane : space,
                                           "--input",
                                           "poisson=0",
                                           "--dirichlet",
                                           d == 2 ? "left=0,0" : "left=0,0,0",
                                           "--measure",
                                           "ds(1)=right",
                                           "--input",
                                           d == 2 ? "traction=0,-0.001" : "traction=0,0,-0.001",
                                           "--probe",
                                           d == 2 ? "10,0.5" : "6,0.5,0.5",
                                           NULL};
            json_t *root = app_solve("solve", 0, options);
            const double ratio = -probe(root, 0, (size_t)d - 1) / expected[d - 2];
            if (degree == 1)
                assert_in_range((int)(100 * ratio), 40, 70);
            else
                assert_double_near(ratio, 1, 0.005, 0);
            json_decref(root);
        }
    for (int degree = 1; degree <= 2; ++degree) {
        const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                       degree == 1 ? "elasticity.weft" : "elasticity.ufl",
                                       "--mesh",
                                       space,
                                       "--dirichlet",
                                       "left=0,0,0",
                                       degree == 2 ? "--degree=2" : NULL,
                                       NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(run.exit_code, 0);
        assert_int_equal(strstr(run.error, "too stiff in bending (locking)") != NULL, degree == 1);
        test_run_free(&run);
    }
    free(plane);
    free(space);
    test_folder_remove(&folder);
}

/* A bar that is stretched to a times its length, its sides free: F = diag(a, b) with no stress
 * across, so E_yy = -nu' E_xx; in the plane nu' = lambda/(lambda + 2 mu), in space nu. Energy M
 * E_xx^2/2, M = 4 mu (lambda + mu)/(lambda + 2 mu), in space Young's modulus; here lambda = mu =
 * 0.4. */
static void homogeneous_stretch(void **state) {
    (void)state;
    const double a = 1.5, strain = (a * a - 1) / 2, plane = sqrt(1 - 2 * strain / 3),
                 space = sqrt(1 - 2 * strain / 4);
    char text[64];
    for (int i = 0; i < 5; ++i) {
        snprintf(text, sizeof text, "0.5*x,%.17g*y", plane - 1);
        json_t *result =
            SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--define",
                  "poisson=0.25", "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0",
                  "--dirichlet", "right=0.5,free", "--exact", text, "--sum", "W", "--tolerance",
                  "1e-12", "--newton-tolerance", "1e-12", "--assembly", assemblies[i]);
        assert_true(app_number(result, "l2_error") < 1e-10);
        assert_double_near(app_number(result, "sum"), 4 * 0.4 * 0.8 / 1.2 * strain * strain / 2,
                           1e-10, 0);
        json_decref(result);
    }
    snprintf(text, sizeof text, "0.5*x,%.17g*y,%.17g*z", space - 1, space - 1);
    json_t *result =
        SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "cube:2", "--define", "poisson=0.25",
              "--dirichlet", "left=0,free,free", "--dirichlet", "front=free,0,free", "--dirichlet",
              "bottom=free,free,0", "--dirichlet", "right=0.5,free,free", "--exact", text, "--sum",
              "W", "--tolerance", "1e-12", "--newton-tolerance", "1e-12");
    assert_true(app_number(result, "l2_error") < 1e-10);
    assert_double_near(app_number(result, "sum"), strain * strain / 2, 1e-10, 0);
    json_decref(result);
}

/* The same stretch by a traction on the undeformed end, t = a M E_xx, in one step and in four, and
 * where a spring takes half of it. */
static void stretch_by_traction(void **state) {
    (void)state;
    const double a = 1.2, strain = (a * a - 1) / 2, M = 4 * 0.4 * 0.8 / 1.2, t = a * M * strain;
    char exact[64], traction[64], spring[96];
    snprintf(exact, sizeof exact, "0.2*x,%.17g*y", sqrt(1 - 2 * strain / 3) - 1);
    snprintf(traction, sizeof traction, "right=%.17g,0", t);
    snprintf(spring, sizeof spring, "right=%.17g,%.17g,free", t, t + 0.2 * t);
    for (int i = 0; i < 3; ++i) {
        json_t *result =
            SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--define",
                  "poisson=0.25", "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0",
                  i == 2 ? "--robin" : "--neumann", i == 2 ? spring : traction, "--load-steps",
                  i == 1 ? "4" : "1", "--exact", exact, "--newton-tolerance", "1e-12");
        assert_true(app_number(result, "l2_error") < 1e-9);
        json_decref(result);
    }
}

/* The residuals of a clamped block that is pulled: r_(k+1) <= C r_k^2 from the second on, C of
 * order one, down to 1e-11, where rounding and CG's tolerance of 1e-12 end it. */
static void newton_converges_quadratically(void **state) {
    static const char *const meshes[] = {"square:8", "cube:4"};
    static const char *const left[] = {"left=0,0", "left=0,0,0"}, *const right[] = {
                                                                      "right=0.3,0.1",
                                                                      "right=0.3,0.1,-0.1"};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *result =
            SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", meshes[i], "--dirichlet", left[i],
                  "--dirichlet", right[i], "--tolerance", "1e-12");
        const json_t *iterations = json_object_get(result, "newton");
        const size_t n = json_array_size(iterations);
        int squared = 0;
        assert_in_range(n, 4, 10);
        for (size_t k = 1; k + 1 < n; ++k) {
            const double r = json_number_value(
                             json_object_get(json_array_get(iterations, k), "residual")),
                         next = json_number_value(
                             json_object_get(json_array_get(iterations, k + 1), "residual"));
            print_message("%s: %.3e -> %.3e\n", meshes[i], r, next);
            assert_true(next <= 10 * r * r + 1e-11);
            squared += r < 0.01;
        }
        assert_true(squared >= 2);
        json_decref(result);
    }
}

/* What is given is evaluated once, however many load steps and iterations there are: as many
 * kernels, and at the end it holds whole. */
static void conditions_are_evaluated_once(void **state) {
    static const char *const steps[] = {"1", "3"};
    int64_t kernels[2] = {0};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *result =
            SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:4", "--dirichlet",
                  "left=0,0", "--dirichlet", "right=0.1*y+0.2,0.1*sin(y)", "--load-steps", steps[i],
                  "--probe", "1,0.5", "--assembly", "csr", "--preconditioner", "jacobi");
        const json_t *value =
            json_object_get(json_array_get(json_object_get(result, "probes"), 0), "u");
        kernels[i] =
            json_integer_value(json_object_get(json_object_get(result, "plan"), "kernels"));
        assert_double_near(json_number_value(json_array_get(value, 0)), 0.25, 1e-12, 0);
        assert_double_near(json_number_value(json_array_get(value, 1)), 0.1 * sin(0.5), 1e-12, 0);
        json_decref(result);
    }
    assert_true(kernels[0] > 0);
    assert_int_equal(kernels[0], kernels[1]);
}

/* A scalar problem: -div grad u + u^3 = f with u = sin sin, by a script of the user's. */
static void a_scalar_nonlinear_script(void **state) {
    (void)state;
    char *folder = test_folder_make(), *script = test_path(folder, "cubic.weft");
    test_text_write(script, "parameter d = 2;\n"
                            "index cells, nodes;\n"
                            "connectivity dofs : cells -> nodes[d + 1];\n"
                            "input x : real[d] over nodes;\n"
                            "input u : real over nodes;\n"
                            "expression source(x, y, z) = 0;\n"
                            "X = x[dofs];\n"
                            "U = u[dofs];\n"
                            "J = jacobian(X);\n"
                            "P = quadrature_points(X, degree = 5);\n"
                            "k = interpolate(U, degree = 5);\n"
                            "stiffness = dshape_dot_dshape(tform_dshape(J), J);\n"
                            "q = 3*k*k;\n"
                            "K = stiffness + quadrature_shape_shape(q, J, degree = 5);\n"
                            "r[dofs] += mvmul(stiffness, U)\n"
                            "           + quadrature_load(k*k*k - source(P), J, degree = 5);\n"
                            "return K, r;   # both, as weft compile wants it\n");
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        json_t *result =
            SOLVE(0, script, "--nonlinear", "--mesh", i ? "square:32" : "square:16", "--define",
                  "source=2*pi^2*sin(pi*x)*sin(pi*y)+(sin(pi*x)*sin(pi*y))^3", "--exact",
                  "sin(pi*x)*sin(pi*y)");
        errors[i] = app_number(result, "l2_error");
        json_decref(result);
    }
    assert_double_near(log2(errors[0] / errors[1]), 2, 0, 0.1);
    free(script);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patch_test),
                                       cmocka_unit_test(tractions_and_rollers),
                                       cmocka_unit_test(cantilevers),
                                       cmocka_unit_test(cantilevers_of_degree_2),
                                       cmocka_unit_test(homogeneous_stretch),
                                       cmocka_unit_test(stretch_by_traction),
                                       cmocka_unit_test(newton_converges_quadratically),
                                       cmocka_unit_test(conditions_are_evaluated_once),
                                       cmocka_unit_test(a_scalar_nonlinear_script)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
