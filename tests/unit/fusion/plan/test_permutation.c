/* labels: quick */
/* Which sums over cells the owners of nodes may compute, because their values do not depend on the order of the entries of
 * a cell: scripts for which this is known from mathematics, on the limits of a GPU, which computes nothing. */
#include "core/weft_core.h"
#include "fusion/weft_compilation.h"
#include "fusion/weft_compile.h"
#include "library_state.h"
#include "test_support.h"

#include <string.h>

#define CELLS(width)                                                                               \
    "index cells, nodes;\nconnectivity dofs : cells -> nodes[" #width "];\n"                       \
    "input x : real[d] over nodes;\ninput u : real over nodes;\n"
#define ORDERED                                                                                    \
    "index cells, nodes;\nconnectivity dofs : cells -> nodes[3] ordered;\n"                        \
    "input x : real[d] over nodes;\ninput u : real over nodes;\n"
#define POISSON "J = jacobian(x[dofs]);\nK = dshape_dot_dshape(tform_dshape(J), J);\n"
#define DET                                                                                        \
    "E = x[dofs];\na = E[1,0] - E[0,0];\nb = E[1,1] - E[0,1];\nc = E[2,0] - E[0,0];\ne = E[2,1] "  \
    "- E[0,1];\n"

typedef struct order_case {
    const char *text;
    const char *scatter; /* of the kernel that adds up */
    int d;
} order_case;

static const order_case cases[] = {
    /* forms of Lagrange functions of degree 1: the numbers of the vertices do not matter */
    {CELLS(3) POISSON "A[dofs,dofs] += K;\nreturn A;", "vertex-patch", 2},
    {CELLS(3) POISSON "y[dofs] += mvmul(K, u[dofs]);\nreturn y;", "vertex-patch", 2},
    {CELLS(4) POISSON "A[dofs,dofs] += K;\nreturn A;", "vertex-patch", 3},
    {CELLS(4) POISSON "y[dofs] += mvmul(K, u[dofs]);\nreturn y;", "edge-patch", 3},
    {CELLS(
         2) "h = x[dofs][1,0] - x[dofs][0,0];\nS = mass_of_two(h);\nA[dofs,dofs] += S;\nreturn A;",
     "vertex-patch", 1},
    /* declared */
    {ORDERED POISSON "A[dofs,dofs] += K;\nreturn A;", "atomic", 2},
    {ORDERED POISSON "y[dofs] += mvmul(K, u[dofs]);\nreturn y;", "cell-patch", 2},
    /* what only the first entry of a cell gives, however little it counts */
    {CELLS(3) "U = u[dofs];\ny[dofs] += U[0]*U;\nreturn y;", "cell-patch", 2},
    {CELLS(3) "U = u[dofs];\ny[dofs] += (1 + 1e-30*U[0])*U;\nreturn y;", "cell-patch", 2},
    {CELLS(3) "U = u[dofs];\ny[dofs] += select(U[0] + U[1] + U[2] > 1e200, U[0], 1)*U;\nreturn y;",
     "cell-patch", 2},
    {CELLS(3) "U = u[dofs];\ns = max(U[0] + U[1], 0) + max(U[2], 0);\ny[dofs] += s*U;\nreturn y;",
     "cell-patch", 2},
    {CELLS(3) "U = u[dofs];\ns = exp(U[0]) + exp(U[1]) + exp(1.0001*U[2]);\ny[dofs] += "
              "s*U;\nreturn y;",
     "cell-patch", 2},
    /* symmetric in the entries, though the text is not */
    {CELLS(3) "U = u[dofs];\ny[dofs] += (U[0]*(U[1] + U[2]) + U[1]*U[2])*U;\nreturn y;",
     "vertex-patch", 2},
    {CELLS(3) "U = u[dofs];\ny[dofs] += max(U[0], max(U[1], U[2]))*U;\nreturn y;", "vertex-patch",
     2},
    {CELLS(3) "U = u[dofs];\ny[dofs] += sqrt(exp(U[0]) + exp(U[1]) + exp(U[2]))*U;\nreturn y;",
     "vertex-patch", 2},
    {CELLS(3) "U = u[dofs];\ny[dofs] += (0.1*U[0] + 0.1*U[1] + (0.3 - 0.2)*U[2])*U;\nreturn y;",
     "vertex-patch", 2},
    /* equal values: at a tie, u0 < u1 is not the opposite of u1 < u0 */
    {CELLS(2) "U = u[dofs];\nw = pair(select(U[0] < U[1], 1, 0), select(U[1] <= U[0], 1, 0));\n"
              "S = outer(w, w);\nA[dofs,dofs] += S;\nreturn A;",
     "atomic", 1},
    {CELLS(2) "U = u[dofs];\nw = pair(select(U[0] < U[1], 1, 0), select(U[1] < U[0], 1, 0));\n"
              "S = outer(w, w);\nA[dofs,dofs] += S;\nreturn A;",
     "vertex-patch", 1},
    /* the sign of det J changes where two vertices are exchanged, which edge patches do: even permutations
     * keep it */
    {CELLS(4) POISSON "E = x[dofs];\ns = signed_volume(J);\ny[dofs] += s*u[dofs];\nreturn y;",
     "vertex-patch", 3},
    {CELLS(4) POISSON "s = signed_volume(J);\ny[dofs] += abs(s)*u[dofs];\nreturn y;", "edge-patch",
     3},
    {CELLS(3) DET "y[dofs] += (a*e - b*c)*u[dofs];\nreturn y;", "vertex-patch", 2},
    {CELLS(3) DET "y[dofs] += (a*e - 2*b*c)*u[dofs];\nreturn y;", "cell-patch", 2},
    /* what is read per cell is that of the cell as it is */
    {CELLS(3) "input k : real over cells;\n" POISSON "A[dofs,dofs] += k*K;\nreturn A;",
     "vertex-patch", 2},
    {CELLS(3) "input K : real[3,3] over cells;\nA[dofs,dofs] += K;\nreturn A;", "atomic", 2},
    {CELLS(3) "input J : real[d,d] over cells;\nK = dshape_dot_dshape(tform_dshape(J), J);\n"
              "A[dofs,dofs] += K;\nreturn A;",
     "atomic", 2},
    {CELLS(3) "input J : real[d,d] over cells;\nA[dofs,dofs] += shape_shape(J);\nreturn A;",
     "vertex-patch", 2},
    {CELLS(3) "input t : real[3] over cells;\ny[dofs] += t*u[dofs];\nreturn y;", "cell-patch", 2},
};

/* Functions that no script can write. */
static const char functions[] =
    "//@ function  mass_of_two(h: real) -> M: real[2,2]\n//@ kind      map\n//@ flops     6\n"
    "//@ source    h/6 (2 1; 1 2)\n//@ threads   1\n"
    "for (int i = 0; i < 2; ++i)\n    for (int j = 0; j < 2; ++j) {\n"
    "        M(i,j) = abs(h) / 6;\n        if (i == j)\n            M(i,j) *= 2;\n    }\n"
    "//@ threads   2   M(t,:)\n"
    "M(t,0) = abs(h) / 6 * select(t == 0, 2.0, 1.0);\nM(t,1) = abs(h) / 6 * select(t == 0, 1.0, "
    "2.0);\n"
    "\n//@ function  pair(a: real, b: real) -> w: real[2]\n//@ kind      map\n//@ flops     1\n"
    "//@ source    (a, b)\n//@ threads   1\nw(0) = a;\nw(1) = b;\n"
    "\n//@ function  signed_volume(J: real[d,d]) -> s: real\n//@ kind      map\n//@ flops     14\n"
    "//@ source    det J / d!\n//@ threads   1\nuse determinant;\ns = det / 6;\n";

static void check_case(weft_library *library, const order_case *c) {
    const weft_fragment fragment = {"script", c->text};
    const weft_parameter dimension = {"d", c->d};
    char text[2048];
    weft_compilation *made = NULL;
    weft_device *device = NULL;
    weft_error error = {0};
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = WEFT_SCATTER_PATCHES,
                                          .parameters = &dimension,
                                          .n_parameters = 1};
    const weft_fragment both[] = {{"parameter", "parameter d = 2;\n"}, fragment};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(device), both, 2, &options, &made, &error) !=
        WEFT_OK) {
        weft_error_text(&error, text, sizeof text);
        fail_msg("%s\n%s", text, c->text);
    }
    const char *found = NULL, *why = NULL;
    for (int k = 0; k < weft_compilation_kernels(made); ++k) {
        weft_kernel_info info;
        weft_compilation_kernel(made, k, &info);
        if (info.scatter && !found) {
            found = info.scatter;
            why = info.not_permuted;
        }
    }
    if (!found || strcmp(found, c->scatter) != 0)
        fail_msg("%s instead of %s:\n%s", found, c->scatter, c->text);
    const bool by_owners =
        strcmp(c->scatter, "cell-patch") != 0 && strcmp(c->scatter, "atomic") != 0;
    assert_int_equal(why != NULL, !by_owners);
    if (why)
        assert_string_equal(why, strstr(c->text, "] ordered")
                                     ? "'dofs' is ordered"
                                     : "its values depend on the order of the entries of 'dofs'");
    weft_compilation_free(&made);
    weft_device_free(&device);
}

static void owners_add_up_what_has_no_order(void **state) {
    weft_error error = {0};
    weft_library *library = *state;
    if (weft_library_add_text(library, "test.kernel.c", functions, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        check_case(library, &cases[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(owners_add_up_what_has_no_order)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
