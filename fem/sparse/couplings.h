/** What the couplings of a matrix tell about its problem: directions or cells of very different
 *  stiffness, which some preconditioners do not suit. Not installed. */
#pragma once

#include "fem/weft_operator.h"

typedef enum weft_couplings_case {
    WEFT_COUPLINGS_EVEN,
    WEFT_COUPLINGS_ANISOTROPIC, /* one direction couples much more strongly than another */
    WEFT_COUPLINGS_JUMPING      /* coefficients jump from cell to cell */
} weft_couplings_case;

typedef struct weft_couplings {
    /* Median over rows i of the larger of two ratios, each of the greatest to the least eigenvalue
     * (in magnitude) of a tensor, with d_ij = x_j - x_i:
     *     - sum_j a_ij d_ij d_ij^T             the coefficient: exact on meshes that look the same
     *                                          from all nodes, on others up to a factor
     *     sum_j |a_ij| d_ij d_ij^T / |d_ij|^2  the couplings, also those of flat cells
     * 1 to 3 for even coefficients on cells of good shape. */
    double anisotropy;
    /* Share of the couplings that are not zero up to rounding, but below 1/1000 of the greatest in
     * their row: below 0.01 for even coefficients, 0.05 and more if cells differ by 10^3. */
    double weak;
    weft_couplings_case is;
} weft_couplings;

/** All borrowed. */
typedef struct weft_couplings_matrix {
    const weft_pattern *pattern;
    const double *values; /* [n_entries] on the host */
    int components;       /* per node; only couplings of a component with itself count */
    int dimension;
    const double *coordinates; /* [n_rows / components][dimension] */
} weft_couplings_matrix;
/** Measure a sample of at most 10,000 rows, evenly spaced. */
void weft_couplings_measure(const weft_couplings_matrix *matrix, weft_couplings *out);
