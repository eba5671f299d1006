/** Polynomials in three coordinates up to degree 2 and in two numbers e1, e2 with e1^2 = e2^2 = 0: a value with
 *  its first and second derivatives in space and its derivatives in two directions of functions. */
#pragma once

enum { SERIES_PARTS = 4, SERIES_TERMS = 10 };

typedef struct series {
    /* [bit 0: e1, bit 1: e2][1, x, y, z, xx, xy, xz, yy, yz, zz] */
    double c[SERIES_PARTS][SERIES_TERMS];
} series;

series series_number(double value);
series series_add(series a, series b);
series series_scale(series a, double by);
series series_multiply(series a, series b);
/** f(a), given f and its derivatives up to the fourth at the value of a. */
series series_apply(series a, const double derivatives[5]);
/** The derivative by coordinate j: without the terms of degree 2. */
series series_derivative(series a, int j);
/** The coefficient of e1 or e2: bit is 1 or 2. */
series series_direction(series a, int bit);
/** a times e1 or e2. */
series series_times(series a, int bit);
