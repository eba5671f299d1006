/* labels: quick */
/* Bodies as generated code: the text for hand-made functions, and its meaning with every compiler
 * there is. */
#include "core/weft_core.h"
#include "fusion/library/library.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(signature) "//@ function f" signature "\n//@ kind map\n//@ flops 1\n//@ source none\n"

/* A table of 1, 2, 4, 8, ..., as many as the argument says. */
static weft_status powers(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                          weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    (void)error;
    out->rank = 1;
    out->sizes[0] = arguments[0];
    out->values = weft_arena_alloc(arena, (size_t)arguments[0], sizeof *out->values);
    assert_non_null(out->values);
    for (int i = 0; i < arguments[0]; ++i)
        out->values[i] = ldexp(1, i);
    return WEFT_OK;
}

typedef struct body_case {
    const char *text;
    int n;
    weft_shape shapes[2];
    int variant;
    weft_body_style style;
    int offset; /* of the first argument */
    const char *expected;
} body_case;

#define VECTOR                                                                                     \
    { "SPLAT", "t", "", 0, NULL, false, NULL }
#define PLAIN                                                                                      \
    { NULL, "t", "", 0, NULL, false, NULL }

static const body_case cases[] = {
    /* places: offsets and strides are summed; scalars have no subscripts */
    {HEAD("(A: real[m,n], s: real) -> y: real") "//@ threads 1\ny = A(1,2) * s;\n",
     2,
     {{2, {2, 3}}},
     0,
     VECTOR,
     7,
     "v_r[0] = v_a[12] * v_b[0];\n"},
    {HEAD("(A: real[m,n]) -> B: real[n,m]") "//@ threads m*n\nB(t % n,t / n) = A(t / n,t % n);\n",
     1,
     {{2, {2, 3}}},
     0,
     VECTOR,
     4,
     "v_r[t % 3 * 2 + t / 3] = v_a[t / 3 * 3 + t % 3 + 4];\n"},
    {HEAD("(x: real[n]) -> y: real[n]") "//@ threads n\ny(n - 1 - t) = x(t);\n",
     1,
     {{1, {4}}},
     0,
     VECTOR,
     0,
     "v_r[3 - t] = v_a[t];\n"},
    /* one thread is thread 0, and so is a style that says which */
    {HEAD("(x: real[n]) -> y: real[n]") "//@ threads n\ny(n - 1 - t) = x(t);\n",
     1,
     {{1, {1}}},
     0,
     VECTOR,
     0,
     "v_r[0] = v_a[0];\n"},
    {HEAD("(x: real[n]) -> y: real[n]") "//@ threads n\ny(n - 1 - t) = x(t);\n",
     1,
     {{1, {4}}},
     0,
     {"SPLAT", "1", "", 0, NULL, false, NULL},
     0,
     "v_r[2] = v_a[1];\n"},
    /* loops unroll, ints and sizes become numbers, braces only round declarations */
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\nreal s = 0;\nfor (int i = 0; i < n; ++i) { "
                                     "int j = n - 1 - i; s += "
                                     "x(j); }\ny = s;\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "real s = SPLAT(0.0);\ns += v_a[1];\ns += v_a[0];\nv_r[0] = s;\n"},
    {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\nfor (int i = n - 1; i >= 0; i -= 2) { real "
                                        "a = x(i); y(i) = a * "
                                        "a; }\ny(1) = x(1);\n",
     1,
     {{1, {3}}},
     0,
     VECTOR,
     0,
     "{\n    real a = v_a[2];\n    v_r[2] = a * a;\n}\n{\n    real a = v_a[0];\n    v_r[0] = a * "
     "a;\n}\nv_r[1] = v_a[1];\n"},
    /* branches on sizes leave one side, and the other may be out of range */
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\nif (n == 2) y = x(1); else if (n == 1 && n < "
                                     "9) y = x(0); else y = "
                                     "x(2);\n",
     1,
     {{1, {1}}},
     0,
     VECTOR,
     0,
     "v_r[0] = v_a[0];\n"},
    /* what a thread decides stays a branch */
    {HEAD("(x: real[n]) -> y: real[n]") "//@ threads n\nif (t == 0 || t > n - 2) y(t) = x(t); else "
                                        "{ y(t) = 0.5; }\n",
     1,
     {{1, {4}}},
     0,
     {"SPLAT", "t", "  ", 0, NULL, false, NULL},
     0,
     "  if (t == 0 || t > 2) {\n      v_r[t] = v_a[t];\n  } else {\n      v_r[t] = SPLAT(0.5);\n  "
     "}\n"},
    /* constants are folded, in scalar code they are cast so that float stays float */
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = x(0) * (1.0 / (n * (n + 1))) + 2;\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "v_r[0] = v_a[0] * (scalar)0.16666666666666666 + 2.0;\n"},
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = 0.5 * x(0) - 3;\n",
     1,
     {{1, {2}}},
     0,
     PLAIN,
     0,
     "v_r[0] = (scalar)0.5 * v_a[0] - 3;\n"},
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = -1 * (x(0) - (x(1) - 1));\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "v_r[0] = (scalar)-1.0 * (v_a[0] - (v_a[1] - 1.0));\n"},
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = x(0) / (x(1) / 1.0) * 1;\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "v_r[0] = v_a[0] / v_a[1];\n"},
    /* intrinsics and select */
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = select(x(0) < 0 && !(x(1) >= 2), sqrt(2), "
                                     "max(x(0), 0));\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "v_r[0] = weft_select(((v_a[0]) < (SPLAT(0.0))) & (~((v_a[1]) >= (SPLAT(2.0)))), "
     "weft_sqrt(SPLAT(2.0)), "
     "weft_max(v_a[0], SPLAT(0.0)));\n"},
    {HEAD("(x: real[n]) -> y: real[n]") "//@ threads n\ny(t) = x(t) * select(t == 0, 2.0, 1.0) * "
                                        "select(n == 2, 3.0, "
                                        "4.0);\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "v_r[t] = v_a[t] * (t == 0 ? (real)(SPLAT(2.0)) : (real)(SPLAT(1.0))) * 3.0;\n"},
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = pow(x(0), n) + pow(x(1), 0.5);\n",
     1,
     {{1, {2}}},
     0,
     VECTOR,
     0,
     "v_r[0] = weft_powi(v_a[0], 2) + weft_pow(v_a[1], SPLAT(0.5));\n"},
    /* tables: entries where the subscript is known, an array where it is not; ints meet reals by a
       cast */
    {HEAD("(x: real[n]) -> y: real") "//@ table w: real[q] = powers(n)\n//@ threads 1\ny = x(0) * "
                                     "(w(2) + w(1));\n",
     1,
     {{1, {3}}},
     0,
     VECTOR,
     0,
     "v_r[0] = v_a[0] * 6.0;\n"},
    {HEAD("(x: real[n]) -> y: real[n]") "//@ table w: real[q] = powers(n)\n//@ threads n\ny(t) = "
                                        "x(t) * (w(t) * 3 + t);\n",
     1,
     {{1, {3}}},
     0,
     VECTOR,
     0,
     "static const scalar w[3] = {\n        1, 2, 4};\nv_r[t] = v_a[t] * (scalar)((scalar)(w[t] * "
     "3.0) + "
     "(scalar)(t));\n"},
    /* arrays */
    {HEAD("(x: real[n]) -> y: real") "//@ threads 1\nreal h[n][2];\nh[1][0] = x(0);\nh[1][0] *= "
                                     "2;\ny = h[1][0];\n",
     1,
     {{1, {3}}},
     0,
     VECTOR,
     0,
     "real h[3][2];\nh[1][0] = v_a[0];\nh[1][0] *= SPLAT(2.0);\nv_r[0] = h[1][0];\n"},
};

static void emit(const body_case *c, weft_status expected, weft_text *text, weft_error *error) {
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_specialisation *specialisation = NULL;
    weft_accessor arguments[] = {{.base = "v_a", .offset = c->offset}, {.base = "v_b"}},
                  result = {.base = "v_r"};
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_library_add_table(library, "powers", 1, powers, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    weft_status status = weft_library_add_text(library, "body", c->text, error);
    if (status != WEFT_OK)
        fail_msg("%s\n%s", error->message, c->text);
    status = weft_specialisation_make(
        arena, library,
        &(weft_element_request){.function = weft_library_find(library, "f"),
                                .arguments = c->shapes,
                                .n_arguments = c->n},
        &specialisation, error);
    if (status != WEFT_OK)
        fail_msg("%s\n%s", error->message, c->text);
    status = weft_body_emit(specialisation, c->variant, arguments, &result, &c->style, text, error);
    if (status != expected)
        print_error("%s\n%s\n", error->message, c->text);
    assert_int_equal(status, expected);
    weft_arena_free(&arena);
    weft_library_free(&library);
}

static void test_text(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_text text = {0};
        weft_error error = {0};
        emit(&cases[i], WEFT_OK, &text, &error);
        assert_string_equal(text.data, cases[i].expected);
        weft_text_free(&text);
    }
}

/* A loop that is too long stays one; what is known inside it is still folded. */
static void test_long_loops(void **state) {
    (void)state;
    static const body_case c = {
        HEAD("(A: real[n,n]) -> y: real[n]") "//@ threads 1\nfor (int i = 0; i < n; ++i) {\n    "
                                             "real s = 0;\n    for (int j = 0; j < n; ++j)\n"
                                             "        for (int k = i; k < n; ++k)\n            s "
                                             "+= A(j,k) * (n - 1);\n    y(i) = s;\n}\n",
        1,
        {{2, {20, 20}}},
        0,
        VECTOR,
        3,
        "for (int i = 0; i < 20; ++i) {\n    real s = SPLAT(0.0);\n    for (int j = 0; j < 20; "
        "++j) {\n"
        "        for (int k = i; k < 20; ++k) {\n            s += v_a[j * 20 + k + 3] * 19.0;\n    "
        "    }\n    }\n"
        "    v_r[i] = s;\n}\n"};
    weft_text text = {0};
    weft_error error = {0};
    emit(&c, WEFT_OK, &text, &error);
    assert_string_equal(text.data, c.expected);
    weft_text_free(&text);
}

/* Inside a loop that stays one, a loop whose targets its counter addresses stays one too. One whose targets become
 * constant subscripts is unrolled. */
static void test_varying_targets(void **state) {
    (void)state;
    static const body_case c = {
        HEAD("(x: real[n]) -> A: real[n,n]") "//@ threads 1\nfor (int i = 0; i < n; ++i) {\n    "
                                             "real h[2];\n"
                                             "    for (int j = 0; j < 2; ++j)\n        h[j] = "
                                             "x(i);\n"
                                             "    for (int j = 0; j < n; ++j)\n        A(i,j) = "
                                             "x(j) * h[1];\n}\n",
        1,
        {{1, {20}}},
        0,
        VECTOR,
        0,
        "for (int i = 0; i < 20; ++i) {\n    real h[2];\n    h[0] = v_a[i];\n    h[1] = v_a[i];\n"
        "    for (int j = 0; j < 20; ++j) {\n        v_r[i * 20 + j] = v_a[j] * h[1];\n    }\n}\n"};
    weft_text text = {0};
    weft_error error = {0};
    emit(&c, WEFT_OK, &text, &error);
    assert_string_equal(text.data, c.expected);
    weft_text_free(&text);
}

/* Large tables are read through the prelude's TABLE. */
static void test_large_tables(void **state) {
    (void)state;
    for (int n = 999; n <= 1000; ++n) {
        const body_case c = {HEAD("(x: real[n]) -> y: real") "//@ table w: real[n] = powers(n)\n"
                                                             "//@ threads 1\ny = 0;\n"
                                                             "for (int i = 0; i < n; ++i)\n"
                                                             "    y += x(i) * w(i);\n",
                             1,
                             {{1, {n}}},
                             0,
                             VECTOR,
                             0,
                             NULL};
        weft_text text = {0};
        weft_error error = {0};
        emit(&c, WEFT_OK, &text, &error);
        assert_int_equal(strstr(text.data, "const scalar *w = TABLE(w_numbers);") != NULL,
                         n == 1000);
        assert_non_null(strstr(text.data, "v_r[0] += v_a[i] * w[i];"));
        weft_text_free(&text);
    }
}

static void test_out_of_range(void **state) {
    (void)state;
    static const struct {
        body_case c;
        int line, column;
        const char *message;
    } wrong[] = {
        {{HEAD("(x: real[n]) -> y: real") "//@ threads 1\nfor (int i = 0; i <= n; ++i) y = x(i);\n",
          1,
          {{1, {2}}},
          0,
          VECTOR,
          0,
          NULL},
         6,
         34,
         "f: subscript 1 of x is 2 here, outside its size 2 (n = 2)"},
        {{HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\ny(0) = x(0);\ny(n - 3) = x(0);\n",
          1,
          {{1, {2}}},
          0,
          VECTOR,
          0,
          NULL},
         7,
         1,
         "f: subscript 1 of y is -1 here, outside its size 2 (n = 2)"},
        {{HEAD("(x: real[n]) -> y: real") "//@ threads 1\nreal h[2];\nh[n] = x(0);\ny = x(0);\n",
          1,
          {{1, {2}}},
          0,
          VECTOR,
          0,
          NULL},
         7,
         1,
         "f: subscript 1 of h is 2 here, outside its size 2 (n = 2)"},
        {{HEAD("(x: real[n]) -> y: real") "//@ threads 1\nreal h[n - 2];\ny = x(0);\n",
          1,
          {{1, {2}}},
          0,
          VECTOR,
          0,
          NULL},
         6,
         6,
         "f: the array h would have the size 0 (n = 2)"},
        {{HEAD("(x: real[n]) -> y: real") "//@ threads 1\ny = x(1 / (n - 2));\n",
          1,
          {{1, {2}}},
          0,
          VECTOR,
          0,
          NULL},
         6,
         9,
         "f: an integer division by zero (n = 2)"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        weft_text text = {0};
        weft_error error = {0};
        emit(&wrong[i].c, WEFT_ERROR_TYPE, &text, &error);
        assert_string_equal(error.message, wrong[i].message);
        assert_string_equal(error.file, "body");
        assert_int_equal(error.line, wrong[i].line);
        assert_int_equal(error.column, wrong[i].column);
        weft_text_free(&text);
    }
}

/* What is read has a value, and the result gets all of its values; what cannot be known is left. */
static void test_values(void **state) {
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: all is well */
        int line, column;
    } bodies[] = {
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\nfor (int i = 0; i < n; ++i)\n    y(0) "
                                            "+= x(i);\n",
         "f: 'y' is read here and has no value yet (n = 3)", 7, 5},
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\nreal s;\ny(0) = s;\n",
         "f: 's' is read here and has no value yet (n = 3)", 7, 8},
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\nreal h[2];\nh[0] = 1;\nfor (int i = 0; "
                                            "i < n; ++i)\n    y(i) = h[1];\n",
         "f: 'h' is read here and has no value yet (n = 3)", 9, 12},
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\ny(0) = x(0);\ny(2) = y(1);\n",
         "f: 'y' is read here and has no value yet (n = 3)", 7, 8},
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\ny(0) = x(0);\ny(2) = x(1);\n",
         "f: component 1 of the result 'y', of 3, gets no value (n = 3)", 5, 1},
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\nreal s;\nfor (int i = 0; i < 1000; ++i)"
                                            "\n    s += x(0);\ny(0) = s;\n",
         "f: 's' is read here and has no value yet (n = 3)", 8, 5},
        /* declared again in each iteration of a loop */
        {HEAD(
             "(x: real[n]) -> y: real[n]") "//@ threads 1\nfor (int i = 0; i < n; ++i) {\n    real "
                                           "s;\n    if (i == 0)\n        s = 0;\n    y(i) = s;\n}"
                                           "\n",
         "f: 's' is read here and has no value yet (n = 3)", 10, 12},
        {HEAD("(x: real[n]) -> y: real[n]") "//@ threads 1\ny(0) = x(0);\nfor (int i = 1; i < n; "
                                            "++i)\n    y(i) = y(i - 1) + x(i);\n",
         NULL, 0, 0},
        {HEAD(
             "(x: real[n]) -> y: real[n]") "//@ threads n\nreal s;\nif (t == 0)\n    s = 0;\nif (t "
                                           "> 0)\n    s = 1;\ny(t) = s;\n",
         NULL, 0, 0},
        {HEAD(
             "(x: real[n]) -> y: real[n]") "//@ threads 1\nreal s;\nfor (int i = 0; i < 1000; ++i)"
                                           " {\n    if (i % 7 == 0)\n        s = 0;\n    s += x(0);"
                                           "\n}\nfor (int i = 0; i < n; ++i)\n    y(i) = s;\n",
         NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i) {
        weft_text text = {0};
        weft_error error = {0};
        body_case c = {.text = bodies[i].text, .n = 1, .shapes = {{1, {3}}}, .style = VECTOR};
        emit(&c, bodies[i].message ? WEFT_ERROR_TYPE : WEFT_OK, &text, &error);
        assert_string_equal(error.message, bodies[i].message ? bodies[i].message : "");
        assert_int_equal(error.line, bodies[i].line);
        assert_int_equal(error.column, bodies[i].column);
        weft_text_free(&text);
    }
}

/* ---- what the code means --------------------------------------------------------------------- */

/* Everything that a body may contain, with values that are known by mathematics. */
static const char everything[] =
    HEAD("(x: real[n], s: real) -> y: real[k]") "//@ parameter k = 10\n//@ table w: real[n] = "
                                                "powers(n)\n//@ threads k\n"
                                                "real a[3];\n"
                                                "for (int i = 0; i < 3; ++i)\n    a[i] = 0.1 * i;\n"
                                                "if (t == 0) y(0) = a[0] + a[1] + a[2];\n" /* 0.3 */
                                                "if (t == 1) y(1) = select(x(0) < s || x(0) > 4 * "
                                                "s, -1, 1);\n" /* sign by range */
                                                "if (t == 2) y(2) = min(abs(x(0)), 0.75) + "
                                                "max(x(1), -0.25);\n"
                                                "if (t == 3) y(3) = pow(x(0), 3) * pow(abs(x(1)), "
                                                "1.5);\n"
                                                "if (t == 4) y(4) = exp(log(2 + x(0))) - sqrt(x(1) "
                                                "* x(1));\n"
                                                "if (t == 5) { y(5) = sin(x(0)) * sin(x(0)); y(5) "
                                                "+= cos(x(0)) * cos(x(0)); }\n"
                                                "if (t == 6) y(6) = tan(x(0)) - sin(x(0)) / "
                                                "cos(x(0)) + tanh(0);\n"
                                                "if (t == 7) { real b = 0; for (int i = 0; i < n; "
                                                "++i) b += w(i) * x(i % 2); y(7) = b; }\n"
                                                "if (t >= 8) y(t) = (w(t - 8) * 0.3 + t) * s;\n";

static double expected_at(int t, const double *x, double s, int n) {
    double b = 0;
    switch (t) {
    case 0:
        return 0.3;
    case 1:
        return x[0] < s || x[0] > 4 * s ? -1 : 1;
    case 2:
        return fmin(fabs(x[0]), 0.75) + fmax(x[1], -0.25);
    case 3:
        return x[0] * x[0] * x[0] * fabs(x[1]) * sqrt(fabs(x[1]));
    case 4:
        return 2 + x[0] - fabs(x[1]);
    case 5:
        return 1;
    case 6:
        return 0;
    case 7:
        for (int i = 0; i < n; ++i)
            b += ldexp(x[i % 2], i);
        return b;
    default:
        return (ldexp(0.3, t - 8) + t) * s;
    }
}

static void run_everything(const char *compiler, bool single) {
    enum { N = 11, COMPONENTS = 3, RESULTS = 10 };
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *memory[2] = {NULL};
    weft_device_options options = weft_device_options_default(NULL);
    options.compiler = compiler;
    assert_int_equal(weft_device_open("host:1", &options, &device, &error), WEFT_OK);
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_library_add_table(library, "powers", 1, powers, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_library_add_text(library, "everything", everything, &error), WEFT_OK);
    weft_fragment fragment = {
        "s", "index N; input x : real[3] over N; input s : real;\ny = f(x, s); return y;\n"};
    weft_compile_options compile = {.size = sizeof compile, .single = single};
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &compile,
                                  &compilation, &error),
                     WEFT_OK);
    if (weft_program_make(device, compilation, &program, &error) != WEFT_OK)
        fail_msg("%s: %s", compiler, error.message);
    assert_int_equal(weft_program_size(program, "N", N, &error), WEFT_OK);
    int lanes = weft_program_lanes(program);
    size_t padded = (size_t)((N + lanes - 1) / lanes * lanes);
    double *plain = calloc(padded * COMPONENTS, sizeof *plain),
           *values = calloc(padded * RESULTS, sizeof *values);
    double *results = calloc(padded * RESULTS, sizeof *results);
    float *floats = calloc(padded * RESULTS, sizeof *floats);
    const double s = 0.125;
    const float s_float = 0.125f;
    assert_true(plain && values && results && floats);
    for (int i = 0; i < N * COMPONENTS; ++i)
        plain[i] = (double)(i * 7 % 31 - 15) / 16; /* exact in float */
    weft_interleave(plain, N, COMPONENTS, lanes, values);
    for (size_t i = 0; i < padded * COMPONENTS; ++i)
        floats[i] = (float)values[i];
    size_t size = single ? sizeof(float) : sizeof(double);
    assert_int_equal(weft_memory_make(device, padded * COMPONENTS * size, &memory[0], NULL),
                     WEFT_OK);
    assert_int_equal(weft_memory_make(device, size, &memory[1], NULL), WEFT_OK);
    weft_memory_write(memory[0], 0, single ? (void *)floats : (void *)values,
                      padded * COMPONENTS * size, NULL);
    weft_memory_write(memory[1], 0, single ? (const void *)&s_float : (const void *)&s, size, NULL);
    assert_int_equal(weft_program_bind(program, "x", memory[0], &error), WEFT_OK);
    assert_int_equal(weft_program_bind(program, "s", memory[1], &error), WEFT_OK);
    assert_int_equal(weft_program_run(program, &error), WEFT_OK);
    weft_memory_read(weft_program_result(program, "y"), 0, single ? (void *)floats : (void *)values,
                     padded * RESULTS * size, NULL);
    for (size_t i = 0; single && i < padded * RESULTS; ++i)
        values[i] = floats[i];
    weft_deinterleave(values, N, RESULTS, lanes, results);
    for (int i = 0; i < N; ++i)
        for (int t = 0; t < RESULTS; ++t)
            assert_double_near(results[i * RESULTS + t],
                               expected_at(t, plain + i * COMPONENTS, s, COMPONENTS),
                               single ? 4e-5 : 1e-13, single ? 4e-5 : 1e-13);
    weft_program_free(&program);
    weft_memory_free(&memory[0]);
    weft_memory_free(&memory[1]);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
    free(plain);
    free(values);
    free(results);
    free(floats);
}

static void test_meaning(void **state) {
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"};
    int n = 0;
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; ++i)
        for (int single = 0; single < 2 && test_program_exists(compilers[i]); ++single, ++n)
            run_everything(compilers[i], single);
    assert_true(n >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_long_loops),
        cmocka_unit_test(test_varying_targets),
        cmocka_unit_test(test_large_tables),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
