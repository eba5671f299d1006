/* labels: gpu */
/* Nested map and reduce at sizes for which a GPU with clusters has kernels of its own, and at those
 * for which it has none: rows and columns of matrices of integers, whose sums are exact in float. */
#include "core/weft_core.h"
#include "gpu_support.h"
#include "program_support.h"

typedef struct matrix {
    int64_t m, n;
    double *A, *B; /* [m][n], most entries are 0 */
} matrix;

static double entry(int64_t i, int64_t j, int64_t salt) {
    const uint64_t mixed = (uint64_t)(i * 2654435761 + j * 40503 + salt * 97) * 0x9e3779b97f4a7c15u;
    const unsigned high = (unsigned)(mixed >> 50);
    return high % 32 == 0 ? (double)(high / 32 % 3) - 1 : 0;
}

static matrix matrix_make(int64_t m, int64_t n) {
    matrix x = {.m = m, .n = n};
    x.A = malloc((size_t)(m * n) * sizeof *x.A);
    x.B = malloc((size_t)(m * n) * sizeof *x.B);
    assert_non_null(x.A);
    assert_non_null(x.B);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            x.A[i * n + j] = entry(i, j, 1);
            x.B[i * n + j] = entry(i, j, 2);
        }
    return x;
}

static double *vector(int64_t n, int64_t salt) {
    double *made = malloc((size_t)n * sizeof *made);
    assert_non_null(made);
    for (int64_t i = 0; i < n; ++i)
        made[i] = (double)((i * 7 + salt) % 3) - 1;
    return made;
}

static double *times(const matrix *x, const double *A, const double *v) {
    double *made = calloc((size_t)x->m, sizeof *made);
    assert_non_null(made);
    for (int64_t i = 0; i < x->m; ++i)
        for (int64_t j = 0; j < x->n; ++j)
            made[i] += A[i * x->n + j] * v[j];
    return made;
}

static double *transposed_times(const matrix *x, const double *A, const double *v) {
    double *made = calloc((size_t)x->n, sizeof *made);
    assert_non_null(made);
    for (int64_t i = 0; i < x->m; ++i)
        for (int64_t j = 0; j < x->n; ++j)
            made[j] += A[i * x->n + j] * v[i];
    return made;
}

static program_case open_case(const char *text, const matrix *x, bool single) {
    const weft_compile_options options = {.size = sizeof options, .single = single};
    program_case c = case_open(NULL, "cuda", text, &options);
    case_size(&c, "rows", x->m);
    case_size(&c, "cols", x->n);
    return c;
}

static void expect(const program_case *c, const char *name, double *wanted, int64_t n) {
    double *found = case_result(c, name);
    for (int64_t i = 0; i < n; ++i)
        if (found[i] != wanted[i])
            fail_msg("%s[%lld] is %g, expected %g", name, (long long)i, found[i], wanted[i]);
    free(found);
    free(wanted);
}

#define MATRICES "index rows, cols;\ninput A, B : real over rows, cols;\n"

/* Rows: one and two passes, one and two matrices, results over both index sets. */
static void check_rows(const matrix *x, bool single) {
    program_case c = open_case(MATRICES "input p : real over cols;\ninput r : real over rows;\n"
                                        "q = gemv(A, p);\nt = gemtv(A, 2*q + r);\n"
                                        "g = gemv(A, p) + gemv(B, p);\ns = gemtv(B, r);\n"
                                        "return q, t, g, s;\n",
                               x, single);
    double *p = vector(x->n, 1), *r = vector(x->m, 2), *q = times(x, x->A, p);
    double *g = times(x, x->B, p), *middle = malloc((size_t)x->m * sizeof *middle);
    assert_non_null(middle);
    case_input(&c, "A", x->A);
    case_input(&c, "B", x->B);
    case_input(&c, "p", p);
    case_input(&c, "r", r);
    for (int64_t i = 0; i < x->m; ++i) {
        middle[i] = 2 * q[i] + r[i];
        g[i] += q[i];
    }
    case_run(&c);
    case_run(&c); /* nothing is left over from the run before */
    expect(&c, "t", transposed_times(x, x->A, middle), x->n);
    expect(&c, "s", transposed_times(x, x->B, r), x->n);
    expect(&c, "q", q, x->m);
    expect(&c, "g", g, x->m);
    free(p);
    free(r);
    free(middle);
    case_close(&c);
}

/* Columns: GEMVER with all coefficients 1. */
static void check_columns(const matrix *x, bool single) {
    program_case c = open_case("index rows, cols;\ninput A : real over rows, cols;\n"
                               "input u, y : real over rows;\ninput v, z : real over cols;\n"
                               "C = A + u*v;\nx = gemtv(C, y) + z;\nw = gemv(C, x);\n"
                               "return C, x, w;\n",
                               x, single);
    double *u = calloc((size_t)x->m, sizeof *u), *y = vector(x->m, 1), *v = vector(x->n, 2);
    double *z = vector(x->n, 3), *C = malloc((size_t)(x->m * x->n) * sizeof *C);
    assert_non_null(u);
    assert_non_null(C);
    u[x->m / 2] = 1;
    case_input(&c, "A", x->A);
    case_input(&c, "u", u);
    case_input(&c, "y", y);
    case_input(&c, "v", v);
    case_input(&c, "z", z);
    for (int64_t i = 0; i < x->m; ++i)
        for (int64_t j = 0; j < x->n; ++j)
            C[i * x->n + j] = x->A[i * x->n + j] + u[i] * v[j];
    double *wanted = transposed_times(x, C, y);
    for (int64_t j = 0; j < x->n; ++j)
        wanted[j] += z[j];
    case_run(&c);
    case_run(&c);
    expect(&c, "w", times(x, C, wanted), x->m);
    expect(&c, "x", wanted, x->n);
    expect(&c, "C", C, x->m * x->n);
    free(u);
    free(y);
    free(v);
    free(z);
    case_close(&c);
}

/* Sizes with one block per row or column and with clusters; not multiples of anything; too small or
 * too large for these kernels. */
static const int64_t sizes[][2] = {{1500, 4096}, {700, 16387}, {133, 40001}, {5, 70000},
                                   {300, 8200},  {8192, 516},  {4097, 1028}, {16384, 100},
                                   {4000, 1003}, {17000, 64}};

static void rows(void **state) {
    weft_device *device = gpu_open(NULL); /* or skipped */
    weft_device_free(&device);
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        matrix x = matrix_make(sizes[i][0], sizes[i][1]);
        check_rows(&x, true);
        check_rows(&x, false);
        free(x.A);
        free(x.B);
    }
}

static void columns(void **state) {
    weft_device *device = gpu_open(NULL); /* or skipped */
    weft_device_free(&device);
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        matrix x = matrix_make(sizes[i][0], sizes[i][1]);
        check_columns(&x, true);
        check_columns(&x, false);
        free(x.A);
        free(x.B);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
