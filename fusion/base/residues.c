/* Computes modulo 2^61 - 1, with random values of functions that are not rational. */
#include "fusion/base/residues.h"
#include "core/base/number.h"
#include "fusion/base/array.h"

#include <math.h>
#include <string.h>

#define PRIME (((uint64_t)1 << 61) - 1)
#define NEAR 1e-14 /* numbers that differ by less, relative to their size, are one */

enum {
    FIRST_CAPACITY = 64,
    DIGITS = 15,        /* of a number that is not an integer */
    NEAR_BITS = 6,      /* the last bits of a number, which make a difference of NEAR */
    MAX_EXPONENT = 17,  /* prime to p - 1, so that x^17 is a permutation */
    TAG_LESS = 1 << 10, /* beyond the numbers of functions */
    TAG_EQUAL,
    TAG_MOST /* of max and min: keys */
};

/* A number that has occurred. */
typedef struct seen {
    int64_t near; /* its bits without the last ones */
    weft_residue value;
    bool used;
} seen;

struct weft_residues {
    weft_arena *arena;
    uint64_t state; /* of the random numbers */
    seen *table;    /* [capacity], open addressing */
    size_t n, capacity;
    uint64_t max_root; /* the inverse of MAX_EXPONENT modulo p - 1 */
    bool failed;
};

/* ---- the field ---- */

static uint64_t reduce(uint64_t x) {
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

weft_residue weft_residue_add(weft_residue a, weft_residue b) {
    return reduce(a + b);
}

weft_residue weft_residue_subtract(weft_residue a, weft_residue b) {
    return reduce(a + PRIME - b);
}

/* From halves of 31 and 30 bits; 2^61 = 1. */
weft_residue weft_residue_multiply(weft_residue a, weft_residue b) {
    const uint64_t low = ((uint64_t)1 << 31) - 1;
    const uint64_t a0 = a & low, a1 = a >> 31, b0 = b & low, b1 = b >> 31;
    const uint64_t middle = reduce(a0 * b1 + a1 * b0); /* times 2^31 */
    const uint64_t high = reduce(2 * a1 * b1);         /* times 2^62 = 2 */
    const uint64_t shifted = ((middle & (((uint64_t)1 << 30) - 1)) << 31) + (middle >> 30);
    return reduce(reduce(a0 * b0) + reduce(shifted) + high);
}

static weft_residue raise(weft_residue a, uint64_t n) {
    weft_residue out = 1;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            out = weft_residue_multiply(out, a);
        a = weft_residue_multiply(a, a);
    }
    return out;
}

weft_residue weft_residue_divide(weft_residue a, weft_residue b) {
    return weft_residue_multiply(a, raise(b, PRIME - 2));
}

weft_residue weft_residue_power(weft_residue a, int64_t n) {
    return n >= 0 ? raise(a, (uint64_t)n) : weft_residue_divide(1, raise(a, 0 - (uint64_t)n));
}

/* ---- random values ---- */

/* The finaliser of Steele, Lea and Flood 2014, SplitMix64. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static weft_residue value_of(int tag, weft_residue a, weft_residue b) {
    return reduce(mix(mix(mix((uint64_t)tag) ^ a) ^ b));
}

weft_residue weft_residue_random(weft_residues *r) {
    return reduce(mix(r->state++));
}

weft_residue weft_residue_less(const weft_residues *r, weft_residue a, weft_residue b) {
    (void)r;
    return value_of(TAG_LESS, weft_residue_subtract(a, b), 0);
}

weft_residue weft_residue_equal(const weft_residues *r, weft_residue a, weft_residue b) {
    (void)r;
    return value_of(TAG_EQUAL, a < b ? a : b, a < b ? b : a);
}

weft_residue weft_residue_select(weft_residue condition, weft_residue a, weft_residue b) {
    return weft_residue_add(b, weft_residue_multiply(condition, weft_residue_subtract(a, b)));
}

/* m with (m + k)^17 = (a + k)^17 + (b + k)^17, for a random k: commutative and associative. */
static weft_residue extreme(const weft_residues *r, int tag, weft_residue a, weft_residue b) {
    const weft_residue k = value_of(TAG_MOST, (uint64_t)tag, 0);
    const weft_residue sum = weft_residue_add(raise(weft_residue_add(a, k), MAX_EXPONENT),
                                              raise(weft_residue_add(b, k), MAX_EXPONENT));
    return a == b ? a : weft_residue_subtract(raise(sum, r->max_root), k);
}

weft_residue weft_residue_function(const weft_residues *r, const weft_intrinsic *intrinsic,
                                   weft_residue a, weft_residue b) {
    const char *name = intrinsic->name;
    const int tag = (int)(intrinsic - weft_intrinsics);
    if (strcmp(name, "reciprocal") == 0)
        return weft_residue_divide(1, a);
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return extreme(r, tag, a, b);
    if (strcmp(name, "abs") == 0)
        return value_of(tag, a < PRIME - a ? a : PRIME - a, 0);
    return value_of(tag, a, intrinsic->n_arguments > 1 ? b : 0);
}

/* ---- numbers ---- */

weft_residue weft_residue_integer(int64_t number) {
    const uint64_t size = reduce(number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    return number < 0 ? weft_residue_subtract(0, size) : size;
}

/* The decimal number of 15 digits that is nearest: 0.1 is a tenth. */
static weft_residue decimal(double number) {
    char text[40];
    int64_t digits = 0;
    int exponent = 0;
    weft_print(text, sizeof text, "%.*e", DIGITS - 1, fabs(number));
    const char *at = text;
    for (; *at != '\0' && *at != 'e'; ++at)
        if (*at != '.')
            digits = 10 * digits + (*at - '0');
    for (const char *e = *at == 'e' ? at + 2 : at; *e != '\0'; ++e)
        exponent = 10 * exponent + (*e - '0');
    exponent = (*at == 'e' && at[1] == '-' ? -exponent : exponent) - (DIGITS - 1);
    const weft_residue size = weft_residue_multiply(
        weft_residue_integer(digits), weft_residue_power(weft_residue_integer(10), exponent));
    return number < 0 ? weft_residue_subtract(0, size) : size;
}

static seen *place_of(const weft_residues *r, int64_t near) {
    size_t i = (size_t)mix((uint64_t)near) & (r->capacity - 1);
    while (r->table[i].used && r->table[i].near != near)
        i = (i + 1) & (r->capacity - 1);
    return &r->table[i];
}

/* A table of twice the size. */
static bool enlarge(weft_residues *r) {
    const weft_residues old = *r;
    seen *table = weft_arena_alloc(r->arena, 2 * old.capacity, sizeof *table);
    if (!table)
        return false;
    r->table = table;
    r->capacity = 2 * old.capacity;
    for (size_t i = 0; i < old.capacity; ++i)
        if (old.table[i].used)
            *place_of(r, old.table[i].near) = old.table[i];
    return true;
}

weft_residue weft_residue_number(weft_residues *r, double number) {
    int64_t bits = 0;
    if (fabs(number) < 1e15 && fabs(number - round(number)) <= NEAR * fabs(number))
        return weft_residue_integer((int64_t)round(number));
    if (!isfinite(number))
        return value_of(TAG_EQUAL, isnan(number) ? 2 : number > 0, PRIME);
    memcpy(&bits, &number, sizeof bits);
    const int64_t near = bits >> NEAR_BITS;
    for (int64_t k = near - 1; k <= near + 1; ++k)
        if (place_of(r, k)->used)
            return place_of(r, k)->value;
    if (2 * r->n >= r->capacity && !enlarge(r)) {
        r->failed = true;
        return 0;
    }
    ++r->n;
    seen *place = place_of(r, near);
    *place = (seen){near, decimal(number), true};
    return place->value;
}

/* ---- making ---- */

/* The inverse of a modulo n by Euclid's algorithm, for a prime to n. */
static uint64_t inverse(int64_t a, int64_t n) {
    int64_t s = 0, next_s = 1, r = n, next_r = a;
    while (next_r != 0) {
        const int64_t quotient = r / next_r, after_s = s - quotient * next_s,
                      after_r = r - quotient * next_r;
        s = next_s;
        next_s = after_s;
        r = next_r;
        next_r = after_r;
    }
    return (uint64_t)(s < 0 ? s + n : s);
}

weft_status weft_residues_make(weft_arena *arena, weft_residues **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_residues *made = NULL;
    TRY(WEFT_ALLOC(arena, made, 1, error));
    made->arena = arena;
    made->capacity = FIRST_CAPACITY;
    made->max_root = inverse(MAX_EXPONENT, PRIME - 1);
    TRY(WEFT_ALLOC(arena, made->table, made->capacity, error));
    *out = made;
done:
    return status;
}

bool weft_residues_failed(const weft_residues *r) {
    return r->failed;
}
