/* labels: quick */
/* Curved cells of degree 2: built-in meshes mapped by F(x) = x + quadratic terms, which cells of
 * degree 2 represent exactly, with shuffled orders of vertices. Nodes of every degree are at the
 * images of those of the straight mesh, and the volume is the integral of det F' over the unit square
 * or cube, by hand. Renumbering keeps both.
 * Tolerance: 1e-12, sums of some thousand terms of size 1. */
#include "curved_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"interval:4", "square:3", "quads:3", "cube:2", "hexes:2"};
enum { N_MESHES = 5 };

/* int det F': 1 + 1/5;  int (1 + x/4 - 2y/5 y/4) = 1 + 1/8 - 1/30;  times int (1 + z/5), since the
 * last column of F' is (0, 0, 1 + z/5) */
static const double volumes[3] = {1.2, 1 + 1.0 / 8 - 1.0 / 30, (1 + 1.0 / 8 - 1.0 / 30) * 1.1};

static double determinant(int d, double a[3][3]) {
    double sum = 0;
    if (d == 1)
        return a[0][0];
    if (d == 2)
        return a[0][0] * a[1][1] - a[0][1] * a[1][0];
    for (int k = 0; k < 3; ++k)
        sum += a[0][k] *
               (a[1][(k + 1) % 3] * a[2][(k + 2) % 3] - a[1][(k + 2) % 3] * a[2][(k + 1) % 3]);
    return sum;
}

/* int |det J| over all cells, J from the places of the space's nodes. */
static double volume_of(const weft_space *space) {
    const weft_element *e = weft_space_element(space);
    const int d = weft_space_mesh(space)->dimension, n = e->n_nodes;
    weft_quadrature rule;
    double sum = 0;
    assert_int_equal(weft_quadrature_make(e->cell, WEFT_SCHEME_DEFAULT, 6, &rule, NULL), WEFT_OK);
    double *table = malloc((size_t)((d + 1) * rule.n * n) * sizeof *table);
    assert_int_equal(weft_element_tabulate(e, 1, rule.n, rule.points, table, NULL), WEFT_OK);
    for (int64_t c = 0; c < weft_space_mesh(space)->n_cells; ++c)
        for (int q = 0; q < rule.n; ++q) {
            double jacobian[3][3] = {{0}};
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < d; ++k)
                    for (int a = 0; a < d; ++a)
                        jacobian[k][a] +=
                            table[((a + 1) * rule.n + q) * n + i] *
                            weft_space_points(
                                space)[(int64_t)weft_space_cell_nodes(space)[c * n + i] * d + k];
            const double det = determinant(d, jacobian);
            assert_true(det > 0);
            sum += rule.weights[q] * det;
        }
    free(table);
    weft_quadrature_free(&rule);
    return sum;
}

/* Nodes of this degree are at the images of those of the straight mesh, in any order. */
static void check_places(weft_device *device, const weft_mesh *straight, const weft_mesh *mesh,
                         int degree) {
    weft_space *from = curved_space(device, straight, degree);
    weft_space *to = curved_space(device, mesh, degree);
    const int d = mesh->dimension;
    assert_int_equal(weft_space_nodes(to), weft_space_nodes(from));
    for (int64_t i = 0; i < weft_space_nodes(from); ++i) {
        double x[3], nearest = 1;
        curve_point(d, weft_space_points(from) + i * d, x);
        for (int64_t k = 0; k < weft_space_nodes(to); ++k) {
            double distance = 0;
            for (int axis = 0; axis < d; ++axis)
                distance = fmax(distance, fabs(weft_space_points(to)[k * d + axis] - x[axis]));
            nearest = fmin(nearest, distance);
        }
        assert_true(nearest < 1e-12);
    }
    weft_space_free(&from);
    weft_space_free(&to);
}

static void check_mesh(weft_device *device, const weft_mesh *straight, const weft_mesh *mesh) {
    weft_space *space = curved_space(device, mesh, 2);
    assert_double_near(volume_of(space), volumes[mesh->dimension - 1], 1e-12, 0);
    weft_space_free(&space);
    for (int degree = 2; degree <= 4; ++degree)
        check_places(device, straight, mesh, degree);
}

static void test_curved(void **state) {
    (void)state;
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    for (int m = 0; m < N_MESHES; ++m) {
        weft_mesh *straight = NULL, *mesh = NULL;
        weft_error error = {0};
        assert_int_equal(weft_mesh_read(names[m], 0, NULL, &straight, NULL), WEFT_OK);
        weft_mesh_data data = curved_data(device, straight, 2);
        if (weft_mesh_make(&data, "curved", NULL, &mesh, &error) != WEFT_OK)
            fail_msg("%s: %s", names[m], error.message);
        assert_non_null(mesh->curve);
        assert_int_equal(mesh->n_nodes, straight->n_nodes);
        assert_int_equal(mesh->n_dropped_nodes, 0);
        assert_int_equal(mesh->n_flipped_cells, mesh->n_cells / 2);
        check_mesh(device, straight, mesh);
        assert_int_equal(
            weft_mesh_order(device, mesh, WEFT_ORDERING_BISECTION, 4, NULL, NULL, &error), WEFT_OK);
        check_mesh(device, straight, mesh);
        weft_mesh_free(&mesh);
        weft_mesh_free(&straight);
    }
    weft_device_free(&device);
}

/* A node in the middle of an edge is moved so far that the cell folds; and P1 refinement says no. */
static void test_refused(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_mesh *straight = NULL, *mesh = NULL, *refined = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_read("quads:1", 0, NULL, &straight, NULL), WEFT_OK);
    weft_mesh_data data = curved_data(device, straight, 2);
    data.x[2 * data.cells[4]] += 1; /* the first edge's node */
    assert_int_equal(weft_mesh_make(&data, "folded", NULL, &mesh, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.message,
                        "folded: 1 curved cell is folded (first: cell 1, nodes 1 5 7 9, near 0 0)");
    data = curved_data(device, straight, 2);
    assert_int_equal(weft_mesh_make(&data, "curved", NULL, &mesh, &error), WEFT_OK);
    assert_int_equal(weft_mesh_refine(NULL, mesh, 1, NULL, &refined, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message,
                        "curved: refinement takes straight cells, and these are curved");
    weft_mesh_free(&mesh);
    data = curved_data(device, straight, 2);
    data.degree = 3;
    assert_int_equal(weft_mesh_make(&data, "cubic", NULL, &mesh, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "cubic: cells of degree 3 are not supported");
    weft_mesh_free(&straight);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curved),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
