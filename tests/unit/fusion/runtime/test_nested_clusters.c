/* labels: full */
/* Kernels over matrices for GPUs with thread block clusters, as CUDA text run thread by thread: rows
 * and panels of columns, in one block and in several, with remainders of both. All numbers are small
 * integers, so that every order of additions gives the same sums, which plain loops give too. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "fusion/runtime/runtime.h"
#include "program_support.h"

static program_case open_case(const char *text) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {.size = sizeof options, .plan = WEFT_PLAN_FUSED};
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    emulated_gpu_make(device);
    device->limits.multiprocessors = 4; /* clusters have several rows or panels each */
    device->limits.cluster_blocks = 2;
    return case_open_on(NULL, device, text, &options);
}

static double *list_make(int64_t n, int64_t stride, int64_t modulus) {
    double *list = calloc((size_t)n + 1, sizeof *list);
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = (double)(i * stride % modulus) - (double)(modulus / 2);
    return list;
}

static void compare(const program_case *c, const char *name, const double *expected, int64_t n) {
    double *found = case_result(c, name);
    for (int64_t i = 0; i < n; ++i)
        if (found[i] != expected[i])
            fail_msg("%s[%lld] is %g, not %g", name, (long long)i, found[i], expected[i]);
    free(found);
}

/* q += A p */
static void multiply(const double *A, int64_t m, int64_t n, const double *p, double *q) {
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            q[i] += A[i * n + j] * p[j];
}

/* s += A^T w */
static void multiply_transposed(const double *A, int64_t m, int64_t n, const double *w, double *s) {
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            s[j] += A[i * n + j] * w[i];
}

/* Does the first kernel have a text of its own for these sizes, with so many blocks per cluster? */
static void expect_clusters(const program_case *c, int blocks) {
    const weft_nested_launch *launch = &c->program->segments[0]->nested[0];
    assert_non_null(launch->module);
    assert_int_equal(launch->shape.cluster, blocks);
}

/* What the scripts below compute. */
typedef enum sequence {
    ROWS_REUSED, /* q = A p + r, s = A^T q */
    ROWS_APART,  /* q = A p + r, s = A^T r */
    COLUMNS      /* s = A^T r, q = A s */
} sequence;

static void check(program_case *c, sequence what, int64_t m, int64_t n, int blocks) {
    double *A = list_make(m * n, 7, 5), *p = list_make(n, 3, 5), *r = list_make(m, 5, 7);
    double *q = calloc((size_t)m, sizeof *q), *s = calloc((size_t)n, sizeof *s);
    case_size(c, "rows", m);
    case_size(c, "cols", n);
    case_input(c, "A", A);
    case_input(c, "r", r);
    if (what == COLUMNS) {
        multiply_transposed(A, m, n, r, s);
        multiply(A, m, n, s, q);
    } else {
        case_input(c, "p", p);
        multiply(A, m, n, p, q);
        for (int64_t i = 0; i < m; ++i)
            q[i] += r[i];
        multiply_transposed(A, m, n, what == ROWS_REUSED ? q : r, s);
    }
    case_run(c);
    expect_clusters(c, blocks);
    compare(c, "q", q, m);
    compare(c, "s", s, n);
    free(A);
    free(p);
    free(r);
    free(q);
    free(s);
}

static void rows(void **state) {
    (void)state;
    program_case c = open_case("index rows, cols;\ninput A : real over rows, cols;\n"
                               "input p : real over cols;\ninput r : real over rows;\n"
                               "q = gemv(A, p) + r;\ns = gemtv(A, q);\nreturn q, s;\n");
    check(&c, ROWS_REUSED, 13, 1029, 1);
    check(&c, ROWS_REUSED, 11, 9731, 2);
    case_close(&c);
    c = open_case("index rows, cols;\ninput A : real over rows, cols;\n"
                  "input p : real over cols;\ninput r : real over rows;\n"
                  "q = gemv(A, p) + r;\ns = gemtv(A, r);\nreturn q, s;\n");
    check(&c, ROWS_APART, 13, 1029, 1);
    check(&c, ROWS_APART, 301, 1029, 1); /* more rows of a part than a warp asks for ahead */
    check(&c, ROWS_APART, 11, 9731, 2);
    case_close(&c);
}

static void columns(void **state) {
    (void)state;
    program_case c = open_case("index rows, cols;\ninput A : real over rows, cols;\n"
                               "input r : real over rows;\n"
                               "s = gemtv(A, r);\nq = gemv(A, s);\nreturn q, s;\n");
    check(&c, COLUMNS, 301, 70, 1);
    check(&c, COLUMNS, 1100, 38, 2);
    check(&c, COLUMNS, 2305, 70, 2); /* with steps in shared memory */
    check(&c, COLUMNS, 4000, 38, 2);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
