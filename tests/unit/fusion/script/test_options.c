/* labels: quick */
/* Fragments, bound parameters and expressions, integer expressions. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "script_support.h"

#include <limits.h>
#include <stdio.h>

static void fragments_are_one_script(void **state) {
    (void)state;
    const weft_fragment fragments[] = {
        {"first.weft", "index cells, nodes; connectivity dofs : cells -> nodes[d + 1];"},
        {"second.weft", "parameter d = 2;\ninput u : real over nodes;\nv = u;"},
        {NULL, "b[dofs] += sum(u[dofs]); return v;\nreturn b;"},
    };
    script_case read = script_read_fragments(fragments, 3, NULL);
    assert_int_equal(read.status, WEFT_OK);
    const weft_script *s = read.script;
    assert_int_equal(s->n_sources, 3);
    assert_string_equal(s->sources[1].name, "second.weft");
    assert_ptr_equal(s->inputs[0].place.source, &s->sources[1]);
    assert_int_equal(s->inputs[0].place.line, 2);
    assert_ptr_equal(s->statements[1].place.source, &s->sources[2]);
    assert_int_equal(s->n_returns, 2);
    script_case_free(&read);
}

/* A statement ends within its fragment, and an error names the fragment it is in. */
static void errors_name_their_fragment(void **state) {
    (void)state;
    const weft_fragment unfinished[] = {{"first.weft", "index a"}, {"second.weft", ";"}};
    script_case read = script_read_fragments(unfinished, 2, NULL);
    assert_int_equal(read.status, WEFT_ERROR_SYNTAX);
    assert_string_equal(read.error.file, "first.weft");
    script_case_free(&read);
    const weft_fragment twice[] = {{"first.weft", "\nindex a;"}, {"second.weft", "index b, a;"}};
    read = script_read_fragments(twice, 2, NULL);
    assert_int_equal(read.status, WEFT_ERROR_TYPE);
    assert_string_equal(read.error.file, "second.weft");
    assert_int_equal(read.error.column, 10);
    assert_string_equal(read.error.message, "'a' is already an index set (first.weft:2:7)");
    script_case_free(&read);
}

static void fragments_may_be_missing(void **state) {
    (void)state;
    script_case read = script_read_fragments(NULL, 0, NULL);
    assert_int_equal(read.status, WEFT_OK);
    script_case_free(&read);
    const weft_fragment no_text = {"first.weft", NULL};
    read = script_read_fragments(&no_text, 1, NULL);
    assert_int_equal(read.status, WEFT_ERROR_USAGE);
    assert_string_equal(read.error.message, "first.weft: there is no text");
    script_case_free(&read);
}

#define SCRIPT                                                                                     \
    "parameter d = 2, order = 1; index n; input p : real[d] over n;\n"                             \
    "expression source(x, y, z) = 1;\nexpression exact(x, y, z) = 0;\n"                            \
    "f = source(p); e = exact(p); return f, e;"

static script_case read_with(const weft_compile_options *options) {
    const weft_fragment fragment = {"test.weft", SCRIPT};
    return script_read_fragments(&fragment, 1, options);
}

static script_case read_parameter(const char *name, int value) {
    const weft_parameter parameter = {name, value};
    const weft_compile_options options = {
        .size = sizeof options, .parameters = &parameter, .n_parameters = 1};
    return read_with(&options);
}

static script_case read_expression(const char *name, const char *text, const char *origin) {
    const weft_expression expression = {name, text, origin};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = &expression, .n_expressions = 1};
    return read_with(&options);
}

static void parameters_are_replaced(void **state) {
    (void)state;
    script_case read = read_parameter("d", 3);
    assert_int_equal(read.status, WEFT_OK);
    int size = 0;
    const weft_script *s = read.script;
    assert_int_equal(weft_script_integer(s, s->inputs[0].sizes[0], &size, NULL), WEFT_OK);
    assert_int_equal(size, 3);
    assert_int_equal(s->parameters[1].value, 1);
    script_case_free(&read);

    read = read_parameter("d", 0); /* a size of zero */
    assert_int_equal(read.status, WEFT_ERROR_SHAPE);
    assert_string_equal(read.error.message, "this size is 0: sizes are at least 1");
    assert_int_equal(read.error.column, 53);
    script_case_free(&read);

    read = read_parameter("ordre", 3);
    assert_int_equal(read.status, WEFT_ERROR_USAGE);
    assert_string_equal(read.error.message, "the script has no parameter 'ordre'");
    assert_string_equal(read.error.hint, "did you mean 'order'?");
    script_case_free(&read);

    read = read_parameter("quadrature", 3);
    assert_string_equal(read.error.hint, "it has d, order");
    script_case_free(&read);
}

static void expressions_are_replaced(void **state) {
    (void)state;
    char text[] = "2*pi^2*sin(pi*x)", origin[] = "--source";
    script_case read = read_expression("source", text, origin);
    memset(text, '?', sizeof text - 1); /* texts are copied */
    memset(origin, '?', sizeof origin - 1);
    assert_int_equal(read.status, WEFT_OK);
    weft_text printed = {0};
    weft_node_print(read.script->expressions[0].body, &printed);
    assert_string_equal(printed.data, "2*pi^2*sin(pi*x)");
    weft_text_free(&printed);
    assert_string_equal(read.script->expressions[0].body->place.source->name, "--source");
    assert_double_near(read.script->expressions[1].body->number, 0.0, 0.0, 0.0);
    script_case_free(&read);
}

static void assert_bad_expression(const char *text, weft_status status, int column,
                                  const char *message, const char *hint) {
    script_case read = read_expression("source", text, "--source");
    assert_int_equal(read.status, status);
    assert_string_equal(read.error.message, message);
    assert_string_equal(read.error.hint, hint);
    assert_string_equal(read.error.file, "--source");
    assert_int_equal(read.error.line, 1);
    assert_int_equal(read.error.column, column);
    script_case_free(&read);
}

/* Conditions as other languages write them, and functions by other names: the hint can be used. */
static void other_languages(void **state) {
    (void)state;
    const weft_status syntax = WEFT_ERROR_SYNTAX, type = WEFT_ERROR_TYPE;
    static const char form[] =
        "a condition is allowed only in select(a < b, x, y): x where a < b, else y";
    assert_bad_expression("x>0.5", syntax, 2,
                          "expected an operator or the end of the expression, found '>'",
                          "write select(x>0.5, 1, 0): 1 where it holds, else 0");
    assert_bad_expression("x > 0 and y <= z", syntax, 3,
                          "expected an operator or the end of the expression, found '>'",
                          "write select(x > 0 and y <= z, 1, 0): 1 where it holds, else 0");
    assert_bad_expression("x > 0 > 1", syntax, 3,
                          "expected an operator or the end of the expression, found '>'", form);
    assert_bad_expression("(x > 0.5)*y", syntax, 4,
                          "expected ')' to close the parenthesis, found '>'", form);
    assert_bad_expression("if(x>0.5, 1, y)", type, 1, "there is no function 'if' for formulas",
                          "write select(x > 0.5, 1, y)");
    assert_bad_expression("1 + where(x < 1 and y < 2, x, 2*y)", type, 5,
                          "there is no function 'where' for formulas",
                          "write select(x < 1 and y < 2, x, 2*y)");
    assert_bad_expression("if(x)", type, 1, "there is no function 'if' for formulas",
                          "write select(a < b, x, y): x where a < b, else y");
    assert_bad_expression("x > 0.5 ? 1 : 2", syntax, 9, "'?' has no meaning here",
                          "a condition is written select(a < b, x, y): x where a < b, else y");
    assert_bad_expression("select(x < 1 && y < 1, 1, 2)", syntax, 14, "'&' has no meaning here",
                          "comparisons are joined by and: select(a < b and c < d, x, y)");
    assert_bad_expression("x == 1", syntax, 3,
                          "expected an operator or the end of the expression, found '='",
                          "real numbers are not compared for equality; conditions are "
                          "select(a < b, x, y)");
    assert_bad_expression("select(x = 1, 1, 2)", syntax, 10,
                          "expected a comparison: <, >, <= or >=, found '='",
                          "real numbers are not compared for equality");
    assert_bad_expression("ln(x)", type, 1, "there is no function 'ln' for formulas",
                          "write log(a) instead");
    assert_bad_expression("MOD(x, 2)", type, 1, "there is no function 'MOD' for formulas",
                          "write a - b*floor(a/b) instead");
    assert_bad_expression("acot(x)", type, 1, "there is no function 'acot' for formulas",
                          "write atan(1/a) instead");
}

static void bad_expressions(void **state) {
    (void)state;
    const weft_status syntax = WEFT_ERROR_SYNTAX, type = WEFT_ERROR_TYPE;
    assert_bad_expression("", syntax, 1, "expected a value, found the end of the text", "");
    assert_bad_expression("1;", syntax, 2,
                          "expected an operator or the end of the expression, found ';'", "");
    assert_bad_expression("x y", syntax, 3,
                          "expected an operator or the end of the expression, found 'y'", "");
    assert_bad_expression("x + t", type, 5,
                          "'t' is unknown here: this is a formula in x, y, z and pi", "");
    assert_bad_expression("2*PI", type, 3,
                          "'PI' is unknown here: this is a formula in x, y, z and pi",
                          "did you mean 'pi'?");
    assert_bad_expression("sine(x)", type, 1, "there is no function 'sine' for formulas",
                          "did you mean 'sin'?");
    assert_bad_expression("sinn(x)", type, 1, "there is no function 'sinn' for formulas",
                          "did you mean 'sin'?");
    assert_bad_expression(
        "gamma(x)", type, 1, "there is no function 'gamma' for formulas",
        "the functions are sqrt, exp, log, sin, cos, tan, abs, min, max, pow, asin, acos, atan, "
        "atan2, sinh, cosh, tanh, asinh, acosh, atanh, exp2, expm1, log2, log10, "
        "log1p, cbrt, hypot, erf, erfc, sign, floor, ceil, round, trunc, select");
    assert_bad_expression("pow(x)", type, 1, "'pow' takes 2 arguments, and 1 is given", "");
    assert_bad_expression("max(x)", type, 1, "'max' takes 2 arguments, and 1 is given", "");
    assert_bad_expression("sqrt(x, y)", type, 1, "'sqrt' takes 1 argument, and 2 are given", "");
    assert_bad_expression("sqrt()", type, 1, "'sqrt' takes 1 argument, and 0 are given", "");
    assert_bad_expression("sqrt(x, n = 1)", type, 13, "'sqrt' has no parameter 'n'", "");
    assert_bad_expression("x[0]", type, 2, "a formula has no subscripts: its arguments are numbers",
                          "");
    assert_bad_expression(
        "exact(x, y, z)", type, 1, "there is no function 'exact' for formulas",
        "the functions are sqrt, exp, log, sin, cos, tan, abs, min, max, pow, asin, acos, atan, "
        "atan2, sinh, cosh, tanh, asinh, acosh, atanh, exp2, expm1, log2, log10, "
        "log1p, cbrt, hypot, erf, erfc, sign, floor, ceil, round, trunc, select");
    script_case read = read_expression("sourec", "1", "--source");
    assert_int_equal(read.status, WEFT_ERROR_USAGE);
    assert_string_equal(read.error.message, "the script has no expression 'sourec'");
    assert_string_equal(read.error.hint, "did you mean 'source'?");
    script_case_free(&read);
}

/* The integer that `parameter d = 3, e = -2; a = f(k = TEXT);` gives to k. */
static weft_status integer(const char *text, int *out, weft_error *error) {
    script_case read = script_read_good("parameter d = 3, e = -2, big = 2147483647;");
    char script[256];
    snprintf(script, sizeof script, "a = %s;", text);
    script_case expression = script_read_good(script);
    weft_status status =
        weft_script_integer(read.script, expression.script->statements[0].value, out, error);
    script_case_free(&expression);
    script_case_free(&read);
    return status;
}

static void integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int value;
    } cases[] = {
        {"7", 7},           {"d", 3},
        {"d*(d + 1)/2", 6}, {"-d + e", -5},
        {"7/2", 3},         {"-7/2", -3},
        {"2*d - 1", 5},     {"(d + 1)*(d + 2)*(d + 3)/6", 20},
        {"big", INT_MAX},   {"-big - 1", INT_MIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int value = 0;
        assert_int_equal(integer(cases[i].text, &value, NULL), WEFT_OK);
        assert_int_equal(value, cases[i].value);
    }
}

static void assert_bad_integer(const char *text, weft_status status, const char *message) {
    int value = 42;
    weft_error error = {0};
    assert_int_equal(integer(text, &value, &error), status);
    assert_int_equal(value, 42);
    assert_string_equal(error.message, message);
}

static void bad_integers(void **state) {
    (void)state;
    assert_bad_integer("big + 1", WEFT_ERROR_SHAPE, "this integer is too large");
    assert_bad_integer("2147483648", WEFT_ERROR_SHAPE, "this integer is too large");
    assert_bad_integer("65536*65536", WEFT_ERROR_SHAPE, "this integer is too large");
    assert_bad_integer("-big - big", WEFT_ERROR_SHAPE, "this integer is too large");
    assert_bad_integer("-(-big - 1)", WEFT_ERROR_SHAPE, "this integer is too large");
    assert_bad_integer("(-big - 1)/(-1)", WEFT_ERROR_SHAPE, "this integer is too large");
    assert_bad_integer("1/(d - 3)", WEFT_ERROR_SHAPE, "division by zero");
    assert_bad_integer("2^3", WEFT_ERROR_TYPE,
                       "'^' is not for integers: sizes and parameters use + - * /");
    assert_bad_integer("1.5", WEFT_ERROR_TYPE,
                       "expected an integer: numbers without a point, parameters and + - * /");
    assert_bad_integer("f(1)", WEFT_ERROR_TYPE,
                       "expected an integer: numbers without a point, parameters and + - * /");
    assert_bad_integer("pi", WEFT_ERROR_TYPE, "'pi' is not a parameter");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_are_one_script),
        cmocka_unit_test(errors_name_their_fragment),
        cmocka_unit_test(fragments_may_be_missing),
        cmocka_unit_test(parameters_are_replaced),
        cmocka_unit_test(expressions_are_replaced),
        cmocka_unit_test(bad_expressions),
        cmocka_unit_test(other_languages),
        cmocka_unit_test(integers),
        cmocka_unit_test(bad_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
