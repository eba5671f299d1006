/* Expected results in long double, each with the sums of its terms' absolute values and squares,
 * from which the rounding error that is allowed follows. */
#include "bench_blas.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    ROWS = 16 /* of a task */,
    COLUMNS = 64 /* of a task; neighbours, that share cache lines */
};

static long double value(const blas_reference *r, blas_input which, int64_t i) {
    return (long double)blas_value(r->data->values[which], r->data->single, i);
}

blas_term blas_reference_input(const blas_reference *r, blas_input which, int64_t i) {
    const long double v = value(r, which, i);
    return (blas_term){v, (double)fabsl(v), (double)(v * v)};
}

static blas_term add(blas_term a, long double b) {
    return (blas_term){a.value + b, a.size + (double)fabsl(b), a.squares + (double)(b * b)};
}

/* An entry of a matrix of which A's memory has the lower triangle. */
static blas_term triangle_entry(const blas_reference *r, blas_matrix matrix, int64_t i, int64_t j) {
    const bool symmetric = matrix == MATRIX_SYMMETRIC || matrix == MATRIX_SYMMETRIC_PACKED;
    const bool packed = matrix >= MATRIX_SYMMETRIC_PACKED;
    const int64_t row = i > j ? i : j, column = i > j ? j : i;
    if (!symmetric && j > i)
        return (blas_term){0, 0, 0};
    return blas_reference_input(r, BLAS_A,
                                packed ? row * (row + 1) / 2 + column : row * r->data->n + column);
}

static blas_term entry(const blas_reference *r, blas_matrix matrix, int64_t i, int64_t j) {
    const int64_t k = i * r->data->n + j;
    if (matrix >= MATRIX_SYMMETRIC)
        return triangle_entry(r, matrix, i, j);
    blas_term a = blas_reference_input(r, matrix == MATRIX_B ? BLAS_B : BLAS_A, k);
    if (matrix == MATRIX_SUM)
        a = add(a, value(r, BLAS_B, k));
    if (matrix == MATRIX_UPDATED) {
        a = add(a, value(r, BLAS_U1, i) * value(r, BLAS_V1, j));
        a = add(a, value(r, BLAS_U2, i) * value(r, BLAS_V2, j));
    }
    return a;
}

typedef struct product {
    const blas_reference *r;
    blas_matrix matrix;
    const blas_term *x;
    blas_term *y;
} product;

void blas_term_accumulate(blas_term *sum, blas_term a, blas_term b) {
    const long double term = a.value * b.value;
    sum->value += term;
    sum->size += a.size * b.size;
    sum->squares += (double)(term * term);
}

static void product_rows(void *user, int64_t task) {
    const product *p = user;
    const int64_t n = p->r->data->n, last = (task + 1) * ROWS < n ? (task + 1) * ROWS : n;
    for (int64_t i = task * ROWS; i < last; ++i) {
        p->y[i] = (blas_term){0, 0, 0};
        for (int64_t j = 0; j < n; ++j)
            blas_term_accumulate(&p->y[i], entry(p->r, p->matrix, i, j), p->x[j]);
    }
}

static void product_columns(void *user, int64_t task) {
    const product *p = user;
    const int64_t n = p->r->data->n, first = task * COLUMNS;
    const int64_t last = first + COLUMNS < n ? first + COLUMNS : n;
    for (int64_t j = first; j < last; ++j)
        p->y[j] = (blas_term){0, 0, 0};
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = first; j < last; ++j)
            blas_term_accumulate(&p->y[j], entry(p->r, p->matrix, i, j), p->x[i]);
}

void blas_reference_product(const blas_reference *r, blas_matrix matrix, bool transposed,
                            const blas_term *x, blas_term *y) {
    product p = {r, matrix, x, y};
    const int64_t width = transposed ? COLUMNS : ROWS;
    (void)weft_device_for(r->data->host, (r->data->n + width - 1) / width,
                          transposed ? product_columns : product_rows, &p, NULL);
}

weft_status blas_reference_make(const blas_data *data, const blas_sequence *sequence,
                                blas_reference **out, weft_error *error) {
    weft_status status = WEFT_OK;
    blas_reference *r = calloc(1, sizeof *r);
    if (!r)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a reference"));
    *r = (blas_reference){.data = data, .sequence = sequence};
    r->scratch = sequence->matrix ? calloc((size_t)data->n * 2 + 1, sizeof *r->scratch) : NULL;
    if (sequence->matrix && !r->scratch)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a reference"));
    for (int k = 0; k < BLAS_OUTPUTS && sequence->outputs[k].name; ++k) {
        const blas_shape shape = sequence->outputs[k].shape;
        r->terms[k] = (double)data->n + 2;
        if (shape == BLAS_MATRIX)
            continue;
        r->vectors[k] = calloc((size_t)blas_count(data->n, shape) + 1, sizeof *r->vectors[k]);
        if (!r->vectors[k])
            TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a reference"));
    }
    sequence->expect(r);
    *out = r;
    r = NULL;
done:
    blas_reference_free(&r);
    return status;
}

void blas_reference_free(blas_reference **reference) {
    if (!*reference)
        return;
    for (int k = 0; k < BLAS_OUTPUTS; ++k)
        free((*reference)->vectors[k]);
    free((*reference)->scratch);
    free(*reference);
    *reference = NULL;
}

typedef struct comparison {
    const blas_reference *r;
    int k;
    const void *values;
    double *worst; /* [tasks] */
} comparison;

/* Of what is allowed; a NaN is an infinite error. */
static double error_of(const comparison *c, int64_t i, blas_term expected) {
    const bool single = c->r->data->single;
    const double eps = single ? (double)FLT_EPSILON : DBL_EPSILON, terms = c->r->terms[c->k];
    const long double difference =
        fabsl((long double)blas_value(c->values, single, i) - expected.value);
    if (difference == 0)
        return 0;
    /* The first bound holds for every order of additions, but is a fifth of a typical entry at n = 16,384 in single
     * precision; the second one assumes errors of random signs. */
    const double allowed = eps * fmin(terms * expected.size, 16 * sqrt(terms * expected.squares));
    return isnan(difference) ? (double)INFINITY : (double)difference / allowed;
}

static void compare_rows(void *user, int64_t task) {
    const comparison *c = user;
    const int64_t n = c->r->data->n, last = (task + 1) * ROWS < n ? (task + 1) * ROWS : n;
    for (int64_t i = task * ROWS; i < last; ++i)
        for (int64_t j = 0; j < n; ++j)
            c->worst[task] =
                fmax(c->worst[task], error_of(c, i * n + j, entry(c->r, c->r->matrix, i, j)));
}

double blas_reference_error(const blas_reference *r, int k, const void *values) {
    const blas_shape shape = r->sequence->outputs[k].shape;
    const int64_t n = blas_count(r->data->n, shape), tasks = (r->data->n + ROWS - 1) / ROWS;
    comparison c = {r, k, values, NULL};
    double worst = 0;
    for (int64_t i = 0; shape != BLAS_MATRIX && i < n; ++i)
        worst = fmax(worst, error_of(&c, i, r->vectors[k][i]));
    if (shape != BLAS_MATRIX)
        return worst;
    c.worst = calloc((size_t)tasks + 1, sizeof *c.worst);
    if (!c.worst || weft_device_for(r->data->host, tasks, compare_rows, &c, NULL) != WEFT_OK)
        worst = (double)INFINITY;
    for (int64_t i = 0; c.worst && i < tasks; ++i)
        worst = fmax(worst, c.worst[i]);
    free(c.worst);
    return worst;
}
