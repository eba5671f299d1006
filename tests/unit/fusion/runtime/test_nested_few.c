/* labels: full */
/* Kernels over matrices of few rows, `index rows up to last`, as CUDA text run thread by thread: rows behind the last one hold
 * NaN, which no result may have. All numbers are small integers, so that plain loops give the same sums. */
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
    device->limits.multiprocessors = 3;
    return case_open_on(NULL, device, text, &options);
}

/* The matrix [m][n], NaN behind row `last`. */
static double *make_matrix(int64_t m, int64_t n, int64_t last) {
    double *A = calloc((size_t)(m * n), sizeof *A);
    assert_non_null(A);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            A[i * n + j] = i > last ? NAN : (double)((i * 7 + j * 3) % 5) - 2;
    return A;
}

static double *make_list(int64_t n, int64_t stride) {
    double *list = calloc((size_t)n, sizeof *list);
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = (double)(i * stride % 7) - 3;
    return list;
}

static void compare(const program_case *c, const char *name, const double *expected, int64_t n) {
    double *found = case_result(c, name);
    for (int64_t i = 0; i < n; ++i)
        if (!(found[i] == expected[i]))
            fail_msg("%s[%lld] is %g, not %g", name, (long long)i, found[i], expected[i]);
    free(found);
}

/* s = A^T r, t = p - s, q = A t: A is read by one kernel. */
static void check_columns(program_case *c, int64_t m, int64_t n, int64_t last, bool few) {
    double *A = make_matrix(m, n, few ? last : m), *r = make_list(m, 5), *p = make_list(n, 3);
    double *q = calloc((size_t)m, sizeof *q), *t = calloc((size_t)n, sizeof *t);
    const double number = (double)last;
    for (int64_t j = 0; j < n; ++j) {
        t[j] = p[j];
        for (int64_t i = 0; i < m && (!few || i <= last); ++i)
            t[j] -= A[i * n + j] * r[i];
    }
    for (int64_t i = 0; i < m && (!few || i <= last); ++i)
        for (int64_t j = 0; j < n; ++j)
            q[i] += A[i * n + j] * t[j];
    case_size(c, "rows", m);
    case_size(c, "cols", n);
    case_input(c, "A", A);
    case_input(c, "r", r);
    case_input(c, "p", p);
    case_input(c, "last", &number);
    case_run(c);
    assert_int_equal(c->program->segments[0]->nested[0].module != NULL, few);
    compare(c, "t", t, n);
    compare(c, "q", q, m);
    free(A);
    free(r);
    free(p);
    free(q);
    free(t);
}

static void columns(void **state) {
    (void)state;
    program_case c = open_case("index rows up to last, cols;\ninput A : real over rows, cols;\n"
                               "input r : real over rows;\ninput p : real over cols;\n"
                               "input last : real;\n"
                               "t = p - gemtv(A, r);\nq = gemv(A, t);\nreturn q, t;\n");
    check_columns(&c, 1, 5, 0, true);
    check_columns(&c, 7, 1029, 6, true);
    check_columns(&c, 31, 2100, 30, true);
    check_columns(&c, 31, 2100, 11, true);
    check_columns(&c, 64, 900, 62, true);
    check_columns(&c, 65, 900, 64, true); /* in two panels */
    check_columns(&c, 200, 700, 130, true);
    check_columns(&c, 200, 700, 40, true);
    check_columns(&c, 513, 40, 64, false); /* not few any more */
    case_close(&c);
}

/* Row `last` is replaced, and the rows before it are summed with it. */
static void check_update(program_case *c, int64_t m, int64_t n, int64_t last) {
    double *A = make_matrix(m, n, last), *v = make_list(n, 3), *q = make_list(n, 4);
    double *number = calloc((size_t)m, sizeof *number), *h = calloc((size_t)m, sizeof *h);
    const double j = (double)last;
    for (int64_t i = 0; i < m; ++i)
        number[i] = (double)i;
    case_size(c, "rows", m);
    case_size(c, "cols", n);
    case_input(c, "A", A);
    case_input(c, "v", v);
    case_input(c, "q", q);
    case_input(c, "number", number);
    case_input(c, "last", &j);
    case_run(c);
    memcpy(&A[last * n], v, (size_t)n * sizeof *v);
    for (int64_t i = 0; i <= last; ++i)
        for (int64_t k = 0; k < n; ++k)
            h[i] += A[i * n + k] * q[k];
    compare(c, "h", h, m);
    double *found = case_result(c, "A");
    for (int64_t i = 0; i < m * n; ++i)
        if (i / n > last ? !isnan(found[i]) : found[i] != A[i])
            fail_msg("A[%lld] is %g, not %g", (long long)i, found[i], A[i]);
    free(found);
    free(A);
    free(v);
    free(q);
    free(number);
    free(h);
}

static void updates(void **state) {
    (void)state;
    program_case c =
        open_case("index rows up to last, cols;\ninput A : real over rows, cols;\n"
                  "input v, q : real over cols;\ninput number : real over rows;\n"
                  "input last : real;\n"
                  "update A = select(number > last - 0.5 and number < last + 0.5, v, A);\n"
                  "h = gemv(A, q);\nreturn h;\n");
    check_update(&c, 9, 1500, 0);
    check_update(&c, 9, 1500, 8);
    check_update(&c, 30, 333, 17);
    check_update(&c, 90, 333, 80);
    case_close(&c);
}

/* Every row of a list that a kernel makes is there. */
static void made(void **state) {
    (void)state;
    enum { M = 6, N = 700 };
    program_case c = open_case("index rows up to last, cols;\ninput u : real over rows;\n"
                               "input v : real over cols;\ninput A : real over rows, cols;\n"
                               "input last : real;\nB = A + u*v;\nreturn B;\n");
    double *A = make_matrix(M, N, M), *u = make_list(M, 2), *v = make_list(N, 3), last = 2;
    case_size(&c, "rows", M);
    case_size(&c, "cols", N);
    case_input(&c, "A", A);
    case_input(&c, "u", u);
    case_input(&c, "v", v);
    case_input(&c, "last", &last);
    case_run(&c);
    for (int i = 0; i < M * N; ++i)
        A[i] += u[i / N] * v[i % N];
    compare(&c, "B", A, (int64_t)M * N);
    case_close(&c);
    free(A);
    free(u);
    free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns), cmocka_unit_test(updates),
                                       cmocka_unit_test(made)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
