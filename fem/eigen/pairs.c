/* Describes eigenpairs by the matrices themselves, and refuses pencils that have none, or fewer. */
#include "fem/eigen/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_eigenpairs_clear(weft_eigenpairs *pairs) {
    free(pairs->values);
    free(pairs->residuals);
    free(pairs->vectors);
    free(pairs->cluster);
    *pairs = (weft_eigenpairs){0};
}

weft_status pairs_place_null(const weft_pencil *pencil, basis *out, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double DEPENDENT = 1e-12;
    const int64_t n = pencil->K.n_rows;
    if (pencil->n_null == 0)
        goto done;
    TRY(basis_make(pencil, pencil->n_null, out, error));
    out->v.m = pencil->n_null;
    for (int k = 0; k < pencil->n_null; ++k)
        TRY(columns_set(pencil, &out->v, k, pencil->null + k * n, error));
    TRY(basis_products(pencil, out, error));
    TRY(basis_select(pencil, DEPENDENT, out, error));
    if (out->v.m < pencil->n_null)
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT,
                              "neither the matrix nor the mass sees a motion that nothing holds, "
                              "so that its value can "
                              "be any",
                              "fix it by a condition, or give it a mass"));
done:
    return status;
}

weft_status pairs_check_mass(const weft_pencil *pencil, const double *d, weft_error *error) {
    for (int64_t i = 0; i < pencil->M.n_rows; ++i) {
        const int64_t at = d[i] > 0 ? weft_csr_find(&pencil->M, i, i) : -1;
        if (at < 0 || pencil->M.values[at] >= 0)
            continue;
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "the diagonal entry of row %lld of the mass is %g, so that it is not "
                       "positive semidefinite",
                       (long long)i, pencil->M.values[at]);
        weft_error_hint(error, "look at the sign of the form m; if it is that of stresses, whose "
                               "factors at which a structure buckles are wanted, take --buckling");
        return WEFT_ERROR_INPUT;
    }
    return WEFT_OK;
}

weft_status pairs_refuse_number(int wanted, int64_t most, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%d eigenvalues are wanted, and the problem has %lld",
                   wanted, (long long)most);
    weft_error_hint(error, "ask for fewer, or take a finer mesh; values without mass are infinite");
    return WEFT_ERROR_INPUT;
}

weft_status pairs_describe(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_eigenpairs *pairs = it->pairs;
    const int64_t rows = it->pencil->K.n_rows;
    const int n = it->settings->n;
    TRY(basis_products(it->pencil, &it->x, error));
    TRY(iteration_measure(it, error));
    if (pairs->outcome == WEFT_EIGEN_CONVERGED && it->n_active > 0 && it->active[0] < n &&
        !(it->residuals[it->active[0]] <= 10 * it->settings->tolerance))
        pairs->outcome = WEFT_EIGEN_BREAKDOWN;
    pairs->n = pairs->n_known = n;
    while (pairs->n_known < it->m && it->residuals[pairs->n_known] < PAIRS_KNOWN)
        ++pairs->n_known;
    pairs->cluster = calloc((size_t)pairs->n_known + 1, sizeof *pairs->cluster);
    pairs->vectors = weft_array_make((size_t)n * (size_t)rows, sizeof *pairs->vectors);
    if (!pairs->cluster || !pairs->vectors)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    it->x.v.m = n; /* those beyond are dropped */
    TRY(clusters_fix(it->pencil, it->values, it->settings->tolerance, &it->x.v, error));
    for (int k = 0; k < n; ++k)
        TRY(columns_get(it->pencil, &it->x.v, k, pairs->vectors + k * rows, error));
    clusters_turn(n, rows, pairs->vectors);
    pairs->values = it->values;
    pairs->residuals = it->residuals;
    it->values = it->residuals = NULL;
    clusters_number(it->pencil, pairs);
done:
    return status;
}
