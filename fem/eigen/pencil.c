/* What is computed of a pencil itself: K - s M, the size of a value, and its approximate inverse. */
#include "fem/eigen/private.h"

#include <math.h>

double weft_pencil_size_of(const weft_pencil *pencil, double value) {
    return fmax(fabs(value), fabs(value - pencil->shift));
}

weft_status pencil_precondition(const weft_pencil *pencil, const double *d, const double *r,
                                double *z, weft_error *error) {
    weft_status status = WEFT_OK;
    if (pencil->precondition)
        TRY(pencil->precondition(pencil->user, r, z, error));
    for (int64_t i = 0; i < pencil->K.n_rows && !pencil->precondition; ++i)
        z[i] = d[i] * r[i];
    for (int64_t k = 0; k < pencil->n_dropped; ++k)
        z[pencil->dropped[k]] = 0;
done:
    return status;
}

/* The entries of a row of both, merged; places, their columns, and values NULL: counted alone. */
static int64_t merge_row(const weft_pencil *pencil, int64_t row, int32_t *places, double *values) {
    const weft_csr *K = &pencil->K, *M = &pencil->M;
    int64_t k = K->row_start[row], m = M->row_start[row], n = 0;
    while (k < K->row_start[row + 1] || m < M->row_start[row + 1]) {
        const int32_t of_k = k < K->row_start[row + 1] ? K->columns[k] : INT32_MAX;
        const int32_t of_m = m < M->row_start[row + 1] ? M->columns[m] : INT32_MAX;
        const int32_t column = of_k < of_m ? of_k : of_m;
        const double of_K = of_k == column ? K->values[k++] : 0;
        const double of_M = of_m == column ? M->values[m++] : 0;
        if (places) {
            places[n] = column;
            values[n] = of_K - pencil->shift * of_M;
        }
        ++n;
    }
    return n;
}

weft_status weft_pencil_shifted(const weft_pencil *pencil, weft_csr *out, weft_error *error) {
    const int64_t n_rows = pencil->K.n_rows;
    int64_t n = 0;
    for (int64_t i = 0; i < n_rows; ++i)
        n += merge_row(pencil, i, NULL, NULL);
    const weft_status status = weft_csr_allocate(n_rows, n_rows, n, out, error);
    for (int64_t i = 0; i < n_rows && status == WEFT_OK; ++i)
        out->row_start[i + 1] =
            out->row_start[i] +
            merge_row(pencil, i, out->columns + out->row_start[i], out->values + out->row_start[i]);
    return status;
}
