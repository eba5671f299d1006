/* labels: quick */
/* Result files of any degree and cell type. Meshes that were written come back; with arguments MESH
 * FAMILY DEGREE FILE, this program writes a polynomial of the degree for test_vtk_degrees.sh, which
 * reads it with VTK. */
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_mesh *read_mesh(const char *name) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    if (weft_mesh_read(name, 0, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

/* (0.3 + x - y/2 + z/4)^degree, and the coordinates. */
static void set_values(const weft_space *space, double *u, double *place) {
    const int d = weft_space_mesh(space)->dimension;
    static const double slope[3] = {1, -0.5, 0.25};
    for (int64_t i = 0; i < weft_space_nodes(space); ++i) {
        double base = 0.3;
        for (int axis = 0; axis < 3; ++axis) {
            const double x = axis < d ? weft_space_points(space)[i * d + axis] : 0;
            base += slope[axis] * x;
            place[3 * i + axis] = x;
        }
        u[i] = pow(base, weft_space_element(space)->degree);
    }
}

static weft_status write_polynomial(const char *mesh_name, const char *family, int degree,
                                    const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL;
    double *u = NULL, *place = NULL;
    const weft_element_kind kind = {strcmp(family, "P") == 0 ? WEFT_LAGRANGE : WEFT_DISCONTINUOUS,
                                    degree};
    TRY(weft_device_open("host:2", NULL, &device, error));
    TRY(weft_mesh_read(mesh_name, 0, NULL, &mesh, error));
    TRY(weft_space_make(device, mesh, kind, 1, &space, error));
    u = malloc((size_t)weft_space_nodes(space) * sizeof *u);
    place = malloc((size_t)weft_space_nodes(space) * 3 * sizeof *place);
    assert_true(u && place);
    set_values(space, u, place);
    const weft_field fields[] = {{.name = "u", .n_components = 1, .values = u},
                                 {.name = "place", .n_components = 3, .values = place}};
    TRY(weft_space_write(path, space, fields, 2, error));
done:
    free(u);
    free(place);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_device_free(&device);
    return status;
}

/* A mesh with its groups, written with VTK's order of vertices and read again. */
static void test_meshes_return(void **state) {
    (void)state;
    static const char *const names[] = {"interval:7", "quads:5", "hexes:3", "square:4", "cube:2"};
    char *folder = test_folder_make(), *path = test_path(folder, "mesh.vtkhdf");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        weft_mesh *mesh = read_mesh(names[i]), *again = NULL;
        weft_error error = {0};
        const size_t v = (size_t)weft_mesh_cell_vertices(mesh);
        const size_t w = (size_t)weft_mesh_facet_vertices(mesh), d = (size_t)mesh->dimension;
        assert_int_equal(weft_result_write(path, mesh, NULL, 0, &error), WEFT_OK);
        if (weft_mesh_read(path, 0, NULL, &again, &error) != WEFT_OK)
            fail_msg("%s: %s", names[i], error.message);
        assert_int_equal(weft_mesh_cell(again)->type, weft_mesh_cell(mesh)->type);
        assert_int_equal(again->n_nodes, mesh->n_nodes);
        assert_int_equal(again->n_cells, mesh->n_cells);
        assert_int_equal(again->n_flipped_cells, 0);
        assert_memory_equal(again->x, mesh->x, (size_t)mesh->n_nodes * d * sizeof *mesh->x);
        assert_memory_equal(again->cells, mesh->cells,
                            (size_t)mesh->n_cells * v * sizeof *mesh->cells);
        assert_int_equal(again->n_groups, mesh->n_groups);
        for (int g = 0; g < mesh->n_groups; ++g) {
            assert_string_equal(again->groups[g].name, mesh->groups[g].name);
            assert_int_equal(again->groups[g].n_facets, mesh->groups[g].n_facets);
            assert_memory_equal(
                again->facets + (size_t)again->group_facets[again->groups[g].first_facet] * w,
                mesh->facets + (size_t)mesh->group_facets[mesh->groups[g].first_facet] * w,
                w * sizeof *mesh->facets);
        }
        weft_mesh_free(&mesh);
        weft_mesh_free(&again);
    }
    free(path);
    test_folder_remove(&folder);
}

/* A bubble is shown by the Lagrange element of its degree: 27 x y z of a cell is 1 at its centre, the only node of the
 * ten where it is not 0. */
static void test_bubbles(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_mesh *mesh = read_mesh("square:2");
    weft_space *space = NULL;
    weft_space_output *output = NULL;
    double scratch[100], *u = NULL;
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(
        weft_space_make(device, mesh, (weft_element_kind){WEFT_BUBBLE, 3}, 1, &space, NULL),
        WEFT_OK);
    assert_int_equal(weft_space_output_make(space, &output, NULL), WEFT_OK);
    const weft_result_nodes *nodes = weft_space_output_nodes(output);
    assert_int_equal(nodes->n, 49);
    u = malloc((size_t)mesh->n_cells * sizeof *u);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        u[c] = (double)(c + 1);
    assert_ptr_equal(weft_space_output_values(output, 1, u, scratch), scratch);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int i = 0; i < 10; ++i) /* the last one is inside the cell */
            assert_double_near(scratch[nodes->cells[10 * c + i]], i == 9 ? u[c] : 0, 0, 1e-12);
    free(u);
    weft_space_output_free(&output);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_device_free(&device);
}

static void test_refused(void **state) {
    (void)state;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    char *folder = test_folder_make(), *path = test_path(folder, "u.vtkhdf");
    assert_int_equal(write_polynomial("quads:2", "DG", 0, path, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.hint, "write constants as fields on cells, with weft_result_write");
    assert_int_equal(write_polynomial("quads:2", "P", 3, path, &error), WEFT_OK);
    assert_int_equal(weft_mesh_read(path, 0, NULL, &mesh, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "it has 4 cells of another type (VTK type 70)"));
    free(path);
    test_folder_remove(&folder);
}

int main(int n, char **arguments) {
    if (n == 5) {
        weft_error error = {0};
        const weft_status status =
            write_polynomial(arguments[1], arguments[2], atoi(arguments[3]), arguments[4], &error);
        if (status != WEFT_OK)
            fprintf(stderr, "%s\n", error.message);
        return status != WEFT_OK;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes_return),
        cmocka_unit_test(test_bubbles),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
