/* labels: quick */
/* The errors of complex products by three real ones, against sums in long double (64 bits of
 * fraction: the error of 100 terms is below 2^-57 of their absolute values, a sixteenth of one
 * rounding of double). Bound: weft_gemm_3m_bound, i.e. k + 4 roundings; of the real part k + 2,
 * as without it. Where imaginary parts of A and B are 2^-30 of the real ones, the imaginary part
 * of C may err by more than four products would allow: it does, or three products were not used. */
#include "gemm/kernels.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 29, K = 100 };

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static double next(uint64_t *x) {
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*x >> 11) * 0x1p-52 - 1;
}

/* n complex numbers, imaginary parts scaled; in the type at `bytes`. */
static void fill(double *exact, void *bytes, size_t n, double scale, bool single, uint64_t *x) {
    for (size_t i = 0; i < 2 * n; ++i) {
        const double value = next(x) * (i % 2 == 1 ? scale : 1);
        exact[i] = single ? (double)(float)value : value;
        if (single)
            ((float *)bytes)[i] = (float)value;
        else
            ((double *)bytes)[i] = value;
    }
}

static weft_gemm_matrix matrix_make(weft_device *device, double *exact, size_t n, int64_t ld,
                                    double scale, bool single, uint64_t *x) {
    weft_gemm_matrix matrix = {.ld = ld};
    weft_error error;
    double *bytes = calloc(2 * n, sizeof *bytes);
    fill(exact, bytes, n, scale, single, x);
    check(weft_memory_make(device, 2 * n * sizeof *bytes, &matrix.memory, &error), &error);
    check(weft_memory_write(matrix.memory, 0, bytes, 2 * n * (single ? 4 : 8), &error), &error);
    free(bytes);
    return matrix;
}

/* The largest errors relative to their bounds: of real parts, of imaginary parts, and of these
 * relative to the bound of four products, sum of |Re a Im b| + |Im a Re b|. */
static void measure(const weft_gemm_product *p, const double *a, const double *b, double out[3]) {
    const bool single = p->type == WEFT_GEMM_SINGLE_COMPLEX;
    const double unit = single ? 0x1p-24 : 0x1p-53;
    weft_error error;
    double *c = calloc((size_t)2 * M * N, sizeof *c);
    check(weft_memory_read(p->c.memory, 0, c, (size_t)2 * M * N * (single ? 4 : 8), &error),
          &error);
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < M * N; ++i) {
        long double re = 0, im = 0, size_re = 0, size_im = 0, size_3m = 0;
        for (int l = 0; l < K; ++l) { /* A is K x M, conjugated and transposed */
            const long double x = a[2 * (l + i % M * K)], y = -a[2 * (l + i % M * K) + 1];
            const long double u = b[2 * (l + i / M * K)], v = b[2 * (l + i / M * K) + 1];
            re += x * u - y * v;
            im += x * v + y * u;
            size_re += fabsl(x * u) + fabsl(y * v);
            size_im += fabsl(x * v) + fabsl(y * u);
            size_3m += (fabsl(x) + fabsl(y)) * (fabsl(u) + fabsl(v)) + fabsl(x * u) + fabsl(y * v);
        }
        const long double got_re = single ? ((float *)c)[2 * i] : c[2 * i];
        const long double got_im = single ? ((float *)c)[2 * i + 1] : c[2 * i + 1];
        const double bounds[] = {(double)size_re * (K + 2) * unit,
                                 (double)size_3m * weft_gemm_3m_bound(p->type, K),
                                 (double)size_im * (K + 2) * unit};
        for (int k = 0; k < 3; ++k)
            out[k] = fmax(out[k], (double)fabsl(k == 0 ? got_re - re : got_im - im) / bounds[k]);
    }
    free(c);
}

static void test_bound(weft_gemm_type type) {
    static const double scales[] = {1, 0x1p-30};
    const bool single = type == WEFT_GEMM_SINGLE_COMPLEX;
    weft_device *device = NULL;
    weft_gemm_kernels *kernels = NULL;
    weft_error error;
    uint64_t x = 7;
    double *a = calloc((size_t)2 * M * K, sizeof *a), *b = calloc((size_t)2 * K * N, sizeof *b);
    double *c = calloc((size_t)2 * M * N, sizeof *c), ratios[3];
    check(weft_device_open("host:2", NULL, &device, &error), &error);
    check(weft_gemm_kernels_make(device, &kernels, &error), &error);
    for (int i = 0; i < 2; ++i) {
        weft_gemm_product p = {.type = type,
                               .op_a = WEFT_GEMM_CONJUGATE_TRANSPOSED,
                               .m = M,
                               .n = N,
                               .k = K,
                               .alpha = {1, 0},
                               .a = matrix_make(device, a, M * K, K, scales[i], single, &x),
                               .b = matrix_make(device, b, K * N, K, scales[i], single, &x),
                               .c = matrix_make(device, c, M * N, M, 1, single, &x)};
        check(weft_gemm_3m(kernels, &p, 1, &error), &error);
        measure(&p, a, b, ratios);
        assert_true(ratios[0] <= 1);
        assert_true(ratios[1] <= 1);
        if (i == 1)
            assert_true(ratios[2] > 1e3);
        check(weft_gemm(kernels, &p, &error), &error);
        measure(&p, a, b, ratios);
        assert_true(ratios[2] <= 1);
        weft_memory_free(&p.a.memory);
        weft_memory_free(&p.b.memory);
        weft_memory_free(&p.c.memory);
    }
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
    free(a);
    free(b);
    free(c);
}

static void test_single(void **state) {
    (void)state;
    test_bound(WEFT_GEMM_SINGLE_COMPLEX);
}

static void test_double(void **state) {
    (void)state;
    test_bound(WEFT_GEMM_DOUBLE_COMPLEX);
}

/* (k + 4) u / (1 - (k + 4) u) */
static void test_values(void **state) {
    (void)state;
    assert_float_equal(weft_gemm_3m_bound(WEFT_GEMM_DOUBLE_COMPLEX, 4), 8 * 0x1p-53, 1e-28);
    assert_float_equal(weft_gemm_3m_bound(WEFT_GEMM_SINGLE_COMPLEX, 12), 16 * 0x1p-24, 1e-11);
    assert_float_equal(weft_gemm_3m_bound(WEFT_GEMM_SINGLE_COMPLEX, 1 << 25), 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_single),
                                       cmocka_unit_test(test_double)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
