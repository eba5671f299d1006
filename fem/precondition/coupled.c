/* Recognises two mass matrices that are coupled by derivatives, and makes the factor that preconditions them. */
#include "fem/precondition/coupled.h"

#include <math.h>
#include <stdlib.h>

/* Sum of row sums over sum of the diagonal from which on a matrix is like a mass matrix. */
static const double MASS = 0.3;
/* The share of a coupling that derivatives must have. */
static const double STIFF = 1e-3;

/* Sums over the free rows of a block that couple to free rows alone. */
typedef struct sums {
    double diagonal, rows, sizes; /* of a_ii, of a_ij, of |a_ij| */
} sums;

static sums add_up(const weft_coupled *pair, int64_t row, int64_t column) {
    const weft_csr *A = pair->A;
    sums out = {0};
    for (int64_t i = row; i < row + pair->n; ++i) {
        sums one = {0};
        bool sees = !pair->free[i] || !pair->free[i - row + column];
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1] && !sees; ++k) {
            const int64_t j = A->columns[k];
            if (j < column || j >= column + pair->n)
                continue;
            sees = !pair->free[j];
            one.diagonal += j - column == i - row ? A->values[k] : 0;
            one.rows += A->values[k];
            one.sizes += fabs(A->values[k]);
        }
        out.diagonal += sees ? 0 : one.diagonal;
        out.rows += sees ? 0 : one.rows;
        out.sizes += sees ? 0 : one.sizes;
    }
    return out;
}

/* The diagonal of a coupling without the multiple of C that has its row sums; 0: it has no derivatives. */
static double stiffness(const sums *coupling, const sums *C) {
    const double diagonal = coupling->diagonal - coupling->rows / C->rows * C->diagonal;
    return fabs(diagonal) > STIFF * coupling->sizes ? diagonal : 0;
}

static bool is_mass(const sums *block) {
    return block->rows / block->diagonal > MASS;
}

static double sign_of(double value) {
    return value < 0 ? -1 : 1;
}

/* Are the same dofs of both functions constrained? */
static bool is_alike(const weft_coupled *pair) {
    for (int64_t i = 0; i < pair->n; ++i)
        if (pair->free[pair->c + i] != pair->free[pair->m + i])
            return false;
    return true;
}

bool weft_coupled_find(weft_coupled *pair) {
    const sums C = add_up(pair, pair->m, pair->m), D = add_up(pair, pair->c, pair->c);
    const sums X = add_up(pair, pair->c, pair->m), Y = add_up(pair, pair->m, pair->c);
    if (!is_alike(pair) || !is_mass(&C) || !is_mass(&D))
        return false;
    const double x = stiffness(&X, &C), y = stiffness(&Y, &C);
    if (x == 0 || y == 0 || !(y * C.diagonal / (x * D.diagonal) < 0))
        return false;
    pair->sign_x = sign_of(x);
    pair->sign_c = sign_of(C.diagonal);
    const double sign_d = sign_of(D.diagonal), sign = sign_d * pair->sign_x;
    pair->scale = fabs(D.diagonal / C.diagonal);
    pair->eta = sqrt(fabs(y / x) / pair->scale);
    const double s = sqrt(fabs(y / x) * pair->scale);
    pair->from_m = sign * pair->sign_c / s;
    pair->from_c = sign_d / pair->scale;
    pair->to_m = sign * s;
    return isfinite(s) && s > 0;
}

/* ---- matrices ---------------------------------------------------------------------------- */

/* Row i of T = eta |X|, without what X has of C, and of H = C + T.
 * share  of C in T */
static weft_status put_row(const weft_coupled *pair, int64_t i, double share, weft_csr *H,
                           weft_csr *T, weft_error *error) {
    const weft_csr *A = pair->A;
    int64_t n = T->row_start[i];
    for (int64_t k = A->row_start[pair->m + i]; k < A->row_start[pair->m + i + 1]; ++k) {
        const int64_t j = A->columns[k] - pair->m;
        if (j < 0 || j >= pair->n)
            continue;
        const int64_t at = weft_csr_find(A, pair->c + i, A->columns[k]);
        if (at < 0)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "the parts of the matrix have different patterns");
        const double c = pair->sign_c * A->values[k];
        const double t = pair->sign_x * pair->eta * A->values[at] - share * c;
        T->columns[n] = H->columns[n] = (int32_t)j;
        T->values[n] = pair->free[pair->m + i] ? t : 0;
        H->values[n++] = c + t;
    }
    T->row_start[i + 1] = H->row_start[i + 1] = n;
    return WEFT_OK;
}

weft_status weft_coupled_matrices(weft_device *device, const weft_coupled *pair, weft_csr *H,
                                  weft_csr *T, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = pair->A;
    const sums c = add_up(pair, pair->m, pair->m), x = add_up(pair, pair->c, pair->m);
    const double share = pair->sign_x * pair->eta * x.rows / (pair->sign_c * c.rows);
    const int64_t n_entries = A->row_start[pair->m + pair->n] - A->row_start[pair->m];
    weft_csr factor = {0}, coupling = {0};
    double *symmetric = NULL;
    TRY(weft_csr_allocate(pair->n, pair->n, n_entries, &factor, error));
    TRY(weft_csr_allocate(pair->n, pair->n, n_entries, &coupling, error));
    for (int64_t i = 0; i < pair->n; ++i)
        TRY(put_row(pair, i, share, &factor, &coupling, error));
    symmetric = weft_array_make_unset((size_t)n_entries * sizeof *symmetric + 1);
    if (!symmetric)
        TRY(weft_out_of_memory(error, "a factor of two coupled functions"));
    TRY(weft_csr_symmetric_part(device, &factor, symmetric, error));
    free(factor.values);
    factor.values = symmetric;
    symmetric = NULL;
    *H = factor;
    *T = coupling;
    factor = coupling = (weft_csr){0};
done:
    free(symmetric);
    weft_csr_clear(&factor);
    weft_csr_clear(&coupling);
    return status;
}
