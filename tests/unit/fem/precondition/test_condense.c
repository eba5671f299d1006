/* labels: quick */
/* Static condensation of random matrices over linear functions and bubbles of two degrees, some of whose dofs are
 * constrained. For every x, down A x is S x in the free rows that stay, whatever the bubbles of x are; and bubbles are
 * found again from A x: errors by rounding of local matrices with a condition number below 100. */
#include "condense_support.h"

static const double ROUNDING = 1e-11;

static bool is_constrained(const fixture *f, int64_t i) {
    return i == f->constrained[0] || i == f->constrained[1] || i == f->constrained[2];
}

static bool is_bubble_row(const fixture *f, int64_t i) {
    return (i >= f->first[1] && i < f->first[2]) || i >= f->first[3];
}

static void eliminates(void **state) {
    (void)state;
    fixture f;
    uint64_t seed = 3;
    open_fixture(&f, 1);
    assert_int_equal(condense(&f, NULL), WEFT_OK);
    assert_true(f.condensation.is_any);
    for (int s = 0; s < SPACES; ++s)
        assert_int_equal(f.condensation.is_local[s], s % 2);
    const size_t n = (size_t)f.first[SPACES];
    double *x = calloc(n, sizeof *x), *b = calloc(n, sizeof *x), *lower = calloc(n, sizeof *x);
    double *S = calloc(n, sizeof *x), *back = calloc(n, sizeof *x);
    assert_true(x && b && lower && S && back);
    for (size_t i = 0; i < n; ++i)
        x[i] = is_constrained(&f, (int64_t)i) ? 0 : random_number(&seed);
    test_multiply(&f.A, x, b);
    test_multiply(&f.condensation.down, b, lower);
    test_multiply(&f.condensation.matrix, x, S);
    for (size_t i = 0; i < n; ++i)
        if (is_bubble_row(&f, (int64_t)i)) {
            assert_double_near(lower[i], b[i], 0, ROUNDING);
            assert_double_near(S[i], x[i], 0, ROUNDING);
        } else if (!is_constrained(&f, (int64_t)i)) {
            assert_double_near(lower[i], S[i], 0, 100 * ROUNDING);
            b[i] = x[i];
        } else {
            b[i] = 0;
        }
    test_multiply(&f.condensation.up, b, back);
    for (size_t i = 0; i < n; ++i)
        assert_double_near(back[i], x[i], 0, ROUNDING);
    free(x);
    free(b);
    free(lower);
    free(S);
    free(back);
    close_fixture(&f);
}

/* Bubbles that are singular or constrained are left as they are. */
static void leaves(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, 0);
    assert_int_equal(condense(&f, NULL), WEFT_OK);
    assert_false(f.condensation.is_any);
    assert_null(f.condensation.matrix.values);
    close_fixture(&f);
    open_fixture(&f, 1);
    f.constrained[2] = (int32_t)f.first[1];
    assert_int_equal(condense(&f, NULL), WEFT_OK);
    assert_false(f.condensation.is_any);
    f.problem.n_spaces = 1; /* without bubbles */
    assert_int_equal(condense(&f, NULL), WEFT_OK);
    assert_false(f.condensation.is_any);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(eliminates), cmocka_unit_test(leaves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
