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
static void find_rotation(const weft_pencil *pencil, const basis *x, int first, int c, double *V,
                          double *work) {
    for (int i = 0; i < c * c; ++i)
        V[i] = 0;
    for (int64_t row = 0; row < x->v.n; ++row) {
        const double *at = x->v.values + row * x->v.stride + first;
        const int64_t diagonal = weft_csr_find(&pencil->M, row, row);
        const double weight =
            diagonal < 0 ? 0 : pencil->M.values[diagonal] * (1.5 + weft_random_entry(row));
        for (int i = 0; i < c * c; ++i)
            V[i] += weight * at[i / c] * at[i % c];
    }
    weft_eigenvectors(c, V, work, work + c);
}

/* Write V into the block of C that belongs to a cluster. */
static void place(int m, int first, int c, const double *V, double *C) {
    for (int i = 0; i < c; ++i)
        for (int k = 0; k < c; ++k)
            C[(first + i) * m + first + k] = V[i * c + k];
}

/* Turn columns of C whose vectors have a negative largest component; the first of components that are equal but for rounding. */
static void turn(const basis *x, int m, double *C) {
    static const double EQUAL = 1e-6;
    for (int k = 0; k < m; ++k) {
        double most = 0, sign = 1;
        for (int64_t row = 0; row < x->v.n; ++row) {
            const double value = x->v.values[row * x->v.stride + k];
            if (fabs(value) > most * (1 + EQUAL)) {
                most = fabs(value);
                sign = value < 0 ? -1 : 1;
            }
        }
        for (int i = 0; i < m; ++i)
            C[i * m + k] = i == k ? sign : 0;
    }
}

weft_status clusters_fix(const weft_pencil *pencil, const double *values, double tolerance,
                         basis *x, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = x->v.m;
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
            find_rotation(pencil, x, first, c, V, V + m * m);
        place(m, first, c, V, C);
    }
    TRY(basis_combine(pencil, x, C, m, error));
    turn(x, m, C);
    TRY(basis_combine(pencil, x, C, m, error));
done:
    free(C);
    return status;
}
