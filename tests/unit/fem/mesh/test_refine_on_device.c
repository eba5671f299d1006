/* labels: full */
/* Hierarchies that a device refines against those of the host, bit by bit: coordinates, cells, facets,
 * groups and parents of every level. The host's are checked by test_refine.c and by fem/hierarchy's
 * tests. Runs on an emulated GPU, or on the device that WEFT_TEST_DEVICE names. */
#include "fem/mesh/refine.h"
#include "fem/weft_hierarchy.h"
#include "hierarchy_support.h"
#include "setup_support.h"

#include <string.h>

static weft_hierarchy *start(weft_mesh *coarse, int times) {
    weft_hierarchy *made = calloc(1, sizeof *made);
    made->levels = calloc((size_t)times + 1, sizeof *made->levels);
    made->n_levels = times + 1;
    made->levels[0].mesh = coarse;
    return made;
}

static void compare_lists(const weft_mesh *a, const weft_mesh *b) {
    assert_int_equal(a->n_groups, b->n_groups);
    for (int g = 0; g < a->n_groups; ++g) {
        const weft_group *p = &a->groups[g], *q = &b->groups[g];
        assert_string_equal(p->name, q->name);
        assert_int_equal(p->n_facets, q->n_facets);
        assert_int_equal(p->n_cells, q->n_cells);
        if (p->n_facets > 0)
            assert_memory_equal(a->group_facets + p->first_facet, b->group_facets + q->first_facet,
                                (size_t)p->n_facets * sizeof *a->group_facets);
        if (p->n_cells > 0)
            assert_memory_equal(a->group_cells + p->first_cell, b->group_cells + q->first_cell,
                                (size_t)p->n_cells * sizeof *a->group_cells);
    }
}

static void compare_meshes(const weft_mesh *p, const weft_mesh *q) {
    const size_t d = (size_t)p->dimension, n = (size_t)p->n_nodes;
    assert_int_equal(p->n_nodes, q->n_nodes);
    assert_int_equal(p->n_cells, q->n_cells);
    assert_int_equal(p->n_facets, q->n_facets);
    assert_int_equal(p->n_boundary_facets, q->n_boundary_facets);
    assert_memory_equal(p->x, q->x, n * d * sizeof *p->x);
    assert_memory_equal(p->cells, q->cells, (size_t)p->n_cells * (d + 1) * sizeof *p->cells);
    assert_memory_equal(p->facets, q->facets, (size_t)p->n_facets * d * sizeof *p->facets);
    compare_lists(p, q);
}

static void compare_levels(const weft_hierarchy *a, const weft_hierarchy *b) {
    assert_int_equal(a->n_levels, b->n_levels);
    for (int l = 0; l < a->n_levels; ++l) {
        compare_meshes(a->levels[l].mesh, b->levels[l].mesh);
        if (l > 0)
            assert_memory_equal(a->levels[l].parents, b->levels[l].parents,
                                2 * (size_t)a->levels[l].mesh->n_nodes *
                                    sizeof *a->levels[l].parents);
    }
}

/* A group of every third cell. */
static void add_cells(weft_mesh *mesh) {
    weft_group *groups = weft_array_make((size_t)mesh->n_groups + 1, sizeof *groups);
    const int64_t n = mesh->n_cells / 3;
    memcpy(groups, mesh->groups, (size_t)mesh->n_groups * sizeof *groups);
    groups[mesh->n_groups] =
        (weft_group){.name = "third", .dimension = mesh->dimension, .n_cells = n};
    free(mesh->groups);
    free(mesh->group_cells);
    mesh->groups = groups;
    mesh->n_groups += 1;
    mesh->group_cells = weft_array_make((size_t)n, sizeof *mesh->group_cells);
    for (int64_t i = 0; i < n; ++i)
        mesh->group_cells[i] = (int32_t)(3 * i);
}

/* The mesh's sides are so different that every rotation of tetrahedra occurs. */
static void stretch(weft_mesh *mesh) {
    static const double factors[] = {1, 0.3, 2.7};
    for (int64_t i = 0; i < mesh->n_nodes * mesh->dimension; ++i)
        mesh->x[i] *= factors[i % mesh->dimension];
}

static weft_mesh *example(int d, int64_t n) {
    weft_mesh *mesh = irregular_mesh(d, n);
    stretch(mesh);
    add_cells(mesh);
    return mesh;
}

static void check(int d, int64_t n, int times) {
    weft_device *device = setup_device();
    weft_hierarchy *made = start(example(d, n), times), *expected = start(example(d, n), times);
    weft_error error = {0};
    weft_mesh_copies copies = {0};
    int n_made = 0;
    if (weft_refine_levels_on_device(device, made, &n_made, &copies, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(n_made, times + 1);
    const weft_mesh *finest = made->levels[times].mesh;
    setup_equal("nodes", copies.x, finest->x, weft_memory_bytes(copies.x));
    setup_equal("cells", copies.cells, finest->cells, weft_memory_bytes(copies.cells));
    assert_int_equal(weft_memory_bytes(copies.x), finest->n_nodes * d * 8);
    assert_int_equal(weft_memory_bytes(copies.cells), finest->n_cells * (d + 1) * 4);
    weft_mesh_copies_free(&copies);
    assert_int_equal(weft_device_bytes(device), 0);
    assert_int_equal(weft_mesh_refine_levels(NULL, expected, NULL, NULL, NULL), WEFT_OK);
    compare_levels(made, expected);
    weft_mesh *alone = NULL, *coarse = example(d, n);
    if (weft_refine_on_device(device, coarse, times, &alone, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    compare_meshes(alone, finest);
    weft_mesh_free(&alone);
    weft_mesh_free(&coarse);
    weft_hierarchy_free(&made);
    weft_hierarchy_free(&expected);
    weft_device_free(&device);
}

static void triangles(void **state) {
    (void)state;
    check(2, 1, 1);
    check(2, 2, 5);
    check(2, 17, 3);
}

static void tetrahedra(void **state) {
    (void)state;
    check(3, 1, 1);
    check(3, 1, 4);
    check(3, 3, 2);
    check(3, 7, 2);
}

/* A fan of triangles about its lowest node. */
static weft_mesh *fan(int64_t n) {
    weft_mesh_data data = {.dimension = 2, .n_nodes = n + 1, .n_cells = n};
    weft_mesh *mesh = NULL;
    data.x = weft_array_make((size_t)(2 * n + 2), sizeof *data.x);
    data.cells = weft_array_make((size_t)(3 * n), sizeof *data.cells);
    for (int64_t i = 0; i < n; ++i) {
        data.x[2 * i + 2] = cos(2 * 3.14159265358979 * (double)i / (double)n);
        data.x[2 * i + 3] = sin(2 * 3.14159265358979 * (double)i / (double)n);
        data.cells[3 * i + 1] = (int32_t)(1 + i);
        data.cells[3 * i + 2] = (int32_t)(1 + (i + 1) % n);
    }
    assert_int_equal(weft_mesh_make(&data, "fan", NULL, &mesh, NULL), WEFT_OK);
    return mesh;
}

static void a_hub(void **state) {
    (void)state;
    for (int is_refused = 0; is_refused < 2; ++is_refused) {
        const int64_t n = is_refused ? 600 : 400; /* twice as many ends of edges */
        weft_device *device = setup_device();
        weft_hierarchy *made = start(fan(n), 2), *expected = start(fan(n), 2);
        weft_error error = {0};
        int n_made = 0;
        const weft_status status =
            weft_refine_levels_on_device(device, made, &n_made, NULL, &error);
        assert_int_equal(status, is_refused ? WEFT_ERROR_UNSUPPORTED : WEFT_OK);
        assert_int_equal(n_made, is_refused ? 1 : 3);
        if (is_refused)
            assert_non_null(strstr(error.message, "1200 edges"));
        assert_int_equal(weft_mesh_refine_levels(NULL, expected, NULL, NULL, NULL), WEFT_OK);
        if (!is_refused)
            compare_levels(made, expected);
        weft_hierarchy_free(&made);
        weft_hierarchy_free(&expected);
        weft_device_free(&device);
    }
}

static void points_are_refused(void **state) {
    (void)state;
    weft_device *device = setup_device();
    weft_hierarchy *made = start(irregular_mesh(2, 2), 1);
    weft_error error = {0};
    int n_made = 0;
    free(made->levels[0].mesh->points.nodes);
    made->levels[0].mesh->points.nodes = weft_array_make(1, sizeof(int32_t));
    made->levels[0].mesh->points.n_nodes = 1;
    assert_int_equal(weft_refine_levels_on_device(device, made, &n_made, NULL, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_int_equal(n_made, 1);
    weft_hierarchy_free(&made);
    weft_device_free(&device);
}

/* Without levels the host does all of it. */
static void check_fallback(weft_device *device, const weft_mesh *expected) {
    weft_mesh *coarse = example(2, 32), *made = NULL;
    weft_error error = {0};
    assert_int_equal(weft_refine_on_device(device, coarse, 5, &made, &error), WEFT_ERROR_MEMORY);
    assert_null(made);
    assert_int_equal(weft_device_bytes(device), 0);
    assert_int_equal(weft_mesh_refine(device, coarse, 5, NULL, &made, &error), WEFT_OK);
    compare_meshes(made, expected);
    assert_string_equal(made->source, "irregular, refined 5 times");
    weft_mesh_free(&made);
    weft_mesh_free(&coarse);
}

/* With less and less memory on the device the host makes the rest of the levels, the same. */
static void too_little_memory(void **state) {
    (void)state;
    weft_device *device = setup_device();
    weft_hierarchy *expected = start(example(2, 32), 5);
    int seen[7] = {0};
    assert_int_equal(weft_mesh_refine_levels(NULL, expected, NULL, NULL, NULL), WEFT_OK);
    for (size_t bytes = 50000; bytes < 12000000; bytes *= 4) {
        weft_hierarchy *made = start(example(2, 32), 5), *rest = start(example(2, 32), 5);
        weft_error error = {0};
        int n_made = 0;
        device->limits.memory_bytes = bytes;
        assert_int_equal(weft_refine_levels_on_device(device, made, &n_made, NULL, &error),
                         WEFT_ERROR_MEMORY);
        assert_int_equal(weft_device_bytes(device), 0);
        seen[n_made] = 1;
        assert_int_equal(weft_mesh_refine_levels(device, rest, NULL, NULL, &error), WEFT_OK);
        compare_levels(rest, expected);
        weft_hierarchy_free(&made);
        weft_hierarchy_free(&rest);
        check_fallback(device, expected->levels[5].mesh);
    }
    assert_true(seen[1] && seen[2] && seen[3]);
    weft_hierarchy_free(&expected);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles), cmocka_unit_test(tetrahedra), cmocka_unit_test(a_hub),
        cmocka_unit_test(points_are_refused), cmocka_unit_test(too_little_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
