/** Running a case of tests on several ranks, with what solve_run.h has. A problem that several ranks solve, each on its part of the
 *  mesh, has for any number of ranks the same bits. JSON keeps 17 digits. */
#ifndef RANKS_RUN_H
#define RANKS_RUN_H

#include "solve_run.h"

enum { RANK_WORDS = 40 };

typedef struct rank_case {
    const char *program;
    const char *words[RANK_WORDS];
} rank_case;

static const char *const rank_counts[] = {"1", "2", "3", "4", "7"};
enum { RANK_COUNTS = sizeof rank_counts / sizeof *rank_counts };

/** The words of the case, and these. */
static inline json_t *ranks_run(const rank_case *one, const char *option, const char *value) {
    const char *words[RANK_WORDS + 8] = {"--verbose"};
    int n = 1;
    for (int i = 0; one->words[i]; ++i)
        words[n++] = one->words[i];
    if (option) {
        words[n++] = option;
        words[n++] = value;
    }
    return app_solve(one->program, 0, words);
}

/** Everything but the time that it took has the same bits. */
static inline void ranks_compare_bits(const json_t *a, const json_t *b) {
    static const char *const keys[] = {
        "history",  "probes",    "integral_u", "energy",  "iterations", "l2_error",
        "h1_error", "method",    "newton",     "derived", "sum",        "preconditioner",
        "loads",    "reactions", "exchange",   "storage", "equation",   "balance"};
    static const char *const steps[] = {"outcome",  "steps",  "t",
                                        "rejected", "newton", "iterations"};
    const json_t *x = json_object_get(a, "time"), *y = json_object_get(b, "time");
    assert_true(x || json_array_size(json_object_get(a, "history")) > 1);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        assert_true(json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])) ||
                    (!json_object_get(a, keys[i]) && !json_object_get(b, keys[i])));
    assert_true(json_is_object(x) == json_is_object(y));
    for (size_t i = 0; x && i < sizeof steps / sizeof *steps; ++i)
        assert_true(json_equal(json_object_get(x, steps[i]), json_object_get(y, steps[i])));
}

/** All numbers of these values are near: to `relative`, or 1e-10. */
static inline void ranks_compare_numbers(const json_t *a, const json_t *b, double relative) {
    const char *key = NULL;
    json_t *value = NULL;
    assert_true(json_typeof(a) == json_typeof(b));
    if (json_is_number(a))
        assert_double_near(json_number_value(a), json_number_value(b), relative, 1e-10);
    assert_true(json_array_size(a) == json_array_size(b));
    for (size_t k = 0; k < json_array_size(a); ++k)
        ranks_compare_numbers(json_array_get(a, k), json_array_get(b, k), relative);
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
        ranks_compare_numbers(value, json_object_get(b, key), relative);
}

/** Values are near: to `relative`, or 1e-12. */
static inline void ranks_compare_values(const json_t *a, const json_t *b, double relative) {
    static const char *const balance[] = {"reactions", "exchange", "loads", "storage", "equation"};
    const json_t *x = json_object_get(a, "probes"), *y = json_object_get(b, "probes");
    for (size_t i = 0; i < sizeof balance / sizeof *balance; ++i)
        if (json_object_get(a, balance[i]))
            ranks_compare_numbers(json_object_get(a, balance[i]), json_object_get(b, balance[i]),
                                  10 * relative);
    assert_true(json_array_size(x) == 2 && json_array_size(y) == 2);
    if (json_is_number(json_object_get(a, "energy")))
        assert_double_near(app_number(a, "energy"), app_number(b, "energy"), relative, 0);
    for (size_t i = 0; i < 2; ++i) {
        const json_t *u = json_object_get(json_array_get(x, i), "u"),
                     *v = json_object_get(json_array_get(y, i), "u");
        if (json_is_number(u))
            assert_double_near(json_number_value(u), json_number_value(v), relative, 1e-12);
        for (size_t k = 0; k < json_array_size(u); ++k)
            assert_double_near(json_number_value(json_array_get(u, k)),
                               json_number_value(json_array_get(v, k)), 10 * relative, 1e-10);
    }
}

/** Is this number of ranks tried in this case? All are where WEFT_TEST_RANKS is "all"; otherwise 1 and, from case to case, another
 *  one, so that a program of four cases still has all. */
static inline bool ranks_tries(int which, int number_of_case) {
    static const int turn[RANK_COUNTS] = {-1, 0, 1, 2, 3};
    const char *wanted = getenv("WEFT_TEST_RANKS");
    return (wanted && strcmp(wanted, "all") == 0) || turn[which] < 0 ||
           turn[which] == number_of_case % 4;
}

/** One process and ranks 1, 2, ... up to `most`: values are near, and ranks have the same bits. */
static inline void ranks_check_up_to(const rank_case *one, int most, double relative) {
    static int n_cases = 0;
    json_t *whole = ranks_run(one, NULL, NULL), *first = NULL;
    const int number = n_cases++;
    for (int i = 0; i < RANK_COUNTS && atoi(rank_counts[i]) <= most; ++i) {
        if (!ranks_tries(i, number))
            continue;
        json_t *next = ranks_run(one, "--ranks", rank_counts[i]);
        if (first) {
            ranks_compare_bits(first, next);
            json_decref(next);
        } else {
            first = next;
            ranks_compare_values(whole, first, relative);
        }
    }
    json_decref(first);
    json_decref(whole);
}

static inline void ranks_check(const rank_case *one) {
    ranks_check_up_to(one, 7, 1e-9);
}

/** The start of a form file of Lagrange elements of degree 2 on triangles. */
static const char ranks_quadratic[] =
    "from ufl import *\nfrom basix.ufl import element\n"
    "V = FunctionSpace(Mesh(element(\"Lagrange\", \"triangle\", 1, shape=(2,))),"
    " element(\"Lagrange\", \"triangle\", 2))\nx = SpatialCoordinate(V)\n";

static inline void ranks_write(const char *path, const char *text) {
    test_file_write(path, text, strlen(text));
}

#define TIGHT "--tolerance", "1e-12"
#define IN_PLANE TIGHT, "--probe", "0.4,0.3", "--probe", "0.5,0.5"
#define IN_SPACE TIGHT, "--probe", "0.4,0.3,0.2", "--probe", "0.5,0.5,0.5"

#endif
