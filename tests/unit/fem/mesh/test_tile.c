/* labels: quick */
/* Repeated meshes: counts, volume, Euler's number, conformity, groups, and meshes that do not fit
 * beside themselves. Sums of some thousand terms of size 1: 1e-12 leaves room for their rounding.
 */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>
#include <unistd.h>

static weft_mesh *tile_mesh(weft_device *device, const weft_mesh *tile, int64_t a, int64_t b,
                            int64_t c) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const int64_t counts[3] = {a, b, c};
    if (weft_mesh_tile(device, tile, counts, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

static double volume_of(const weft_mesh *mesh) {
    double volume = 0;
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const double part =
            weft_cell_volume(mesh->dimension, mesh->x, mesh->cells + c * (mesh->dimension + 1));
        assert_true(part > 0);
        volume += part;
    }
    return volume;
}

/* It can be shrunk to a point: vertices - edges + faces - cells = 1. Every facet has one cell or
 * two (check_boundary), and those of one are the boundary of the box. */
static void check_topology(const weft_mesh *mesh) {
    size_t n_facets;
    int *counts;
    int32_t(*facets)[3] = distinct_facets(mesh, &n_facets, &counts);
    const int64_t n_edges = (int64_t)count_edges(mesh);
    if (mesh->dimension == 2)
        assert_int_equal(mesh->n_nodes - n_edges + mesh->n_cells, 1);
    else
        assert_int_equal(mesh->n_nodes - n_edges + (int64_t)n_facets - mesh->n_cells, 1);
    free(facets);
    free(counts);
    check_boundary(mesh);
}

static int compare_points(const void *a, const void *b) {
    return memcmp(a, b, 3 * sizeof(int64_t));
}

/* No two nodes within 1e-6 of each other, by rounding to a grid twice as coarse as that, shifted.
 */
static void check_distinct_nodes(const weft_mesh *mesh) {
    const size_t n = (size_t)mesh->n_nodes;
    int64_t(*points)[3] = calloc(n + 1, sizeof *points);
    assert_non_null(points);
    for (size_t i = 0; i < n; ++i)
        for (int k = 0; k < mesh->dimension; ++k)
            points[i][k] = llround(mesh->x[i * (size_t)mesh->dimension + (size_t)k] * 1e6);
    qsort(points, n, sizeof *points, compare_points);
    for (size_t i = 1; i < n; ++i)
        assert_true(compare_points(points[i - 1], points[i]) != 0);
    free(points);
}

/* Each group of the built-in meshes lies on its side of the whole box and covers it. */
static void check_sides(const weft_mesh *mesh, const int64_t *counts) {
    const int d = mesh->dimension;
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        const int axis = g / 2;
        double sum = 0, wanted = 1;
        for (int k = 0; k < d; ++k)
            wanted *= k == axis ? 1 : (double)counts[k];
        for (int64_t i = 0; i < group->n_facets; ++i) {
            const int32_t *nodes = mesh->facets + d * mesh->group_facets[group->first_facet + i];
            double normal[3];
            facet_normal(mesh, nodes, normal);
            sum += g % 2 ? normal[axis] : -normal[axis];
            for (int k = 0; k < d; ++k)
                assert_double_near(mesh->x[d * nodes[k] + axis], g % 2 ? (double)counts[axis] : 0.0,
                                   0, 1e-12);
        }
        assert_double_near(sum, wanted, 1e-12, 0);
    }
}

static void test_structured(void **state) {
    static const int64_t all[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 2},
                                     {2, 2, 1}, {3, 2, 2}, {2, 3, 4}};
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (int64_t n = 1; n <= 3; ++n)
            for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
                const int64_t *counts = all[i], last = d == 3 ? counts[2] : 1;
                weft_mesh *tile = make_mesh(d, n);
                weft_mesh *mesh = tile_mesh(NULL, tile, counts[0], counts[1], counts[2]);
                const int64_t n_tiles = counts[0] * counts[1] * last;
                assert_int_equal(mesh->n_nodes, (n * counts[0] + 1) * (n * counts[1] + 1) *
                                                    (d == 3 ? n * last + 1 : 1));
                assert_int_equal(mesh->n_cells, n_tiles * tile->n_cells);
                assert_double_near(volume_of(mesh), (double)n_tiles, 1e-12, 0);
                check_topology(mesh);
                check_distinct_nodes(mesh);
                check_sides(mesh, counts);
                weft_mesh_free(&tile);
                weft_mesh_free(&mesh);
            }
}

/* n_interior facets inside of the tile that a group names stay, once a copy. */
static void test_groups_inside(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 2), *tile = NULL;
    weft_mesh_data data = take_apart(square);
    free(data.group_facet_nodes);
    free(data.groups);
    data.n_groups = 1;
    data.n_group_facets = 2;
    data.groups = weft_array_make(1, sizeof *data.groups);
    data.group_facet_nodes = weft_array_make(4, sizeof *data.group_facet_nodes);
    assert_true(data.groups && data.group_facet_nodes);
    snprintf(data.groups[0].name, sizeof data.groups[0].name, "wall");
    data.groups[0].dimension = 1;
    data.groups[0].n_facets = 2;
    /* nodes 0 1 2 / 3 4 5 / 6 7 8: from the middle of the left side to the middle, and the left
     * side's lower half */
    const int32_t nodes[4] = {3, 4, 0, 3};
    memcpy(data.group_facet_nodes, nodes, sizeof nodes);
    assert_int_equal(weft_mesh_make(&data, "wall", NULL, &tile, NULL), WEFT_OK);
    assert_int_equal(tile->n_facets, 9);
    weft_mesh *mesh = tile_mesh(NULL, tile, 3, 2, 1);
    assert_string_equal(mesh->groups[0].name, "wall");
    assert_int_equal(mesh->n_boundary_facets, 2 * (6 + 4));
    assert_int_equal(mesh->n_facets, 2 * (6 + 4) + 6);
    assert_int_equal(mesh->groups[0].n_facets, 6 + 2); /* on the left side, the left copies alone */
    double length = 0;
    for (int64_t i = 0; i < mesh->groups[0].n_facets; ++i) {
        const int32_t *ends = mesh->facets + 2 * mesh->group_facets[i];
        length += fabs(mesh->x[2 * ends[1]] - mesh->x[2 * ends[0]]) +
                  fabs(mesh->x[2 * ends[1] + 1] - mesh->x[2 * ends[0] + 1]);
    }
    assert_double_near(length, 0.5 * 8, 1e-12, 0);
    assert_string_equal(mesh->source, "wall, repeated 3 x 2");
    weft_mesh_free(&mesh);
    weft_mesh_free(&tile);
    weft_mesh_free(&square);
}

/* Any number of threads makes the same mesh. */
static void test_threads(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_mesh *tile = make_mesh(3, 2);
    assert_int_equal(weft_device_open("host:4", NULL, &device, NULL), WEFT_OK);
    weft_mesh *one = tile_mesh(NULL, tile, 5, 3, 2), *four = tile_mesh(device, tile, 5, 3, 2);
    assert_int_equal(one->n_nodes, four->n_nodes);
    assert_memory_equal(one->x, four->x, (size_t)one->n_nodes * 24);
    assert_memory_equal(one->cells, four->cells, (size_t)one->n_cells * 16);
    assert_memory_equal(one->facets, four->facets, (size_t)one->n_facets * 12);
    weft_mesh_free(&one);
    weft_mesh_free(&four);
    weft_mesh_free(&tile);
    weft_device_free(&device);
}

/* Unstructured, as Gmsh makes them: sides of several hundred nodes. */
static void test_gmsh(void **state) {
    static const struct {
        const char *path;
        double size;
        int64_t counts[3];
    } tiles[] = {{WEFT_SOURCE_DIR "/meshes/tile_square.geo", 0.05, {3, 2, 1}},
                 {WEFT_SOURCE_DIR "/meshes/tile_cube.geo", 0.2, {2, 3, 2}}};
    (void)state;
    const char *program = getenv("WEFT_GMSH");
    if (program ? access(program, X_OK) != 0 : access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not built (libgmsh-dev is missing)");
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i) {
        weft_error error = {0};
        weft_mesh *tile = NULL;
        const int64_t *counts = tiles[i].counts, n_tiles = counts[0] * counts[1] * counts[2];
        if (weft_mesh_read(tiles[i].path, tiles[i].size, NULL, &tile, &error) != WEFT_OK)
            fail_msg("%s", error.message);
        assert_true(tile->n_nodes > 100);
        weft_mesh *mesh = tile_mesh(NULL, tile, counts[0], counts[1], counts[2]);
        assert_int_equal(mesh->n_cells, n_tiles * tile->n_cells);
        assert_double_near(volume_of(mesh), (double)n_tiles, 1e-12, 0);
        check_topology(mesh);
        check_distinct_nodes(mesh);
        /* each of the groups covers its side of the box */
        for (int g = 0; g < mesh->n_groups; ++g)
            if (mesh->groups[g].dimension == mesh->dimension - 1)
                assert_true(mesh->groups[g].n_facets > tile->groups[g].n_facets);
        weft_mesh_free(&tile);
        weft_mesh_free(&mesh);
    }
}

/* ---- what does not fit ----------------------------------------------------------------------- */

#define HINT                                                                                       \
    "\nhint: mesh opposite sides alike: in a .geo file Periodic Curve {2} = {4} Translate {1, 0, " \
    "0}; or Periodic Surface, as meshes/tile_cube.geo does"

static void test_nodes_refused(void **state) {
    (void)state;
    weft_mesh *tile = make_mesh(2, 4), *mesh = NULL;
    const int64_t both[3] = {2, 2, 1}, along[3] = {2, 1, 1}, across[3] = {1, 2, 1};
    tile->x[2 * 9 + 1] += 1e-6; /* node (4, 1) */
    assert_error(weft_mesh_tile(NULL, tile, both, &mesh, error), WEFT_ERROR_INPUT,
                 "error: square:4 cannot be repeated along x: the node at (1, 0.250001) has "
                 "no partner on the opposite side" HINT);
    assert_null(mesh);
    assert_int_equal(weft_mesh_tile(NULL, tile, across, &mesh, NULL), WEFT_OK); /* nor need it */
    weft_mesh_free(&mesh);
    tile->x[2 * 9 + 1] -= 1e-6 * (1 - 1e-4); /* within the tolerance */
    assert_int_equal(weft_mesh_tile(NULL, tile, along, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_nodes, 9 * 5);
    weft_mesh_free(&mesh);
    weft_mesh_free(&tile);
}

/* A node too many on the low side. */
static void test_low_side_refused(void **state) {
    static const double x[] = {0, 0, 1, 0, 1, 1, 0, 1, 0, 0.5};
    static const int32_t cells[] = {0, 1, 4, 1, 2, 4, 2, 3, 4};
    (void)state;
    weft_mesh *tile = NULL, *mesh = NULL;
    const int64_t counts[3] = {2, 1, 1};
    weft_mesh_data data = {.dimension = 2,
                           .n_nodes = 5,
                           .n_cells = 3,
                           .x = copy_array(x, sizeof x),
                           .cells = copy_array(cells, sizeof cells)};
    assert_int_equal(weft_mesh_make(&data, "fan", NULL, &tile, NULL), WEFT_OK);
    assert_error(weft_mesh_tile(NULL, tile, counts, &mesh, error), WEFT_ERROR_INPUT,
                 "error: fan cannot be repeated along x: the node at (0, 0.5) has no "
                 "partner on the opposite side" HINT);
    weft_mesh_free(&tile);
}

/* A cube of five tetrahedra: the nodes of its sides match, their diagonals cross. */
static void test_facets_refused(void **state) {
    static const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0,
                               0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
    static const int32_t cells[] = {0, 1, 2, 4, 3, 1, 2, 7, 5, 1, 4, 7, 6, 2, 4, 7, 1, 2, 4, 7};
    (void)state;
    weft_mesh *tile = NULL, *mesh = NULL;
    weft_error error = {0};
    weft_mesh_data data = {.dimension = 3,
                           .n_nodes = 8,
                           .n_cells = 5,
                           .x = copy_array(x, sizeof x),
                           .cells = copy_array(cells, sizeof cells)};
    assert_int_equal(weft_mesh_make(&data, "five", NULL, &tile, NULL), WEFT_OK);
    assert_double_near(volume_of(tile), 1, 1e-12, 0);
    for (int axis = 0; axis < 3; ++axis) {
        int64_t counts[3] = {1, 1, 1};
        counts[axis] = 2;
        assert_int_equal(weft_mesh_tile(NULL, tile, counts, &mesh, &error), WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.message, "the facet at ("));
        assert_null(mesh);
    }
    weft_mesh_free(&tile);
}

static void test_counts_refused(void **state) {
    (void)state;
    weft_mesh *tile = make_mesh(2, 2), *mesh = NULL;
    const int64_t none[3] = {2, 0, 1}, many[3] = {1 << 20, 1 << 20, 1},
                  huge[3] = {INT64_MAX, INT64_MAX, 1};
    assert_error(weft_mesh_tile(NULL, tile, none, &mesh, error), WEFT_ERROR_USAGE,
                 "error: a mesh cannot be repeated 0 times along y");
    assert_error(weft_mesh_tile(NULL, tile, many, &mesh, error), WEFT_ERROR_UNSUPPORTED,
                 "error: square:2 repeated has 2^31 cells or more, which are not supported");
    assert_int_equal(weft_mesh_tile(NULL, tile, huge, &mesh, NULL), WEFT_ERROR_UNSUPPORTED);
    weft_mesh_free(&tile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structured),     cmocka_unit_test(test_groups_inside),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_gmsh),
        cmocka_unit_test(test_nodes_refused),  cmocka_unit_test(test_low_side_refused),
        cmocka_unit_test(test_facets_refused), cmocka_unit_test(test_counts_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
