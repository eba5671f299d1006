/* labels: quick */
/* Hierarchies of irregular meshes: each level, its parents and children, groups, threads, and what
 * is refused. Midpoints are computed alike everywhere, so coordinates agree exactly; volumes of 2^d
 * children have some roundings, relative to coordinates that are 24 edges long: 1e-12. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "hierarchy_support.h"

#include <stdio.h>

static const double TOLERANCE = 1e-12;

static const weft_hierarchy_options orders[] = {
    {.size = sizeof(weft_hierarchy_options),
     .times = 3,
     .ordered = true,
     .ordering = WEFT_ORDERING_BISECTION,
     .part_nodes = 16},
    {.size = sizeof(weft_hierarchy_options),
     .times = 3,
     .ordered = true,
     .ordering = WEFT_ORDERING_METIS,
     .part_nodes = 50},
    {.size = sizeof(weft_hierarchy_options), .times = 3}};

static void check_same_nodes_and_facets(const weft_mesh *a, const weft_mesh *b) {
    const size_t d = (size_t)a->dimension;
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_cells, b->n_cells);
    assert_int_equal(a->n_facets, b->n_facets);
    assert_memory_equal(a->x, b->x, (size_t)a->n_nodes * d * sizeof *a->x);
    assert_memory_equal(a->facets, b->facets, (size_t)a->n_facets * d * sizeof *a->facets);
    assert_memory_equal(a->group_facets, b->group_facets,
                        (size_t)a->n_facets * sizeof *a->group_facets);
    assert_string_equal(a->source, b->source);
}

/* Vertices of tetrahedra may be rotated about the first one. */
static void check_rotated(const weft_mesh *a, const weft_mesh *b) {
    for (int64_t c = 0; c < a->n_cells; ++c) {
        const int32_t *p = a->cells + 4 * c, *q = b->cells + 4 * c;
        int t = 1;
        while (t < 4 && q[t] != p[1])
            ++t;
        assert_int_equal(p[0], q[0]);
        assert_in_range(t, 1, 3);
        assert_int_equal(p[2], q[1 + t % 3]);
        assert_int_equal(p[3], q[1 + (t + 1) % 3]);
    }
}

/* The finest mesh is the one that ordering and refining make; so are the others, but for the
 * rotation of tetrahedra. */
static void test_meshes(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; ++o) {
            weft_hierarchy *hierarchy = make_hierarchy(NULL, irregular_mesh(d, 3), &orders[o]);
            assert_int_equal(hierarchy->n_levels, 4);
            for (int l = 0; l < 4; ++l) {
                weft_mesh *coarse = irregular_mesh(d, 3), *mesh = NULL;
                if (orders[o].ordered)
                    assert_int_equal(weft_mesh_order(NULL, coarse, orders[o].ordering,
                                                     orders[o].part_nodes, NULL, NULL, NULL),
                                     WEFT_OK);
                if (l > 0) {
                    assert_int_equal(weft_mesh_refine(NULL, coarse, l, NULL, &mesh, NULL), WEFT_OK);
                    weft_mesh_free(&coarse);
                } else
                    mesh = coarse;
                const weft_mesh *level = hierarchy->levels[l].mesh;
                check_same_nodes_and_facets(mesh, level);
                if (d == 2 || l == 3)
                    assert_memory_equal(mesh->cells, level->cells,
                                        (size_t)(mesh->n_cells * (d + 1)) * sizeof *mesh->cells);
                else
                    check_rotated(mesh, level);
                weft_mesh_free(&mesh);
            }
            weft_hierarchy_free(&hierarchy);
        }
}

/* A node is the midpoint of its parents, so interpolation is exact for the coordinates, and with
 * them for linear functions. Each coarse node is one fine node. */
static void check_parents(const weft_hierarchy_level *coarse, const weft_hierarchy_level *fine) {
    const int d = coarse->mesh->dimension;
    int64_t n_kept = 0;
    char *kept = calloc((size_t)coarse->mesh->n_nodes, 1);
    assert_non_null(kept);
    for (int64_t i = 0; i < fine->mesh->n_nodes; ++i) {
        const int32_t *p = fine->parents + 2 * i;
        for (int end = 0; end < 2; ++end)
            assert_in_range(p[end], 0, coarse->mesh->n_nodes - 1);
        if (p[0] == p[1]) {
            assert_int_equal(kept[p[0]]++, 0);
            ++n_kept;
        }
        for (int k = 0; k < d; ++k) {
            const double *x = coarse->mesh->x;
            assert_true(fine->mesh->x[d * i + k] ==
                        0.5 * x[(int64_t)p[0] * d + k] + 0.5 * x[(int64_t)p[1] * d + k]);
        }
    }
    assert_int_equal(n_kept, coarse->mesh->n_nodes);
    free(kept);
}

/* Vertices of a child are those that its weights give; children divide their cell. */
static void check_children(const weft_hierarchy *hierarchy, int level) {
    const weft_hierarchy_level *fine = &hierarchy->levels[level], *coarse = fine - 1;
    const int d = coarse->mesh->dimension, width = d + 1, n_children = 1 << d;
    int32_t *kinds = NULL;
    assert_int_equal(weft_hierarchy_child_kinds(NULL, hierarchy, level, &kinds, NULL), WEFT_OK);
    char *seen = calloc((size_t)fine->mesh->n_cells, 1);
    assert_non_null(seen);
    for (int64_t c = 0; c < coarse->mesh->n_cells; ++c) {
        const int32_t *cell = coarse->mesh->cells + c * width;
        const double whole = weft_cell_volume(d, coarse->mesh->x, cell);
        double sum = 0;
        for (int child = 0; child < n_children; ++child) {
            double weights[16];
            const int64_t number = c * n_children + child;
            assert_in_range(number, 0, fine->mesh->n_cells - 1);
            assert_int_equal(seen[number]++, 0);
            const int kind = kinds[c * n_children + child];
            assert_int_equal(kind % n_children, child);
            if (d == 2 || level == hierarchy->n_levels - 1)
                assert_int_equal(kind, child);
            weft_hierarchy_child_weights(d, kind, weights);
            const int32_t *nodes = fine->mesh->cells + (int64_t)number * width;
            for (int v = 0; v < width; ++v)
                for (int k = 0; k < d; ++k) {
                    double x = 0;
                    for (int w = 0; w < width; ++w)
                        x += weights[v * width + w] * coarse->mesh->x[(int64_t)cell[w] * d + k];
                    assert_true(x == fine->mesh->x[(int64_t)nodes[v] * d + k]);
                }
            const double part = weft_cell_volume(d, fine->mesh->x, nodes);
            assert_double_near(part, whole / n_children, TOLERANCE, 0);
            sum += part;
        }
        assert_double_near(sum, whole, TOLERANCE, 0);
    }
    free(kinds);
    free(seen);
}

/* A coarse node is in a group, or on the boundary, if and only if its fine node is. */
static void check_groups(const weft_hierarchy_level *coarse, const weft_hierarchy_level *fine) {
    assert_int_equal(coarse->mesh->n_groups, fine->mesh->n_groups);
    for (int g = -1; g < coarse->mesh->n_groups; ++g) {
        int32_t *nodes[2];
        int64_t n[2];
        const weft_mesh *meshes[2] = {coarse->mesh, fine->mesh};
        char *in[2];
        for (int m = 0; m < 2; ++m) {
            assert_int_equal(weft_mesh_group_nodes(meshes[m], g, &nodes[m], &n[m], NULL), WEFT_OK);
            in[m] = calloc((size_t)meshes[m]->n_nodes, 1);
            assert_non_null(in[m]);
            for (int64_t i = 0; i < n[m]; ++i)
                in[m][nodes[m][i]] = 1;
        }
        assert_true(n[0] > 0);
        for (int64_t i = 0; i < fine->mesh->n_nodes; ++i)
            if (fine->parents[2 * i] == fine->parents[2 * i + 1])
                assert_int_equal(in[1][i], in[0][fine->parents[2 * i]]);
        for (int m = 0; m < 2; ++m) {
            free(nodes[m]);
            free(in[m]);
        }
    }
}

static void test_lists(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; ++o) {
            weft_hierarchy *hierarchy = make_hierarchy(NULL, irregular_mesh(d, 3), &orders[o]);
            assert_null(hierarchy->levels[0].parents);
            for (int l = 1; l < hierarchy->n_levels; ++l) {
                check_parents(&hierarchy->levels[l - 1], &hierarchy->levels[l]);
                check_children(hierarchy, l);
                check_groups(&hierarchy->levels[l - 1], &hierarchy->levels[l]);
            }
            weft_hierarchy_free(&hierarchy);
        }
}

static void check_same(const weft_hierarchy *a, const weft_hierarchy *b) {
    assert_int_equal(a->n_levels, b->n_levels);
    for (int l = 0; l < a->n_levels; ++l) {
        const weft_mesh *mesh = a->levels[l].mesh, *other = b->levels[l].mesh;
        check_same_nodes_and_facets(mesh, other);
        assert_memory_equal(mesh->cells, other->cells,
                            (size_t)(mesh->n_cells * (mesh->dimension + 1)) * sizeof *mesh->cells);
        if (l == 0)
            continue;
        assert_memory_equal(a->levels[l].parents, b->levels[l].parents,
                            (size_t)mesh->n_nodes * 2 * sizeof(int32_t));
    }
}

static void test_threads(void **state) {
    static const char *const names[] = {"host:1", "host:2", "host:3", "host:4"};
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        const int64_t n = d == 2 ? 30 : 6;
        weft_hierarchy *alone = make_hierarchy(NULL, irregular_mesh(d, n), &orders[0]);
        for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
            weft_device *device = NULL;
            assert_int_equal(weft_device_open(names[i], NULL, &device, NULL), WEFT_OK);
            weft_hierarchy *hierarchy = make_hierarchy(device, irregular_mesh(d, n), &orders[0]);
            check_same(alone, hierarchy);
            weft_hierarchy_free(&hierarchy);
            weft_device_free(&device);
        }
        weft_hierarchy_free(&alone);
    }
}

/* square:1 has 4 nodes, 2 triangles, 4 facets in 4 groups; square:2 has 9 nodes with parents. */
static void test_bytes(void **state) {
    (void)state;
    const weft_hierarchy_options once = {.size = sizeof once, .times = 1, .ordered = true},
                                 none = {.size = sizeof none, .times = 0};
    weft_hierarchy *hierarchy = make_hierarchy(NULL, make_mesh(2, 1), &once);
    assert_int_equal(weft_hierarchy_bytes(hierarchy),
                     4 * 16 + 2 * 12 + 4 * 8 + 4 * 4 + 4 * sizeof(weft_group) + 9 * 8);
    weft_hierarchy_free(&hierarchy);
    hierarchy = make_hierarchy(NULL, make_mesh(3, 2), &none);
    assert_int_equal(hierarchy->n_levels, 1);
    assert_int_equal(weft_hierarchy_bytes(hierarchy), 0);
    weft_hierarchy_free(&hierarchy);
}

/* The mesh is taken over nevertheless. */
static void test_refused(void **state) {
    static const struct {
        int times;
        const char *message;
    } cases[] = {
        {-1, "error: a mesh cannot be refined -1 times\nhint: refine it 1 to 12 times"},
        {13, "error: a mesh cannot be refined 13 times\nhint: refine it 1 to 12 times"},
        {12, "error: square:9 refined 12 times has 2^31 cells or more, which are not supported\n"
             "hint: refine it less often, or start from a coarser mesh"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const weft_hierarchy_options options = {
            .size = sizeof options, .times = cases[i].times, .ordered = true};
        weft_mesh *mesh = make_mesh(2, 9);
        weft_hierarchy *out = NULL;
        assert_error(weft_hierarchy_make(NULL, &mesh, &options, NULL, &out, error),
                     i < 2 ? WEFT_ERROR_USAGE : WEFT_ERROR_UNSUPPORTED, cases[i].message);
        assert_null(mesh);
        assert_null(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),  cmocka_unit_test(test_lists),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
