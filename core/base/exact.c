/* Adds numbers without rounding, slice by slice. */
#include "core/base/exact.h"

#include <math.h>
#include <string.h>

enum { BITS = WEFT_EXACT_BITS, LEAST = -33, MOST = WEFT_EXACT_MOST, SLICES = WEFT_EXACT_SLICES };

weft_exact_sum weft_exact_zero(void) {
    return (weft_exact_sum){.place = LEAST};
}

double weft_exact_limit(int64_t place) {
    return ldexp(1, (int)(BITS * place + BITS - 1));
}

/* Move the slices to a higher place; the lowest are dropped. */
static void raise_to(weft_exact_sum *sum, int64_t place) {
    const int64_t by = place - sum->place;
    for (int i = SLICES - 1; i >= 0 && by > 0; --i)
        sum->slices[i] = i >= by ? sum->slices[i - by] : 0;
    sum->place = by > 0 ? place : sum->place;
}

/* With its last bit set, no number is halfway between two multiples of a unit. */
static double odd(double number) {
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits |= 1;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

void weft_exact_add(weft_exact_sum *sum, double number) {
    int64_t place = sum->place;
    if (!(fabs(number) < weft_exact_limit(MOST))) {
        sum->rest += number;
        return;
    }
    while (!(fabs(number) < weft_exact_limit(place)))
        ++place;
    raise_to(sum, place);
    for (int i = 0; i < SLICES; ++i) {
        const int unit = (int)(BITS * (place - i));
        const double start = ldexp(1.5, 52 + unit); /* the sum with it is a multiple of the unit */
        const double slice = start + odd(number) - start;
        sum->slices[i] += (int64_t)ldexp(slice, -unit);
        number -= slice;
    }
}

void weft_exact_join(weft_exact_sum *sum, const weft_exact_sum *more) {
    raise_to(sum, more->place);
    const int64_t by = sum->place - more->place;
    for (int64_t i = 0; i + by < SLICES; ++i)
        sum->slices[i + by] += more->slices[i];
    sum->rest += more->rest;
}

double weft_exact_value(const weft_exact_sum *sum) {
    static const int64_t ONE = (int64_t)1 << BITS;
    int64_t s[SLICES];
    double value = 0;
    memcpy(s, sum->slices, sizeof s);
    /* carry, so that the lower slices are less than a unit of the next */
    for (int i = SLICES - 1; i > 0; --i) {
        const int64_t carry = s[i] / ONE;
        s[i] -= carry * ONE;
        s[i - 1] += carry;
    }
    for (int i = SLICES - 1; i >= 0; --i)
        value += ldexp((double)s[i], (int)(BITS * (sum->place - i)));
    return value + sum->rest;
}
