/* labels: quick */
/* What the parser alone tells of a script, and its text without return statements. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_outline.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static weft_outline *outline_of(const char *text) {
    const weft_fragment fragment = {"a.weft", text};
    weft_outline *outline = NULL;
    weft_error error = {0};
    if (weft_outline_make(&fragment, 1, &outline, &error) != WEFT_OK)
        fail_msg("%s: %s", text, error.message);
    return outline;
}

static void stripped(const char *text, const char *expected) {
    char *copy = strdup(text);
    weft_outline *outline = outline_of(text);
    assert_int_equal(weft_outline_strip(outline, 0, copy, NULL), WEFT_OK);
    assert_string_equal(copy, expected);
    weft_outline_free(&outline);
    assert_null(outline);
    free(copy);
}

/* Blanks take the place, so that lines and columns of the rest stay. */
static void returns_active(void **state) {
    (void)state;
    stripped("K = 1;\nreturn K, b;\nL = 2;", "K = 1;\n            \nL = 2;");
    stripped("return K;", "         ");
    stripped("return\n K;x = 1;", "      \n   x = 1;");
    stripped("# return K;\nreturned = 1;", "# return K;\nreturned = 1;");
    stripped("a = 1; return a # why\n; b = 2;", "a = 1;          # why\n  b = 2;");
    stripped("return a; return b;c = 2;", "                   c = 2;");
    stripped("", "");
}

static const char text[] = "parameter d = 2, degree = 4;\n"
                           "# input u : real;\n"
                           "index cells, nodes;\n"
                           "connectivity dofs : cells -> nodes[d + 1];\n"
                           "operator A over nodes;\n"
                           "expression f(x) = 1;\n"
                           "input x, y : real[d] over nodes;\n"
                           "J = x[dofs];  # K = 1;\n"
                           "b[dofs] += J; b[dofs] += J;\n"
                           "c[dofs] += J;\n"
                           "repeat at most 3 while (y < 3) {\n"
                           "    L = c;\n"
                           "    update y = y + L;\n"
                           "}\n";

static void names(void **state) {
    static const weft_outline_name expected[] = {
        {"d", WEFT_NAME_PARAMETER, false, false, false},
        {"degree", WEFT_NAME_PARAMETER, false, false, false},
        {"cells", WEFT_NAME_INDEX, false, false, false},
        {"nodes", WEFT_NAME_INDEX, false, false, false},
        {"dofs", WEFT_NAME_CONNECTIVITY, false, false, true},
        {"A", WEFT_NAME_OPERATOR, false, false, false},
        {"f", WEFT_NAME_EXPRESSION, false, false, false},
        {"x", WEFT_NAME_INPUT, false, false, true},
        {"y", WEFT_NAME_INPUT, false, false, true},
        {"J", WEFT_NAME_VALUE, false, false, true},
        {"b", WEFT_NAME_VALUE, false, true, false}, /* added to twice, read nowhere */
        {"c", WEFT_NAME_VALUE, false, true, true},
        {"L", WEFT_NAME_VALUE, true, false, true},
    };
    enum { N = sizeof expected / sizeof *expected };
    (void)state;
    weft_outline *outline = outline_of(text);
    weft_outline_name found;
    assert_int_equal(weft_outline_names(outline), N);
    for (int i = 0; i < N; ++i) {
        weft_outline_describe(outline, i, &found);
        assert_string_equal(found.name, expected[i].name);
        assert_int_equal(found.kind, expected[i].kind);
        assert_int_equal(found.in_loop, expected[i].in_loop);
        assert_int_equal(found.accumulated, expected[i].accumulated);
        assert_int_equal(found.read, expected[i].read);
        assert_true(weft_outline_find(outline, expected[i].name, NULL));
    }
    assert_false(weft_outline_find(outline, "u", NULL));
    assert_false(weft_outline_find(outline, "K", &found));
    assert_false(weft_outline_returns(outline));
    weft_outline_free(&outline);
    outline = outline_of("a = 1; return a;");
    assert_true(weft_outline_returns(outline));
    weft_outline_free(&outline);
}

/* Several texts are one script; the place of an error is that of its own text. */
static void errors(void **state) {
    static const weft_fragment fragments[] = {{"a.weft", "index cells;\n"},
                                              {"b.weft", "input v : real over cells;\nw = v"}};
    weft_outline *outline = NULL;
    weft_error error = {0};
    (void)state;
    assert_int_equal(weft_outline_make(fragments, 2, &outline, &error), WEFT_ERROR_SYNTAX);
    assert_null(outline);
    assert_string_equal(error.file, "b.weft");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 6);
    assert_non_null(strstr(error.message, "expected ';'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(returns_active), cmocka_unit_test(names),
                                       cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
