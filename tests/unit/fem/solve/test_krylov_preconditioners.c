/* labels: quick */
/* MINRES, GMRES and BiCGStab with preconditioners that are operators. */
#include "krylov_support.h"

/* z = B r, 0 at given dofs; state: B */
static weft_status apply_dense(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                               weft_error *error) {
    (void)error;
    const double *B = preconditioner->state, *in = weft_memory_host(r);
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    double *out = weft_memory_host(z);
    for (int i = 0; i < N; ++i) {
        out[i] = 0;
        for (int j = 0; j < N; ++j)
            out[i] += B[i * N + j] * in[j];
    }
    for (int64_t k = 0; k < problem->n_constrained; ++k)
        out[problem->constrained[k]] = 0;
    return WEFT_OK;
}

static const weft_preconditioner_kind dense_kind = {.apply = apply_dense};

/* With the inverse, or for MINRES that of the matrix with positive eigenvalues, at most two
 * iterations are needed; with another one more, but the solution is that of A x = b. */
static void preconditioners_are_operators(void **state) {
    (void)state;
    const int32_t given[] = {3, 20};
    double A[N * N], B[N * N], eigenvalues[N], inverse[N];
    const dense matrix = {A, NULL, N};
    weft_operator op = dense_operator(&matrix);
    for (int m = 0; m < 3; ++m) {
        weft_preconditioner M = {.kind = &dense_kind, .state = B, .problem.op = &op};
        weft_cg_options options = options_of(besides_cg[m]);
        options.preconditioner = &M;
        if (besides_cg[m] == WEFT_METHOD_MINRES) {
            for (int i = 0; i < N; ++i) {
                eigenvalues[i] = (i % 3 ? 1 : -1) * (1 + i);
                inverse[i] = 1 / fabs(eigenvalues[i]);
            }
            symmetric_matrix(4, eigenvalues, A);
            symmetric_matrix(4, inverse, B);
        } else {
            general_matrix(4, A);
            for (int j = 0; j < N; ++j) {
                double unit[N] = {0}, column[N];
                unit[j] = 1;
                eliminate(A, unit, column, N);
                for (int i = 0; i < N; ++i)
                    B[i * N + j] = column[i];
            }
        }
        options.max_iterations = 2;
        check(A, N, &options);
        for (int i = 0; i < N * N; ++i)
            B[i] = i % (N + 1) == 0 ? 0.2 + i % 7 : 0;
        options.max_iterations = 400;
        options.restart = N;
        check(A, N, &options);
        M.problem =
            (weft_preconditioner_problem){.op = &op, .constrained = given, .n_constrained = 2};
        options.constrained = given;
        options.n_constrained = 2;
        setting s = setting_make("host:1", library, N);
        for (int i = 0; i < N; ++i)
            s.b_values[i] = cos(i);
        s.x_values[3] = s.x_values[20] = 2;
        weft_cg_result result = solve(&s, A, N, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_true(s.x_values[3] == 2 && s.x_values[20] == 2);
        free(result.history);
        setting_free(&s);
    }
}

static void minres_needs_positive_preconditioners(void **state) {
    (void)state;
    double A[N * N], B[N * N] = {0};
    const dense matrix = {A, NULL, N};
    weft_operator op = dense_operator(&matrix);
    weft_preconditioner M = {.kind = &dense_kind, .state = B, .problem.op = &op};
    weft_cg_options options = options_of(WEFT_METHOD_MINRES);
    setting s = setting_make("host:1", library, N);
    indefinite_matrix(1, A);
    for (int i = 0; i < N; ++i) {
        s.b_values[i] = 1;
        B[i * N + i] = i == 1 ? -100 : 1;
    }
    options.preconditioner = &M;
    weft_cg_result result = solve(&s, A, N, &options);
    assert_int_equal(result.outcome, WEFT_CG_BREAKDOWN);
    assert_string_equal(result.breakdown, "r.M r is not positive");
    assert_int_equal(result.iterations, 0);
    free(result.history);
    setting_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preconditioners_are_operators),
        cmocka_unit_test(minres_needs_positive_preconditioners),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
