/* labels: quick */
/* Wrong loops and operators, and the exact message each gets. What is right prints and reads back.
 */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static weft_library *library;

static weft_status compile(const char *text, const weft_operator_choice *choice,
                           weft_compilation **out, weft_error *error) {
    weft_device *device = NULL;
    const weft_fragment fragment = {"t.weft", text};
    const weft_compile_options options = {
        .size = sizeof options, .operators = choice, .n_operators = choice != NULL};
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    const weft_status status =
        weft_compile(library, weft_device_limits(device), &fragment, 1, &options, out, error);
    weft_device_free(&device);
    return status;
}

static void refused(const char *text, const weft_operator_choice *choice, const char *expected) {
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    char message[4096];
    const weft_status status = compile(text, choice, &compilation, &error);
    assert_null(compilation);
    weft_error_text(&error, message, sizeof message);
    assert_string_equal(message, expected);
    assert_int_equal(weft_status_exit_code(status), 2);
}

#define HEAD                                                                                       \
    "index nodes plain, cells; operator A over nodes;\n"                                           \
    "input x : real over nodes; input c : real over cells; input s, t : real;\n"

static void loops(void **state) {
    (void)state;
    refused(
        HEAD "repeat 10 while (s > 0) { update s = s - 1; }", NULL,
        "t.weft:3:8: error: expected 'at' as in repeat at most 100 while (a > b) { ... }, found "
        "'10'\n"
        "    repeat 10 while (s > 0) { update s = s - 1; }\n"
        "           ^");
    refused(HEAD "repeat at most 10 while (s) { update s = s - 1; }", NULL,
            "t.weft:3:27: error: expected a comparison: <, >, <= or >=, found ')'\n"
            "    repeat at most 10 while (s) { update s = s - 1; }\n"
            "                              ^");
    refused(HEAD "repeat at most 10 while (s > 0) {\n    update s = s - 1;\n", NULL,
            "t.weft:5:1: error: expected '}' to end the loop, found the end of the text\n"
            "hint: the loop starts at t.weft:3:1");
    refused(HEAD "repeat at most 10 while (s > 0) { }", NULL,
            "t.weft:3:1: error: there is no statement in this loop\n"
            "    repeat at most 10 while (s > 0) { }\n"
            "    ^");
    refused(HEAD "repeat at most 10 while (0 < s < 1) { update s = s - 1; }", NULL,
            "t.weft:3:32: error: expected 'and' between comparisons, found '<'\n"
            "    repeat at most 10 while (0 < s < 1) { update s = s - 1; }\n"
            "                                   ^\n"
            "hint: a < b < c is written a < b and b < c");
    refused(HEAD "repeat at most 10 while (s > 0) { return s; }", NULL,
            "t.weft:3:35: error: 'return' must be outside loops\n"
            "    repeat at most 10 while (s > 0) { return s; }\n"
            "                                      ^");
}

static void names_in_loops(void **state) {
    (void)state;
    refused(HEAD "y = 2*x;\nrepeat at most 10 while (s > 0) { y = 3*x; }", NULL,
            "t.weft:4:35: error: 'y' is already assigned (t.weft:3:1)\n"
            "    repeat at most 10 while (s > 0) { y = 3*x; }\n"
            "                                      ^\n"
            "hint: its next value in a loop is an update: update y = ...");
    refused(HEAD "repeat at most 10 while (s > 0) { y = 3*x; update s = sum(y); }\nreturn y;", NULL,
            "t.weft:4:8: error: 'y' is computed inside a loop and cannot be returned\n"
            "    return y;\n"
            "           ^\n"
            "hint: make it before the loop and update it there");
    refused(HEAD "repeat at most 10 while (r > 0) { r = sum(x); update s = r; }", NULL,
            "t.weft:3:26: error: 'r' has no value here: it is made inside a loop (t.weft:3:35)\n"
            "    repeat at most 10 while (r > 0) { r = sum(x); update s = r; }\n"
            "                             ^\n"
            "hint: the condition is asked before each iteration: declare an input, or make a name "
            "before "
            "the loop, and update it");
    refused(HEAD "repeat at most 10 while (s > 0) { update s = s - stpe; }\nstep = 1;", NULL,
            "t.weft:3:50: error: 'stpe' has no value here\n"
            "    repeat at most 10 while (s > 0) { update s = s - stpe; }\n"
            "                                                     ^\n"
            "hint: did you mean 'step'?");
    refused(HEAD "repeat at most 10 while (s > 0) { update z = s; }", NULL,
            "t.weft:3:42: error: 'z' has no value that could be updated\n"
            "    repeat at most 10 while (s > 0) { update z = s; }\n"
            "                                             ^");
}

static void lists_where_numbers_belong(void **state) {
    (void)state;
    refused(HEAD "repeat at most 10 while (x > 0) { update s = 1; }", NULL,
            "t.weft:3:26: error: 'x' is over nodes: a uniform value is wanted here\n"
            "    repeat at most 10 while (x > 0) { update s = 1; }\n"
            "                             ^\n"
            "hint: reductions such as sum and dot make uniform values of lists");
    refused(HEAD "repeat at most 10 while (sum(x) > 0) { update x = x - 1; }", NULL,
            "t.weft:3:26: error: 'sum' works on lists: a uniform value is wanted here\n"
            "    repeat at most 10 while (sum(x) > 0) { update x = x - 1; }\n"
            "                             ^\n"
            "hint: make a name of it before, and update that name in the loop");
    refused(HEAD "repeat at most 10 while (s > 0) { update s = 2*x; }", NULL,
            "t.weft:3:48: error: 'x' is over nodes: a uniform value is wanted here\n"
            "    repeat at most 10 while (s > 0) { update s = 2*x; }\n"
            "                                                   ^\n"
            "hint: reductions such as sum and dot make uniform values of lists");
}

static void operators(void **state) {
    (void)state;
    const weft_operator_choice unknown = {.name = "B"};
    refused(HEAD "y = apply(B, x); return y;", NULL,
            "t.weft:3:11: error: there is no operator 'B'\n"
            "    y = apply(B, x); return y;\n"
            "              ^\n"
            "hint: the operators are A");
    refused(HEAD "y = apply(x, x); return y;", NULL,
            "t.weft:3:11: error: 'x' is an input, not an operator\n"
            "    y = apply(x, x); return y;\n"
            "              ^\n"
            "hint: the operators are A");
    refused(HEAD "y = apply(A); return y;", NULL,
            "t.weft:3:5: error: 'apply' takes an operator and a list: apply(A, v)\n"
            "    y = apply(A); return y;\n"
            "        ^");
    refused(HEAD "y = 2*A; return y;", NULL,
            "t.weft:3:7: error: 'A' is an operator and has no value\n"
            "    y = 2*A; return y;\n"
            "          ^\n"
            "hint: its product with a list v is apply(A, v)");
    refused(HEAD "y = apply(A, c); return y;", NULL,
            "t.weft:3:14: error: operator 'A' works on lists over nodes, 'c' is over cells\n"
            "    y = apply(A, c); return y;\n"
            "                 ^");
    refused(HEAD "y = apply(A, x); return y;", &unknown,
            "error: the script has no operator 'B'\nhint: it has A");
}

static char *printed(const weft_compilation *compilation, const char *stage) {
    weft_text text = {0};
    assert_int_equal(weft_compilation_print(compilation, stage, "text", &text, NULL), WEFT_OK);
    assert_false(text.failed);
    return text.data;
}

static void scripts_read_back(void **state) {
    (void)state;
    static const char text[] = HEAD
        "q = apply(A, 2*x);\n"
        "repeat at most 2*3 while (s > 0 and t <= s + 1) {\n"
        "  repeat at most s while (t >= 1) { update t = select(s < t and t > 2, t - 1, -t); }\n"
        "  update x = x + t*q; update s = s - dot(x, x)/2;\n"
        "}\n"
        "repeat at most 1 while (s < 1) { update s = 1; }\n";
    weft_compilation *first = NULL, *second = NULL;
    weft_error error = {0};
    assert_int_equal(compile(text, NULL, &first, &error), WEFT_OK);
    char *once = printed(first, "script");
    assert_int_equal(compile(once, NULL, &second, &error), WEFT_OK);
    char *twice = printed(second, "script"), *plan = printed(first, "plan");
    assert_string_equal(once, twice);
    assert_non_null(strstr(once, "    repeat at most s while (t >= 1) {\n"
                                 "        update t = select(s < t and t > 2, t - 1, -t);\n"));
    assert_non_null(strstr(plan, "# segment 1 of "));
    assert_non_null(strstr(plan, "# repeat at most 1 while (s < 1) {"));
    assert_non_null(strstr(plan, "# q = apply(A, q_of)"));
    static const char *const stages[] = {"tokens", "graph", "fusions", "implementations", "cover"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i)
        free(printed(first, stages[i]));
    free(once);
    free(twice);
    free(plan);
    weft_compilation_free(&first);
    weft_compilation_free(&second);
}

static int open_library(void **state) {
    (void)state;
    return (int)weft_library_make(&library, NULL);
}

static int close_library(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops),
        cmocka_unit_test(names_in_loops),
        cmocka_unit_test(lists_where_numbers_belong),
        cmocka_unit_test(operators),
        cmocka_unit_test(scripts_read_back),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
