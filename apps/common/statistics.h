/** Statistics of run times: few values, noise on one side, so medians with their spread. */
#pragma once

typedef struct app_spread {
    double min, median, max; /* NaN of no values */
    int n;
} app_spread;
/** Of n values, which are sorted in place. The median of an even number is the mean of the middle
 *  two. */
app_spread app_spread_of(double *values, int n);

/** The two-sided p-value of Mann and Whitney's rank test, exact: how likely ranks as uneven as
 *  these are where both sets come from one distribution. Ties count one half for either side; then
 *  p is that of the next more even count without ties, so never too small. 1 of an empty set.
 *  Source  Mann and Whitney 1947, section 3: the recursion for the number of orders with U = u
 *  n_a, n_b  at most APP_RANKS_MAX; of more values the first are taken */
enum { APP_RANKS_MAX = 50 };
double app_rank_test(const double *a, int n_a, const double *b, int n_b);
