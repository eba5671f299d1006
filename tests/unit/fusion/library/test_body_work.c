/* labels: quick */
/* The work of bodies against counts by hand: operations of a thread, of divergent branches the sum, with a product that a
 * sum takes in as one; and which components the threads of a warp access together. */
#include "core/weft_core.h"
#include "fusion/library/work.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>

#define HEAD "//@ kind map\n//@ flops 0\n//@ source none\n"

typedef struct work_case {
    const char *text;
    weft_shape shape;
    double operations;
    int n_accesses, operand; /* of the first access */
    double count;            /* of the first access */
    int (*component)(int thread);
} work_case;

static int backwards(int t) {
    return 39 - t;
}
static int transposed(int t) {
    return t % 8 * 8 + t / 8;
}
static int even(int t) {
    return t % 2 == 0 ? t : -1;
}
static int first(int t) {
    return t == 0 ? 0 : -1;
}

static const work_case cases[] = {
    {"//@ function f(x: real[n]) -> y: real[n]\n" HEAD
     "//@ threads n  x(:) y(t)\ny(t) = x(n - 1 - t);\n",
     {1, {40}},
     1, /* n - 1 is a constant */
     2,
     0,
     1,
     backwards},
    {"//@ function f(x: real[n,n]) -> y: real[n,n]\n" HEAD
     "//@ threads n*n  x(:,:) y(t/n,t%n)\ny(t / n, t % n) = x(t % n, t / n);\n",
     {2, {8, 8}},
     4, /* divisions by a power of two */
     2,
     0,
     1,
     transposed},
    {"//@ function f(x: real[n]) -> y: real[n]\n" HEAD
     "//@ threads n  x(:) y(t)\nif (t % 2 == 0)\n    y(t) = 2.5 * x(t);\nelse\n    y(t) = 0;\n",
     {1, {40}},
     3, /* remainder, comparison, product */
     3,
     0,
     1,
     even},
    {"//@ function f(x: real[n]) -> y: real\n" HEAD
     "//@ threads 1\nreal s = 0;\nfor (int k = 0; k < n; ++k)\n    s += x(k) * x(k);\ny = s;\n",
     {1, {5}},
     5, /* one multiply-add per iteration */
     3,
     0,
     5,
     first},
    {"//@ function f(x: real[n]) -> y: real[n]\n" HEAD
     "//@ threads 1\nfor (int k = 0; k < n; ++k)\n    y(k) = sqrt(x(k));\n"
     "//@ threads n  x(t)\nfor (int k = 0; k < n; ++k) {\n    if (t == k)\n        y(k) = "
     "sqrt(x(k));\n"
     "    barrier;\n}\n",
     {1, {8}},
     72, /* the warp takes the branch of each thread: a comparison and a root of 8 operations */
     2,
     0,
     8,
     first},
};

static void counts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const work_case *c = &cases[i];
        weft_library *library = NULL;
        weft_specialisation *one = NULL;
        weft_body_work work;
        weft_error error = {0};
        weft_arena *arena = NULL;
        assert_int_equal(weft_arena_make(&arena, &error), WEFT_OK);
        assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
        assert_int_equal(weft_library_add_text(library, "f.kernel.c", c->text, &error), WEFT_OK);
        assert_int_equal(weft_specialisation_make(
                             arena, library,
                             &(weft_element_request){.function = weft_library_find(library, "f"),
                                                     .arguments = &c->shape,
                                                     .n_arguments = 1},
                             &one, &error),
                         WEFT_OK);
        assert_int_equal(weft_body_work_count(arena, one, one->n_variants - 1, 32, &work, &error),
                         WEFT_OK);
        if (work.operations != c->operations)
            fail_msg("case %zu: %g operations, expected %g", i, work.operations, c->operations);
        assert_int_equal(work.n_accesses, c->n_accesses);
        assert_int_equal(work.accesses[0].operand, c->operand);
        assert_true(work.accesses[0].count == c->count);
        assert_int_equal(work.accesses[work.n_accesses - 1].operand, -1);
        for (int t = 0; t < 32; ++t)
            assert_int_equal(work.accesses[0].components[t], c->component(t));
        weft_library_free(&library);
        weft_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
