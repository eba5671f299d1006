/* labels: quick */
/* Transfer and coarse operators: P from the parents, dense; restriction is its transpose; the form
 * with averaged coefficients is P^T A P, as a whole and cell by cell. Values are halves of small
 * integers where equality is exact. Otherwise sums of some hundred products are compared, relative
 * to the largest entry: 1e-13. On the host, or the device in WEFT_TEST_DEVICE, and by CUDA text on an
 * emulated GPU. */
#include "core/weft_core.h"
#include "emulated_gpu.h"
#include "fem/base/memory.h"
#include "fem/weft_fem.h"
#include "hierarchy_support.h"
#include "operator_fixture.h"

static const double TOLERANCE = 1e-13;

typedef struct setting {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_hierarchy *hierarchy;
    int d;
} setting;

static setting open_setting(bool emulated, int d, int64_t n, int times) {
    setting s = {.d = d};
    const weft_hierarchy_options options = {
        .size = sizeof options, .times = times, .ordered = true, .part_nodes = 16};
    const char *forced = getenv("WEFT_TEST_DEVICE");
    const char *device = forced && !emulated ? forced : "host";
    assert_int_equal(weft_device_open(device, NULL, &s.device, NULL), WEFT_OK);
    if (emulated)
        emulated_gpu_make(s.device);
    assert_int_equal(weft_fem_library_make(&s.library, NULL), WEFT_OK);
    s.context = (weft_context){.device = s.device, .library = s.library};
    s.hierarchy = make_hierarchy(s.device, irregular_mesh(d, n), &options);
    return s;
}

static void close_setting(setting *s) {
    weft_hierarchy_free(&s->hierarchy);
    weft_library_free(&s->library);
    weft_device_free(&s->device);
}

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

/* ---- coarse operators ------------------------------------------------------------------------ */

/* Coefficients of all levels: the finest random, the others averaged on the device. */
static double **average(setting *s, int components) {
    const int n_levels = s->hierarchy->n_levels;
    const int lanes = weft_device_limits(s->device)->lanes_double;
    double **out = calloc((size_t)n_levels, sizeof *out);
    weft_memory *data[4] = {NULL};
    weft_error error = {0};
    uint64_t random = 77;
    assert_non_null(out);
    assert_in_range(n_levels, 1, 4);
    for (int l = n_levels - 1; l >= 0; --l) {
        const int64_t n = s->hierarchy->levels[l].mesh->n_cells;
        const size_t padded = (size_t)((n + lanes - 1) / lanes * lanes * components);
        double *interleaved = calloc(padded, sizeof *interleaved);
        out[l] = calloc((size_t)(n * components), sizeof **out);
        assert_true(interleaved && out[l]);
        check(weft_memory_make(s->device, padded * sizeof(double), &data[l], &error), &error);
        if (l == n_levels - 1) {
            for (int64_t i = 0; i < n * components; ++i)
                out[l][i] = exp(5 * fixture_random(&random));
            weft_interleave(out[l], n, components, lanes, interleaved);
            check(weft_memory_write(data[l], 0, interleaved, padded * sizeof(double), &error),
                  &error);
        }
        free(interleaved);
    }
    check(weft_hierarchy_average_cells(&s->context, s->hierarchy, components, data, &error),
          &error);
    for (int l = 0; l < n_levels; ++l) {
        const size_t bytes = weft_memory_bytes(data[l]);
        double *interleaved = malloc(bytes);
        assert_non_null(interleaved);
        check(weft_memory_read(data[l], 0, interleaved, bytes, &error), &error);
        weft_deinterleave(interleaved, s->hierarchy->levels[l].mesh->n_cells, components, lanes,
                          out[l]);
        free(interleaved);
        weft_memory_free(&data[l]);
    }
    return out;
}

/* K_ij = V g_i^T D g_j, D a number or a tensor */
static void cell_matrix(const weft_mesh *mesh, int64_t cell, const double *D, int components,
                        double K[4][4]) {
    const int d = mesh->dimension;
    double g[4][3];
    const double volume = reference_gradients(mesh->x, mesh->cells + cell * (d + 1), d, g);
    for (int i = 0; i <= d; ++i)
        for (int j = 0; j <= d; ++j) {
            K[i][j] = 0;
            for (int a = 0; a < d; ++a)
                for (int b = 0; b < d; ++b)
                    if (components > 1 || a == b)
                        K[i][j] += volume * g[i][a] * D[components > 1 ? a * d + b : 0] * g[j][b];
        }
}

/* Dense, [n][n]; malloc'd. */
static double *assemble(const weft_mesh *mesh, const double *D, int components) {
    const int width = mesh->dimension + 1;
    double *A = calloc((size_t)(mesh->n_nodes * mesh->n_nodes), sizeof *A), K[4][4];
    assert_non_null(A);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const int32_t *nodes = mesh->cells + c * width;
        cell_matrix(mesh, c, D + c * components, components, K);
        for (int i = 0; i < width; ++i)
            for (int j = 0; j < width; ++j)
                A[nodes[i] * mesh->n_nodes + nodes[j]] += K[i][j];
    }
    return A;
}

static void check_matrices(const double *a, const double *b, int64_t n) {
    double most = 0, difference = 0;
    for (int64_t i = 0; i < n; ++i) {
        most = fmax(most, fabs(b[i]));
        difference = fmax(difference, fabs(a[i] - b[i]));
    }
    assert_true(most > 0);
    assert_double_near(difference / most, 0, 0, TOLERANCE);
}

static void check_galerkin(const weft_hierarchy_level *fine, const double *D, const double *D_mean,
                           int components) {
    const int64_t n = fine->mesh->n_nodes, m = fine[-1].mesh->n_nodes;
    double *A = assemble(fine->mesh, D, components);
    double *coarse = assemble(fine[-1].mesh, D_mean, components);
    double *PtAP = calloc((size_t)(m * m), sizeof *PtAP);
    assert_non_null(PtAP);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int e = 0; e < 4; ++e)
                PtAP[fine->parents[2 * i + e / 2] * m + fine->parents[2 * j + e % 2]] +=
                    0.25 * A[i * n + j];
    check_matrices(coarse, PtAP, m * m);
    free(A);
    free(coarse);
    free(PtAP);
}

/* Each coarse local matrix is the sum of P^T K P over its children. */
static void check_cells(const setting *s, int level, const double *D, const double *D_mean,
                        int components) {
    const weft_hierarchy_level *fine = &s->hierarchy->levels[level];
    const int width = s->d + 1, n_children = 1 << s->d;
    int32_t *kinds = NULL;
    assert_int_equal(weft_hierarchy_child_kinds(NULL, s->hierarchy, level, &kinds, NULL), WEFT_OK);
    for (int64_t c = 0; c < fine[-1].mesh->n_cells; ++c) {
        double K[4][4] = {{0}}, sum[4][4] = {{0}}, P[16], coarse[4][4] = {{0}};
        for (int k = 0; k < n_children; ++k) {
            const int64_t child = c * n_children + k;
            weft_hierarchy_child_weights(s->d, kinds[c * n_children + k], P);
            cell_matrix(fine->mesh, child, D + child * components, components, K);
            for (int i = 0; i < width * width * width * width; ++i) {
                const int v = i % width, w = i / width % width, a = i / width / width % width;
                const int b = i / width / width / width;
                sum[a][b] += P[v * width + a] * K[v][w] * P[w * width + b];
            }
        }
        cell_matrix(fine[-1].mesh, c, D_mean + c * components, components, coarse);
        check_matrices(*coarse, *sum, 16);
    }
    free(kinds);
}

static void check_coarse_operators(bool emulated) {
    for (int d = 2; d <= 3; ++d)
        for (int components = 1; components <= d * d; components += d * d - 1) {
            setting s = open_setting(emulated, d, d == 2 ? 3 : 2, d == 2 ? 3 : 2);
            double **D = average(&s, components);
            for (int l = 1; l < s.hierarchy->n_levels; ++l) {
                check_galerkin(&s.hierarchy->levels[l], D[l], D[l - 1], components);
                check_cells(&s, l, D[l], D[l - 1], components);
            }
            for (int l = 0; l < s.hierarchy->n_levels; ++l)
                free(D[l]);
            free(D);
            close_setting(&s);
        }
}

/* ---- transfer -------------------------------------------------------------------------------- */

/* Run a script with one input v and one result y, from n to m numbers. */
static double *run_script(setting *s, const char *text, weft_connectivity *parents, const double *v,
                          int64_t n, int64_t m) {
    const char *const names[] = {"y"};
    const double half[2] = {0.5, 0.5};
    weft_error error = {0};
    weft_memory *in = NULL, *halves = NULL, *y = NULL;
    double *out = calloc((size_t)m, sizeof *out);
    assert_non_null(out);
    check(weft_memory_place(s->device, v, (size_t)n, sizeof *v, &in, &error), &error);
    check(weft_memory_place(s->device, half, 2, sizeof *half, &halves, &error), &error);
    check(weft_memory_make(s->device, (size_t)(m + 32) * sizeof *out, &y, &error), &error);
    const weft_form_input inputs[] = {{"v", in}, {"half", halves}};
    const weft_form form = {
        .name = "transfer", .text = text, .dofs = parents, .inputs = inputs, .n_inputs = 2};
    const weft_form_outputs outputs = {.names = names, .memories = &y, .n = 1};
    check(weft_form_run(&s->context, &form, &outputs, &error), &error);
    check(weft_memory_read(y, 0, out, (size_t)m * sizeof *out, &error), &error);
    weft_memory_free(&in);
    weft_memory_free(&halves);
    weft_memory_free(&y);
    return out;
}

/* y = P c and y = P^T r as weft_hierarchy.h describes them, against sums over the parents. */
static void check_transfer(setting *s, const weft_hierarchy_level *fine) {
    static const char prolongation[] = "index cells plain, nodes; input half : real[2];\n"
                                       "connectivity dofs : cells -> nodes[2];\n"
                                       "input v : real over nodes; y = dot(half, v[dofs]);\n";
    static const char restriction[] = "index cells plain, nodes; input half : real[2];\n"
                                      "connectivity dofs : cells -> nodes[2];\n"
                                      "input v : real over cells; y[dofs] += v*half;\n";
    const int64_t n = fine->mesh->n_nodes, m = fine[-1].mesh->n_nodes;
    double *c = calloc((size_t)m, sizeof *c), *r = calloc((size_t)n, sizeof *r);
    double *wanted = calloc((size_t)m, sizeof *wanted);
    uint64_t random = 3;
    weft_connectivity *parents = NULL;
    weft_error error = {0};
    assert_true(c && r && wanted);
    for (int64_t i = 0; i < m; ++i)
        c[i] = (double)(random_next(&random) % 1000);
    for (int64_t i = 0; i < n; ++i)
        r[i] = (double)(random_next(&random) % 1000);
    check(weft_connectivity_make(s->device, fine->parents, n, 2, m, &parents, &error), &error);
    double *Pc = run_script(s, prolongation, parents, c, m, n);
    double *Ptr = run_script(s, restriction, parents, r, n, m);
    for (int64_t i = 0; i < n; ++i) {
        const int32_t *p = fine->parents + 2 * i;
        assert_true(Pc[i] == 0.5 * c[p[0]] + 0.5 * c[p[1]]);
        wanted[p[0]] += 0.5 * r[i];
        wanted[p[1]] += 0.5 * r[i];
    }
    assert_memory_equal(Ptr, wanted, (size_t)m * sizeof *Ptr);
    free(c);
    free(r);
    free(wanted);
    free(Pc);
    free(Ptr);
    weft_connectivity_free(&parents);
}

static void check_all_transfers(bool emulated) {
    for (int d = 2; d <= 3; ++d) {
        setting s = open_setting(emulated, d, 3, 2);
        for (int l = 1; l < s.hierarchy->n_levels; ++l)
            check_transfer(&s, &s.hierarchy->levels[l]);
        close_setting(&s);
    }
}

static void test_host(void **state) {
    (void)state;
    check_coarse_operators(false);
    check_all_transfers(false);
}

static void test_emulated(void **state) {
    (void)state;
    check_coarse_operators(true);
    check_all_transfers(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host),
                                       cmocka_unit_test(test_emulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
