/* Arithmetic of truncated polynomials, straight from the definition. */
#include "series.h"

/* The powers of each term. */
static const int powers[SERIES_TERMS][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                                            {1, 1, 0}, {1, 0, 1}, {0, 2, 0}, {0, 1, 1}, {0, 0, 2}};

/* The term with these powers; -1: its degree is above 2. */
static int find(const int *wanted) {
    for (int t = 0; t < SERIES_TERMS; ++t)
        if (powers[t][0] == wanted[0] && powers[t][1] == wanted[1] && powers[t][2] == wanted[2])
            return t;
    return -1;
}

series series_number(double value) {
    series result = {{{0}}};
    result.c[0][0] = value;
    return result;
}

series series_add(series a, series b) {
    for (int m = 0; m < SERIES_PARTS; ++m)
        for (int t = 0; t < SERIES_TERMS; ++t)
            a.c[m][t] += b.c[m][t];
    return a;
}

series series_scale(series a, double by) {
    for (int m = 0; m < SERIES_PARTS; ++m)
        for (int t = 0; t < SERIES_TERMS; ++t)
            a.c[m][t] *= by;
    return a;
}

series series_multiply(series a, series b) {
    series result = {{{0}}};
    for (int s = 0; s < SERIES_TERMS; ++s)
        for (int t = 0; t < SERIES_TERMS; ++t) {
            const int sum[3] = {powers[s][0] + powers[t][0], powers[s][1] + powers[t][1],
                                powers[s][2] + powers[t][2]};
            const int to = find(sum);
            for (int m = 0; m < SERIES_PARTS && to >= 0; ++m)
                for (int n = 0; n < SERIES_PARTS; ++n)
                    if ((m & n) == 0)
                        result.c[m | n][to] += a.c[m][s] * b.c[n][t];
        }
    return result;
}

series series_apply(series a, const double derivatives[5]) {
    series power = series_number(1), result = {{{0}}};
    double factorial = 1;
    a.c[0][0] = 0;
    for (int k = 0; k < 5; ++k) { /* the fifth power of the rest is zero */
        result = series_add(result, series_scale(power, derivatives[k] / factorial));
        power = series_multiply(power, a);
        factorial *= k + 1;
    }
    return result;
}

series series_derivative(series a, int j) {
    series result = {{{0}}};
    for (int t = 0; t < SERIES_TERMS; ++t) {
        int lower[3] = {powers[t][0], powers[t][1], powers[t][2]};
        if (lower[j]-- == 0)
            continue;
        for (int m = 0; m < SERIES_PARTS; ++m)
            result.c[m][find(lower)] = a.c[m][t] * powers[t][j];
    }
    return result;
}

series series_direction(series a, int bit) {
    series result = {{{0}}};
    for (int m = 0; m < SERIES_PARTS; ++m)
        for (int t = 0; t < SERIES_TERMS && !(m & bit); ++t)
            result.c[m][t] = a.c[m | bit][t];
    return result;
}

series series_times(series a, int bit) {
    series result = {{{0}}};
    for (int m = 0; m < SERIES_PARTS; ++m)
        for (int t = 0; t < SERIES_TERMS && !(m & bit); ++t)
            result.c[m | bit][t] = a.c[m][t];
    return result;
}
