/* labels: quick */
/* Each mesh that weft_mesh_make refuses, with its exact message. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

/* The unit square of 2 triangles, or the unit cube of 6 tetrahedra, to be spoilt. */
static weft_mesh_data good_data(int dimension) {
    weft_mesh *mesh = make_mesh(dimension, 1);
    weft_mesh_data data = take_apart(mesh);
    weft_mesh_free(&mesh);
    return data;
}

#define assert_refused(data, status, text)                                                         \
    do {                                                                                           \
        weft_mesh *mesh = NULL;                                                                    \
        assert_error(weft_mesh_make((data), "m.msh", NULL, &mesh, error), (status), (text));       \
        assert_null(mesh);                                                                         \
        assert_null((data)->x);                                                                    \
        assert_null((data)->cells);                                                                \
        assert_null((data)->groups);                                                               \
        assert_null((data)->group_facet_nodes);                                                    \
    } while (0)

static void test_no_cells(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    data.n_cells = 0;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: no triangles and no tetrahedra\n"
                   "hint: mesh a surface or a volume; and where the file has physical groups, one "
                   "must hold it: Physical Surface(\"domain\") = {1}; or "
                   "Physical Volume(\"domain\") = {1};");
}

static void test_not_finite(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    data.x[2 * 1] = NAN;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 node has a coordinate that is not finite (first: node 2 "
                   "at nan 0)\n"
                   "hint: the file is damaged, or the geometry divides by zero: write it again");
    data = good_data(3);
    data.x[3 * 2 + 2] = INFINITY;
    data.x[3 * 5] = -INFINITY;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 2 nodes have a coordinate that is not finite (first: node "
                   "3 at 0 1 inf)\n"
                   "hint: the file is damaged, or the geometry divides by zero: write it again");
}

static void test_numbers(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    data.cells[4] = 4;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 cell has nodes that do not exist (first: cell 2, nodes 1 5 3; "
                   "there are 4 nodes)\n"
                   "hint: the file is damaged or cut short: write it again");
    data = good_data(2);
    data.cells[0] = -1;
    data.cells[5] = INT32_MAX;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 2 cells have nodes that do not exist (first: cell 1, nodes 0 2 "
                   "4; there are 4 nodes)\n"
                   "hint: the file is damaged or cut short: write it again");
    data = good_data(2);
    data.group_facet_nodes[7] = 9;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 facet has nodes that do not exist (first: facet 4, nodes 4 10; "
                   "there are 4 nodes)\n"
                   "hint: the file is damaged or cut short: write it again");
}

static void test_flat_cells(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    data.x[2 * 1] = 0.25; /* nodes 1 2 4 of the first cell onto the diagonal */
    data.x[2 * 1 + 1] = 0.25;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 cell has no area (first: cell 1, nodes 1 2 4, near 0 0)\n"
                   "hint: its points are one, or lie on a line: merge points that coincide in the "
                   "geometry (Coherence; in the .geo file) and mesh again");
    data = good_data(2);
    data.cells[5] = data.cells[4];
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 cell has no area (first: cell 2, nodes 1 4 4, near 0 0)\n"
                   "hint: its points are one, or lie on a line: merge points that coincide in the "
                   "geometry (Coherence; in the .geo file) and mesh again");
    data = good_data(3);
    for (int i = 0; i < 8; ++i)
        data.x[3 * i + 2] = 0.5;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 6 cells have no volume (first: cell 1, nodes 1 2 4 8, near 0 0 "
                   "0.5)\n"
                   "hint: its points are one, or lie on a plane: merge points that coincide in the "
                   "geometry (Coherence; in the .geo file) and mesh again with Mesh.Optimize = 1;");
}

/* Flat is |volume| <= 1e-14 h^d and nothing above it, at any scale. */
static void test_thin_cells_pass(void **state) {
    (void)state;
    for (double scale = 1e-12; scale < 1e13; scale *= 1e6)
        for (int thin = 0; thin < 2; ++thin) {
            weft_mesh *mesh = NULL;
            weft_mesh_data data = good_data(2);
            data.x[2 * 1] = 0.5;
            data.x[2 * 1 + 1] =
                0.5 - (thin ? 0.9e-14 : 1e-13); /* area 1e-13 / 4, 1e-14 h^2 = 2e-14 */
            for (int i = 0; i < 8; ++i)
                data.x[i] *= scale;
            data.n_cells = 1;
            assert_int_equal(weft_mesh_make(&data, "thin", NULL, &mesh, NULL),
                             thin ? WEFT_ERROR_INPUT : WEFT_OK);
            weft_mesh_free(&mesh);
        }
}

/* An array of cells with room for one more. */
static void add_cell(weft_mesh_data *data, const int32_t *nodes) {
    size_t width = (size_t)data->dimension + 1, n = (size_t)data->n_cells;
    int32_t *cells = weft_array_make(n + 1, width * sizeof *cells);
    assert_non_null(cells);
    memcpy(cells, data->cells, n * width * sizeof *cells);
    memcpy(cells + n * width, nodes, width * sizeof *cells);
    free(data->cells);
    data->cells = cells;
    ++data->n_cells;
}

static void test_doubled_cells(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    add_cell(&data, (int32_t[]){3, 2, 0});
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 cell has the nodes of another (first: cell 3, nodes 4 3 1, "
                   "near 1 1; as cell 2)\n"
                   "hint: put each surface into one Physical Surface only (MSH 2 saves a cell "
                   "once for each), and see that no two lie on each other");
    data = good_data(3);
    add_cell(&data, (int32_t[]){3, 0, 1, 7});
    add_cell(&data, (int32_t[]){0, 1, 3, 7});
    add_cell(&data, (int32_t[]){7, 6, 4, 0});
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 3 cells have the nodes of another (first: cell 7, nodes 4 1 2 8, "
                   "near 1 1 0; as cell 1)\n"
                   "hint: put each volume into one Physical Volume only (MSH 2 saves a cell once "
                   "for each), and see that no two lie on each other");
}

static void test_non_manifold_facets(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    add_cell(&data, (int32_t[]){0, 3, 4});
    double *x = weft_array_make(5, 2 * sizeof *x);
    assert_non_null(x);
    memcpy(x, data.x, 8 * sizeof *x);
    x[8] = 2;
    free(data.x);
    data.x = x;
    data.n_nodes = 5;
    assert_refused(&data, WEFT_ERROR_INPUT,
                   "error: m.msh: 1 edge belongs to three cells or more (first: nodes 1 4)\n"
                   "hint: surfaces overlap: an edge lies between two cells or on the boundary");
}

static void test_wrong_calls(void **state) {
    (void)state;
    weft_mesh_data data = good_data(2);
    data.dimension = 1;
    assert_refused(&data, WEFT_ERROR_USAGE, "error: m.msh: dimension 1 is neither 2 nor 3");
    data = good_data(2);
    data.groups[2].n_facets = 100;
    assert_refused(&data, WEFT_ERROR_USAGE,
                   "error: m.msh: group `bottom` reaches past the facets that are there");
    data = good_data(2);
    free(data.x);
    data.x = NULL;
    assert_refused(&data, WEFT_ERROR_USAGE, "error: m.msh: an array of the mesh is missing");
    data = good_data(2);
    data.n_nodes = (int64_t)INT32_MAX + 1;
    assert_refused(&data, WEFT_ERROR_UNSUPPORTED,
                   "error: m.msh: 2147483648 nodes, 2 cells: 2^31 or more are not supported\n"
                   "hint: use a coarser mesh");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_cells),
                                       cmocka_unit_test(test_not_finite),
                                       cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_flat_cells),
                                       cmocka_unit_test(test_thin_cells_pass),
                                       cmocka_unit_test(test_doubled_cells),
                                       cmocka_unit_test(test_non_manifold_facets),
                                       cmocka_unit_test(test_wrong_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
