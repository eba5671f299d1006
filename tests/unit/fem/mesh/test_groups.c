/* labels: quick */
/* Groups by name, their facets and nodes, and the cell of a point. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

static void test_found(void **state) {
    int group = 99;
    (void)state;
    weft_mesh *mesh = make_mesh(3, 2);
    assert_int_equal(weft_mesh_group(mesh, "back", &group, NULL), WEFT_OK);
    assert_int_equal(group, 3);
    assert_int_equal(weft_mesh_group(mesh, "boundary", &group, NULL), WEFT_OK);
    assert_int_equal(group, -1);
    strcpy(mesh->groups[5].name, "boundary"); /* a group of this name comes first */
    assert_int_equal(weft_mesh_group(mesh, "boundary", &group, NULL), WEFT_OK);
    assert_int_equal(group, 5);
    weft_mesh_free(&mesh);
}

static void test_missing(void **state) {
    int group = 99;
    (void)state;
    weft_mesh *mesh = make_mesh(2, 2);
    assert_error(weft_mesh_group(mesh, "botom", &group, error), WEFT_ERROR_INPUT,
                 "error: square:2 has no group `botom`; it has left, right, bottom, top\n"
                 "hint: did you mean `bottom`?");
    assert_error(weft_mesh_group(mesh, "inlet_of_the_pump", &group, error), WEFT_ERROR_INPUT,
                 "error: square:2 has no group `inlet_of_the_pump`; it has left, right, bottom, "
                 "top\nhint: `boundary` is the whole boundary");
    mesh->groups[0].dimension = 2;
    assert_error(weft_mesh_group(mesh, "left", &group, error), WEFT_ERROR_INPUT,
                 "error: group `left` of square:2 has dimension 2, and facets have 1\n"
                 "hint: conditions refer to Physical Curve groups");
    mesh->n_groups = 0;
    assert_error(weft_mesh_group(mesh, "left", &group, error), WEFT_ERROR_INPUT,
                 "error: square:2 has no groups, so no group `left`\n"
                 "hint: name its boundary in the .geo file, such as Physical Curve(\"left\") = "
                 "{...}; or use the group `boundary`, which is all of it");
    assert_int_equal(group, 99);
    weft_mesh_free(&mesh);
}

static void test_facets_and_nodes(void **state) {
    (void)state;
    weft_mesh *mesh = make_mesh(3, 3);
    for (int group = -1; group < 6; ++group) {
        int32_t *facets = NULL, *nodes = NULL;
        int64_t n_facets = 0, n_nodes = 0;
        assert_int_equal(weft_mesh_group_facets(mesh, group, &facets, &n_facets, NULL), WEFT_OK);
        assert_int_equal(weft_mesh_group_nodes(mesh, group, &nodes, &n_nodes, NULL), WEFT_OK);
        assert_int_equal(n_facets, group < 0 ? 108 : 18);
        assert_int_equal(n_nodes, group < 0 ? 56 : 16); /* 4^3 - 2^3, 4^2 */
        for (int64_t i = 0; i < n_nodes; ++i) {
            assert_true(i == 0 || nodes[i] > nodes[i - 1]);
            if (group >= 0)
                assert_true(mesh->x[3 * nodes[i] + group / 2] == group % 2);
        }
        for (int64_t i = 0; i < 3 * n_facets; ++i)
            assert_non_null(
                bsearch(&facets[i], nodes, (size_t)n_nodes, sizeof *nodes, compare_int32));
        free(facets);
        free(nodes);
    }
    weft_mesh_free(&mesh);
}

/* Barycentric coordinates: of a point made from them they come back; 1e-13 for 20 operations. */
static void test_locate(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = make_mesh(d, 4);
        uint64_t seed = 99;
        for (int64_t c = 0; c < mesh->n_cells; ++c) {
            double weight[4], sum = 0, point[3] = {0, 0, 0}, found[4];
            int64_t cell = -2;
            for (int i = 0; i <= d; ++i)
                sum += weight[i] = 0.05 + (double)(random_next(&seed) % 1000) / 1000;
            for (int i = 0; i <= d; ++i)
                for (int k = 0; k < d; ++k)
                    point[k] += weight[i] / sum * mesh->x[mesh->cells[c * (d + 1) + i] * d + k];
            weft_mesh_locate(mesh, point, &cell, found);
            assert_int_equal(cell, c);
            for (int i = 0; i <= d; ++i)
                assert_double_near(found[i], weight[i] / sum, 0, 1e-13);
        }
        weft_mesh_free(&mesh);
    }
}

static void test_locate_edges(void **state) {
    static const double inside[][3] = {
        {0, 0, 0},     {1, 1, 1},       {1, 0, 0.5},          {0.25, 0.25, 0.25},
        {0.1, 0.9, 1}, {1.0 / 3, 0, 0}, {1 + 1e-12, 0.5, 0.5}};
    static const double outside[][3] = {
        {-1e-6, 0.5, 0.5}, {0.5, 1.001, 0.5}, {7, 7, 7}, {NAN, 0.5, 0.5}};
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = make_mesh(d, 4);
        for (size_t i = 0; i < sizeof inside / sizeof *inside; ++i) {
            double found[4];
            int64_t cell = -2;
            weft_mesh_locate(mesh, inside[i], &cell, found);
            assert_in_range(cell, 0, mesh->n_cells - 1);
            for (int k = 0; k < d; ++k) {
                double x = 0;
                for (int v = 0; v <= d; ++v)
                    x += found[v] * mesh->x[mesh->cells[cell * (d + 1) + v] * d + k];
                assert_double_near(x, inside[i][k], 0, 1e-13);
            }
        }
        for (size_t i = 0; i < sizeof outside / sizeof *outside; ++i) {
            double found[4];
            int64_t cell = -2;
            weft_mesh_locate(mesh, outside[i], &cell, found);
            assert_int_equal(cell, -1);
        }
        weft_mesh_free(&mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_missing),
                                       cmocka_unit_test(test_facets_and_nodes),
                                       cmocka_unit_test(test_locate),
                                       cmocka_unit_test(test_locate_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
