/* labels: quick */
/* Points in cells of every type, distorted and curved: each point of a cell is located there, or in a
 * neighbour that has it too, with the reference coordinates that map to it, for one thread and several;
 * points outside are in no cell. Continuous and discontinuous functions that interpolate a polynomial of
 * their space have its values at these points.
 * Tolerance: coordinates are found to 1e-12, and values of size 1 change by 10 times as much: 1e-10. */
#include "curved_support.h"
#include "fem/mesh/map.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 300 };
static const double TOLERANCE = 1e-10;
static const char *const names[] = {"interval:4", "square:3", "quads:3", "cube:2", "hexes:2"};
enum { N_MESHES = 5 };

static double next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

static void map_point(const weft_cell_map *map, int64_t cell, const double *xi, double *x) {
    double table[27], nodes[WEFT_CELL_MAP_NUMBERS];
    assert_int_equal(weft_element_tabulate(map->element, 0, 1, xi, table, NULL), WEFT_OK);
    weft_cell_map_nodes(map, cell, nodes);
    for (int a = 0; a < map->d; ++a) {
        x[a] = 0;
        for (int k = 0; k < map->n_nodes; ++k)
            x[a] += table[k] * nodes[k * map->d + a];
    }
}

/* Reference coordinates inside of a cell, every third on its boundary. */
static void choose(const weft_cell *cell, uint32_t *seed, int i, double *xi) {
    double sum = 0;
    for (int a = 0; a < cell->dimension; ++a) {
        xi[a] = next_random(seed);
        sum += xi[a];
    }
    for (int a = 0; cell->simplex && sum > 1 && a < cell->dimension; ++a)
        xi[a] /= sum; /* on the facet opposite vertex 0 */
    if (i % 3 == 0)
        xi[i % cell->dimension] = cell->simplex || i % 2 ? 0 : 1;
}

typedef struct places {
    double x[POINTS * 3], xi[POINTS * 3];
    int64_t cells[POINTS];
} places;

static void locate(weft_device *device, const weft_mesh *mesh, places *p) {
    uint32_t seed = 5;
    weft_cell_map map;
    const int d = mesh->dimension;
    assert_int_equal(weft_cell_map_make(mesh, &map, NULL), WEFT_OK);
    for (int i = 0; i < POINTS; ++i) {
        double xi[3];
        choose(weft_mesh_cell(mesh), &seed, i, xi);
        map_point(&map, (int64_t)(next_random(&seed) * (double)mesh->n_cells), xi, p->x + i * d);
    }
    assert_int_equal(weft_mesh_locate_cells(device, mesh, p->x, POINTS, p->cells, p->xi, NULL),
                     WEFT_OK);
    for (int i = 0; i < POINTS; ++i) {
        double x[3];
        assert_true(p->cells[i] >= 0);
        map_point(&map, p->cells[i], p->xi + i * d, x);
        for (int a = 0; a < d; ++a)
            assert_double_near(x[a], p->x[i * d + a], 0, TOLERANCE);
    }
    weft_cell_map_clear(&map);
}

static double power(double x, int n) {
    return n == 0 ? 1 : x * power(x, n - 1);
}

/* A polynomial of total degree q. */
static double polynomial(int d, int q, const double *x) {
    double sum = 1;
    for (int k = 0; k <= q; ++k)
        sum += power(x[0], k) * power(d > 1 ? x[1] - 0.5 : 1, q - k) + (d > 2 ? power(x[2], k) : 0);
    return sum;
}

/* q: the greatest degree of polynomials that the space has. */
static void check_values(weft_device *device, const weft_mesh *mesh, const places *p,
                         weft_element_kind kind, int q) {
    weft_space *space = NULL;
    const int d = mesh->dimension;
    const weft_cell_points at = {POINTS, p->cells, p->xi};
    assert_int_equal(weft_space_make(device, mesh, kind, 2, &space, NULL), WEFT_OK);
    const int64_t n = weft_space_nodes(space);
    double *u = malloc((size_t)n * 2 * sizeof *u), out[POINTS * 3] = {0};
    assert_non_null(u);
    for (int64_t i = 0; i < n; ++i) {
        u[2 * i] = polynomial(d, q, weft_space_points(space) + i * d);
        u[2 * i + 1] = 3 - u[2 * i];
    }
    for (int i = 0; i < POINTS; ++i)
        out[3 * i + 2] = 7; /* what is there before */
    assert_int_equal(weft_space_evaluate_at(space, u, 2, &at, 3, out + 1, NULL), WEFT_OK);
    for (int i = 0; i < POINTS; ++i) {
        const double wanted = polynomial(d, q, p->x + i * d);
        assert_double_near(out[3 * i], 0, 0, 0);
        assert_double_near(out[3 * i + 1], wanted, TOLERANCE, TOLERANCE);
        assert_double_near(out[3 * i + 2], 7 + 3 - wanted, TOLERANCE, TOLERANCE);
    }
    free(u);
    weft_space_free(&space);
}

static void test_points(void **state) {
    (void)state;
    static places one, several;
    weft_device *devices[2] = {NULL};
    assert_int_equal(weft_device_open("host:1", NULL, &devices[0], NULL), WEFT_OK);
    assert_int_equal(weft_device_open("host:3", NULL, &devices[1], NULL), WEFT_OK);
    for (int m = 0; m < N_MESHES; ++m)
        for (int degree = 1; degree <= 2; ++degree) {
            weft_mesh *mesh = curved_mesh(devices[0], names[m], degree);
            const int d = mesh->dimension;
            locate(devices[0], mesh, &one);
            locate(devices[1], mesh, &several);
            assert_memory_equal(one.cells, several.cells, sizeof one.cells);
            assert_memory_equal(one.xi, several.xi, (size_t)(POINTS * d) * sizeof *one.xi);
            for (int p = 1; p <= 4; ++p) {
                check_values(devices[0], mesh, &one, (weft_element_kind){WEFT_LAGRANGE, p},
                             p / degree);
                check_values(devices[0], mesh, &one, (weft_element_kind){WEFT_DISCONTINUOUS, p},
                             p / degree);
            }
            weft_mesh_free(&mesh);
        }
    for (int k = 0; k < 2; ++k)
        weft_device_free(&devices[k]);
}

static void test_outside(void **state) {
    (void)state;
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    for (int m = 0; m < N_MESHES; ++m)
        for (int degree = 1; degree <= 2; ++degree) {
            weft_mesh *mesh = curved_mesh(device, names[m], degree);
            /* outside, NaN, and a vertex; the map leaves the origin where it is */
            double x[15] = {0}, xi[15];
            int64_t cells[5] = {0};
            const int d = mesh->dimension;
            for (int a = 0; a < d; ++a) {
                x[a] = -1e-3;
                x[d + a] = 5;
                x[2 * d + a] = NAN;
                x[3 * d + a] = INFINITY;
            }
            assert_int_equal(weft_mesh_locate_cells(device, mesh, x, 5, cells, xi, NULL), WEFT_OK);
            for (int i = 0; i < 4; ++i)
                assert_int_equal(cells[i], -1);
            assert_true(cells[4] >= 0);
            weft_mesh_free(&mesh);
        }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points),
                                       cmocka_unit_test(test_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
