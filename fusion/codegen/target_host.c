/* The host's prelude: `real` is a vector of LANES instances by the compilers' vector extension. */
#include "core/weft_core.h"
#include "fusion/base/intrinsics.h"
#include "fusion/codegen/codegen.h"
#include "fusion/codegen/private.h"

static void types(weft_text *out, int lanes, bool single) {
    weft_text_add(
        out,
        "#include <math.h>\n"
        "#include <stdint.h>\n"
        "#include <string.h>\n\n"
        "#define LANES %d\n"
        "typedef %s scalar;\n"
        "typedef scalar real __attribute__((vector_size(LANES * sizeof(scalar)), may_alias));\n"
        "typedef int%d_t mask __attribute__((vector_size(LANES * sizeof(scalar))));\n"
        "#define INLINE static inline __attribute__((always_inline))\n"
        "#define ONCE static __attribute__((noinline)) /* calls of the C library: long, and slow "
        "*/\n"
        "#define UNROLL _Pragma(\"GCC unroll 16\")\n"
        "#define SPLAT(e) ((e) - (real){0}) /* a scalar or a vector as a vector; x - 0 is x */\n",
        lanes, single ? "float" : "double", single ? 32 : 64);
    weft_text_add(out, "#define EACH_LANE(M) ");
    for (int i = 0; i < lanes; ++i)
        weft_text_add(out, "%sM(%d)", i > 0 ? ", " : "", i);
    weft_text_add(out, "\n\n");
}

static const char loads[] =
    "/* interleaved lists: [block][component][lane] */\n"
    "INLINE void load_block(real *v, const scalar *p, int components)\n"
    "{\n"
    "    UNROLL for (int c = 0; c < components; ++c)\n"
    "        v[c] = ((const real *)p)[c];\n"
    "}\n\n"
    "/* plain lists: [instance][component]; lanes past the end repeat the last instance */\n"
    "INLINE void load_plain(real *v, const scalar *p, int components, int64_t first, int64_t n)\n"
    "{\n"
    "    if (first + LANES <= n) {\n"
    "        p += first * components;\n"
    "        if (components == 1) {\n"
    "            memcpy(v, p, sizeof *v);\n"
    "            return;\n"
    "        }\n"
    "#define ELEMENT(l) p[(l) * components + c]\n"
    "        UNROLL for (int c = 0; c < components; ++c)\n"
    "            v[c] = (real){EACH_LANE(ELEMENT)};\n"
    "#undef ELEMENT\n"
    "        return;\n"
    "    }\n"
    "    for (int c = 0; c < components; ++c)\n"
    "        for (int l = 0; l < LANES; ++l)\n"
    "            v[c][l] = p[(first + l < n ? first + l : n - 1) * components + c];\n"
    "}\n\n"
    "/* plain lists through a connectivity: v[vertex][component] */\n"
    "INLINE void load_indirect(real *v, const scalar *p, const int32_t *map, int width, int "
    "components)\n"
    "{\n"
    "#define ELEMENT(l) p[(int64_t)map[a * LANES + (l)] * components + c]\n"
    "    UNROLL for (int a = 0; a < width; ++a)\n"
    "        UNROLL for (int c = 0; c < components; ++c)\n"
    "            v[a * components + c] = (real){EACH_LANE(ELEMENT)};\n"
    "#undef ELEMENT\n"
    "}\n\n"
    "INLINE void load_uniform(real *v, const scalar *p, int components)\n"
    "{\n"
    "    for (int c = 0; c < components; ++c)\n"
    "        v[c] = SPLAT(p[c]);\n"
    "}\n\n";

static const char stores[] =
    "/* past the caches when the list does not fit them anyway: saves reading the lines first */\n"
    "INLINE void store_stream(real *p, real v)\n"
    "{\n"
    "#if defined(__clang__)\n"
    "    __builtin_nontemporal_store(v, p);\n"
    "#elif defined(__AVX512F__)\n"
    "    if (sizeof(real) == 64) {\n"
    "        __attribute__((vector_size(64))) double d;\n"
    "        memcpy(&d, &v, sizeof d);\n"
    "        __builtin_ia32_movntpd512((double *)p, d);\n"
    "    }\n"
    "    else\n"
    "        *p = v;\n"
    "#elif defined(__AVX__)\n"
    "    if (sizeof(real) == 32) {\n"
    "        __attribute__((vector_size(32))) double d;\n"
    "        memcpy(&d, &v, sizeof d);\n"
    "        __builtin_ia32_movntpd256((double *)p, d);\n"
    "    }\n"
    "    else\n"
    "        *p = v;\n"
    "#else\n"
    "    *p = v;\n"
    "#endif\n"
    "}\n\n"
    "INLINE void store_fence(void)\n"
    "{\n"
    "#if defined(__SSE2__)\n"
    "    __builtin_ia32_sfence();\n"
    "#endif\n"
    "}\n\n"
    "INLINE void store_block(scalar *p, const real *v, int components, int stream)\n"
    "{\n"
    "    if (stream) {\n"
    "        UNROLL for (int c = 0; c < components; ++c)\n"
    "            store_stream((real *)p + c, v[c]);\n"
    "        return;\n"
    "    }\n"
    "    UNROLL for (int c = 0; c < components; ++c)\n"
    "        ((real *)p)[c] = v[c];\n"
    "}\n\n"
    "INLINE void store_plain(scalar *p, const real *v, int components, int64_t first, int64_t n)\n"
    "{\n"
    "    const int lanes = first + LANES <= n ? LANES : (int)(n - first);\n"
    "    p += first * components;\n"
    "    if (components == 1 && lanes == LANES)\n"
    "        memcpy(p, v, sizeof *v);\n"
    "    else\n"
    "        UNROLL for (int l = 0; l < LANES; ++l)\n"
    "            if (l < lanes) /* not in the loop's head: that becomes a call, which spills */\n"
    "                for (int c = 0; c < components; ++c)\n"
    "                    p[l * components + c] = v[c][l];\n"
    "}\n\n"
    "/* accumulating stores: cell after cell; blocks that share a target never run at once */\n"
    "INLINE void add_indirect(scalar *p, const int32_t *map, const real *v, int width, int "
    "components, int lanes)\n"
    "{\n"
    "    if (lanes == LANES) {\n"
    "        UNROLL for (int a = 0; a < width; ++a)\n"
    "            UNROLL for (int c = 0; c < components; ++c) {\n"
    "                const real one = v[a * components + c];\n"
    "                UNROLL for (int l = 0; l < LANES; ++l)\n"
    "                    p[(int64_t)map[a * LANES + l] * components + c] += one[l];\n"
    "            }\n"
    "        return;\n"
    "    }\n"
    "    for (int a = 0; a < width; ++a)\n"
    "        for (int c = 0; c < components; ++c)\n"
    "            for (int l = 0; l < lanes; ++l)\n"
    "                p[(int64_t)map[a * LANES + l] * components + c] += v[a * components + c][l];\n"
    "}\n\n"
    "/* into a sparse matrix at known positions */\n"
    "INLINE void add_matrix(scalar *p, const uint32_t *positions, const real *v, int entries, int "
    "lanes)\n"
    "{\n"
    "    if (lanes == LANES) {\n"
    "        UNROLL for (int k = 0; k < entries; ++k) {\n"
    "            const real one = v[k];\n"
    "            UNROLL for (int l = 0; l < LANES; ++l)\n"
    "                p[positions[k * LANES + l]] += one[l];\n"
    "        }\n"
    "        return;\n"
    "    }\n"
    "    for (int k = 0; k < entries; ++k)\n"
    "        for (int l = 0; l < lanes; ++l)\n"
    "            p[positions[k * LANES + l]] += v[k][l];\n"
    "}\n\n";

/* What is written for vectors; whole numbers are those of rounding at the last bit before the
 * point. */
static const char intrinsics[] =
    "INLINE real select_(mask c, real a, real b)\n"
    "{\n"
    "    return (real)((c & (mask)a) | (~c & (mask)b));\n"
    "}\n"
    "#define weft_select(c, a, b) select_(c, SPLAT(a), SPLAT(b))\n"
    "INLINE real abs_(real x) { return (real)((mask)x & ~(mask)SPLAT((scalar)-0.0)); }\n"
    "INLINE real signed_(real a, real x) /* a >= 0 with the sign of x */\n"
    "{\n"
    "    return (real)((mask)a | ((mask)x & (mask)SPLAT((scalar)-0.0)));\n"
    "}\n"
    "INLINE real whole_(real a) { return a + (scalar)WHOLE - (scalar)WHOLE; }\n"
    "/* r, a whole number beside |x|, as the function's value; large x are whole */\n"
    "INLINE real rounded_(real r, real x)\n"
    "{\n"
    "    return select_(abs_(x) < (scalar)WHOLE, signed_(r, x), x);\n"
    "}\n"
    "INLINE real one_if_(mask c) { return select_(c, SPLAT((scalar)1), SPLAT((scalar)0)); }\n"
    "INLINE real trunc_(real x)\n"
    "{\n"
    "    const real a = abs_(x), r = whole_(a);\n"
    "    return rounded_(r - one_if_(r > a), x);\n"
    "}\n"
    "INLINE real round_(real x)\n"
    "{\n"
    "    const real a = abs_(x), r = whole_(a);\n"
    "    return rounded_(r + one_if_(a - r == (scalar)0.5), x);\n"
    "}\n"
    "INLINE real floor_(real x) { const real r = trunc_(x); return select_(r > x, r - 1, r); }\n"
    "INLINE real ceil_(real x) { const real r = trunc_(x); return select_(r < x, r + 1, r); }\n"
    "INLINE real sign_(real x) { return select_((x < 0) | (x > 0), signed_(SPLAT((scalar)1), x), "
    "x); "
    "}\n"
    "INLINE real min_(real a, real b) { return select_(b < a, b, a); }\n"
    "INLINE real max_(real a, real b) { return select_(a < b, b, a); }\n"
    "/* as fmin and fmax: a number, where one of the two is */\n"
    "INLINE real fmin_(real a, real b) { return select_((b < a) | (a != a), b, a); }\n"
    "INLINE real fmax_(real a, real b) { return select_((a < b) | (a != a), b, a); }\n"
    "#define weft_abs(x) abs_(SPLAT(x))\n"
    "#define weft_sign(x) sign_(SPLAT(x))\n"
    "#define weft_trunc(x) trunc_(SPLAT(x))\n"
    "#define weft_round(x) round_(SPLAT(x))\n"
    "#define weft_floor(x) floor_(SPLAT(x))\n"
    "#define weft_ceil(x) ceil_(SPLAT(x))\n"
    "#define weft_reciprocal(x) (1 / SPLAT(x))\n"
    "#define weft_min(a, b) fmin_(SPLAT(a), SPLAT(b))\n"
    "#define weft_max(a, b) fmax_(SPLAT(a), SPLAT(b))\n"
    "INLINE real powi_(real x, int n)\n"
    "{\n"
    "    real r = SPLAT((scalar)1);\n"
    "    for (int k = n < 0 ? -n : n; k > 0; k >>= 1) {\n"
    "        if (k & 1)\n"
    "            r *= x;\n"
    "        x *= x;\n"
    "    }\n"
    "    if (n < 0)\n"
    "        r = (scalar)1 / r;\n"
    "    return r;\n"
    "}\n"
    "#define weft_powi(x, n) powi_(SPLAT(x), n)\n\n";

/* Of the C library: for vectors where glibc has them (libmvec: at most 4 units in the last place),
 * else lane by lane. Its names say the instruction set and the lanes: _ZGVdN4v_sin. */
static const char library_calls[] =
    "#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC__ == 2\n"
    "#if defined(__AVX512F__) && VECTOR_BYTES == 64\n"
    "#define VECTOR_ISA \"e\"\n"
    "#elif defined(__AVX2__) && VECTOR_BYTES == 32\n"
    "#define VECTOR_ISA \"d\"\n"
    "#elif VECTOR_BYTES == 16\n"
    "#define VECTOR_ISA \"b\"\n"
    "#endif\n"
    "#endif\n"
    "#ifdef VECTOR_ISA\n"
    "#define VECTOR_SINCE(N) (__GLIBC_MINOR__ >= N)\n"
    "#else\n"
    "#define VECTOR_SINCE(N) 0\n"
    "#define VECTOR_ISA \"\"\n"
    "#endif\n"
    "#define VECTOR_1(NAME, F) real NAME(real) __asm__(\"_ZGV\" VECTOR_ISA \"N\" LANES_TEXT \"v_\" "
    "F)\n"
    "#define VECTOR_2(NAME, F) real NAME(real, real) __asm__(\"_ZGV\" VECTOR_ISA \"N\" LANES_TEXT "
    "\"vv_\" F)\n"
    "#define LANEWISE_1(KIND, NAME, F) \\\n"
    "    KIND real NAME(real x) { real r; UNROLL for (int l = 0; l < LANES; ++l) r[l] = F(x[l]); "
    "return r; }\n"
    "#define LANEWISE_2(KIND, NAME, F) \\\n"
    "    KIND real NAME(real x, real y) { real r; for (int l = 0; l < LANES; ++l) r[l] = F(x[l], "
    "y[l]); return r; }\n";

static void library_call(weft_text *out, const weft_intrinsic *one, const char *suffix) {
    const int n = one->n_arguments;
    if (one->vector > 0)
        weft_text_add(out, "#if VECTOR_SINCE(%d)\nVECTOR_%d(%s_, \"%s%s\");\n#else\n", one->vector,
                      n, one->name, one->c, suffix);
    weft_text_add(out, "LANEWISE_%d(ONCE, %s_, __builtin_%s%s)\n", n, one->name, one->c, suffix);
    if (one->vector > 0)
        weft_text_add(out, "#endif\n");
    weft_text_add(out,
                  n == 2 ? "#define weft_%s(x, y) %s_(SPLAT(x), SPLAT(y))\n"
                         : "#define weft_%s(x) %s_(SPLAT(x))\n",
                  one->name, one->name);
}

/* Square roots as one instruction by gcc, whose vectorizers are off (core/host/compiler_options.c). */
static void square_root(weft_text *out, int lanes, bool single) {
    static const struct {
        int bytes;
        const char *macro, *of_double, *of_float;
    } forms[] = {
        {64, "__AVX512F__", "__builtin_ia32_sqrtpd512_mask(x, (real){0}, -1, 4)",
         "__builtin_ia32_sqrtps512_mask(x, (real){0}, -1, 4)"},
        {32, "__AVX__", "__builtin_ia32_sqrtpd256(x)", "__builtin_ia32_sqrtps256(x)"},
        {16, "__SSE2__", "__builtin_ia32_sqrtpd(x)", "__builtin_ia32_sqrtps(x)"},
        {16, "__aarch64__", "__builtin_aarch64_sqrtv2df(x)", "__builtin_aarch64_sqrtv4sf(x)"}};
    const int bytes = lanes * (int)(single ? sizeof(float) : sizeof(double));
    weft_text_add(out, "#if defined(__clang__)\n");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        if (forms[i].bytes == bytes)
            weft_text_add(out,
                          "#elif defined(%s)\n"
                          "#define ROOTS(x) %s\n",
                          forms[i].macro, single ? forms[i].of_float : forms[i].of_double);
    weft_text_add(out,
                  "#endif\n"
                  "#ifdef ROOTS\n"
                  "INLINE real sqrt_(real x) { return (real)ROOTS(x); }\n"
                  "#else\n"
                  "LANEWISE_1(INLINE, sqrt_, __builtin_sqrt%s)\n"
                  "#endif\n"
                  "#define weft_sqrt(x) sqrt_(SPLAT(x))\n",
                  single ? "f" : "");
}

static void functions(weft_text *out, int lanes, bool single) {
    const int bytes = lanes * (int)(single ? sizeof(float) : sizeof(double));
    weft_text_add(out, "#define WHOLE %s /* from here on every number is whole */\n",
                  single ? "0x1p23" : "0x1p52");
    weft_text_add_bytes(out, intrinsics, sizeof intrinsics - 1);
    weft_text_add(out, "#define VECTOR_BYTES %d\n#define LANES_TEXT \"%d\"\n", bytes, lanes);
    weft_text_add_bytes(out, library_calls, sizeof library_calls - 1);
    square_root(out, lanes, single);
    for (int i = 0; i < weft_intrinsics_count; ++i)
        if ((weft_intrinsics[i].flags & INTRINSIC_HOST_OWN) == 0)
            library_call(out, &weft_intrinsics[i], single ? "f" : "");
    weft_text_add(out, "\n");
}

/* Joining of reductions: lanes, then chunks, by trees that the sizes fix. */
static void reductions(weft_text *out) {
    static const char *const names[][4] = {
        {"add", "0", "a + b", "a + b"},
        {"multiply", "1", "a * b", "a * b"},
        {"min", "__builtin_inf()", "min_(a, b)", "b < a ? b : a"},
        {"max", "-__builtin_inf()", "max_(a, b)", "a < b ? b : a"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *name = names[i][0], *neutral = names[i][1];
        weft_text_add(out,
                      "INLINE scalar both_%s(scalar a, scalar b) { return %s; }\n"
                      "INLINE real both_lanes_%s(real a, real b) { return %s; }\n"
                      "INLINE void start_%s(real *a, int components)\n"
                      "{\n"
                      "    for (int c = 0; c < components; ++c)\n"
                      "        a[c] = SPLAT((scalar)%s);\n"
                      "}\n",
                      name, names[i][3], name, names[i][2], name, neutral);
        weft_text_add(out,
                      "INLINE void join_%s(real *a, const real *v, int components, int lanes)\n"
                      "{\n"
                      "    UNROLL for (int c = 0; c < components; ++c) {\n"
                      "        real one = v[c];\n"
                      "        UNROLL for (int l = 0; l < LANES; ++l)\n"
                      "            if (l >= lanes)\n"
                      "                one[l] = (scalar)%s;\n"
                      "        a[c] = both_lanes_%s(a[c], one);\n"
                      "    }\n"
                      "}\n",
                      name, neutral, name);
        weft_text_add(out,
                      "INLINE void partial_%s(scalar *p, const real *a, int components)\n"
                      "{\n"
                      "    for (int c = 0; c < components; ++c) {\n"
                      "        real one = a[c];\n"
                      "        UNROLL for (int half = LANES / 2; half > 0; half /= 2)\n"
                      "            for (int l = 0; l < half; ++l)\n"
                      "                one[l] = both_%s(one[l], one[l + half]);\n"
                      "        p[c] = one[0];\n"
                      "    }\n"
                      "}\n",
                      name, name);
        weft_text_add(
            out,
            "INLINE void finish_%s(scalar *result, scalar *p, int components, int64_t n)\n"
            "{\n"
            "    for (int64_t step = 1; step < n; step *= 2)\n"
            "        for (int64_t i = 0; i + step < n; i += 2 * step)\n"
            "            for (int c = 0; c < components; ++c)\n"
            "                p[i * components + c] =\n"
            "                    both_%s(p[i * components + c], p[(i + step) * components + c]);\n"
            "    for (int c = 0; c < components; ++c)\n"
            "        result[c] = n > 0 ? p[c] : (scalar)%s;\n"
            "}\n\n",
            name, name, neutral);
    }
}

static void host_prelude(weft_text *out, int lanes, bool single) {
    types(out, lanes, single);
    weft_text_add_bytes(out, loads, sizeof loads - 1);
    weft_text_add_bytes(out, stores, sizeof stores - 1);
    functions(out, lanes, single);
    reductions(out);
}

const weft_backend weft_backend_host = {.prelude = host_prelude, .splat = "SPLAT"};
