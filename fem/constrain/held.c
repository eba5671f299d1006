/* Separates modes that weak terms hold from free ones, and computes their amounts in a solution.
 *
 * Decision  docs/decisions/0038-soft-modes-are-computed-apart.md */
#include "fem/base/eigen.h"
#include "fem/base/share.h"
#include "fem/constrain/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues of the work of modes, each scaled to 1, that count as 0, and differences of m_k.A m_l and
 * m_l.A m_k. */
static const double FREE = 1e-9;

void weft_held_modes_clear(weft_held_modes *held) {
    free(held->modes);
    free(held->pulls);
    free(held->work);
    free(held->amounts);
    *held = (weft_held_modes){0};
}

void mode_candidates_clear(mode_candidates *found) {
    free(found->modes);
    free(found->pulls);
    *found = (mode_candidates){0};
}

/* sum_l V_lk v_l for k < kept, instead of the n vectors v */
static weft_status combine(int64_t n_dofs, int n, const double *V, int kept, double **vectors,
                           weft_error *error) {
    double *made = weft_array_make((size_t)n * (size_t)n_dofs, sizeof *made);
    if (!made)
        return weft_out_of_memory(error, "free modes");
    for (int k = 0; k < kept; ++k)
        for (int l = 0; l < n; ++l)
            for (int64_t i = 0; i < n_dofs && V[l * n + k] != 0; ++i)
                made[k * n_dofs + i] += V[l * n + k] * (*vectors)[l * n_dofs + i];
    free(*vectors);
    *vectors = made;
    return WEFT_OK;
}

weft_status mode_candidates_combine(mode_candidates *found, const double *V, int kept,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(combine(found->n_dofs, found->n, V, kept, &found->modes, error));
    TRY(combine(found->n_dofs, found->n, V, kept, &found->pulls, error));
    found->n = kept;
done:
    return status;
}

/* G_kl = m_k.A m_l, scaled to a diagonal of 1; returns whether A is one that CG's energy is made of. */
static bool work_of(const mode_candidates *found, double *G, double *scale) {
    const int n = found->n;
    const int64_t n_dofs = found->n_dofs;
    for (int k = 0; k < n * n; ++k)
        G[k] = constraint_product_of(found->modes + k / n * n_dofs, found->pulls + k % n * n_dofs,
                                     n_dofs);
    for (int k = 0; k < n; ++k)
        scale[k] = G[k * n + k] > 0 ? 1 / sqrt(G[k * n + k]) : 1;
    for (int k = 0; k < n; ++k)
        for (int l = 0; l <= k; ++l) {
            const double a = scale[k] * scale[l] * G[k * n + l];
            const double b = scale[k] * scale[l] * G[l * n + k];
            if (!(fabs(a - b) <= FREE) || (k == l && a < 0))
                return false;
            G[k * n + l] = G[l * n + k] = (a + b) / 2;
        }
    return true;
}

static weft_status hold(const mode_candidates *combined, int n_free, weft_held_modes *held,
                        weft_error *error) {
    const int64_t n = combined->n_dofs;
    const int n_held = combined->n - n_free;
    const size_t n_numbers = (size_t)n_held * (size_t)n;
    *held = (weft_held_modes){.n = n_held,
                              .modes = weft_array_make(n_numbers, sizeof(double)),
                              .pulls = weft_array_make(n_numbers, sizeof(double)),
                              .work = weft_array_make((size_t)n_held, sizeof(double)),
                              .amounts = weft_array_make((size_t)n_held, sizeof(double))};
    if (!held->modes || !held->pulls || !held->work || !held->amounts)
        return weft_out_of_memory(error, "free modes");
    memcpy(held->modes, combined->modes + n_free * n, n_numbers * sizeof(double));
    memcpy(held->pulls, combined->pulls + n_free * n, n_numbers * sizeof(double));
    for (int k = 0; k < n_held; ++k)
        held->work[k] = constraint_product_of(held->modes + k * n, held->pulls + k * n, n);
    return WEFT_OK;
}

weft_status mode_candidates_split(mode_candidates *found, weft_held_modes *held,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = found->n;
    double G[CANDIDATES_MAX * CANDIDATES_MAX], V[CANDIDATES_MAX * CANDIDATES_MAX];
    double sorted[CANDIDATES_MAX * CANDIDATES_MAX], scale[CANDIDATES_MAX];
    int n_free = 0, at = 0;
    if (!work_of(found, G, scale)) { /* the solver meets it as it is */
        found->n = 0;
        goto done;
    }
    weft_diagonalise(n, G, V);
    for (int is_held = 0; is_held < 2; ++is_held) /* the free ones first */
        for (int k = 0; k < n; ++k) {
            if ((G[k * n + k] > FREE) != is_held)
                continue;
            for (int l = 0; l < n; ++l)
                sorted[l * n + at] = scale[l] * V[l * n + k];
            ++at;
            n_free += !is_held;
        }
    TRY(mode_candidates_combine(found, sorted, n, error));
    if (n_free < n)
        TRY(hold(found, n_free, held, error));
    found->n = n_free;
done:
    return status;
}

/* ---- amounts --------------------------------------------------------------------------------- */

void weft_held_modes_add(const weft_held_modes *held, int64_t n_dofs, double factor,
                         const double *amounts, const double *vectors, double *y) {
    for (int k = 0; k < held->n; ++k)
        for (int64_t i = 0; i < n_dofs; ++i)
            y[i] += factor * amounts[k] * vectors[k * n_dofs + i];
}

weft_status weft_held_modes_balance(weft_held_modes *held, int64_t n_dofs, double *b,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < held->n; ++k) {
        TRY(weft_share_product(held->share, held->modes + k * n_dofs, b, n_dofs, &held->amounts[k],
                               error));
        held->amounts[k] /= held->work[k];
    }
    weft_held_modes_add(held, n_dofs, -1, held->amounts, held->pulls, b);
done:
    return status;
}

weft_status weft_held_modes_lack(const weft_held_modes *held, int64_t n_dofs, const double *w,
                                 double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < held->n; ++k) {
        TRY(weft_share_product(held->share, held->pulls + k * n_dofs, w, n_dofs, &out[k], error));
        out[k] /= -held->work[k];
    }
done:
    return status;
}
