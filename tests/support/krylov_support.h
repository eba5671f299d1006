/** What the tests of Krylov methods share: dense systems, elimination, and the comparison of a solve with it. */
#ifndef WEFT_KRYLOV_SUPPORT_H
#define WEFT_KRYLOV_SUPPORT_H

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
static const double NEAR = 1e-9; /* conditions are at most 100: residuals of 1e-12 leave less */
static weft_library *library;

static const weft_method besides_cg[] = {WEFT_METHOD_MINRES, WEFT_METHOD_GMRES,
                                         WEFT_METHOD_BICGSTAB};

/* ---- systems --------------------------------------------------------------------------------- */

/* In [-1, 1], reproducible. */
static inline double random_real(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static inline void random_vector(uint64_t *state, double *v, int n) {
    for (int i = 0; i < n; ++i)
        v[i] = random_real(state);
}

/* A = H diag(eigenvalues) H with a random reflection H: exactly symmetric. */
static inline void symmetric_matrix(uint64_t seed, const double *eigenvalues, double *A) {
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
static inline void indefinite_matrix(uint64_t seed, double *A) {
    double eigenvalues[N];
    for (int i = 0; i < N; ++i)
        eigenvalues[i] = (i % 3 ? 1 : -1) * (1 + 9.0 * i / (N - 1));
    symmetric_matrix(seed, eigenvalues, A);
}

/* 3 I + R with |R| about 2: not symmetric, with eigenvalues right of the imaginary axis. */
static inline void general_matrix(uint64_t seed, double *A) {
    random_vector(&seed, A, N * N);
    for (int i = 0; i < N * N; ++i)
        A[i] = A[i] / sqrt(N) + 3 * (i % (N + 1) == 0);
}

/* Solve A x = b by elimination with row pivoting. */
static inline void eliminate(const double *given, const double *b, double *x, int n) {
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

static inline weft_cg_options options_of(weft_method method) {
    return (weft_cg_options){.size = sizeof(weft_cg_options),
                             .method = method,
                             .jacobi = true,
                             .tolerance = 1e-12,
                             .max_iterations = 400};
}

static inline weft_cg_result solve(setting *s, const double *A, int n,
                                   const weft_cg_options *options) {
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
static inline double residual_of(const double *A, const double *x, const double *b, int n) {
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
static inline void check(const double *A, int n, const weft_cg_options *options) {
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

static inline weft_cg_result outcome_of(const double *A, const double *b, int n,
                                        const weft_cg_options *options) {
    setting s = setting_make("host:1", library, n);
    memcpy(s.b_values, b, (size_t)n * sizeof *b);
    weft_cg_result result = solve(&s, A, n, options);
    setting_free(&s);
    return result;
}

static inline int open_library(void **state) {
    (void)state;
    return (int)weft_fem_library_make(&library, NULL);
}

static inline int close_library(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

#endif
