/* labels: quick */
#include "core/weft_core.h"
#include "fem/sparse/csr.h"
#include "test_support.h"

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

static void instruction_sets_agree(void **state) {
    (void)state;
    for (int v = WEFT_VECTORS_PLAIN; v <= (int)weft_vectors_here(); ++v)
        check_rows(weft_simd((weft_vectors)v));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_sets_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
