/* labels: quick */
/* The built-in meshes: counts, volumes, boundary, groups, and names that are none. Sums of a few
 * thousand terms of size 1: 1e-12 leaves room for their rounding. */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

/* A square and a cube can be shrunk to a point: vertices - edges + faces - cells = 1. */
static void check_euler(const weft_mesh *mesh) {
    size_t n_facets;
    int *counts;
    int32_t(*facets)[3] = distinct_facets(mesh, &n_facets, &counts);
    int64_t n_edges = (int64_t)count_edges(mesh), n_faces = (int64_t)n_facets;
    if (mesh->dimension == 2)
        assert_int_equal(mesh->n_nodes - n_edges + mesh->n_cells, 1);
    else
        assert_int_equal(mesh->n_nodes - n_edges + n_faces - mesh->n_cells, 1);
    free(facets);
    free(counts);
}

static void check_cells(const weft_mesh *mesh, double volume) {
    int d = mesh->dimension;
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        assert_double_near(weft_cell_volume(d, mesh->x, mesh->cells + c * (d + 1)), volume, 1e-12,
                           0);
}

/* Group g lies on side g % 2 of axis g / 2, looks outward and has length or area 1. */
static void check_sides(const weft_mesh *mesh, const char *const *names) {
    int d = mesh->dimension;
    assert_int_equal(mesh->n_groups, 2 * d);
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        double sum = 0, sign = g % 2 ? 1 : -1;
        assert_string_equal(group->name, names[g]);
        assert_int_equal(group->dimension, d - 1);
        for (int64_t i = 0; i < group->n_facets; ++i) {
            const int32_t *nodes = mesh->facets + d * mesh->group_facets[group->first_facet + i];
            double normal[3];
            facet_normal(mesh, nodes, normal);
            sum += sign * normal[g / 2];
            for (int k = 0; k < d; ++k)
                assert_true(mesh->x[d * nodes[k] + g / 2] == (g % 2 ? 1 : 0));
        }
        assert_double_near(sum, 1, 1e-12, 0);
    }
}

static void test_square(void **state) {
    static const char *const names[] = {"left", "right", "bottom", "top"};
    (void)state;
    for (int64_t n = 1; n <= 9; ++n) {
        weft_mesh *mesh = make_mesh(2, n);
        assert_int_equal(mesh->n_nodes, (n + 1) * (n + 1));
        assert_int_equal(mesh->n_cells, 2 * n * n);
        assert_int_equal(mesh->n_facets, 4 * n);
        assert_int_equal(mesh->n_boundary_facets, 4 * n);
        check_cells(mesh, 0.5 / (double)(n * n));
        check_euler(mesh);
        check_boundary(mesh);
        check_sides(mesh, names);
        weft_mesh_free(&mesh);
        assert_null(mesh);
    }
}

static void test_cube(void **state) {
    static const char *const names[] = {"left", "right", "front", "back", "bottom", "top"};
    (void)state;
    for (int64_t n = 1; n <= 6; ++n) {
        weft_mesh *mesh = make_mesh(3, n);
        assert_int_equal(mesh->n_nodes, (n + 1) * (n + 1) * (n + 1));
        assert_int_equal(mesh->n_cells, 6 * n * n * n);
        assert_int_equal(mesh->n_facets, 12 * n * n);
        assert_int_equal(mesh->n_boundary_facets, 12 * n * n);
        check_cells(mesh, 1 / (6 * (double)(n * n * n)));
        check_euler(mesh);
        check_boundary(mesh);
        check_sides(mesh, names);
        weft_mesh_free(&mesh);
    }
}

static void test_read_by_name(void **state) {
    weft_mesh *mesh = NULL;
    (void)state;
    assert_int_equal(weft_mesh_read("square:3", 0, NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_cells, 18);
    assert_string_equal(mesh->source, "square:3");
    weft_mesh_free(&mesh);
    assert_int_equal(weft_mesh_read("cube:2", 0, NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_cells, 48);
    assert_string_equal(mesh->source, "cube:2");
    weft_mesh_free(&mesh);
}

#define FORMATS                                                                                    \
    "hint: give FILE.geo, .msh, .vtkhdf, .unv, .bdf, .nas, .vtk or .mesh, or square:N, cube:N, "   \
    "interval:N, quads:N or hexes:N"

/* Layers made by any number of threads are those of one. */
static void test_threads(void **state) {
    static const char *const names[] = {"square:37", "cube:7"};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        weft_mesh *one = NULL, *mesh = NULL;
        weft_mesh_options options = {.size = sizeof options};
        assert_int_equal(weft_device_open("host:3", NULL, &options.device, NULL), WEFT_OK);
        assert_int_equal(weft_mesh_read(names[i], 0, NULL, &one, NULL), WEFT_OK);
        assert_int_equal(weft_mesh_read_with(names[i], &options, NULL, &mesh, NULL), WEFT_OK);
        const size_t d = (size_t)one->dimension;
        assert_int_equal(one->n_nodes, mesh->n_nodes);
        assert_int_equal(one->n_cells, mesh->n_cells);
        assert_int_equal(one->n_facets, mesh->n_facets);
        assert_memory_equal(one->x, mesh->x, (size_t)one->n_nodes * d * sizeof *one->x);
        assert_memory_equal(one->cells, mesh->cells,
                            (size_t)one->n_cells * (d + 1) * sizeof *one->cells);
        assert_memory_equal(one->facets, mesh->facets,
                            (size_t)one->n_facets * d * sizeof *one->facets);
        weft_mesh_free(&one);
        weft_mesh_free(&mesh);
        weft_device_free(&options.device);
    }
}

static void test_refused(void **state) {
    static const struct {
        const char *name, *text;
    } wrong[] = {
        {"square:0", "error: square:0: at least 1 cell a side is needed\n"
                     "hint: N of square:N (2 N^2 triangles) is from 1 to 46339"},
        {"square:46340", "error: square:46340 has 2^31 nodes or more\n"
                         "hint: N of square:N (2 N^2 triangles) is from 1 to 46339"},
        {"cube:1290", "error: cube:1290 has 2^31 nodes or more\n"
                      "hint: N of cube:N (6 N^3 tetrahedra) is from 1 to 1289"},
        {"square:abc", "error: `square:abc`: `abc` is not a number of cells per side\n"
                       "hint: write a whole number from 1 on, such as square:32 or cube:16"},
        {"square:-3", "error: `square:-3`: `-3` is not a number of cells per side\n"
                      "hint: write a whole number from 1 on, such as square:32 or cube:16"},
        {"cube:", "error: `cube:`: `` is not a number of cells per side\n"
                  "hint: write a whole number from 1 on, such as square:32 or cube:16"},
        {"cube:99999999999999999999",
         "error: `cube:99999999999999999999`: `99999999999999999999` is not a number of cells per "
         "side\n"
         "hint: write a whole number from 1 on, such as square:32 or cube:16"},
        {"mesh.vtu", "error: `mesh.vtu` is not a mesh that Weft reads\n" FORMATS},
        {"mesh.inp", "error: `mesh.inp` is not a mesh that Weft reads\n"
                     "hint: Gmsh writes this format and does not read it: convert the file to "
                     ".msh, .vtk or .bdf, as with meshio"},
        {"", "error: `` is not a mesh that Weft reads\n" FORMATS}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        weft_mesh *mesh = NULL;
        assert_error(weft_mesh_read(wrong[i].name, 0, NULL, &mesh, error), WEFT_ERROR_USAGE,
                     wrong[i].text);
        assert_null(mesh);
    }
    assert_int_equal(weft_mesh_make_square(INT64_MAX, &(weft_mesh *){NULL}, NULL),
                     WEFT_ERROR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_square), cmocka_unit_test(test_cube),
                                       cmocka_unit_test(test_read_by_name),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
