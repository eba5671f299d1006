
//@ Reductions over elements of several ranks: those that this one owns count. Sums have the same bits for any order and any
//@ parts: each number is divided into slices of EXACT_BITS bits at fixed places of the exponent, and slices of one place are
//@ added without rounding (Demmel and Nguyen 2015; Ahrens, Demmel and Nguyen 2020, ReproBLAS). The three slices from the
//@ greatest number down count, more than a double has digits. A number is [slice 0][1][2][rest][limit], and stored as the
//@ place of slice 0, three whole numbers and the rest (core/base/exact.h).
#define EXACT_BITS 30
#define EXACT_LEAST -33 /* places of slice 0: its unit is 2^(EXACT_BITS place) */
#define EXACT_MOST 32
#define EXACT_SLICES 3

INLINE mask counted_lanes(const unsigned char *owned, int64_t first, int lanes)
{
#if LANES == 8 || LANES == 4
    typedef uint64_t words __attribute__((vector_size(LANES * 8)));
    uint64_t bytes = 0;
    words places;
    UNROLL for (int l = 0; l < LANES; ++l)
        places[l] = 8 * (uint64_t)l;
    memcpy(&bytes, owned + first, LANES);
    return -(mask)((bytes + (words){0}) >> places & 1) & first_lanes(lanes);
#else
    mask counted;
    UNROLL for (int l = 0; l < LANES; ++l)
        counted[l] = -(int64_t)owned[first + l];
    return counted & first_lanes(lanes);
#endif
}

INLINE int64_t any_lane(mask m)
{
#if defined(__AVX512F__) && LANES == 8 && !defined(__clang__)
    typedef long long lanes_8 __attribute__((vector_size(64)));
    return __builtin_ia32_ptestmq512((lanes_8)m, (lanes_8)m, (unsigned char)-1);
#elif defined(__AVX__) && LANES == 4
    typedef double lanes_4 __attribute__((vector_size(32)));
    return __builtin_ia32_movmskpd256((lanes_4)m);
#else
    int64_t any = 0;
    UNROLL for (int l = 0; l < LANES; ++l)
        any |= m[l];
    return any;
#endif
}

/* what a slice starts from: 1.5 2^52 of its units, so that the sum keeps the exponent */
INLINE scalar exact_start(int place) { return __builtin_ldexp(1.5, 52 + EXACT_BITS * place); }
/* numbers below it have no slice above this place */
INLINE scalar exact_limit(int place) { return __builtin_ldexp(1.0, EXACT_BITS * place + EXACT_BITS - 1); }
INLINE int exact_place(scalar limit) { return (__builtin_ilogb(limit) + 1 - EXACT_BITS) / EXACT_BITS; }

INLINE void start_exact(real *a, int components)
{
    for (int c = 0; c < components; ++c) {
        for (int i = 0; i < EXACT_SLICES; ++i)
            a[5 * c + i] = SPLAT(exact_start(EXACT_LEAST - i));
        a[5 * c + 3] = SPLAT((scalar)0);
        a[5 * c + 4] = SPLAT(exact_limit(EXACT_LEAST));
    }
}

/* Make room for numbers at or above the limit. Those that are not finite, or so large that their sum may not be, are added
 * as they are. Returns the others. */
static __attribute__((noinline)) real exact_raise(real *a, real v)
{
    scalar most = 0;
    for (int l = 0; l < LANES; ++l) {
        const scalar size = v[l] < 0 ? -v[l] : v[l];
        if (!(size < exact_limit(EXACT_MOST))) {
            a[3][l] += v[l];
            v[l] = 0;
        } else if (size > most)
            most = size;
    }
    const int before = exact_place(a[4][0]);
    int place = before;
    while (!(most < exact_limit(place)))
        ++place;
    const int by = place - before;
    for (int i = EXACT_SLICES - 1; i >= 0; --i)
        if (i >= by)
            a[i] = a[i - by];
        else
            a[i] = SPLAT(exact_start(place - i));
    a[4] = SPLAT(exact_limit(place));
    return v;
}

INLINE void join_exact_counted(real *a, const real *v, int components, mask counted)
{
    UNROLL for (int c = 0; c < components; ++c) {
        real *sum = a + 5 * c, left = select_(counted, v[c], SPLAT((scalar)0));
        if (__builtin_expect(any_lane(~(mask)(weft_abs(left) < sum[4])) != 0, 0)) {
            real copy[5]; /* so that the sum itself stays in registers */
            UNROLL for (int i = 0; i < 5; ++i)
                copy[i] = sum[i];
            left = exact_raise(copy, left);
            UNROLL for (int i = 0; i < 5; ++i)
                sum[i] = copy[i];
        }
//@ With its last bit set, nothing is halfway between two multiples of a unit, so that rounding does not depend on the sum.
        UNROLL for (int i = 0; i < EXACT_SLICES; ++i) {
            const real next = sum[i] + (real)((mask)left | 1);
            const real slice = next - sum[i];
            sum[i] = next;
            left -= slice;
        }
    }
}

INLINE void partial_exact(scalar *p, const real *a, int components)
{
    for (int c = 0; c < components; ++c) {
        const real *sum = a + 5 * c;
        const int place = exact_place(sum[4][0]);
        int64_t numbers[4] = {place};
        scalar rest = 0;
        for (int i = 0; i < EXACT_SLICES; ++i) { /* the reciprocal of the unit may not be finite, its root is */
            const scalar root = __builtin_ldexp(1.0, -EXACT_BITS / 2 * (place - i));
            const real whole = (sum[i] - exact_start(place - i)) * root * root;
            for (int l = 0; l < LANES; ++l)
                numbers[1 + i] += (int64_t)whole[l];
        }
        for (int l = 0; l < LANES; ++l)
            rest += sum[3][l];
        memcpy(p + 5 * c, numbers, sizeof numbers);
        p[5 * c + 4] = rest;
    }
}

/* The first of n partial results becomes the sum of all, of which whoever joins the ranks makes a number. */
INLINE void finish_exact(scalar *result, scalar *p, int components, int64_t n)
{
    for (int c = 0; c < components; ++c) {
        int64_t all[4] = {EXACT_LEAST};
        scalar rest = 0;
        for (int64_t k = 0; k < n; ++k) {
            int64_t one[4];
            memcpy(one, p + 5 * (k * components + c), sizeof one);
            if (one[0] > all[0]) {
                for (int i = EXACT_SLICES - 1; i >= 0; --i)
                    all[1 + i] = i >= one[0] - all[0] ? all[1 + i - (one[0] - all[0])] : 0;
                all[0] = one[0];
            }
            for (int i = 0; i + (all[0] - one[0]) < EXACT_SLICES; ++i)
                all[1 + i + (all[0] - one[0])] += one[1 + i];
            rest += p[5 * (k * components + c) + 4];
        }
        memcpy(p + 5 * c, all, sizeof all);
        p[5 * c + 4] = rest;
        result[c] = 0;
    }
}
