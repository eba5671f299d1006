/* Sums and norms of lists of doubles on the host. */
#include "fem/weft_fem.h"

#include <math.h>

/* Pairwise summation of runs of up to 128: the error grows as log n; the tree depends on n only. */
double weft_sum(const double *values, int64_t n) {
    if (n > 128) {
        int64_t half = n / 2;
        return weft_sum(values, half) + weft_sum(values + half, n - half);
    }
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += values[i];
    return sum;
}

double weft_norm(const double *values, const double *is_free, int64_t n) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; ++i)
        if (!is_free || is_free[i] != 0)
            most = fmax(most, fabs(values[i]));
    for (int64_t i = 0; i < n && most > 0; ++i)
        if (!is_free || is_free[i] != 0)
            sum += values[i] / most * (values[i] / most);
    return most * sqrt(sum);
}
