/* Bounds the largest eigenvalue of D^-1 A by the Lanczos method on D^-1/2 A D^-1/2. The bound of the next coarser level would
 * not do: that level does not know coefficients that vary from cell to cell.
 *
 * Decision  docs/decisions/0040-smoothed-aggregation.md */
#include "fem/multigrid/private.h"

#include "fem/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8, CHUNK = 4096 };
static const double MARGIN = 1.05;
/* Sums that cancel to less than this have no sign. */
static const double ROUNDING = 1e-6;

static int64_t chunk_last(int64_t chunk, int64_t n) {
    return (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
}

weft_status weft_free_rows(const weft_csr *A, const int32_t *constrained, int64_t n_constrained,
                           double **out, weft_error *error) {
    if (A->n_rows != A->n_columns)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "the matrix has %lld rows and %lld columns",
                              (long long)A->n_rows, (long long)A->n_columns);
    for (int64_t k = 0; k < n_constrained; ++k)
        if (constrained[k] < 0 || constrained[k] >= A->n_rows)
            return weft_error_set(error, WEFT_ERROR_SHAPE,
                                  "constrained dof %lld of a matrix of %lld rows",
                                  (long long)constrained[k], (long long)A->n_rows);
    double *made = malloc((size_t)(A->n_rows + 1) * sizeof *made);
    if (!made)
        return weft_out_of_memory(error, "the diagonal of a matrix");
    for (int64_t i = 0; i < A->n_rows; ++i)
        made[i] = 1;
    for (int64_t k = 0; k < n_constrained; ++k)
        made[constrained[k]] = 0;
    *out = made;
    return WEFT_OK;
}

/* ---- the diagonal ---------------------------------------------------------------------------- */

typedef struct scaling {
    const weft_csr *A;
    const double *is_free; /* [n_rows] 1; 0: constrained */
    double *scale, *start; /* [n_rows] */
    double *bounds;        /* [n_chunks] */
    int64_t *refused;      /* [n_chunks] first row that is refused, or -1 */
} scaling;

/* Of a row: */
typedef struct row_sums {
    double diagonal;
    double all; /* the sum of |a_ij| over free columns, which is not finite if any entry is not */
    double before; /* the sum of a_ij s_j v_j over columns j from `first` to i - 1 */
} row_sums;

static row_sums sum_row(const scaling *s, int64_t i, int64_t first) {
    const weft_csr *A = s->A;
    const int64_t last = A->row_start[i + 1];
    row_sums sums = {0};
    int64_t k = A->row_start[i];
    for (; k < last && A->columns[k] < first; ++k)
        sums.all += fabs(A->values[k]) * s->is_free[A->columns[k]];
    for (; k < last && A->columns[k] < i; ++k) {
        sums.all += fabs(A->values[k]) * s->is_free[A->columns[k]];
        sums.before += A->values[k] * s->scale[A->columns[k]] * s->start[A->columns[k]];
    }
    if (k < last && A->columns[k] == i)
        sums.diagonal = A->values[k];
    for (; k < last; ++k)
        sums.all += fabs(A->values[k]) * s->is_free[A->columns[k]];
    return sums;
}

/* The start v of the Lanczos method has the row sums of |D^-1 A|, which are large where large eigenvalues can be, and signs for
 * which v.(S A S)v grows from row to row. Rows of a chunk do not depend on those of others. */
static void chunk_scale(void *user, int64_t chunk) {
    const scaling *s = user;
    const int64_t first = chunk * CHUNK;
    double bound = 0;
    s->refused[chunk] = -1;
    for (int64_t i = first; i < chunk_last(chunk, s->A->n_rows); ++i) {
        const row_sums sums = sum_row(s, i, first);
        const bool is_free = s->is_free[i] != 0;
        s->scale[i] = s->start[i] = 0;
        if (!isfinite(sums.all) || (is_free && !(sums.diagonal > 0))) {
            s->refused[chunk] = i;
            break;
        }
        if (is_free) {
            const double sum = sums.all / sums.diagonal;
            s->scale[i] = 1 / sqrt(sums.diagonal);
            const double before = s->scale[i] * sums.before;
            s->start[i] = copysign(sum, fabs(before) > ROUNDING ? before : weft_random_entry(i));
            bound = fmax(bound, sum);
        }
    }
    s->bounds[chunk] = bound;
}

static weft_status refuse_row(const scaling *s, int64_t i, weft_error *error) {
    const row_sums sums = sum_row(s, i, i);
    if (!isfinite(sums.all))
        return weft_error_set(error, WEFT_ERROR_INPUT,
                              "row %lld of the matrix has an entry that is not finite",
                              (long long)i);
    weft_error_set(error, WEFT_ERROR_INPUT, "the diagonal entry of row %lld of the matrix is %g",
                   (long long)i, sums.diagonal);
    weft_error_hint(error, "multigrid needs a symmetric positive definite matrix, all of whose "
                           "diagonal entries are positive");
    return WEFT_ERROR_INPUT;
}

/* Find s->scale, s->start and the largest row sum of |D^-1 A| of a free row. */
static weft_status find_diagonal(weft_device *device, scaling *s, double *bound,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_chunks = (s->A->n_rows + CHUNK - 1) / CHUNK;
    s->bounds = malloc((size_t)(n_chunks + 1) * sizeof *s->bounds);
    s->refused = malloc((size_t)(n_chunks + 1) * sizeof *s->refused);
    if (!s->bounds || !s->refused)
        TRY(weft_out_of_memory(error, "the diagonal of a matrix"));
    TRY(weft_device_for(device, n_chunks, chunk_scale, s, error));
    *bound = 0;
    for (int64_t i = 0; i < n_chunks; ++i) {
        if (s->refused[i] >= 0)
            TRY(refuse_row(s, s->refused[i], error));
        *bound = fmax(*bound, s->bounds[i]);
    }
done:
    free(s->bounds);
    free(s->refused);
    return status;
}

/* ---- Lanczos --------------------------------------------------------------------------------- */

/* Vectors are v_k, with alpha_k and beta_k of
 *      beta_k v_k+1 = S A S v_k - alpha_k v_k - beta_k-1 v_k-1,  S = D^-1/2 */
typedef struct lanczos {
    const weft_csr *A;
    double *scale;             /* [n_rows] of S; 0: constrained */
    double *v, *before, *next; /* [n_rows]; v and before are not yet divided by their norms */
    double *scaled;            /* [n_rows] S v; at first S */
    double *sums;              /* [n_chunks] */
    double bound;              /* largest row sum of |D^-1 A| */
    double norm, norm_before;  /* of v and before */
    double alpha, beta;
} lanczos;

double weft_random_entry(int64_t i) {
    uint64_t z = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(int64_t)z * 0x1p-63;
}

/* v has row sums with signs, of find_diagonal. Their eighth powers favour rows with large eigenvalues, random factors keep
 * the parts of all eigenvectors, and no row has less than a thousandth of the largest. */
static void chunk_start(void *user, int64_t chunk) {
    const lanczos *l = user;
    double sum = 0;
    for (int64_t i = chunk * CHUNK; i < chunk_last(chunk, l->A->n_rows); ++i) {
        double power = l->v[i] / l->bound;
        power *= power;
        power *= power;
        power *= power;
        const double size = fmax(power, 1e-3) * (0.5 + 0.5 * fabs(weft_random_entry(i)));
        l->scale[i] = l->scaled[i];
        l->v[i] = l->scale[i] != 0 ? copysign(size, l->v[i]) : 0;
        l->scaled[i] = l->scale[i] * l->v[i];
        sum += l->v[i] * l->v[i];
    }
    l->sums[chunk] = sum;
}

static void chunk_multiply(void *user, int64_t chunk) {
    const lanczos *l = user;
    const weft_csr *A = l->A;
    const double inverse = 1 / l->norm;
    double dot = 0;
    for (int64_t i = chunk * CHUNK; i < chunk_last(chunk, A->n_rows); ++i) {
        double sum = 0;
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            sum += A->values[k] * l->scaled[A->columns[k]];
        l->next[i] = l->scale[i] * sum * inverse;
        dot += l->next[i] * (l->v[i] * inverse);
    }
    l->sums[chunk] = dot;
}

static void chunk_subtract(void *user, int64_t chunk) {
    const lanczos *l = user;
    const double of_v = l->alpha / l->norm;
    const double of_before = l->norm_before != 0 ? l->beta / l->norm_before : 0;
    double sum = 0;
    for (int64_t i = chunk * CHUNK; i < chunk_last(chunk, l->A->n_rows); ++i) {
        l->next[i] -= of_v * l->v[i] + of_before * l->before[i];
        l->scaled[i] = l->scale[i] * l->next[i];
        sum += l->next[i] * l->next[i];
    }
    l->sums[chunk] = sum;
}

static double sum_of(const lanczos *l) {
    double sum = 0;
    for (int64_t i = 0; i < (l->A->n_rows + CHUNK - 1) / CHUNK; ++i)
        sum += l->sums[i];
    return sum;
}

/* The number of eigenvalues of the tridiagonal matrix above x, by Sturm's sequence. */
static int count_above(const double *alpha, const double *beta, int n, double x) {
    int above = 0;
    double pivot = 1;
    for (int k = 0; k < n; ++k) {
        pivot = alpha[k] - x - (k ? beta[k - 1] * beta[k - 1] / pivot : 0);
        if (pivot == 0)
            pivot = -1e-300;
        above += pivot > 0;
    }
    return above;
}

double weft_ritz_value(const double *alpha, const double *beta, int n, double *residual) {
    double low = alpha[0], high = 0, sum = 1, y_before = 0, y = 1;
    for (int k = 0; k < n; ++k)
        high = fmax(high, fabs(alpha[k]) + (k ? beta[k - 1] : 0) + (k + 1 < n ? beta[k] : 0));
    for (int step = 0; step < 60; ++step) {
        double middle = (low + high) / 2;
        if (count_above(alpha, beta, n, middle))
            low = middle;
        else
            high = middle;
    }
    for (int k = 0; k + 1 < n; ++k) {
        double next = ((high - alpha[k]) * y - (k ? beta[k - 1] * y_before : 0)) / beta[k];
        y_before = y;
        y = next;
        sum += y * y;
    }
    *residual = beta[n - 1] * fabs(y) / sqrt(sum);
    return high;
}

static weft_status lanczos_run(weft_device *device, lanczos *l, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_chunks = (l->A->n_rows + CHUNK - 1) / CHUNK;
    double alpha[STEPS], beta[STEPS], value = 0, residual = 0;
    int n = 0;
    TRY(weft_device_for(device, n_chunks, chunk_start, l, error));
    l->norm = sqrt(sum_of(l));
    *out = 0;
    if (l->norm == 0)
        goto done;
    while (n < STEPS && (n == 0 || beta[n - 1] > 1e-10 * alpha[0]) && MARGIN * value < l->bound) {
        double *free_vector = l->before;
        TRY(weft_device_for(device, n_chunks, chunk_multiply, l, error));
        alpha[n] = l->alpha = sum_of(l);
        TRY(weft_device_for(device, n_chunks, chunk_subtract, l, error));
        beta[n] = l->beta = sqrt(sum_of(l));
        l->before = l->v;
        l->v = l->next;
        l->next = free_vector;
        l->norm_before = l->norm;
        l->norm = l->beta;
        value = weft_ritz_value(alpha, beta, ++n, &residual);
    }
    *out = fmin(fmax(MARGIN * value, value + residual), l->bound);
done:
    return status;
}

weft_status weft_csr_scale(weft_device *device, const weft_csr *A, double *scale, double *lambda,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_rows = (size_t)A->n_rows;
    lanczos l = {.A = A, .scale = scale};
    double *vectors = weft_scratch_make(4 * n_rows + 1, sizeof *vectors);
    l.sums = malloc((n_rows / CHUNK + 1) * sizeof *l.sums);
    if (!vectors || !l.sums)
        TRY(weft_out_of_memory(error, "the Lanczos method"));
    l.v = vectors;
    l.before = vectors + n_rows;
    l.next = vectors + 2 * n_rows;
    l.scaled = vectors + 3 * n_rows;
    memset(l.before, 0, n_rows * sizeof *l.before);
    scaling s = {.A = A, .is_free = scale, .scale = l.scaled, .start = l.v};
    TRY(find_diagonal(device, &s, &l.bound, error));
    TRY(lanczos_run(device, &l, lambda, error));
done:
    free(vectors);
    free(l.sums);
    return status;
}

weft_status weft_csr_eigenvalue(weft_device *device, const weft_csr *A, const int32_t *constrained,
                                int64_t n_constrained, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double *scale = NULL, lambda = 0;
    TRY(weft_free_rows(A, constrained, n_constrained, &scale, error));
    TRY(weft_csr_scale(device, A, scale, &lambda, error));
    *out = lambda;
done:
    free(scale);
    return status;
}
