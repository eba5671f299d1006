/** Runs elementary functions on the host device, every variant in both precisions, over interleaved
 * and over plain lists, and for whole and partial blocks of every size, against plain references.
 * Each test program states its cases as a table. */
#ifndef KERNEL_CHECK_H
#define KERNEL_CHECK_H

#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_ARGUMENTS = 6, CHECK_RANK = 2, CHECK_COMPONENTS = 512 };

/** What an argument's values look like. */
typedef enum check_data {
    DATA_ANY,      /* in [-1, 1] */
    DATA_JACOBIAN, /* square, determinant of either sign and away from 0 */
    DATA_SHIFTED,  /* the same with its rows in another order, so that pivots must be looked for */
    DATA_VERTICES  /* rows are the vertices of a simplex that is far from flat */
} check_data;

typedef struct check_argument {
    int rank, sizes[CHECK_RANK];
    check_data data;
} check_argument;

/** The mathematics: one element, plain row-major arrays. arguments[k] has the case's sizes. */
typedef struct check_case check_case;
typedef void (*check_reference)(const check_case *c, const double *const *arguments,
                                double *result);

struct check_case {
    const char *function, *keys; /* keys: "degree = 3" or NULL */
    int n_arguments;
    check_argument arguments[CHECK_ARGUMENTS];
    int n_result; /* components of the result */
    check_reference reference;
    int d, degree; /* for the reference */
    /* NULL: r = function(arguments). Else statements that make r@ from a@_0, a@_1, ..., where '@'
     * stands for the case's own suffix; the function is then only a name. */
    const char *statements;
};

static inline int check_components(const check_argument *a) {
    int n = 1;
    for (int i = 0; i < a->rank; ++i)
        n *= a->sizes[i];
    return n;
}

/* Numerical Recipes' linear congruence: the same numbers on every machine. */
static inline double check_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (double)(1u << 23) - 1.0;
}

static inline void check_fill(const check_argument *a, uint32_t *state, double *values) {
    int n = check_components(a);
    for (int i = 0; i < n; ++i)
        values[i] = check_random(state);
    if (a->data == DATA_ANY)
        return;
    int columns = a->sizes[1], first = a->data == DATA_VERTICES ? 1 : 0;
    double size = 1.0 + 0.5 * values[0], sign = check_random(state) < 0 ? -1.0 : 1.0;
    for (int i = 0; i < a->sizes[0]; ++i)
        for (int j = 0; j < columns; ++j) {
            int row = a->data == DATA_SHIFTED ? (i + 1) % columns : i - first;
            double unit = row == j ? (j == 0 ? sign : 1.0) : 0.0;
            values[i * columns + j] = size * (unit + 0.2 * values[i * columns + j]);
        }
}

/** How one program is run. */
typedef struct check_way {
    int variant;
    bool single, plain; /* float; lists [instance][component] */
    double tolerance;
} check_way;

/* Numbers in the memory of a list, spare lanes included. */
static inline size_t check_count(const check_way *way, int64_t n, int components, int lanes) {
    return (size_t)(way->plain ? n : (n + lanes - 1) / lanes * lanes) * (size_t)components;
}

static inline void check_memory(weft_device *device, const check_way *way, int components,
                                int lanes, const double *plain, int64_t n, weft_memory **out) {
    const bool single = way->single;
    size_t count = check_count(way, n, components, lanes);
    double *values = malloc(count * sizeof *values);
    float *floats = malloc(count * sizeof *floats);
    assert_non_null(values);
    assert_non_null(floats);
    if (way->plain)
        memcpy(values, plain, count * sizeof *values);
    else
        weft_interleave(plain, n, components, lanes, values);
    for (size_t i = 0; i < count; ++i)
        floats[i] = (float)values[i];
    size_t bytes = count * (single ? sizeof *floats : sizeof *values);
    assert_int_equal(weft_memory_make(device, bytes, out, NULL), WEFT_OK);
    assert_int_equal(
        weft_memory_write(*out, 0, single ? (void *)floats : (void *)values, bytes, NULL), WEFT_OK);
    free(values);
    free(floats);
}

/** Gauss-Jordan with row exchanges: the determinant comes back, the inverse (NULL allowed) is
 * written. */
static inline double check_eliminate(int n, const double *a, double *inverse) {
    double w[6][12] = {{0}}, determinant = 1;
    for (int i = 0; i < n; ++i) {
        memcpy(w[i], a + i * n, (size_t)n * sizeof *a);
        w[i][n + i] = 1;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(w[i][k]) > fabs(w[pivot][k]))
                pivot = i;
        for (int j = 0; j < 2 * n; ++j) {
            double swap = w[k][j];
            w[k][j] = w[pivot][j];
            w[pivot][j] = swap;
        }
        determinant *= pivot == k ? w[k][k] : -w[k][k];
        for (int j = 2 * n - 1; j >= k; --j)
            w[k][j] /= w[k][k];
        for (int i = 0; i < n; ++i)
            for (int j = 2 * n - 1; i != k && j >= k; --j)
                w[i][j] -= w[i][k] * w[k][j];
    }
    for (int i = 0; inverse && i < n; ++i)
        memcpy(inverse + i * n, w[i] + n, (size_t)n * sizeof *a);
    return determinant;
}

/** One script that makes every case's call, so that the compiler is started once a variant. */
static inline char *check_script(const check_case *cases, int n_cases, bool plain) {
    weft_text text = {0};
    weft_text_add(&text, "index N%s;\n", plain ? " plain" : "");
    for (int c = 0; c < n_cases; ++c)
        for (int k = 0; k < cases[c].n_arguments; ++k) {
            const check_argument *a = &cases[c].arguments[k];
            weft_text_add(&text, "input a_%d_%d : real", c, k);
            for (int i = 0; i < a->rank; ++i)
                weft_text_add(&text, "%s%d%s", i ? "," : "[", a->sizes[i],
                              i + 1 == a->rank ? "]" : "");
            weft_text_add(&text, " over N;\n");
        }
    for (int c = 0; c < n_cases; ++c) {
        for (const char *s = cases[c].statements; s && *s; ++s)
            if (*s == '@')
                weft_text_add(&text, "_%d", c);
            else
                weft_text_add(&text, "%c", *s);
        if (cases[c].statements) {
            weft_text_add(&text, "\n");
            continue;
        }
        weft_text_add(&text, "r_%d = %s(", c, cases[c].function);
        for (int k = 0; k < cases[c].n_arguments; ++k)
            weft_text_add(&text, "%sa_%d_%d", k ? ", " : "", c, k);
        weft_text_add(&text, "%s%s);\n", cases[c].keys ? ", " : "",
                      cases[c].keys ? cases[c].keys : "");
    }
    for (int c = 0; c < n_cases; ++c)
        weft_text_add(&text, "return r_%d;\n", c);
    assert_false(text.failed);
    return text.data;
}

static inline void check_fail(const weft_error *error, const char *what) {
    char message[4096];
    weft_error_text(error, message, sizeof message);
    fail_msg("%s: %s", what, message);
}

/** The largest error of one case, relative to the largest component of each result, or to 0.1 where
 * terms of size 1 cancel. */
static inline double check_compare(const check_case *c, const double *const *plain, int64_t n,
                                   const double *results) {
    double worst = 0;
    for (int64_t i = 0; i < n; ++i) {
        double expected[CHECK_COMPONENTS] = {0}, scale = 0.1;
        const double *arguments[CHECK_ARGUMENTS] = {0};
        for (int k = 0; k < c->n_arguments; ++k)
            arguments[k] = plain[k] + i * check_components(&c->arguments[k]);
        c->reference(c, arguments, expected);
        for (int j = 0; j < c->n_result; ++j)
            scale = fmax(scale, fabs(expected[j]));
        for (int j = 0; j < c->n_result; ++j) {
            double e = fabs(results[i * c->n_result + j] - expected[j]);
            worst = e <= worst * scale ? worst : e / scale; /* a NaN fails too */
        }
    }
    return worst;
}

/** n elements of every case through one program. */
static inline void check_run(weft_device *device, const weft_compilation *compilation,
                             const check_case *cases, int n_cases, int64_t n,
                             const check_way *way) {
    const bool single = way->single;
    weft_error error = {0};
    weft_program *program = NULL;
    uint32_t seed = 12345u + (uint32_t)n;
    char name[64];
    double **plain = calloc((size_t)n_cases * CHECK_ARGUMENTS, sizeof *plain);
    weft_memory **memory = calloc((size_t)n_cases * CHECK_ARGUMENTS, sizeof *memory);
    assert_non_null(plain);
    assert_non_null(memory);
    if (weft_program_make(device, compilation, &program, &error) != WEFT_OK ||
        weft_program_size(program, "N", n, &error) != WEFT_OK)
        check_fail(&error, "making the program");
    int lanes = weft_program_lanes(program);
    for (int c = 0; c < n_cases; ++c)
        for (int k = 0; k < cases[c].n_arguments; ++k) {
            const check_argument *a = &cases[c].arguments[k];
            int components = check_components(a), at = c * CHECK_ARGUMENTS + k;
            plain[at] = malloc((size_t)n * (size_t)components * sizeof **plain);
            assert_non_null(plain[at]);
            for (int64_t i = 0; i < n; ++i)
                check_fill(a, &seed, plain[at] + i * components);
            if (single) /* what the device gets, so that rounding of the input is not an error */
                for (int64_t i = 0; i < n * components; ++i)
                    plain[at][i] = (float)plain[at][i];
            check_memory(device, way, components, lanes, plain[at], n, &memory[at]);
            snprintf(name, sizeof name, "a_%d_%d", c, k);
            if (weft_program_bind(program, name, memory[at], &error) != WEFT_OK)
                check_fail(&error, name);
        }
    if (weft_program_run(program, &error) != WEFT_OK)
        check_fail(&error, "running");
    for (int c = 0; c < n_cases; ++c) {
        size_t count = check_count(way, n, cases[c].n_result, lanes);
        double *values = malloc(count * sizeof *values), *results = malloc(count * sizeof *results);
        assert_non_null(values);
        assert_non_null(results);
        snprintf(name, sizeof name, "r_%d", c);
        weft_memory *result = weft_program_result(program, name);
        assert_non_null(result);
        if (weft_memory_read(result, 0, values, count * (single ? sizeof(float) : sizeof(double)),
                             &error) != WEFT_OK)
            check_fail(&error, name);
        for (size_t i = count; single && i-- > 0;) { /* widened in place, from the end */
            float value;
            memcpy(&value, (const char *)values + i * sizeof value, sizeof value);
            values[i] = value;
        }
        if (way->plain)
            memcpy(results, values, count * sizeof *results);
        else
            weft_deinterleave(values, n, cases[c].n_result, lanes, results);
        double worst = check_compare(&cases[c], (const double *const *)plain + c * CHECK_ARGUMENTS,
                                     n, results);
        if (!(worst <= way->tolerance))
            fail_msg("%s(%s) of %d x %d, variant %d, %s, %s, %lld elements: wrong by %g",
                     cases[c].function, cases[c].keys ? cases[c].keys : "",
                     cases[c].arguments[0].sizes[0], cases[c].arguments[0].sizes[1], way->variant,
                     single ? "float" : "double", way->plain ? "plain" : "interleaved",
                     (long long)n, worst);
        free(values);
        free(results);
    }
    weft_program_free(&program);
    for (int i = 0; i < n_cases * CHECK_ARGUMENTS; ++i) {
        weft_memory_free(&memory[i]);
        free(plain[i]);
    }
    free(memory);
    free(plain);
}

/* The variant `variant` of each function that has it, else its last one that the host runs. */
static inline int check_choices(const weft_library *library, const check_case *cases, int n_cases,
                                int variant, weft_variant_choice *out) {
    int n = 0;
    for (int c = 0; c < n_cases; ++c)
        for (size_t i = 0; i < weft_library_size(library); ++i) {
            weft_function_info info;
            weft_library_info(library, i, &info);
            if (strcmp(info.name, cases[c].function) != 0 || strcmp(info.kind, "map") != 0)
                continue;
            int last = variant < info.n_variants ? variant : info.n_variants - 1;
            while (strcmp(info.languages[last], "cuda") == 0)
                --last;
            out[n++] = (weft_variant_choice){info.name, last};
        }
    return n;
}

static inline void check_way_of(const check_case *cases, int n_cases, const check_way *way) {
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_device_options options = weft_device_options_default(NULL);
    weft_variant_choice *choices = calloc((size_t)n_cases, sizeof *choices);
    assert_non_null(choices);
    const char *forced = getenv("WEFT_TEST_DEVICE"); /* the same tests on a GPU */
    if (weft_device_open(forced ? forced : "host:2", &options, &device, &error) != WEFT_OK ||
        weft_library_make(&library, &error) != WEFT_OK ||
        weft_tables_register(library, &error) != WEFT_OK)
        check_fail(&error, "opening");
    char *script = check_script(cases, n_cases, way->plain);
    weft_fragment fragment = {"check", script};
    weft_compile_options compile = {
        .size = sizeof compile,
        .plan = WEFT_PLAN_UNFUSED,
        .single = way->single,
        .variants = choices,
        .n_variants = check_choices(library, cases, n_cases, way->variant, choices)};
    if (weft_compile(library, weft_device_limits(device), &fragment, 1, &compile, &compilation,
                     &error) != WEFT_OK)
        check_fail(&error, "compiling");
    const weft_limits *limits = weft_device_limits(device);
    const int lanes = way->single ? limits->lanes_float : limits->lanes_double;
    for (int n = 1; n <= lanes; ++n) /* half of them behind a whole block */
        check_run(device, compilation, cases, n_cases, n % 2 ? n : lanes + n, way);
    check_run(device, compilation, cases, n_cases, 1003, way);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
    free(script);
    free(choices);
}

/** Every case with variant `variant` where a function has it (else its last one), in one precision,
 * for partial blocks of every size, whole ones, and 1003 elements. Over plain lists too with the
 * first variant in double, as how lists are loaded and stored does not depend on the body; with all
 * of them where WEFT_TEST_ALL is set. */
static inline void check_cases(const check_case *cases, int n_cases, int variant, bool single,
                               double tolerance) {
    const char *all = getenv("WEFT_TEST_ALL");
    const bool both = (all && all[0]) || (variant == 0 && !single);
    for (int plain = 0; plain < (both ? 2 : 1); ++plain)
        check_way_of(cases, n_cases, &(check_way){variant, single, plain, tolerance});
}

/** The table has every function of kernels/FOLDER, and none has more than the three variants that
 * are run, but for those in CUDA. */
static inline void check_all_are_here(const char *folder, const check_case *cases, int n_cases) {
    weft_library *library = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        bool found = strncmp(info.file, folder, strlen(folder)) != 0;
        for (int c = 0; c < n_cases; ++c)
            found = found || strcmp(info.name, cases[c].function) == 0;
        if (!found)
            fail_msg("%s of %s is not tested", info.name, info.file);
        int n_run = 0;
        for (int v = 0; v < info.n_variants; ++v)
            n_run += strcmp(info.languages[v], "cuda") != 0;
        assert_true(n_run <= 3);
    }
    weft_library_free(&library);
}

#endif
