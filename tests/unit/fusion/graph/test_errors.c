/* labels: quick */
/* Scripts that parse but make no sense: the exact message, place, caret and advice. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static void assert_refused(void **state, const char *text, weft_status wanted,
                           const char *expected) {
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_limits limits = {.lanes_double = 8, .lanes_float = 16};
    const weft_fragment fragment = {"t.weft", text};
    const weft_status got = weft_compile(*state, &limits, &fragment, 1, NULL, &compilation, &error);
    char message[4096] = "";
    if (got != WEFT_OK)
        weft_error_text(&error, message, sizeof message);
    assert_null(compilation);
    assert_string_equal(message, expected);
    assert_int_equal(got, wanted);
    /* without a place for the message it is refused all the same */
    assert_int_equal(weft_compile(*state, &limits, &fragment, 1, NULL, &compilation, NULL), wanted);
}

#define HEAD                                                                                       \
    "index cells, nodes;\n"                                                                        \
    "connectivity dofs : cells -> nodes[3];\n"                                                     \
    "connectivity sides : cells -> nodes[2];\n"                                                    \
    "input x : real[2] over nodes;\n"                                                              \
    "input k : real over cells;\n"                                                                 \
    "input M : real[3,3] over cells;\n"                                                            \
    "input alpha : real;\n"

#define MATRIX                                                                                     \
    "index rows, cols, others;\n"                                                                  \
    "input A : real over rows, cols;\n"                                                            \
    "input r : real over rows;\n"                                                                  \
    "input c : real over cols;\n"                                                                  \
    "input o : real over others;\n"

static void two_index_sets(void **state) {
    assert_refused(state, MATRIX "y = gemv(A, r);\nreturn y;\n", WEFT_ERROR_TYPE,
                   "t.weft:6:13: error: argument 2 of 'gemv' is over rows, expected over cols\n"
                   "    y = gemv(A, r);\n"
                   "                ^");
    assert_refused(state, MATRIX "y = gemv(r, c);\nreturn y;\n", WEFT_ERROR_TYPE,
                   "t.weft:6:10: error: argument 1 of 'gemv' is over rows, expected over rows, "
                   "cols\n"
                   "    y = gemv(r, c);\n"
                   "             ^");
    assert_refused(state, MATRIX "y = gemv(r, r);\nreturn y;\n", WEFT_ERROR_TYPE,
                   "t.weft:6:5: error: 'gemv' needs a list over two index sets, as in: input A : "
                   "real over rows, cols;\n"
                   "    y = gemv(r, r);\n"
                   "        ^");
    assert_refused(state, MATRIX "B = A + o;\nreturn B;\n", WEFT_ERROR_TYPE,
                   "t.weft:6:9: error: arithmetic of a list over rows, cols and one over others\n"
                   "    B = A + o;\n"
                   "            ^\n"
                   "hint: load one of them through a connectivity, as in x[dofs]");
    assert_refused(state,
                   "index rows, cols;\ninput A : real over rows, cols symmetric lower;\n"
                   "input r : real over rows;\nB = 2*A + r;\nreturn B;\n",
                   WEFT_ERROR_TYPE,
                   "t.weft:4:9: error: 'r' is over rows, so that this list over rows, cols "
                   "symmetric lower would not be symmetric\n"
                   "    B = 2*A + r;\n"
                   "            ^\n"
                   "hint: declare the matrix as 'triangular', or with all its entries");
    assert_refused(
        state,
        "index rows, cols;\ninput A : real over rows, cols triangular lower;\n"
        "a = nrm2(A);\nreturn a;\n",
        WEFT_ERROR_UNSUPPORTED,
        "t.weft:3:5: error: 'nrm2' has an operator of its own, but reductions over rows, "
        "cols triangular lower combine with +, *, min or max\n"
        "    a = nrm2(A);\n"
        "        ^");
    assert_refused(state,
                   "index rows, cols;\ninput A : real over rows, cols triangular lower;\n"
                   "input r : real over rows;\ninput c : real over cols;\nB = r*c;\nreturn B;\n",
                   WEFT_ERROR_TYPE,
                   "t.weft:5:7: error: arithmetic of a list over rows and one over cols\n"
                   "    B = r*c;\n"
                   "          ^\n"
                   "hint: load one of them through a connectivity, as in x[dofs]");
}

static void names(void **state) {
    assert_refused(state, HEAD "a = kk + 1;\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: 'kk' has no value here\n"
                   "    a = kk + 1;\n"
                   "        ^\n"
                   "hint: did you mean 'k'?");
    assert_refused(state, HEAD "a = temperature;\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: 'temperature' has no value here\n"
                   "    a = temperature;\n"
                   "        ^\n"
                   "hint: assign it first, or declare it: input temperature : real over ...;");
    /* used before its assignment */
    assert_refused(state, HEAD "a = k + later;\nlater = 2*k;\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:9: error: 'later' has no value here\n"
                   "    a = k + later;\n"
                   "            ^\n"
                   "hint: assign it first, or declare it: input later : real over ...;");
    assert_refused(state, HEAD "a = mmull(M, M);\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: there is no function 'mmull'\n"
                   "    a = mmull(M, M);\n"
                   "        ^\n"
                   "hint: did you mean 'mmul'? 'weft library' lists them all");
    assert_refused(state, HEAD "a = 2*sqr(k);\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:7: error: there is no function 'sqr'\n"
                   "    a = 2*sqr(k);\n"
                   "          ^\n"
                   "hint: did you mean 'sqrt'? 'weft library' lists them all");
    assert_refused(state, HEAD "a = thermodynamics(k);\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: there is no function 'thermodynamics'\n"
                   "    a = thermodynamics(k);\n"
                   "        ^\n"
                   "hint: 'weft library' lists the functions; --kernels DIR adds your own");
    assert_refused(state, HEAD "a = x[dof];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:7: error: 'dof' is neither a connectivity nor a parameter\n"
                   "    a = x[dof];\n"
                   "          ^\n"
                   "hint: did you mean 'dofs'?");
    assert_refused(state, HEAD "a = M[0,dofs];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:9: error: 'dofs' is not a parameter\n"
                   "    a = M[0,dofs];\n"
                   "            ^\n"
                   "hint: declare it: parameter dofs = 2;");
}

static void shapes(void **state) {
    assert_refused(state, HEAD "a = M + x[dofs];\nreturn a;\n", WEFT_ERROR_SHAPE,
                   "t.weft:8:10: error: elementwise arithmetic of different shapes: real[3,3] and "
                   "real[3,2]\n"
                   "    a = M + x[dofs];\n"
                   "             ^\n"
                   "hint: shapes must be equal, or one a scalar; mmul, mvmul and dot are the "
                   "products of tensors");
    assert_refused(state, HEAD "a = M[3];\nreturn a;\n", WEFT_ERROR_SHAPE,
                   "t.weft:8:7: error: subscript 3 is outside 0 .. 2\n"
                   "    a = M[3];\n"
                   "          ^");
    assert_refused(state, HEAD "a = M[0,-1];\nreturn a;\n", WEFT_ERROR_SHAPE,
                   "t.weft:8:9: error: subscript -1 is outside 0 .. 2\n"
                   "    a = M[0,-1];\n"
                   "            ^");
    assert_refused(state, HEAD "a = M[0,1,2];\nreturn a;\n", WEFT_ERROR_SHAPE,
                   "t.weft:8:6: error: 3 subscripts for a real[3,3]\n"
                   "    a = M[0,1,2];\n"
                   "         ^");
    assert_refused(state, HEAD "a = k[0];\nreturn a;\n", WEFT_ERROR_SHAPE,
                   "t.weft:8:6: error: 1 subscript for a real\n"
                   "    a = k[0];\n"
                   "         ^");
    assert_refused(state, HEAD "b[dofs] += M[0]*k + alpha;\nA[dofs,dofs] += M[0];\nreturn b, A;\n",
                   WEFT_ERROR_SHAPE,
                   "t.weft:9:1: error: 'dofs' adds real[3,3], this is real[3]\n"
                   "    A[dofs,dofs] += M[0];\n"
                   "    ^");
    assert_refused(state, HEAD "b[sides] += M;\nreturn b;\n", WEFT_ERROR_SHAPE,
                   "t.weft:8:1: error: 'sides' adds real[2, ...], this is real[3,3]\n"
                   "    b[sides] += M;\n"
                   "    ^");
    /* two accumulations of different shapes into one list */
    assert_refused(
        state, HEAD "b[dofs] += M;\nb[dofs] += M[0];\nreturn b;\n", WEFT_ERROR_SHAPE,
        "t.weft:9:1: error: 'b' is real[3] over nodes; what is added is real over nodes\n"
        "    b[dofs] += M[0];\n"
        "    ^");
}

static void index_sets(void **state) {
    assert_refused(state, HEAD "a = k + x[0];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:10: error: arithmetic of a list over cells and one over nodes\n"
                   "    a = k + x[0];\n"
                   "             ^\n"
                   "hint: load one of them through a connectivity, as in x[dofs]");
    assert_refused(state, HEAD "a = smmul(M, x[0]);\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: 'M' ranges over cells but 'x' over nodes\n"
                   "    a = smmul(M, x[0]);\n"
                   "        ^\n"
                   "hint: load one of them through a connectivity, as in x[dofs]");
    assert_refused(state, HEAD "a = k[dofs];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:6: error: 'dofs' leads to nodes, but 'k' is over cells\n"
                   "    a = k[dofs];\n"
                   "         ^\n"
                   "hint: only lists over nodes can be loaded through 'dofs'");
    assert_refused(state, HEAD "a = alpha[dofs];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:10: error: 'dofs' leads to nodes, but 'alpha' is uniform\n"
                   "    a = alpha[dofs];\n"
                   "             ^\n"
                   "hint: only lists over nodes can be loaded through 'dofs'");
    assert_refused(state, HEAD "a = x[0][dofs];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:9: error: only a whole list can be loaded through a connectivity\n"
                   "    a = x[0][dofs];\n"
                   "            ^\n"
                   "hint: give the part a list of its own first: part = 1*x[...];");
    assert_refused(state, HEAD "a = x[dofs][sides];\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:12: error: only a whole list can be loaded through a connectivity\n"
                   "    a = x[dofs][sides];\n"
                   "               ^\n"
                   "hint: 'x' is loaded through one already");
    assert_refused(state, HEAD "b[dofs] += 2*x;\nreturn b;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:1: error: 'dofs' leads from cells, but this value is over nodes\n"
                   "    b[dofs] += 2*x;\n"
                   "    ^");
    assert_refused(state, HEAD "A[dofs,sides] += M;\nreturn A;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:8: error: rows and columns need the same connectivity, not 'sides'\n"
                   "    A[dofs,sides] += M;\n"
                   "           ^");
}

static void matrices_and_accumulation(void **state) {
    assert_refused(state, HEAD "A[dofs,dofs] += M;\na = A*2;\nreturn a, A;\n", WEFT_ERROR_TYPE,
                   "t.weft:9:5: error: 'A' is a sparse matrix: it can be accumulated into and "
                   "returned, not read\n"
                   "    a = A*2;\n"
                   "        ^");
    assert_refused(state, HEAD "b[dofs] += M[0];\na = 2*b;\nb[dofs] += M[1];\nreturn a, b;\n",
                   WEFT_ERROR_TYPE,
                   "t.weft:10:1: error: 'b' is accumulated into after it was read on line 9\n"
                   "    b[dofs] += M[1];\n"
                   "    ^\n"
                   "hint: a name holds one value: put every accumulation before the first use");
    assert_refused(state, HEAD "a = 2*x;\nx[dofs] += x[dofs];\nreturn a, x;\n", WEFT_ERROR_TYPE,
                   "t.weft:9:1: error: 'x' is accumulated into after it was read on line 8\n"
                   "    x[dofs] += x[dofs];\n"
                   "    ^\n"
                   "hint: a name holds one value: put every accumulation before the first use");
}

static void uniform_values(void **state) {
    assert_refused(state, HEAD "input v : real[3];\na = norm2(v);\nreturn a;\n",
                   WEFT_ERROR_UNSUPPORTED,
                   "t.weft:9:5: error: every argument of 'norm2' is uniform: there is nothing to "
                   "map over\n"
                   "    a = norm2(v);\n"
                   "        ^\n"
                   "hint: use arithmetic for uniform scalars, or give one argument 'over' an index "
                   "set");
    assert_refused(state, HEAD "b[dofs] += 2*alpha;\nreturn b;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:1: error: only a list over cells can be added here\n"
                   "    b[dofs] += 2*alpha;\n"
                   "    ^");
    assert_refused(state, HEAD "input v : real[3];\nb[dofs] += v;\nreturn b;\n", WEFT_ERROR_TYPE,
                   "t.weft:9:1: error: only a list over cells can be added here\n"
                   "    b[dofs] += v;\n"
                   "    ^");
    assert_refused(
        state, HEAD "input c : real[3];\na = 2*c;\nreturn a;\n", WEFT_ERROR_UNSUPPORTED,
        "t.weft:9:1: error: 'a' is a uniform tensor, read in another part of the program: "
        "give its components names\n"
        "    a = 2*c;\n"
        "    ^");
}

/* A formula of x, y, z where the mesh has two dimensions. */
static void formulas(void **state) {
    assert_refused(state, HEAD "expression f(x, y, z) = x + z;\na = f(x);\nreturn a;\n",
                   WEFT_ERROR_TYPE,
                   "t.weft:8:29: error: 'z' is not defined: there are 2 dimensions here\n"
                   "    expression f(x, y, z) = x + z;\n"
                   "                                ^\n"
                   "hint: use x and y only");
    assert_refused(state, HEAD "expression f(x, y) = x;\na = f(M);\nreturn a;\n", WEFT_ERROR_SHAPE,
                   "t.weft:9:5: error: 3 rows for the 2 arguments of 'f'\n"
                   "    a = f(M);\n"
                   "        ^");
    assert_refused(state, HEAD "expression f(x, y) = x;\na = f(k, k, k);\nreturn a;\n",
                   WEFT_ERROR_TYPE,
                   "t.weft:9:5: error: 'f' takes 2 arguments, not 3\n"
                   "    a = f(k, k, k);\n"
                   "        ^");
    assert_refused(state, HEAD "expression f(x) = x;\na = f();\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:9:5: error: 'f' takes 1 argument, not 0\n"
                   "    a = f();\n"
                   "        ^");
    assert_refused(state, HEAD "a = min(k);\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: 'min' takes 2 arguments, not 1\n"
                   "    a = min(k);\n"
                   "        ^");
    assert_refused(state, HEAD "a = sqrt(k, 2);\nreturn a;\n", WEFT_ERROR_TYPE,
                   "t.weft:8:5: error: 'sqrt' takes 1 argument, not 2\n"
                   "    a = sqrt(k, 2);\n"
                   "        ^");
}

static void returns(void **state) {
    assert_refused(state, HEAD "a = 2*k;\n", WEFT_ERROR_TYPE,
                   "error: the script returns nothing that it computes\n"
                   "hint: end it with: return NAME;");
    assert_refused(state, HEAD "a = 2*k;\nreturn k;\n", WEFT_ERROR_TYPE,
                   "t.weft:9:8: error: 'k' is an input: return a value that is computed from it\n"
                   "    return k;\n"
                   "           ^");
    assert_refused(state, "", WEFT_ERROR_TYPE,
                   "error: the script returns nothing that it computes\n"
                   "hint: end it with: return NAME;");
}

/* Nothing of what is printed or refused depends on how deep a script goes. */
static void too_much(void **state) {
    weft_text text = {0};
    weft_text_add(&text, HEAD "a0 = k + 1;\n");
    for (int i = 1; i <= 512; ++i)
        weft_text_add(&text, "a%d = 2*a%d;\n", i, i - 1);
    weft_text_add(&text, "return a512;\n");
    assert_refused(state, text.data, WEFT_ERROR_UNSUPPORTED,
                   "t.weft:520:9: error: more than 512 calls in one script, which "
                   "functions, arithmetic and numbers as arguments are\n"
                   "    a512 = 2*a511;\n"
                   "            ^");
    weft_text_free(&text);
    assert_refused(state, HEAD "input T : real[3,3,3,3] over nodes;\na = 2*T[dofs];\nreturn a;\n",
                   WEFT_ERROR_SHAPE,
                   "t.weft:9:8: error: more than 4 dimensions\n"
                   "    a = 2*T[dofs];\n"
                   "           ^");
    assert_refused(state,
                   "index c, n;\nconnectivity d : c -> n[60000];\ninput v : real[2] over n;\n"
                   "a = 2*v[d];\nreturn a;\n",
                   WEFT_ERROR_SHAPE,
                   "t.weft:4:6: error: an element of 120000 components is more than 65536\n"
                   "    a = 2*v[d];\n"
                   "         ^");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_index_sets),
        cmocka_unit_test(names),
        cmocka_unit_test(shapes),
        cmocka_unit_test(index_sets),
        cmocka_unit_test(matrices_and_accumulation),
        cmocka_unit_test(uniform_values),
        cmocka_unit_test(formulas),
        cmocka_unit_test(returns),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, library_open, library_close);
}
