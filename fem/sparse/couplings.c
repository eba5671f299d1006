/* Measures how different the couplings within the rows of a matrix are. */
#include "fem/sparse/couplings.h"
#include "fem/base/eigen.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 10000 };
static const double ANISOTROPIC = 6,
                    JUMPING = 0.03; /* halfway between the figures of couplings.h */

typedef double tensor[3][3]; /* rows and columns beyond the dimension are 0 */

/* The greatest over the least eigenvalue in magnitude. Overwrites t. */
static double eigenvalue_ratio(tensor t, int d) {
    weft_diagonalise(3, t[0], NULL);
    double least = INFINITY, greatest = 0;
    for (int k = 0; k < d; ++k) {
        least = fmin(least, fabs(t[k][k]));
        greatest = fmax(greatest, fabs(t[k][k]));
    }
    return greatest > 0 ? greatest / fmax(least, 1e-12 * greatest) : 1;
}

/* Of one row. */
typedef struct row_couplings {
    double greatest;
    tensor coefficient, strength;
    int n, n_weak;
} row_couplings;

static void add(double value, const double *from, const double *to, int d, row_couplings *row) {
    double difference[3] = {0}, square = 0;
    for (int k = 0; k < d; ++k) {
        difference[k] = to[k] - from[k];
        square += difference[k] * difference[k];
    }
    for (int k = 0; k < d; ++k)
        for (int m = 0; m < d; ++m) {
            row->coefficient[k][m] -= value * difference[k] * difference[m];
            row->strength[k][m] += fabs(value) * difference[k] * difference[m] / square;
        }
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_coupling(const weft_pattern *pattern, int64_t row, int64_t entry, int components) {
    const int64_t column = pattern->columns[entry];
    return column != row && (column - row) % components == 0;
}

static row_couplings measure_row(const weft_couplings_matrix *m, int64_t i) {
    row_couplings row = {0};
    const weft_pattern *pattern = m->pattern;
    const int64_t start = pattern->row_start[i], end = pattern->row_start[i + 1];
    for (int64_t e = start; e < end; ++e)
        if (is_coupling(pattern, i, e, m->components))
            row.greatest = fmax(row.greatest, fabs(m->values[e]));
    for (int64_t e = start; e < end; ++e) {
        const double size = fabs(m->values[e]);
        if (!is_coupling(pattern, i, e, m->components) || !(size > 1e-12 * row.greatest))
            continue;
        add(m->values[e], m->coordinates + i / m->components * m->dimension,
            m->coordinates + pattern->columns[e] / m->components * m->dimension, m->dimension,
            &row);
        row.n_weak += size < 1e-3 * row.greatest;
        ++row.n;
    }
    return row;
}

void weft_couplings_measure(const weft_couplings_matrix *matrix, weft_couplings *out) {
    const int64_t n_rows = matrix->pattern->n_rows, step = (n_rows + SAMPLE - 1) / SAMPLE;
    double ratios[SAMPLE];
    int n = 0;
    int64_t n_couplings = 0, n_weak = 0;
    *out = (weft_couplings){.anisotropy = 1};
    for (int64_t i = 0; i < n_rows; i += step) {
        row_couplings row = measure_row(matrix, i);
        if (row.n == 0)
            continue;
        ratios[n++] = fmax(eigenvalue_ratio(row.coefficient, matrix->dimension),
                           eigenvalue_ratio(row.strength, matrix->dimension));
        n_couplings += row.n;
        n_weak += row.n_weak;
    }
    if (n == 0)
        return;
    qsort(ratios, (size_t)n, sizeof *ratios, compare);
    out->anisotropy = ratios[n / 2];
    out->weak = (double)n_weak / (double)n_couplings;
    out->is = out->anisotropy >= ANISOTROPIC ? WEFT_COUPLINGS_ANISOTROPIC
              : out->weak >= JUMPING         ? WEFT_COUPLINGS_JUMPING
                                             : WEFT_COUPLINGS_EVEN;
}
