/* labels: quick */
/* The CUDA text of edge and vertex patches, run on the host thread by thread
 * (cuda_on_host.h), in patches of every size: y = K v for P1 triangles and tetrahedra against a
 * plain loop over the cells, to 1e-12 of the largest product (sums of some 25 terms with errors of
 * a few last digits, in another order), bitwise identical results for both orders of threads, and
 * for every list over cells its own value. Predicated kernels do the same where they are wanted,
 * and else nothing. */
#include "core/weft_core.h"
#include "cuda_emulation.h"
#include "fem/weft_fem.h"
#include "fusion/base/target.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>

enum { ARGUMENTS = 24 };

typedef struct patch_case {
    const char *form, *suffix;
    weft_scatter scatter;
    int64_t cells_a_side;
    bool is_by_cell;  /* K times 1 + the number of the cell */
    bool is_diagonal; /* y_i = K_ii */
    int d;
} patch_case;

/* How it is compiled. */
typedef struct patch_way {
    int nodes; /* of a patch */
    bool predicated;
} patch_way;

static double random_next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* grad phi_i . grad phi_j |T|, by cofactors. A triangle is one face of a prism of height 1: with
 * the third edge (0, 0, 1) its gradients are those in the plane, and det is the same. */
static void plain_product(const weft_mesh *mesh, const patch_case *c, const double *v, double *y) {
    const int d = c->d;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        y[i] = 0;
    for (int64_t t = 0; t < mesh->n_cells; ++t) {
        const int32_t *node = mesh->cells + (d + 1) * t;
        double e[3][3] = {{0}, {0}, {0, 0, 1}}, g[4][3] = {{0}}, det = 0;
        for (int i = 0; i < d; ++i)
            for (int l = 0; l < d; ++l)
                e[i][l] = mesh->x[d * node[i + 1] + l] - mesh->x[d * node[0] + l];
        for (int i = 0; i < d; ++i)
            for (int l = 0; l < 3; ++l) {
                const double *p = e[(i + 1) % 3], *q = e[(i + 2) % 3];
                g[i + 1][l] = p[(l + 1) % 3] * q[(l + 2) % 3] - p[(l + 2) % 3] * q[(l + 1) % 3];
                g[0][l] -= g[i + 1][l];
            }
        for (int l = 0; l < 3; ++l)
            det += e[0][l] * g[1][l];
        for (int i = 0; i <= d; ++i)
            for (int j = 0; j <= d; ++j)
                y[node[i]] += (g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2]) /
                              ((d == 2 ? 2 : 6) * fabs(det)) *
                              (c->is_diagonal ? i == j : v[node[j]]) *
                              (c->is_by_cell ? 1 + (double)t : 1);
    }
}

typedef struct patch_data {
    const weft_patches *edges;
    const weft_patches *patches;
    double *x, *v, *y, *k;
} patch_data;

static void *argument(const weft_graph *graph, const patch_data *data, const weft_argument *a) {
    if (a->kind == ARGUMENT_PATCH && data->edges) {
        weft_memory *const memories[] = {data->edges->halo_start, data->edges->halo,
                                         data->edges->rows, data->edges->words, data->edges->cells};
        return weft_memory_host(memories[a->part - WEFT_PATCH_ARGUMENTS]);
    }
    if (a->kind == ARGUMENT_PATCH) {
        weft_memory *const memories[] = {data->patches->halo_start, data->patches->halo,
                                         data->patches->order,      data->patches->rows,
                                         data->patches->words,      data->patches->cells};
        return weft_memory_host(memories[a->part]);
    }
    assert_int_equal(a->kind, ARGUMENT_VALUE);
    const char *name = graph->values[a->index].name;
    return strcmp(name, "x") == 0   ? data->x
           : strcmp(name, "v") == 0 ? data->v
           : strcmp(name, "k") == 0 ? data->k
                                    : data->y;
}

static weft_compilation *compile(weft_library *library, const patch_case *c, const patch_way *way) {
    weft_device *h200 = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_parameter dimension = {"d", c->d};
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = c->scatter,
                                          .parameters = &dimension,
                                          .n_parameters = 1,
                                          .patch_nodes = way->nodes,
                                          .predicated = way->predicated};
    const weft_fragment fragments[] = {{"form", c->form}, {"suffix", c->suffix}};
    assert_int_equal(weft_device_open("null:h200", NULL, &h200, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(h200), fragments, 2, &options, &compilation,
                     &error) != WEFT_OK)
        fail_msg("%s (%s)", error.message, error.source_line);
    weft_device_free(&h200);
    return compilation;
}

/* The kernel, where it is predicated with this `active`. */
static void run(const weft_compilation *compilation, const patch_data *data, int64_t n,
                int backwards, uint32_t active, void *object, emulate_function *emulate) {
    const weft_segment *segment = weft_compilation_only(compilation);
    void *arguments[ARGUMENTS] = {NULL};
    assert_int_equal(segment->plan->n_kernels, 1);
    const weft_plan_kernel *kernel = &segment->plan->kernels[0];
    assert_int_equal(kernel->kind, data->edges != NULL ? KERNEL_EDGE_PATCH : KERNEL_VERTEX_PATCH);
    for (int i = 0; i < kernel->n_arguments; ++i)
        arguments[i] = argument(segment->graph, data, &kernel->arguments[i]);
    arguments[kernel->n_arguments] = &active; /* nobody looks where it is not predicated */
    const weft_patch_computation patch = weft_patch_computation_of(segment->graph, kernel);
    const size_t shared = weft_patch_computation_shared(
        segment->graph, &patch, data->edges ? data->edges->most_local : data->patches->most_local,
        sizeof(double));
    void *function = dlsym(object, kernel->name);
    assert_non_null(function);
    emulate(function, n, arguments, (unsigned)((n + patch.nodes - 1) / patch.nodes),
            (unsigned)patch.threads, (unsigned)shared, backwards);
}

static weft_mesh *jittered(const patch_case *c, uint64_t *state) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    assert_int_equal(c->d == 2 ? weft_mesh_make_square(c->cells_a_side, &mesh, &error)
                               : weft_mesh_make_cube(c->cells_a_side, &mesh, &error),
                     WEFT_OK);
    for (int64_t i = 0; i < c->d * mesh->n_nodes; ++i)
        mesh->x[i] += 0.3 / (double)c->cells_a_side * (random_next(state) - 0.5);
    return mesh;
}

static void forget(const patch_data *data, size_t n) {
    for (size_t i = 0; i < n; ++i)
        data->y[i] = NAN;
}

static void check(weft_library *library, weft_device *host, const patch_case *c,
                  const patch_way *way) {
    weft_error error = {0};
    weft_connectivity *cells = NULL;
    void *object = NULL;
    emulate_function *emulate = NULL;
    uint64_t state = 7;
    weft_mesh *mesh = jittered(c, &state);
    const size_t n = (size_t)mesh->n_nodes;
    weft_compilation *compilation = compile(library, c, way);
    emulation_compile(weft_compilation_source(compilation), &object, &emulate);
    assert_int_equal(weft_connectivity_make(host, mesh->cells, mesh->n_cells, c->d + 1,
                                            mesh->n_nodes, &cells, &error),
                     WEFT_OK);
    patch_data data = {.x = mesh->x,
                       .v = calloc(n, sizeof(double)),
                       .y = calloc(n, sizeof(double)),
                       .k = calloc((size_t)mesh->n_cells + 32, sizeof(double))};
    double *expected = calloc(n, sizeof *expected), *first = calloc(n, sizeof *first), most = 0;
    assert_true(data.v && data.y && data.k && expected && first);
    if (c->scatter == WEFT_SCATTER_PATCHES && c->d == 3)
        assert_int_equal(
            weft_connectivity_patches(
                cells,
                &(weft_patch_options){PATCH_EDGE, way->nodes,
                                      WEFT_EDGE_PATCH_THREADS / WEFT_PATCH_LANES, true},
                &data.edges, &error),
            WEFT_OK);
    else
        assert_int_equal(weft_connectivity_patches(
                             cells, &(weft_patch_options){PATCH_VERTEX, way->nodes, 0, true},
                             &data.patches, &error),
                         WEFT_OK);
    for (int64_t t = 0; t < mesh->n_cells; ++t)
        data.k[t] = 1 + (double)t; /* one number per element: interleaved is plain */
    for (size_t i = 0; i < n; ++i)
        data.v[i] = random_next(&state) - 0.5;
    plain_product(mesh, c, data.v, expected);
    forget(&data, n);
    run(compilation, &data, mesh->n_nodes, 0, 1, object, emulate);
    memcpy(first, data.y, n * sizeof *first);
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < n; ++i)
        if (!(fabs(first[i] - expected[i]) <= 1e-12 * most))
            fail_msg("patches of %d: node %zu of %zu: %.17g, not %.17g", way->nodes, i, n, first[i],
                     expected[i]);
    forget(&data, n);
    run(compilation, &data, mesh->n_nodes, 1, 1, object, emulate);
    assert_memory_equal(first, data.y, n * sizeof *first);
    for (size_t i = 0; i < n; ++i)
        data.v[i] = -1;
    run(compilation, &data, mesh->n_nodes, 0, !way->predicated, object, emulate);
    assert_int_equal(memcmp(first, data.y, n * sizeof *first) == 0,
                     way->predicated || c->is_diagonal);
    free(data.v);
    free(data.y);
    free(data.k);
    free(expected);
    free(first);
    dlclose(object);
    weft_compilation_free(&compilation);
    weft_connectivity_free(&cells);
    weft_mesh_free(&mesh);
}

static const char by_cell[] = "parameter d = 3;\nindex cells, nodes;\n"
                              "connectivity dofs : cells -> nodes[d + 1];\n"
                              "input x : real[d] over nodes;\ninput k : real over cells;\n"
                              "J = jacobian(x[dofs]);\n"
                              "K = smmul(dshape_dot_dshape(tform_dshape(J), J), k);\n";

static void products(void **state) {
    (void)state;
    weft_library *library = NULL;
    weft_device *host = NULL;
    weft_error error = {0};
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_device_open("host:1", NULL, &host, &error), WEFT_OK);
    const char *poisson = weft_fem_script("poisson.weft");
    const char *product = weft_fem_script("product.weft");
    const char *gradient_first = weft_fem_script("stiffness_product.weft");
    const char *diagonal = weft_fem_script("diagonal.weft");
    const patch_case cases[] = {
        {poisson, gradient_first, WEFT_SCATTER_PATCHES, 1, false, false, 3},
        {poisson, gradient_first, WEFT_SCATTER_PATCHES, 6, false, false, 3},
        {poisson, gradient_first, WEFT_SCATTER_PATCHES, 11, false, false, 3},
        {poisson, product, WEFT_SCATTER_PATCHES, 9, false, false, 3},
        {by_cell, product, WEFT_SCATTER_PATCHES, 8, true, false, 3},
        {by_cell, diagonal, WEFT_SCATTER_PATCHES, 8, true, true, 3},
        {poisson, gradient_first, WEFT_SCATTER_VERTEX_PATCHES, 11, false, false, 3},
        {by_cell, product, WEFT_SCATTER_VERTEX_PATCHES, 8, true, false, 3},
        {poisson, gradient_first, WEFT_SCATTER_PATCHES, 1, false, false, 2},
        {poisson, gradient_first, WEFT_SCATTER_PATCHES, 33, false, false, 2},
        {by_cell, product, WEFT_SCATTER_PATCHES, 30, true, false, 2},
        {by_cell, diagonal, WEFT_SCATTER_PATCHES, 30, true, true, 2}};
    static const patch_way ways[] = {{128, true},  {512, false}, {256, true},
                                     {256, false}, {512, true},  {128, false}};
    enum { ALL = sizeof ways / sizeof *ways, SOME = 2 }; /* each takes a compiler half a second */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int64_t side = cases[i].cells_a_side;
        for (size_t k = 0; k < (side == 1 ? 1 : side == 11 || side == 33 ? ALL : SOME); ++k)
            check(library, host, &cases[i], &ways[k]);
    }
    weft_device_free(&host);
    weft_library_free(&library);
}

static void other_patches_are_refused(void **state) {
    (void)state;
    static const int sizes[] = {64, 384, 1024, -1};
    weft_library *library = NULL;
    weft_device *h200 = NULL;
    weft_error error = {0};
    const weft_fragment fragments[] = {{"form", weft_fem_script("poisson.weft")},
                                       {"suffix", weft_fem_script("product.weft")}};
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &h200, &error), WEFT_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        weft_compilation *none = NULL;
        const weft_compile_options options = {
            .size = sizeof options, .scatter = WEFT_SCATTER_PATCHES, .patch_nodes = sizes[i]};
        assert_int_equal(
            weft_compile(library, weft_device_limits(h200), fragments, 2, &options, &none, &error),
            WEFT_ERROR_USAGE);
        assert_non_null(strstr(error.message, "patches have 128, 256 or 512 nodes"));
    }
    weft_device_free(&h200);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products),
                                       cmocka_unit_test(other_patches_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
