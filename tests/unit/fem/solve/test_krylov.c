/* labels: quick
 * MINRES, GMRES and BiCGStab on dense systems, against elimination with pivoting in this file. The
 * matrices have conditions of at most 100, so that residuals of 1e-12 leave errors below 1e-9. */
#include "core/weft_core.h"
#include "dense_operator.h"
#include "fem/precondition/precondition.h"
#include "fem/solve/krylov.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40 };
static const double NEAR = 1e-9;
static weft_library *library;

static const weft_method besides_cg[] = {WEFT_METHOD_MINRES, WEFT_METHOD_GMRES,
                                         WEFT_METHOD_BICGSTAB};

/* ---- systems --------------------------------------------------------------------------------- */

/* In [-1, 1], reproducible. */
static double random_real(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static void random_vector(uint64_t *state, double *v, int n) {
    for (int i = 0; i < n; ++i)
        v[i] = random_real(state);
}

/* A = H diag(eigenvalues) H with a random reflection H: exactly symmetric. */
static void symmetric_matrix(uint64_t seed, const double *eigenvalues, double *A) {
    double u[N], H[N][N], length = 0;
    random_vector(&seed, u, N);
    for (int i = 0; i < N; ++i)
        length += u[i] * u[i];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            H[i][j] = (i == j) - 2 * u[i] * u[j] / length;
    for (int i = 0; i < N; ++i)
        for (int j = i; j < N; ++j) {
            double sum = 0;
            for (int k = 0; k < N; ++k)
                sum += H[i][k] * eigenvalues[k] * H[k][j];
            A[i * N + j] = A[j * N + i] = sum;
        }
}

/* Eigenvalues of both signs, from 1 to 10 in size. */
static void indefinite_matrix(uint64_t seed, double *A) {
    double eigenvalues[N];
    for (int i = 0; i < N; ++i)
        eigenvalues[i] = (i % 3 ? 1 : -1) * (1 + 9.0 * i / (N - 1));
    symmetric_matrix(seed, eigenvalues, A);
}

/* 3 I + R with |R| about 2: not symmetric, with eigenvalues right of the imaginary axis. */
static void general_matrix(uint64_t seed, double *A) {
    random_vector(&seed, A, N * N);
    for (int i = 0; i < N * N; ++i)
        A[i] = A[i] / sqrt(N) + 3 * (i % (N + 1) == 0);
}

/* Solve A x = b by elimination with row pivoting. */
static void eliminate(const double *given, const double *b, double *x, int n) {
    double *A = malloc((size_t)n * (size_t)n * sizeof *A);
    memcpy(A, given, (size_t)n * (size_t)n * sizeof *A);
    memcpy(x, b, (size_t)n * sizeof *x);
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i)
            best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;
        for (int j = 0; j < n; ++j) {
            const double other = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = other;
        }
        const double other = x[k];
        x[k] = x[best];
        x[best] = other;
        for (int i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; ++j)
                A[i * n + j] -= factor * A[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j)
            x[i] -= A[i * n + j] * x[j];
        x[i] /= A[i * n + i];
    }
    free(A);
}

static weft_cg_options options_of(weft_method method) {
    return (weft_cg_options){
        .method = method, .jacobi = true, .tolerance = 1e-12, .max_iterations = 400};
}

static weft_cg_result solve(setting *s, const double *A, int n, const weft_cg_options *options) {
    const dense m = {A, NULL, n};
    weft_operator op = dense_operator(&m);
    weft_cg_result result = {0};
    weft_error error = {0};
    weft_status status = weft_cg_solve(&s->context, &op, s->b, s->x, options, &result, &error);
    if (status != WEFT_OK)
        print_error("%s\n", error.message);
    assert_int_equal(status, WEFT_OK);
    assert_non_null(result.history);
    assert_true((result.outcome == WEFT_CG_BREAKDOWN) == (result.breakdown != NULL));
    return result;
}

/* |b - A x| / |b| */
static double residual_of(const double *A, const double *x, const double *b, int n) {
    double square = 0, given = 0;
    for (int i = 0; i < n; ++i) {
        double r = b[i];
        for (int j = 0; j < n; ++j)
            r -= A[i * n + j] * x[j];
        square += r * r;
        given += b[i] * b[i];
    }
    return sqrt(square / given);
}

/* Solve with a random right-hand side, and compare. */
static void check(const double *A, int n, const weft_cg_options *options) {
    setting s = setting_make("host:1", library, n);
    double *x = malloc((size_t)n * sizeof *x);
    uint64_t seed = 7;
    random_vector(&seed, s.b_values, n);
    eliminate(A, s.b_values, x, n);
    weft_cg_result result = solve(&s, A, n, options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_in_range(result.iterations, 1, options->max_iterations);
    assert_double_near(result.residual, residual_of(A, s.x_values, s.b_values, n), 0, 1e-13);
    assert_true(result.residual <= options->tolerance);
    for (int i = 0; i < n; ++i)
        assert_double_near(s.x_values[i], x[i], 0, NEAR);
    free(result.history);
    free(x);
    setting_free(&s);
}

/* ---- solutions ------------------------------------------------------------------------------- */

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

/* ---- preconditioners ------------------------------------------------------------------------- */

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

/* ---- outcomes -------------------------------------------------------------------------------- */

static weft_cg_result outcome_of(const double *A, const double *b, int n,
                                 const weft_cg_options *options) {
    setting s = setting_make("host:1", library, n);
    memcpy(s.b_values, b, (size_t)n * sizeof *b);
    weft_cg_result result = solve(&s, A, n, options);
    setting_free(&s);
    return result;
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
    const double turn[] = {0, 1, -1, 0}, flat[] = {1, 0, 0, 1, 0, -1, 1, 1, 0};
    const double mended[] = {1, 0, 0, 1, 2, 0, 1, 0, 3}, b[] = {1, 0, 0};
    weft_cg_options options = options_of(WEFT_METHOD_BICGSTAB);
    options.jacobi = false;
    weft_cg_result result = outcome_of(turn, b, 2, &options);
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
        cmocka_unit_test(symmetric_indefinite),
        cmocka_unit_test(not_symmetric),
        cmocka_unit_test(small_systems),
        cmocka_unit_test(residuals_are_least),
        cmocka_unit_test(constrained_dofs_are_kept),
        cmocka_unit_test(preconditioners_are_operators),
        cmocka_unit_test(minres_needs_positive_preconditioners),
        cmocka_unit_test(singular_but_consistent),
        cmocka_unit_test(minres_projects_constants),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(methods_alternate),
        cmocka_unit_test(nothing_to_do),
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
