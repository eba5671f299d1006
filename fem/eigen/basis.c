/* Bases: products of blocks, their projections, and the selection of vectors that do not depend on others. */
#include "fem/base/eigen.h"
#include "fem/eigen/private.h"

#include <math.h>
#include <stdlib.h>

void basis_free(basis *b) {
    columns_free(&b->v);
    columns_free(&b->kv);
    columns_free(&b->mv);
}

weft_status basis_make(const weft_pencil *pencil, int most, basis *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(columns_make(pencil, most, &out->v, error));
    TRY(columns_make(pencil, most, &out->kv, error));
    TRY(columns_make(pencil, most, &out->mv, error));
done:
    return status;
}

weft_status basis_products(const weft_pencil *pencil, basis *b, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(columns_product(pencil, &pencil->K, &b->v, &b->kv, error));
    TRY(columns_product(pencil, &pencil->M, &b->v, &b->mv, error));
done:
    return status;
}

/* ---- projections ----------------------------------------------------------------------------- */

/* Blocks minus those of a times a.mv^T v. */
static weft_status project(const weft_pencil *pencil, const basis *a, columns *v,
                           const columns *const from[], columns *const blocks[], int n_blocks,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t m = (size_t)v->m, size = (size_t)a->v.m * m;
    double *C = malloc((size + 1) * sizeof *C);
    if (!C)
        TRY(weft_out_of_memory(error, "a projection"));
    if (size == 0)
        goto done;
    TRY(columns_gram(pencil, &a->mv, v, C, error));
    for (size_t i = 0; i < size; ++i)
        C[i] = -C[i];
    for (int k = 0; k < n_blocks; ++k) {
        const columns_term terms[] = {{blocks[k], NULL}, {from[k], C}};
        TRY(columns_combine(pencil, terms, 2, v->m, blocks[k], error));
    }
done:
    free(C);
    return status;
}

weft_status basis_project(const weft_pencil *pencil, const basis *a, columns *v,
                          weft_error *error) {
    return project(pencil, a, v, (const columns *[]){&a->v}, (columns *[]){v}, 1, error);
}

weft_status basis_project_all(const weft_pencil *pencil, const basis *a, basis *b,
                              weft_error *error) {
    return project(pencil, a, &b->v, (const columns *[]){&a->v, &a->kv, &a->mv},
                   (columns *[]){&b->v, &b->kv, &b->mv}, 3, error);
}

weft_status basis_balance(const weft_pencil *pencil, const basis *a, double *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = a->v.n;
    double *v = malloc((size_t)n * sizeof *v + 1);
    if (!v)
        TRY(weft_out_of_memory(error, "a projection"));
    for (int k = 0; k < a->v.m; ++k) {
        double work = 0;
        TRY(columns_get(pencil, &a->v, k, v, error));
        for (int64_t i = 0; i < n; ++i)
            work += r[i] * v[i];
        TRY(columns_get(pencil, &a->mv, k, v, error));
        for (int64_t i = 0; i < n; ++i)
            r[i] -= work * v[i];
    }
done:
    free(v);
    return status;
}

/* ---- combinations ---------------------------------------------------------------------------- */

weft_status basis_combine(const weft_pencil *pencil, basis *b, const double *C, int m,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    columns *const blocks[] = {&b->v, &b->mv, &b->kv};
    for (int k = 0; k < (b->kv.m > 0 ? 3 : 2); ++k) {
        const columns_term term = {blocks[k], C};
        TRY(columns_combine(pencil, &term, 1, m, blocks[k], error));
    }
done:
    return status;
}

/* C [m][*n_kept]: orthonormal combinations, by the Gram matrix G, which is overwritten; work [5 m] */
static void select_columns(int m, double threshold, double *G, double *work, double *C,
                           int *n_kept) {
    double *scale = work, *values = work + m;
    for (int i = 0; i < m; ++i)
        scale[i] = G[i * m + i] > 0 && isfinite(G[i * m + i]) ? 1 / sqrt(G[i * m + i]) : 0;
    for (int i = 0; i < m * m; ++i)
        G[i] = scale[i / m] * scale[i % m] != 0 ? G[i] * scale[i / m] * scale[i % m] : 0;
    weft_eigenvectors(m, G, values, values + m);
    int kept = 0;
    while (kept < m && values[m - 1 - kept] > threshold * values[m - 1])
        ++kept;
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < kept; ++k)
            C[i * kept + k] = scale[i] * G[i * m + m - 1 - k] / sqrt(values[m - 1 - k]);
    *n_kept = kept;
}

weft_status basis_select(const weft_pencil *pencil, double threshold, basis *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = b->v.m;
    const size_t size = (size_t)m * (size_t)m;
    double *G = malloc((2 * size + 5 * (size_t)m + 1) * sizeof *G);
    int n_kept = 0;
    if (!G)
        TRY(weft_out_of_memory(error, "a basis"));
    TRY(columns_gram(pencil, &b->v, &b->mv, G, error));
    select_columns(m, threshold, G, G + 2 * size, G + size, &n_kept);
    TRY(basis_combine(pencil, b, G + size, n_kept, error));
done:
    free(G);
    return status;
}
