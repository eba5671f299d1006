/** Sums without rounding: the bits of the result depend neither on the order of the numbers nor on how they are divided
 *  into parts. Not installed.
 *
 *      In: numbers, sums of parts.  Out: their sum, rounded once.
 *
 *  Each number is divided into slices of 30 bits at fixed places of the exponent: slice 0 is a multiple of
 *  2^(30 place), the next one of 2^(30 (place - 1)). Slices of one place are added as whole numbers. The three slices from
 *  the greatest number down are kept, which is 2^-59 of it or less; so up to 2^33 numbers can be added.
 *
 *  Source  Demmel and Nguyen 2015, Parallel reproducible summation; Ahrens, Demmel and Nguyen 2020 (ReproBLAS)
 *  Decision  docs/decisions/0070-sums-of-ranks-are-exact.md
 *  Kernels that make such sums: kernels/prelude/exact_host.h */
#pragma once

#include "core/weft_base.h"

/** Start from weft_exact_zero. */
typedef struct weft_exact_sum {
    int64_t place, slices[3];
    double rest; /* numbers that are not finite, or beyond 2^989, as they are */
} weft_exact_sum;

enum { WEFT_EXACT_NUMBERS = sizeof(weft_exact_sum) / sizeof(double) };
enum { WEFT_EXACT_BITS = 30, WEFT_EXACT_MOST = 32, WEFT_EXACT_SLICES = 3 };

weft_exact_sum weft_exact_zero(void);
void weft_exact_add(weft_exact_sum *sum, double number);
void weft_exact_join(weft_exact_sum *sum, const weft_exact_sum *more);
double weft_exact_value(const weft_exact_sum *sum);
/** Numbers whose size is below it have no slice above this place. */
double weft_exact_limit(int64_t place);
