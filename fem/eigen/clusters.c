/* Finds values that are one, and makes the vectors of such a cluster the same in each run. */
#include "fem/base/eigen.h"
#include "fem/eigen/private.h"

#include <math.h>
#include <stdlib.h>

/* Values that differ by less are one, relative to them, or to the distance from the shift, which rounding is relative to; a residual is at most
 * so much of the tolerance worse by a rotation. */
static const double CLOSE = 1e-8, ROUNDED = 1e-12, SPOILT = 0.1;

static bool are_one(const weft_pencil *pencil, double a, double b, double residual) {
    const double most = fmax(fabs(a), fabs(b)),
                 far = fmax(weft_pencil_size_of(pencil, a), weft_pencil_size_of(pencil, b));
    return fabs(b - a) <= fmax(10 * fmax(residual * residual, CLOSE) * most, ROUNDED * far);
}

void clusters_number(const weft_pencil *pencil, weft_eigenpairs *pairs) {
    const int n = pairs->n;
    const double *values = pairs->values, *r = pairs->residuals;
    for (int k = 0; k < pairs->n_known; ++k) {
        const bool is_first =
            k == 0 || !are_one(pencil, values[k - 1], values[k], fmax(r[k - 1], r[k]));
        pairs->cluster[k] = k == 0 ? 0 : pairs->cluster[k - 1] + is_first;
    }
    pairs->cut = -1;
    if (pairs->next_is_first) {
        if (are_one(pencil, pairs->next, values[0], r[0]))
            pairs->cut = 0;
    } else if (pairs->n_known > n) {
        pairs->next = values[n];
        if (pairs->cluster[n] == pairs->cluster[n - 1])
            pairs->cut = pairs->cluster[n];
    } else {
        pairs->next = NAN;
    }
}

/* V [c][c]: eigenvectors of x^T D x, D random and positive, for columns first.. of x; work [4 c] */
static weft_status find_rotation(const weft_pencil *pencil, const columns *x, int first, int c,
                                 double *V, double *work, weft_error *error) {
    weft_status status = WEFT_OK;
    double *of = malloc((size_t)c * (size_t)x->n * sizeof *of + 1);
    if (!of)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    for (int i = 0; i < c; ++i)
        TRY(columns_get(pencil, x, first + i, of + i * x->n, error));
    for (int i = 0; i < c * c; ++i)
        V[i] = 0;
    const weft_csr *A = pencil->is_buckling ? &pencil->K : &pencil->M;
    for (int64_t row = 0; row < x->n; ++row) {
        const int64_t diagonal = weft_csr_find(A, row, row);
        const double weight =
            diagonal < 0 ? 0 : A->values[diagonal] * (1.5 + weft_random_entry(row));
        for (int i = 0; i < c * c; ++i)
            V[i] += weight * of[i / c * x->n + row] * of[i % c * x->n + row];
    }
    weft_eigenvectors(c, V, work, work + c);
done:
    free(of);
    return status;
}

/* Write V into the block of C that belongs to a cluster. */
static void place(int m, int first, int c, const double *V, double *C) {
    for (int i = 0; i < c; ++i)
        for (int k = 0; k < c; ++k)
            C[(first + i) * m + first + k] = V[i * c + k];
}

void clusters_turn(int n, int64_t rows, double *vectors) {
    static const double EQUAL = 1e-6;
    for (int k = 0; k < n; ++k) {
        double most = 0, sign = 1, *x = vectors + k * rows;
        for (int64_t row = 0; row < rows; ++row)
            if (fabs(x[row]) > most * (1 + EQUAL)) {
                most = fabs(x[row]);
                sign = x[row] < 0 ? -1 : 1;
            }
        for (int64_t row = 0; row < rows && sign < 0; ++row)
            x[row] = -x[row];
    }
}

weft_status clusters_fix(const weft_pencil *pencil, const double *values, double tolerance,
                         columns *x, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = x->m;
    const double close = fmin(10 * CLOSE, SPOILT * tolerance);
    double *C = calloc(2 * (size_t)m * (size_t)m + 4 * (size_t)m + 1, sizeof *C);
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    double *V = C + m * m;
    for (int first = 0, c = 1; first < m; first += c) {
        for (c = 1; first + c < m &&
                    values[first + c] - values[first + c - 1] <= close * fabs(values[first + c]);)
            ++c;
        V[0] = 1;
        if (c > 1)
            TRY(find_rotation(pencil, x, first, c, V, V + m * m, error));
        place(m, first, c, V, C);
    }
    const columns_term term = {x, C};
    TRY(columns_combine(pencil, &term, 1, m, x, error));
done:
    free(C);
    return status;
}
