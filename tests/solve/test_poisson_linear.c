/* labels: quick */
/* A linear field lies in the space, so every assembly reproduces it on a distorted mesh up to
 * what CG leaves: 1e-10, with residuals of 1e-12. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "poisson_run.h"

#include <stdbool.h>

static const double TOLERANCE = 1e-10;

/* Inner nodes moved by up to a fifth of the spacing in each direction, by a fixed generator. */
static void distort(weft_mesh *mesh, double spacing) {
    uint32_t random = 1;
    int d = mesh->dimension;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        double *x = &mesh->x[i * d];
        bool inside = true;
        for (int k = 0; k < d; ++k)
            inside = inside && x[k] > 1e-9 && x[k] < 1 - 1e-9;
        for (int k = 0; k < d && inside; ++k) {
            random = random * 1664525u + 1013904223u;
            x[k] += 0.2 * spacing * ((double)random / 4294967295.0 * 2 - 1);
        }
    }
}

static char *write_distorted(const char *folder, int dimension, int64_t n) {
    weft_mesh *mesh = NULL;
    weft_error error;
    char *path = test_path(folder, dimension == 2 ? "square.vtkhdf" : "cube.vtkhdf");
    assert_int_equal(WEFT_OK, dimension == 2 ? weft_mesh_make_square(n, &mesh, &error)
                                             : weft_mesh_make_cube(n, &mesh, &error));
    distort(mesh, 1.0 / (double)n);
    assert_int_equal(WEFT_OK, weft_result_write(path, mesh, NULL, 0, &error));
    weft_mesh_free(&mesh);
    return path;
}

static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free", "edge"};

/* Every kind of condition, and a diffusivity that is linear too: u = 1 + 2x - 3y, k = 1 + x + 2y,
 * f = -grad k . grad u = 4; right: flux 2k, left: -2k + u, top: -3k */
static void test_plane(void **state) {
    char *folder = test_folder_make(), *mesh = write_distorted(folder, 2, 9);
    (void)state;
    for (int i = 0; i < 5; ++i) {
        json_t *result =
            POISSON(0, "--mesh", mesh, "--assembly", assemblies[i], "--tolerance", "1e-12",
                    "--source", "4", "--diffusivity", "1+x+2*y", "--dirichlet", "bottom=1+2*x",
                    "--neumann", "right=2*(2+2*y)", "--neumann", "top=-3*(3+x)", "--robin",
                    "left=1,-2*(1+2*y)+1-3*y", "--exact", "1+2*x-3*y", "--probe", "0.3,0.7");
        assert_true(app_number(result, "l2_error") <= TOLERANCE);
        assert_true(app_number(result, "h1_error") <= 10 * TOLERANCE);
        assert_double_near(1 + 2 * 0.3 - 3 * 0.7, app_probe_value(result, 0), 0, TOLERANCE);
        assert_double_near(0.5, app_number(result, "integral_u"), 0, TOLERANCE);
        /* k |grad u|^2 / 2 = 13 (1 + 1/2 + 1) / 2 */
        assert_double_near(13 * 2.5 / 2, app_number(result, "energy"), TOLERANCE, 0);
        json_decref(result);
    }
    free(mesh);
    test_folder_remove(&folder);
}

/* u = 1 + 2x - 3y + 4z, k = 2; right: flux 4, top: -1 u + (8 + ...) by Robin */
static void test_space(void **state) {
    char *folder = test_folder_make(), *mesh = write_distorted(folder, 3, 5);
    (void)state;
    for (int i = 0; i < 5; ++i) {
        json_t *result = POISSON(
            0, "--mesh", mesh, "--assembly", assemblies[i], "--tolerance", "1e-12", "--source", "0",
            "--diffusivity", "2", "--dirichlet", "left=1-3*y+4*z", "--dirichlet", "front=1+2*x+4*z",
            "--dirichlet", "back=-2+2*x+4*z", "--dirichlet", "bottom=1+2*x-3*y", "--neumann",
            "right=4", "--robin", "top=0.5,8+0.5*(5+2*x-3*y)", "--exact", "1+2*x-3*y+4*z");
        assert_true(app_number(result, "l2_error") <= TOLERANCE);
        assert_true(app_number(result, "h1_error") <= 10 * TOLERANCE);
        assert_double_near(29, app_number(result, "energy"), TOLERANCE, 0);
        json_decref(result);
    }
    free(mesh);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane), cmocka_unit_test(test_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
