/* labels: full */
/* Newton's method on several ranks: where a line search ends and whether the iteration has converged follow from sums that all
 * ranks have, so that any number of ranks makes the same iterations, with the same bits. */
#include "ranks_run.h"

#include <stdio.h>

/* A conductivity that grows with u; convection by u, whose tangent is not symmetric; load steps. */
static void test_forms(void **state) {
    (void)state;
    static const char *const forms[] = {
        "F = (1 + u**2)*inner(grad(u), grad(v))*dx - (1 + x[0])*v*dx\n",
        "F = inner(grad(u), grad(v))*dx + 5*u*u.dx(0)*v*dx + exp(u)*v*ds - 10*v*dx\n",
        "F = inner(grad(u), grad(v))*dx + u**3*v*dx - 20*v*dx\n"};
    for (int i = 0; i < 3; ++i) {
        char text[1000];
        (void)snprintf(text, sizeof text, "%su, v = Coefficient(V), TestFunction(V)\n%s",
                       ranks_quadratic, forms[i]);
        ranks_write("ranks_newton.ufl", text);
        const rank_case one = {"solve",
                               {"ranks_newton.ufl", "--nonlinear", "--mesh", "square:6",
                                "--dirichlet", "left=0", "--dirichlet", "right=2", "--robin",
                                "top=1,2", "--preconditioner", "jacobi", IN_PLANE}};
        const rank_case few = {"solve",
                               {"ranks_newton.ufl", "--nonlinear", "--mesh", "square:1",
                                "--dirichlet", "left=0", "--load-steps", "3", "--dirichlet",
                                "right=1", "--preconditioner", "jacobi", IN_PLANE}};
        ranks_check(&one);
        ranks_check_up_to(&few, 4, 1e-9);
    }
    (void)remove("ranks_newton.ufl");
}

/* A start that is far away, so that steps are shortened. */
static void test_line_search(void **state) {
    (void)state;
    char text[1000];
    (void)snprintf(text, sizeof text, "%su, v = Coefficient(V), TestFunction(V)\n%s",
                   ranks_quadratic,
                   "F = (0.01 + u**2/(1 + u**2))*inner(grad(u), grad(v))*dx - (1 + x[0])*v*dx\n");
    ranks_write("ranks_search.ufl", text);
    const rank_case one = {"solve",
                           {"ranks_search.ufl", "--nonlinear", "--mesh", "square:5", "--initial",
                            "5*x*(1-y)", "--dirichlet", "left=0", "--preconditioner", "jacobi",
                            IN_PLANE}};
    json_t *result = ranks_run(&one, "--ranks", "3");
    bool is_shortened = false;
    const json_t *list = json_object_get(result, "newton");
    for (size_t i = 0; i < json_array_size(list); ++i)
        is_shortened |= app_number(json_array_get(list, i), "damping") < 1;
    assert_true(is_shortened);
    json_decref(result);
    ranks_check(&one);
    (void)remove("ranks_search.ufl");
}

/* In time, with lengths of steps that follow from errors. */
static void test_time(void **state) {
    (void)state;
    const rank_case one = {"solve",
                           {"heat_nonlinear.weft", "--nonlinear", "--mesh", "square:6", "--define",
                            "conductivity=1+u*u", "--initial", "x*(1-x)", "--dirichlet", "left=t",
                            "--robin", "right=1,2", "--time", "0.02,0.2", "--time-tolerance",
                            "1e-3", IN_PLANE}};
    ranks_check_up_to(&one, 7, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_line_search),
                                       cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
