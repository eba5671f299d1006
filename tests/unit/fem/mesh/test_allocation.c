/* labels: quick */
/* Every public function of meshes and result files, rerun with its n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>

static weft_status use_square(void *user, weft_error *error) {
    weft_mesh *mesh = NULL;
    (void)user;
    weft_status status = weft_mesh_read("square:4", 0, NULL, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_cube(void *user, weft_error *error) {
    weft_mesh *mesh = NULL;
    (void)user;
    weft_status status = weft_mesh_make_cube(2, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static void *copy_or_null(const void *from, size_t bytes, bool *good) {
    void *copy = weft_array_make(bytes, 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    *good &= copy != NULL;
    return copy;
}

/* The cube's own arrays as a user's, with an unused node and a facet inside. */
static weft_status use_make(void *user, weft_error *error) {
    const weft_mesh *from = user;
    weft_mesh *mesh = NULL;
    bool good = true;
    weft_mesh_data data = {.dimension = 3,
                           .n_nodes = from->n_nodes,
                           .n_cells =
                               from->n_cells - 6, /* the last node is in the last cells only */
                           .n_groups = from->n_groups,
                           .n_group_facets = from->n_facets};
    data.x = copy_or_null(from->x, (size_t)from->n_nodes * 24, &good);
    data.cells = copy_or_null(from->cells, (size_t)from->n_cells * 16, &good);
    data.groups = copy_or_null(from->groups, (size_t)from->n_groups * sizeof *from->groups, &good);
    data.group_facet_nodes = copy_or_null(from->facets, (size_t)from->n_facets * 12, &good);
    if (!good) {
        weft_mesh_data_free(&data);
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    }
    memcpy(data.group_facet_nodes, from->cells, 12);
    weft_status status = weft_mesh_make(&data, "made", NULL, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_groups(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *facets = NULL, *nodes = NULL;
    int64_t n;
    int group;
    TRY(weft_mesh_group(user, "left", &group, error));
    TRY(weft_mesh_group_facets(user, group, &facets, &n, error));
    TRY(weft_mesh_group_nodes(user, group, &nodes, &n, error));
done:
    free(facets);
    free(nodes);
    return status;
}

static char path[4096];

static weft_status use_write(void *user, weft_error *error) {
    const weft_mesh *mesh = user;
    const weft_field field = {.name = "x", .n_components = 3, .values = mesh->x};
    weft_status status = WEFT_OK;
    TRY(weft_result_check(path, error));
    TRY(weft_result_write(path, mesh, &field, 1, error));
done:
    return status;
}

static weft_status use_read(void *user, weft_error *error) {
    weft_mesh *mesh = NULL;
    (void)user;
    weft_status status = weft_mesh_read(path, 0, NULL, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_tile(void *user, weft_error *error) {
    static const int64_t counts[3] = {2, 1, 3};
    weft_mesh *mesh = NULL;
    weft_status status = weft_mesh_tile(NULL, user, counts, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_refine(void *user, weft_error *error) {
    weft_mesh *mesh = NULL;
    weft_status status = weft_mesh_refine(NULL, user, 2, NULL, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static void test_all(void **state) {
    (void)state;
    char *folder = test_folder_make();
    snprintf(path, sizeof path, "%s/r.vtkhdf", folder);
    weft_mesh *mesh = make_mesh(3, 3);
    test_every_allocation("square", use_square, NULL);
    test_every_allocation("cube", use_cube, NULL);
    test_every_allocation("make", use_make, mesh);
    test_every_allocation("tile", use_tile, mesh);
    test_every_allocation("refine", use_refine, mesh);
    test_every_allocation("groups", use_groups, mesh);
    test_every_allocation("write", use_write, mesh);
    test_every_allocation("read", use_read, NULL);
    weft_mesh_free(&mesh);
    test_folder_remove(&folder);
}

/* Through weft-gmsh: allocations of ours in this process. */
static void test_gmsh(void **state) {
    (void)state;
    const char *program = getenv("WEFT_GMSH");
    char *text = program ? test_file_read(program, NULL) : NULL;
    if (!text)
        skip_test("weft-gmsh is not built (libgmsh-dev is missing)");
    free(text);
    char *folder = test_folder_make();
    snprintf(path, sizeof path, "%s/s.geo", folder);
    test_text_write(path,
                    "Point(1) = {0, 0, 0, 1}; Point(2) = {1, 0, 0, 1}; Point(3) = {0, 1, 0};\n"
                    "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 1};\n"
                    "Curve Loop(1) = {1, 2, 3}; Plane Surface(1) = {1};\n"
                    "Physical Curve(\"a\") = {1}; Physical Surface(\"b\") = {1};\n");
    test_every_allocation("gmsh", use_read, NULL);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_gmsh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
