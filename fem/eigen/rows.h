/* The loops over rows of blocks. fem/eigen/columns.c includes this once per instruction set, with SIMD_NAME and SIMD_TARGET defined, as
 * fem/sparse/simd.c does. Sums have names, so that they stay in registers. */

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
    double *to = sums + at_a * g->wide_b + at_b;
    const int next = g->wide_b;
    group s0 = *groups_of(to), s1 = *groups_of(to + next);
    group s2 = *groups_of(to + 2 * next), s3 = *groups_of(to + 3 * next);
    const double *a = g->a->values + first * g->a->stride + at_a;
    const double *b = g->b->values + first * g->b->stride + at_b;
    for (int64_t i = first; i < last; ++i, a += g->a->stride, b += g->b->stride) {
        const group of_b = *groups_of(b);
        s0 += a[0] * of_b;
        s1 += a[1] * of_b;
        s2 += a[2] * of_b;
        s3 += a[3] * of_b;
    }
    memcpy(to, &s0, sizeof s0);
    memcpy(to + next, &s1, sizeof s1);
    memcpy(to + 2 * next, &s2, sizeof s2);
    memcpy(to + 3 * next, &s3, sizeof s3);
}

/* A group of columns, from `at` on, of four rows from i on. out [4][width] */
static SIMD_TARGET void SIMD_NAME(combine_four)(const combination *c, int64_t i, int at,
                                                double *out) {
    group s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int t = 0; t < c->n_terms; ++t) {
        const columns *of = c->terms[t].of;
        const int next = of->stride, width = c->width;
        const double *from = of->values + i * next, *C = c->C[t];
        if (!C && at < next) { /* the columns themselves */
            s0 += *groups_of(from + at);
            s1 += *groups_of(from + next + at);
            s2 += *groups_of(from + 2 * next + at);
            s3 += *groups_of(from + 3 * next + at);
        }
        for (int k = 0; C && k < of->m; ++k) {
            const group factor = *groups_of(C + k * width + at);
            s0 += from[k] * factor;
            s1 += from[next + k] * factor;
            s2 += from[2 * next + k] * factor;
            s3 += from[3 * next + k] * factor;
        }
    }
    memcpy(out + at, &s0, sizeof s0);
    memcpy(out + c->width + at, &s1, sizeof s1);
    memcpy(out + 2 * c->width + at, &s2, sizeof s2);
    memcpy(out + 3 * c->width + at, &s3, sizeof s3);
}

/* The same of one row. */
static SIMD_TARGET void SIMD_NAME(combine_one)(const combination *c, int64_t i, int at,
                                               double *out) {
    group sum = {0};
    for (int t = 0; t < c->n_terms; ++t) {
        const columns *of = c->terms[t].of;
        const double *from = of->values + i * of->stride, *C = c->C[t];
        if (!C && at < of->stride)
            sum += *groups_of(from + at);
        for (int k = 0; C && k < of->m; ++k)
            sum += from[k] * *groups_of(C + k * c->width + at);
    }
    memcpy(out + at, &sum, sizeof sum);
}

/* Rows first .. last - 1 of a combination; out [COMBINED_ROWS][width] */
static SIMD_TARGET void SIMD_NAME(combine_rows)(const combination *c, int64_t first, int64_t last,
                                                double *out) {
    for (int64_t i = first; i < last;) {
        const int rows = i + COMBINED_ROWS <= last ? COMBINED_ROWS : 1;
        for (int at = 0; at < c->width; at += COLUMNS_GROUP)
            if (rows == COMBINED_ROWS)
                SIMD_NAME(combine_four)(c, i, at, out);
            else
                SIMD_NAME(combine_one)(c, i, at, out);
        for (int row = 0; row < rows; ++row, ++i)
            memcpy(c->out->values + i * c->out->stride, out + row * c->width,
                   (size_t)c->width * sizeof *out);
    }
}

static const kernels SIMD_NAME(all) = {SIMD_NAME(multiply), SIMD_NAME(add_groups),
                                       SIMD_NAME(combine_rows)};
