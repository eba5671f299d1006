/* labels: full */
/* solve with multigrid: few iterations for solids, also in each step of Newton's method. Integrals
 * agree to 1e-9 for residuals of 1e-12 and condition numbers below 1e4. */
#include "solve_run.h"

static const char *const kinds[] = {"multigrid", "aggregation"};

static void solids(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:64", "cube:12"};
    static const char *const held[] = {"left=0,0", "left=0,0,0"};
    static const char *const degrees[] = {"2", "3"};
    static const int most[2][2] = {{18, 13}, {22, 18}}; /* kind, degree */
    for (int i = 0; i < 8; ++i) {
        const int kind = i / 4, degree = i / 2 % 2, mesh = i % 2;
        json_t *result =
            SOLVE(0, "elasticity.weft", "--mesh", meshes[mesh], "--define", "poisson=0.3",
                  "--define", "force_y=-1", "--dirichlet", held[mesh], "--preconditioner",
                  kinds[kind], "--smoother-degree", degrees[degree], "--tolerance", "1e-8");
        assert_true(app_number(result, "iterations") <= most[kind][degree]);
        json_decref(result);
    }
}

/* -div((1 + |grad u|^2) grad u) = f: from u = 0, where the tangent is the Laplacian, to diffusivities
 * over three decades. With the preconditioner of the first step, the last one takes more than 50
 * iterations. */
static const char nonlinear[] =
    "parameter d = 2, degree = 2;\n"
    "index cells, nodes;\n"
    "connectivity dofs : cells -> nodes[d + 1];\n"
    "input x : real[d] over nodes;\n"
    "input u : real over nodes;\n"
    "expression source(x, y, z) = 1;\n"
    "X = x[dofs];\n"
    "J = jacobian(X);\n"
    "G = tform_dshape(J);\n"
    "g = gradient(G, u[dofs]);\n"
    "flux = mvmul(G, g);\n"
    "a = 1 + dot(g, g);\n"
    "P = quadrature_points(X, degree = degree);\n"
    "K = a*dshape_dot_dshape(G, J) + 2*measure(J)*outer(flux, flux);\n"
    "r[dofs] += a*measure(J)*flux - quadrature_load(source(P), J, degree = degree);\n";

static json_t *solve_nonlinear(const char *script, const char *preconditioner) {
    json_t *result = SOLVE(0, script, "--nonlinear", "--mesh", "square:48", "--define",
                           "source=1e4*x", "--dirichlet", "left=0", "--tolerance", "1e-12",
                           "--newton-tolerance", "1e-11", "--preconditioner", preconditioner);
    assert_true(json_is_true(json_object_get(result, "newton_converged")));
    return result;
}

static void newton(void **state) {
    (void)state;
    static const int most[] = {2 * 14 + 4, 2 * 25 + 4}; /* a preconditioner is kept for so many */
    char *folder = test_folder_make(), *script = test_path(folder, "nonlinear.weft");
    test_text_write(script, nonlinear);
    json_t *jacobi = solve_nonlinear(script, "jacobi");
    for (int kind = 0; kind < 2; ++kind) {
        json_t *result = solve_nonlinear(script, kinds[kind]);
        assert_true(app_number(result, "iterations") <= most[kind]); /* of the last step */
        assert_double_near(app_number(result, "integral_u"), app_number(jacobi, "integral_u"), 1e-9,
                           0);
        json_decref(result);
    }
    json_decref(jacobi);
    free(script);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solids), cmocka_unit_test(newton)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
