/* labels: quick */
/* The threads of a body keep to their pattern: what does not is refused with line, column and the
 * sizes for which it fails; what does is accepted. Lines and columns are counted by hand. */
#include "core/weft_core.h"
#include "fusion/library/library.h"
#include "test_support.h"

#include <string.h>

#define HEAD                                                                                       \
    "//@ function f(x: real[n]) -> y: real[n]\n"                                                   \
    "//@ kind map\n"                                                                               \
    "//@ flops 0\n"                                                                                \
    "//@ source none\n"

/* f of a real[3], or of the shape that is given; the pattern is on line 5. */
typedef struct pattern_case {
    const char *text;
    int line, column; /* 0: accepted */
    const char *message, *hint;
    weft_shape shape;
} pattern_case;

static const pattern_case wrong[] = {
    {HEAD "//@ threads n  x(t) y(t)\ny(t) = x((t + 1) % n);\n",
     6,
     18,
     "f: thread 0 of 3 reads x(1), but its part of x is x(0) by line 5 (n = 3)",
     "line 5 needs ':' in place of the subscript",
     {0, {0}}},
    /* modulo of a negative number is negative in C */
    {HEAD "//@ threads n  x(:) y(t)\ny(t) = x((t - 1) % n);\n",
     6,
     18,
     "f: this subscript is -1 in thread 0 of 3, outside the size 3 (n = 3)",
     "",
     {0, {0}}},
    /* off by one: written */
    {HEAD "//@ threads n - 1  x(:) y(t)\ny(t + 1) = x(t);\n",
     6,
     5,
     "f: thread 0 of 2 writes y(1), but its part of y is y(0) by line 5 (n = 3)",
     "",
     {0, {0}}},
    {HEAD "//@ threads n\ny(t + 1) = x(t);\n",
     6,
     5,
     "f: this subscript is 3 in thread 2 of 3, outside the size 3 (n = 3)",
     "",
     {0, {0}}},
    /* between the same barriers, before the last barrier, before it is written */
    {HEAD "//@ threads 1\nfor (int i = 0; i < n; ++i)\n    y(i) = x(i);\n"
          "//@ threads n  x(t) y(t)\ny(t) = x(t);\nbarrier;\ny(t) += y((t + 1) % n);\n",
     11,
     9,
     "f: thread 0 of 3 reads y(1), which thread 1 writes between the same barriers (n = 3)",
     "at the same time",
     {0, {0}}},
    {HEAD "//@ threads 1\nfor (int i = 0; i < n; ++i)\n    y(i) = x(i);\n"
          "//@ threads n  x(t) y(t)\nreal a = 0;\nbarrier;\na = y((t + 1) % n);\nbarrier;\n"
          "y(t) = a + x(t);\n",
     11,
     5,
     "f: thread 0 of 3 reads y(1), which thread 1 has not written before the last barrier (n = 3)",
     "at the same time",
     {0, {0}}},
    {HEAD "//@ threads 1\nfor (int i = 0; i < n; ++i)\n    y(i) = x(i);\n"
          "//@ threads n  x(t) y(t)\nif (t > 0) {\n    barrier;\n}\ny(t) = x(t);\n",
     9,
     1,
     "f: not all threads meet the barrier in this statement (n = 3)",
     "where all threads come",
     {0, {0}}},
    /* two writers */
    {HEAD "//@ threads n\ny(t) = x(t);\ny(0) = x(0);\n",
     7,
     1,
     "f: the threads 0 and 1 of 3 both write y(0) (n = 3)",
     "by one thread",
     {0, {0}}},
    {HEAD "//@ threads n\ny(t / 2) = x(t);\n",
     6,
     1,
     "f: the threads 0 and 1 of 3 both write y(0) (n = 3)",
     "by one thread",
     {0, {0}}},
    {"//@ function f(x: real[n]) -> s: real\n//@ kind map\n//@ flops 0\n//@ source none\n"
     "//@ threads n  x(t)\ns = x(t);\n",
     6,
     1,
     "f: the threads 0 and 1 of 3 both write s (n = 3)",
     "by one thread",
     {0, {0}}},
    /* the subscript is data */
    {HEAD "//@ threads n  x(t) y(t)\ny(t) = x(x(t));\n",
     6,
     10,
     "a subscript is an integer expression in sizes and indices",
     "",
     {0, {0}}},
    /* a wrong number of threads */
    {HEAD "//@ threads n + 1  x(t) y(t)\ny(t) = x(t);\n",
     5,
     22,
     "f: this subscript is 3 in thread 3 of 4, outside the size 3 (n = 3)",
     "",
     {0, {0}}},
    {HEAD "//@ threads n - 1  x(t) y(t)\ny(t) = x(t);\n",
     5,
     1,
     "f: none of the 2 threads writes y(2) (n = 3)",
     "is 'n - 1' the right number",
     {0, {0}}},
    {HEAD "//@ threads n\nif (t < n - 1)\n    y(t) = x(t);\n",
     5,
     1,
     "f: none of the 3 threads writes y(2) (n = 3)",
     "together write the whole result",
     {0, {0}}},
    /* less than its part */
    {"//@ function f(A: real[m,n]) -> C: real[m,n]\n//@ kind map\n//@ flops 0\n//@ source none\n"
     "//@ threads m  A(:,:) C(t,:)\nC(t,0) = A(t,0);\n",
     5,
     1,
     "f: thread 0 of 2 writes 1 of the 2 components of its part C(0,:) (m = 2, n = 2)",
     "states what each thread writes",
     {2, {2, 2}}},
    /* another thread's output: before and after that thread, in the order of their numbers */
    {HEAD "//@ threads n\ny(t) = x(t);\nif (t > 0)\n    y(t) += y(t - 1);\n",
     8,
     13,
     "f: thread 1 of 3 reads y(0), which it has not written (n = 3)",
     "barrier inside a body",
     {0, {0}}},
    {HEAD "//@ threads n\ny(t) = x(t);\nif (t < n - 1)\n    y(t) += y(t + 1);\n",
     8,
     13,
     "f: thread 0 of 3 reads y(1), which it has not written (n = 3)",
     "barrier inside a body",
     {0, {0}}},
    {HEAD "//@ threads n\ny(t) += x(t);\n",
     6,
     1,
     "f: thread 0 of 3 reads y(0), which it has not written (n = 3)",
     "wrote before",
     {0, {0}}},
    /* in a loop, by way of an int, in the branch of a select that is taken */
    {HEAD "//@ threads n  x(t) y(t)\nreal s = 0;\nfor (int i = t; i < n; ++i)\n    s += x(i);\n"
          "y(t) = s;\n",
     8,
     12,
     "f: thread 0 of 3 reads x(1), but its part of x is x(0) by line 5 (n = 3)",
     "needs ':'",
     {0, {0}}},
    {HEAD "//@ threads n  x(t) y(t)\nint i = n - 1 - t;\ny(t) = x(i);\n",
     7,
     10,
     "f: thread 0 of 3 reads x(2), but its part of x is x(0) by line 5 (n = 3)",
     "needs ':'",
     {0, {0}}},
    {HEAD "//@ threads n  x(t) y(t)\ny(t) = select(t == 2, x(0), x(t));\n",
     6,
     25,
     "f: thread 2 of 3 reads x(0), but its part of x is x(2) by line 5 (n = 3)",
     "needs ':'",
     {0, {0}}},
    /* the second subscript of two, and a part with ':' */
    {"//@ function f(A: real[m,n]) -> C: real[m,n]\n//@ kind map\n//@ flops 0\n//@ source none\n"
     "//@ threads m  A(t,:) C(t,:)\nfor (int j = 0; j < n; ++j)\n    C(t,j) = A(j,t);\n",
     7,
     16,
     "f: thread 0 of 2 reads A(1,0), but its part of A is A(0,:) by line 5 (m = 2, n = 2)",
     "needs ':'",
     {2, {2, 2}}},
    {HEAD "//@ threads n  x(:) y(t)\nreal h[n];\nh[t + 1] = x(t);\ny(t) = h[t + 1];\n",
     7,
     1,
     "f: subscript 1 of h is 3 here, outside its size 3 (n = 3)",
     "",
     {0, {0}}},
    {HEAD "//@ threads n  x(1 / (t - 1)) y(t)\ny(t) = 0;\n",
     5,
     20,
     "f: this subscript is -1 in thread 0 of 3, outside the size 3 (n = 3)",
     "",
     {0, {0}}},
    {HEAD "//@ threads n  x(:) y(t)\ny(t) = x(n % (t + 1) + 4 / t);\n",
     6,
     22,
     "f: this has no value in thread 0 of 3 (n = 3)",
     "divides by zero",
     {0, {0}}},
};

static const pattern_case right[] = {
    {HEAD "//@ threads n  x(:) y(t)\ny(t) = x((t + 1) % n);\n", 0, 0, "", "", {0, {0}}},
    {HEAD "//@ threads n  x(t) y(n - 1 - t)\nint i = n - 1 - t;\ny(i) = x(t);\ny(i) += 1;\n",
     0,
     0,
     "",
     "",
     {0, {0}}},
    /* an access that no thread makes */
    {HEAD "//@ threads n  x(t) y(t)\nif (t >= n)\n    y(t) = x(0);\nelse\n    y(t) = x(t);\n",
     0,
     0,
     "",
     "",
     {0, {0}}},
    {HEAD "//@ threads n  x(t) y(t)\ny(t) = select(t < n, x(t), x(0));\n", 0, 0, "", "", {0, {0}}},
    {HEAD "//@ threads 2\nfor (int i = t; i < n; i += 2)\n    y(i) = x(i);\n",
     0,
     0,
     "",
     "",
     {0, {0}}},
    {"//@ function f(x: real[n]) -> s: real\n//@ kind map\n//@ flops 0\n//@ source none\n"
     "//@ threads n\nif (t == n - 1)\n    s = x(0);\n",
     0,
     0,
     "",
     "",
     {0, {0}}},
    /* one thread: no pattern to keep to */
    {HEAD "//@ threads n  x(t) y(t)\ny(t) = x((t + 1) % n);\n", 0, 0, "", "", {1, {1}}},
};

static weft_status specialise(const pattern_case *c, weft_arena *arena, weft_library *library,
                              weft_specialisation **out, weft_error *error) {
    const weft_shape three = {1, {3}};
    weft_status status = WEFT_OK;
    TRY(weft_library_add_text(library, "f.kernel.c", c->text, error));
    TRY(weft_specialisation_make(
        arena, library,
        &(weft_element_request){.function = weft_library_find(library, "f"),
                                .arguments = c->shape.rank > 0 ? &c->shape : &three,
                                .n_arguments = 1},
        out, error));
done:
    return status;
}

static void check_cases(const pattern_case *cases, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        weft_library *library = NULL;
        weft_arena *arena = NULL;
        weft_specialisation *made = NULL;
        weft_error error = {0};
        assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
        assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
        const weft_status status = specialise(&cases[i], arena, library, &made, &error);
        const bool same = status == (cases[i].line > 0 ? WEFT_ERROR_TYPE : WEFT_OK) &&
                          error.line == cases[i].line && error.column == cases[i].column &&
                          strcmp(error.message, cases[i].message) == 0 &&
                          strstr(error.hint, cases[i].hint) != NULL;
        if (!same)
            fail_msg("case %zu should be %d:%d: %s (%s), but is %d:%d: %s (%s)\n%s", i,
                     cases[i].line, cases[i].column, cases[i].message, cases[i].hint, error.line,
                     error.column, error.message, error.hint, cases[i].text);
        if (cases[i].line > 0)
            assert_string_equal(error.file, "f.kernel.c");
        weft_arena_free(&arena);
        weft_library_free(&library);
    }
}

static void test_wrong(void **state) {
    (void)state;
    check_cases(wrong, sizeof wrong / sizeof *wrong);
}

static void test_right(void **state) {
    (void)state;
    check_cases(right, sizeof right / sizeof *right);
}

/* Who writes a result without a pattern is found out: here blocks of two, from the end. */
static void test_writers(void **state) {
    (void)state;
    const pattern_case c = {HEAD "//@ threads 2\nfor (int i = 0; i < 2; ++i)\n"
                                 "    y(n - 1 - 2 * t - i) = x(i);\n",
                            0,
                            0,
                            "",
                            "",
                            {1, {4}}};
    static const int writers[] = {1, 1, 0, 0};
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_specialisation *made = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    assert_int_equal(specialise(&c, arena, library, &made, NULL), WEFT_OK);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(weft_specialisation_writer(made, 0, i), writers[i]);
    weft_arena_free(&arena);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong), cmocka_unit_test(test_right),
                                       cmocka_unit_test(test_writers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
