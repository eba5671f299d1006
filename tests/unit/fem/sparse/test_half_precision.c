/* labels: full */
/* SELL matrices with entries in half precision, as an emulated GPU makes them, or the device that
 * WEFT_TEST_DEVICE names: the numbers decoded here by their definition are symmetric, within 2^-11
 * (half a unit in the last of 11 bits) of the entries, and have the same sums of rows; products are
 * those of the decoded matrix, divided by the diagonal, to the rounding of single precision (40 terms, 1e-5). What does not
 * fit is stored as floats. Rows whose diagonal is given as -1 are those of the identity. */
#include "fem/base/memory.h"
#include "fem/form/form.h"
#include "fem/operator/operator.h"
#include "fem/sparse/on_device.h"
#include "fem/weft_fem.h"
#include "setup_support.h"
#include "test_support.h"

#include <math.h>

typedef struct half_case {
    int64_t n, n_cells;
    bool is_far;        /* columns are not coded */
    double decades;     /* by which coefficients of nodes differ */
    bool has_too_large; /* an entry of more than 2^9 times the diagonal */
    bool has_zeros;     /* rows and columns of zeros, their diagonal included, which are left out */
    int left_out;       /* every n-th row; 0: none */
} half_case;

static bool is_left_out(const half_case *c, int64_t i) {
    return (c->has_zeros && i % 5 == 2) || (c->left_out > 0 && i % c->left_out == 0);
}

static double part(int64_t i, int64_t j) {
    uint64_t z = ((uint64_t)(i < j ? i : j) * 1000003u + (uint64_t)(i < j ? j : i) + 1) *
                 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)(z >> 11) * 0x1p-53;
}

static double entry(const half_case *c, int64_t i, int64_t j) {
    if (c->has_zeros && (i % 5 == 2 || j % 5 == 2))
        return 0;
    const double size = pow(10, -c->decades * (part(i, i) + part(j, j)) / 2);
    if (c->has_too_large && i + j == 1)
        return 1e5 * size;
    return (part(i, j) < 0.1 ? 0.2 : -1) * (0.01 + part(i, j)) * size;
}

/* Sums of rows are small, as those of a stiffness matrix with a mass matrix. */
static double *values_make(const half_case *c, const weft_pattern *pattern) {
    double *values = weft_array_make((size_t)pattern->n_entries, sizeof *values);
    for (int64_t i = 0; i < pattern->n_rows; ++i) {
        double sum = 0, sizes = 1e-30;
        int64_t own = -1;
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k) {
            const int64_t j = pattern->columns[k];
            own = j == i ? k : own;
            values[k] = j == i ? 0 : entry(c, i, j);
            sum += c->has_too_large && i + j == 1 ? 0 : values[k];
            sizes += fabs(values[k]);
        }
        values[own] = c->has_too_large             ? 1
                      : c->has_zeros && i % 5 == 2 ? 0
                                                   : fmax(-sum, 0.1 * sizes) * (1 + 1e-6);
    }
    return values;
}

/* IEEE 754 binary16. */
static double decoded(uint32_t half) {
    const int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 1023);
    const double size =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return half >> 15 ? -size : size;
}

/* The matrix in CSR order. */
static double *decode(const weft_sell_matrix *matrix, const weft_sell *sell,
                      const weft_pattern *pattern) {
    weft_memory *const *arguments = weft_sell_matrix_product_kernel(matrix)->arguments;
    const int64_t n_places = sell->n_blocks * WEFT_SELL_ROWS;
    float *diagonal = setup_read(arguments[0], (size_t)sell->n_rows * sizeof *diagonal);
    uint32_t *pairs = setup_read(arguments[1], (size_t)sell->n_values * sizeof *pairs);
    double *out = weft_array_make((size_t)pattern->n_entries, sizeof *out);
    for (int64_t i = 0; i < sell->n_rows; ++i) {
        int64_t entry_of_row = 0;
        const double unit = diagonal[i] > 0 ? ldexp(1, ilogb((double)diagonal[i]) - 7) : 1;
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k) {
            if (pattern->columns[k] == i) {
                out[k] = (double)diagonal[i];
                continue;
            }
            const int64_t place = weft_sell_place(sell, i, entry_of_row);
            const int64_t slice =
                i / WEFT_SELL_ROWS * WEFT_SELL_SLICES + sell->slots[i] / WEFT_SLICE;
            const int64_t word = 2 * ((sell->start[slice] - n_places) / 2 + slice * WEFT_SLICE / 2 +
                                      entry_of_row / 2 * WEFT_SLICE + place % WEFT_SLICE);
            out[k] = decoded(pairs[word] >> entry_of_row % 2 * 16 & 0xffff) * unit;
            ++entry_of_row;
        }
    }
    free(diagonal);
    free(pairs);
    return out;
}

static double at(const weft_pattern *pattern, const double *values, int64_t i, int64_t j) {
    for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k)
        if (pattern->columns[k] == j)
            return values[k];
    return NAN;
}

static void check_entries(const half_case *c, const weft_pattern *pattern, const double *exact,
                          const double *found) {
    for (int64_t i = 0; i < pattern->n_rows; ++i) {
        double sums[2] = {0, 0}, diagonal = 0;
        for (int64_t k = pattern->row_start[i]; is_left_out(c, i) && k < pattern->row_start[i + 1];
             ++k)
            assert_true(found[k] == (pattern->columns[k] == i ? -1 : 0));
        if (is_left_out(c, i))
            continue;
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k) {
            const int64_t j = pattern->columns[k];
            sums[0] += exact[k];
            sums[1] += found[k];
            if (j == i) {
                diagonal = found[k];
                continue;
            }
            if (!(fabs(found[k] - exact[k]) <= 0x1.001p-11 * fabs(exact[k])))
                fail_msg("entry %lld, %lld: %g, not %g", (long long)i, (long long)j, found[k],
                         exact[k]);
            if (!is_left_out(c, j))
                assert_true(found[k] == at(pattern, found, j, i));
        }
        assert_double_near(sums[1], sums[0], 0, 0x1p-22 * diagonal);
    }
}

static void check_product(const half_case *c, weft_device *device, weft_sell_matrix **matrix,
                          const weft_pattern *pattern, const double *values,
                          const float *diagonals) {
    const size_t n = (size_t)pattern->n_rows;
    const weft_fragment fragment = {
        "product.weft", "index rows plain;\noperator A over rows;\ninput x : real over rows;\n"
                        "y = apply(A, x);\nreturn y;\n"};
    weft_library *library = NULL;
    weft_operator *op = NULL;
    weft_operator_in_script in_script = {0};
    weft_compiled compiled = {0};
    weft_error error = {0};
    weft_memory *x = NULL, *y = NULL;
    float *v = weft_array_make(n, sizeof *v);
    for (size_t i = 0; i < n; ++i)
        v[i] = (float)(part((int64_t)i, 7) - 0.5);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    weft_context context = {.device = device, .library = library};
    assert_int_equal(weft_operator_from_sell(&context, matrix, pattern->n_entries, &op, NULL),
                     WEFT_OK);
    assert_int_equal(weft_operator_in_script_make(op, &in_script, NULL), WEFT_OK);
    const weft_operator_choice choice = weft_operator_in_script_choice(&in_script, "A");
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1, .single = true};
    if (weft_compiled_make(&context, &fragment, 1, &options, &compiled, &error) != WEFT_OK)
        fail_msg("%s %s", error.message, error.hint);
    assert_int_equal(weft_memory_wrap(device, v, n * sizeof *v, &x, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, n * sizeof *v, &y, NULL), WEFT_OK);
    assert_int_equal(weft_program_size(compiled.program, "rows", pattern->n_rows, NULL), WEFT_OK);
    assert_int_equal(weft_program_bind(compiled.program, "x", x, NULL), WEFT_OK);
    assert_int_equal(weft_program_bind(compiled.program, "y", y, NULL), WEFT_OK);
    assert_int_equal(weft_operator_in_script_bind(&in_script, compiled.program, "A", NULL),
                     WEFT_OK);
    if (weft_program_run(compiled.program, &error) != WEFT_OK)
        fail_msg("%s %s", error.message, error.hint);
    float *found = setup_read(y, n * sizeof *found);
    for (int64_t i = 0; i < pattern->n_rows; ++i) {
        double sum = 0, sizes = 0;
        const double diagonal = (double)diagonals[i];
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k) {
            sum += values[k] / diagonal * (double)v[pattern->columns[k]];
            sizes += fabs(values[k] / diagonal * (double)v[pattern->columns[k]]);
        }
        if (is_left_out(c, i))
            sum = (double)v[i];
        assert_double_near(found[i], sum, 0, 1e-5 * sizes);
    }
    free(found);
    weft_compiled_free(&compiled);
    weft_operator_in_script_free(&in_script);
    weft_memory_free(&x);
    weft_memory_free(&y);
    weft_operator_free(&op);
    weft_library_free(&library);
    free(v);
}

static weft_pattern *pattern_make(weft_device *host, const half_case *c) {
    int32_t *cells = weft_array_make((size_t)c->n_cells * 3, sizeof *cells);
    weft_connectivity *connectivity = NULL;
    weft_pattern *pattern = NULL;
    uint64_t seed = 5;
    for (int64_t i = 0; i < c->n_cells; ++i)
        for (int v = 0; v < 3; ++v)
            cells[3 * i + v] =
                (int32_t)(i < c->n && !c->is_far ? (i + v) % c->n
                                                 : (int64_t)(setup_random(&seed) % (uint64_t)c->n));
    assert_int_equal(weft_connectivity_make(host, cells, c->n_cells, 3, c->n, &connectivity, NULL),
                     WEFT_OK);
    assert_int_equal(weft_pattern_make(host, connectivity, 8, &pattern, NULL, NULL), WEFT_OK);
    weft_connectivity_free(&connectivity);
    free(cells);
    return pattern;
}

static void check_case(const half_case *c) {
    weft_device *host = NULL, *device = setup_device();
    weft_setup *setup = NULL;
    weft_sell *sell = NULL;
    weft_sell_matrix *matrix = NULL, *half = NULL;
    weft_memory *diagonal = NULL;
    float *given = weft_array_make((size_t)c->n, sizeof *given);
    assert_int_equal(weft_device_open("host:1", NULL, &host, NULL), WEFT_OK);
    assert_int_equal(weft_setup_make(device, &setup, NULL), WEFT_OK);
    weft_pattern *pattern = pattern_make(host, c);
    double *values = values_make(c, pattern);
    weft_device_matrix csr = {.pattern = {.n_rows = c->n, .n_entries = pattern->n_entries}};
    assert_int_equal(weft_memory_place(device, pattern->row_start, (size_t)c->n + 1,
                                       sizeof(int64_t), &csr.pattern.row_start, NULL),
                     WEFT_OK);
    assert_int_equal(weft_memory_place(device, pattern->columns, (size_t)pattern->n_entries,
                                       sizeof(int32_t), &csr.pattern.columns, NULL),
                     WEFT_OK);
    assert_int_equal(weft_memory_place(device, values, (size_t)pattern->n_entries, sizeof(double),
                                       &csr.values, NULL),
                     WEFT_OK);
    assert_int_equal(weft_sell_make(host, pattern, &sell, NULL), WEFT_OK);
    assert_int_equal(weft_sell_matrix_from_device(setup, &csr.pattern, &matrix, NULL), WEFT_OK);
    assert_int_equal(weft_sell_matrix_set(setup, &csr, matrix, NULL), WEFT_OK);
    for (int64_t i = 0; i < c->n; ++i)
        given[i] = is_left_out(c, i) ? -1.0f : (float)at(pattern, values, i, i);
    assert_int_equal(weft_memory_place(device, given, (size_t)c->n, sizeof *given, &diagonal, NULL),
                     WEFT_OK);
    assert_int_equal(weft_sell_matrix_scaled(setup, matrix, diagonal, true, &half, NULL), WEFT_OK);
    const char *kernel = weft_sell_matrix_product_kernel(half)->product_kernel;
    assert_string_equal(kernel, c->has_too_large ? "sell" : "sell_half");
    double *found = c->has_too_large ? NULL : decode(half, sell, pattern);
    if (found)
        check_entries(c, pattern, values, found);
    float *kept = setup_read(diagonal, (size_t)c->n * sizeof *kept);
    check_product(c, device, &half, pattern, found ? found : values, kept);
    free(kept);
    free(found);
    free(values);
    free(given);
    weft_memory_free(&diagonal);
    weft_device_matrix_free(&csr);
    weft_sell_matrix_free(&matrix);
    weft_sell_free(&sell);
    weft_pattern_free(&pattern);
    weft_setup_free(&setup);
    weft_device_free(&device);
    weft_device_free(&host);
}

static void matrices(void **state) {
    (void)state;
    static const half_case cases[] = {
        {.n = 4, .n_cells = 4},
        {.n = 33, .n_cells = 40, .decades = 2},
        {.n = 513, .n_cells = 1500},
        {.n = 700, .n_cells = 1500, .has_zeros = true},
        {.n = 1100, .n_cells = 3000, .decades = 3},
        {.n = 90000, .n_cells = 3000, .is_far = true},
        {.n = 1100, .n_cells = 3000, .left_out = 7},
        {.n = 600, .n_cells = 900, .has_too_large = true},
        {.n = 600, .n_cells = 900, .has_too_large = true, .left_out = 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        check_case(&cases[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
