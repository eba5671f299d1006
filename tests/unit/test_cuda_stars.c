/* labels: quick */
/* The CUDA text of stars of edges and of vertices, run on the host thread by thread
 * (cuda_on_host.h): y = K v for P1 tetrahedra against a plain loop over the cells, to 1e-12 of the
 * largest product (sums of some 25 terms with errors of a few last digits, in another order), the
 * same bits for both orders of threads, and for every list over cells its own value. */
#include "test_support.h"

#include "cuda_emulation.h"
#include "edge_star_internal.h"
#include "plan_internal.h"
#include "source_internal.h"
#include "weft_fem.h"

#include <math.h>

enum { ARGUMENTS = 24 };

typedef struct star_case {
    const char *form, *tail;
    weft_scatter scatter;
    int64_t cells_a_side;
    bool is_by_cell;  /* K times 1 + the number of the cell */
    bool is_diagonal; /* y_i = K_ii */
} star_case;

static double random_next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* grad phi_i . grad phi_j |T|, by cofactors */
static void plain_product(const weft_mesh *mesh, const star_case *c, const double *v, double *y) {
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        y[i] = 0;
    for (int64_t t = 0; t < mesh->n_cells; ++t) {
        const int32_t *node = mesh->cells + 4 * t;
        double e[3][3], g[4][3] = {{0}}, det = 0;
        for (int i = 0; i < 3; ++i)
            for (int l = 0; l < 3; ++l)
                e[i][l] = mesh->x[3 * node[i + 1] + l] - mesh->x[3 * node[0] + l];
        for (int i = 0; i < 3; ++i)
            for (int l = 0; l < 3; ++l) {
                const double *p = e[(i + 1) % 3], *q = e[(i + 2) % 3];
                g[i + 1][l] = p[(l + 1) % 3] * q[(l + 2) % 3] - p[(l + 2) % 3] * q[(l + 1) % 3];
                g[0][l] -= g[i + 1][l];
            }
        for (int l = 0; l < 3; ++l)
            det += e[0][l] * g[1][l];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                y[node[i]] += (g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2]) /
                              (6 * fabs(det)) * (c->is_diagonal ? i == j : v[node[j]]) *
                              (c->is_by_cell ? 1 + (double)t : 1);
    }
}

typedef struct star_data {
    const weft_edge_stars *edges;
    const weft_stars *stars;
    double *x, *v, *y, *k;
} star_data;

static void *argument(const weft_graph *graph, const star_data *data, const weft_argument *a) {
    if (a->kind == ARGUMENT_STAR && data->edges) {
        weft_memory *const memories[] = {data->edges->halo_start, data->edges->halo,
                                         data->edges->warps, data->edges->words,
                                         data->edges->cells};
        return weft_memory_host(memories[a->part - WEFT_STAR_ARGUMENTS]);
    }
    if (a->kind == ARGUMENT_STAR) {
        weft_memory *const memories[] = {data->stars->halo_start, data->stars->halo,
                                         data->stars->order,      data->stars->rows,
                                         data->stars->words,      data->stars->cells};
        return weft_memory_host(memories[a->part]);
    }
    assert_int_equal(a->kind, ARGUMENT_DATUM);
    const char *name = graph->data[a->index].name;
    return strcmp(name, "x") == 0   ? data->x
           : strcmp(name, "v") == 0 ? data->v
           : strcmp(name, "k") == 0 ? data->k
                                    : data->y;
}

static weft_compilation *compile(weft_library *library, const star_case *c) {
    weft_device *h200 = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_parameter dimension = {"d", 3};
    const weft_compile_options options = {
        .scatter = c->scatter, .parameters = &dimension, .n_parameters = 1};
    const weft_fragment fragments[] = {{"form", c->form}, {"tail", c->tail}};
    assert_int_equal(weft_device_open("null:h200", NULL, &h200, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(h200), fragments, 2, &options, &compilation,
                     &error) != WEFT_OK)
        fail_msg("%s (%s)", error.message, error.source_line);
    weft_device_free(&h200);
    return compilation;
}

static void run(const weft_compilation *compilation, const star_data *data, int64_t n,
                int backwards, void *object, emulate_function *emulate) {
    void *arguments[ARGUMENTS] = {NULL};
    assert_int_equal(compilation->plan->n_kernels, 1);
    const weft_plan_kernel *kernel = &compilation->plan->kernels[0];
    assert_true(kernel->stars);
    assert_int_equal(kernel->edges, data->edges != NULL);
    for (int i = 0; i < kernel->n_arguments; ++i)
        arguments[i] = argument(compilation->graph, data, &kernel->arguments[i]);
    const weft_star_source star = weft_star_source_of(compilation->graph, kernel);
    const size_t shared = weft_star_source_shared(
        compilation->graph, &star, data->edges ? data->edges->most_local : data->stars->most_local,
        sizeof(double));
    void *function = dlsym(object, kernel->name);
    assert_non_null(function);
    for (int64_t i = 0; i < n; ++i)
        data->y[i] = NAN;
    emulate(function, n, arguments, (unsigned)((n + star.nodes - 1) / star.nodes),
            (unsigned)star.threads, (unsigned)shared, backwards);
}

static weft_mesh *jittered(int64_t cells_a_side, uint64_t *state) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    assert_int_equal(weft_mesh_make_cube(cells_a_side, &mesh, &error), WEFT_OK);
    for (int64_t i = 0; i < 3 * mesh->n_nodes; ++i)
        mesh->x[i] += 0.3 / (double)cells_a_side * (random_next(state) - 0.5);
    return mesh;
}

static void check(weft_library *library, weft_device *host, const star_case *c) {
    weft_error error = {0};
    weft_connectivity *cells = NULL;
    void *object = NULL;
    emulate_function *emulate = NULL;
    uint64_t state = 7;
    weft_mesh *mesh = jittered(c->cells_a_side, &state);
    const size_t n = (size_t)mesh->n_nodes;
    weft_compilation *compilation = compile(library, c);
    emulation_compile(weft_compilation_source(compilation), &object, &emulate);
    assert_int_equal(
        weft_connectivity_make(host, mesh->cells, mesh->n_cells, 4, mesh->n_nodes, &cells, &error),
        WEFT_OK);
    star_data data = {.x = mesh->x,
                      .v = calloc(n, sizeof(double)),
                      .y = calloc(n, sizeof(double)),
                      .k = calloc((size_t)mesh->n_cells + 32, sizeof(double))};
    double *expected = calloc(n, sizeof *expected), *first = calloc(n, sizeof *first), most = 0;
    assert_true(data.v && data.y && data.k && expected && first);
    if (c->scatter == WEFT_SCATTER_STARS)
        assert_int_equal(weft_connectivity_edge_stars(cells, WEFT_STAR_NODES,
                                                      WEFT_EDGE_STAR_THREADS / WEFT_STAR_LANES,
                                                      true, &data.edges, &error),
                         WEFT_OK);
    else
        assert_int_equal(weft_connectivity_stars(cells, WEFT_STAR_NODES, true, &data.stars, &error),
                         WEFT_OK);
    for (int64_t t = 0; t < mesh->n_cells; ++t)
        data.k[t] = 1 + (double)t; /* one number an instance: interleaved is plain */
    for (size_t i = 0; i < n; ++i)
        data.v[i] = random_next(&state) - 0.5;
    plain_product(mesh, c, data.v, expected);
    run(compilation, &data, mesh->n_nodes, 0, object, emulate);
    memcpy(first, data.y, n * sizeof *first);
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < n; ++i)
        if (!(fabs(first[i] - expected[i]) <= 1e-12 * most))
            fail_msg("node %zu of %zu: %.17g, not %.17g", i, n, first[i], expected[i]);
    run(compilation, &data, mesh->n_nodes, 1, object, emulate);
    assert_memory_equal(first, data.y, n * sizeof *first);
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
    const star_case cases[] = {
        {poisson, gradient_first, WEFT_SCATTER_STARS, 1, false, false},
        {poisson, gradient_first, WEFT_SCATTER_STARS, 6, false, false},
        {poisson, gradient_first, WEFT_SCATTER_STARS, 11, false, false},
        {poisson, product, WEFT_SCATTER_STARS, 9, false, false},
        {by_cell, product, WEFT_SCATTER_STARS, 8, true, false},
        {by_cell, diagonal, WEFT_SCATTER_STARS, 8, true, true},
        {poisson, gradient_first, WEFT_SCATTER_VERTEX_STARS, 9, false, false},
        {by_cell, product, WEFT_SCATTER_VERTEX_STARS, 8, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        check(library, host, &cases[i]);
    weft_device_free(&host);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
