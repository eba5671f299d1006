/* labels: quick */
/* Wrong scripts and the exact message each gets: file, line, column, the line, a caret, what was
 * expected, the nearest name. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static void assert_message(const char *text, weft_status status, const char *expected) {
    weft_arena *arena = NULL;
    weft_script *script = NULL;
    weft_error error = {0};
    const weft_fragment fragment = {"bad.weft", text};
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    weft_status got = weft_script_make(arena, &fragment, 1, NULL, &script, &error);
    weft_arena_free(&arena);
    char message[2048];
    weft_error_text(&error, message, sizeof message);
    assert_string_equal(message, expected);
    assert_int_equal(got, status);
    assert_int_equal(error.status, status);
    assert_int_equal(weft_status_exit_code(got), 2);
    assert_null(script);
}

#define SYNTAX(text, expected) assert_message(text, WEFT_ERROR_SYNTAX, expected)
#define TYPE(text, expected) assert_message(text, WEFT_ERROR_TYPE, expected)
#define SHAPE(text, expected) assert_message(text, WEFT_ERROR_SHAPE, expected)
#define UNSUPPORTED(text, expected) assert_message(text, WEFT_ERROR_UNSUPPORTED, expected)

static void semicolons(void **state) {
    (void)state;
    /* what is missing at the end of a line is shown there */
    SYNTAX("a = 1\nreturn a;\n",
           "bad.weft:1:6: error: expected ';' after the statement, found 'return'\n"
           "    a = 1\n"
           "         ^");
    SYNTAX("a = 1 return a;\n",
           "bad.weft:1:7: error: expected ';' after the statement, found 'return'\n"
           "    a = 1 return a;\n"
           "          ^");
    SYNTAX("a = 1;\nreturn a",
           "bad.weft:2:9: error: expected ';' after the statement, found the end of the text\n"
           "    return a\n"
           "            ^");
    SYNTAX("index a b;", "bad.weft:1:9: error: expected ';' after the statement, found 'b'\n"
                         "    index a b;\n"
                         "            ^");
    SYNTAX(";", "bad.weft:1:1: error: expected a statement, found ';'\n"
                "    ;\n"
                "    ^");
}

static void misspelled_statements(void **state) {
    (void)state;
    SYNTAX("idnex cells;\n", "bad.weft:1:1: error: 'idnex' does not start a statement\n"
                             "    idnex cells;\n"
                             "    ^\n"
                             "hint: did you mean 'index'?");
    SYNTAX("index a;\n  Input u : real over a;\n",
           "bad.weft:2:3: error: 'Input' does not start a statement\n"
           "      Input u : real over a;\n"
           "      ^\n"
           "hint: did you mean 'input'?");
    SYNTAX("let a = 1;",
           "bad.weft:1:1: error: 'let' does not start a statement\n"
           "    let a = 1;\n"
           "    ^\n"
           "hint: a statement is NAME = ..., NAME[MAP] += ..., or starts with index, connectivity, "
           "input, parameter, expression, return, update, repeat, operator");
    SYNTAX("over = 1;",
           "bad.weft:1:1: error: expected a statement, found the reserved word 'over'\n"
           "    over = 1;\n"
           "    ^");
    SYNTAX("pi = 3;", "bad.weft:1:1: error: expected a statement, found the reserved word 'pi'\n"
                      "    pi = 3;\n"
                      "    ^");
}

#define OVER "index n; input x : real over n;\n"

/* What a script asks of the plan. */
static void directives(void **state) {
    (void)state;
    SYNTAX("fuse a, b;",
           "bad.weft:1:6: error: expected '{' before the statements that are to share "
           "a kernel, found 'a'\n"
           "    fuse a, b;\n"
           "         ^\n"
           "hint: the words before '{' are block, threads, iterations, stride");
    SYNTAX("split a;", "bad.weft:1:7: error: expected ';' after 'split', found 'a'\n"
                       "    split a;\n"
                       "          ^");
    SYNTAX(OVER "fuse { a = x;\nsplit; }",
           "bad.weft:3:1: error: 'split' is not allowed inside a fuse block\n"
           "    split; }\n"
           "    ^");
    TYPE(OVER "fuse { }", "bad.weft:2:1: error: there is no statement in this block\n"
                          "    fuse { }\n"
                          "    ^");
}

static void two_index_sets(void **state) {
    (void)state;
    TYPE("index rows;\ninput A : real over rows, rows;",
         "bad.weft:2:27: error: a list over two index sets needs two different ones\n"
         "    input A : real over rows, rows;\n"
         "                              ^\n"
         "hint: declare a second one, which may have the same size");
    SYNTAX("index rows, cols;\ninput A : real over rows, ;",
           "bad.weft:2:27: error: expected the name of a second index set, found ';'\n"
           "    input A : real over rows, ;\n"
           "                              ^");
    SYNTAX("index rows, cols;\ninput A : real over rows, cols symmetric;",
           "bad.weft:2:41: error: expected the triangle that is stored, 'lower' or 'upper', found "
           "';'\n"
           "    input A : real over rows, cols symmetric;\n"
           "                                            ^");
    SYNTAX("index a, b, c;\ninput A : real over a, b, c;",
           "bad.weft:2:25: error: expected ';' after the statement, found ','\n"
           "    input A : real over a, b, c;\n"
           "                            ^");
}

static void reserved_for_later(void **state) {
    (void)state;
    SYNTAX("index split;",
           "bad.weft:1:7: error: expected the name of an index set, found the reserved word "
           "'split'\n"
           "    index split;\n"
           "          ^");
}

static void index_sets_and_connectivities(void **state) {
    (void)state;
    TYPE("index cells;\ninput f : real over cell;",
         "bad.weft:2:21: error: 'cell' is not an index set that was declared before\n"
         "    input f : real over cell;\n"
         "                        ^\n"
         "hint: did you mean 'cells'?");
    TYPE("index cells, nodes;\ninput f : real over vertices;",
         "bad.weft:2:21: error: 'vertices' is not an index set that was declared before\n"
         "    input f : real over vertices;\n"
         "                        ^\n"
         "hint: declared before: cells, nodes");
    TYPE("index cells;\nconnectivity dofs : cells -> nodes[3];\nindex nodes;",
         "bad.weft:2:30: error: 'nodes' is not an index set that was declared before\n"
         "    connectivity dofs : cells -> nodes[3];\n"
         "                                 ^\n"
         "hint: declared before: cells");
    SYNTAX("index cells, nodes;\nconnectivity dofs : cells nodes[3];",
           "bad.weft:2:27: error: expected '->' between the two index sets, found 'nodes'\n"
           "    connectivity dofs : cells nodes[3];\n"
           "                              ^");
    SYNTAX("index cells, nodes;\nconnectivity dofs : cells -> nodes;",
           "bad.weft:2:35: error: expected '[' and the number of entries, as in "
           "dofs : cells -> nodes[3], found ';'\n"
           "    connectivity dofs : cells -> nodes;\n"
           "                                      ^");
    SYNTAX(
        "index cells, nodes;\nconnectivity dofs : cells -> nodes[3] orderd;",
        "bad.weft:2:39: error: expected ';' or 'ordered' after the connectivity, found 'orderd'\n"
        "    connectivity dofs : cells -> nodes[3] orderd;\n"
        "                                          ^");
    SYNTAX("index cells, nodes;\nconnectivity dofs : cells -> nodes[3] ordered plain;",
           "bad.weft:2:47: error: expected ';' after the statement, found 'plain'\n"
           "    connectivity dofs : cells -> nodes[3] ordered plain;\n"
           "                                                  ^");
    TYPE("index cells;\nb[cells] += 1;",
         "bad.weft:2:3: error: 'cells' is an index set, not a connectivity\n"
         "    b[cells] += 1;\n"
         "      ^");
    TYPE("index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\nb[dof] += 1;",
         "bad.weft:3:3: error: 'dof' is not a connectivity that was declared before\n"
         "    b[dof] += 1;\n"
         "      ^\n"
         "hint: did you mean 'dofs'?");
}

static void names_twice(void **state) {
    (void)state;
    TYPE("K = 1;\nK = 2;", "bad.weft:2:1: error: 'K' is already assigned (bad.weft:1:1)\n"
                           "    K = 2;\n"
                           "    ^\n"
                           "hint: every name is given once: choose another name here");
    TYPE("index n;\ninput u, n : real;",
         "bad.weft:2:10: error: 'n' is already an index set (bad.weft:1:7)\n"
         "    input u, n : real;\n"
         "             ^\n"
         "hint: every name is given once: choose another name here");
    TYPE("index i, j;\nconnectivity m : i -> j[2];\nK = 1;\nK[m] += 1;",
         "bad.weft:4:1: error: 'K' is assigned (bad.weft:3:1): nothing can be added to it\n"
         "    K[m] += 1;\n"
         "    ^\n"
         "hint: the target of += is a new name or an input");
    TYPE("index i, j;\nconnectivity m : i -> j[2];\nK[m] += 1;\nK = 1;",
         "bad.weft:4:1: error: 'K' is already the target of an accumulating store (bad.weft:3:1)\n"
         "    K = 1;\n"
         "    ^\n"
         "hint: every name is given once: choose another name here");
    TYPE("index i, j;\nconnectivity m : i -> j[2];\nj[m] += 1;",
         "bad.weft:3:1: error: 'j' is an index set (bad.weft:1:10): nothing can be added to it\n"
         "    j[m] += 1;\n"
         "    ^\n"
         "hint: the target of += is a new name or an input");
    TYPE("expression sqrt(x) = x;",
         "bad.weft:1:12: error: 'sqrt' is a function of the language: choose another name for the "
         "expression\n"
         "    expression sqrt(x) = x;\n"
         "               ^");
    TYPE("expression f(x, x) = x;", "bad.weft:1:17: error: 'x' is an argument already\n"
                                    "    expression f(x, x) = x;\n"
                                    "                    ^");
    TYPE("K = 1;\nreturn K, K;", "bad.weft:2:11: error: 'K' is returned already (bad.weft:2:8)\n"
                                 "    return K, K;\n"
                                 "              ^");
}

static void limits(void **state) {
    (void)state;
    TYPE("index basis up to j;\ninput j : real over basis;\nreturn j;",
         "bad.weft:1:7: error: 'basis' goes up to 'j', which is not a scalar input\n"
         "    index basis up to j;\n"
         "          ^\n"
         "hint: declare it: input j : real;");
}

static void returns(void **state) {
    (void)state;
    TYPE("stiffness = 1;\nreturn stifness;",
         "bad.weft:2:8: error: 'stifness' is returned but never computed\n"
         "    return stifness;\n"
         "           ^\n"
         "hint: did you mean 'stiffness'?");
    TYPE("K = 1;\nb = 2;\nreturn matrix;",
         "bad.weft:3:8: error: 'matrix' is returned but never computed\n"
         "    return matrix;\n"
         "           ^\n"
         "hint: the results of this script are K, b");
    TYPE("index cells;\nreturn cells;",
         "bad.weft:2:8: error: 'cells' is an index set and cannot be returned\n"
         "    return cells;\n"
         "           ^");
}

static void types_and_sizes(void **state) {
    (void)state;
    SYNTAX("input u : double;", "bad.weft:1:11: error: expected the type 'real', found 'double'\n"
                                "    input u : double;\n"
                                "              ^\n"
                                "hint: write 'real': an option says whether it is float or double");
    SYNTAX("input u : reel;", "bad.weft:1:11: error: expected the type 'real', found 'reel'\n"
                              "    input u : reel;\n"
                              "              ^\n"
                              "hint: did you mean 'real'?");
    SYNTAX("input u;", "bad.weft:1:8: error: expected ':' and a type after the input's name, "
                       "found ';'\n"
                       "    input u;\n"
                       "           ^");
    TYPE("parameter dim = 2;\ninput u : real[din];",
         "bad.weft:2:16: error: 'din' is not a parameter\n"
         "    input u : real[din];\n"
         "                   ^\n"
         "hint: did you mean 'dim'?");
    TYPE("input u : real[d];", "bad.weft:1:16: error: 'd' is not a parameter\n"
                               "    input u : real[d];\n"
                               "                   ^\n"
                               "hint: declare it: parameter d = 2;");
    TYPE("input u : real[2.5];", "bad.weft:1:16: error: expected an integer: numbers without a "
                                 "point, parameters and + - * /\n"
                                 "    input u : real[2.5];\n"
                                 "                   ^");
    SHAPE("input u : real[3 - 3];", "bad.weft:1:18: error: this size is 0: sizes are at least 1\n"
                                    "    input u : real[3 - 3];\n"
                                    "                     ^");
    SHAPE("input u : real[300, 300];", "bad.weft:1:21: error: more than 65536 components\n"
                                       "    input u : real[300, 300];\n"
                                       "                        ^");
    UNSUPPORTED("input u : real[1, 2, 3, 4, 5];", "bad.weft:1:28: error: more than 4 sizes\n"
                                                  "    input u : real[1, 2, 3, 4, 5];\n"
                                                  "                               ^");
    SYNTAX("parameter d = 2.5;", "bad.weft:1:15: error: expected an integer, found '2.5'\n"
                                 "    parameter d = 2.5;\n"
                                 "                  ^");
    SYNTAX("parameter d = 9999999999;",
           "bad.weft:1:15: error: expected an integer, found '9999999999'\n"
           "    parameter d = 9999999999;\n"
           "                  ^");
}

static void stores(void **state) {
    (void)state;
    SYNTAX("b += 1;", "bad.weft:1:3: error: expected '=', found '+='\n"
                      "    b += 1;\n"
                      "      ^\n"
                      "hint: an accumulating store names its connectivity: b[dofs] += ...");
    SYNTAX("index i, j;\nconnectivity m : i -> j[2];\nb[m] = 1;",
           "bad.weft:3:6: error: expected '+=', found '='\n"
           "    b[m] = 1;\n"
           "         ^\n"
           "hint: a store through a connectivity adds: write +=");
    SYNTAX("index i, j;\nconnectivity m : i -> j[2];\nb[m, m, m] += 1;",
           "bad.weft:3:9: error: an accumulating store goes through one or two connectivities\n"
           "    b[m, m, m] += 1;\n"
           "            ^");
    SYNTAX("b[0] += 1;", "bad.weft:1:3: error: expected the name of a connectivity, found '0'\n"
                         "    b[0] += 1;\n"
                         "      ^");
}

static void expressions(void **state) {
    (void)state;
    SYNTAX("a = ;", "bad.weft:1:5: error: expected a value, found ';'\n"
                    "    a = ;\n"
                    "        ^");
    SYNTAX("a = 1 + * 2;", "bad.weft:1:9: error: expected a value, found '*'\n"
                           "    a = 1 + * 2;\n"
                           "            ^");
    SYNTAX("a = (1 + 2;", "bad.weft:1:11: error: expected ')' to close the parenthesis, found ';'\n"
                          "    a = (1 + 2;\n"
                          "              ^");
    SYNTAX("a = f(1, 2;", "bad.weft:1:11: error: expected ')' to end the arguments, found ';'\n"
                          "    a = f(1, 2;\n"
                          "              ^");
    SYNTAX("a = x[1;", "bad.weft:1:8: error: expected ']' after the subscript, found ';'\n"
                       "    a = x[1;\n"
                       "           ^");
    SYNTAX("a = 2x;", "bad.weft:1:5: error: '2x' is not a number\n"
                      "    a = 2x;\n"
                      "        ^\n"
                      "hint: a product is written with *: 2*x");
    SYNTAX("a = x**2;", "bad.weft:1:6: error: '**' has no meaning here\n"
                        "    a = x**2;\n"
                        "         ^\n"
                        "hint: a power is written with ^: x^2");
    SYNTAX("a = 1 + input;",
           "bad.weft:1:9: error: expected a value, found the reserved word 'input'\n"
           "    a = 1 + input;\n"
           "            ^");
    SYNTAX("a = f(degree = 1, x);", "bad.weft:1:19: error: arguments come before 'degree = ...'\n"
                                    "    a = f(degree = 1, x);\n"
                                    "                      ^");
    SYNTAX("a = f(d = 1, d = 1);", "bad.weft:1:14: error: 'd' is given twice in this call\n"
                                   "    a = f(d = 1, d = 1);\n"
                                   "                 ^");
    UNSUPPORTED("a = f(a=1,b=1,c=1,d=1,e=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1);",
                "bad.weft:1:55: error: more than 12 parameters in one call\n"
                "    a = f(a=1,b=1,c=1,d=1,e=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1);\n"
                "                                                          ^");
    TYPE("a = f(x, degree = p);", "bad.weft:1:19: error: 'p' is not a parameter\n"
                                  "    a = f(x, degree = p);\n"
                                  "                      ^\n"
                                  "hint: declare it: parameter p = 2;");
    TYPE("expression f(x, y) = x + Y;",
         "bad.weft:1:26: error: 'Y' is unknown here: this is a formula in x, y and pi\n"
         "    expression f(x, y) = x + Y;\n"
         "                             ^\n"
         "hint: did you mean 'y'?");
}

static void characters(void **state) {
    (void)state;
    /* the caret counts characters, the column bytes */
    SYNTAX("a = 1; # \xC3\xA9\xC3\xA9\nb = \xC2\xB2;",
           "bad.weft:2:5: error: '\xC2\xB2': outside comments only ASCII is allowed\n"
           "    b = \xC2\xB2;\n"
           "        ^");
    SYNTAX("a = \"text\";",
           "bad.weft:1:5: error: '\"' has no meaning here\n"
           "    a = \"text\";\n"
           "        ^\n"
           "hint: a script is made of names, numbers and ( ) [ ] , ; : = + - * / ^ "
           "-> +=");
    SYNTAX("\ta = $;", "bad.weft:1:6: error: '$' has no meaning here\n"
                       "    \ta = $;\n"
                       "    \t    ^\n"
                       "hint: a script is made of names, numbers and ( ) [ ] , ; : = + - * / ^ "
                       "-> +=");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(semicolons),
        cmocka_unit_test(misspelled_statements),
        cmocka_unit_test(directives),
        cmocka_unit_test(two_index_sets),
        cmocka_unit_test(reserved_for_later),
        cmocka_unit_test(index_sets_and_connectivities),
        cmocka_unit_test(names_twice),
        cmocka_unit_test(limits),
        cmocka_unit_test(returns),
        cmocka_unit_test(types_and_sizes),
        cmocka_unit_test(stores),
        cmocka_unit_test(expressions),
        cmocka_unit_test(characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
