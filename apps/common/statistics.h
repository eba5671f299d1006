/** Statistics of run times. In: a few values with one-sided noise. Out: medians with their spread,
 *  and the p-value of a rank test. */
#pragma once

typedef struct app_spread {
    double min, median, max; /* NaN if n is 0 */
    int n;
} app_spread;
/** Spread of n values, which are sorted in place. For even n the median is the mean of the two
 *  middle values. */
app_spread app_spread_of(double *values, int n);

/** The exact two-sided p-value of the Mann-Whitney rank test: the probability of ranks at least
 *  this uneven if both sets come from one distribution. A tie counts one half for either side, and
 *  p is rounded up to that of the next more even count without ties.
 *  n_a, n_b  at most APP_RANKS_MAX; further values are ignored
 *  Returns   1 if a set is empty
 *  Source    Mann and Whitney 1947, section 3: the recursion for the number of orders with U = u */
enum { APP_RANKS_MAX = 50 };
double app_rank_test(const double *a, int n_a, const double *b, int n_b);
