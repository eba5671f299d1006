/* Blocks of vectors: their products with matrices and with each other, on the host by chunks of rows, whose sums are added up in order, or
 * where the pencil has its blocks. */
#include "fem/eigen/private.h"
#include "fem/sparse/csr.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, PIECE = 256 }; /* rows of a task; rows that stay in the cache */
enum { TERMS_MOST = 3, COMBINED_ROWS = 4, WIDTH_MOST = 1024 };

/* A group of columns of a row. */
typedef double group __attribute__((vector_size(COLUMNS_GROUP * sizeof(double))));

static const group *groups_of(const double *values) {
    return (const group *)(const void *)values;
}

static weft_status host_make(const weft_pencil *pencil, columns *out, weft_error *error) {
    (void)pencil;
    out->values = weft_array_make((size_t)out->n * (size_t)out->stride, sizeof *out->values);
    return out->values ? WEFT_OK : weft_out_of_memory(error, "a block of vectors");
}

static int64_t n_chunks(int64_t n) {
    return (n + CHUNK - 1) / CHUNK;
}

static int64_t last_of(int64_t chunk, int64_t n) {
    return (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
}

/* ---- loops over rows ------------------------------------------------------------------------- */

typedef struct kernels kernels;

typedef struct product {
    const kernels *kernels;
    const weft_csr *A;
    const columns *x;
    columns *y;
} product;

typedef struct gram {
    const kernels *kernels;
    const columns *a, *b;
    int wide_a, wide_b;
    double *sums; /* [n_chunks][wide_a][wide_b] */
} gram;

typedef struct combination {
    const kernels *kernels;
    const columns_term *terms;
    int n_terms, width;
    const double *C[TERMS_MOST]; /* [of->m][width] filled up with zeros */
    columns *out;
} combination;

struct kernels {
    void (*multiply)(const product *p, int64_t first, int64_t last);
    void (*add_groups)(const gram *g, int at_a, int at_b, int64_t first, int64_t last,
                       double *sums);
    void (*combine_rows)(const combination *c, int64_t first, int64_t last, double *out);
};

#define SIMD_NAME(name) name##_plain
#define SIMD_TARGET
#include "fem/eigen/rows.h"
#undef SIMD_NAME
#undef SIMD_TARGET

#if defined(__x86_64__)
#define SIMD_NAME(name) name##_avx2
#define SIMD_TARGET __attribute__((target("avx2,fma")))
#include "fem/eigen/rows.h"
#undef SIMD_NAME
#undef SIMD_TARGET
#endif

static const kernels *kernels_of(const weft_pencil *pencil) {
#if defined(__x86_64__)
    if (weft_vectors_of(pencil->device) >= WEFT_VECTORS_AVX2)
        return &all_avx2;
#endif
    (void)pencil;
    return &all_plain;
}

/* ---- products -------------------------------------------------------------------------------- */

static void multiply_rows(void *user, int64_t chunk) {
    const product *p = user;
    p->kernels->multiply(p, chunk * CHUNK, last_of(chunk, p->A->n_rows));
}

static weft_status host_product(const weft_pencil *pencil, const weft_csr *A, const columns *x,
                                columns *y, weft_error *error) {
    product p = {.kernels = kernels_of(pencil), .A = A, .x = x, .y = y};
    y->m = x->m;
    const weft_status status =
        weft_device_for(pencil->device, n_chunks(A->n_rows), multiply_rows, &p, error);
    for (int64_t k = 0; k < pencil->n_dropped; ++k)
        memset(y->values + (int64_t)pencil->dropped[k] * y->stride, 0,
               (size_t)y->stride * sizeof *y->values);
    return status;
}

/* ---- Gram matrices --------------------------------------------------------------------------- */

static void gram_rows(void *user, int64_t chunk) {
    const gram *g = user;
    const int64_t last = last_of(chunk, g->a->n);
    double *sums = g->sums + chunk * g->wide_a * g->wide_b;
    for (int64_t i = chunk * CHUNK; i < last; i += PIECE)
        for (int a = 0; a < g->wide_a; a += COLUMNS_GROUP)
            for (int b = 0; b < g->wide_b; b += COLUMNS_GROUP)
                g->kernels->add_groups(g, a, b, i, i + PIECE < last ? i + PIECE : last, sums);
}

static weft_status host_gram(const weft_pencil *pencil, const columns *a, const columns *b,
                             double *G, weft_error *error) {
    weft_status status = WEFT_OK;
    gram g = {.kernels = kernels_of(pencil),
              .a = a,
              .b = b,
              .wide_a = columns_width(a->m),
              .wide_b = columns_width(b->m)};
    const int64_t n = n_chunks(a->n), size = (int64_t)g.wide_a * g.wide_b;
    memset(G, 0, (size_t)a->m * (size_t)b->m * sizeof *G);
    if (size == 0)
        goto done;
    g.sums = weft_array_make((size_t)n * (size_t)size, sizeof *g.sums);
    if (!g.sums)
        TRY(weft_out_of_memory(error, "a Gram matrix"));
    TRY(weft_device_for(pencil->device, n, gram_rows, &g, error));
    for (int64_t chunk = 0; chunk < n; ++chunk)
        for (int i = 0; i < a->m; ++i)
            for (int k = 0; k < b->m; ++k)
                G[i * b->m + k] += g.sums[chunk * size + i * g.wide_b + k];
done:
    free(g.sums);
    return status;
}

/* ---- combinations ---------------------------------------------------------------------------- */

static void combine_chunk(void *user, int64_t chunk) {
    const combination *c = user;
    double out[COMBINED_ROWS * WIDTH_MOST];
    c->kernels->combine_rows(c, chunk * CHUNK, last_of(chunk, c->out->n), out);
}

static weft_status host_combine(const weft_pencil *pencil, const columns_term *terms, int n_terms,
                                int m, columns *out, weft_error *error) {
    weft_status status = WEFT_OK;
    combination c = {.kernels = kernels_of(pencil),
                     .terms = terms,
                     .n_terms = n_terms,
                     .width = columns_width(m),
                     .out = out};
    double *all = NULL;
    size_t rows = 0;
    for (int t = 0; t < n_terms; ++t)
        rows += terms[t].C ? (size_t)terms[t].of->m : 0;
    all = weft_array_make(rows * (size_t)c.width + 1, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "a combination of vectors"));
    double *at = all;
    for (int t = 0; t < n_terms; ++t) {
        c.C[t] = terms[t].C ? at : NULL;
        for (int k = 0; k < terms[t].of->m && terms[t].C; ++k, at += c.width)
            memcpy(at, terms[t].C + k * m, (size_t)m * sizeof *at);
    }
    TRY(weft_device_for(pencil->device, n_chunks(out->n), combine_chunk, &c, error));
    out->m = m;
done:
    free(all);
    return status;
}

typedef struct taking {
    const int *list;
    int n;
    columns *block;
} taking;

static void take_rows(void *user, int64_t chunk) {
    const taking *t = user;
    const int width = columns_width(t->n);
    for (int64_t i = chunk * CHUNK; i < last_of(chunk, t->block->n); ++i) {
        double *row = t->block->values + i * t->block->stride;
        for (int k = 0; k < t->n; ++k)
            row[k] = row[t->list[k]];
        memset(row + t->n, 0, (size_t)(width - t->n) * sizeof *row);
    }
}

static weft_status host_take(const weft_pencil *pencil, const int *list, int n, columns *block,
                             weft_error *error) {
    taking t = {list, n, block};
    block->m = n;
    return weft_device_for(pencil->device, n_chunks(block->n), take_rows, &t, error);
}

/* ---- residuals ------------------------------------------------------------------------------- */

typedef struct squares {
    const columns *a, *b;
    const double *c, *d;
    double *sums; /* [n_chunks][a->m] */
} squares;

static void square_rows(void *user, int64_t chunk) {
    const squares *s = user;
    double *sums = s->sums + chunk * s->a->m;
    for (int64_t i = chunk * CHUNK; i < last_of(chunk, s->a->n); ++i)
        for (int k = 0; k < s->a->m; ++k) {
            const double r =
                s->a->values[i * s->a->stride + k] - s->c[k] * s->b->values[i * s->b->stride + k];
            sums[k] += r * r * s->d[i];
        }
}

static weft_status host_residuals(const weft_pencil *pencil, const columns *a, const double *c,
                                  const columns *b, const double *d, double *sums,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = n_chunks(a->n);
    squares s = {.a = a, .b = b, .c = c, .d = d};
    s.sums = weft_array_make((size_t)n * (size_t)a->m + 1, sizeof *s.sums);
    if (!s.sums)
        TRY(weft_out_of_memory(error, "residuals"));
    TRY(weft_device_for(pencil->device, n, square_rows, &s, error));
    for (int k = 0; k < a->m; ++k) {
        sums[k] = 0;
        for (int64_t chunk = 0; chunk < n; ++chunk)
            sums[k] += s.sums[chunk * a->m + k];
    }
done:
    free(s.sums);
    return status;
}

/* ---- single columns -------------------------------------------------------------------------- */

static weft_status host_random(const weft_pencil *pencil, int first, int last, int seed,
                               columns *out, weft_error *error) {
    (void)error;
    for (int64_t i = 0; i < out->n; ++i)
        for (int k = first; k < last; ++k)
            out->values[i * out->stride + k] =
                weft_random_entry(i + (int64_t)(seed + k) * INT64_C(0x100000001b3));
    for (int64_t k = 0; k < pencil->n_dropped; ++k)
        memset(out->values + (int64_t)pencil->dropped[k] * out->stride, 0,
               (size_t)out->stride * sizeof *out->values);
    out->m = last;
    return WEFT_OK;
}

typedef struct column {
    columns *block;
    int at;
    const double *from; /* of the block's column; NULL: it goes to `to` */
    double *to;
} column;

static void copy_rows(void *user, int64_t chunk) {
    const column *c = user;
    const int64_t last = last_of(chunk, c->block->n);
    double *at = c->block->values + c->at;
    for (int64_t i = chunk * CHUNK; i < last; ++i)
        if (c->from)
            at[i * c->block->stride] = c->from[i];
        else
            c->to[i] = at[i * c->block->stride];
}

static weft_status host_get(const weft_pencil *pencil, const columns *block, int at, double *out,
                            weft_error *error) {
    columns of = *block;
    column c = {.block = &of, .at = at, .to = out};
    return weft_device_for(pencil->device, n_chunks(block->n), copy_rows, &c, error);
}

static weft_status host_set(const weft_pencil *pencil, columns *block, int at, const double *values,
                            weft_error *error) {
    column c = {.block = block, .at = at, .from = values};
    return weft_device_for(pencil->device, n_chunks(block->n), copy_rows, &c, error);
}

/* ---- where blocks are ------------------------------------------------------------------------ */

weft_status columns_precondition_each(const weft_pencil *pencil, const double *d, columns *block,
                                      double *r, double *z, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < block->m; ++k) {
        TRY(columns_get(pencil, block, k, r, error));
        TRY(pencil_precondition(pencil, d, r, z, error));
        TRY(columns_set(pencil, block, k, z, error));
    }
done:
    return status;
}

static const columns_table columns_on_host = {.make = host_make,
                                              .product = host_product,
                                              .gram = host_gram,
                                              .combine = host_combine,
                                              .take = host_take,
                                              .residuals = host_residuals,
                                              .random = host_random,
                                              .get = host_get,
                                              .set = host_set,
                                              .precondition = columns_precondition_each};

static const columns_table *table_of(const weft_pencil *pencil) {
    return pencil->blocks ? &columns_on_device : &columns_on_host;
}

weft_status columns_make(const weft_pencil *pencil, int most, columns *out, weft_error *error) {
    columns made = {.n = pencil->K.n_rows, .stride = columns_width(most > 0 ? most : 1)};
    const weft_status status = table_of(pencil)->make(pencil, &made, error);
    *out = made;
    return status;
}

void columns_free(columns *block) {
    free(block->values);
    weft_memory_free(&block->memory);
    *block = (columns){0};
}

weft_status columns_product(const weft_pencil *pencil, const weft_csr *A, const columns *x,
                            columns *y, weft_error *error) {
    return table_of(pencil)->product(pencil, A, x, y, error);
}

weft_status columns_gram(const weft_pencil *pencil, const columns *a, const columns *b, double *G,
                         weft_error *error) {
    return table_of(pencil)->gram(pencil, a, b, G, error);
}

weft_status columns_combine(const weft_pencil *pencil, const columns_term *terms, int n_terms,
                            int m, columns *out, weft_error *error) {
    return table_of(pencil)->combine(pencil, terms, n_terms, m, out, error);
}

weft_status columns_residuals(const weft_pencil *pencil, const columns *a, const double *c,
                              const columns *b, const double *d, double *sums, weft_error *error) {
    return table_of(pencil)->residuals(pencil, a, c, b, d, sums, error);
}

weft_status columns_random(const weft_pencil *pencil, int first, int last, int seed, columns *out,
                           weft_error *error) {
    return table_of(pencil)->random(pencil, first, last, seed, out, error);
}

weft_status columns_take(const weft_pencil *pencil, const int *list, int n, columns *block,
                         weft_error *error) {
    return table_of(pencil)->take(pencil, list, n, block, error);
}

weft_status columns_get(const weft_pencil *pencil, const columns *block, int at, double *out,
                        weft_error *error) {
    return table_of(pencil)->get(pencil, block, at, out, error);
}

weft_status columns_set(const weft_pencil *pencil, columns *block, int at, const double *values,
                        weft_error *error) {
    return table_of(pencil)->set(pencil, block, at, values, error);
}

weft_status columns_precondition(const weft_pencil *pencil, const double *d, columns *block,
                                 double *r, double *z, weft_error *error) {
    return table_of(pencil)->precondition(pencil, d, block, r, z, error);
}
