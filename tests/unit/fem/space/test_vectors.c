/* labels: quick */
/* Functions with continuous tangential or normal components on meshes whose nodes are numbered at random: the traces of
 * random functions from both sides of a facet are equal, formulas in a space are found exactly, and values follow from
 * values on the reference cell and back.
 *
 *  Tolerance: values of size 100 with rounding of geometry: 1e-10. */
#include "fem/mesh/sorted.h"
#include "fem/space/vectors.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-10;

static uint64_t state_of = 1;
static double random_number(void) {
    state_of = state_of * 6364136223846793005u + 1442695040888963407u;
    return (double)(state_of >> 33) / (double)(1u << 31) - 0.5;
}

/* A mesh with other numbers of its nodes, which are moved a little inside. */
static weft_mesh *shuffled(int d, int64_t n) {
    weft_mesh *from = NULL, *out = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &from, NULL)
                            : weft_mesh_make_cube(n, &from, NULL),
                     WEFT_OK);
    const int v = d + 1;
    weft_mesh_data data = {.dimension = d, .n_nodes = from->n_nodes, .n_cells = from->n_cells};
    int32_t *numbers = malloc((size_t)from->n_nodes * sizeof *numbers);
    data.x = weft_array_make((size_t)(from->n_nodes * d), sizeof *data.x);
    data.cells = weft_array_make((size_t)(from->n_cells * v), sizeof *data.cells);
    for (int64_t i = 0; i < from->n_nodes; ++i)
        numbers[i] = (int32_t)i;
    for (int64_t i = from->n_nodes - 1; i > 0; --i) {
        const int64_t k = (int64_t)((random_number() + 0.5) * (double)(i + 1));
        const int32_t swapped = numbers[i];
        numbers[i] = numbers[k];
        numbers[k] = swapped;
    }
    for (int64_t i = 0; i < from->n_nodes * d; ++i)
        data.x[numbers[i / d] * d + i % d] = from->x[i] + 0.2 / (double)n * random_number();
    for (int64_t i = 0; i < from->n_cells * v; ++i)
        data.cells[i] = numbers[from->cells[i]];
    weft_error error = {0};
    if (weft_mesh_make(&data, "shuffled", NULL, &out, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    free(numbers);
    weft_mesh_free(&from);
    return out;
}

/* Reference coordinates of a point with these weights of the vertices of a facet, in a cell. */
static void place(const weft_mesh *mesh, int64_t cell, int n, const int32_t *vertices,
                  const double *weights, double *xi) {
    const int d = mesh->dimension;
    for (int k = 0; k < d; ++k) {
        xi[k] = 0;
        for (int i = 0; i < n; ++i)
            if (mesh->cells[cell * (d + 1) + k + 1] == vertices[i])
                xi[k] += weights[i];
    }
}

/* The traces on both sides of each facet of two cells. */
static void check_facets(const weft_mesh *mesh, const weft_space *space, const double *u,
                         bool is_tangential) {
    static const double weights[] = {0.25, 0.35, 0.4};
    const int d = mesh->dimension;
    int64_t n_facets = 0;
    for (int64_t a = 0; a < mesh->n_cells; ++a)
        for (int64_t b = 0; b < a; ++b) {
            int32_t common[4];
            int n = 0;
            for (int i = 0; i <= d; ++i)
                for (int k = 0; k <= d; ++k)
                    if (mesh->cells[a * (d + 1) + i] == mesh->cells[b * (d + 1) + k])
                        common[n++] = mesh->cells[a * (d + 1) + i];
            if (n != d)
                continue;
            double xi[6], values[6] = {0}, tangents[2][3] = {{0}}, normal[3];
            const double two[] = {0.45, 0.55}, *w = d == 2 ? two : weights;
            place(mesh, a, n, common, w, xi);
            place(mesh, b, n, common, w, xi + d);
            const int64_t cells[] = {a, b};
            const weft_cell_points points = {2, cells, xi};
            assert_int_equal(weft_space_evaluate_at(space, u, 1, &points, d, values, NULL),
                             WEFT_OK);
            for (int t = 0; t + 1 < n; ++t)
                for (int k = 0; k < d; ++k)
                    tangents[t][k] = mesh->x[common[t + 1] * d + k] - mesh->x[common[0] * d + k];
            for (int k = 0; k < 3; ++k)
                normal[k] = tangents[0][(k + 1) % 3] * tangents[1][(k + 2) % 3] -
                            tangents[0][(k + 2) % 3] * tangents[1][(k + 1) % 3];
            if (d == 2) {
                normal[0] = -tangents[0][1];
                normal[1] = tangents[0][0];
            }
            for (int t = 0; t < (is_tangential ? n - 1 : 1); ++t) {
                double jump = 0;
                for (int k = 0; k < d; ++k)
                    jump += (values[k] - values[d + k]) * (is_tangential ? tangents[t] : normal)[k];
                assert_double_near(jump, 0, 0, TOLERANCE);
            }
            ++n_facets;
        }
    assert_true(n_facets > mesh->n_cells);
}

/* A linear field, which all of the families but the lowest of the first kind have. */
static void check_formula(weft_context *context, const weft_space *space) {
    static const char *const texts[] = {"1 + 2*x - y", "x + 3*y", "0.5 - x + 2*y"};
    const weft_mesh *mesh = weft_space_mesh(space);
    const int d = mesh->dimension;
    double *u = weft_array_make((size_t)weft_space_nodes(space), sizeof *u);
    weft_space *nodes = NULL;
    assert_int_equal(weft_mapped_evaluate(context, space, texts, "a test", NULL, u, NULL), WEFT_OK);
    assert_int_equal(weft_space_make(weft_space_device(space), mesh,
                                     (weft_element_kind){WEFT_DISCONTINUOUS, 1}, d, &nodes, NULL),
                     WEFT_OK);
    double *values = weft_array_make((size_t)weft_space_dofs(nodes), sizeof *values);
    assert_int_equal(weft_space_interpolate(space, u, 1, nodes, values, NULL), WEFT_OK);
    for (int64_t i = 0; i < weft_space_nodes(nodes); ++i) {
        const double *x = weft_space_points(nodes) + i * d;
        const double exact[] = {1 + 2 * x[0] - x[1], x[0] + 3 * x[1], 0.5 - x[0] + 2 * x[1]};
        for (int k = 0; k < d; ++k)
            assert_double_near(values[i * d + k], exact[k], 0, TOLERANCE);
    }
    weft_space_free(&nodes);
    free(values);
    free(u);
}

static void test_conforming(void **state) {
    (void)state;
    static const weft_family families[] = {WEFT_NEDELEC, WEFT_NEDELEC_SECOND, WEFT_RAVIART_THOMAS,
                                           WEFT_BREZZI_DOUGLAS_MARINI};
    weft_device *device = NULL;
    weft_library *library = NULL;
    assert_int_equal(weft_device_open("host", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    weft_context own = {.device = device, .library = library}, *context = &own;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = shuffled(d, d == 2 ? 4 : 2), *sorted = NULL;
        assert_int_equal(weft_mesh_sort(mesh, &sorted, NULL), WEFT_OK);
        for (int f = 0; f < 4; ++f)
            for (int degree = 1; degree <= 3; ++degree) {
                weft_space *space = NULL;
                weft_error error = {0};
                const weft_element_kind kind = {families[f], degree};
                assert_int_equal(weft_space_make(device, mesh, kind, 1, &space, &error),
                                 WEFT_ERROR_USAGE);
                if (weft_space_make(device, sorted, kind, 1, &space, &error) != WEFT_OK)
                    fail_msg("%s", error.message);
                const int64_t n = weft_space_nodes(space);
                double *u = weft_array_make((size_t)n, sizeof *u);
                for (int64_t i = 0; i < n; ++i)
                    u[i] = random_number();
                check_facets(sorted, space, u, f < 2);
                if (degree > 1)
                    check_formula(context, space);
                free(u);
                weft_space_free(&space);
            }
        weft_mesh_sorted_free(&sorted);
        weft_mesh_free(&mesh);
    }
    weft_library_free(&library);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conforming)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
