/* labels: quick */
/* Expressions: precedence by value, calls, subscripts, limits. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "script_support.h"

#include <math.h>
#include <stdio.h>

static double value_of(const weft_node *node) {
    double a = node->n_children > 0 ? value_of(node->children[0]) : 0.0;
    double b = node->n_children > 1 ? value_of(node->children[1]) : 0.0;
    switch (node->kind) {
    case NODE_NUMBER:
        return node->number;
    case NODE_NEGATE:
        return -a;
    case NODE_BINARY:
        return node->op == '+'   ? a + b
               : node->op == '-' ? a - b
               : node->op == '*' ? a * b
               : node->op == '/' ? a / b
                                 : pow(a, b);
    default:
        fail_msg("unexpected node %d", (int)node->kind);
        return NAN;
    }
}

/* The value of `a = TEXT;`. */
static double value(const char *text) {
    char script[256];
    snprintf(script, sizeof script, "a = %s;", text);
    script_case read = script_read_good(script);
    double result = value_of(read.script->statements[0].value);
    script_case_free(&read);
    return result;
}

/* Every value is exact in binary, so the comparison is exact. */
static void precedence(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"2+3*4", 14},  {"(2+3)*4", 20},  {"8-4-2", 2},   {"8-(4-2)", 6},   {"8/4/2", 1},
        {"8/(4/2)", 4}, {"6/2*3", 9},     {"2*3/4", 1.5}, {"-2^2", -4},     {"(-2)^2", 4},
        {"2^3^2", 512}, {"(2^3)^2", 64},  {"2^-1", 0.5},  {"-2^-2", -0.25}, {"2^-1^2", 0.5},
        {"2*-3", -6},   {"--2", 2},       {"1--1", 2},    {"-3+5", 2},      {"-(3+5)", -8},
        {"-2*3", -6},   {"2^2*3", 12},    {"3*2^2", 12},  {"4-2^2", 0},     {".5+1.", 1.5},
        {"1e2/4", 25},  {"((((7))))", 7}, {"1+2-3+4", 4}, {"-2-3", -5},     {"2^3*-1^2", -8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        assert_double_near(value(cases[i].text), cases[i].value, 0.0, 0.0);
}

static void calls_and_subscripts(void **state) {
    (void)state;
    script_case read =
        script_read_good("a = f(x[dofs], -y, degree = 2*3, rule = 1)[0][1,2] + g();");
    const weft_node *sum = read.script->statements[0].value;
    assert_int_equal(sum->kind, NODE_BINARY);
    assert_int_equal(sum->op, '+');
    assert_int_equal(sum->place.column, 52);
    const weft_node *outer = sum->children[0];
    assert_int_equal(outer->kind, NODE_SUBSCRIPT);
    assert_int_equal(outer->n_children, 3);
    assert_double_near(outer->children[2]->number, 2.0, 0.0, 0.0);
    const weft_node *inner = outer->children[0];
    assert_int_equal(inner->kind, NODE_SUBSCRIPT);
    assert_int_equal(inner->n_children, 2);
    const weft_node *call = inner->children[0];
    assert_int_equal(call->kind, NODE_CALL);
    assert_string_equal(call->name, "f");
    assert_int_equal(call->place.column, 5);
    assert_int_equal(call->n_children, 2);
    assert_int_equal(call->children[0]->kind, NODE_SUBSCRIPT);
    assert_string_equal(call->children[0]->children[1]->name, "dofs");
    assert_int_equal(call->children[1]->kind, NODE_NEGATE);
    assert_int_equal(call->n_keys, 2);
    assert_string_equal(call->keys[0], "degree");
    assert_string_equal(call->keys[1], "rule");
    assert_int_equal(sum->children[1]->n_children, 0);
    script_case_free(&read);
}

/* "a = " + n times `part` + "1" + n times `end` + ";", malloc'd */
static char *repeated(const char *part, int n, const char *end) {
    weft_text text = {0};
    weft_text_add(&text, "a = ");
    for (int i = 0; i < n; ++i)
        weft_text_add(&text, "%s", part);
    weft_text_add(&text, "1");
    for (int i = 0; i < n; ++i)
        weft_text_add(&text, "%s", end);
    weft_text_add(&text, ";");
    assert_false(text.failed);
    return text.data;
}

static void assert_limit(const char *part, const char *end, int n_good, int n_bad,
                         const char *words) {
    char *text = repeated(part, n_good, end);
    script_case good = script_read_good(text);
    script_case_free(&good);
    free(text);
    text = repeated(part, n_bad, end);
    script_case bad = script_read(text);
    assert_int_equal(bad.status, WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(bad.error.message, words));
    assert_true(bad.error.column > 0);
    script_case_free(&bad);
    free(text);
}

/* Deep texts end with a message, and never with the end of the stack. */
static void depth_is_limited(void **state) {
    (void)state;
    assert_limit("(", ")", 190, 201, "inside one another");
    assert_limit("(", ")", 190, 100000, "inside one another");
    assert_limit("-", "", 190, 100000, "inside one another");
    assert_limit("2^", "", 190, 80000, "inside one another");
    assert_limit("f(", ")", 190, 50000, "inside one another");
    assert_limit("x[", "]", 190, 50000, "inside one another");
    assert_limit("1+", "", 1990, 2001, "one after the other");
    assert_limit("2*", "", 1990, 30000, "one after the other");
    assert_limit("", "[0]", 1990, 2001, "one after the other");
}

static void size_is_limited(void **state) {
    (void)state;
    weft_text text = {0};
    for (int i = 0; i < 60; ++i) {
        weft_text_add(&text, "a%d = f(1", i);
        for (int j = 0; j < 1200; ++j)
            weft_text_add(&text, ",1");
        weft_text_add(&text, ");\n");
    }
    script_case read = script_read(text.data);
    assert_int_equal(read.status, WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(read.error.message, "more than 65536 parts"));
    script_case_free(&read);
    weft_text_free(&text);
    for (int i = 0; i < 5000; ++i)
        weft_text_add(&text, "a%d = 1;\n", i);
    read = script_read(text.data);
    assert_int_equal(read.status, WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(read.error.message, "more than 4096 names in one script");
    assert_int_equal(read.error.line, 4097);
    script_case_free(&read);
    weft_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),
        cmocka_unit_test(calls_and_subscripts),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(size_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
