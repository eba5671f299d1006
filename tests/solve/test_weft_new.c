/* labels: quick */
/* weft new writes starting points that compile and pass weft test; weft test finds a body that
 * computes something else and an example that is not what the function gives. The wrong ones are
 * injected here, so the expected reports are known. */
#include "test_support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "//@ kind      map\n"                                                                          \
    "//@ flops     2*n\n"                                                                          \
    "//@ source    r = sum_i a(i) b(i)\n"

/* The tool in a folder of its own: where it writes is where it is run. */
static test_run run_program_in(const char *folder, const char *program, const char *arguments) {
    char *command = NULL;
    assert_true(asprintf(&command, "cd '%s' && exec '" WEFT_BINARY_DIR "/%s' %s", folder, program,
                         arguments) > 0);
    const char *const words[] = {"sh", "-c", command, NULL};
    test_run run = test_program(words, NULL);
    free(command);
    return run;
}

static test_run run_in(const char *folder, const char *arguments) {
    return run_program_in(folder, "weft", arguments);
}

static void check(test_run run, int exit_code, const char *out, const char *err) {
    bool fine = run.exit_code == exit_code && strstr(run.output, out) && strstr(run.error, err);
    if (!fine)
        print_error("exit %d, expected %d\nexpected \"%s\" and \"%s\"\n%s\n%s\n", run.exit_code,
                    exit_code, out, err, run.output, run.error);
    assert_true(fine);
    test_run_free(&run);
}

static void test_starting_points(void **state) {
    char *folder = test_folder_make();
    (void)state;
    check(run_in(folder, "new function mine"), 0, "weft test .", "");
    check(run_in(folder, "test . --device host"), 0, "1 function, 2 granularities run, 0 wrong",
          "");
    check(run_in(folder, "test ./ --device host:2 --device host:1 --seed 7"), 0,
          "1 function, 4 granularities run, 0 wrong", "");
    check(run_in(folder, "test . --device null"), 2, "", "computes nothing");
    check(run_in(folder, "test . --device hots"), 2, "", "did you mean host?");
    check(run_in(folder, "new script mine"), 0, "  weft compile mine.weft --kernels .\n", "");
    check(run_in(folder, "compile mine.weft --kernels ."), 0, "plan: 1 kernel", "");
    check(run_in(folder, "new script other"), 0, "  solve other.weft --mesh square:32\n", "");
    check(run_in(folder, "compile other.weft --param d=3"), 0, "plan: 1 kernel", "");
    /* -u'' = 1 between insulated sides: u(1) = 1/2, at nodes exact */
    check(run_program_in(folder, "solve",
                         "other.weft --mesh square:4 --dirichlet left=0 --probe 1,0.5 "
                         "--tolerance 1e-12"),
          0, "u(1,0.5)  0.5\n", "");
    check(run_program_in(folder, "solve", "other.weft --mesh cube:2 --define k=2"), 0,
          "CG          converged", "");
    test_folder_remove(&folder);
}

static void test_nothing_is_overwritten(void **state) {
    static const char *const files[] = {"mine.kernel.c", "that.weft"};
    static const char *const commands[] = {"new function mine", "new script that"};
    char *folder = test_folder_make();
    (void)state;
    for (int i = 0; i < 2; ++i) {
        char *path = test_path(folder, files[i]);
        test_text_write(path, "precious\n");
        check(run_in(folder, commands[i]), 2, "", "is not overwritten");
        char *text = test_file_read(path, NULL);
        assert_string_equal(text, "precious\n");
        free(text);
        free(path);
    }
    test_folder_remove(&folder);
}

static void test_names(void **state) {
    static const struct {
        const char *command, *message;
    } cases[] = {{"new function mmul", "shipped with Weft"},
                 {"new script poisson", "shipped with Weft"},
                 {"new function while", "reserved"},
                 {"new script double", "reserved"},
                 {"new function sqrt", "reserved"},
                 {"new function index", "word of the language"},
                 {"new script repeat", "word of the language"},
                 {"new function 9lives", "not an identifier"},
                 {"new function a-b", "not an identifier"},
                 {"new function ../escape", "not an identifier"},
                 {"new function ''", "not an identifier"},
                 {"new functoin mine", "did you mean 'function'?"},
                 {"new function", "weft new function NAME"},
                 {"new", "weft new function NAME"},
                 {"test", "no directory is given"},
                 {"test .", "no *.kernel.c file"},
                 {"tets .", "did you mean 'test'?"}};
    char *folder = test_folder_make();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        check(run_in(folder, cases[i].command), 2, "", cases[i].message);
    test_folder_remove(&folder);
}

/* text as the only kernel file; what `weft test` says of it. */
static void check_text(const char *text, int exit_code, const char *out, const char *err) {
    char *folder = test_folder_make(), *path = test_path(folder, "a.kernel.c");
    test_text_write(path, text);
    check(run_in(folder, "test . --device host"), exit_code, out, err);
    free(path);
    test_folder_remove(&folder);
}

static void test_wrong_bodies(void **state) {
    (void)state;
    /* right for n = 1 alone: thread t forgets its last term */
    check_text("//@ function  mine(a: real[m,n], b: real[n]) -> r: real[m]\n" HEAD
               "//@ threads   1\n"
               "for (int i = 0; i < m; ++i) {\n"
               "    r(i) = a(i,0) * b(0);\n"
               "    for (int j = 1; j < n; ++j)\n"
               "        r(i) += a(i,j) * b(j);\n"
               "}\n"
               "//@ threads   m a(t,:) b(:) r(t)\n"
               "r(t) = a(t,0) * b(0);\n"
               "for (int j = 1; j < n - 1; ++j)\n"
               "    r(t) += a(t,j) * b(j);\n",
               1, "2 granularities run, 1 wrong", "");
}

#define SHIFT                                                                                      \
    "//@ function  shift(x: real[n]) -> y: real[n]\n"                                              \
    "//@ kind      map\n"                                                                          \
    "//@ flops     0\n"                                                                            \
    "//@ source    y(i) = x(i + 1)\n"                                                              \
    "//@ threads   1\n"                                                                            \
    "for (int i = 0; i < n; ++i)\n"                                                                \
    "    y(i) = x((i + 1) % n);\n"

/* A body that reads what its pattern gives to another thread would be a data race: it is refused
 * where it is used, too. */
static void test_patterns(void **state) {
    static const char script[] = "index N;\ninput x : real[4] over N;\ny = shift(x);\nreturn y;\n";
    static const char refused[] =
        ":9:18: error: shift: thread 0 of 4 reads x(1), but its part of x "
        "is x(0) by line 8 (n = 4)\n"
        "    y(t) = x((t + 1) % n);\n"
        "                     ^\n"
        "hint: ";
    char *folder = test_folder_make(), *path = test_path(folder, "a.kernel.c");
    char *script_path = test_path(folder, "a.weft");
    (void)state;
    test_text_write(path, SHIFT "//@ threads   n  x(t) y(t)\ny(t) = x((t + 1) % n);\n");
    test_text_write(script_path, script);
    check(run_in(folder, "compile a.weft --kernels . --device host"), 2, "", refused);
    check(run_in(folder, "compile a.weft --kernels . --device null:h200"), 2, "", refused);
    test_text_write(path, SHIFT "//@ threads   n  x(:) y(t)\ny(t) = x((t + 1) % n);\n");
    check(run_in(folder, "compile a.weft --kernels . --device null:h200"), 0, "plan: 1 kernel", "");
    free(path);
    free(script_path);
    test_folder_remove(&folder);
    check_text(
        SHIFT "//@ threads   n  x(t) y(t)\ny(t) = x((t + 1) % n);\n", 2, "",
        "a.kernel.c:9:18: error: shift: thread 0 of 2 reads x(1), but its part of x is x(0)");
}

/* Bodies run as GPU code on the host too: a wrong granularity is named, with the order of
 * threads. */
static void test_emulated(void **state) {
    char *folder = test_folder_make(), *path = test_path(folder, "a.kernel.c");
    (void)state;
    test_text_write(path, SHIFT "//@ threads   n  x(:) y(t)\ny(t) = x((t + 1) % n);\n"
                                "//@ threads   2*n  x(:)\nif (t < n)\n    y(t) = x(t);\n");
    test_run run = run_in(folder, "test .");
    if (strstr(run.output, "not emulated: ") != NULL)
        skip_test("no g++ here");
    check(run, 1, "ok     shift  threads n    emulated  double 0.0e+00", "");
    check(run_in(folder, "test . --device emulated"), 1,
          "WRONG  shift  threads 2*n  emulated  double", "");
    check(run_in(folder, "test . --device emulated"), 1,
          "    double, n = 2: element 0 of 1, component 0, threads in order: ", "");
    free(path);
    test_folder_remove(&folder);
}

static void test_examples(void **state) {
    (void)state;
#define DOT "//@ threads   1\nr = 0;\nfor (int i = 0; i < n; ++i)\n    r += a(i) * b(i);\n"
#define SIGNATURE "//@ function  mine(a: real[n], b: real[n]) -> r: real\n"
    check_text(SIGNATURE HEAD "//@ example mine([1, 2], [3, -4]) = -5\n"
                              "//@ example mine([1/4], [2e1]) = 5\n" DOT,
               0, "0 wrong", "");
    check_text(SIGNATURE HEAD "//@ example mine([1, 2], [3, 4]) = 12\n" DOT, 1,
               "11, but the example says 12", "");
    check_text(SIGNATURE HEAD "//@ example mine([1, 2], [3, 4]) = [11]\n" DOT, 2, "",
               "a.kernel.c:5:13: error: the result of this example is real, but real[1]");
    check_text(SIGNATURE HEAD "//@ example mine([1, 2], [3, 4, 5]) = 11\n" DOT, 2, "",
               "b is real[3], but a has made n = 2");
    check_text(SIGNATURE HEAD "//@ example mine([[1, 2], [3]], [4]) = 11\n" DOT, 2, "",
               "expected lists of one length");
    check_text(SIGNATURE HEAD "//@ example mine([1, 2], 3) = \n" DOT, 2, "", "expected a number");
    check_text(SIGNATURE HEAD "//@ example yours([1, 2], [3, 4]) = 11\n" DOT, 2, "",
               "expected the function's own name");
    check_text(SIGNATURE HEAD "//@ exmaple mine([1, 2], [3, 4]) = 11\n" DOT, 2, "",
               "did you mean 'example'?");
}

/* A choice by the thread, among values that are vectors in different ways: in the tutorial too. */
static void test_choices(void **state) {
    (void)state;
    check_text("//@ function  mine(a: real[n], b: real) -> r: real[n]\n" HEAD
               "//@ example mine([1, 2, 3], 10) = [0, 12, 10]\n"
               "//@ threads   1\n"
               "for (int i = 0; i < n; ++i)\n"
               "    r(i) = select(i == 0, 0.0, select(i == 1, a(i) + b, b));\n"
               "//@ threads   n a(t) r(t)\n"
               "real s = b;\n"
               "r(t) = select(t == 0, 0.0, select(t == 1, a(t) + b, s));\n",
               0, "2 granularities run, 0 wrong", "");
}

/* What only some sizes allow, parameters without a value, tables, reductions, roots. */
static void test_more(void **state) {
    (void)state;
    check_text("//@ function  mine(J: real[d,d], c: real) -> r: real\n//@ kind map\n//@ flops "
               "d\n//@ source c/d!\n"
               "//@ parameter n\n"
               "//@ table w: real[q] = simplex_weights(d, n)\n"
               "//@ where d >= 2\n"
               "//@ example mine([[1, 0], [0, 1]], 6, n = 2) = 3\n"
               "//@ threads 1\nr = 0;\nif (d == 3)\n    r = 0 * J(2,2);\n"
               "for (int i = 0; i < q; ++i)\n    r += w(i) * c;\n",
               0, "1 granularity run, 0 wrong", "");
    check_text("//@ function  mine(a: real) -> r: real\n//@ kind reduce +\n//@ flops 2\n//@ source "
               "r = sum sqrt a\n//@ threads 1\nr = sqrt(a);\n",
               0, "1 granularity run, 0 wrong", "");
    check_text("//@ function  mine(a: real[n]) -> r: real[n]\n" HEAD
               "//@ where n > 9\n//@ threads 1\nfor (int i = 0; i < n; ++i)\n    r(i) = a(i);\n",
               2, "", "a.kernel.c:1:1: error: mine: no sizes and parameters from 1 to 4");
}

#define OF_MATRIX(result)                                                                          \
    "//@ function  mine(A: real[d,d]) -> y: " result "\n"                                          \
    "//@ kind      map\n//@ flops     d\n//@ source    a test\n"
#define HINT(d, other)                                                                             \
    "hint: if mine is not meant for d = " d                                                        \
    ", say so above its bodies, as in //@ where d == " other "\n"

/* A function that is right for some sizes only: the sizes that are tried are listed first, those
 * that it fails at are named, and the hint is a line with which it passes. */
static void test_sizes(void **state) {
    static const char determinant[] = "//@ threads   1\ny = A(0,0) * A(1,1) - A(0,1) * A(1,0);\n";
    static const struct {
        const char *head, *body, *message, *hint;
    } refused[] = {{OF_MATRIX("real"), determinant, "outside its size 1 (d = 1)\n", HINT("1", "2")},
                   {OF_MATRIX("real[d]") "//@ where d >= 2\n",
                    "//@ threads 1\ny(0) = A(0,0);\ny(1) = A(1,1);\n",
                    "component 2 of the result 'y', of 4, gets no value (d = 4)\n",
                    "; if mine is not meant for d = 4, say so"},
                   {OF_MATRIX("real"), "//@ threads 1\nreal h[d - 1];\nh[0] = A(0,0);\ny = h[0];\n",
                    "the array h would have the size 0 (d = 1)\n", HINT("1", "2")},
                   {OF_MATRIX("real") "//@ where d > 1\n",
                    "//@ threads 1\ny = A(4 / (d - 2), 0);\n",
                    "an integer division by zero (d = 2)\n", HINT("2", "3")},
                   {OF_MATRIX("real[d]"), "//@ threads d  A(:,:) y(t)\ny(t) = A(t,t + 1);\n",
                    "outside the size 2 (d = 2)\n", HINT("2", "3")}};
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        char *text = NULL;
        assert_true(asprintf(&text, "%s%s", refused[i].head, refused[i].body) > 0);
        check_text(text, 2, "", refused[i].message);
        check_text(text, 2, "", refused[i].hint);
        free(text);
    }
    check_text(OF_MATRIX("real") "//@ threads 1\ny = A(0,1);\n", 2,
               "sizes  mine  d = 1; d = 2; d = 4\n", "");
    check_text(OF_MATRIX("real") "//@ where d == 2\n"
                                 "//@ threads   1\ny = A(0,0) * A(1,1) - A(0,1) * A(1,0);\n",
               0, "sizes  mine  d = 2\n", "");
    /* a second body that is right up to d = 2 */
    check_text(
        OF_MATRIX("real[d]") "//@ threads 1\nfor (int i = 0; i < d; ++i)\n    y(i) = A(i,i);\n"
                             "//@ threads d A(:,:) y(t)\ny(t) = A(t,t) + select(d > 2, 1, 0);\n",
        1,
        "        hint: if mine is not meant for d = 4, say so above its bodies with a line //@ "
        "where\n",
        "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_starting_points),
                                       cmocka_unit_test(test_nothing_is_overwritten),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_wrong_bodies),
                                       cmocka_unit_test(test_patterns),
                                       cmocka_unit_test(test_emulated),
                                       cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_choices),
                                       cmocka_unit_test(test_more),
                                       cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
