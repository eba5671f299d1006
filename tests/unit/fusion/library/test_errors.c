/* labels: quick */
/* Wrong kernel files: each is refused with status, line, column, what is wrong and what to do.
 * Lines and columns are counted by hand in the texts below. */
#include "core/weft_core.h"
#include "fusion/library/function.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>

/* Five lines, so that bodies begin on line 6. */
#define HEAD                                                                                       \
    "//@ function f(A: real[m,n], s: real) -> C: real[m,n]\n"                                      \
    "//@ kind map\n"                                                                               \
    "//@ flops m*n\n"                                                                              \
    "//@ source none\n"                                                                            \
    "//@ threads 1\n"

typedef struct bad_file {
    const char *text;
    weft_status status;
    int line, column;
    const char *message, *hint; /* the message whole, a part of the hint */
} bad_file;

static const bad_file metadata[] = {
    {"", WEFT_ERROR_SYNTAX, 1, 1, "no '//@ function' line in this file", ""},
    {"int x;\n", WEFT_ERROR_SYNTAX, 1, 1, "code before a '//@ threads' line", "'//@ function'"},
    {"// a note\n\n//@ kind map\n", WEFT_ERROR_SYNTAX, 3, 5,
     "a kernel file begins with a '//@ function' line", ""},
    {"//@ function\n", WEFT_ERROR_SYNTAX, 1, 13, "expected a function's name, found the end", ""},
    {"//@ function f A\n", WEFT_ERROR_SYNTAX, 1, 16,
     "expected '(' after the function's name, found 'A'", ""},
    {"//@ function f(A real) -> C: real\n", WEFT_ERROR_SYNTAX, 1, 18,
     "expected ':' and the type after the name, found 'real'", ""},
    {"//@ function f(A: int) -> C: real\n", WEFT_ERROR_SYNTAX, 1, 19,
     "expected 'real' as the type (real, real[n] or real[m,n]), found 'int'", ""},
    {"//@ function f(A: real[n,n) -> C: real\n", WEFT_ERROR_SYNTAX, 1, 27,
     "expected ']' after the sizes, found ')'", ""},
    {"//@ function f(A: real, A: real) -> C: real\n", WEFT_ERROR_TYPE, 1, 25, "'A' is used twice",
     ""},
    {"//@ function f(A: real) : real\n", WEFT_ERROR_SYNTAX, 1, 25,
     "expected '->' and the result, found ':'", ""},
    {"//@ function f(t: real) -> C: real\n", WEFT_ERROR_SYNTAX, 1, 16,
     "'t' cannot be an argument's name: it is reserved", "or 't' (the thread)"},
    {"//@ function sqrt(x: real) -> C: real\n", WEFT_ERROR_SYNTAX, 1, 14,
     "'sqrt' cannot be a function's name: it is reserved", "an intrinsic"},
    {"//@ function f(A: real[n,n,n,n,n]) -> C: real\n", WEFT_ERROR_UNSUPPORTED, 1, 32,
     "more than four sizes", ""},
    {"//@ function f(A: real[n]) -> C: real extra\n", WEFT_ERROR_SYNTAX, 1, 39,
     "the line should end here, found 'extra'", ""},
    {"//@ function f(A: real) -> C: real[n]\n//@ kind map\n//@ flops 1\n//@ source none\n//@ "
     "threads 1\n"
     "C(0) = A;\n",
     WEFT_ERROR_TYPE, 1, 36, "nothing gives the size 'n' a value", "'//@ parameter' line"},
    {"//@ function f(A: real[m*n]) -> C: real\n//@ kind map\n//@ flops 1\n//@ source none\n//@ "
     "threads 1\n"
     "C = A(0);\n",
     WEFT_ERROR_TYPE, 1, 24, "nothing gives the size 'm' a value", "name + integer"},
    {"//@ function f(A: real) -> C: real\n//@ knid map\n", WEFT_ERROR_SYNTAX, 2, 5,
     "unknown line '//@ knid'", "did you mean 'kind'?"},
    {"//@ function f(A: real) -> C: real\n//@ shift B\n", WEFT_ERROR_TYPE, 2, 11,
     "a shift line names an argument of the function", ""},
    {"//@ function f(A: real) -> C: real\n//@ kind maps\n", WEFT_ERROR_SYNTAX, 2, 10,
     "unknown kind 'maps': expected map, or reduce with an operator", ""},
    {"//@ function f(A: real) -> C: real\n//@ kind reduce + 0\n", WEFT_ERROR_SYNTAX, 2, 10,
     "unknown operator '+ 0' of a reduction: expected +, *, min, max or the name of a function "
     "with "
     "an '//@ identity'",
     ""},
    {"//@ function f(A: real) -> C: real\n//@ kind reduce\n", WEFT_ERROR_SYNTAX, 2, 10,
     "unknown operator '' of a reduction: expected +, *, min, max or the name of a function with "
     "an "
     "'//@ identity'",
     ""},
    {"//@ function f(A: real over i, j, k, x: real) -> C: real\n", WEFT_ERROR_UNSUPPORTED, 1, 35,
     "a third index set 'k': functions have one or two", ""},
    {"//@ function f(A: real over i, i) -> C: real\n", WEFT_ERROR_TYPE, 1, 32, "'i' is used twice",
     ""},
    {"//@ function f(A: real over i, j, B: real over j, i) -> C: real\n", WEFT_ERROR_TYPE, 1, 51,
     "the order of the index sets is i, j everywhere", ""},
    {"//@ function f(x: real over i) -> C: real\n//@ kind map\n//@ flops 1\n//@ source none\n"
     "//@ threads 1\nC = x;\n",
     WEFT_ERROR_TYPE, 1, 35, "no argument of 'f' is over two index sets", ""},
    {"//@ function f(A: real over i, j) -> C: real over i, j\n//@ kind reduce +\n//@ flops 1\n"
     "//@ source none\n//@ threads 1\nC = A;\n",
     WEFT_ERROR_TYPE, 1, 38, "the result 'C' of a reduction is over both index sets", ""},
    {"//@ function f(A: real over i, j) -> C: real over i\n//@ kind map\n//@ flops 1\n"
     "//@ source none\n//@ threads 1\nC = A;\n",
     WEFT_ERROR_TYPE, 1, 38, "the result 'C' of a map is not over both index sets", ""},
    {"//@ function f(A: real[n]) -> C: real\n//@ flops 2*k\n", WEFT_ERROR_TYPE, 2, 13,
     "'k' is not known here", "sizes come from the signature"},
    {"//@ function f(A: real[size]) -> C: real\n//@ flops 2*sizes\n", WEFT_ERROR_TYPE, 2, 13,
     "'sizes' is not known here", "did you mean 'size'?"},
    {"//@ function f(A: real[n]) -> C: real\n//@ parameter degree = two\n", WEFT_ERROR_SYNTAX, 2,
     24, "expected the parameter's value, an integer", ""},
    {"//@ function f(A: real[n]) -> C: real\n//@ parameter A = 2\n", WEFT_ERROR_TYPE, 2, 15,
     "'A' is used twice", ""},
    {"//@ function f(A: real[n]) -> C: real\n//@ where n + 1\n", WEFT_ERROR_TYPE, 2, 13,
     "a where line is a comparison of sizes, such as n == d + 1", ""},
    {"//@ function f(A: real[n]) -> C: real\n//@ table w: real[q] simplex_weights(2)\n",
     WEFT_ERROR_SYNTAX, 2, 22, "expected '=' and what makes the table, found 'simplex_weights'",
     ""},
    {"//@ function f(A: real[n]) -> C: real\n//@ table w: real[q] = simplex_weights(k)\n",
     WEFT_ERROR_TYPE, 2, 40, "'k' is not known here", "lines above"},
    {"//@ function f(A: real) -> C: real\n//@ kind map\n//@ flops 1\n//@ threads 1\nC = A;\n",
     WEFT_ERROR_SYNTAX, 1, 1, "the function 'f' is not complete", "add a line '//@ source"},
    {"//@ function f(A: real) -> C: real\n//@ kind map\n//@ flops 1\n//@ source none\n",
     WEFT_ERROR_SYNTAX, 1, 1, "the function 'f' is not complete", "//@ threads 1"},
    {HEAD "C(0,0) = s;\n//@ flops 2\n", WEFT_ERROR_SYNTAX, 7, 5,
     "'flops' lines belong above the first '//@ threads' line", ""},
    {HEAD "\n//@ threads m\nC(t,0) = s;\n", WEFT_ERROR_SYNTAX, 5, 1, "no body below this line", ""},
    {HEAD "C(0,0) = s;\n//@ threads m A(t) C(t,:)\nC(t,0) = s;\n", WEFT_ERROR_TYPE, 7, 15,
     "'A' has 2 subscripts, 1 are given", ""},
    {HEAD "C(0,0) = s;\n//@ threads m B(t,:)\nC(t,0) = s;\n", WEFT_ERROR_TYPE, 7, 15,
     "expected an argument or the result with its subscripts, as in A(t,:), found B", ""},
    {HEAD
     "C(0,0) = s;\n//@ function f(A: real) -> C: real\n//@ kind map\n//@ flops 1\n//@ source none\n"
     "//@ threads 1\nC = A;\n",
     WEFT_ERROR_TYPE, 7, 1, "'f' is already defined in this file, on line 1", ""},
};

/* An operator of reductions: bodies begin on line 6. */
#define OPERATOR                                                                                   \
    "//@ function f(a: real, b: real) -> c: real\n"                                                \
    "//@ kind map\n"                                                                               \
    "//@ flops 1\n"                                                                                \
    "//@ source none\n"

static const bad_file operators[] = {
    {"//@ function g(a: real) -> c: real\n//@ kind reduce f\n//@ flops 1\n//@ source none\n"
     "//@ threads 1\nc = a;\n",
     WEFT_ERROR_TYPE, 2, 10, "there is no operator 'f'", "maps of two values"},
    {OPERATOR "//@ threads 1\nc = a + b;\n"
              "//@ function g(a: real) -> c: real\n//@ kind reduce f\n//@ flops 1\n"
              "//@ source none\n//@ threads 1\nc = a;\n",
     WEFT_ERROR_TYPE, 8, 10, "the map 'f' has no identity, so it is not an operator of reductions",
     "'//@ identity'"},
    {OPERATOR "//@ commutative\n//@ threads 1\nc = a + b;\n", WEFT_ERROR_TYPE, 5, 5,
     "'f' has no '//@ identity', so it is not an operator of reductions", ""},
    {OPERATOR "//@ commutative yes\n", WEFT_ERROR_SYNTAX, 5, 17,
     "the line should end here, found 'yes'", ""},
    {OPERATOR "//@ identity 0\n", WEFT_ERROR_SYNTAX, 5, 14, "the line should end here, found '0'",
     ""},
    {OPERATOR "//@ identity\nc = a;\n", WEFT_ERROR_TYPE, 6, 5, "'a' is not known here",
     "sizes and constants alone"},
    {OPERATOR "//@ identity\nc = t;\n", WEFT_ERROR_TYPE, 6, 5, "'t' is not known here",
     "sizes and constants alone"},
    {OPERATOR "//@ identity\n//@ threads 1\nc = a;\n", WEFT_ERROR_SYNTAX, 5, 1,
     "no body below this line", ""},
    {OPERATOR "//@ identity\nc = 0;\n//@ identity\nc = 0;\n", WEFT_ERROR_SYNTAX, 7, 5,
     "a second identity", ""},
    {OPERATOR "//@ threads 1\nc = a + b;\n//@ identity\nc = 0;\n", WEFT_ERROR_SYNTAX, 7, 5,
     "'identity' lines belong above the first '//@ threads' line", ""},
    {"//@ function f(a: real) -> c: real\n//@ kind map\n//@ flops 1\n//@ source none\n"
     "//@ identity\nc = 0;\n//@ threads 1\nc = a;\n",
     WEFT_ERROR_TYPE, 5, 1, "only a map of two values to one of the same type has an identity", ""},
    {"//@ function f(a: real over i) -> c: real\n//@ kind map\n//@ flops 1\n//@ source none\n"
     "//@ threads 1\nc = i;\n",
     WEFT_ERROR_TYPE, 1, 35, "no argument of 'f' is over two index sets", ""},
    {"//@ function f(a: real over i) -> c: real\n//@ kind reduce +\n//@ flops 1\n//@ source none\n"
     "//@ threads 1\ni = a;\nc = a;\n",
     WEFT_ERROR_TYPE, 6, 1, "'i' is the number of the element, which is read only", ""},
    {OPERATOR "//@ identity\nc = 0;\n//@ threads 2 c\nif (t == 0)\n    c = a;\n", WEFT_ERROR_TYPE,
     5, 1, "an operator needs a body for one thread: a line '//@ threads 1'", ""},
    {OPERATOR "//@ threads 1\nreal infinity = a;\nc = infinity + b;\n", WEFT_ERROR_SYNTAX, 6, 6,
     "'infinity' cannot be a local's name: it is reserved", "choose a name"},
};

/* Line 1 and 2, before HEAD: bodies begin on line 8. */
#define COMMON "//@ common twice\nreal x = 2 * s;\n"

static const bad_file commons[] = {
    {"//@ common\nx = 1;\n", WEFT_ERROR_SYNTAX, 1, 11,
     "expected a name of common statements, found the end", ""},
    {"//@ common a b\nx = 1;\n", WEFT_ERROR_SYNTAX, 1, 14, "the line should end here, found 'b'",
     ""},
    {"//@ common use\nx = 1;\n", WEFT_ERROR_SYNTAX, 1, 12,
     "'use' cannot be a name of common statements: it is reserved", "choose a name"},
    {"//@ common a\n\n" HEAD "C(0,0) = s;\n", WEFT_ERROR_SYNTAX, 1, 1,
     "no statements below this line", ""},
    {COMMON "//@ kind map\n", WEFT_ERROR_SYNTAX, 3, 5,
     "a kernel file begins with a '//@ function' line", ""},
    {COMMON HEAD "use thrice;\nC(0,0) = s;\n", WEFT_ERROR_TYPE, 8, 5,
     "there are no common statements 'thrice' above", "'//@ common NAME'"},
    {COMMON HEAD "use ;\nC(0,0) = s;\n", WEFT_ERROR_TYPE, 8, 5,
     "there are no common statements ';' above", "'//@ common NAME'"},
    {COMMON HEAD "use twice\nC(0,0) = x;\n", WEFT_ERROR_SYNTAX, 9, 1,
     "expected ';' after the name, found 'C'", ""},
    {COMMON HEAD "real y = 1; use twice;\nC(0,0) = x;\n", WEFT_ERROR_SYNTAX, 8, 13,
     "put 'use twice;' on a line of its own", ""},
    {COMMON HEAD "use twice; C(0,0) = x;\n", WEFT_ERROR_SYNTAX, 8, 1,
     "put 'use twice;' on a line of its own", ""},
    {COMMON HEAD "if (m == 1)\n    use twice;\nC(0,0) = s;\n", WEFT_ERROR_SYNTAX, 9, 5,
     "'use' belongs between statements of a body or of a block", "braces"},
    {COMMON HEAD "use twice;\nuse twice;\nC(0,0) = x;\n", WEFT_ERROR_TYPE, 9, 1,
     "'x' already means something here: choose another name", "'//@ common twice', bad.kernel.c:1"},
    /* neither itself nor statements below */
    {"//@ common a\nuse a;\n" HEAD "use a;\nC(0,0) = s;\n", WEFT_ERROR_TYPE, 8, 1,
     "there are no common statements 'a' above", "'//@ common NAME'"},
};

static const bad_file bodies[] = {
    {HEAD "return;\n", WEFT_ERROR_SYNTAX, 6, 1, "no 'return' in a body",
     "the last statement ends it"},
    {HEAD "goto end;\n", WEFT_ERROR_SYNTAX, 6, 1, "no 'goto' in a body", ""},
    {HEAD "while (1) ;\n", WEFT_ERROR_SYNTAX, 6, 1, "no 'while' in a body", "a bound in sizes"},
    {HEAD "real x;\ndouble y = 0;\n", WEFT_ERROR_SYNTAX, 7, 1, "write 'real' for data",
     "float or double"},
    {HEAD "real *p = A;\n", WEFT_ERROR_SYNTAX, 6, 6, "expected a local's name, found *", ""},
    {HEAD "C(0,0) = *s;\n", WEFT_ERROR_SYNTAX, 6, 10,
     "no pointers: data is read and written by A(i,j)", ""},
    {HEAD "C(0,0) = printf(s);\n", WEFT_ERROR_TYPE, 6, 10, "'printf' is not known here",
     "intrinsics"},
    {HEAD "C(0,0) = sqr(s);\n", WEFT_ERROR_TYPE, 6, 10, "'sqr' is not known here",
     "did you mean 'sqrt'?"},
    {HEAD "C(0,0) = B(0,0);\n", WEFT_ERROR_TYPE, 6, 10, "'B' is not known here",
     "the arguments and result"},
    {HEAD "C(0,0) = A(0);\n", WEFT_ERROR_TYPE, 6, 11, "'A' has 2 subscripts, 1 is given", ""},
    {HEAD "C(0,0) = s(0);\n", WEFT_ERROR_TYPE, 6, 11, "'s' has 0 subscripts, 1 is given",
     "by its plain name"},
    {HEAD "C(0,0) = A(s,0);\n", WEFT_ERROR_TYPE, 6, 12,
     "a subscript is an integer expression in sizes and indices", ""},
    {HEAD "C(0,0) = s\nC(0,1) = s;\n", WEFT_ERROR_SYNTAX, 7, 1,
     "expected ';' after the assignment, found 'C'", ""},
    {HEAD "A(0,0) = s;\n", WEFT_ERROR_TYPE, 6, 1,
     "'A' is an argument, which is read only: assign to the result or to a local", ""},
    {HEAD "m = 2;\n", WEFT_ERROR_TYPE, 6, 1, "'m' cannot be assigned to", ""},
    {HEAD "int i = 0;\ni = 1;\n", WEFT_ERROR_TYPE, 7, 1,
     "'i' an int keeps its first value: declare another one, or use a for loop", ""},
    {HEAD "int i;\n", WEFT_ERROR_SYNTAX, 6, 6, "an int needs its value here, and keeps it",
     "int i = t / n;"},
    {HEAD "real m = 0;\n", WEFT_ERROR_TYPE, 6, 6,
     "'m' already means something here: choose another name", ""},
    {HEAD "real v_x = 0;\n", WEFT_ERROR_SYNTAX, 6, 6,
     "'v_x' cannot be a local's name: it is reserved", "does not begin with v_"},
    {HEAD "real LANES = 0;\n", WEFT_ERROR_SYNTAX, 6, 6,
     "'LANES' cannot be a local's name: it is reserved", "a small letter"},
    {HEAD "real abs_ = 0;\n", WEFT_ERROR_SYNTAX, 6, 6,
     "'abs_' cannot be a local's name: it is reserved", "does not end with _"},
    {HEAD "if (s > 0) C(0,0) = s;\n", WEFT_ERROR_TYPE, 6, 7, "'if' may not depend on data",
     "use select(condition, a, b)"},
    {HEAD "C(0,0) = s > 0 ? s : 1;\n", WEFT_ERROR_SYNTAX, 6, 16,
     "no '?': use select(condition, a, b), which runs in lanes", ""},
    {HEAD "C(0,0) = s > 0;\n", WEFT_ERROR_TYPE, 6, 12,
     "the value is a comparison, and should be a value: use select(condition, a, b)", ""},
    {HEAD "C(0,0) = select(s, 1, 2);\n", WEFT_ERROR_TYPE, 6, 17,
     "select needs a comparison first: select(a < b, x, y)", ""},
    {HEAD "C(0,0) = sqrt(s, s);\n", WEFT_ERROR_TYPE, 6, 10, "sqrt takes 1 argument, 2 are given",
     ""},
    {HEAD "C(0,0) = min(s);\n", WEFT_ERROR_TYPE, 6, 10, "min takes 2 arguments, 1 is given", ""},
    {HEAD "C(0,0) = min(s, s;\n", WEFT_ERROR_SYNTAX, 6, 18,
     "expected ')' after the arguments, found ';'", ""},
    {HEAD "C(0,0) = s * (1 / m);\n", WEFT_ERROR_TYPE, 6, 17,
     "this divides integers, which cuts off the fraction", "1.0 / (d + 1)"},
    {HEAD "C(0,0) = (int)s;\n", WEFT_ERROR_SYNTAX, 6, 11,
     "no casts: integers become reals where they meet one", ""},
    {HEAD "C(0,0) = 1.0f * s;\n", WEFT_ERROR_SYNTAX, 6, 10,
     "a number with a suffix: write it without (2 or 0.5 or 1e-3)", ""},
    {HEAD "#define X 1\n", WEFT_ERROR_SYNTAX, 6, 1,
     "kernel bodies have no preprocessor: '#' is not allowed", ""},
    {HEAD "C(0,0) = \"s\";\n", WEFT_ERROR_SYNTAX, 6, 10, "the character '\"' is not allowed here",
     ""},
    {HEAD "/* open\nC(0,0) = s;\n", WEFT_ERROR_SYNTAX, 6, 1,
     "this comment does not end: '*/' is missing", ""},
    {HEAD "{\n  C(0,0) = s;\n", WEFT_ERROR_SYNTAX, 6, 1, "this '{' is not closed", ""},
    {HEAD "for (i = 0; i < m; ++i) ;\n", WEFT_ERROR_SYNTAX, 6, 6,
     "expected 'int' to declare the loop's variable, found 'i'", ""},
    {HEAD "for (int i = 0; i < m; --i) ;\n", WEFT_ERROR_SYNTAX, 6, 27,
     "this loop steps away from its bound", ""},
    {HEAD "for (int i = 0; i != m; ++i) ;\n", WEFT_ERROR_SYNTAX, 6, 19,
     "expected <, <=, > or >= and the loop's bound", ""},
    {HEAD "for (int i = 0; i < m; i *= 2) ;\n", WEFT_ERROR_SYNTAX, 6, 26,
     "expected the loop's step", "i += 2 or i -= 2"},
    {HEAD "real g[3] = s;\n", WEFT_ERROR_SYNTAX, 6, 13,
     "an array is declared without values: assign to its components", ""},
    {HEAD "real x = s;\n", WEFT_ERROR_TYPE, 6, 1, "this body never sets its result 'C'", ""},
};

static void check_files(const bad_file *files, size_t n) {
    weft_library *library = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    size_t size = weft_library_size(library);
    for (size_t i = 0; i < n; ++i) {
        weft_error error = {0};
        weft_status status = weft_library_add_text(library, "bad.kernel.c", files[i].text, &error);
        if (status != files[i].status || error.line != files[i].line ||
            error.column != files[i].column || strcmp(error.message, files[i].message) != 0 ||
            !strstr(error.hint, files[i].hint) ||
            (files[i].hint[0] == '\0') != (error.hint[0] == '\0')) {
            char text[4096];
            weft_error_text(&error, text, sizeof text);
            fail_msg("case %zu should be %d:%d: %s (%s), but is\n%s", i, files[i].line,
                     files[i].column, files[i].message, files[i].hint, text);
        }
        assert_string_equal(error.file, "bad.kernel.c");
        assert_true(error.source_line[0] != '\0' || files[i].text[0] == '\0');
        assert_int_equal(weft_library_size(library), size); /* nothing of a wrong file is kept */
    }
    weft_library_free(&library);
}

static void test_metadata(void **state) {
    (void)state;
    check_files(metadata, sizeof metadata / sizeof *metadata);
}

static void test_commons(void **state) {
    (void)state;
    check_files(commons, sizeof commons / sizeof *commons);
    check_files(operators, sizeof operators / sizeof *operators);
}

static void test_bodies(void **state) {
    (void)state;
    check_files(bodies, sizeof bodies / sizeof *bodies);
}

/* The whole text as the user sees it, once. */
static void test_caret(void **state) {
    (void)state;
    weft_library *library = NULL;
    weft_error error = {0};
    char text[4096];
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(
        weft_library_add_text(library, "my/bad.kernel.c", HEAD "    C(0,0) = sqr(s);\n", &error),
        WEFT_ERROR_TYPE);
    weft_error_text(&error, text, sizeof text);
    assert_string_equal(text, "my/bad.kernel.c:6:14: error: 'sqr' is not known here\n"
                              "        C(0,0) = sqr(s);\n"
                              "                 ^\n"
                              "hint: did you mean 'sqrt'?");
    weft_library_free(&library);
}

/* Adversarial sizes: deep nesting, long chains and many locals are refused, not followed. */
static void test_limits(void **state) {
    (void)state;
    static const struct {
        const char *open, *repeat, *close;
        int n;
    } texts[] = {{"C(0,0) = ", "(", "s;", 5000},
                 {"C(0,0) = s", " + s", ";", 5000},
                 {"C(0,0) = ", "-", "s;", 5000},
                 {"", "{", "C(0,0) = s;", 5000},
                 {"", "if (m == 1) ", "C(0,0) = s;", 5000},
                 {"C(0,0) = ", "sqrt(", "s;", 5000}};
    weft_library *library = NULL;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        weft_text text = {0};
        weft_error error = {0};
        weft_text_add(&text, HEAD "%s", texts[i].open);
        for (int k = 0; k < texts[i].n; ++k)
            weft_text_add(&text, "%s", texts[i].repeat);
        weft_text_add(&text, "%s\n", texts[i].close);
        assert_false(text.failed);
        assert_int_not_equal(weft_library_add_text(library, "deep", text.data, &error), WEFT_OK);
        assert_int_equal(error.line, 6);
        weft_text_free(&text);
    }
    weft_library_free(&library);
}

/* Does the generated text of a script that calls f contain this? */
static void check_text(weft_library *library, const char *on, const char *text, bool wanted) {
    weft_error error = {0};
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment script = {"f.weft", "index S;\ninput A : real[1,1] over S;\n"
                                            "input s : real over S;\nC = f(A, s);\nreturn C;\n"};
    assert_int_equal(weft_device_open(on, NULL, &device, &error), WEFT_OK);
    assert_int_equal(
        weft_compile(library, weft_device_limits(device), &script, 1, NULL, &compilation, &error),
        WEFT_OK);
    assert_int_equal(strstr(weft_compilation_source(compilation), text) != NULL, wanted);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
}

/* Bodies that are generated have some thousand locals; absurd numbers are refused. */
static void test_many_locals(void **state) {
    (void)state;
    for (int refused = 0; refused < 2; ++refused) {
        weft_library *library = NULL;
        weft_text text = {0};
        weft_error error = {0};
        const int n = refused ? WEFT_LOCALS_MAX + 1 : 5000;
        assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
        weft_text_add(&text, HEAD "real t0 = s;\n");
        for (int k = 1; k < n; ++k)
            weft_text_add(&text, "real t%d = t%d + 1;\n", k, k - 1);
        weft_text_add(&text, "C(0,0) = t%d;\n", n - 1);
        assert_false(text.failed);
        const weft_status status = weft_library_add_text(library, "many", text.data, &error);
        assert_int_equal(status, refused ? WEFT_ERROR_UNSUPPORTED : WEFT_OK);
        if (refused) {
            assert_string_equal(error.message,
                                "more than 20000 locals in one body: split the function");
            assert_int_equal(error.line, 6 + WEFT_LOCALS_MAX);
        } else {
            check_text(library, "null", "real t4999 = t4998 + ", true);
        }
        weft_text_free(&text);
        weft_library_free(&library);
    }
}

/* NVRTC does not unroll the loops of a body that would then have very many statements; it may those of others. */
static void test_large_loops(void **state) {
    (void)state;
    for (int large = 0; large < 2; ++large) {
        weft_library *library = NULL;
        weft_error error = {0};
        char text[600];
        snprintf(text, sizeof text,
                 HEAD "C(0,0) = 0;\nfor (int i = 0; i < %d; ++i) {\n"
                      "for (int j = 0; j < 300; ++j) {\nC(0,0) += s;\n}\n}\n",
                 large ? 300 : 30);
        assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
        assert_int_equal(weft_library_add_text(library, "loops", text, &error), WEFT_OK);
        check_text(library, "null:h200", "#pragma unroll 1\n", large);
        check_text(library, "null", "#pragma unroll 1\n", false);
        weft_library_free(&library);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),    cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_commons),     cmocka_unit_test(test_caret),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_many_locals),
        cmocka_unit_test(test_large_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
