/* labels: quick */
/* Groups of points and images of nodes: unused nodes and duplicates are removed, and renumbering and refinement keep
 * them; midpoints of the edges of sides are images where their ends are. */
#include "mesh_support.h"

/* The square of n cells a side: its points are nodes, its right side is an image of the left one, and its top of the
 * bottom, each given twice, as 7 and 3. */
static weft_mesh_data points_of_square(int64_t n) {
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_mesh_make_square(n, &mesh, NULL), WEFT_OK);
    weft_mesh_data data = {
        .dimension = 2, .n_nodes = mesh->n_nodes, .n_cells = mesh->n_cells, .n_groups = 2};
    data.x = mesh->x;
    data.cells = mesh->cells;
    mesh->x = NULL;
    mesh->cells = NULL;
    weft_mesh_free(&mesh);
    data.groups = weft_array_make(2, sizeof *data.groups);
    data.groups[0] = (weft_group){.name = "corners", .dimension = 0, .n_points = 5};
    data.groups[1] = (weft_group){.name = "last", .dimension = 0, .first_point = 4, .n_points = 1};
    data.points.nodes = weft_array_make(5, sizeof *data.points.nodes);
    data.points.pairs = weft_array_make(4 * (size_t)(n + 1), 3 * sizeof *data.points.pairs);
    data.points.n_nodes = 5;
    int corner = 0;
    for (int32_t i = 0; i < data.n_nodes; ++i) {
        const double x = data.x[2 * i], y = data.x[2 * i + 1];
        if ((x == 0 || x == 1) && (y == 0 || y == 1))
            data.points.nodes[corner++] = i;
        for (int32_t k = 0; k < data.n_nodes; ++k) {
            const double *at = &data.x[2 * k];
            if ((x == 1 && at[0] == 0 && at[1] == y) || (y == 1 && at[1] == 0 && at[0] == x))
                for (int twice = 0; twice < 2; ++twice) {
                    int32_t *pair = data.points.pairs + 3 * data.points.n_pairs++;
                    pair[0] = at[1] == y && x == 1 ? 7 : 3;
                    pair[1] = i;
                    pair[2] = k;
                }
        }
    }
    data.points.nodes[4] = data.points.nodes[0];
    assert_int_equal(data.points.n_pairs, 4 * (n + 1));
    return data;
}

/* Every node of the right side and of the top has one image, straight across. */
static void check_square(const weft_mesh *mesh, int64_t n) {
    int32_t *nodes = NULL;
    int64_t count = 0;
    int group = -1;
    assert_int_equal(weft_mesh_place(mesh, "corners", &group, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_group_nodes(mesh, group, &nodes, &count, NULL), WEFT_OK);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; ++i) {
        const double *x = &mesh->x[2 * nodes[i]];
        assert_true((x[0] == 0 || x[0] == 1) && (x[1] == 0 || x[1] == 1));
        assert_true(i == 0 || nodes[i] > nodes[i - 1]);
    }
    free(nodes);
    assert_int_equal(mesh->groups[1].n_points, 1);
    assert_int_equal(mesh->points.n_pairs, 2 * (n + 1));
    for (int64_t i = 0; i < mesh->points.n_pairs; ++i) {
        const int32_t *pair = mesh->points.pairs + 3 * i;
        const double *x = &mesh->x[2 * pair[1]], *y = &mesh->x[2 * pair[2]];
        const int along = pair[0]; /* 3: the top, 7: the right side */
        assert_int_equal(pair[0], i / (n + 1));
        assert_true(x[1 - along] == 1 && y[1 - along] == 0 && x[along] == y[along]);
    }
}

static void test_kept(void **state) {
    (void)state;
    weft_mesh_data data = points_of_square(3);
    weft_mesh *mesh = NULL, *finer = NULL;
    assert_int_equal(weft_mesh_make(&data, "points", NULL, &mesh, NULL), WEFT_OK);
    check_square(mesh, 3);
    int group = 0;
    assert_error(weft_mesh_any_group(mesh, "last", &group, error), WEFT_ERROR_INPUT,
                 "error: group `last` of points has dimension 0, and a group of cells or facets is "
                 "needed\nhint: name a group of dimension 1 or 2");
    assert_int_equal(weft_mesh_refine(NULL, mesh, 2, NULL, &finer, NULL), WEFT_OK);
    check_square(finer, 12);
    assert_int_equal(weft_mesh_order(NULL, finer, WEFT_ORDERING_BISECTION, 16, NULL, NULL, NULL),
                     WEFT_OK);
    check_square(finer, 12);
    weft_mesh_free(&finer);
    weft_mesh_free(&mesh);
}

/* A node that no cell uses is in no list, and the others keep their places. */
static void test_unused(void **state) {
    (void)state;
    weft_mesh_data data = points_of_square(2);
    weft_mesh *mesh = NULL;
    double *x = weft_array_make((size_t)data.n_nodes + 1, 2 * sizeof *x);
    memcpy(x + 2, data.x, (size_t)data.n_nodes * 2 * sizeof *x);
    free(data.x);
    data.x = x;
    ++data.n_nodes;
    for (int64_t i = 0; i < 3 * data.n_cells; ++i)
        ++data.cells[i];
    for (int i = 0; i < 4; ++i)
        ++data.points.nodes[i];
    data.points.nodes[4] = 0;
    for (int64_t i = 0; i < 3 * data.points.n_pairs; ++i)
        data.points.pairs[i] += i % 3 > 0;
    data.points.pairs[2] = 0;
    assert_int_equal(weft_mesh_make(&data, "points", NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_dropped_nodes, 1);
    assert_int_equal(mesh->groups[1].n_points, 0);
    mesh->groups[1].n_points = 1; /* as check_square has it */
    check_square(mesh, 2);
    weft_mesh_free(&mesh);
}

static void test_refused(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    weft_mesh_data data = points_of_square(1);
    data.groups[1].first_point = 5;
    assert_error(weft_mesh_make(&data, "bad", NULL, &mesh, error), WEFT_ERROR_USAGE,
                 "error: bad: group `last` reaches past the points that are there");
    data = points_of_square(1);
    data.points.nodes[2] = 4;
    assert_error(weft_mesh_make(&data, "bad", NULL, &mesh, error), WEFT_ERROR_INPUT,
                 "error: bad: a group of points names node 5, and there are 4");
    data = points_of_square(1);
    data.points.pairs[4] = -1;
    assert_error(weft_mesh_make(&data, "bad", NULL, &mesh, error), WEFT_ERROR_INPUT,
                 "error: bad: Periodic names node 0, and there are 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_unused),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
