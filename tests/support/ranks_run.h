/** One problem on several numbers of ranks: the bits of all agree, and the values with those of one process. */
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

/* The words of the case, and these. */
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

static inline void ranks_compare_bits(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"history", "probes",     "integral_u",
                                       "energy",  "iterations", "error_l2"};
    assert_true(json_array_size(json_object_get(a, "history")) > 3);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        assert_true(json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])) ||
                    (!json_object_get(a, keys[i]) && !json_object_get(b, keys[i])));
}

static inline void ranks_compare_values(const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "probes"), *y = json_object_get(b, "probes");
    assert_true(json_array_size(x) == 2 && json_array_size(y) == 2);
    assert_double_near(app_number(a, "energy"), app_number(b, "energy"), 1e-9, 0);
    for (size_t i = 0; i < 2; ++i) {
        const json_t *u = json_object_get(json_array_get(x, i), "u"),
                     *v = json_object_get(json_array_get(y, i), "u");
        if (json_is_number(u))
            assert_double_near(json_number_value(u), json_number_value(v), 1e-9, 1e-12);
        for (size_t k = 0; k < json_array_size(u); ++k)
            assert_double_near(json_number_value(json_array_get(u, k)),
                               json_number_value(json_array_get(v, k)), 1e-8, 1e-10);
    }
}

static inline void ranks_check(const rank_case *one) {
    json_t *whole = ranks_run(one, NULL, NULL), *first = NULL;
    for (int i = 0; i < RANK_COUNTS; ++i) {
        json_t *next = ranks_run(one, "--ranks", rank_counts[i]);
        if (first) {
            ranks_compare_bits(first, next);
            json_decref(next);
        } else {
            first = next;
            ranks_compare_values(whole, first);
        }
    }
    json_decref(first);
    json_decref(whole);
}

#define TIGHT "--tolerance", "1e-12"
#define IN_PLANE TIGHT, "--probe", "0.4,0.3", "--probe", "0.5,0.5"
#define IN_SPACE TIGHT, "--probe", "0.4,0.3,0.2", "--probe", "0.5,0.5,0.5"

#endif
