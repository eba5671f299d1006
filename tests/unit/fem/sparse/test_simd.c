/* labels: quick */
#include "core/weft_core.h"
#include "fem/sparse/csr.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>

/* Every instruction set that this processor has against plain loops. Integers below 2^53 / n: sums
 * of products are exact in any order, so the results are equal, not near. */
static int64_t next(int64_t i) {
    return (i * 2654435761 % 1000003) % 17 - 8;
}

static void check_rows(const weft_simd_kernels *wide) {
    enum { ROWS = 40 };
    int64_t start[ROWS + 1], k = 0;
    int32_t *columns = weft_array_make(ROWS * ROWS, sizeof *columns);
    double *values = weft_array_make(ROWS * ROWS, sizeof *values);
    double v[ROWS], y[ROWS], expected = 0;
    for (int64_t r = 0; r < ROWS; ++r) { /* rows of 0 to 39 entries */
        start[r] = k;
        v[r] = (double)next(r);
        for (int64_t c = 0; c < r; ++c, ++k) {
            columns[k] = (int32_t)(c * 7 % ROWS);
            values[k] = (double)next(k);
        }
    }
    start[ROWS] = k;
    weft_csr_rows m = {start, columns, values, v, y};
    double dot = wide->csr_rows(&m, 0, ROWS);
    for (int64_t r = 0; r < ROWS; ++r) {
        double sum = 0;
        for (k = start[r]; k < start[r + 1]; ++k)
            sum += values[k] * v[columns[k]];
        assert_true(y[r] == sum);
        expected += sum * v[r];
    }
    assert_true(dot == expected);
    free(columns);
    free(values);
}

/* By pieces of any length, of products below 2^40: the sum is that of integers, rounded once, although small ones are lost beside
 * 2^60 in doubles. */
static void check_exact(const weft_simd_kernels *wide, int64_t piece) {
    enum { N = 3000 };
    double *v = weft_array_make(N, sizeof *v), *y = weft_array_make(N, sizeof *y);
    unsigned char *owned = weft_array_make(N, 1);
    weft_exact_sum sum = weft_exact_zero(), one_by_one = weft_exact_zero();
    int64_t expected = 0;
    for (int64_t i = 0; i < N; ++i) {
        v[i] = (double)(i * 2654435761 % 1000003) - 500000;
        y[i] = (double)(i * 40503 % 999983) - 400000;
        owned[i] = i % 7 != 3;
        expected += owned[i] ? (int64_t)v[i] * (int64_t)y[i] : 0;
    }
    v[100] = 0x1p40; /* the owned 100 and 2900 cancel */
    v[2900] = -0x1p40;
    y[100] = y[2900] = 0x1p20;
    assert_true(owned[100] && owned[2900]);
    for (int i = 0; i < 2; ++i) {
        const int64_t at = i == 0 ? 100 : 2900;
        expected -= ((at * 2654435761 % 1000003) - 500000) * ((at * 40503 % 999983) - 400000);
    }
    for (int64_t first = 0; first < N; first += piece) {
        const int64_t n = N - first < piece ? N - first : piece;
        wide->exact_dot(v + first, y + first, owned + first, n, &sum);
    }
    for (int64_t i = 0; i < N; ++i)
        weft_exact_add(&one_by_one, owned[i] ? v[i] * y[i] : 0);
    assert_true(weft_exact_value(&sum) == (double)expected);
    assert_true(weft_exact_value(&one_by_one) == (double)expected);
    v[0] = NAN;
    owned[0] = 1;
    wide->exact_dot(v, y, owned, 9, &sum);
    assert_true(isnan(weft_exact_value(&sum)));
    free(v);
    free(y);
    free(owned);
}

static void instruction_sets_agree(void **state) {
    (void)state;
    for (int v = WEFT_VECTORS_PLAIN; v <= (int)weft_vectors_here(); ++v)
        check_rows(weft_simd((weft_vectors)v));
    for (int v = WEFT_VECTORS_PLAIN; v <= (int)weft_vectors_here(); ++v)
        for (int64_t piece = 1; piece <= WEFT_EXACT_PIECE; piece = piece * 3 + 1)
            check_exact(weft_simd((weft_vectors)v), piece);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_sets_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
