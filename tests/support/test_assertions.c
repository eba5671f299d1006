/* labels: quick */
/* The tests' own assertions: what they are there for makes a program fail, and one whose tests are
 * all skipped says so. Cases run in this program, started again with the case's number. */
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct near_case {
    double a, b, relative, absolute;
} near_case;
static const near_case near[] = {{1, 1, 0, 0},
                                 {-INFINITY, -INFINITY, 0, 0},
                                 {1, 1 + 1e-10, 1e-9, 0},
                                 {1e-30, 0, 0, 1e-29}},
                       far[] = {{1, 1 + 1e-10, 1e-11, 0},
                                {1e-30, 0, 1e-9, 1e-31},
                                {NAN, 1, 1, 1},
                                {1, NAN, 1, 1},
                                {NAN, NAN, 1, 1},
                                {INFINITY, 1, 1e-12, 0},
                                {1, -INFINITY, 1e-12, 1},
                                {INFINITY, -INFINITY, 1e-12, 1},
                                {INFINITY, NAN, 1e-12, 1e9}};
enum { N_NEAR = sizeof near / sizeof *near, N_FAR = sizeof far / sizeof *far };

static void passes(void **state) {
    (void)state;
    for (int i = 0; i < N_NEAR; ++i)
        assert_double_near(near[i].a, near[i].b, near[i].relative, near[i].absolute);
}

static void fails(void **state) {
    const near_case *one = *state;
    assert_double_near(one->a, one->b, one->relative, one->absolute);
}

static void skips(void **state) {
    (void)state;
    skip_test("on purpose");
    fail();
}

/* CMUnitTestFunction is a function in one version of cmocka and a pointer to one in the next. */
typedef void test_function(void **state);

/* The exit code of a program that has these two tests. */
static int run_both(test_function *first, test_function *second, int number) {
    void *state = (void *)(uintptr_t)&far[number];
    const struct CMUnitTest tests[] = {{"first", first, NULL, NULL, state},
                                       {"second", second, NULL, NULL, state}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

static char *self;

static int code_of(const char *first, const char *second, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    const char *const arguments[] = {self, first, second, text, NULL};
    test_run ran = test_program(arguments, NULL);
    const int code = ran.exit_code;
    test_run_free(&ran);
    return code;
}

static void numbers(void **state) {
    (void)state;
    assert_int_equal(code_of("pass", "pass", 0), 0);
    for (int i = 0; i < N_FAR; ++i) {
        assert_int_equal(code_of("fail", "pass", i), 1);
        assert_int_equal(code_of("pass", "fail", i), 1);
    }
}

static void skipping(void **state) {
    (void)state;
    assert_int_equal(code_of("skip", "skip", 0), 77);
    assert_int_equal(code_of("skip", "pass", 0), 0);
    assert_int_equal(code_of("skip", "fail", 0), 1);
    assert_int_equal(code_of("fail", "skip", 0), 1);
}

static test_function *named(const char *name) {
    return name[0] == 'p' ? passes : name[0] == 'f' ? fails : skips;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(skipping)};
    self = argv[0];
    if (argc == 4)
        return run_both(named(argv[1]), named(argv[2]), atoi(argv[3]));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
