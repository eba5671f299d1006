/* labels: quick */
/* Functions of formulas and bodies in the host's generated code, against the C library: each one at
 * edges (zeros, infinities, NaN, the ends of its domain, the least and the largest numbers) and at
 * random, in double and float, for every instruction set of this processor. What is made of
 * comparisons, bits and correctly rounded operations alone is exact. The variants for vectors of the
 * C library promise 4 units in the last place of the rounded value, its own functions 1 or 2; the
 * reference is its function of long doubles. */
#include "core/weft_core.h"
#include "fusion/base/intrinsics.h"
#include "fusion/codegen/private.h"
#include "fusion/weft_compile.h"
#include "test_support.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ULPS = 4.5;

typedef struct function {
    const char *name;
    long double (*one)(long double);
    long double (*two)(long double, long double);
    bool exact;
} function;

static long double sign_of(long double x) {
    return isnan(x) || x == 0 ? x : copysignl(1, x);
}

static const function functions[] = {
    {"abs", fabsl, NULL, true},     {"sign", sign_of, NULL, true},  {"min", NULL, fminl, true},
    {"max", NULL, fmaxl, true},     {"floor", floorl, NULL, true},  {"ceil", ceill, NULL, true},
    {"round", roundl, NULL, true},  {"trunc", truncl, NULL, true},  {"sqrt", sqrtl, NULL, true},
    {"cbrt", cbrtl, NULL, false},   {"hypot", NULL, hypotl, false}, {"pow", NULL, powl, false},
    {"exp", expl, NULL, false},     {"exp2", exp2l, NULL, false},   {"expm1", expm1l, NULL, false},
    {"log", logl, NULL, false},     {"log2", log2l, NULL, false},   {"log10", log10l, NULL, false},
    {"log1p", log1pl, NULL, false}, {"sin", sinl, NULL, false},     {"cos", cosl, NULL, false},
    {"tan", tanl, NULL, false},     {"asin", asinl, NULL, false},   {"acos", acosl, NULL, false},
    {"atan", atanl, NULL, false},   {"atan2", NULL, atan2l, false}, {"sinh", sinhl, NULL, false},
    {"cosh", coshl, NULL, false},   {"tanh", tanhl, NULL, false},   {"asinh", asinhl, NULL, false},
    {"acosh", acoshl, NULL, false}, {"atanh", atanhl, NULL, false}, {"erf", erfl, NULL, false},
    {"erfc", erfcl, NULL, false},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- points ---- */

enum { RANDOM = 3000, MOST = 16384 };

static uint64_t draw(uint64_t *state) { /* SplitMix64, Steele, Lea and Flood 2014 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double unit(uint64_t *state) {
    return (double)(draw(state) >> 11) * 0x1p-53;
}

static size_t edges_make(bool single, double *out) {
    const double least = single ? FLT_MIN : DBL_MIN, most = single ? FLT_MAX : DBL_MAX,
                 whole = single ? 0x1p23 : 0x1p52, eps = single ? FLT_EPSILON : DBL_EPSILON;
    const double positive[] = {
        0,         INFINITY, least,     most,         whole,       whole - 0.5, whole + 1,
        2 * whole, eps,      0.5,       0.5 - eps,    0.5 + eps,   1,           1 - eps / 2,
        1 + eps,   1.5,      2,         2.5,          3,           3.5,         10,
        100.25,    700,      80,        0.25,         0.75,        1e-3,        1e-8,
        1e3,       1e6,      least / 2, least / 999,  least * eps, 1e9,         1e15,
        most / 2,  1e-30,    1e30,      least * 1024, most / 1024, 3.14159265,  1.57079632};
    size_t n = 0;
    out[n++] = NAN;
    for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i) {
        out[n++] = single ? (double)(float)positive[i] : positive[i];
        out[n] = -out[n - 1];
        ++n;
    }
    return n;
}

/* Of two arguments: every pair of edges, then at random. */
static size_t points_make(bool single, bool two, double *x, double *y) {
    double edges[128];
    const size_t n_edges = edges_make(single, edges);
    const double range = single ? 36 : 300;
    uint64_t state = 7;
    size_t n = 0;
    for (size_t i = 0; i < n_edges; ++i)
        for (size_t k = 0; k < (two ? n_edges : 1); ++k, ++n) {
            x[n] = edges[i];
            y[n] = edges[k];
        }
    for (int i = 0; i < RANDOM; ++i, ++n) {
        double *const both[] = {&x[n], &y[n]};
        for (int k = 0; k < 2; ++k) {
            const double scale = i % 3 == 0   ? 1
                                 : i % 3 == 1 ? 20
                                              : pow(10, range * (2 * unit(&state) - 1));
            const double v = scale * (2 * unit(&state) - 1);
            *both[k] = single ? (double)(float)v : v;
        }
    }
    assert_true(n <= MOST);
    return n;
}

/* ---- running ---- */

typedef struct machine {
    const char *name, *option;
    int bytes; /* of a vector */
} machine;

static const machine machines[] = {
#if defined(__x86_64__)
    {"SSE2", "-march=x86-64", 16},
    {"AVX2", "-march=x86-64-v3", 32},
    {"AVX-512", "-march=x86-64-v4", 64},
    {"lanes without vectors", "-march=x86-64", 64},
#else
    {"vectors of two doubles", "-O2", 16},
#endif
};

static bool can_run(const machine *m) {
#if defined(__x86_64__)
    if (strcmp(m->name, "AVX2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
    if (strcmp(m->name, "AVX-512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd");
#endif
    return true;
}

/* void run_NAME(const scalar *x, const scalar *y, scalar *r, long blocks) */
static char *source_of(int lanes, bool single) {
    weft_text text = {0};
    const weft_limits limits = {.lanes_double = lanes, .lanes_float = lanes};
    weft_backend_host.prelude(&text, &limits, single);
    for (int i = 0; i < N_FUNCTIONS; ++i)
        weft_text_add(&text,
                      "void run_%s(const scalar *x, const scalar *y, scalar *r, long n)\n{\n"
                      "    for (long b = 0; b < n; ++b) {\n"
                      "        real u[1], v[1], w[1];\n"
                      "        load_block(u, x + b * LANES, 1);\n"
                      "        load_block(v, y + b * LANES, 1);\n"
                      "        w[0] = weft_%s(u[0]%s);\n"
                      "        store_block(r + b * LANES, w, 1, 0);\n"
                      "    }\n}\n",
                      functions[i].name, functions[i].name, functions[i].two ? ", v[0]" : "");
    assert_false(text.failed);
    return text.data;
}

static void *compile(const char *folder, const machine *m, bool single, int lanes) {
    char *source = test_path(folder, "run.c"), *object = NULL;
    char *text = source_of(lanes, single), name[32];
    snprintf(name, sizeof name, "%s-%d-%d.so", m->option + 1, m->bytes, single);
    object = test_path(folder, name);
    const char *cc = getenv("CC");
    test_text_write(source, text);
    const char *const command[] = {cc && *cc && !strchr(cc, ' ') ? cc : "cc",
                                   "-std=gnu17",
                                   "-O2",
                                   m->option,
                                   "-fPIC",
                                   "-shared",
                                   "-fno-math-errno",
                                   "-w",
                                   "-o",
                                   object,
                                   source,
                                   "-lm",
                                   NULL};
    test_run run = test_program(command, NULL);
    if (run.exit_code != 0)
        fail_msg("%s: %s", m->name, run.error);
    test_run_free(&run);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    free(text);
    free(source);
    free(object);
    return library;
}

/* ---- comparing ---- */

/* Units in the last place between what was computed and what is right. */
static double error_of(double got, long double right, bool single) {
    const double rounded = single ? (double)(float)right : (double)right;
    if (isnan(rounded) || isinf(rounded) || isnan(got) || isinf(got))
        return (isnan(got) && isnan(rounded)) || got == rounded ? 0 : INFINITY;
    int exponent = 0;
    frexpl(right, &exponent);
    const int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG,
              least = single ? FLT_MIN_EXP : DBL_MIN_EXP;
    exponent = exponent > least ? exponent : least; /* below it numbers lose digits */
    return (double)(fabsl((long double)got - right) / ldexpl(1, exponent - digits));
}

static void check_function(const machine *m, void *library, const function *f, bool single,
                           int lanes) {
    static _Alignas(64) double x[MOST], y[MOST], r[MOST], dx[MOST], dy[MOST];
    char name[64];
    void (*call)(const void *, const void *, void *, long) = NULL;
    const size_t n = points_make(single, f->two != NULL, x, y),
                 blocks = (n + (size_t)lanes - 1) / (size_t)lanes;
    snprintf(name, sizeof name, "run_%s", f->name);
    *(void **)&call = dlsym(library, name);
    assert_non_null(call);
    for (size_t i = n; i < blocks * (size_t)lanes; ++i)
        x[i] = y[i] = 1;
    for (size_t i = 0; i < blocks * (size_t)lanes; ++i) {
        if (single) {
            ((float *)dx)[i] = (float)x[i];
            ((float *)dy)[i] = (float)y[i];
        } else {
            dx[i] = x[i];
            dy[i] = y[i];
        }
    }
    call(dx, dy, r, (long)blocks);
    for (size_t i = 0; i < n; ++i) {
        const long double wanted = f->one ? f->one(x[i]) : f->two(x[i], y[i]);
        const double got = single ? (double)((const float *)r)[i] : r[i];
        const double error = error_of(got, wanted, single);
        if (!(error <= (f->exact ? 0.5 : ULPS)))
            fail_msg("%s, %s: %s(%.17g, %.17g) is %.17g, not %.21Lg: %g units in the last place",
                     m->name, single ? "float" : "double", f->name, x[i], y[i], got, wanted, error);
    }
}

static void each_machine(void **state) {
    char *folder = test_folder_make();
    (void)state;
    for (size_t k = 0; k < sizeof machines / sizeof *machines; ++k)
        for (int single = 0; single < 2; ++single) {
            const machine *m = &machines[k];
            const int lanes = m->bytes / (single ? 4 : 8);
            if (!can_run(m)) {
                print_message("this processor has no %s\n", m->name);
                continue;
            }
            void *library = compile(folder, m, single, lanes);
            for (int i = 0; i < N_FUNCTIONS; ++i)
                check_function(m, library, &functions[i], single, lanes);
        }
    test_folder_remove(&folder);
}

/* ---- the table and what speaks of it ---- */

static bool has_word(const char *text, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || strchr(" `\n(", at[-1])) && strchr(" `\n(,.", at[n]))
            return true;
    return false;
}

static void everything_is_listed(void **state) {
    char *language = test_file_read(WEFT_SOURCE_DIR "/docs/language.md", NULL);
    char *kernels = test_file_read(WEFT_SOURCE_DIR "/docs/kernel-files.md", NULL);
    const char *names[WEFT_INTRINSICS_MAX];
    const size_t n = weft_formula_names(names);
    size_t n_words = 1;
    (void)state;
    assert_non_null(language);
    assert_non_null(kernels);
    assert_true(weft_intrinsics_count <= WEFT_INTRINSICS_MAX);
    assert_int_equal(n, N_FUNCTIONS + 1); /* and select */
    for (size_t i = 0; i < n; ++i) {
        bool tested = strcmp(names[i], "select") == 0;
        for (int k = 0; k < N_FUNCTIONS; ++k)
            tested = tested || strcmp(functions[k].name, names[i]) == 0;
        if (!tested || !has_word(language, names[i]) || !has_word(kernels, names[i]) ||
            (!has_word(WEFT_FORMULA_FUNCTIONS, names[i]) && strcmp(names[i], "select") != 0))
            fail_msg("'%s' is not in this test, docs/language.md, docs/kernel-files.md or "
                     "WEFT_FORMULA_FUNCTIONS",
                     names[i]);
        assert_null(weft_formula_instead(names[i]));
    }
    for (const char *c = WEFT_FORMULA_FUNCTIONS; *c; ++c)
        n_words += *c == ' ';
    assert_int_equal(n_words, N_FUNCTIONS);
    free(language);
    free(kernels);
}

/* Values by the host, of uniform arithmetic. */
static void values_of_numbers(void **state) {
    (void)state;
    for (int k = 0; k < N_FUNCTIONS; ++k) {
        const function *f = &functions[k];
        const weft_intrinsic *one = weft_formula_intrinsic(f->name);
        assert_int_equal(one->n_arguments, f->two ? 2 : 1);
        for (double x = -2; x <= 2; x += 0.25) {
            const double got = weft_intrinsic_value(one, x, 0.75);
            const long double wanted = f->one ? f->one(x) : f->two(x, 0.75L);
            assert_true(error_of(got, wanted, false) <= ULPS);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_machine),
                                       cmocka_unit_test(everything_is_listed),
                                       cmocka_unit_test(values_of_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
