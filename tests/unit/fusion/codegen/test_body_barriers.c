/* labels: quick */
/* Bodies whose threads wait for each other: factorisations by a thread per column, as a GPU's text, in blocks of several
 * shapes with a last one that is not full, alone and fused with a call of one thread. L L^T x = A x must give back x, an
 * integer: an error of 1e-9 is none of rounding, as the matrices have conditions below 100. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "program_support.h"

enum { N = 37 };

static const char definite[] = "index cells%s;\n"
                               "input A : real[%d,%d] over cells;\n"
                               "input b : real[%d] over cells;\n"
                               "fuse threads %d block %d {\n"
                               "    L = cholesky(A);\n"
                               "    x = cholesky_solve(L, b);\n"
                               "    F = lu(A);\n"
                               "    y = lu_solve(F, b);\n"
                               "}\n"
                               "return x, y%s;\n";

/* solver: the variant of lu_solve */
static program_case open_case(const char *text, int solver) {
    const weft_variant_choice choices[] = {
        {"cholesky", 1}, {"cholesky_solve", 1}, {"lu", 1}, {"lu_solve", solver}};
    const weft_compile_options options = {
        .size = sizeof options, .plan = WEFT_PLAN_FUSED, .variants = choices, .n_variants = 4};
    const weft_device_options device_options = weft_device_options_default(NULL);
    weft_device *device = NULL;
    weft_error error = {0};
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    emulated_gpu_make(device);
    return case_open_on(NULL, device, text, &options);
}

/* Symmetric and dominated by the diagonal. */
static void fill(int n, double *a, double *b, double *x) {
    uint64_t state = 9;
    for (int e = 0; e < N; ++e) {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j)
                a[(e * n + i) * n + j] = a[(e * n + j) * n + i] =
                    i == j ? 2 * n : random_below(&state, 3) - 1;
        for (int i = 0; i < n; ++i)
            x[e * n + i] = random_below(&state, 9) - 4;
        for (int i = 0; i < n; ++i) {
            b[e * n + i] = 0;
            for (int j = 0; j < n; ++j)
                b[e * n + i] += a[(e * n + i) * n + j] * x[e * n + j];
        }
    }
}

static void check(int n, int block, bool plain, bool stored) {
    char text[1000];
    double *a = calloc((size_t)(N * n * n), sizeof *a), *b = calloc((size_t)(N * n), sizeof *b),
           *x = calloc((size_t)(N * n), sizeof *x);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(x);
    fill(n, a, b, x);
    snprintf(text, sizeof text, definite, plain ? " plain" : "", n, n, n, n, block,
             stored ? ", L" : "");
    program_case c = open_case(text, stored);
    assert_int_equal(case_segment(&c)->plan->n_kernels, 1);
    assert_int_equal(case_segment(&c)->plan->kernels[0].kind, KERNEL_MULTI_THREAD);
    case_size(&c, "cells", N);
    case_input(&c, "A", a);
    case_input(&c, "b", b);
    case_run(&c);
    for (int k = 0; k < 2; ++k) {
        double *found = case_result(&c, k == 0 ? "x" : "y");
        for (int i = 0; i < N * n; ++i)
            if (!(fabs(found[i] - x[i]) < 1e-9))
                fail_msg("n = %d, blocks of %d, %s: component %d is %g, expected %g", n, block,
                         k == 0 ? "cholesky" : "lu", i, found[i], x[i]);
        free(found);
    }
    case_close(&c);
    free(a);
    free(b);
    free(x);
}

static void test_blocks(void **state) {
    (void)state;
    check(4, 32, false, false);
    check(5, 8, false, true);
    check(8, 1, true, false);
    check(12, 2, true, true);
}

/* Where one thread computes an element, it runs the plain body whatever variant is asked for. */
static void test_one_thread(void **state) {
    (void)state;
    const weft_variant_choice choice = {"cholesky", 1};
    const weft_compile_options options = {
        .size = sizeof options, .variants = &choice, .n_variants = 1};
    static const double a[] = {4, 9, 6, 10};
    program_case c = case_open(NULL, "host:1",
                               "index cells;\ninput A : real[2,2] over cells;\n"
                               "L = cholesky(A);\nreturn L;\n",
                               &options);
    case_size(&c, "cells", 1);
    case_input(&c, "A", a);
    case_run(&c);
    double *l = case_result(&c, "L");
    const double expected[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; ++i)
        assert_true(l[i] == expected[i]);
    free(l);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
