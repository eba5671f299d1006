/* labels: quick */
/* A checked mesh from any numbering: what is repaired is repaired and counted, the boundary is that
 * which sorting all facets gives, and groups find their facets. */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>

/* The mesh with its nodes renumbered, `unused` nodes among them, and every third cell inverted. */
static weft_mesh_data disorder(const weft_mesh *mesh, int64_t unused, int64_t *n_inverted) {
    int d = mesh->dimension;
    weft_mesh_data data = take_apart(mesh);
    int32_t *order = random_order(mesh->n_nodes + unused, 12345);
    free(data.x);
    data.n_nodes = mesh->n_nodes + unused;
    data.x = weft_array_make((size_t)data.n_nodes, (size_t)d * sizeof *data.x);
    assert_non_null(data.x);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        memcpy(data.x + (int64_t)order[i] * d, mesh->x + i * d, (size_t)d * sizeof *data.x);
    for (int64_t i = 0; i < mesh->n_cells * (d + 1); ++i)
        data.cells[i] = order[mesh->cells[i]];
    for (int64_t i = 0; i < data.n_group_facets * d; ++i)
        data.group_facet_nodes[i] = order[data.group_facet_nodes[i]];
    *n_inverted = 0;
    for (int64_t c = 0; c < mesh->n_cells; c += 3, ++*n_inverted) {
        int32_t *nodes = data.cells + c * (d + 1), kept = nodes[0];
        nodes[0] = nodes[1];
        nodes[1] = kept;
    }
    free(order);
    return data;
}

static void check_disordered(int dimension, int64_t n, int64_t unused) {
    int64_t n_inverted;
    weft_mesh *from = make_mesh(dimension, n), *mesh = NULL;
    weft_mesh_data data = disorder(from, unused, &n_inverted);
    assert_int_equal(weft_mesh_make(&data, "disorder", NULL, &mesh, NULL), WEFT_OK);
    assert_null(data.x);
    assert_null(data.cells);
    assert_null(data.groups);
    assert_null(data.group_facet_nodes);
    assert_int_equal(mesh->n_flipped_cells, n_inverted);
    assert_int_equal(mesh->n_dropped_nodes, unused);
    assert_int_equal(mesh->n_ignored_facets, 0);
    assert_int_equal(mesh->n_nodes, from->n_nodes);
    assert_int_equal(mesh->n_cells, from->n_cells);
    assert_int_equal(mesh->n_facets, from->n_facets);
    assert_int_equal(mesh->n_boundary_facets, from->n_facets);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        assert_true(weft_cell_volume(dimension, mesh->x, mesh->cells + c * (dimension + 1)) > 0);
    check_boundary(mesh);
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        assert_string_equal(group->name, from->groups[g].name);
        assert_int_equal(group->n_facets, from->groups[g].n_facets);
        for (int64_t i = 0; i < group->n_facets; ++i) {
            int32_t facet = mesh->group_facets[group->first_facet + i];
            assert_in_range(facet, 0, mesh->n_boundary_facets - 1);
            for (int k = 0; k < dimension; ++k)
                assert_true(mesh->x[mesh->facets[facet * dimension + k] * dimension + g / 2] ==
                            g % 2);
        }
    }
    weft_mesh_free(&mesh);
    weft_mesh_free(&from);
}

static void test_disordered(void **state) {
    (void)state;
    for (int64_t unused = 0; unused < 20; unused += 7) {
        check_disordered(2, 1, unused);
        check_disordered(2, 13, unused);
        check_disordered(3, 1, unused);
        check_disordered(3, 5, unused);
    }
}

/* A fan round one node: its list of facets is longer than the sort by insertion takes. */
static void test_fan(void **state) {
    enum { N = 500 };
    (void)state;
    weft_mesh *mesh = NULL;
    weft_mesh_data data = {.dimension = 2, .n_nodes = N + 1, .n_cells = N};
    data.x = weft_array_make(N + 1, 2 * sizeof *data.x);
    data.cells = weft_array_make(N, 3 * sizeof *data.cells);
    for (int i = 0; i < N; ++i) {
        double angle = 2 * acos(-1.0) * i / N;
        data.x[2 * i + 2] = cos(angle);
        data.x[2 * i + 3] = sin(angle);
        data.cells[3 * i + 1] = i + 1;
        data.cells[3 * i + 2] = (i + 1) % N + 1;
    }
    assert_int_equal(weft_mesh_make(&data, "fan", NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_boundary_facets, N);
    assert_int_equal(mesh->n_groups, 0);
    check_boundary(mesh);
    weft_mesh_free(&mesh);
}

static void put_facet(weft_mesh_data *data, int64_t i, int32_t a, int32_t b) {
    data->group_facet_nodes[2 * i] = a;
    data->group_facet_nodes[2 * i + 1] = b;
}

/* The square of two triangles 0 1 3 and 0 3 2: its diagonal 0 3 lies inside, 1 2 is not an edge. */
static void test_groups(void **state) {
    (void)state;
    weft_mesh *from = make_mesh(2, 1), *mesh = NULL;
    weft_mesh_data data = take_apart(from);
    free(data.groups);
    free(data.group_facet_nodes);
    data.groups = weft_array_make(3, sizeof *data.groups);
    data.group_facet_nodes = weft_array_make(6, 2 * sizeof(int32_t));
    data.n_groups = 3;
    data.n_group_facets = 6;
    data.groups[0] = (weft_group){"inside", 1, 0, 4, 0, 0, 0, 0, 0};
    data.groups[1] =
        (weft_group){"all", 2, 77, 99, 0, 0, 0, 0, 0}; /* cells: its facets are not looked at */
    data.groups[2] = (weft_group){"side", 1, 4, 2, 0, 0, 0, 0, 0};
    put_facet(&data, 0, 3, 0);
    put_facet(&data, 1, 1, 2);
    put_facet(&data, 2, 0, 3); /* again */
    put_facet(&data, 3, 0, 1);
    put_facet(&data, 4, 1, 0); /* in two groups */
    put_facet(&data, 5, 0, 3);
    assert_int_equal(weft_mesh_make(&data, "groups", NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_ignored_facets, 1);
    assert_int_equal(mesh->n_boundary_facets, 4);
    assert_int_equal(mesh->n_facets, 5);
    assert_int_equal(mesh->groups[0].n_facets, 2);
    assert_int_equal(mesh->groups[1].n_facets, 0);
    assert_int_equal(mesh->groups[2].n_facets, 2);
    assert_int_equal(mesh->group_facets[0], 4);
    assert_int_equal(mesh->group_facets[1], mesh->group_facets[2]);
    assert_int_equal(mesh->group_facets[3], 4);
    assert_int_equal(mesh->facets[8] + mesh->facets[9], 3);
    weft_mesh_free(&mesh);
    weft_mesh_free(&from);
}

typedef struct log_text {
    char text[2000];
} log_text;

static void keep_log(void *user, weft_log_level level, const char *message) {
    log_text *log = user;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%d %s\n", (int)level, message);
}

static void test_says_what_it_repaired(void **state) {
    log_text log = {""};
    weft_monitor monitor = {.log = keep_log, .user = &log};
    int64_t n_inverted;
    (void)state;
    weft_mesh *from = make_mesh(2, 3), *mesh = NULL;
    weft_mesh_data data = disorder(from, 2, &n_inverted);
    for (int64_t i = 0; i < data.n_nodes; ++i)
        if (i != data.cells[0] && i != data.cells[1] && i != data.cells[2])
            data.group_facet_nodes[0] = (int32_t)i;
    data.group_facet_nodes[1] = data.group_facet_nodes[0];
    assert_int_equal(weft_mesh_make(&data, "m.msh", &monitor, &mesh, NULL), WEFT_OK);
    assert_string_equal(log.text, "2 m.msh: 6 inverted cells reoriented\n"
                                  "2 m.msh: 2 nodes that no cell uses dropped\n"
                                  "1 m.msh: 1 facet of groups ignored: no cell has it\n");
    weft_mesh_free(&mesh);
    weft_mesh_free(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_disordered),
                                       cmocka_unit_test(test_fan), cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_says_what_it_repaired)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
