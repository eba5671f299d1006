//@ The prelude of the host's kernels: `real` is a vector of LANES elements by the compilers' vector extension.
//@ fusion/base/prelude.h says what the lines that start with two slashes and an at sign do, and the names
//@ between at signs; fusion/codegen/target_host.c has the values.
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__ /* has no builtins of these */
#define __builtin_jn jn
#define __builtin_yn yn
#define __builtin_jnf jnf
#define __builtin_ynf ynf
#endif

#define LANES @lanes@
typedef @scalar@ scalar;
typedef scalar real __attribute__((vector_size(LANES * sizeof(scalar)), may_alias));
typedef int@bits@_t mask __attribute__((vector_size(LANES * sizeof(scalar))));
#define NATIVE_AT(number, holds, name, thread) (number) /* a subscript of a native body */
#define INLINE static inline __attribute__((always_inline))
#define ONCE static __attribute__((noinline, const)) /* calls of the C library: long, and slow */
#define UNROLL _Pragma("GCC unroll 16")
#define ROLLED _Pragma("GCC unroll 1") /* what runs once per list: its copies would take longer to compile than all else */
#define SPLAT(e) ((e) - (real){0}) /* a scalar or a vector as a vector; x - 0 is x */
/* A large table. The compiler does not look its numbers up, for which it would search the table each time. */
#define TABLE(numbers) ({ const scalar *table_ = (numbers); __asm__("" : "+r"(table_)); table_; })
#define EACH_LANE(M) @each_lane@

/* first, first + 1, ...: the numbers of a block's elements */
#define NUMBER(l) (scalar)(l)
INLINE real numbers_from(int64_t first) { return (scalar)first + (real){EACH_LANE(NUMBER)}; }
#undef NUMBER

/* the first lanes of a vector; a comparison would do, but gcc 12 fails on some of its uses */
INLINE mask first_lanes(int n)
{
#define ON(l) -1
#define OFF(l) 0
    static const int@bits@_t lanes[2 * LANES] = {EACH_LANE(ON), EACH_LANE(OFF)};
#undef ON
#undef OFF
    mask first;
    memcpy(&first, lanes + LANES - n, sizeof first);
    return first;
}

/* interleaved lists: [block][component][lane] */
INLINE void load_block(real *v, const scalar *p, int components)
{
    UNROLL for (int c = 0; c < components; ++c)
        v[c] = ((const real *)p)[c];
}

/* plain lists: [element][component]; lanes past the end repeat the last element */
INLINE void load_plain(real *v, const scalar *p, int components, int64_t first, int64_t n)
{
    if (first + LANES <= n) {
        p += first * components;
        if (components == 1) {
            memcpy(v, p, sizeof *v);
            return;
        }
#define ELEMENT(l) p[(l) * components + c]
        UNROLL for (int c = 0; c < components; ++c)
            v[c] = (real){EACH_LANE(ELEMENT)};
#undef ELEMENT
        return;
    }
    UNROLL for (int c = 0; c < components; ++c) {
        real last = SPLAT(p[(n - 1) * components + c]); /* v itself stays in registers */
        scalar *one = (scalar *)&last;
        __asm__("" : "+r"(one) : "m"(last));
        ROLLED for (int l = 0; first + l < n - 1; ++l) {
            one[l] = p[(first + l) * components + c];
            __asm__(""); /* else the loop becomes a call, which spills */
        }
        v[c] = last;
    }
}

#if defined(__AVX__) && (LANES == 4 || LANES == 8) && (defined(__clang__) || __GNUC__ >= 12)
/* three doubles of each lane's element by one load that leaves out the fourth, transposed by shuffles: half as many of these
 * as single numbers need */
INLINE void load_triples(real *v, const double *p, const int32_t *map)
{
    typedef double quad __attribute__((vector_size(32)));
    typedef long long quad_mask __attribute__((vector_size(32)));
    typedef double wide __attribute__((vector_size(LANES * 8)));
    static const quad_mask first_three = {-1, -1, -1, 0};
    quad q[LANES];
    wide x, y, z;
    UNROLL for (int l = 0; l < LANES; ++l)
#ifdef __AVX512VL__ /* one operation, where vmaskmovpd is several */
        q[l] = __builtin_ia32_loadupd256_mask((const void *)(p + 3 * (int64_t)map[l]), (quad){0}, 7);
#else
        q[l] = __builtin_ia32_maskloadpd256((const quad *)(p + 3 * (int64_t)map[l]), first_three);
#endif
#if LANES == 4
#define PAIRS(i) q[i]
#define SHUFFLE(a, b, i, j) __builtin_shufflevector(a, b, i, j, 4 + (i), 4 + (j))
#define WITH(a, b, i) __builtin_shufflevector(a, b, i, 4 + (i), 2 + (i), 6 + (i))
#else
#define PAIRS(i) __builtin_shufflevector(q[i], q[4 + (i)], 0, 1, 2, 3, 4, 5, 6, 7)
#define SHUFFLE(a, b, i, j) \
    __builtin_shufflevector(a, b, i, j, 8 + (i), 8 + (j), 4 + (i), 4 + (j), 12 + (i), 12 + (j))
#define WITH(a, b, i) \
    __builtin_shufflevector(a, b, i, 8 + (i), 2 + (i), 10 + (i), 4 + (i), 12 + (i), 6 + (i), 14 + (i))
#endif
    const wide q0 = PAIRS(0), q1 = PAIRS(1), q2 = PAIRS(2), q3 = PAIRS(3);
    const wide low0 = WITH(q0, q1, 0), low1 = WITH(q2, q3, 0); /* x and z of two elements each */
    const wide high0 = WITH(q0, q1, 1), high1 = WITH(q2, q3, 1);
    x = SHUFFLE(low0, low1, 0, 1);
    y = SHUFFLE(high0, high1, 0, 1);
    z = SHUFFLE(low0, low1, 2, 3);
#undef PAIRS
#undef SHUFFLE
#undef WITH
    memcpy(&v[0], &x, sizeof v[0]);
    memcpy(&v[1], &y, sizeof v[1]);
    memcpy(&v[2], &z, sizeof v[2]);
}
#endif

/* plain lists through a connectivity: v[vertex][component] */
INLINE void load_indirect(real *v, const scalar *p, const int32_t *map, int width, int components)
{
#if defined(__AVX__) && (LANES == 4 || LANES == 8) && (defined(__clang__) || __GNUC__ >= 12)
    if (components == 3 && sizeof(scalar) == sizeof(double)) {
        UNROLL for (int a = 0; a < width; ++a)
            load_triples(v + 3 * a, (const double *)(const void *)p, map + a * LANES);
        return;
    }
#endif
#define ELEMENT(l) p[(int64_t)map[a * LANES + (l)] * components + c]
    UNROLL for (int a = 0; a < width; ++a)
        UNROLL for (int c = 0; c < components; ++c)
            v[a * components + c] = (real){EACH_LANE(ELEMENT)};
#undef ELEMENT
}

INLINE void load_uniform(real *v, const scalar *p, int components)
{
    for (int c = 0; c < components; ++c)
        v[c] = SPLAT(p[c]);
}

/* past the caches when the list does not fit them anyway: saves reading the lines first */
INLINE void store_stream(real *p, real v)
{
#if defined(__clang__)
    __builtin_nontemporal_store(v, p);
#elif defined(__AVX512F__)
    if (sizeof(real) == 64) {
        __attribute__((vector_size(64))) double d;
        memcpy(&d, &v, sizeof d);
        __builtin_ia32_movntpd512((double *)p, d);
    }
    else
        *p = v;
#elif defined(__AVX__)
    if (sizeof(real) == 32) {
        __attribute__((vector_size(32))) double d;
        memcpy(&d, &v, sizeof d);
        __builtin_ia32_movntpd256((double *)p, d);
    }
    else
        *p = v;
#else
    *p = v;
#endif
}

/* one component of a result that is written where it is stored */
INLINE void store_component(real *p, real v, int stream)
{
    if (stream)
        store_stream(p, v);
    else
        *p = v;
}

INLINE void store_fence(void)
{
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

INLINE void store_block(scalar *p, const real *v, int components, int stream)
{
    if (stream) {
        UNROLL for (int c = 0; c < components; ++c)
            store_stream((real *)p + c, v[c]);
        return;
    }
    UNROLL for (int c = 0; c < components; ++c)
        ((real *)p)[c] = v[c];
}

INLINE void store_plain(scalar *p, const real *v, int components, int64_t first, int64_t n)
{
    const int lanes = first + LANES <= n ? LANES : (int)(n - first);
    p += first * components;
    if (components == 1 && lanes == LANES) {
        memcpy(p, v, sizeof *v);
    } else if (components == 1) {
        const real last = *v; /* v itself stays in registers */
        const scalar *one = (const scalar *)&last;
        __asm__("" : "+r"(one) : "m"(last));
        ROLLED for (int l = 0; l < lanes; ++l) {
            p[l] = one[l];
            __asm__(""); /* else the loop becomes a call, which spills */
        }
    } else {
        UNROLL for (int l = 0; l < LANES; ++l)
            if (l < lanes) /* not in the loop's head: that becomes a call, which spills */
                for (int c = 0; c < components; ++c)
                    p[l * components + c] = v[c][l];
    }
}

/* accumulating stores, cell after cell: vertices of one number are often the same in consecutive cells, and sums of one
 * target wait for each other; blocks that share a target never run at once. The values are read from memory, as scalars. */
INLINE void add_indirect(scalar *p, const int32_t *map, const real *v, int width, int components, int lanes)
{
    const scalar *one = (const scalar *)v;
    __asm__("" : "+r"(one) : : "memory");
    for (int l = 0; l < lanes; ++l)
        UNROLL for (int a = 0; a < width; ++a)
            UNROLL for (int c = 0; c < components; ++c)
                p[(int64_t)map[a * LANES + l] * components + c] += one[(a * components + c) * LANES + l];
}

/* into a sparse matrix at known positions */
INLINE void add_matrix(scalar *p, const uint32_t *positions, const real *v, int entries, int lanes)
{
#ifndef CELL_AFTER_CELL
    if (lanes == LANES) {
        UNROLL for (int k = 0; k < entries; ++k) {
            const real one = v[k];
            UNROLL for (int l = 0; l < LANES; ++l)
                p[positions[k * LANES + l]] += one[l];
        }
        return;
    }
    for (int k = 0; k < entries; ++k)
        for (int l = 0; l < lanes; ++l)
            p[positions[k * LANES + l]] += v[k][l];
#else
//@ The order of additions must not depend on the place of a cell in its block.
    const scalar *one = (const scalar *)v;
    __asm__("" : "+r"(one) : : "memory");
    for (int l = 0; l < lanes; ++l)
        for (int k = 0; k < entries; ++k)
            p[positions[k * LANES + l]] += one[k * LANES + l];
#endif
}

//@ Functions. What is written for vectors comes first; whole numbers are those of rounding at the last bit
//@ before the point.
#define WHOLE @whole@ /* from here on every number is whole */
INLINE real select_(mask c, real a, real b)
{
    return (real)((c & (mask)a) | (~c & (mask)b));
}
#define weft_infinity ((scalar)__builtin_inf())
#define weft_select(c, a, b) select_(c, SPLAT(a), SPLAT(b))
INLINE real abs_(real x) { return (real)((mask)x & ~(mask)SPLAT((scalar)-0.0)); }
INLINE real signed_(real a, real x) /* a >= 0 with the sign of x */
{
    return (real)((mask)a | ((mask)x & (mask)SPLAT((scalar)-0.0)));
}
INLINE real whole_(real a) { return a + (scalar)WHOLE - (scalar)WHOLE; }
/* r, a whole number beside |x|, as the function's value; large x are whole */
INLINE real rounded_(real r, real x)
{
    return select_(abs_(x) < (scalar)WHOLE, signed_(r, x), x);
}
INLINE real one_if_(mask c) { return select_(c, SPLAT((scalar)1), SPLAT((scalar)0)); }
INLINE real trunc_(real x)
{
    const real a = abs_(x), r = whole_(a);
    return rounded_(r - one_if_(r > a), x);
}
INLINE real round_(real x)
{
    const real a = abs_(x), r = whole_(a);
    return rounded_(r + one_if_(a - r == (scalar)0.5), x);
}
INLINE real floor_(real x) { const real r = trunc_(x); return select_(r > x, r - 1, r); }
INLINE real ceil_(real x) { const real r = trunc_(x); return select_(r < x, r + 1, r); }
INLINE real sign_(real x) { return select_((x < 0) | (x > 0), signed_(SPLAT((scalar)1), x), x); }
INLINE real min_(real a, real b) { return select_(b < a, b, a); }
INLINE real max_(real a, real b) { return select_(a < b, b, a); }
/* as fmin and fmax: a number, where one of the two is */
INLINE real fmin_(real a, real b) { return select_((b < a) | (a != a), b, a); }
INLINE real fmax_(real a, real b) { return select_((a < b) | (a != a), b, a); }
#define weft_abs(x) abs_(SPLAT(x))
#define weft_sign(x) sign_(SPLAT(x))
#define weft_trunc(x) trunc_(SPLAT(x))
#define weft_round(x) round_(SPLAT(x))
#define weft_floor(x) floor_(SPLAT(x))
#define weft_ceil(x) ceil_(SPLAT(x))
#define weft_reciprocal(x) (1 / SPLAT(x))
#define weft_min(a, b) fmin_(SPLAT(a), SPLAT(b))
#define weft_max(a, b) fmax_(SPLAT(a), SPLAT(b))
INLINE real powi_(real x, int n)
{
    real r = SPLAT((scalar)1);
    for (int k = n < 0 ? -n : n; k > 0; k >>= 1) {
        if (k & 1)
            r *= x;
        x *= x;
    }
    if (n < 0)
        r = (scalar)1 / r;
    return r;
}
#define weft_powi(x, n) powi_(SPLAT(x), n)

//@ Functions of the C library: for vectors where glibc has them (libmvec: at most 4 units in the last place),
//@ else lane by lane. Its names say the instruction set and the lanes: _ZGVdN4v_sin.
#define VECTOR_BYTES @bytes@
#define LANES_TEXT "@lanes@"
#if defined(__GLIBC__) && __GLIBC__ == 2
#if defined(__AVX512F__) && VECTOR_BYTES == 64
#define VECTOR_ISA "e"
#elif defined(__AVX2__) && VECTOR_BYTES == 32
#define VECTOR_ISA "d"
#elif defined(__x86_64__) && VECTOR_BYTES == 16
#define VECTOR_ISA "b"
#elif defined(__aarch64__) && VECTOR_BYTES == 16
#define VECTOR_ISA "n"
#endif
#endif
#ifndef VECTOR_ISA
#define VECTOR_ISA ""
#define VECTOR_SINCE(X86, ARM) 0
#elif defined(__aarch64__)
#define VECTOR_SINCE(X86, ARM) (__GLIBC_MINOR__ >= ARM)
#define VECTOR_CALL __attribute__((const, aarch64_vector_pcs))
#else
#define VECTOR_SINCE(X86, ARM) (__GLIBC_MINOR__ >= X86)
#define VECTOR_CALL __attribute__((const))
#endif
#define VECTOR_1(NAME, F) VECTOR_CALL real NAME(real) __asm__("_ZGV" VECTOR_ISA "N" LANES_TEXT "v_" F)
#define VECTOR_2(NAME, F) VECTOR_CALL real NAME(real, real) __asm__("_ZGV" VECTOR_ISA "N" LANES_TEXT "vv_" F)
#define LANEWISE_1(KIND, NAME, F) \
    KIND real NAME(real x) { real r; UNROLL for (int l = 0; l < LANES; ++l) r[l] = F(x[l]); return r; }
#define LANEWISE_2(KIND, NAME, F) \
    KIND real NAME(real x, real y) { real r; for (int l = 0; l < LANES; ++l) r[l] = F(x[l], y[l]); return r; }
//@ Square roots are one instruction by gcc, whose vectorizers are off (core/host/compiler_options.c).
#if defined(__clang__)
@roots@
#endif
#ifdef ROOTS
INLINE real sqrt_(real x) { return (real)ROOTS(x); }
#else
LANEWISE_1(INLINE, sqrt_, __builtin_sqrt@suffix@)
#endif
#define weft_sqrt(x) sqrt_(SPLAT(x))
@functions@

//@ Joining of reductions: lanes, then chunks, by trees that the sizes fix.
//@ each name; neutral; lanes_expression; expression
//@ add; 0; a + b; a + b
//@ multiply; 1; a * b; a * b
//@ min; __builtin_inf(); min_(a, b); b < a ? b : a
//@ max; -__builtin_inf(); max_(a, b); a < b ? b : a
INLINE scalar both_@name@(scalar a, scalar b) { return @expression@; }
INLINE real both_lanes_@name@(real a, real b) { return @lanes_expression@; }
INLINE void start_@name@(real *a, int components)
{
    for (int c = 0; c < components; ++c)
        a[c] = SPLAT((scalar)@neutral@);
}
INLINE void join_@name@(real *a, const real *v, int components, int lanes)
{
    UNROLL for (int c = 0; c < components; ++c) {
        if (lanes == LANES) {
            a[c] = both_lanes_@name@(a[c], v[c]);
            continue;
        }
        const real one = select_(first_lanes(lanes), v[c], SPLAT((scalar)@neutral@));
        a[c] = both_lanes_@name@(a[c], one);
    }
}
INLINE void join_@name@_counted(real *a, const real *v, int components, mask counted)
{
    UNROLL for (int c = 0; c < components; ++c)
        a[c] = both_lanes_@name@(a[c], select_(counted, v[c], SPLAT((scalar)@neutral@)));
}
INLINE void partial_@name@(scalar *p, const real *a, int components)
{
    for (int c = 0; c < components; ++c) {
        real one = a[c];
        UNROLL for (int half = LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                one[l] = both_@name@(one[l], one[l + half]);
        p[c] = one[0];
    }
}
INLINE void finish_@name@(scalar *result, scalar *p, int components, int64_t n)
{
    for (int64_t step = 1; step < n; step *= 2)
        for (int64_t i = 0; i + step < n; i += 2 * step)
            for (int c = 0; c < components; ++c)
                p[i * components + c] =
                    both_@name@(p[i * components + c], p[(i + step) * components + c]);
    for (int c = 0; c < components; ++c)
        result[c] = n > 0 ? p[c] : (scalar)@neutral@;
}

//@ end
