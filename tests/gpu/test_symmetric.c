/* labels: gpu */
/* The assembly edge on the GPU: any symmetric matrix against the product by rows (1e-13 of the sum
 * of the sizes of the terms), Poisson and Robin against the host (1e-12 of the largest), bitwise
 * identical every time. */
#include "core/weft_core.h"
#include "fem/sparse/symmetric.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "gpu_support.h"
#include "operator_fixture.h"
#include "symmetric_support.h"

static const double tolerance = 1e-13, tolerance_forms = 1e-12;

static double *numbers(const weft_memory *memory, size_t n) {
    weft_error error = {0};
    double *out = malloc((n + 1) * sizeof *out);
    gpu_check(weft_memory_read(memory, 0, out, n * sizeof *out, &error), &error);
    return out;
}

static void products(weft_device *device, const weft_symmetric *edge, const weft_pattern *pattern,
                     const double *values) {
    const size_t n = (size_t)pattern->n_rows, n_values = (size_t)edge->n_values;
    weft_symmetric_matrix *matrix = NULL;
    weft_error error = {0};
    double *v = malloc((n + 1) * sizeof *v), *expected = malloc((n + 1) * sizeof *v);
    double *sizes = malloc((n + 1) * sizeof *sizes), *first = NULL;
    uint64_t state = 7;
    for (size_t i = 0; i < n; ++i)
        v[i] = edge_number(&state);
    symmetric_reference(pattern, v, expected, sizes);
    gpu_check(weft_symmetric_matrix_make(device, edge, &matrix, &error), &error);
    weft_memory *a = gpu_memory(device, values, n_values * sizeof *values);
    weft_memory *x = gpu_memory(device, v, n * sizeof *v),
                *y = gpu_memory(device, v, n * sizeof *v);
    for (int iteration = 0; iteration < 5; ++iteration) {
        gpu_check(weft_symmetric_matrix_product(matrix, a, x, y, &error), &error);
        double *now = numbers(y, n);
        for (size_t i = 0; i < n; ++i)
            if (!(fabs(now[i] - expected[i]) <= tolerance * sizes[i]))
                fail_msg("row %zu of %zu: %.17g, expected %.17g", i, n, now[i], expected[i]);
        if (first)
            assert_memory_equal(first, now, n * sizeof *now);
        free(first);
        first = now;
    }
    gpu_check(weft_symmetric_matrix_diagonal(matrix, a, y, &error), &error);
    double *d = numbers(y, n);
    for (size_t i = 0; i < n; ++i)
        assert_true(d[i] == edge_entry((int64_t)i, (int64_t)i));
    free(d);
    weft_symmetric_matrix_free(&matrix);
    weft_memory_free(&a);
    weft_memory_free(&x);
    weft_memory_free(&y);
    free(v);
    free(expected);
    free(sizes);
    free(first);
}

static void check(weft_device *device, edge_kind kind, int64_t n, int most_rounds) {
    weft_pattern *pattern = edge_pattern_of(kind, n, true);
    const weft_symmetric_options options = {.few_discards = true, .most_rounds = most_rounds};
    weft_symmetric *edge = NULL;
    weft_error error = {0};
    gpu_check(weft_symmetric_make(device, pattern, &options, &edge, &error), &error);
    double *values = symmetric_values(edge, pattern);
    for (int64_t k = 0; k < edge->n_discard; ++k)
        values[edge->first_discard + k] = NAN;
    products(device, edge, pattern, values);
    free(values);
    weft_symmetric_free(&edge);
    weft_pattern_free(&pattern);
}

static void any_symmetric_matrix(void **state) {
    static const int64_t sizes[] = {1, 2, 511, 512, 513, 5000};
    (void)state;
    weft_device *device = gpu_open(NULL);
    for (int kind = 0; kind < EDGE_KINDS; ++kind)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            check(device, (edge_kind)kind, sizes[s], 0);
            check(device, (edge_kind)kind, sizes[s], 2);
        }
    check(device, EDGE_TETS, 600000, 0); /* blocks that prefetch, and others that do not */
    check(device, EDGE_SHUFFLED, 40000, 0);
    check(device, EDGE_HUB, 30000, 0);
    weft_device_free(&device);
}

static weft_operator *make(fixture *f, int n_forms) {
    weft_form_input inputs[] = {{"x", f->x}};
    weft_parameter dimension = {"d", f->d};
    weft_expression k = {"diffusivity", "1 + x + 2*y", "test"}, alpha = {"alpha", "1 + y", "test"};
    weft_form forms[2] = {{.name = "poisson",
                           .text = weft_fem_script("poisson_diffusivity"),
                           .dofs = f->cells,
                           .inputs = inputs,
                           .n_inputs = 1,
                           .expressions = &k,
                           .n_expressions = 1,
                           .parameters = &dimension,
                           .n_parameters = 1},
                          {.name = "robin",
                           .text = weft_fem_script("robin"),
                           .dofs = f->facets,
                           .inputs = inputs,
                           .n_inputs = 1,
                           .expressions = &alpha,
                           .n_expressions = 1,
                           .parameters = &dimension,
                           .n_parameters = 1}};
    weft_operator *op = NULL;
    weft_error error = {0};
    gpu_check(weft_operator_make(&f->context, WEFT_ASSEMBLY_SYMMETRIC, forms, n_forms, &op, &error),
              &error);
    for (int iteration = 0; iteration < 2; ++iteration) /* again: not twice as much */
        gpu_check(weft_operator_assemble(op, &error), &error);
    return op;
}

static void compare(const weft_memory *gpu, const weft_memory *host, size_t n) {
    double *a = numbers(gpu, n), *b = numbers(host, n), most = 0;
    for (size_t i = 0; i < n; ++i)
        most = fmax(most, fabs(b[i]));
    for (size_t i = 0; i < n; ++i)
        assert_double_near(a[i], b[i], 0, tolerance_forms * most);
    free(a);
    free(b);
}

static void forms_as_on_the_host(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_device_free(&device);
    for (int d = 2; d <= 3; ++d) {
        fixture both[] = {fixture_make("cuda", d, d == 2 ? 200 : 30, WEFT_PLAN_FUSED),
                          fixture_make("host", d, d == 2 ? 200 : 30, WEFT_PLAN_FUSED)};
        const size_t n = (size_t)both[0].n;
        weft_operator *op[2];
        weft_memory *v[2], *y[2];
        weft_error error = {0};
        double *values = malloc(n * sizeof *values);
        for (size_t i = 0; i < n; ++i)
            values[i] = sin((double)i);
        for (int k = 0; k < 2; ++k) {
            op[k] = make(&both[k], 2);
            v[k] = fixture_vector(&both[k]);
            y[k] = fixture_vector(&both[k]);
            gpu_check(weft_memory_write(v[k], 0, values, n * sizeof *values, &error), &error);
            gpu_check(weft_operator_apply(op[k], v[k], y[k], &error), &error);
        }
        compare(y[0], y[1], n);
        for (int k = 0; k < 2; ++k)
            gpu_check(weft_operator_diagonal(op[k], y[k], &error), &error);
        compare(y[0], y[1], n);
        for (int k = 0; k < 2; ++k) {
            weft_operator_free(&op[k]);
            weft_memory_free(&v[k]);
            weft_memory_free(&y[k]);
            fixture_free(&both[k]);
        }
        free(values);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_symmetric_matrix),
        cmocka_unit_test(forms_as_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
