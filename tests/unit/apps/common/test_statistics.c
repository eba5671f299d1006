/* labels: quick */
/* Medians and the rank test against their definitions: p-values by going through every way of
 * choosing which of n + m places belong to a. */
#include "apps/common/statistics.h"
#include "test_support.h"

#include <math.h>

static void test_spread(void **state) {
    (void)state;
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 10}, one[] = {7};
    app_spread s = app_spread_of(odd, 3);
    assert_true(s.min == 1 && s.median == 2 && s.max == 3 && s.n == 3);
    s = app_spread_of(even, 4);
    assert_true(s.min == 1 && s.median == 3.5 && s.max == 10 && s.n == 4);
    s = app_spread_of(one, 1);
    assert_true(s.min == 7 && s.median == 7 && s.max == 7 && s.n == 1);
    s = app_spread_of(one, 0);
    assert_true(isnan(s.min) && isnan(s.median) && isnan(s.max) && s.n == 0);
}

/* Pairs (place of a, place of b) with the one of a behind: places of a are the bits of `chosen`. */
static int count_pairs(unsigned chosen, int n) {
    int pairs = 0, before = 0;
    for (int i = 0; i < n; ++i)
        if (chosen >> i & 1)
            pairs += before;
        else
            ++before;
    return pairs;
}

static double enumerate(int n_a, int n_b, int u) {
    double all = 0, below = 0;
    for (unsigned chosen = 0; chosen < 1u << (n_a + n_b); ++chosen) {
        if (__builtin_popcount(chosen) != n_a)
            continue;
        all += 1;
        below += count_pairs(chosen, n_a + n_b) <= u;
    }
    return fmin(1, 2 * below / all);
}

/* Every order of n_a and n_b values. */
static void check_orders(int n_a, int n_b) {
    for (unsigned chosen = 0; chosen < 1u << (n_a + n_b); ++chosen) {
        if (__builtin_popcount(chosen) != n_a)
            continue;
        double a[16], b[16];
        int i_a = 0, i_b = 0;
        for (int i = 0; i < n_a + n_b; ++i)
            if (chosen >> i & 1)
                a[i_a++] = i;
            else
                b[i_b++] = i;
        int u = count_pairs(chosen, n_a + n_b);
        u = u < n_a * n_b - u ? u : n_a * n_b - u;
        double expected = enumerate(n_a, n_b, u);
        assert_double_near(app_rank_test(a, n_a, b, n_b), expected, 1e-14, 0);
        assert_double_near(app_rank_test(b, n_b, a, n_a), expected, 1e-14, 0);
    }
}

static void test_orders(void **state) {
    (void)state;
    check_orders(1, 1);
    check_orders(2, 3);
    check_orders(4, 3);
    check_orders(5, 5);
}

/* Apart: 2 / C(n + m, n). */
static void test_apart(void **state) {
    (void)state;
    double a[APP_RANKS_MAX + 1], b[APP_RANKS_MAX + 1];
    for (int i = 0; i <= APP_RANKS_MAX; ++i) {
        a[i] = i;
        b[i] = 1000 + i;
    }
    assert_double_near(app_rank_test(a, 5, b, 5), 2.0 / 252, 1e-14, 0);
    assert_double_near(app_rank_test(a, 3, b, 3), 0.1, 1e-14, 0);
    assert_double_near(app_rank_test(a, 10, b, 10), 2.0 / 184756, 1e-14, 0);
    double logarithm = lgamma(2 * APP_RANKS_MAX + 1) - 2 * lgamma(APP_RANKS_MAX + 1);
    double expected = 2 * exp(-logarithm);
    assert_double_near(app_rank_test(a, APP_RANKS_MAX, b, APP_RANKS_MAX), expected, 1e-9, 0);
    assert_double_near(app_rank_test(a, APP_RANKS_MAX + 1, b, APP_RANKS_MAX + 1), expected, 1e-9,
                       0);
}

/* Ties are no evidence: all alike 1; one pair tied of 25, the rest apart, counts as U = 1. */
static void test_ties(void **state) {
    (void)state;
    double same[] = {1, 1, 1, 1, 1}, a[] = {1, 2, 3, 4, 5}, b[] = {5, 6, 7, 8, 9};
    assert_true(app_rank_test(same, 5, same, 5) == 1);
    assert_double_near(app_rank_test(a, 5, b, 5), 4.0 / 252, 1e-14, 0);
    assert_true(app_rank_test(a, 5, b, 0) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spread), cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_apart), cmocka_unit_test(test_ties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
