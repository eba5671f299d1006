/* labels: quick */
/* Sums without rounding against integers and 128-bit arithmetic: the same bits for any order and any parts, and right to
 * rounding although nearly everything cancels. */
#include "core/base/exact.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000 };

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 16;
}

static void fill(double *numbers, int spread, uint64_t seed) {
    for (int i = 0; i < N; ++i)
        numbers[i] = ldexp((double)(int64_t)(next(&seed) % 2000001) - 1e6,
                           (int)(next(&seed) % (uint64_t)(spread + 1)) - spread / 2);
}

/* The numbers in another order, by parts. */
static double sum_parts(const double *numbers, const int *order, int parts) {
    weft_exact_sum all = weft_exact_zero();
    for (int p = 0; p < parts; ++p) {
        weft_exact_sum part = weft_exact_zero();
        for (int i = p; i < N; i += parts)
            weft_exact_add(&part, numbers[order[i]]);
        weft_exact_join(&all, &part);
    }
    return weft_exact_value(&all);
}

static void test_any_order(void **state) {
    (void)state;
    static const int spreads[] = {0, 30, 90, 600};
    double numbers[N];
    int order[N];
    uint64_t seed = 5;
    for (int s = 0; s < 4; ++s) {
        __float128 exact = 0, size = 0;
        fill(numbers, spreads[s], (uint64_t)s + 3);
        for (int i = 0; i < N; ++i) {
            order[i] = i;
            exact += numbers[i];
            size += fabs(numbers[i]);
        }
        const double first = sum_parts(numbers, order, 1);
        /* the 128-bit sum is exact up to a spread of about 90 - 21 - 13 bits, and has 113 otherwise */
        assert_true(fabs(first - (double)exact) <=
                    3e-16 * fabs((double)exact) + 1e-17 * (double)size);
        for (int parts = 1; parts <= 64; parts *= 4)
            for (int again = 0; again < 5; ++again) {
                for (int i = N - 1; i > 0; --i) {
                    const int k = (int)(next(&seed) % (uint64_t)(i + 1)), swapped = order[i];
                    order[i] = order[k];
                    order[k] = swapped;
                }
                const double sum = sum_parts(numbers, order, parts);
                assert_memory_equal(&sum, &first, sizeof sum);
            }
    }
}

/* Ties of every slice, of both signs: where rounding would depend on what was there before. */
static void test_ties(void **state) {
    (void)state;
    for (int e = -120; e <= 120; ++e) {
        weft_exact_sum up = weft_exact_zero(), down = weft_exact_zero();
        const double half = ldexp(1, e), large = ldexp(3, e + 40);
        weft_exact_add(&up, large);
        weft_exact_add(&up, half);
        weft_exact_add(&up, -half);
        weft_exact_add(&up, half);
        weft_exact_add(&down, half);
        weft_exact_add(&down, -half);
        weft_exact_add(&down, half);
        weft_exact_add(&down, large);
        assert_true(weft_exact_value(&up) == large + half);
        assert_true(weft_exact_value(&down) == large + half);
    }
}

static void test_cancellation(void **state) {
    (void)state;
    weft_exact_sum sum = weft_exact_zero();
    for (int i = 0; i < 3000; ++i)
        weft_exact_add(&sum, 1e16 + i);
    for (int i = 0; i < 3000; ++i)
        weft_exact_add(&sum, -1e16 - i);
    assert_true(weft_exact_value(&sum) == 0);
    weft_exact_add(&sum, 0.125);
    assert_true(weft_exact_value(&sum) == 0.125);
}

static void test_extremes(void **state) {
    (void)state;
    weft_exact_sum sum = weft_exact_zero();
    assert_true(weft_exact_value(&sum) == 0);
    weft_exact_add(&sum, 1e300);
    weft_exact_add(&sum, -1e300);
    weft_exact_add(&sum, 2);
    assert_true(weft_exact_value(&sum) == 2);
    weft_exact_add(&sum, INFINITY);
    assert_true(weft_exact_value(&sum) == INFINITY);
    weft_exact_add(&sum, -INFINITY);
    assert_true(isnan(weft_exact_value(&sum)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order), cmocka_unit_test(test_ties),
        cmocka_unit_test(test_cancellation), cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
