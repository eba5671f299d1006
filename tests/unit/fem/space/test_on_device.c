/* labels: full */
/* Nodes that a device numbers and places against those of the host, bit by bit, on shuffled and curved meshes of all
 * cells, for elements with nodes on vertices, edges, faces and in cells; round a vertex of many cells; and the dofs of
 * spaces of several components and of several spaces. test_degrees.c checks the host's. Runs on an emulated GPU, or on
 * the device that WEFT_TEST_DEVICE names. */
#include "curved_support.h"
#include "fem/form/form.h"
#include "fusion/connectivity/connectivity.h"
#include "setup_support.h"
#include "shuffled_mesh.h"

#include <math.h>

static const char *const names[] = {"interval:5", "square:3", "quads:3", "cube:2", "hexes:2"};
enum { N_MESHES = 5, FAN = 300 };

typedef struct devices {
    weft_device *host, *gpu;
} devices;

static weft_space *make_space(weft_device *device, const weft_mesh *mesh, weft_element_kind kind,
                              int components) {
    weft_space *space = NULL;
    weft_error error = {0};
    if (weft_space_make(device, mesh, kind, components, &space, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return space;
}

/* The indices on the device in two ways: copied to the host, and as programs read them. */
static void compare_indices(weft_connectivity *a, weft_connectivity *b) {
    const size_t n = (size_t)(weft_connectivity_from(a) * weft_connectivity_width(a));
    weft_memory *forms[2];
    assert_int_equal(weft_connectivity_to(a), weft_connectivity_to(b));
    assert_int_equal(weft_connectivity_interleaved(a, 32, &forms[0], NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_interleaved(b, 32, &forms[1], NULL), WEFT_OK);
    void *copy = setup_read(forms[0], weft_memory_bytes(forms[0]));
    setup_equal("interleaved nodes", forms[1], copy, weft_memory_bytes(forms[0]));
    free(copy);
    assert_int_equal(weft_connectivity_read(b, NULL), WEFT_OK);
    assert_memory_equal(weft_connectivity_indices(a), weft_connectivity_indices(b),
                        n * sizeof(int32_t));
}

/* Lists of facets are made of the rows of their cells alone. */
static void compare_boundary(const weft_space *a, const weft_space *b) {
    weft_space_facets facets[2] = {{0}, {0}};
    weft_space_sides sides[2] = {{0}, {0}};
    int32_t *nodes[2] = {NULL, NULL};
    int64_t n[2];
    for (int i = 0; i < 2; ++i) {
        const weft_space *space = i == 0 ? a : b;
        assert_int_equal(weft_space_group_nodes(space, -1, &nodes[i], &n[i], NULL), WEFT_OK);
        if (weft_element_is_shared(weft_space_element(space))) /* others have none on facets */
            assert_int_equal(weft_space_facets_make(space, -1, &facets[i], NULL), WEFT_OK);
        assert_int_equal(weft_space_exterior_make(space, -1, &sides[i], NULL), WEFT_OK);
    }
    assert_null(weft_connectivity_indices(weft_space_cells(b)));
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(nodes[0], nodes[1], (size_t)n[0] * sizeof(int32_t));
    if (facets[0].nodes)
        assert_memory_equal(facets[0].nodes, facets[1].nodes,
                            (size_t)(facets[0].n * facets[0].width) * sizeof(int32_t));
    assert_memory_equal(sides[0].nodes, sides[1].nodes,
                        (size_t)(sides[0].n * sides[0].width) * sizeof(int32_t));
    for (int i = 0; i < 2; ++i) {
        weft_space_facets_free(&facets[i]);
        weft_space_sides_free(&sides[i]);
        free(nodes[i]);
    }
}

static void compare_kind(const devices *s, const weft_mesh *mesh, weft_element_kind kind) {
    weft_space *a = make_space(s->host, mesh, kind, 1), *b = make_space(s->gpu, mesh, kind, 1);
    const int d = mesh->dimension;
    const size_t n = (size_t)weft_space_nodes(a);
    assert_int_equal(weft_space_nodes(b), weft_space_nodes(a));
    setup_equal("points", weft_space_coordinates(b), weft_space_points(a),
                n * (size_t)d * sizeof(double));
    compare_boundary(a, b);
    compare_indices(weft_space_cells(a), weft_space_cells(b));
    assert_memory_equal(weft_space_points(b), weft_space_points(a), n * (size_t)d * sizeof(double));
    assert_memory_equal(weft_space_cell_nodes(b), weft_space_cell_nodes(a),
                        (size_t)mesh->n_cells * (size_t)weft_space_element(a)->n_nodes *
                            sizeof(int32_t));
    weft_space_free(&a);
    weft_space_free(&b);
}

static void compare_all(const devices *s, const weft_mesh *mesh) {
    compare_kind(s, mesh, (weft_element_kind){WEFT_LAGRANGE, 2});
    compare_kind(s, mesh, (weft_element_kind){WEFT_LAGRANGE, 4}); /* three nodes on triangles */
    compare_kind(s, mesh, (weft_element_kind){WEFT_DISCONTINUOUS, 1});
    compare_kind(s, mesh, (weft_element_kind){WEFT_REAL, 0});
}

static void all_cells(void **state) {
    (void)state;
    devices s = {NULL, setup_device()};
    assert_int_equal(weft_device_open("host:1", NULL, &s.host, NULL), WEFT_OK);
    for (int i = 0; i < N_MESHES; ++i) {
        weft_mesh *straight = built_in_mesh(names[i]), *mesh = shuffled_mesh(straight);
        compare_all(&s, mesh);
        weft_mesh_free(&straight);
        weft_mesh_free(&mesh);
        mesh = curved_mesh(s.host, names[i], 2);
        assert_non_null(mesh->curve);
        compare_kind(&s, mesh, (weft_element_kind){WEFT_LAGRANGE, 3});
        weft_mesh_free(&mesh);
    }
    weft_device_free(&s.gpu);
    weft_device_free(&s.host);
}

/* Triangles round vertex 0, which is the lowest of 2 FAN edges of cells. */
static void many_cells_of_a_vertex(void **state) {
    (void)state;
    devices s = {NULL, setup_device()};
    weft_mesh_data data = {
        .dimension = 2, .cell = WEFT_TRIANGLE, .n_nodes = FAN + 1, .n_cells = FAN};
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_device_open("host:1", NULL, &s.host, NULL), WEFT_OK);
    data.x = weft_array_make(FAN + 1, 2 * sizeof *data.x);
    data.cells = weft_array_make(FAN, 3 * sizeof *data.cells);
    for (int i = 0; i < FAN; ++i) {
        const int place = i * 7 % FAN, next = (i + 1) * 7 % FAN;
        data.x[2 * place + 2] = cos(8 * atan(1) * i / FAN);
        data.x[2 * place + 3] = sin(8 * atan(1) * i / FAN);
        data.cells[3 * i + 1] = place + 1;
        data.cells[3 * i + 2] = next + 1;
    }
    assert_int_equal(weft_mesh_make(&data, "fan", NULL, &mesh, NULL), WEFT_OK);
    compare_kind(&s, mesh, (weft_element_kind){WEFT_LAGRANGE, 3});
    weft_mesh_free(&mesh);
    weft_device_free(&s.gpu);
    weft_device_free(&s.host);
}

/* Two components of degree 2, and one of degree 1 and one constant for each cell. */
static void several_components(void **state) {
    (void)state;
    const weft_element_kind kinds[] = {
        {WEFT_LAGRANGE, 2}, {WEFT_LAGRANGE, 1}, {WEFT_DISCONTINUOUS, 0}};
    devices s = {NULL, setup_device()};
    weft_mesh *straight = built_in_mesh("square:4"), *mesh = shuffled_mesh(straight);
    weft_entity_dofs flat[2] = {{0}, {0}};
    weft_vector_dofs vectors[2] = {{0}, {0}};
    weft_space *spaces[2][3];
    assert_int_equal(weft_device_open("host:1", NULL, &s.host, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        weft_device *device = i == 0 ? s.host : s.gpu;
        for (int k = 0; k < 3; ++k)
            spaces[i][k] = make_space(device, mesh, kinds[k], k == 0 ? 2 : 1);
        weft_form form = {.dofs = weft_space_cells(spaces[i][0]), .components = 2};
        assert_int_equal(weft_vector_dofs_make(device, &form, &vectors[i], NULL), WEFT_OK);
        assert_int_equal(weft_entity_dofs_make((const weft_space *const *)spaces[i], 3, true,
                                               WEFT_ENTITIES_CELLS, -1, &flat[i], NULL),
                         WEFT_OK);
    }
    compare_indices(vectors[0].connectivity, vectors[1].connectivity);
    compare_indices(flat[0].connectivity, flat[1].connectivity);
    for (int i = 0; i < 2; ++i) {
        weft_vector_dofs_free(&vectors[i]);
        weft_entity_dofs_free(&flat[i]);
        for (int k = 0; k < 3; ++k)
            weft_space_free(&spaces[i][k]);
    }
    weft_mesh_free(&straight);
    weft_mesh_free(&mesh);
    weft_device_free(&s.gpu);
    weft_device_free(&s.host);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_cells),
                                       cmocka_unit_test(many_cells_of_a_vertex),
                                       cmocka_unit_test(several_components)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
