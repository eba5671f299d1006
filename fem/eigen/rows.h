/* The loops over rows of blocks. fem/eigen/columns.c includes this once per instruction set, with SIMD_NAME and SIMD_TARGET defined, as
 * fem/sparse/simd.c does. */

/* y = A x, rows first .. last - 1. */
static SIMD_TARGET void SIMD_NAME(multiply)(const product *p, int64_t first, int64_t last) {
    const weft_csr *A = p->A;
    const int width = columns_width(p->x->m);
    for (int64_t i = first; i < last; ++i)
        for (int c = 0; c < width; c += COLUMNS_GROUP) {
            group sum = {0};
            for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
                sum += A->values[k] *
                       *groups_of(p->x->values + (int64_t)A->columns[k] * p->x->stride + c);
            memcpy(p->y->values + i * p->y->stride + c, &sum, sizeof sum);
        }
}

/* Add a group of columns of a times one of b, over rows. */
static SIMD_TARGET void SIMD_NAME(add_groups)(const gram *g, int at_a, int at_b, int64_t first,
                                              int64_t last, double *sums) {
    group sum[COLUMNS_GROUP];
    for (int k = 0; k < COLUMNS_GROUP; ++k)
        sum[k] = *groups_of(sums + (at_a + k) * g->wide_b + at_b);
    for (int64_t i = first; i < last; ++i) {
        const double *a = g->a->values + i * g->a->stride + at_a;
        const group b = *groups_of(g->b->values + i * g->b->stride + at_b);
        for (int k = 0; k < COLUMNS_GROUP; ++k)
            sum[k] += a[k] * b;
    }
    for (int k = 0; k < COLUMNS_GROUP; ++k)
        memcpy(sums + (at_a + k) * g->wide_b + at_b, &sum[k], sizeof sum[k]);
}

/* `lanes` rows from i on of a combination; with a constant number the sums stay in registers. out [lanes][width] */
static inline __attribute__((always_inline)) SIMD_TARGET void
SIMD_NAME(combine)(const combination *c, int64_t i, int lanes, double *out) {
    for (int at = 0; at < c->width; at += COLUMNS_GROUP) {
        group sum[COMBINED_ROWS] = {0};
        for (int t = 0; t < c->n_terms; ++t) {
            const columns *of = c->terms[t].of;
            const double *from = of->values + i * of->stride, *C = c->C[t] ? c->C[t] + at : NULL;
            if (!C) {
                for (int row = 0; row < lanes && at < of->stride; ++row)
                    sum[row] += *groups_of(from + row * of->stride + at);
                continue;
            }
            for (int k = 0; k < of->m; ++k)
                for (int row = 0; row < lanes; ++row)
                    sum[row] += from[row * of->stride + k] * *groups_of(C + k * c->width);
        }
        for (int row = 0; row < lanes; ++row)
            memcpy(out + row * c->width + at, &sum[row], sizeof sum[row]);
    }
}

/* Rows first .. last - 1 of a combination; out [COMBINED_ROWS][width] */
static SIMD_TARGET void SIMD_NAME(combine_rows)(const combination *c, int64_t first, int64_t last,
                                                double *out) {
    for (int64_t i = first; i < last;) {
        const int lanes = i + COMBINED_ROWS <= last ? COMBINED_ROWS : 1;
        if (lanes > 1)
            SIMD_NAME(combine)(c, i, COMBINED_ROWS, out);
        else
            SIMD_NAME(combine)(c, i, 1, out);
        for (int row = 0; row < lanes; ++row, ++i)
            memcpy(c->out->values + i * c->out->stride, out + row * c->width,
                   (size_t)c->width * sizeof *out);
    }
}

static const kernels SIMD_NAME(all) = {SIMD_NAME(multiply), SIMD_NAME(add_groups),
                                       SIMD_NAME(combine_rows)};
