/* labels: quick */
#include "test_support.h"

#include "weft_fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int32_t *random_permutation(int64_t n, uint64_t seed) {
    int32_t *p = malloc((size_t)(n + 1) * sizeof *p);
    for (int64_t i = 0; i < n; ++i)
        p[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; --i) {
        int64_t j = (int64_t)(random_next(&seed) % (uint64_t)(i + 1));
        int32_t swapped = p[i];
        p[i] = p[j];
        p[j] = swapped;
    }
    return p;
}

/* Nodes and cells in random order, as the worst of mesh generators would give them. */
static void shuffle(weft_mesh *mesh, uint64_t seed) {
    int d = mesh->dimension;
    int32_t *nodes = random_permutation(mesh->n_nodes, seed);
    int32_t *cells = random_permutation(mesh->n_cells, seed + 1);
    double *x = weft_array_make((size_t)(mesh->n_nodes * d), sizeof *x);
    int32_t *moved = weft_array_make((size_t)(mesh->n_cells * (d + 1)), sizeof *moved);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        memcpy(x + (int64_t)nodes[i] * d, mesh->x + i * d, (size_t)d * sizeof *x);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int k = 0; k <= d; ++k)
            moved[(int64_t)cells[c] * (d + 1) + k] = nodes[mesh->cells[c * (d + 1) + k]];
    for (int64_t i = 0; i < mesh->n_facets * d; ++i)
        mesh->facets[i] = nodes[mesh->facets[i]];
    free(mesh->x);
    free(mesh->cells);
    mesh->x = x;
    mesh->cells = moved;
    free(nodes);
    free(cells);
}

static double volume(const weft_mesh *mesh, int64_t cell) {
    int d = mesh->dimension;
    const int32_t *n = mesh->cells + cell * (d + 1);
    double e[3][3] = {{0}};
    for (int j = 0; j < d; ++j)
        for (int c = 0; c < d; ++c)
            e[j][c] = mesh->x[n[j + 1] * d + c] - mesh->x[n[0] * d + c];
    if (d == 2)
        return (e[0][0] * e[1][1] - e[0][1] * e[1][0]) / 2;
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
            e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* Upright cells that fill the unit square or cube; its boundary; and each side's facets on their
 * side. */
static void check_mesh(const weft_mesh *mesh, int64_t n) {
    int d = mesh->dimension;
    double sum = 0;
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        assert_true(volume(mesh, cell) > 0);
        sum += volume(mesh, cell);
    }
    assert_double_near(sum, 1, 1e-12, 0);
    assert_int_equal(mesh->n_boundary_facets, d == 2 ? 4 * n : 12 * n * n);
    for (int64_t f = 0; f < mesh->n_boundary_facets; ++f) {
        int sides = 0; /* that all nodes of the facet share */
        for (int c = 0; c < d; ++c)
            for (int end = 0; end < 2; ++end) {
                int on = 0;
                for (int k = 0; k < d; ++k)
                    on += mesh->x[mesh->facets[f * d + k] * d + c] == end;
                sides += on == d;
            }
        assert_true(sides >= 1);
    }
    const char *const names[] = {"left", "right"};
    for (int side = 0; side < 2; ++side) {
        int group = -1;
        assert_int_equal(weft_mesh_group(mesh, names[side], &group, NULL), WEFT_OK);
        assert_int_equal(mesh->groups[group].n_facets, d == 2 ? n : 2 * n * n);
        for (int64_t k = 0; k < mesh->groups[group].n_facets; ++k) {
            int64_t f = mesh->group_facets[mesh->groups[group].first_facet + k];
            for (int v = 0; v < d; ++v)
                assert_double_near(mesh->x[mesh->facets[f * d + v] * d], side, 0, 0);
        }
    }
}

static void check_order(int d, int64_t n, int64_t part_nodes, double most) {
    weft_mesh *mesh = NULL, *again = NULL;
    int32_t *permutation = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &again, NULL)
                            : weft_mesh_make_cube(n, &again, NULL),
                     WEFT_OK);
    shuffle(mesh, 99);
    shuffle(again, 99);
    check_mesh(mesh, n);
    double before = weft_mesh_bandwidth(mesh);
    assert_true(before > 0.2); /* two random numbers differ by a third */
    double *old = malloc((size_t)(mesh->n_nodes * d) * sizeof *old);
    memcpy(old, mesh->x, (size_t)(mesh->n_nodes * d) * sizeof *old);
    assert_int_equal(weft_mesh_order(mesh, part_nodes, NULL, &permutation, NULL), WEFT_OK);
    check_mesh(mesh, n);
    assert_true(weft_mesh_bandwidth(mesh) < most);
    char *seen = calloc((size_t)mesh->n_nodes, 1);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        assert_in_range(permutation[i], 0, mesh->n_nodes - 1);
        assert_int_equal(seen[permutation[i]]++, 0);
        assert_memory_equal(mesh->x + i * d, old + (int64_t)permutation[i] * d,
                            (size_t)d * sizeof *old);
    }
    for (int64_t cell = 1; cell < mesh->n_cells; ++cell) {
        int32_t lowest[2] = {INT32_MAX, INT32_MAX};
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k <= d; ++k) {
                int32_t node = mesh->cells[(cell - 1 + side) * (d + 1) + k];
                lowest[side] = node < lowest[side] ? node : lowest[side];
            }
        assert_true(lowest[0] <= lowest[1]);
    }
    assert_int_equal(weft_mesh_order(again, part_nodes, NULL, NULL, NULL), WEFT_OK);
    assert_memory_equal(mesh->cells, again->cells,
                        (size_t)(mesh->n_cells * (d + 1)) * sizeof(int32_t));
    free(seen);
    free(old);
    free(permutation);
    weft_mesh_free(&mesh);
    weft_mesh_free(&again);
}

/* Row after row, neighbours of n x n points differ by n of n^2 at most, on average by about 2n/3:
 * 0.01 for n = 64. Parts of p nodes put most of them within p. */
static void squares_regain_their_order(void **state) {
    (void)state;
    check_order(2, 64, 1000, 0.04);
    check_order(2, 64, 100000, 0.03); /* one part */
}

static void cubes_regain_their_order(void **state) {
    (void)state;
    check_order(3, 12, 300, 0.12);
    check_order(3, 12, 100000, 0.12);
}

static void the_smallest_meshes(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_mesh_make_square(1, &mesh, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_order(mesh, 1, NULL, NULL, NULL), WEFT_OK);
    check_mesh(mesh, 1);
    assert_int_equal(weft_mesh_order(mesh, 4096, NULL, NULL, NULL), WEFT_OK);
    check_mesh(mesh, 1);
    weft_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_regain_their_order),
        cmocka_unit_test(cubes_regain_their_order),
        cmocka_unit_test(the_smallest_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
