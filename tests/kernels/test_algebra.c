/* labels: quick */
/* Small dense algebra against the textbook loops. Tolerances, relative to the largest component of
 * a result (or 0.1): 1e-12 in double, 2e-4 in float. Sums have up to 11 terms and matrices to be
 * inverted have condition numbers below 10, so that errors stay below about 100 units in the last
 * place. */
#include "kernel_check.h"

#define A arguments[0]
#define B arguments[1]
#define ROWS (c->arguments[0].sizes[0])
#define COLUMNS (c->arguments[0].sizes[1])

static void ref_mmul(const check_case *c, const double *const *arguments, double *result) {
    int n = c->arguments[1].sizes[1];
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < n; ++j)
            for (int l = 0; l < COLUMNS; ++l)
                result[i * n + j] += A[i * COLUMNS + l] * B[l * n + j];
}

/* Row i of B, with its d rows in order, times c_(i/d) and row i % d of M. */
static void ref_row_blocks(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->arguments[1].sizes[0], n = c->arguments[2].sizes[1];
    for (int i = 0; i < c->n_result / n; ++i)
        for (int j = 0; j < n; ++j)
            for (int b = 0; b < d; ++b)
                result[i * n + j] += arguments[0][i / d] * arguments[1][i % d * d + b] *
                                     arguments[2][(i / d * d + b) * n + j];
}

static void ref_mvmul(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            result[i] += A[i * COLUMNS + j] * B[j];
}

/* Row by row from the diagonal on. */
/* Eigenvalues of the upper triangle, the greatest first, as roots of the characteristic polynomial,
 * which is bisected between its extrema. */
static double characteristic(int n, const double *a, double x) {
    const double p = a[0] - x, q = a[n + 1] - x, r = n > 2 ? a[8] - x : 1;
    if (n == 2)
        return p * q - a[1] * a[1];
    return p * (q * r - a[5] * a[5]) - a[1] * (a[1] * r - a[5] * a[2]) +
           a[2] * (a[1] * a[5] - q * a[2]);
}

static double bisect_root(int n, const double *a, double low, double high) {
    const double sign = characteristic(n, a, low) < 0 ? -1 : 1;
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        if (sign * characteristic(n, a, middle) >= 0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static void ref_principal(const check_case *c, const double *const *arguments, double *result) {
    const double *a = arguments[0];
    const int n = c->arguments[0].sizes[0];
    double bound = 0, between[4], trace = 0, minors = 0;
    for (int i = 0; i < n * n; ++i)
        bound += fabs(a[i]);
    for (int i = 0; i < n; ++i)
        trace += a[i * n + i];
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            minors += a[i * n + i] * a[j * n + j] - a[i * n + j] * a[i * n + j];
    /* p' = 0: x = trace/2, or the roots of 3 x^2 - 2 trace x + minors */
    const double root = n == 2 ? 0 : sqrt(trace * trace - 3 * minors);
    between[0] = bound;
    between[1] = n == 2 ? trace / 2 : (trace + root) / 3;
    between[2] = n == 2 ? -bound : (trace - root) / 3;
    between[3] = -bound;
    for (int i = 0; i < n; ++i)
        result[i] = bisect_root(n, a, between[i + 1], between[i]);
}

static void ref_upper(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = i; j < ROWS; ++j)
            *result++ = A[i * ROWS + j];
}

static void ref_symmetric(const check_case *c, const double *const *arguments, double *result) {
    const int n = c->n_result;
    const double *next = A;
    for (int i = 0; i < n; ++i)
        for (int j = i; j < n; ++j, ++next) {
            result[i] += *next * B[j];
            result[j] += j > i ? *next * B[i] : 0;
        }
}

static void ref_add(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < c->n_result; ++i)
        result[i] = A[i] + B[i];
}

static void ref_subtract(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < c->n_result; ++i)
        result[i] = A[i] - B[i];
}

static void ref_scale(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < c->n_result; ++i)
        result[i] = A[i] * B[0];
}

static void ref_dot(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        result[0] += A[i] * B[i];
}

static void ref_norm2(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        result[0] = hypot(result[0], A[i]);
}

static void ref_vsum(const check_case *c, const double *const *arguments, double *result) {
    for (int i = ROWS; i-- > 0;)
        result[0] += A[i];
}

/* exp(x_i - x_k) sums to 1 / y_i over k. */
static void ref_softmax(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i) {
        double sum = 0;
        for (int k = 0; k < ROWS; ++k)
            sum += exp(A[k] - A[i]);
        result[i] = 1 / sum;
    }
}

static void ref_outer(const check_case *c, const double *const *arguments, double *result) {
    int n = c->arguments[1].sizes[0];
    for (int k = 0; k < ROWS * n; ++k)
        result[k] = A[k / n] * B[k % n];
}

static void ref_transpose(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            result[j * ROWS + i] = A[i * COLUMNS + j];
}

static void ref_diagonal(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        result[i] = A[i * ROWS + i];
}

static void ref_skew_square(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = i + 1; j < ROWS; ++j)
            result[0] +=
                2 * (A[i * ROWS + j] - A[j * ROWS + i]) * (A[i * ROWS + j] - A[j * ROWS + i]);
}

/* of 6 x 6, two components */
static void ref_coupling_square(const check_case *c, const double *const *arguments,
                                double *result) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < ROWS; ++j)
            if ((i + j) % 2 == 1)
                result[0] += A[i * ROWS + j] * A[i * ROWS + j];
}

/* Entry i,j over the roots of the largest sizes in the rows and columns of the groups of i and j; groups that are less than 1
 * apart count by how near they are. */
static void ref_equilibrate(const check_case *c, const double *const *arguments, double *result) {
    const double *g = arguments[1];
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < ROWS; ++j) {
            double most[2] = {1e-300, 1e-300};
            for (int k = 0; k < ROWS; ++k)
                for (int l = 0; l < ROWS; ++l)
                    for (int end = 0; end < 2; ++end) {
                        const double near = 1 - fabs(g[k] - g[end == 0 ? i : j]);
                        const double size = fmax(fabs(A[k * ROWS + l]), fabs(A[l * ROWS + k]));
                        most[end] = fmax(most[end], near > 0 ? size * near : 0);
                    }
            result[i * ROWS + j] = A[i * ROWS + j] / sqrt(most[0] * most[1]);
        }
}

static void ref_trace(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        result[0] += A[i * ROWS + i];
}

static void ref_det(const check_case *c, const double *const *arguments, double *result) {
    result[0] = check_eliminate(ROWS, A, NULL);
}

static void ref_inverse(const check_case *c, const double *const *arguments, double *result) {
    check_eliminate(ROWS, A, result);
}

/* Blocks: n nodes (rows of the second argument) with c components. */
static void ref_block_mvmul(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < ROWS; ++j)
            result[i] += A[i * ROWS + j] * B[j];
}

/* Component 1 of 2, as the cases' keys say. */
static void ref_component_matrix(const check_case *c, const double *const *arguments,
                                 double *result) {
    const int rows = 2 * ROWS;
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < ROWS; ++j)
            result[(2 * i + 1) * rows + 2 * j + 1] = A[i * ROWS + j];
}

static void ref_component_vector(const check_case *c, const double *const *arguments,
                                 double *result) {
    for (int i = 0; i < ROWS; ++i)
        result[2 * i + 1] = A[i];
}

static void ref_inner(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < ROWS * COLUMNS; ++i)
        result[0] += A[i] * B[i];
}

/* A X = B for the last argument, B. */
static void ref_solve(const check_case *c, const double *const *arguments, double *result) {
    double inverse[36];
    const int columns = c->n_result / ROWS;
    check_eliminate(ROWS, A, inverse);
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < ROWS; ++j)
            for (int k = 0; k < columns; ++k)
                result[i * columns + k] += inverse[i * ROWS + j] * B[j * columns + k];
}

/* A A^T X = B */
static void ref_solve_square(const check_case *c, const double *const *arguments, double *result) {
    double square[36] = {0}, inverse[36];
    const int n = ROWS, columns = c->n_result / n;
    for (int i = 0; i < n * n * n; ++i)
        square[i / n] += A[i / n / n * n + i % n] * A[i / n % n * n + i % n];
    check_eliminate(n, square, inverse);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < columns; ++k)
                result[i * columns + k] += inverse[i * n + j] * B[j * columns + k];
}

/* The factor of A A^T, entry by entry: the lower one with a positive diagonal is unique. */
static void ref_cholesky(const check_case *c, const double *const *arguments, double *result) {
    const int n = ROWS;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k)
                sum += A[i * n + k] * A[j * n + k];
            for (int k = 0; k < j; ++k)
                sum -= result[i * n + k] * result[j * n + k];
            result[i * n + j] = i == j ? sqrt(sum) : sum / result[j * n + j];
        }
}

/* Rows are exchanged from the diagonal on, multipliers stay where they arise. */
static void ref_lu(const check_case *c, const double *const *arguments, double *result) {
    const int n = ROWS;
    memcpy(result, A, (size_t)(n * n) * sizeof *result);
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(result[i * n + k]) > fabs(result[pivot * n + k]))
                pivot = i;
        result[n * n + k] = pivot;
        for (int j = k; j < n; ++j) {
            const double swap = result[k * n + j];
            result[k * n + j] = result[pivot * n + j];
            result[pivot * n + j] = swap;
        }
        for (int i = k + 1; i < n; ++i) {
            result[i * n + k] /= result[k * n + k];
            for (int j = k + 1; j < n; ++j)
                result[i * n + j] -= result[i * n + k] * result[k * n + j];
        }
    }
}

/* Row 1 and column 2 on, or component 2 on, as the cases' keys say. */
static void ref_submatrix(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < c->n_result; ++i)
        result[i] = c->arguments[0].rank == 1 ? A[2 + i] : A[(1 + i / 3) * COLUMNS + 2 + i % 3];
}

#define V(n)                                                                                       \
    { 1, {(n), 0}, DATA_ANY }
#define M(m, n)                                                                                    \
    { 2, {(m), (n)}, DATA_ANY }
#define J(n)                                                                                       \
    { 2, {(n), (n)}, DATA_JACOBIAN }
#define P(n)                                                                                       \
    { 2, {(n), (n)}, DATA_SHIFTED }
#define S                                                                                          \
    { 0, {0, 0}, DATA_ANY }

#define SQUARE "mmul(a@_0, transpose(a@_0))"

static const check_case cases[] = {
    {"mmul", NULL, 2, {M(1, 1), M(1, 1)}, 1, ref_mmul, 0, 0, NULL},
    {"mmul", NULL, 2, {M(3, 3), M(3, 3)}, 9, ref_mmul, 0, 0, NULL},
    {"mmul", NULL, 2, {M(2, 3), M(3, 5)}, 10, ref_mmul, 0, 0, NULL},
    {"mmul", NULL, 2, {M(7, 11), M(11, 9)}, 63, ref_mmul, 0, 0, NULL}, /* loops stay loops */
    {"row_blocks", NULL, 3, {V(2), M(3, 3), M(6, 4)}, 24, ref_row_blocks, 0, 0, NULL},
    {"row_blocks", NULL, 3, {V(1), M(1, 1), M(1, 1)}, 1, ref_row_blocks, 0, 0, NULL},
    {"mvmul", NULL, 2, {M(3, 3), V(3)}, 3, ref_mvmul, 0, 0, NULL},
    {"mvmul", NULL, 2, {M(2, 5), V(5)}, 2, ref_mvmul, 0, 0, NULL},
    {"mvmul", NULL, 2, {M(1, 1), V(1)}, 1, ref_mvmul, 0, 0, NULL},
    {"upper", NULL, 1, {M(4, 4)}, 10, ref_upper, 0, 0, NULL},
    {"upper", NULL, 1, {M(1, 1)}, 1, ref_upper, 0, 0, NULL},
    {"principal_values", NULL, 1, {M(2, 2)}, 2, ref_principal, 0, 0, NULL},
    {"principal_values", NULL, 1, {M(3, 3)}, 3, ref_principal, 0, 0, NULL},
    {"symmetric_mvmul", NULL, 2, {V(10), V(4)}, 4, ref_symmetric, 0, 0, NULL},
    {"symmetric_mvmul", NULL, 2, {V(6), V(3)}, 3, ref_symmetric, 0, 0, NULL},
    {"symmetric_mvmul", NULL, 2, {V(1), V(1)}, 1, ref_symmetric, 0, 0, NULL},
    {"madd", NULL, 2, {M(2, 3), M(2, 3)}, 6, ref_add, 0, 0, NULL},
    {"msub", NULL, 2, {M(2, 3), M(2, 3)}, 6, ref_subtract, 0, 0, NULL},
    {"smmul", NULL, 2, {M(3, 2), S}, 6, ref_scale, 0, 0, NULL},
    {"vadd", NULL, 2, {V(4), V(4)}, 4, ref_add, 0, 0, NULL},
    {"vsub", NULL, 2, {V(4), V(4)}, 4, ref_subtract, 0, 0, NULL},
    {"svmul", NULL, 2, {V(5), S}, 5, ref_scale, 0, 0, NULL},
    {"dot", NULL, 2, {V(4), V(4)}, 1, ref_dot, 0, 0, NULL},
    {"dot", NULL, 2, {V(1), V(1)}, 1, ref_dot, 0, 0, NULL},
    {"norm2", NULL, 1, {V(3)}, 1, ref_norm2, 0, 0, NULL},
    {"norm2", NULL, 1, {V(1)}, 1, ref_norm2, 0, 0, NULL},
    {"vsum", NULL, 1, {V(5)}, 1, ref_vsum, 0, 0, NULL},
    {"vsum", NULL, 1, {V(1)}, 1, ref_vsum, 0, 0, NULL},
    {"softmax", NULL, 1, {V(6)}, 6, ref_softmax, 0, 0, NULL},
    {"softmax", NULL, 1, {V(1)}, 1, ref_softmax, 0, 0, NULL},
    {"outer", NULL, 2, {V(2), V(3)}, 6, ref_outer, 0, 0, NULL},
    {"transpose", NULL, 1, {M(2, 3)}, 6, ref_transpose, 0, 0, NULL},
    {"diagonal", NULL, 1, {M(4, 4)}, 4, ref_diagonal, 0, 0, NULL},
    {"skew_square", NULL, 1, {M(1, 1)}, 1, ref_skew_square, 0, 0, NULL},
    {"skew_square", NULL, 1, {M(4, 4)}, 1, ref_skew_square, 0, 0, NULL},
    {"coupling_square", "c = 2", 1, {M(6, 6)}, 1, ref_coupling_square, 0, 0, NULL},
    {"equilibrate", NULL, 2, {M(4, 4), V(4)}, 16, ref_equilibrate, 0, 0, NULL},
    {"submatrix", "m = 2, n = 3, row = 1, column = 2", 1, {M(3, 6)}, 6, ref_submatrix, 0, 0, NULL},
    {"subvector", "n = 3, first = 2", 1, {V(6)}, 3, ref_submatrix, 0, 0, NULL},
    {"trace", NULL, 1, {M(4, 4)}, 1, ref_trace, 0, 0, NULL},
    {"det", NULL, 1, {J(1)}, 1, ref_det, 0, 0, NULL},
    {"det", NULL, 1, {J(2)}, 1, ref_det, 0, 0, NULL},
    {"det", NULL, 1, {J(3)}, 1, ref_det, 0, 0, NULL},
    {"det", NULL, 1, {P(4)}, 1, ref_det, 0, 0, NULL},
    {"det", NULL, 1, {M(4, 4)}, 1, ref_det, 0, 0, NULL},
    {"det", NULL, 1, {P(6)}, 1, ref_det, 0, 0, NULL}, /* loops stay loops */
    {"block_mvmul", NULL, 2, {M(6, 6), M(3, 2)}, 6, ref_block_mvmul, 0, 0, NULL},
    {"block_mvmul", NULL, 2, {M(12, 12), M(4, 3)}, 12, ref_block_mvmul, 0, 0, NULL},
    {"block_mvmul", NULL, 2, {M(1, 1), M(1, 1)}, 1, ref_block_mvmul, 0, 0, NULL},
    {"block_diagonal", "n = 3, c = 2", 1, {M(6, 6)}, 6, ref_diagonal, 0, 0, NULL},
    {"block_diagonal", "n = 1, c = 1", 1, {M(1, 1)}, 1, ref_diagonal, 0, 0, NULL},
    {"component_matrix", "c = 2, k = 1", 1, {M(3, 3)}, 36, ref_component_matrix, 0, 0, NULL},
    {"component_vector", "c = 2, k = 1", 1, {V(3)}, 6, ref_component_vector, 0, 0, NULL},
    {"inner", NULL, 2, {M(2, 3), M(2, 3)}, 1, ref_inner, 0, 0, NULL},
    {"inner", NULL, 2, {M(1, 1), M(1, 1)}, 1, ref_inner, 0, 0, NULL},
    {"inverse", NULL, 1, {P(4)}, 16, ref_inverse, 0, 0, NULL},
    {"inverse", NULL, 1, {P(6)}, 36, ref_inverse, 0, 0, NULL},
    {"inverse", NULL, 1, {J(1)}, 1, ref_inverse, 0, 0, NULL},
    {"inverse", NULL, 1, {J(2)}, 4, ref_inverse, 0, 0, NULL},
    {"inverse", NULL, 1, {J(3)}, 9, ref_inverse, 0, 0, NULL},
    /* accuracy and singular matrices: test_factorisations.c */
    {"solve", NULL, 2, {J(1), V(1)}, 1, ref_solve, 0, 0, NULL},
    {"solve", NULL, 2, {P(5), V(5)}, 5, ref_solve, 0, 0, NULL},
    {"msolve", NULL, 2, {P(3), M(3, 2)}, 6, ref_solve, 0, 0, NULL},
    {"lu", NULL, 1, {P(4)}, 20, ref_lu, 0, 0, NULL},
    {"lu_det", NULL, 1, {P(4)}, 1, ref_det, 0, 0, "r@ = lu_det(lu(a@_0));"},
    {"lu_solve", NULL, 2, {P(4), V(4)}, 4, ref_solve, 0, 0, "r@ = lu_solve(lu(a@_0), a@_1);"},
    {"lu_msolve", NULL, 2, {P(4), M(4, 3)}, 12, ref_solve, 0, 0, "r@ = lu_msolve(lu(a@_0), a@_1);"},
    {"cholesky", NULL, 1, {J(3)}, 9, ref_cholesky, 0, 0, "r@ = cholesky(" SQUARE ");"},
    {"cholesky_solve",
     NULL,
     2,
     {J(3), V(3)},
     3,
     ref_solve_square,
     0,
     0,
     "r@ = cholesky_solve(cholesky(" SQUARE "), a@_1);"},
    {"cholesky_msolve",
     NULL,
     2,
     {J(3), M(3, 2)},
     6,
     ref_solve_square,
     0,
     0,
     "r@ = cholesky_msolve(cholesky(" SQUARE "), a@_1);"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void test_double(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; ++variant)
        check_cases(cases, N_CASES, variant, false, 1e-12);
}

static void test_float(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; ++variant)
        check_cases(cases, N_CASES, variant, true, 2e-4);
}

static void test_all_are_here(void **state) {
    (void)state;
    check_all_are_here("algebra/", cases, N_CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
