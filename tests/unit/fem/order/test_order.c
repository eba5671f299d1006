/* labels: quick */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

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

static weft_mesh *shuffled(int d, int64_t n) {
    weft_mesh *mesh = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    shuffle(mesh, 99);
    return mesh;
}

static bool same_meshes(const weft_mesh *a, const weft_mesh *b) {
    size_t d = (size_t)a->dimension;
    return memcmp(a->x, b->x, (size_t)a->n_nodes * d * sizeof(double)) == 0 &&
           memcmp(a->cells, b->cells, (size_t)a->n_cells * (d + 1) * sizeof(int32_t)) == 0 &&
           memcmp(a->facets, b->facets, (size_t)a->n_facets * d * sizeof(int32_t)) == 0 &&
           memcmp(a->group_facets, b->group_facets, (size_t)a->n_facets * sizeof(int32_t)) == 0;
}

/* Ascending by their nodes in ascending order, compared one after another. */
static bool simplices_ascend(const int32_t *nodes, int64_t n, int width) {
    int32_t last[4] = {-1, -1, -1, -1};
    for (int64_t i = 0; i < n; ++i) {
        int32_t sorted[4] = {0};
        memcpy(sorted, nodes + i * width, (size_t)width * sizeof *sorted);
        for (int a = 0; a < width; ++a)
            for (int b = a + 1; b < width; ++b)
                if (sorted[b] < sorted[a]) {
                    int32_t swapped = sorted[a];
                    sorted[a] = sorted[b];
                    sorted[b] = swapped;
                }
        int k = 0;
        while (k < width - 1 && sorted[k] == last[k])
            ++k;
        if (sorted[k] <= last[k])
            return false;
        memcpy(last, sorted, sizeof last);
    }
    return true;
}

static void check_order(int d, int64_t n, weft_ordering method, int64_t part_nodes, double most) {
    weft_mesh *mesh = shuffled(d, n), *again = shuffled(d, n);
    weft_renumbering renumbering = {0};
    check_mesh(mesh, n);
    double before = weft_mesh_bandwidth(NULL, mesh);
    assert_true(before > 0.2); /* two random numbers differ by a third */
    double *old = malloc((size_t)(mesh->n_nodes * d) * sizeof *old);
    memcpy(old, mesh->x, (size_t)(mesh->n_nodes * d) * sizeof *old);
    int32_t *old_cells = malloc((size_t)(mesh->n_cells * (d + 1)) * sizeof *old_cells);
    memcpy(old_cells, mesh->cells, (size_t)(mesh->n_cells * (d + 1)) * sizeof *old_cells);
    assert_int_equal(weft_mesh_order(NULL, mesh, method, part_nodes, NULL, &renumbering, NULL),
                     WEFT_OK);
    check_mesh(mesh, n);
    assert_true(weft_mesh_bandwidth(NULL, mesh) < most);
    char *seen = calloc((size_t)mesh->n_nodes, 1);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        assert_in_range(renumbering.nodes[i], 0, mesh->n_nodes - 1);
        assert_int_equal(seen[renumbering.nodes[i]]++, 0);
        assert_memory_equal(mesh->x + i * d, old + (int64_t)renumbering.nodes[i] * d,
                            (size_t)d * sizeof *old);
    }
    /* no two cells have the same nodes, so this makes the numbers a permutation */
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int k = 0; k <= d; ++k)
            assert_int_equal(renumbering.nodes[mesh->cells[c * (d + 1) + k]],
                             old_cells[(int64_t)renumbering.cells[c] * (d + 1) + k]);
    assert_true(simplices_ascend(mesh->cells, mesh->n_cells, d + 1));
    assert_true(simplices_ascend(mesh->facets, mesh->n_boundary_facets, d));
    assert_int_equal(weft_mesh_order(NULL, again, method, part_nodes, NULL, NULL, NULL), WEFT_OK);
    assert_true(same_meshes(mesh, again));
    free(seen);
    free(old);
    free(old_cells);
    free(renumbering.nodes);
    free(renumbering.cells);
    weft_mesh_free(&mesh);
    weft_mesh_free(&again);
}

/* Row after row, neighbours of n x n points differ by n of n^2 at most, on average by about 2n/3:
 * 0.01 for n = 64. Parts of p nodes put most of them within p. Bisection: halving once cuts one
 * edge in n (or of those along the other axes none), and the ends of those cut at depth k differ by
 * about 2^-k of all numbers; the number of those cut grows as 2^(k/d), so that the sum is some
 * 2 / n in the plane and 3 / n in space. */
static void squares_regain_their_order(void **state) {
    (void)state;
    check_order(2, 64, WEFT_ORDERING_METIS, 1000, 0.04);
    check_order(2, 64, WEFT_ORDERING_METIS, 100000, 0.03); /* one part */
    check_order(2, 64, WEFT_ORDERING_BISECTION, 0, 0.04);
    check_order(2, 64, WEFT_ORDERING_BISECTION, 1, 0.04);
    check_order(2, 64, WEFT_ORDERING_BISECTION, 100000, 0.04); /* one part */
}

static void cubes_regain_their_order(void **state) {
    (void)state;
    check_order(3, 12, WEFT_ORDERING_METIS, 300, 0.12);
    check_order(3, 12, WEFT_ORDERING_METIS, 100000, 0.12);
    check_order(3, 12, WEFT_ORDERING_BISECTION, 0, 0.2);
    check_order(3, 12, WEFT_ORDERING_BISECTION, 37, 0.2);
}

/* Halving 16 x 16 x 16 points three times leaves eight blocks of 8 x 8 x 8, ties and all. */
static void parts_are_blocks(void **state) {
    (void)state;
    weft_mesh *mesh = shuffled(3, 15);
    assert_int_equal(mesh->n_nodes, 8 * 512);
    assert_int_equal(weft_mesh_order(NULL, mesh, WEFT_ORDERING_BISECTION, 512, NULL, NULL, NULL),
                     WEFT_OK);
    for (int64_t part = 0; part < 8; ++part)
        for (int c = 0; c < 3; ++c) {
            double low = 1, high = 0;
            for (int64_t i = part * 512; i < (part + 1) * 512; ++i) {
                low = fmin(low, mesh->x[i * 3 + c]);
                high = fmax(high, mesh->x[i * 3 + c]);
            }
            assert_double_near(high - low, 7.0 / 15, 1e-12, 0);
        }
    weft_mesh_free(&mesh);
}

/* Large enough that all threads work on one range: the numbers are those of one thread. */
static void threads_change_nothing(void **state) {
    (void)state;
    const char *const devices[] = {"host:1", "host:2", "host:5"};
    for (int d = 2; d <= 3; ++d) {
        int64_t n = d == 2 ? 400 : 45;
        weft_mesh *one = shuffled(d, n);
        assert_int_equal(weft_mesh_order(NULL, one, WEFT_ORDERING_BISECTION, 0, NULL, NULL, NULL),
                         WEFT_OK);
        for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i) {
            weft_device *device = NULL;
            const weft_device_options options = weft_device_options_default(NULL);
            weft_mesh *mesh = shuffled(d, n);
            assert_int_equal(weft_device_open(devices[i], &options, &device, NULL), WEFT_OK);
            assert_int_equal(
                weft_mesh_order(device, mesh, WEFT_ORDERING_BISECTION, 0, NULL, NULL, NULL),
                WEFT_OK);
            assert_true(same_meshes(one, mesh));
            assert_true(weft_mesh_bandwidth(device, mesh) == weft_mesh_bandwidth(NULL, one));
            weft_mesh_free(&mesh);
            weft_device_free(&device);
        }
        weft_mesh_free(&one);
    }
}

/* Coordinates that coincide, have next to no extent, or overflow when they are subtracted. */
static void coordinates_of_any_kind(void **state) {
    (void)state;
    const double scales[] = {0, 1e-320, 1.7e308};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i) {
        weft_mesh *mesh = shuffled(2, 30);
        int64_t n = mesh->n_nodes * 2, positive[2] = {0, 0};
        for (int64_t k = 0; k < n; ++k) {
            mesh->x[k] = (mesh->x[k] * 2 - 1) * scales[i];
            positive[0] += mesh->x[k] > 0;
        }
        assert_int_equal(weft_mesh_order(NULL, mesh, WEFT_ORDERING_BISECTION, 64, NULL, NULL, NULL),
                         WEFT_OK);
        for (int64_t k = 0; k < n; ++k)
            positive[1] += mesh->x[k] > 0;
        assert_int_equal(positive[0], positive[1]);
        assert_true(simplices_ascend(mesh->cells, mesh->n_cells, 3));
        /* 31 columns of 31 points, 8 of 16 parts on the left: 16 columns and some of the next */
        for (int64_t k = 0; scales[i] > 1 && k < 8 * 64; ++k)
            assert_true(mesh->x[2 * k] <= 1.01 / 15 * scales[i]);
        weft_mesh_free(&mesh);
    }
}

/* A wheel whose hub gets the lowest number, so that one bucket and one node have all cells. */
static void a_wheel(void **state) {
    (void)state;
    enum { RIM = 5000 };
    weft_mesh_data data = {.dimension = 2, .n_nodes = RIM + 1, .n_cells = RIM};
    weft_mesh *mesh = NULL;
    data.x = weft_array_make((RIM + 1) * 2, sizeof *data.x);
    data.cells = weft_array_make(RIM * 3, sizeof *data.cells);
    for (int32_t i = 0; i < RIM; ++i) {
        data.x[2 * i] = cos(2 * M_PI * i / RIM);
        data.x[2 * i + 1] = sin(2 * M_PI * i / RIM);
        const int32_t nodes[3] = {RIM, (i * 7) % RIM, (i * 7 + 1) % RIM};
        memcpy(data.cells + (int64_t)3 * i, nodes, sizeof nodes);
    }
    assert_int_equal(weft_mesh_make(&data, "wheel", NULL, &mesh, NULL), WEFT_OK);
    mesh->x[(int64_t)2 * RIM] = -2;
    weft_renumbering renumbering = {0};
    int32_t *old_cells = malloc(sizeof *old_cells * RIM * 3);
    memcpy(old_cells, mesh->cells, sizeof *old_cells * RIM * 3);
    assert_int_equal(
        weft_mesh_order(NULL, mesh, WEFT_ORDERING_BISECTION, 0, NULL, &renumbering, NULL), WEFT_OK);
    for (int64_t i = 0; i < (int64_t)RIM * 3; ++i)
        assert_int_equal(renumbering.nodes[mesh->cells[i]],
                         old_cells[(int64_t)renumbering.cells[i / 3] * 3 + i % 3]);
    int64_t n_hub = 0;
    for (int64_t i = 0; i < mesh->n_cells; ++i)
        n_hub += mesh->x[2 * mesh->cells[3 * i]] == -2;
    assert_int_equal(n_hub, RIM);
    assert_true(simplices_ascend(mesh->cells, mesh->n_cells, 3));
    free(old_cells);
    free(renumbering.nodes);
    free(renumbering.cells);
    weft_mesh_free(&mesh);
}

static void the_smallest_meshes(void **state) {
    (void)state;
    const weft_ordering methods[] = {WEFT_ORDERING_BISECTION, WEFT_ORDERING_METIS};
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_mesh_make_square(1, &mesh, NULL), WEFT_OK);
    for (int m = 0; m < 2; ++m) {
        assert_int_equal(weft_mesh_order(NULL, mesh, methods[m], 1, NULL, NULL, NULL), WEFT_OK);
        check_mesh(mesh, 1);
        assert_int_equal(weft_mesh_order(NULL, mesh, methods[m], 4096, NULL, NULL, NULL), WEFT_OK);
        check_mesh(mesh, 1);
    }
    weft_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_regain_their_order), cmocka_unit_test(cubes_regain_their_order),
        cmocka_unit_test(parts_are_blocks),           cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(coordinates_of_any_kind),    cmocka_unit_test(a_wheel),
        cmocka_unit_test(the_smallest_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
