/* labels: quick */
#include "test_support.h"

#include "operator_internal.h"

#include <stdlib.h>

/* Every instruction set that this processor has against plain loops. Integers below 2^53 / n: sums
 * of products are exact in any order, so the results are equal, not near. */
enum { N = 1003 };

static int64_t next(int64_t i) {
    return (i * 2654435761 % 1000003) % 17 - 8;
}

typedef struct vectors {
    double x[N], r[N], p[N], q[N], d[N];
} vectors;

static void fill(vectors *v) {
    for (int64_t i = 0; i < N; ++i) {
        v->x[i] = (double)next(i);
        v->r[i] = (double)next(i + 7);
        v->p[i] = (double)next(2 * i + 1);
        v->q[i] = (double)next(3 * i + 5);
        v->d[i] = (double)(i % 3);
    }
}

static void check_vectors(const weft_wide_kernels *wide, int64_t n) {
    static vectors a, b;
    double sums[2], expected[2] = {0, 0}, sum = 0, dot = 0;
    fill(&a);
    fill(&b);
    for (int64_t i = 0; i < n; ++i) {
        sum += b.r[i];
        dot += b.p[i] * b.q[i];
    }
    assert_true(wide->sum(a.r, n) == sum);
    assert_true(wide->dot(a.p, a.q, n) == dot);
    weft_cg_vectors v = {a.x, a.r, a.p, a.q, a.d};
    wide->update(&v, 3, 0, n, sums);
    for (int64_t i = 0; i < n; ++i) {
        b.x[i] += 3 * b.p[i];
        b.r[i] -= 3 * b.q[i];
        expected[0] += b.r[i] * b.r[i];
        expected[1] += b.r[i] * b.r[i] * b.d[i];
    }
    assert_true(sums[0] == expected[0] && sums[1] == expected[1]);
    wide->norms(a.r, a.d, n, sums);
    assert_true(sums[0] == expected[0] && sums[1] == expected[1]);
    wide->direction(&v, 2, 0, n);
    for (int64_t i = 0; i < n; ++i)
        b.p[i] = b.d[i] * b.r[i] + 2 * b.p[i];
    assert_memory_equal(a.x, b.x, sizeof a.x); /* entries past n are as they were */
    assert_memory_equal(a.r, b.r, sizeof a.r);
    for (int64_t i = 0; i < N; ++i) /* -0 and 0 are equal */
        assert_true(a.p[i] == b.p[i]);
}

static void check_rows(const weft_wide_kernels *wide) {
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

static void instruction_sets_agree(void **state) {
    (void)state;
    for (int v = WEFT_VECTORS_PLAIN; v <= (int)weft_vectors_here(); ++v) {
        const weft_wide_kernels *wide = weft_wide((weft_vectors)v);
        const int64_t sizes[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 64, N};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
            check_vectors(wide, sizes[s]);
        check_rows(wide);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_sets_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
