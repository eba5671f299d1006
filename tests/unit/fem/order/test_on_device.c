/* labels: full */
/* Orderings that a device makes against those of the host, bit by bit: numbers of nodes and cells,
 * coordinates, cells, facets and groups, at sizes around those of leaves, tiles and thread blocks. The
 * host's are checked by test_order.c. Runs on an emulated GPU, or on the device that WEFT_TEST_DEVICE
 * names. */
#include "fem/order/on_device.h"
#include "fem/order/order.h"
#include "fem/space/space.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/connectivity.h"
#include "setup_support.h"
#include "test_support.h"

#include <stdio.h>

typedef double place_of_node(int64_t node, int axis, uint64_t *seed);

static double spread(int64_t node, int axis, uint64_t *seed) {
    (void)node;
    return (double)(setup_random(seed) >> 12) * (axis == 1 ? 3.0 : 1.0);
}

/* Many equal coordinates. */
static double coarse(int64_t node, int axis, uint64_t *seed) {
    (void)node;
    (void)axis;
    return (double)(setup_random(seed) >> 20) * 0x1p-44 < 0.9 ? (double)(setup_random(seed) % 5)
                                                              : 7;
}

static double same(int64_t node, int axis, uint64_t *seed) {
    (void)node;
    (void)seed;
    return axis == 0 ? -0.0 : 1e300;
}

static double line(int64_t node, int axis, uint64_t *seed) {
    (void)seed;
    return axis == 2 ? (double)(node % 700) : 0;
}

/* Differences of coordinates overflow. */
static double huge(int64_t node, int axis, uint64_t *seed) {
    (void)node;
    (void)axis;
    return ((double)(setup_random(seed) >> 11) * 0x1p-52 - 1) * 1.7e308;
}

static void check_bisection(int d, int64_t n, int64_t leaf, place_of_node *place) {
    uint64_t seed = 5 + (uint64_t)n;
    weft_device *device = setup_device();
    weft_setup *setup = NULL;
    weft_memory *x = NULL, *old = NULL;
    weft_error error = {0};
    weft_mesh mesh = {.dimension = d, .n_nodes = n};
    mesh.x = weft_array_make((size_t)(n * d), sizeof *mesh.x);
    int32_t *expected = malloc((size_t)n * sizeof *expected);
    for (int64_t i = 0; i < n * d; ++i)
        mesh.x[i] = place(i / d, (int)(i % d), &seed);
    assert_int_equal(weft_order_bisect(NULL, &mesh, leaf, expected, &error), WEFT_OK);
    assert_int_equal(weft_setup_make(device, &setup, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, (size_t)(n * d) * 8, &x, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, (size_t)n * 4, &old, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(x, 0, mesh.x, (size_t)(n * d) * 8, NULL), WEFT_OK);
    if (weft_order_bisect_on_device(setup, &mesh, leaf, x, old, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    setup_equal("order", old, expected, (size_t)n * sizeof *expected);
    weft_memory_free(&x);
    weft_memory_free(&old);
    weft_setup_free(&setup);
    weft_device_free(&device);
    free(mesh.x);
    free(expected);
}

static void sizes(void **state) {
    (void)state;
    static const int64_t n[] = {1,   2,   31,  32,   33,   64,   65,  255,
                                257, 512, 513, 1025, 2047, 4097, 9001};
    for (size_t i = 0; i < sizeof n / sizeof *n; ++i)
        check_bisection(1 + (int)(i % 3), n[i], 512, spread);
    check_bisection(3, 9001, 512, spread);
    check_bisection(2, 9001, 512, spread);
}

static void leaves(void **state) {
    (void)state;
    static const int64_t leaf[] = {1, 7, 32, 100, 1000, 100000};
    for (size_t i = 0; i < sizeof leaf / sizeof *leaf; ++i)
        check_bisection(2 + (int)(i % 2), 3000, leaf[i], spread);
}

static void degenerate(void **state) {
    (void)state;
    place_of_node *const places[] = {coarse, same, line, huge};
    for (int i = 0; i < 4; ++i)
        for (int d = 1; d <= 3; ++d)
            check_bisection(d, 3001, 64, places[i]);
}

/* Both meshes ordered are equal in every array. */
static void compare_meshes(const weft_mesh *a, const weft_mesh *b) {
    const size_t d = (size_t)a->dimension, n_facets = (size_t)a->n_facets;
    assert_memory_equal(a->x, b->x, (size_t)a->n_nodes * d * sizeof *a->x);
    assert_memory_equal(a->cells, b->cells, (size_t)a->n_cells * (d + 1) * sizeof *a->cells);
    assert_memory_equal(a->facets, b->facets, n_facets * d * sizeof *a->facets);
    for (int g = 0; g < a->n_groups; ++g) {
        const weft_group *group = &a->groups[g];
        assert_memory_equal(a->group_facets + group->first_facet,
                            b->group_facets + group->first_facet,
                            (size_t)group->n_facets * sizeof *a->group_facets);
        if (group->n_cells > 0)
            assert_memory_equal(a->group_cells + group->first_cell,
                                b->group_cells + group->first_cell,
                                (size_t)group->n_cells * sizeof *a->group_cells);
    }
}

/* Groups of every third cell and of every fifth node. */
static void add_groups(weft_mesh *mesh) {
    weft_group *groups = weft_array_make((size_t)mesh->n_groups + 1, sizeof *groups);
    const int64_t n_cells = mesh->n_cells / 3, n_nodes = mesh->n_nodes / 5;
    memcpy(groups, mesh->groups, (size_t)mesh->n_groups * sizeof *groups);
    groups[mesh->n_groups] = (weft_group){
        .name = "third", .dimension = mesh->dimension, .n_cells = n_cells, .n_points = n_nodes};
    free(mesh->groups);
    free(mesh->group_cells);
    mesh->groups = groups;
    mesh->n_groups += 1;
    mesh->group_cells = weft_array_make((size_t)n_cells, sizeof *mesh->group_cells);
    mesh->points.nodes = weft_array_make((size_t)n_nodes, sizeof *mesh->points.nodes);
    mesh->points.n_nodes = n_nodes;
    for (int64_t i = 0; i < n_cells; ++i)
        mesh->group_cells[i] = (int32_t)(3 * i);
    for (int64_t i = 0; i < n_nodes; ++i)
        mesh->points.nodes[i] = (int32_t)(5 * i);
}

static weft_mesh *grid(int d, int64_t n, bool with_groups) {
    weft_mesh *mesh = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    if (with_groups)
        add_groups(mesh);
    return mesh;
}

/* A space made of the copies has the nodes and cells of the mesh, and reads them there: a value that
 * is changed on the device shows. */
static void check_space(weft_device *device, const weft_mesh *mesh, weft_mesh_copies *copies) {
    const int32_t changed = (int32_t)mesh->n_nodes - 1 - mesh->cells[0];
    weft_space *space = NULL, *expected = NULL;
    weft_memory *indices[2] = {NULL, NULL};
    assert_int_equal(weft_memory_write(copies->cells, 0, &changed, sizeof changed, NULL), WEFT_OK);
    assert_int_equal(weft_space_make_with(device, mesh, copies, WEFT_ELEMENT_P1, 1, &space, NULL),
                     WEFT_OK);
    assert_null(copies->x);
    assert_null(copies->cells);
    assert_int_equal(weft_space_make(device, mesh, WEFT_ELEMENT_P1, 1, &expected, NULL), WEFT_OK);
    setup_equal("nodes", weft_space_coordinates(space), mesh->x,
                (size_t)(mesh->n_nodes * mesh->dimension) * sizeof *mesh->x);
    weft_space *spaces[] = {space, expected};
    for (int i = 0; i < 2; ++i)
        assert_int_equal(
            weft_connectivity_interleaved(weft_space_cells(spaces[i]), 32, &indices[i], NULL),
            WEFT_OK);
    int32_t *own = setup_read(indices[0], weft_memory_bytes(indices[0]));
    assert_int_equal(own[0], changed);
    own[0] = mesh->cells[0];
    setup_equal("cells", indices[1], own, weft_memory_bytes(indices[1]));
    free(own);
    weft_space_free(&space);
    weft_space_free(&expected);
}

static void check_mesh(int d, int64_t n, bool with_groups) {
    weft_device *device = setup_device();
    weft_mesh *made = grid(d, n, with_groups), *expected = grid(d, n, with_groups);
    weft_renumbering host = {0}, own;
    weft_error error = {0};
    own.nodes = malloc((size_t)made->n_nodes * sizeof *own.nodes);
    own.cells = malloc((size_t)made->n_cells * sizeof *own.cells);
    assert_int_equal(
        weft_mesh_order(NULL, expected, WEFT_ORDERING_BISECTION, 0, NULL, &host, &error), WEFT_OK);
    weft_mesh_copies copies = {0};
    if (weft_mesh_order_on_device(device, made, 512, &own, &copies, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_memory_equal(own.nodes, host.nodes, (size_t)made->n_nodes * sizeof *own.nodes);
    assert_memory_equal(own.cells, host.cells, (size_t)made->n_cells * sizeof *own.cells);
    compare_meshes(made, expected);
    if (with_groups)
        assert_memory_equal(made->points.nodes, expected->points.nodes,
                            (size_t)made->points.n_nodes * sizeof *made->points.nodes);
    check_space(device, expected, &copies);
    free(own.nodes);
    free(own.cells);
    free(host.nodes);
    free(host.cells);
    weft_mesh_free(&made);
    weft_mesh_free(&expected);
    weft_device_free(&device);
}

static void meshes(void **state) {
    (void)state;
    check_mesh(2, 1, false);
    check_mesh(3, 2, true);
    check_mesh(2, 40, true);
    check_mesh(3, 11, false);
    check_mesh(3, 16, true);
}

/* A fan of triangles about its lowest node: refused, and the mesh is as it was. */
static void a_hub(void **state) {
    (void)state;
    const int64_t n = 5000;
    weft_device *device = setup_device();
    weft_setup *setup = NULL;
    weft_device_simplices s = {.n = n, .width = 3};
    weft_memory *new_of = NULL;
    weft_error error = {0};
    int32_t *nodes = malloc((size_t)(3 * n) * sizeof *nodes);
    for (int64_t i = 0; i < n; ++i) {
        nodes[3 * i] = 0;
        nodes[3 * i + 1] = (int32_t)(1 + i);
        nodes[3 * i + 2] = (int32_t)(1 + (i + 1) % n);
    }
    int32_t *numbers = malloc((size_t)(n + 1) * sizeof *numbers);
    for (int64_t i = 0; i <= n; ++i)
        numbers[i] = (int32_t)i;
    assert_int_equal(weft_setup_make(device, &setup, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, (size_t)(3 * n) * 4, &s.nodes, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, (size_t)(n + 1) * 4, &new_of, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(s.nodes, 0, nodes, (size_t)(3 * n) * 4, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(new_of, 0, numbers, (size_t)(n + 1) * 4, NULL), WEFT_OK);
    assert_int_equal(weft_simplices_sort_on_device(setup, &s, new_of, n + 1, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "5000 cells"));
    weft_device_simplices_free(&s);
    weft_memory_free(&new_of);
    weft_setup_free(&setup);
    weft_device_free(&device);
    free(nodes);
    free(numbers);
}

/* Without memory on the device the mesh is unchanged, and the host orders it. */
static void too_little_memory(void **state) {
    (void)state;
    weft_device *device = setup_device();
    weft_mesh *mesh = grid(2, 320, false), *expected = grid(2, 320, false);
    const weft_renumbering none = {0};
    weft_error error = {0};
    size_t most = 0;
    for (int i = 0; i < 6; ++i, most = most * 4 + 100000) {
        device->limits.memory_bytes = most;
        if (most < 2 * (size_t)mesh->n_cells * 12)
            assert_int_equal(weft_mesh_order_on_device(device, mesh, 512, &none, NULL, &error),
                             WEFT_ERROR_MEMORY);
        assert_int_equal(weft_device_bytes(device), 0);
    }
    compare_meshes(mesh, expected);
    device->limits.memory_bytes = 100000;
    assert_int_equal(weft_mesh_order(device, mesh, WEFT_ORDERING_BISECTION, 0, NULL, NULL, &error),
                     WEFT_OK);
    assert_int_equal(weft_mesh_order(NULL, expected, WEFT_ORDERING_BISECTION, 0, NULL, NULL, NULL),
                     WEFT_OK);
    compare_meshes(mesh, expected);
    weft_mesh_free(&mesh);
    weft_mesh_free(&expected);
    weft_device_free(&device);
}

/* Large meshes are ordered by the device, which then has them; small ones by the host. */
static void by_size(void **state) {
    (void)state;
    static const int64_t sides[] = {314, 320}; /* 315^2 is below 10^5 */
    for (int i = 0; i < 2; ++i) {
        weft_device *device = setup_device();
        weft_mesh *mesh = grid(2, sides[i], false), *expected = grid(2, sides[i], false);
        const weft_order_options options = {WEFT_ORDERING_BISECTION, 0, NULL};
        weft_mesh_copies copies = {0};
        assert_int_equal(weft_mesh_order_keeping(device, mesh, &options, NULL, &copies, NULL),
                         WEFT_OK);
        assert_int_equal(
            weft_mesh_order(NULL, expected, WEFT_ORDERING_BISECTION, 0, NULL, NULL, NULL), WEFT_OK);
        compare_meshes(mesh, expected);
        assert_true((copies.x != NULL) == (i == 1));
        assert_true((copies.cells != NULL) == (i == 1));
        weft_mesh_copies_free(&copies);
        weft_mesh_free(&mesh);
        weft_mesh_free(&expected);
        weft_device_free(&device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),
                                       cmocka_unit_test(leaves),
                                       cmocka_unit_test(degenerate),
                                       cmocka_unit_test(meshes),
                                       cmocka_unit_test(a_hub),
                                       cmocka_unit_test(by_size),
                                       cmocka_unit_test(too_little_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
