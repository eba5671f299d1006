/* labels: quick */
/* MINRES, GMRES and BiCGStab on dense systems: solutions against elimination with pivoting, the same for
 * any units, threads and order of the methods. */
#include "krylov_support.h"

static void symmetric_indefinite(void **state) {
    (void)state;
    double A[N * N];
    for (int jacobi = 0; jacobi < 2; ++jacobi)
        for (uint64_t seed = 1; seed < 4; ++seed) {
            indefinite_matrix(seed, A);
            weft_cg_options options = options_of(WEFT_METHOD_MINRES);
            options.jacobi = jacobi != 0;
            check(A, N, &options);
            options.method = WEFT_METHOD_GMRES;
            options.restart = N;
            check(A, N, &options);
        }
}

static void not_symmetric(void **state) {
    (void)state;
    double A[N * N];
    for (uint64_t seed = 1; seed < 4; ++seed) {
        general_matrix(seed, A);
        weft_cg_options options = options_of(WEFT_METHOD_BICGSTAB);
        check(A, N, &options);
        for (int restart = 5; restart <= N; restart += 5) {
            options = options_of(WEFT_METHOD_GMRES);
            options.restart = restart;
            check(A, N, &options);
        }
    }
}

/* A size of one, and diagonals that Jacobi solves at once, with a zero and negative entries. */
static void small_systems(void **state) {
    (void)state;
    const double one[] = {-2}, D[] = {3, 0, 0, 0, -5, 0, 0, 0, 7}, Z[] = {0, 1, 1, 1};
    for (int m = 0; m < 3; ++m) {
        const weft_cg_options options = options_of(besides_cg[m]);
        check(one, 1, &options);
        check(D, 3, &options);
        if (besides_cg[m] != WEFT_METHOD_BICGSTAB)
            check(Z, 2, &options);
    }
}

/* Residuals of GMRES without a restart and of MINRES never grow; GMRES ends after n iterations. */
static void residuals_are_least(void **state) {
    (void)state;
    double A[N * N];
    indefinite_matrix(5, A);
    for (int m = 0; m < 2; ++m) {
        setting s = setting_make("host:1", library, N);
        weft_cg_options options = options_of(besides_cg[m]);
        options.restart = N;
        options.jacobi = false;
        for (int i = 0; i < N; ++i)
            s.b_values[i] = i % 7 - 3;
        weft_cg_result result = solve(&s, A, N, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_true(result.iterations <= N || besides_cg[m] == WEFT_METHOD_MINRES);
        for (int i = 1; i <= result.iterations; ++i)
            assert_true(result.history[i] <= result.history[i - 1] * (1 + 1e-9));
        free(result.history);
        setting_free(&s);
    }
}

/* Rows and columns of given entries drop out; the given entries keep their bits. */
static void constrained_dofs_are_kept(void **state) {
    (void)state;
    enum { GIVEN = 3 };
    const int32_t given[GIVEN] = {0, 17, N - 1};
    double A[N * N], B[N * N], b[N], x[N];
    for (int m = 0; m < 3; ++m) {
        besides_cg[m] == WEFT_METHOD_MINRES ? indefinite_matrix(9, A) : general_matrix(9, A);
        setting s = setting_make("host:1", library, N);
        weft_cg_options options = options_of(besides_cg[m]);
        options.constrained = given;
        options.n_constrained = GIVEN;
        memcpy(B, A, sizeof B);
        for (int i = 0; i < N; ++i)
            s.b_values[i] = b[i] = cos(i);
        for (int k = 0; k < GIVEN; ++k) {
            for (int j = 0; j < N; ++j)
                B[given[k] * N + j] = j == given[k];
            s.x_values[given[k]] = b[given[k]] = k + 0.3;
        }
        eliminate(B, b, x, N);
        weft_cg_result result = solve(&s, A, N, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        for (int k = 0; k < GIVEN; ++k)
            assert_true(s.x_values[given[k]] == k + 0.3);
        for (int i = 0; i < N; ++i)
            assert_double_near(s.x_values[i], x[i], 0, 1e-8); /* of a smaller condition */
        free(result.history);
        setting_free(&s);
    }
}

/* The squares of the right-hand side vanish or overflow; powers of two leave the bits as they are. */
static void units_do_not_matter(void **state) {
    (void)state;
    static const int exponents[] = {0, -1000, -540, 540, 1000};
    double A[N * N], x[N];
    for (int m = 0; m < 3; ++m) {
        besides_cg[m] == WEFT_METHOD_MINRES ? indefinite_matrix(4, A) : general_matrix(4, A);
        const weft_cg_options options = options_of(besides_cg[m]);
        for (size_t k = 0; k < sizeof exponents / sizeof exponents[0]; ++k) {
            setting s = setting_make("host:1", library, N);
            const double unit = ldexp(1, exponents[k]);
            for (int i = 0; i < N; ++i)
                s.b_values[i] = unit * sin(i + 1);
            weft_cg_result result = solve(&s, A, N, &options);
            assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
            for (int i = 0; i < N; ++i) {
                if (k == 0)
                    x[i] = s.x_values[i];
                assert_double_near(s.x_values[i] / unit, x[i], 0, NEAR);
            }
            free(result.history);
            setting_free(&s);
        }
    }
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    const char *const devices[] = {"host:1", "host:2", "host:3"};
    double A[N * N], first[N];
    general_matrix(6, A);
    for (int m = 0; m < 3; ++m)
        for (int t = 0; t < 3; ++t) {
            setting s = setting_make(devices[t], library, N);
            weft_cg_options options = options_of(besides_cg[m]);
            options.max_iterations = 12;
            for (int i = 0; i < N; ++i)
                s.b_values[i] = sin(i);
            free(solve(&s, A, N, &options).history);
            if (t == 0)
                memcpy(first, s.x_values, sizeof first);
            assert_memory_equal(first, s.x_values, sizeof first);
            setting_free(&s);
        }
}

/* One solver, every method in turn: none leaves anything to the next. */
static void methods_alternate(void **state) {
    (void)state;
    double A[N * N], x[N];
    const dense m = {A, NULL, N};
    weft_operator op = dense_operator(&m);
    weft_solver *solver = NULL;
    setting s = setting_make("host:1", library, N);
    general_matrix(8, A);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < i; ++j)
            A[i * N + j] = A[j * N + i];
    for (int i = 0; i < N; ++i)
        s.b_values[i] = sin(3 * i);
    eliminate(A, s.b_values, x, N);
    assert_int_equal(weft_solver_make(&s.context, &op, &solver, NULL), WEFT_OK);
    for (int k = 0; k < 2 * weft_method_count(); ++k) {
        const weft_cg_options options = options_of((weft_method)(k % weft_method_count()));
        weft_cg_result result = {0};
        assert_int_equal(weft_memory_zero(s.x, NULL), WEFT_OK);
        assert_int_equal(weft_solver_solve(solver, s.b, s.x, &options, &result, NULL), WEFT_OK);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        for (int i = 0; i < N; ++i)
            assert_double_near(s.x_values[i], x[i], 0, NEAR);
        free(result.history);
    }
    weft_solver_free(&solver);
    setting_free(&s);
}

static void nothing_to_do(void **state) {
    (void)state;
    const double A[] = {0, 2, -1, 0};
    for (int m = 0; m < 3; ++m) {
        setting s = setting_make("host:1", library, 2);
        const weft_cg_options options = options_of(besides_cg[m]);
        s.x_values[0] = 5;
        weft_cg_result result = solve(&s, A, 2, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_int_equal(result.iterations, 0);
        assert_true(s.x_values[0] == 0);
        free(result.history);
        s.b_values[0] = 2;
        s.b_values[1] = -3;
        s.x_values[0] = 3;
        s.x_values[1] = 1;
        result = solve(&s, A, 2, &options); /* starts at the solution */
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_int_equal(result.iterations, 0);
        free(result.history);
        setting_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_indefinite),
        cmocka_unit_test(not_symmetric),
        cmocka_unit_test(small_systems),
        cmocka_unit_test(residuals_are_least),
        cmocka_unit_test(constrained_dofs_are_kept),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(methods_alternate),
        cmocka_unit_test(nothing_to_do),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
