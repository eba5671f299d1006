/* labels: quick */
/* Refined meshes: counts by formula, volume, conformity, Euler's number, groups, shapes, threads,
 * and what is refused. Midpoints of these coordinates have few rounding errors, sums of some
 * thousand cells some more: 1e-13. */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>
#include <unistd.h>

static const double TOLERANCE = 1e-13;

static weft_mesh *refine(weft_device *device, const weft_mesh *mesh, int times) {
    weft_error error = {0};
    weft_mesh *fine = NULL;
    if (weft_mesh_refine(device, mesh, times, NULL, &fine, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return fine;
}

static double volume_of(const weft_mesh *mesh) {
    double volume = 0, rest = 0; /* Kahan: the sum shall add no error of its own */
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const double part =
            weft_cell_volume(mesh->dimension, mesh->x, mesh->cells + c * (mesh->dimension + 1));
        assert_true(part > 0);
        const double next = volume + (part - rest);
        rest = next - volume - (part - rest);
        volume = next;
    }
    return volume;
}

static double measure_of_group(const weft_mesh *mesh, int g) {
    double sum = 0;
    for (int64_t i = 0; i < mesh->groups[g].n_facets; ++i) {
        double normal[3];
        const int32_t facet = mesh->group_facets[mesh->groups[g].first_facet + i];
        facet_normal(mesh, mesh->facets + (int64_t)mesh->dimension * facet, normal);
        sum += sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    }
    return sum;
}

/* Every facet has one cell or two, those of one are the boundary, and it has `euler` = vertices -
 * edges + faces - cells. */
static void check_topology(const weft_mesh *mesh, int64_t euler) {
    size_t n_facets;
    int *counts;
    int32_t(*facets)[3] = distinct_facets(mesh, &n_facets, &counts);
    const int64_t n_edges = (int64_t)count_edges(mesh);
    for (size_t i = 0; i < n_facets; ++i)
        assert_true(counts[i] == 1 || counts[i] == 2);
    if (mesh->dimension == 2)
        assert_int_equal(mesh->n_nodes - n_edges + mesh->n_cells, euler);
    else
        assert_int_equal(mesh->n_nodes - n_edges + (int64_t)n_facets - mesh->n_cells, euler);
    free(facets);
    free(counts);
    check_boundary(mesh);
}

/* A mesh beside the one that it was made of. */
static void check_refined(const weft_mesh *mesh, const weft_mesh *fine, int times, int64_t euler) {
    const int d = mesh->dimension;
    assert_int_equal(fine->dimension, d);
    assert_int_equal(fine->n_cells, mesh->n_cells << d * times);
    assert_int_equal(fine->n_facets, mesh->n_facets << (d - 1) * times);
    assert_int_equal(fine->n_boundary_facets, mesh->n_boundary_facets << (d - 1) * times);
    assert_double_near(volume_of(fine), volume_of(mesh), TOLERANCE, 0);
    check_topology(fine, euler);
    assert_int_equal(fine->n_groups, mesh->n_groups);
    for (int g = 0; g < fine->n_groups; ++g) {
        assert_string_equal(fine->groups[g].name, mesh->groups[g].name);
        assert_int_equal(fine->groups[g].n_facets, mesh->groups[g].n_facets << (d - 1) * times);
        assert_double_near(measure_of_group(fine, g), measure_of_group(mesh, g), TOLERANCE, 0);
    }
}

/* A grid's nodes refined are a finer grid's. */
static void test_counts(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (int64_t n = 1; n <= 3; ++n)
            for (int times = 1; times <= (d == 2 ? 4 : 2); ++times) {
                weft_mesh *mesh = make_mesh(d, n), *fine = refine(NULL, mesh, times);
                const int64_t side = (n << times) + 1;
                assert_int_equal(fine->n_nodes, d == 2 ? side * side : side * side * side);
                check_refined(mesh, fine, times, 1);
                weft_mesh_free(&fine);
                weft_mesh_free(&mesh);
            }
}

static weft_mesh *mesh_of(int d, int64_t n_nodes, const double *x, int64_t n_cells,
                          const int32_t *cells) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_mesh_data data = {.dimension = d, .n_nodes = n_nodes, .n_cells = n_cells};
    data.x = copy_array(x, (size_t)(n_nodes * d) * sizeof *x);
    data.cells = copy_array(cells, (size_t)(n_cells * (d + 1)) * sizeof *cells);
    if (weft_mesh_make(&data, "given", NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

/* A fan round node 0: its long list is sorted in another way than short ones. */
static void test_nodes_of_many_edges(void **state) {
    enum { N = 400 };
    static double x[2 * (N + 1)];
    static int32_t cells[3 * N];
    (void)state;
    for (int i = 0; i < N; ++i) {
        x[2 * i + 2] = cos(2 * M_PI * i / N);
        x[2 * i + 3] = sin(2 * M_PI * i / N);
        const int32_t nodes[3] = {0, 1 + i, 1 + (i + 1) % N};
        memcpy(cells + 3 * i, nodes, sizeof nodes);
    }
    weft_mesh *fan = mesh_of(2, N + 1, x, N, cells), *fine = refine(NULL, fan, 2);
    check_refined(fan, fine, 2, 1);
    weft_mesh_free(&fine);
    weft_mesh_free(&fan);
}

/* A group inside keeps its side and its length; the count of what a reader has repaired is kept. */
static void test_group_inside(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 2), *mesh = NULL;
    weft_mesh_data data = take_apart(square);
    free(data.group_facet_nodes);
    data.n_groups = 1;
    data.n_group_facets = 2;
    data.group_facet_nodes = weft_array_make(4, sizeof *data.group_facet_nodes);
    assert_non_null(data.group_facet_nodes);
    snprintf(data.groups[0].name, sizeof data.groups[0].name, "wall");
    data.groups[0].first_facet = 0;
    data.groups[0].n_facets = 2;
    /* nodes 0 1 2 / 3 4 5 / 6 7 8: the left half of the middle line, and of the lower side */
    const int32_t nodes[4] = {3, 4, 0, 1};
    memcpy(data.group_facet_nodes, nodes, sizeof nodes);
    assert_int_equal(weft_mesh_make(&data, "wall", NULL, &mesh, NULL), WEFT_OK);
    mesh->n_flipped_cells = 5;
    weft_mesh *fine = refine(NULL, mesh, 3);
    check_refined(mesh, fine, 3, 1);
    assert_int_equal(fine->n_facets - fine->n_boundary_facets, 8);
    assert_double_near(measure_of_group(fine, 0), 1, TOLERANCE, 0);
    for (int64_t i = 0; i < fine->groups[0].n_facets; ++i) {
        const int32_t *ends = fine->facets + 2 * fine->group_facets[i];
        const double y = fine->x[2 * ends[0] + 1];
        assert_true(y == 0 || y == 0.5);
        assert_true(fine->x[2 * ends[1] + 1] == y);
        assert_true(fine->x[2 * ends[0]] <= 0.5 && fine->x[2 * ends[1]] <= 0.5);
    }
    assert_int_equal(fine->n_flipped_cells, 5);
    assert_string_equal(fine->source, "wall, refined 3 times");
    weft_mesh_free(&fine);
    weft_mesh_free(&mesh);
    weft_mesh_free(&square);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Volume over the cube of the root mean square edge, 1 for the regular one; over all cells the
 * least. */
static double worst_quality_of(const weft_mesh *mesh, const int32_t *cells, int64_t n) {
    double worst = INFINITY;
    for (int64_t c = 0; c < n; ++c) {
        const int32_t *nodes = mesh->cells + 4 * (cells ? cells[c] : c);
        double squares = 0;
        for (int i = 0; i < 3; ++i)
            for (int j = i + 1; j < 4; ++j)
                for (int k = 0; k < 3; ++k) {
                    const double u = mesh->x[3 * nodes[i] + k] - mesh->x[3 * nodes[j] + k];
                    squares += u * u;
                }
        const double quality =
            6 * sqrt(2) * weft_cell_volume(3, mesh->x, nodes) / pow(squares / 6, 1.5);
        worst = quality < worst ? quality : worst;
    }
    return worst;
}

static double worst_quality(const weft_mesh *mesh) {
    return worst_quality_of(mesh, NULL, mesh->n_cells);
}

/* The first step makes the worst shapes that ever come. */
static void test_shapes(void **state) {
    uint64_t random = 20;
    static const int32_t cell[4] = {0, 1, 2, 3};
    (void)state;
    for (int trial = 0; trial < 20; ++trial) {
        double x[12];
        for (int k = 0; k < 12; ++k)
            x[k] = (double)(random_next(&random) % 1000) / 1000;
        weft_mesh *mesh = mesh_of(3, 4, x, 1, cell), *once = refine(NULL, mesh, 1);
        const double wanted = worst_quality(once);
        assert_true(wanted > 0 && wanted <= worst_quality(mesh) * (1 + 1e-10));
        for (int times = 2; times <= 4; ++times) {
            weft_mesh *fine = refine(NULL, mesh, times);
            /* volumes of 8^-times: rounding of flat ones counts */
            assert_true(worst_quality(fine) >= wanted * (1 - 1e-9));
            check_refined(mesh, fine, times, 1);
            weft_mesh_free(&fine);
        }
        weft_mesh_free(&once);
        weft_mesh_free(&mesh);
    }
}

/* Whatever the order of its vertices, the same diagonal is taken: the best of the three, as tried
 * one by one. */
static void test_best_diagonal(void **state) {
    static const int32_t iterations[3][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}};
    static const int32_t octahedron[4] = {4, 5, 6, 7}; /* its children in a refined cell */
    uint64_t random = 7;
    (void)state;
    for (int trial = 0; trial < 50; ++trial) {
        double x[12], best = 0, made = INFINITY;
        for (int k = 0; k < 12; ++k)
            x[k] = (double)(random_next(&random) % 1000) / 1000;
        for (int t = 0; t < 3; ++t) {
            weft_mesh *mesh = mesh_of(3, 4, x, 1, iterations[t]), *fine = refine(NULL, mesh, 1);
            double p[4][3], worst = INFINITY;
            for (int i = 0; i < 4; ++i)
                memcpy(p[i], mesh->x + 3 * iterations[t][i], sizeof p[i]);
            made = fmin(made, worst_quality_of(fine, octahedron, 4));
            /* round the diagonal between the midpoints of 02 and 13: two shapes, with that of 01
             * and 03, and that of 01 and 12 */
            for (int shape = 0; shape < 2; ++shape) {
                double y[12];
                for (int k = 0; k < 3; ++k) {
                    y[k] = (p[0][k] + p[2][k]) / 2;
                    y[3 + k] = (p[1][k] + p[3][k]) / 2;
                    y[6 + k] = (p[0][k] + p[1][k]) / 2;
                    y[9 + k] = (shape ? p[1][k] + p[2][k] : p[0][k] + p[3][k]) / 2;
                }
                weft_mesh *child = mesh_of(3, 4, y, 1, iterations[0]);
                worst = fmin(worst, worst_quality(child));
                weft_mesh_free(&child);
            }
            best = fmax(best, worst);
            weft_mesh_free(&fine);
            weft_mesh_free(&mesh);
        }
        assert_double_near(made, best, 0, 1e-9);
    }
}

static int compare_points(const void *a, const void *b) {
    return memcmp(a, b, 3);
}

static int compare_cells(const void *a, const void *b) {
    return memcmp(a, b, 12);
}

/* Cells by the places of their nodes on a grid of `side` parts, sorted; malloc'd. */
static uint8_t (*cells_by_place(const weft_mesh *mesh, int side))[12] {
    uint8_t(*out)[12] = calloc((size_t)mesh->n_cells, sizeof *out);
    assert_non_null(out);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        for (int k = 0; k < 12; ++k)
            out[c][k] = (uint8_t)lround(side * mesh->x[3 * mesh->cells[4 * c + k / 3] + k % 3]);
        qsort(out[c], 4, 3, compare_points);
    }
    qsort(out, (size_t)mesh->n_cells, sizeof *out, compare_cells);
    return out;
}

/* Kuhn's cells refined are Kuhn's of the finer grid (Freudenthal 1942). */
static void test_cube(void **state) {
    (void)state;
    weft_mesh *coarse = make_mesh(3, 2), *fine = refine(NULL, coarse, 2), *wanted = make_mesh(3, 8);
    uint8_t(*a)[12] = cells_by_place(fine, 8), (*b)[12] = cells_by_place(wanted, 8);
    assert_int_equal(fine->n_cells, wanted->n_cells);
    assert_memory_equal(a, b, (size_t)wanted->n_cells * sizeof *a);
    free(a);
    free(b);
    weft_mesh_free(&coarse);
    weft_mesh_free(&fine);
    weft_mesh_free(&wanted);
}

/* ---- threads, steps, files ------------------------------------------------------------------- */

static void check_same(const weft_mesh *a, const weft_mesh *b) {
    const size_t d = (size_t)a->dimension;
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_cells, b->n_cells);
    assert_int_equal(a->n_facets, b->n_facets);
    assert_memory_equal(a->x, b->x, (size_t)a->n_nodes * d * sizeof *a->x);
    assert_memory_equal(a->cells, b->cells, (size_t)a->n_cells * (d + 1) * sizeof *a->cells);
    assert_memory_equal(a->facets, b->facets, (size_t)a->n_facets * d * sizeof *a->facets);
    assert_memory_equal(a->group_facets, b->group_facets,
                        (size_t)a->groups[0].n_facets * sizeof *a->group_facets);
}

/* Any number of threads, and steps taken one by one, make the same mesh. */
static void test_threads(void **state) {
    static const char *const names[] = {"host:1", "host:2", "host:4"};
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = make_mesh(d, d == 2 ? 60 : 12), *alone = refine(NULL, mesh, 2);
        weft_mesh *step = refine(NULL, mesh, 1), *steps = refine(NULL, step, 1);
        check_same(alone, steps);
        for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
            weft_device *device = NULL;
            assert_int_equal(weft_device_open(names[i], NULL, &device, NULL), WEFT_OK);
            weft_mesh *fine = refine(device, mesh, 2);
            check_same(alone, fine);
            weft_mesh_free(&fine);
            weft_device_free(&device);
        }
        weft_mesh_free(&steps);
        weft_mesh_free(&step);
        weft_mesh_free(&alone);
        weft_mesh_free(&mesh);
    }
}

/* Unstructured; the plane one has a hole. */
static void test_gmsh(void **state) {
    static const struct {
        const char *path;
        double size;
        int64_t euler;
    } files[] = {{WEFT_SOURCE_DIR "/meshes/square_with_hole.geo", 0.1, 0},
                 {WEFT_SOURCE_DIR "/meshes/unit_cube.geo", 0.3, 1}};
    (void)state;
    const char *program = getenv("WEFT_GMSH");
    if (program ? access(program, X_OK) != 0 : access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not built (libgmsh-dev is missing)");
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        weft_error error = {0};
        weft_mesh *mesh = NULL;
        if (weft_mesh_read(files[i].path, files[i].size, NULL, &mesh, &error) != WEFT_OK)
            fail_msg("%s", error.message);
        weft_mesh *fine = refine(NULL, mesh, 2);
        assert_true(mesh->n_groups > 0);
        check_refined(mesh, fine, 2, files[i].euler);
        weft_mesh_free(&fine);
        weft_mesh_free(&mesh);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define HINT "\nhint: refine it less often, or start from a coarser mesh"

static void test_refused(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 9), *cube = make_mesh(3, 2), *out = NULL;
    assert_error(weft_mesh_refine(NULL, square, 0, NULL, &out, error), WEFT_ERROR_USAGE,
                 "error: a mesh cannot be refined 0 times\nhint: refine it 1 to 12 times");
    assert_int_equal(weft_mesh_refine(NULL, square, 13, NULL, &out, NULL), WEFT_ERROR_USAGE);
    assert_error(weft_mesh_refine(NULL, square, 12, NULL, &out, error), WEFT_ERROR_UNSUPPORTED,
                 "error: square:9 refined 12 times has 2^31 cells or more, which are not "
                 "supported" HINT);
    /* 48 * 8^9 = 1.5 * 2^32, 48 * 8^8 = 1.5 * 2^29 */
    assert_int_equal(weft_mesh_refine(NULL, cube, 9, NULL, &out, NULL), WEFT_ERROR_UNSUPPORTED);
    assert_int_equal(weft_mesh_refine(NULL, cube, 12, NULL, &out, NULL), WEFT_ERROR_UNSUPPORTED);
    assert_null(out);
    weft_mesh_free(&square);
    weft_mesh_free(&cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_nodes_of_many_edges),
        cmocka_unit_test(test_group_inside),  cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_best_diagonal), cmocka_unit_test(test_cube),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_gmsh),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
