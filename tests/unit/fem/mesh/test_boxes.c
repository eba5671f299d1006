/* labels: quick */
/* Meshes of intervals, quadrilaterals and hexahedra: counts, groups and the orientation of facets of
 * the built-in ones; cells of any orientation; and what is refused, with its message. */
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"interval:4", "quads:3", "hexes:2"};

static weft_mesh *read_mesh(const char *name) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    if (weft_mesh_read(name, 0, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

static double coordinate(const weft_mesh *mesh, int32_t node, int axis) {
    return mesh->x[(int64_t)node * mesh->dimension + axis];
}

/* The normal of a facet of the unit square or cube: the right of an edge, the product of the axes
 * of a quadrilateral. */
static void facet_normal(const weft_mesh *mesh, const int32_t *nodes, double out[3]) {
    double a[3] = {0}, b[3] = {0};
    for (int axis = 0; axis < mesh->dimension; ++axis) {
        a[axis] = coordinate(mesh, nodes[1], axis) - coordinate(mesh, nodes[0], axis);
        if (mesh->dimension == 3)
            b[axis] = coordinate(mesh, nodes[2], axis) - coordinate(mesh, nodes[0], axis);
    }
    if (mesh->dimension == 2) {
        out[0] = a[1];
        out[1] = -a[0];
        return;
    }
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Facets of group `side` lie on that side, and their normals leave the square or cube. */
static void check_group(const weft_mesh *mesh, int side) {
    const weft_group *group = &mesh->groups[side];
    const int axis = side / 2, w = weft_mesh_facet_vertices(mesh);
    for (int64_t i = 0; i < group->n_facets; ++i) {
        const int32_t *nodes = mesh->facets + mesh->group_facets[group->first_facet + i] * w;
        double normal[3] = {0};
        for (int k = 0; k < w; ++k)
            assert_true(coordinate(mesh, nodes[k], axis) == side % 2);
        if (mesh->dimension == 1)
            continue;
        facet_normal(mesh, nodes, normal);
        assert_true(side % 2 ? normal[axis] > 0 : normal[axis] < 0);
    }
}

static void test_built_in(void **state) {
    (void)state;
    static const char *const groups[3] = {"right", "top", "back"};
    for (int d = 1; d <= 3; ++d) {
        weft_mesh *mesh = read_mesh(names[d - 1]);
        const int n = atoi(strchr(names[d - 1], ':') + 1);
        const int64_t cells = d == 1 ? n : d == 2 ? n * n : n * n * n, side = cells / n;
        int group = -2;
        assert_int_equal(mesh->dimension, d);
        assert_int_equal(weft_mesh_cell(mesh)->dimension, d);
        assert_int_equal(weft_mesh_cell_vertices(mesh), 1 << d);
        assert_int_equal(mesh->n_cells, cells);
        assert_int_equal(mesh->n_boundary_facets, 2 * d * side);
        assert_int_equal(mesh->n_facets, 2 * d * side);
        assert_int_equal(mesh->n_flipped_cells + mesh->n_ignored_facets, 0);
        assert_int_equal(weft_mesh_group(mesh, groups[d - 1], &group, NULL), WEFT_OK);
        for (int g = 0; g < 2 * d; ++g) {
            assert_int_equal(mesh->groups[g].n_facets, side);
            check_group(mesh, g);
        }
        weft_mesh_free(&mesh);
    }
}

/* Renumbering keeps the cells: the sum of the volumes at the first vertices, and the groups. */
static void test_ordered(void **state) {
    (void)state;
    weft_mesh *mesh = read_mesh("hexes:9");
    const double before = weft_mesh_bandwidth(NULL, mesh);
    double volume = 0;
    assert_int_equal(weft_mesh_order(NULL, mesh, WEFT_ORDERING_BISECTION, 64, NULL, NULL, NULL),
                     WEFT_OK);
    assert_true(weft_mesh_bandwidth(NULL, mesh) < 2 * before);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const int32_t *nodes = mesh->cells + c * 8;
        double edges = 1;
        for (int axis = 0; axis < 3; ++axis)
            edges *= coordinate(mesh, nodes[1 << axis], axis) - coordinate(mesh, nodes[0], axis);
        volume += edges;
        for (int axis = 0; axis < 3; ++axis)
            assert_double_near(coordinate(mesh, nodes[7], axis) - coordinate(mesh, nodes[0], axis),
                               1.0 / 9, 0, 1e-14);
    }
    assert_double_near(volume, 1, 1e-12, 0);
    for (int g = 0; g < 6; ++g)
        check_group(mesh, g);
    weft_mesh_free(&mesh);
}

/* ---- given meshes ---------------------------------------------------------------------------- */

static weft_mesh_data two_squares(void) {
    static const double x[] = {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1};
    static const int32_t cells[] = {0, 1, 3, 4, 2, 1, 5, 4}; /* the second one inverted */
    weft_mesh_data data = {.dimension = 2, .cell = WEFT_QUADRILATERAL, .n_nodes = 6, .n_cells = 2};
    data.x = weft_array_make(12, sizeof *data.x);
    data.cells = weft_array_make(12, sizeof *data.cells);
    assert_true(data.x && data.cells);
    memcpy(data.x, x, sizeof x);
    memcpy(data.cells, cells, sizeof cells);
    return data;
}

static void test_reversed(void **state) {
    (void)state;
    weft_mesh_data data = two_squares();
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_mesh_make(&data, "two", NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_flipped_cells, 1);
    assert_int_equal(mesh->cells[4], 1);
    assert_int_equal(mesh->cells[5], 2);
    assert_int_equal(mesh->n_boundary_facets, 6);
    weft_mesh_free(&mesh);
}

static void refused(weft_mesh_data *data, weft_status status, const char *message) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_mesh_make(data, "two", NULL, &mesh, &error), status);
    assert_string_equal(error.message, message);
    assert_null(mesh);
}

static void test_refused(void **state) {
    (void)state;
    weft_mesh_data data = two_squares();
    data.cells[2] = 4; /* round the square instead of by bits */
    data.cells[3] = 3;
    refused(&data, WEFT_ERROR_INPUT,
            "two: the determinant of 1 quadrilateral vanishes or changes its sign (first: cell 1, "
            "nodes 1 2 5 4, near 0 0)");
    data = two_squares();
    data.x[2] = 0; /* node 2 at node 1 */
    refused(&data, WEFT_ERROR_INPUT,
            "two: the determinant of 1 quadrilateral vanishes or changes its sign (first: cell 1, "
            "nodes 1 2 4 5, near 0 0)");
    data = two_squares();
    memcpy(data.cells + 4, data.cells, 4 * sizeof *data.cells);
    refused(&data, WEFT_ERROR_INPUT,
            "two: 1 cell has the nodes of another (first: cell 2, nodes 1 2 4 5, near 0 0; as "
            "cell 1)");
    data = two_squares();
    data.n_cells = 3; /* a third cell at the edge 2, 5: below it is folded over the second */
    data.cells[8] = 1;
    data.cells[9] = 2;
    data.cells[10] = 4;
    data.cells[11] = 5;
    data.x[10] = 2.5;
    data.cells[11] = 5;
    refused(&data, WEFT_ERROR_INPUT,
            "two: 1 cell has the nodes of another (first: cell 3, nodes 2 3 5 6, near 1 0; as "
            "cell 2)");
    data = two_squares();
    data.cells[7] = 6;
    refused(&data, WEFT_ERROR_INPUT,
            "two: 1 cell has nodes that do not exist (first: cell 2, nodes 3 2 6 7; there are 6 "
            "nodes)");
    data = two_squares();
    data.dimension = 3;
    refused(&data, WEFT_ERROR_USAGE, "two: quadrilaterals have dimension 2, not 3");
}

static void test_non_manifold(void **state) {
    (void)state;
    static const double x[] = {0, 1, 2, 3};
    static const int32_t cells[] = {0, 1, 1, 2, 1, 3};
    weft_mesh_data data = {.dimension = 1, .cell = WEFT_INTERVAL, .n_nodes = 4, .n_cells = 3};
    data.x = weft_array_make(4, sizeof *data.x);
    data.cells = weft_array_make(6, sizeof *data.cells);
    memcpy(data.x, x, sizeof x);
    memcpy(data.cells, cells, sizeof cells);
    refused(&data, WEFT_ERROR_INPUT,
            "two: 1 point belongs to three cells or more (first: nodes 2)");
}

static void test_names(void **state) {
    (void)state;
    weft_error error = {0};
    weft_mesh *mesh = NULL, *refined = NULL;
    assert_int_equal(weft_mesh_read("hexes:0", 0, NULL, &mesh, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "hexes:0: at least 1 cell a side is needed");
    assert_string_equal(error.hint, "N of hexes:N (N^3 hexahedra) is from 1 to 1289");
    assert_int_equal(weft_mesh_read("quads:x", 0, NULL, &mesh, &error), WEFT_ERROR_USAGE);
    mesh = read_mesh("quads:2");
    assert_int_equal(weft_mesh_refine(NULL, mesh, 1, NULL, &refined, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "quads:2: refinement takes triangles or tetrahedra, not "
                                       "quadrilaterals");
    assert_int_equal(weft_mesh_tile(NULL, mesh, (const int64_t[3]){2, 2, 1}, &refined, &error),
                     WEFT_ERROR_UNSUPPORTED);
    weft_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in),     cmocka_unit_test(test_ordered),
        cmocka_unit_test(test_reversed),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_non_manifold), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
