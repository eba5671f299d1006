/* Computes medians with their spread, and an exact rank test. */
#include "apps/common/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

app_spread app_spread_of(double *values, int n) {
    if (n <= 0)
        return (app_spread){NAN, NAN, NAN, 0};
    qsort(values, (size_t)n, sizeof *values, ascending);
    double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    return (app_spread){values[0], median, values[n - 1], n};
}

/* P(U <= u) of n and m values without ties. The orders of both sets are the ways of choosing the
 * places of a among n + m, and U is the sum of how far each was moved up: partitions of U into at
 * most n parts of at most m. So the numbers are the coefficients of the Gaussian binomial
 * prod_{i=1..n} (1 - q^(m+i)) / (1 - q^i), made factor by factor: each product and quotient of the
 * prefix is exact in doubles up to 2^53 and within rounding beyond. */
static double probability_below(int n, int m, int u) {
    enum { MOST = APP_RANKS_MAX * APP_RANKS_MAX + 1 };
    double count[MOST], total = 0, below = 0;
    const int last = n * m;
    memset(count, 0, sizeof count);
    count[0] = 1;
    for (int i = 1; i <= n; ++i) {
        for (int k = last; k >= m + i; --k)
            count[k] -= count[k - m - i];
        for (int k = i; k <= last; ++k)
            count[k] += count[k - i];
    }
    for (int k = 0; k <= last; ++k) {
        total += count[k];
        below += k <= u ? count[k] : 0;
    }
    return below / total;
}

double app_rank_test(const double *a, int n_a, const double *b, int n_b) {
    n_a = n_a < APP_RANKS_MAX ? n_a : APP_RANKS_MAX;
    n_b = n_b < APP_RANKS_MAX ? n_b : APP_RANKS_MAX;
    double above = 0; /* pairs in which a is the larger */
    for (int i = 0; i < n_a; ++i)
        for (int j = 0; j < n_b; ++j)
            above += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    double fewer = fmin(above, n_a * n_b - above);
    if (n_a <= 0 || n_b <= 0)
        return 1;
    return fmin(1, 2 * probability_below(n_a, n_b, (int)ceil(fewer)));
}
