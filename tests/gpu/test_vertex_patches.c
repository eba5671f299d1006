/* labels: gpu */
/* Matrix-free products by patches on a GPU: those of the host to 1e-13 of the product's norm (each
 * is a sum of some 25 terms with errors of a few last digits), bitwise identical every time, and
 * stores in place where patches are none. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "gpu_support.h"
#include "operator_fixture.h"

enum { TIMES = 20 };

static char logged[2000];

static void keep_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING)
        snprintf(logged, sizeof logged, "%s", message);
}

static void random_vector(double *v, int64_t n) {
    uint64_t state = 5;
    for (int64_t i = 0; i < n; ++i)
        v[i] = fixture_random(&state) - 0.5;
}

static void shuffle_nodes(weft_mesh *mesh) {
    uint64_t state = 3;
    const int d = mesh->dimension;
    int32_t *number = calloc((size_t)mesh->n_nodes, sizeof *number);
    double *x = calloc((size_t)(mesh->n_nodes * d), sizeof *x);
    assert_true(number && x);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        number[i] = (int32_t)i;
    for (int64_t i = mesh->n_nodes - 1; i > 0; --i) {
        const int64_t j = (int64_t)(fixture_random(&state) * (double)(i + 1));
        const int32_t kept = number[i];
        number[i] = number[j];
        number[j] = kept;
    }
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        memcpy(x + number[i] * d, mesh->x + i * d, (size_t)d * sizeof *x);
    memcpy(mesh->x, x, (size_t)(mesh->n_nodes * d) * sizeof *x);
    for (int64_t i = 0; i < mesh->n_cells * (d + 1); ++i)
        mesh->cells[i] = number[mesh->cells[i]];
    free(x);
    free(number);
}

typedef struct product_case {
    const char *name;
    int d;
    int64_t cells_a_side;
    int degree; /* of a formula's quadrature; 0: no formula */
    bool shuffled;
    const char *product;
} product_case;

/* y[times][n] of one device. */
static void products(weft_device *device, const product_case *c, const weft_mesh *mesh,
                     const double *v, int times, double *y) {
    weft_error error = {0};
    const weft_monitor monitor = {.log = keep_log};
    weft_context context = {.device = device, .monitor = &monitor};
    weft_library *library = NULL;
    weft_connectivity *cells = NULL;
    weft_operator *op = NULL;
    const size_t bytes = (size_t)mesh->n_nodes * sizeof *v;
    gpu_check(weft_fem_library_make(&library, &error), &error);
    context.library = library;
    gpu_check(weft_connectivity_make(device, mesh->cells, mesh->n_cells, c->d + 1, mesh->n_nodes,
                                     &cells, &error),
              &error);
    weft_memory *x = gpu_memory(device, mesh->x, bytes * (size_t)c->d);
    weft_memory *v_memory = gpu_memory(device, v, bytes),
                *y_memory = gpu_memory(device, NULL, bytes);
    const weft_form_input inputs[] = {{"x", x}};
    const weft_parameter parameters[] = {{"d", c->d}, {"degree", c->degree}};
    const weft_expression k = {"diffusivity", "1 + x*x + exp(x*y)", "test"};
    const char *script = c->degree > 0 ? "poisson_diffusivity.weft" : "poisson.weft";
    const weft_form form = {.name = script,
                            .text = weft_fem_script(script),
                            .dofs = cells,
                            .inputs = inputs,
                            .n_inputs = 1,
                            .expressions = &k,
                            .n_expressions = c->degree > 0,
                            .product = c->product,
                            .parameters = parameters,
                            .n_parameters = c->degree > 0 ? 2 : 1};
    gpu_check(weft_operator_make(&context, WEFT_ASSEMBLY_MATRIX_FREE, &form, 1, &op, &error),
              &error);
    for (int i = 0; i < times; ++i) {
        gpu_check(weft_operator_apply(op, v_memory, y_memory, &error), &error);
        gpu_check(weft_memory_read(y_memory, 0, y + i * mesh->n_nodes, bytes, &error), &error);
    }
    weft_operator_free(&op);
    weft_memory_free(&x);
    weft_memory_free(&v_memory);
    weft_memory_free(&y_memory);
    weft_connectivity_free(&cells);
    weft_library_free(&library);
}

static void agree(void **state) {
    (void)state;
    static const product_case cases[] = {
        {"triangles", 2, 1, 0, false, NULL},
        {"triangles", 2, 150, 0, false, NULL},
        {"triangles, gradient first", 2, 150, 0, false, "stiffness_product.weft"},
        {"triangles, patches of 256", 2, 400, 0, false, "stiffness_product.weft"},
        {"triangles, patches of 512", 2, 550, 0, false, "stiffness_product.weft"},
        {"tetrahedra, gradient first", 3, 30, 0, false, "stiffness_product.weft"},
        {"tetrahedra, patches of 256", 3, 45, 0, false, "stiffness_product.weft"},
        {"tetrahedra, patches of 512", 3, 55, 0, false, "stiffness_product.weft"},
        {"tetrahedra, a formula, gradient first", 3, 14, 4, false, "stiffness_product_mean.weft"},
        {"triangles, shuffled", 2, 60, 0, true, NULL},
        {"triangles, a formula", 2, 60, 4, false, NULL},
        {"tetrahedra", 3, 1, 0, false, NULL},
        {"tetrahedra", 3, 30, 0, false, NULL},
        {"tetrahedra, shuffled", 3, 12, 0, true, NULL},
        {"tetrahedra, a formula", 3, 14, 4, false, NULL},
        {"tetrahedra, a formula, few points", 3, 14, 3, false, NULL},
        {"tetrahedra, shuffled, too many touch a patch", 3, 70, 0, true, NULL}};
    weft_device *gpu = gpu_open(NULL), *host = NULL;
    weft_error error = {0};
    gpu_check(weft_device_open("host", NULL, &host, &error), &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const product_case *c = &cases[i];
        weft_mesh *mesh = NULL;
        gpu_check(c->d == 2 ? weft_mesh_make_square(c->cells_a_side, &mesh, &error)
                            : weft_mesh_make_cube(c->cells_a_side, &mesh, &error),
                  &error);
        fixture_distort(mesh, c->cells_a_side);
        if (c->shuffled)
            shuffle_nodes(mesh);
        const int64_t n = mesh->n_nodes;
        double *v = calloc((size_t)n, sizeof *v), *expected = calloc((size_t)n, sizeof *v);
        double *got = calloc((size_t)(n * TIMES), sizeof *got), sum = 0, difference = 0;
        assert_true(v && expected && got);
        random_vector(v, n);
        products(host, c, mesh, v, 1, expected);
        logged[0] = '\0';
        products(gpu, c, mesh, v, TIMES, got);
        for (int64_t j = 0; j < n; ++j) {
            sum += expected[j] * expected[j];
            difference += (got[j] - expected[j]) * (got[j] - expected[j]);
        }
        print_message("%s: %.1e %s\n", c->name, sqrt(difference / sum), logged);
        assert_true(sqrt(difference) <= 1e-13 * sqrt(sum));
        /* by patches of cells, where those of nodes do not fit; costly formulas may be added atomically */
        for (int t = 1; t < TIMES && c->degree == 0; ++t)
            assert_memory_equal(got, got + t * n, (size_t)n * sizeof *got);
        free(v);
        free(expected);
        free(got);
        weft_mesh_free(&mesh);
    }
    weft_device_free(&host);
    weft_device_free(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
