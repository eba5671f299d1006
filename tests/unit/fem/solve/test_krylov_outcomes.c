/* labels: quick */
/* How MINRES, GMRES and BiCGStab end: on singular systems, at breakdowns, with numbers that are not
 * finite, at limits. */
#include "krylov_support.h"

/* A null vector, and a right-hand side in the range: some solution is found. */
static void singular_but_consistent(void **state) {
    (void)state;
    double eigenvalues[N], A[N * N], y[N];
    uint64_t seed = 3;
    for (int i = 0; i < N; ++i)
        eigenvalues[i] = i == 11 ? 0 : (i % 2 ? 1 : -1) * (1 + i / 10.0);
    symmetric_matrix(2, eigenvalues, A);
    random_vector(&seed, y, N);
    for (int m = 0; m < 2; ++m) {
        setting s = setting_make("host:1", library, N);
        weft_cg_options options = options_of(besides_cg[m]);
        options.tolerance = 1e-11;
        options.restart = N;
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < N; ++j)
                s.b_values[i] += A[i * N + j] * y[j];
        weft_cg_result result = solve(&s, A, N, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_true(residual_of(A, s.x_values, s.b_values, N) <= 1e-10);
        free(result.history);
        setting_free(&s);
    }
}

/* A graph Laplacian, singular: the right-hand side's mean is removed and so is the solution's. */
static void minres_projects_constants(void **state) {
    (void)state;
    const double A[] = {2, -1, -1, -1, 2, -1, -1, -1, 2};
    setting s = setting_make("host:1", library, 3);
    weft_cg_options options = options_of(WEFT_METHOD_MINRES);
    options.project_mean = true;
    for (int i = 0; i < 3; ++i) {
        s.b_values[i] = i;
        s.x_values[i] = 5;
    }
    weft_cg_result result = solve(&s, A, 3, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    for (int i = 0; i < 3; ++i) /* A acts on mean-free vectors as 3 */
        assert_double_near(s.x_values[i], (i - 1) / 3.0, 0, NEAR);
    free(result.history);
    setting_free(&s);
}

/* For A e_i = e_i+1, with b = e_0, no x in a Krylov space of less than n dimensions is better than
 * x = 0 (Nachtigal, Reddy and Trefethen 1992). */
static void cyclic_shift(void **state) {
    (void)state;
    enum { SHIFT = 8 };
    double A[SHIFT * SHIFT] = {0}, b[SHIFT] = {1};
    weft_cg_options options = options_of(WEFT_METHOD_GMRES);
    for (int i = 0; i < SHIFT; ++i)
        A[(i + 1) % SHIFT * SHIFT + i] = 1;
    options.restart = SHIFT;
    weft_cg_result result = outcome_of(A, b, SHIFT, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_int_equal(result.iterations, SHIFT);
    for (int i = 0; i < SHIFT; ++i)
        assert_double_near(result.history[i], 1, 1e-12, 0);
    free(result.history);
    options.restart = SHIFT - 1;
    result = outcome_of(A, b, SHIFT, &options);
    assert_int_equal(result.outcome, WEFT_CG_STAGNATION);
    assert_int_equal(result.iterations, SHIFT - 1);
    assert_double_near(result.residual, 1, 1e-12, 0);
    free(result.history);
}

/* r_hat = e_0: A e_0 has no component along it; t is orthogonal to s; r_hat.r = 0 after the first
 * iteration, which the start from a new r_hat mends. */
static void bicgstab_breaks_down(void **state) {
    (void)state;
    const double rotation[] = {0, 1, -1, 0}, flat[] = {1, 0, 0, 1, 0, -1, 1, 1, 0};
    const double mended[] = {1, 0, 0, 1, 2, 0, 1, 0, 3}, b[] = {1, 0, 0};
    weft_cg_options options = options_of(WEFT_METHOD_BICGSTAB);
    options.jacobi = false;
    weft_cg_result result = outcome_of(rotation, b, 2, &options);
    assert_int_equal(result.outcome, WEFT_CG_BREAKDOWN);
    assert_string_equal(result.breakdown, "r_hat.A p is 0");
    assert_double_near(result.residual, 1, 1e-12, 0);
    free(result.history);
    options.max_iterations = 1;
    result = outcome_of(flat, b, 3, &options);
    assert_int_equal(result.outcome, WEFT_CG_BREAKDOWN);
    assert_string_equal(result.breakdown, "omega = t.s / t.t is 0");
    assert_double_near(result.residual, sqrt(2), 1e-12, 0);
    free(result.history);
    result = outcome_of(mended, b, 3, &options);
    assert_int_equal(result.outcome, WEFT_CG_BREAKDOWN);
    assert_string_equal(result.breakdown, "rho = r_hat.r is 0");
    assert_double_near(result.residual, 1 / sqrt(13), 1e-12, 0);
    free(result.history);
    options.max_iterations = 20;
    result = outcome_of(mended, b, 3, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    free(result.history);
}

/* The best x leaves the component of b along the null vector, a third of |b|^2. */
static void singular_and_inconsistent(void **state) {
    (void)state;
    const double A[] = {1, 0, 0, 0, 2, 0, 0, 0, 0}, b[] = {1, 1, 1};
    for (int m = 0; m < 2; ++m) {
        const weft_cg_options options = options_of(besides_cg[m]);
        weft_cg_result result = outcome_of(A, b, 3, &options);
        assert_int_equal(result.outcome, WEFT_CG_BREAKDOWN);
        assert_non_null(strstr(result.breakdown, "singular"));
        assert_in_range((int)(1000 * result.residual), 577, 2000);
        free(result.history);
    }
}

static void not_a_number(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3}, B[] = {4, NAN, 1, 3};
    const double b[] = {NAN, 1}, c[] = {1, 1};
    for (int m = 0; m < 3; ++m) {
        const weft_cg_options options = options_of(besides_cg[m]);
        weft_cg_result result = outcome_of(A, b, 2, &options);
        assert_int_equal(result.outcome, WEFT_CG_NAN);
        assert_true(isnan(result.residual));
        free(result.history);
        result = outcome_of(B, c, 2, &options);
        assert_int_equal(result.outcome, WEFT_CG_NAN);
        free(result.history);
    }
}

static void too_few_iterations(void **state) {
    (void)state;
    double A[N * N], b[N];
    general_matrix(1, A);
    for (int i = 0; i < N; ++i)
        b[i] = sin(i);
    for (int m = 1; m < 3; ++m) {
        weft_cg_options options = options_of(besides_cg[m]);
        options.max_iterations = 5;
        weft_cg_result result = outcome_of(A, b, N, &options);
        assert_int_equal(result.outcome, WEFT_CG_MAX_ITERATIONS);
        assert_int_equal(result.iterations, 5);
        assert_true(result.residual > 1e-12 && result.residual < 1);
        assert_double_near(result.history[5], result.residual, 1e-6, 0);
        free(result.history);
    }
}

/* Tolerance 0 ends where rounding does. */
static void as_far_as_rounding(void **state) {
    (void)state;
    double A[N * N], b[N];
    for (int i = 0; i < N; ++i)
        b[i] = cos(2 * i);
    for (int m = 0; m < 3; ++m) {
        besides_cg[m] == WEFT_METHOD_MINRES ? indefinite_matrix(4, A) : general_matrix(4, A);
        weft_cg_options options = options_of(besides_cg[m]);
        options.tolerance = 0;
        options.max_iterations = 100000;
        weft_cg_result result = outcome_of(A, b, N, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_true(result.to_rounding);
        assert_true(result.residual < 1e-13);
        free(result.history);
    }
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    const dense m = {A, NULL, 2};
    weft_operator op = dense_operator(&m);
    setting s = setting_make("host:1", library, 2);
    weft_cg_result result = {0};
    weft_cg_options options = options_of(WEFT_METHOD_GMRES);
    s.b_values[0] = 1;
    options.restart = WEFT_RESTART_MAX + 1;
    assert_int_equal(weft_cg_solve(&s.context, &op, s.b, s.x, &options, &result, NULL),
                     WEFT_ERROR_USAGE);
    options.restart = 0;
    options.project_mean = true;
    assert_int_equal(weft_cg_solve(&s.context, &op, s.b, s.x, &options, &result, NULL),
                     WEFT_ERROR_USAGE);
    setting_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_but_consistent),
        cmocka_unit_test(minres_projects_constants),
        cmocka_unit_test(cyclic_shift),
        cmocka_unit_test(bicgstab_breaks_down),
        cmocka_unit_test(singular_and_inconsistent),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(too_few_iterations),
        cmocka_unit_test(as_far_as_rounding),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
