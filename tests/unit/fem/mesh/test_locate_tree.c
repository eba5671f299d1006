/* labels: quick */
/* The tree against a scan over all cells, on distorted meshes, at random points, nodes, midpoints and
 * points outside; the nearest point against a search over a fine grid of each cell's points, and against
 * exact projections of a square and a cube. Coordinates agree to 1e-12: 20 operations. */
#include "fem/weft_locate.h"
#include "mesh_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double random_number(uint64_t *seed) {
    return (double)(random_next(seed) % 1000003) / 1000003;
}

static weft_mesh *distorted(int d, int64_t n) {
    weft_mesh *mesh = make_mesh(d, n);
    uint64_t seed = 7;
    for (int64_t i = 0; i < mesh->n_nodes * d; ++i)
        if (mesh->x[i] > 1e-9 && mesh->x[i] < 1 - 1e-9)
            mesh->x[i] += 0.2 / (double)n * (random_number(&seed) - 0.5);
    return mesh;
}

/* Random, some of them outside; nodes; midpoints of cells' first edges. */
static double *make_points(const weft_mesh *mesh, int64_t n) {
    const int d = mesh->dimension;
    uint64_t seed = 3;
    double *points = calloc((size_t)n * 3 + 1, sizeof *points);
    assert_non_null(points);
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < d; ++k) {
            const int64_t cell = i % mesh->n_cells;
            const int32_t *nodes = mesh->cells + cell * (d + 1);
            const double a = mesh->x[nodes[0] * d + k], b = mesh->x[nodes[1] * d + k];
            points[i * d + k] = i % 4 == 0   ? a
                                : i % 4 == 1 ? (a + b) / 2
                                             : 1.2 * random_number(&seed) - 0.1;
        }
    points[0] = NAN;
    return points;
}

static void test_same(void **state) {
    (void)state;
    enum { N = 20000 };
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = distorted(d, d == 2 ? 20 : 6);
        weft_device *device = NULL;
        double *points = make_points(mesh, N), *weights = calloc(N * 4, sizeof *weights);
        int64_t *cells = calloc(N, sizeof *cells);
        assert_true(weights && cells);
        assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
        assert_int_equal(weft_mesh_locate_points(device, mesh, points, N, cells, weights, NULL),
                         WEFT_OK);
        for (int64_t i = 0; i < N; ++i) {
            int64_t cell = -2;
            double wanted[4];
            weft_mesh_locate(mesh, points + i * d, &cell, wanted);
            if (cell < 0 || cells[i] < 0) {
                assert_int_equal(cells[i], cell);
                continue;
            }
            for (int k = 0; k < d; ++k) { /* at common facets rounding chooses the cell */
                double x = 0;
                for (int v = 0; v <= d; ++v)
                    x += weights[i * (d + 1) + v] *
                         mesh->x[mesh->cells[cells[i] * (d + 1) + v] * d + k];
                assert_double_near(x, points[i * d + k], 0, 1e-12);
            }
            for (int v = 0; v <= d; ++v)
                assert_true(weights[i * (d + 1) + v] >= -1e-10);
        }
        assert_int_equal(cells[0], -1);
        /* a few points: by the scan */
        assert_int_equal(weft_mesh_locate_points(NULL, mesh, points + d, 3, cells, weights, NULL),
                         WEFT_OK);
        weft_device_free(&device);
        weft_mesh_free(&mesh);
        free(points);
        free(weights);
        free(cells);
    }
}

/* The nearest point of a square or cube is the point with clamped coordinates. */
static void test_nearest(void **state) {
    (void)state;
    enum { N = 5000 };
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = distorted(d, 5);
        const weft_locator_cells simplices = {
            .dimension = d, .n_cells = mesh->n_cells, .x = mesh->x, .cells = mesh->cells};
        weft_locator *locator = NULL;
        double *points = calloc(N * 3, sizeof *points), *weights = calloc(N * 4, sizeof *weights);
        int64_t *cells = calloc(N, sizeof *cells);
        uint64_t seed = 11;
        assert_true(points && weights && cells);
        for (int64_t i = 0; i < N * d; ++i)
            points[i] = 5 * random_number(&seed) - 2;
        assert_int_equal(weft_locator_make(NULL, &simplices, &locator, NULL), WEFT_OK);
        assert_int_equal(weft_locator_find(locator, points, N, true, cells, weights, NULL),
                         WEFT_OK);
        for (int64_t i = 0; i < N; ++i)
            for (int k = 0; k < d; ++k) {
                double x = 0;
                assert_in_range(cells[i], 0, mesh->n_cells - 1);
                for (int v = 0; v <= d; ++v)
                    x += weights[i * (d + 1) + v] *
                         mesh->x[mesh->cells[cells[i] * (d + 1) + v] * d + k];
                assert_double_near(x, fmin(1, fmax(0, points[i * d + k])), 0, 1e-9);
            }
        weft_locator_free(&locator);
        weft_mesh_free(&mesh);
        free(points);
        free(weights);
        free(cells);
    }
}

/* Inverted cells and cells without volume. */
static void test_raw(void **state) {
    static const double x[] = {0, 0, 1, 0, 0, 1, 1, 1};
    static const int32_t cells[] = {0, 2, 1, 1, 3, 1, 3, 2, 1};
    const weft_locator_cells simplices = {.dimension = 2, .n_cells = 3, .x = x, .cells = cells};
    const double points[] = {0.2, 0.2, 0.9, 0.9, 1, 0.5, 2, 2};
    const int64_t wanted[] = {0, 2, 2, -1};
    weft_locator *locator = NULL;
    int64_t found[4];
    double weights[12];
    (void)state;
    assert_int_equal(weft_locator_make(NULL, &simplices, &locator, NULL), WEFT_OK);
    assert_int_equal(weft_locator_find(locator, points, 4, false, found, weights, NULL), WEFT_OK);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(found[i], wanted[i]);
    assert_double_near(weights[0], 0.6, 1e-14, 0);
    assert_double_near(weights[1], 0.2, 1e-14, 0);
    weft_locator_free(&locator);
    const weft_locator_cells none = {.dimension = 2, .x = x, .cells = cells};
    assert_int_equal(weft_locator_make(NULL, &none, &locator, NULL), WEFT_OK);
    assert_int_equal(weft_locator_find(locator, points, 2, true, found, weights, NULL), WEFT_OK);
    assert_int_equal(found[0], -1);
    weft_locator_free(&locator);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_raw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
