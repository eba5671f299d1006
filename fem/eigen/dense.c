/* Solves small pencils, and pencils with few rows as a whole. */
#include "fem/base/eigen.h"
#include "fem/eigen/private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* H = L L^T, in its lower triangle. Returns the square of the quotient of L's largest and least diagonal entries; 0: not definite. */
static double factorise(int n, double *H) {
    double least = DBL_MAX, most = 0;
    for (int k = 0; k < n; ++k) {
        double pivot = H[k * n + k];
        for (int j = 0; j < k; ++j)
            pivot -= H[k * n + j] * H[k * n + j];
        if (!(pivot > 0))
            return 0;
        least = fmin(least, pivot);
        most = fmax(most, pivot);
        H[k * n + k] = sqrt(pivot);
        for (int i = k + 1; i < n; ++i) {
            double sum = H[i * n + k];
            for (int j = 0; j < k; ++j)
                sum -= H[i * n + j] * H[k * n + j];
            H[i * n + k] = sum / H[k * n + k];
        }
    }
    return n > 0 ? most / least : 1;
}

/* G = L^-1 G L^-T */
static void transform(int n, const double *L, double *G) {
    for (int side = 0; side < 2; ++side) {
        const int row = side ? 1 : n, column = side ? n : 1;
        for (int k = 0; k < n; ++k)
            for (int i = 0; i < n; ++i) {
                double sum = G[i * row + k * column];
                for (int j = 0; j < i; ++j)
                    sum -= L[i * n + j] * G[j * row + k * column];
                G[i * row + k * column] = sum / L[i * n + i];
            }
    }
}

/* c = L^-T c */
static void solve_transposed(int n, const double *L, double *c, int stride) {
    for (int i = n - 1; i >= 0; --i) {
        double sum = c[i * stride];
        for (int j = i + 1; j < n; ++j)
            sum -= L[j * n + i] * c[j * stride];
        c[i * stride] = sum / L[i * n + i];
    }
}

/* Scale G and H by the diagonal of H. false: it is not positive */
static bool scale_both(int n, double *G, double *H, double *scale) {
    for (int i = 0; i < n; ++i) {
        if (!(H[i * n + i] > 0))
            return false;
        scale[i] = 1 / sqrt(H[i * n + i]);
    }
    for (int i = 0; i < n * n; ++i) {
        H[i] *= scale[i / n] * scale[i % n];
        G[i] *= scale[i / n] * scale[i % n];
    }
    return true;
}

/* The columns of C from those of the transformed problem, in G. */
static void transform_back(int n, int m, const double *G, const double *L, const double *scale,
                           double *C) {
    for (int k = 0; k < m; ++k) {
        for (int i = 0; i < n; ++i)
            C[i * m + k] = G[i * n + k];
        solve_transposed(n, L, C + k, m);
        for (int i = 0; i < n; ++i)
            C[i * m + k] *= scale[i];
    }
}

weft_status pencil_diagonalise(int n, int m, double *G, double *H, double *values, double *C,
                               double rounding, bool *fine, weft_error *error) {
    double *scale = malloc(5 * (size_t)n * sizeof *scale + 1), *all = scale + n;
    if (!scale)
        return weft_out_of_memory(error, "small matrices");
    const double quotient = scale_both(n, G, H, scale) ? factorise(n, H) : 0;
    *fine = quotient > 0 && quotient * rounding < 1;
    if (*fine) {
        transform(n, H, G);
        weft_eigenvectors(n, G, all, all + n);
        memcpy(values, all, (size_t)m * sizeof *values);
        transform_back(n, m, G, H, scale, C);
    }
    free(scale);
    return WEFT_OK;
}

weft_status pencil_diagonal(const weft_pencil *pencil, double *out, weft_error *error) {
    const weft_csr *K = &pencil->K;
    int64_t next = 0;
    for (int64_t i = 0; i < K->n_rows; ++i) {
        const int64_t at = weft_csr_find(K, i, i);
        const double value = at < 0 ? 0 : K->values[at];
        out[i] = 0;
        if (next < pencil->n_dropped && pencil->dropped[next] == i) {
            ++next;
            continue;
        }
        if (!(value > 0) || !isfinite(value)) {
            weft_error_set(error, WEFT_ERROR_INPUT,
                           "the diagonal entry of row %lld of the matrix is %g, so that it is not "
                           "positive definite",
                           (long long)i, value);
            weft_error_hint(error, "look at the sign of the form a, or find the values near a "
                                   "shift");
            return WEFT_ERROR_INPUT;
        }
        out[i] = 1 / value;
    }
    return WEFT_OK;
}

/* ---- pencils with few rows ------------------------------------------------------------------- */

/* The rows that are not dropped, as a full matrix [n][n]. */
static void fill(const weft_csr *A, const int32_t *place, int n, double *out) {
    memset(out, 0, (size_t)n * (size_t)n * sizeof *out);
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1] && place[i] >= 0; ++k)
            if (place[A->columns[k]] >= 0)
                out[place[i] * n + place[A->columns[k]]] += A->values[k];
}

/* The places of rows among those that are not dropped, -1: dropped. */
static int32_t *place_rows(const double *d, int64_t n_rows, int *n) {
    int32_t *place = malloc((size_t)n_rows * sizeof *place + 1);
    *n = 0;
    for (int64_t i = 0; i < n_rows && place; ++i)
        place[i] = d[i] > 0 ? (*n)++ : -1;
    return place;
}

/* Eigenvalues mu of M x = mu (K + s M) x, the largest first: l = 1/mu - s. The smallest l are then the most accurate, and infinite ones
 * are mu = 0. C [n][n] */
static weft_status invert(const weft_pencil *pencil, const int32_t *place, int n, double s,
                          double *work, double *values, double *C, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t size = (size_t)n * (size_t)n;
    double *G = work, *H = work + size, *M = work + 2 * size;
    bool fine = false;
    fill(&pencil->K, place, n, H);
    fill(&pencil->M, place, n, M);
    for (size_t i = 0; i < size; ++i) {
        G[i] = -M[i];
        H[i] += s * M[i];
    }
    TRY(pencil_diagonalise(n, n, G, H, values, C, DBL_EPSILON / 16, &fine, error));
    if (!fine)
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT,
                              "the matrix is not positive definite, apart from motions that are "
                              "known to be free, or the mass vanishes on "
                              "one of these",
                              "look at the signs of the forms, and at what holds u"));
done:
    return status;
}

static double trace_of(const weft_csr *A, const int32_t *place) {
    double sum = 0;
    for (int64_t i = 0; i < A->n_rows; ++i) {
        const int64_t at = place[i] >= 0 ? weft_csr_find(A, i, i) : -1;
        sum += at >= 0 ? A->values[at] : 0;
    }
    return sum;
}

/* Values that are infinite as far as rounding tells, relative to the largest mu */
static const double INFINITE = 1e-13;

static int count_finite(int n, const double *values) {
    int finite = 0;
    while (finite < n && -values[finite] > INFINITE * -values[0])
        ++finite;
    return finite;
}

weft_status pencil_whole(const weft_pencil *pencil, const double *d, int m, double *values,
                         basis *x, weft_error *error) {
    weft_status status = WEFT_OK;
    int n = 0;
    const int null = pencil->n_null;
    int32_t *place = place_rows(d, pencil->K.n_rows, &n);
    const size_t size = (size_t)n * (size_t)n;
    double *work = malloc((4 * size + (size_t)n) * sizeof *work + 1), s = 0;
    if (!place || !work)
        TRY(weft_out_of_memory(error, "a pencil"));
    double *C = work + 3 * size, *mu = C + size;
    if (null > 0) /* a shift near the first value that is wanted is the best one */
        s = 1e-6 * trace_of(&pencil->K, place) / trace_of(&pencil->M, place);
    TRY(invert(pencil, place, n, s, work, mu, C, error));
    if (null > 0 && count_finite(n, mu) > null) {
        s = -1 / mu[null] - s;
        TRY(invert(pencil, place, n, s, work, mu, C, error));
    }
    const int known = count_finite(n, mu) - null;
    x->v.m = known < m ? (known > 0 ? known : 0) : m;
    for (int k = 0; k < x->v.m; ++k) {
        values[k] = -1 / mu[null + k] - s;
        for (int64_t i = 0; i < pencil->K.n_rows; ++i)
            x->v.values[i * x->v.stride + k] =
                place[i] < 0 ? 0 : C[place[i] * n + null + k] / sqrt(-mu[null + k]);
    }
    TRY(basis_products(pencil, x, error));
done:
    free(place);
    free(work);
    return status;
}
