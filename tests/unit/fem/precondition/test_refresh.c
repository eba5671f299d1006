/* labels: quick */
/* A preconditioner is kept for other values of the operator until solves take more than twice the
 * iterations, and one that fails for them is updated within the solve. The residuals of 1e-12 that are asked
 * for mean errors below 1e-9 of the solution (as in test_multigrid_solve.c). */
#include "preconditioner_support.h"

static const case_options plane = {
    .d = 2, .n = 12, .times = 2, .components = 1, .kind = "aggregation"};

/* k = 1 + 2 x, times 1 + amount where y is above the middle */
static void change(multigrid_case *c, double amount) {
    weft_error error = {0};
    const weft_mesh *mesh = weft_space_mesh(c->space);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        c->k_values[i] = (1 + 2 * mesh->x[2 * i]) * (1 + (mesh->x[2 * i + 1] > 0.5 ? amount : 0));
    check(weft_vector_push(c->k, c->k_values, mesh->n_nodes, &error), &error);
    check(weft_operator_assemble(c->op, &error), &error);
    check(weft_preconditioner_refresh(c->preconditioner, &error), &error);
}

static void kept_until_slow(void **state) {
    (void)state;
    multigrid_case c;
    multigrid_case_make(&c, &plane);
    const int first = multigrid_solve(&c, true, 1e-12);
    change(&c, 0.1);
    const int close = multigrid_solve(&c, true, 1e-12);
    assert_in_range(close, first, 2 * first + 4);
    change(&c, 10); /* kept, as the last solve was fast */
    assert_in_range(multigrid_solve(&c, true, 1e-12), 2 * first + 5, 4 * (first + 4));
    change(&c, 10);
    assert_in_range(multigrid_solve(&c, true, 1e-12), 1, first + 2);
    change(&c, 1e5); /* kept, but too slow: updated within the solve */
    assert_in_range(multigrid_solve(&c, true, 1e-12), 1, first + 2);
    multigrid_case_free(&c);
}

/* In so few iterations that the reused preconditioner does not suffice. */
static void updated_where_it_fails(void **state) {
    (void)state;
    multigrid_case c;
    weft_error error = {0};
    weft_cg_result result = {0};
    multigrid_case_make(&c, &plane);
    const int first = multigrid_solve(&c, true, 1e-12);
    change(&c, 1e4);
    (void)multigrid_solve(&c, false, 1e-12);
    double *expected = multigrid_solution(&c), *b = multigrid_vector(&c, 9), most = 0;
    const weft_cg_options options = {.size = sizeof options,
                                     .tolerance = 1e-12,
                                     .max_iterations = 2 * first,
                                     .constrained = c.problem.constrained,
                                     .n_constrained = c.problem.n_constrained,
                                     .preconditioner = c.preconditioner};
    for (int64_t i = 0; i < c.n; ++i) {
        c.r_values[i] = b[i];
        c.z_values[i] = 0;
        most = fmax(most, fabs(expected[i]));
    }
    check(weft_vector_push(c.r, c.r_values, c.n, &error), &error);
    check(weft_vector_push(c.z, c.z_values, c.n, &error), &error);
    check(weft_cg_solve(&c.context, c.op, c.r, c.z, &options, &result, &error), &error);
    check(weft_vector_pull(c.z, c.z_values, c.n, &error), &error);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_in_range(result.iterations, 1, 2 * first);
    for (int64_t i = 0; i < c.n; ++i)
        assert_double_near(c.z_values[i], expected[i], 0, 1e-9 * most);
    free(result.history);
    free(expected);
    free(b);
    multigrid_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_until_slow),
                                       cmocka_unit_test(updated_where_it_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
