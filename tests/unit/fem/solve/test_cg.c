/* labels: quick */
#include "core/weft_core.h"
#include "dense_operator.h"
#include "fem/operator/operator.h"
#include "fem/solve/private.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -u'' on n points with zero ends: tridiagonal 2, -1 */
static weft_status line_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                              weft_error *error) {
    (void)error;
    const double *in = weft_memory_host(v);
    double *out = weft_memory_host(y);
    int64_t n = op->n_dofs;
    for (int64_t i = 0; i < n; ++i)
        out[i] = 2 * in[i] - (i ? in[i - 1] : 0) - (i + 1 < n ? in[i + 1] : 0);
    return WEFT_OK;
}

static weft_status line_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    (void)error;
    double *out = weft_memory_host(d);
    for (int64_t i = 0; i < op->n_dofs; ++i)
        out[i] = 2;
    return WEFT_OK;
}

static const weft_operator_table line_table = {.apply = line_apply, .diagonal = line_diagonal};

static weft_library *library; /* of all tests here: steps are scripts */

static weft_cg_result solve(setting *s, weft_operator *op, const weft_cg_options *options) {
    weft_cg_result result = {0};
    weft_error error = {0};
    weft_status status = weft_cg_solve(&s->context, op, s->b, s->x, options, &result, &error);
    if (status != WEFT_OK)
        print_error("%s\n", error.message);
    assert_int_equal(status, WEFT_OK);
    assert_non_null(result.history);
    return result;
}

static weft_cg_result solve_dense(setting *s, const double *A, int64_t n,
                                  const weft_cg_options *options) {
    dense m = {A, NULL, n};
    weft_operator op = dense_operator(&m);
    return solve(s, &op, options);
}

/* ---- solutions -------------------------------------------------------------------------- */

/* Hestenes and Stiefel: at most n steps; 2x2 by hand: [[4,1],[1,3]] x = (1,2) has x = (1/11, 7/11).
 */
static void two_by_two(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    for (int jacobi = 0; jacobi < 2; ++jacobi) {
        setting s = setting_make("host:1", library, 2);
        s.b_values[0] = 1;
        s.b_values[1] = 2;
        weft_cg_options options = {.size = sizeof options,
                                   .jacobi = jacobi != 0,
                                   .tolerance = 1e-12,
                                   .max_iterations = 10};
        weft_cg_result result = solve_dense(&s, A, 2, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_int_equal(result.iterations, 2);
        assert_double_near(s.x_values[0], 1.0 / 11, 1e-13, 0);
        assert_double_near(s.x_values[1], 7.0 / 11, 1e-13, 0);
        assert_double_near(result.history[0], 1, 1e-14, 0);
        assert_true(result.residual <= 1e-12);
        free(result.history);
        setting_free(&s);
    }
}

/* A diagonal system with Jacobi is solved in one step. */
static void jacobi_solves_diagonals_at_once(void **state) {
    (void)state;
    enum { N = 20 };
    double A[N * N] = {0};
    setting s = setting_make("host:1", library, N);
    for (int i = 0; i < N; ++i) {
        A[i * N + i] = 1 + i * i;
        s.b_values[i] = 1;
    }
    weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    weft_cg_result result = solve_dense(&s, A, N, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_int_equal(result.iterations, 1);
    for (int i = 0; i < N; ++i)
        assert_double_near(s.x_values[i], 1 / A[i * N + i], 1e-13, 0);
    free(result.history);
    setting_free(&s);
}

/* -u'' = 0 with u(first) = 1, u(last) = 3 is linear; the constrained entries stay as they are. */
static void constrained_dofs_are_kept(void **state) {
    (void)state;
    const int64_t n = 10001;
    const int32_t ends[] = {0, 10000};
    setting s = setting_make("host:2", library, n);
    weft_operator op = {.table = &line_table, .n_dofs = n};
    s.x_values[0] = 1;
    s.x_values[n - 1] = 3;
    s.b_values[0] = 77; /* of no account */
    weft_cg_options options = {.size = sizeof options,
                               .jacobi = true,
                               .tolerance = 1e-11,
                               .max_iterations = 20000,
                               .constrained = ends,
                               .n_constrained = 2};
    weft_cg_result result = solve(&s, &op, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_true(s.x_values[0] == 1 && s.x_values[n - 1] == 3);
    for (int64_t i = 0; i < n; i += 100) /* condition about n^2: 1e-11 * 1e8 / |b| of 1 */
        assert_double_near(s.x_values[i], 1 + 2 * (double)i / (double)(n - 1), 1e-4, 0);
    double most = 0;
    for (int64_t i = 1; i + 1 < n; ++i)
        most = fmax(most, fabs(2 * s.x_values[i] - s.x_values[i - 1] - s.x_values[i + 1]));
    assert_true(most <= 1e-11 * sqrt(10));
    free(result.history);
    setting_free(&s);
}

/* A graph Laplacian, singular: the right-hand side's mean is removed and so is the solution's. */
static void constants_are_projected(void **state) {
    (void)state;
    const double A[] = {2, -1, -1, -1, 2, -1, -1, -1, 2};
    setting s = setting_make("host:1", library, 3);
    for (int i = 0; i < 3; ++i) {
        s.b_values[i] = i; /* mean 1: reduced to -1, 0, 1 */
        s.x_values[i] = 5;
    }
    weft_cg_options options = {.size = sizeof options,
                               .jacobi = true,
                               .tolerance = 1e-12,
                               .max_iterations = 10,
                               .project_mean = true};
    weft_cg_result result = solve_dense(&s, A, 3, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    for (int i = 0; i < 3; ++i) /* A acts on mean-free vectors as 3 */
        assert_double_near(s.x_values[i], (i - 1) / 3.0, 0, 1e-13);
    free(result.history);
    setting_free(&s);
}

static void nothing_to_do(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    const int32_t constrained[] = {1};
    setting s = setting_make("host:1", library, 2);
    weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    s.x_values[0] = 5;
    weft_cg_result result = solve_dense(&s, A, 2, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_int_equal(result.iterations, 0);
    assert_double_near(result.residual, 0, 0, 0);
    assert_double_near(s.x_values[0], 0, 0, 0);
    free(result.history);
    options.constrained = constrained;
    options.n_constrained = 1;
    s.b_values[0] = 3; /* = A01 * 3: the free entry is zero */
    s.x_values[1] = 3;
    result = solve_dense(&s, A, 2, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_double_near(s.x_values[0], 0, 0, 0);
    assert_double_near(s.x_values[1], 3, 0, 0);
    free(result.history);
    setting_free(&s);
}

/* -u'' = b with b = s on 7 points is u_i = s i (8 - i) / 2. The squares of s vanish or overflow, u
 * and b do not, and powers of two leave the bits as they are. */
static void units_do_not_matter(void **state) {
    (void)state;
    static const int exponents[] = {-1060, -1000, -540, -400, 0, 400, 540, 1000};
    enum { N = 7 };
    const weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 100};
    for (size_t k = 0; k < sizeof exponents / sizeof exponents[0]; ++k) {
        setting s = setting_make("host:1", library, N);
        weft_operator op = {.table = &line_table, .n_dofs = N};
        double unit = ldexp(1, exponents[k]);
        for (int i = 0; i < N; ++i)
            s.b_values[i] = unit;
        weft_cg_result result = solve(&s, &op, &options);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        assert_true(result.iterations > 0);
        for (int i = 0; i < N; ++i) {
            assert_double_near((i + 1) * (7 - i) / 2.0, s.x_values[i] / unit, 1e-10, 0);
            assert_true(s.b_values[i] == unit);
        }
        free(result.history);
        setting_free(&s);
    }
}

/* A start that is the solution needs no iteration. */
static void a_good_start_is_used(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    setting s = setting_make("host:1", library, 2);
    s.b_values[0] = 6;
    s.b_values[1] = 7;
    s.x_values[0] = 1;
    s.x_values[1] = 2;
    weft_cg_options options = {.size = sizeof options, .tolerance = 1e-12, .max_iterations = 10};
    weft_cg_result result = solve_dense(&s, A, 2, &options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_int_equal(result.iterations, 0);
    free(result.history);
    setting_free(&s);
}

/* A second solve by a solver compiles nothing, on other memories; another solver does. What the first
 * solve left in the solver does not change the bits of the others. */
static void programs_are_kept(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    const dense m = {A, NULL, 2};
    weft_operator op = dense_operator(&m);
    weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    setting first = setting_make("host:1", library, 2);
    weft_solver *solver = NULL;
    int n_kernels = 0;
    for (int i = 0; i < 4; ++i) {
        weft_memory *b = NULL, *x = NULL;
        weft_cg_result result = {0};
        const double values[2] = {1 + i, 2};
        double found[2];
        assert_int_equal(weft_memory_make(first.device, sizeof values, &b, NULL), WEFT_OK);
        assert_int_equal(weft_memory_make(first.device, sizeof values, &x, NULL), WEFT_OK);
        assert_int_equal(weft_memory_write(b, 0, values, sizeof values, NULL), WEFT_OK);
        first.context.plan = i < 3 ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED;
        if (i == 0 || i == 3) {
            weft_solver_free(&solver);
            assert_int_equal(weft_solver_make(&first.context, &op, &solver, NULL), WEFT_OK);
        }
        assert_int_equal(weft_solver_solve(solver, b, x, &options, &result, NULL), WEFT_OK);
        if (i < 3) {
            weft_cg_result once = {0};
            double alone[2];
            assert_int_equal(weft_memory_zero(x, NULL), WEFT_OK);
            assert_int_equal(weft_solver_solve(solver, b, x, &options, &once, NULL), WEFT_OK);
            assert_int_equal(weft_memory_read(x, 0, found, sizeof found, NULL), WEFT_OK);
            assert_int_equal(weft_memory_zero(x, NULL), WEFT_OK);
            free(once.history);
            const int n = first.context.n_kernels;
            assert_int_equal(weft_cg_solve(&first.context, &op, b, x, &options, &once, NULL),
                             WEFT_OK);
            first.context.n_kernels = n;
            assert_int_equal(weft_memory_read(x, 0, alone, sizeof alone, NULL), WEFT_OK);
            assert_memory_equal(found, alone, sizeof found);
            assert_int_equal(result.iterations, once.iterations);
            free(once.history);
        }
        assert_int_equal(weft_memory_read(x, 0, found, sizeof found, NULL), WEFT_OK);
        assert_double_near(found[0], (3 * values[0] - values[1]) / 11, 1e-13, 0);
        assert_double_near(found[1], (4 * values[1] - values[0]) / 11, 1e-13, 0);
        if (i == 1 || i == 2)
            assert_int_equal(first.context.n_kernels, n_kernels);
        else
            assert_true(first.context.n_kernels > n_kernels);
        n_kernels = first.context.n_kernels;
        free(result.history);
        weft_memory_free(&b);
        weft_memory_free(&x);
    }
    weft_solver_free(&solver);
    setting_free(&first);
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    const int64_t n = 50000;
    double *first = NULL;
    int iterations = 0;
    const char *const devices[] = {"host:1", "host:2", "host:3", "host:4"};
    for (int t = 0; t < 8; ++t) {
        setting s = setting_make(devices[t % 4], library, n);
        s.context.plan = t < 4 ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED;
        weft_operator op = {.table = &line_table, .n_dofs = n};
        for (int64_t i = 0; i < n; ++i)
            s.b_values[i] = sin((double)i);
        weft_cg_options options = {
            .size = sizeof options, .jacobi = true, .tolerance = 1e-3, .max_iterations = 300};
        weft_cg_result result = solve(&s, &op, &options);
        if (t % 4 == 0) { /* plans round differently where a product and a sum meet in a kernel */
            free(first);
            first = malloc((size_t)n * sizeof *first);
            memcpy(first, s.x_values, (size_t)n * sizeof *first);
            iterations = result.iterations;
        }
        assert_int_equal(result.iterations, iterations);
        assert_memory_equal(first, s.x_values, (size_t)n * sizeof *first);
        free(result.history);
        setting_free(&s);
    }
    free(first);
}

/* ---- outcomes --------------------------------------------------------------------------- */

static weft_cg_result outcome_of(const double A[4], const double *diagonal, double b0, double b1,
                                 weft_cg_options options) {
    setting s = setting_make("host:1", library, 2);
    dense m = {A, diagonal, 2};
    weft_operator op = dense_operator(&m);
    s.b_values[0] = b0;
    s.b_values[1] = b1;
    weft_cg_result result = solve(&s, &op, &options);
    free(result.history);
    setting_free(&s);
    return result;
}

static void indefinite(void **state) {
    (void)state;
    const double A[] = {1, 0, 0, -1}, B[] = {1, 2, 2, 1};
    weft_cg_options plain = {.size = sizeof plain, .tolerance = 1e-12, .max_iterations = 10};
    weft_cg_options jacobi = {
        .size = sizeof jacobi, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    assert_int_equal(outcome_of(A, NULL, 1, 1, plain).outcome, WEFT_CG_INDEFINITE);
    assert_int_equal(outcome_of(A, NULL, 1, 1, jacobi).outcome, WEFT_CG_INDEFINITE);
    /* eigenvalues 3 and -1; b = (1, 0) has both: p.Ap > 0 first, negative in iteration 1 */
    weft_cg_result result = outcome_of(B, NULL, 1, 0, plain);
    assert_int_equal(result.outcome, WEFT_CG_INDEFINITE);
    assert_int_equal(result.iterations, 1);
}

static void breakdown(void **state) {
    (void)state;
    const double A[] = {1, 0, 0, 1}, huge[] = {1e300, 1e300};
    weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    /* r.z = 1e-30 / 1e300 underflows to zero */
    assert_int_equal(outcome_of(A, huge, 1e-15, 1e-15, options).outcome, WEFT_CG_BREAKDOWN);
}

static void not_a_number(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3}, B[] = {4, NAN, 1, 3};
    weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    weft_cg_result result = outcome_of(A, NULL, NAN, 1, options);
    assert_int_equal(result.outcome, WEFT_CG_NAN);
    assert_int_equal(result.iterations, 0);
    assert_true(isnan(result.residual));
    assert_int_equal(outcome_of(B, NULL, 1, 1, options).outcome, WEFT_CG_NAN);
}

/* x = 1e300 / 1e-300: the scaled system is solved, x cannot be represented. */
static void too_large(void **state) {
    (void)state;
    const double A[] = {1e-300, 0, 0, 1e-300};
    weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 10};
    assert_int_equal(outcome_of(A, NULL, 1e300, 1, options).outcome, WEFT_CG_OVERFLOW);
    assert_int_equal(outcome_of(A, NULL, 1e-10, 1, options).outcome, WEFT_CG_CONVERGED);
}

static void too_few_iterations(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    weft_cg_options options = {.size = sizeof options, .tolerance = 1e-12, .max_iterations = 1};
    weft_cg_result result = outcome_of(A, NULL, 1, 2, options);
    assert_int_equal(result.outcome, WEFT_CG_MAX_ITERATIONS);
    assert_int_equal(result.iterations, 1);
    assert_true(result.residual > 1e-12);
}

/* Not symmetric, though p.Ap > 0: residuals grow slowly and for ever. */
static void growing_residuals_stagnate(void **state) {
    (void)state;
    const double A[] = {1, 1, -1, 1};
    weft_cg_options options = {
        .size = sizeof options, .tolerance = 1e-10, .max_iterations = 1000000};
    weft_cg_result result = outcome_of(A, NULL, 1, 0, options);
    assert_int_equal(result.outcome, WEFT_CG_STAGNATION);
    assert_in_range(result.iterations, 1000, 20000);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    const double A[] = {4, 1, 1, 3};
    const int32_t twice[] = {1, 1}, one[] = {1};
    dense m = {A, NULL, 2};
    weft_operator op = dense_operator(&m);
    setting s = setting_make("host:1", library, 2), small = setting_make("host:1", library, 1);
    weft_cg_result result = {0};
    weft_error error;
    weft_cg_options options = {.size = sizeof options,
                               .tolerance = 1e-12,
                               .max_iterations = 10,
                               .constrained = twice,
                               .n_constrained = 2};
    assert_int_equal(weft_cg_solve(&s.context, &op, s.b, s.x, &options, &result, &error),
                     WEFT_ERROR_USAGE);
    options.constrained = one;
    options.n_constrained = 1;
    options.project_mean = true;
    assert_int_equal(weft_cg_solve(&s.context, &op, s.b, s.x, &options, &result, &error),
                     WEFT_ERROR_USAGE);
    options.project_mean = false;
    assert_int_equal(weft_cg_solve(&s.context, &op, small.b, s.x, &options, &result, &error),
                     WEFT_ERROR_SHAPE);
    setting_free(&s);
    setting_free(&small);
    for (int i = 0; i <= WEFT_CG_STAGNATION; ++i)
        for (int j = 0; j < i; ++j)
            assert_string_not_equal(weft_cg_outcome_name((weft_cg_outcome)i),
                                    weft_cg_outcome_name((weft_cg_outcome)j));
}

/* 1/3 has no short expansion: adding it naively a million times loses about 11 digits' last. */
static void sums_are_pairwise(void **state) {
    (void)state;
    const int64_t n = 1000003;
    double *values = malloc((size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; ++i)
        values[i] = 1.0 / 3;
    assert_double_near(weft_sum(values, n), (double)n / 3, 1e-14, 0);
    assert_double_near(weft_sum(values, 0), 0, 0, 0);
    free(values);
}

static int open_library(void **state) {
    (void)state;
    return (int)weft_fem_library_make(&library, NULL);
}

static int close_library(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_by_two),
        cmocka_unit_test(jacobi_solves_diagonals_at_once),
        cmocka_unit_test(constrained_dofs_are_kept),
        cmocka_unit_test(constants_are_projected),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(a_good_start_is_used),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(programs_are_kept),
        cmocka_unit_test(indefinite),
        cmocka_unit_test(breakdown),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(too_large),
        cmocka_unit_test(too_few_iterations),
        cmocka_unit_test(growing_residuals_stagnate),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(sums_are_pairwise),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
