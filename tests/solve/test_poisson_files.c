/* labels: quick */
/* Files: what --output writes is a mesh again, with its groups; an old output is replaced; mending
 * is counted. */
#include "poisson_run.h"

#include <stdbool.h>
#include <unistd.h>

static void compare_meshes(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"cells", "nodes", "dimension"};
    for (int i = 0; i < 3; ++i)
        assert_true(json_equal(json_object_get(json_object_get(a, "mesh"), keys[i]),
                               json_object_get(json_object_get(b, "mesh"), keys[i])));
}

/* The same problem on the mesh that was written: groups, coordinates and cells must have come
 * along. */
static void check_round_trip(const char *mesh, const char *probe) {
    char *folder = test_folder_make(), *output = test_path(folder, "u.vtkhdf");
    test_text_write(output, "old");
    json_t *first = POISSON(0, "--mesh", mesh, "--dirichlet", "left=1", "--neumann", "right=2",
                            "--probe", probe, "--tolerance", "1e-12", "--output", output);
    json_t *second = POISSON(0, "--mesh", output, "--dirichlet", "left=1", "--neumann", "right=2",
                             "--probe", probe, "--tolerance", "1e-12", "--output", output);
    compare_meshes(first, second);
    assert_double_near(app_number(first, "energy"), app_number(second, "energy"), 1e-9, 0);
    assert_double_near(app_probe_value(first, 0), app_probe_value(second, 0), 1e-9, 0);
    json_decref(first);
    json_decref(second);
    free(output);
    test_folder_remove(&folder);
}

static void test_output_is_a_mesh(void **state) {
    (void)state;
    check_round_trip("square:7", "0.4,0.3");
    check_round_trip("cube:3", "0.4,0.3,0.6");
}

/* Two triangles of the unit square, one clockwise, and a node that no cell uses. u = x + y is on
 * the boundary nodes, which are all nodes, so it is exact. */
static void test_mending_is_counted(void **state) {
    /* MSH 4.1, which keeps nodes that no element uses: Gmsh drops them itself when it reads 2.2 */
    static const char text[] = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
                               "$Entities\n0 0 1 0\n1 0 0 0 3 3 0 0 0\n$EndEntities\n"
                               "$Nodes\n1 5 1 5\n2 1 0 5\n1\n2\n3\n4\n5\n"
                               "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 3 0\n$EndNodes\n"
                               "$Elements\n1 2 1 2\n2 1 2 2\n1 1 2 3\n2 1 4 3\n$EndElements\n";
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make(), *path = test_path(folder, "mixed.msh");
    test_text_write(path, text);
    json_t *root = POISSON(0, "--mesh", path, "--dirichlet", "boundary=x+y");
    json_t *mesh = json_object_get(root, "mesh");
    assert_int_equal(4, json_integer_value(json_object_get(mesh, "nodes")));
    assert_int_equal(1, json_integer_value(json_object_get(mesh, "flipped_cells")));
    assert_int_equal(1, json_integer_value(json_object_get(mesh, "dropped_nodes")));
    assert_double_near(1, app_number(root, "integral_u"), 1e-12, 0);
    json_decref(root);
    const char *command[] = {WEFT_BINARY_DIR "/poisson", "--mesh", path, NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(0, run.exit_code);
    assert_non_null(strstr(run.output, "repaired: 1 inverted cell"));
    assert_non_null(strstr(run.output, "repaired: 1 unused node"));
    test_run_free(&run);
    free(path);
    test_folder_remove(&folder);
}

static void test_json_file(void **state) {
    char *folder = test_folder_make(), *path = test_path(folder, "u.json");
    (void)state;
    const char *command[] = {
        WEFT_BINARY_DIR "/poisson", "--mesh", "square:3", "--json", path, NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(0, run.exit_code);
    assert_non_null(strstr(run.output, "converged"));
    test_run_free(&run);
    json_t *root = json_load_file(path, 0, NULL);
    assert_string_equal("converged", app_text(root, "outcome"));
    json_decref(root);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_output_is_a_mesh),
                                       cmocka_unit_test(test_mending_is_counted),
                                       cmocka_unit_test(test_json_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
