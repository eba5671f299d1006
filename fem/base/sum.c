/* Sums doubles by a fixed tree. */
#include "fem/weft_fem.h"

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
