/* labels: quick */
/* Reading and printing form files, rerun with the n-th allocation failing. */
#include "allocation.h"
#include "forms/weft_ufl.h"
#include "test_support.h"

#include <string.h>

static const char legacy[] =
    "cell = triangle\n"
    "V, W = FiniteElement('P', cell, 2), VectorElement('P', cell, 1)\n"
    "TH = MixedElement(W, V)\n"
    "(u, p), (v, q) = TrialFunctions(TH), TestFunctions(TH)\n"
    "w, c = Coefficient(TH), Constant(cell)\n"
    "def F(x, y=2):\n    return [k*x for k in range(y)]\n"
    "y, z = split(w)\n"
    "s = variable(z)\n"
    "E = (exp(s**2) + inner(grad(y), grad(y)) + det(as_matrix([[s, 1], [2, s]])))*dx\n"
    "R = derivative(E, w)\n"
    "names = {'a': f\"{1 + 1}\"}\n"
    "a = c*inner(grad(u), grad(v))*dx(1, degree=3) + p*q*ds + dot(u, v)*dx + lhs(p*q*dx)\n"
    "L = sum(F(z))*q*dx + diff(s**3, s)*q*dx\n"
    "f = Function(V, conditional(lt(x[0], 1), sin(x[0]), 2))\n"
    "g = Function(W, as_vector([x[0], 1])/(2 + x[1]))\n"
    "P = solve(a, L + f*q*dx + dot(g, v)*dx)\n"
    "forms = [a, L, E, R, derivative(R, w), action(a), adjoint(a), replace(L, {w: 2*w})]\n";

static weft_status use_text(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl *ufl = NULL;
    weft_text text = {0};
    const char *source = user;
    TRY(weft_ufl_read_text("test.ufl", source, strlen(source), NULL, &ufl, error));
    TRY(weft_ufl_print_forms(ufl, NULL, &text, error));
    TRY(weft_ufl_print_degrees(ufl, NULL, &text, error));
done:
    weft_text_free(&text);
    weft_ufl_free(&ufl);
    return status;
}

static void test_every_one(void **state) {
    (void)state;
    test_every_allocation("weft_ufl_read_text", use_text, (void *)legacy);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
