/* Operators of given sparse matrices: CSR on the host, SELL on a GPU, also with single precision
 * values, for scripts of that precision. */
#include "fem/base/memory.h"
#include "fem/operator/private.h"
#include "fem/sparse/csr.h"
#include "fem/sparse/sell.h"

#include <stdlib.h>
#include <string.h>

typedef struct given_matrix {
    weft_sell_matrix *sell;            /* NULL on the host */
    weft_sell *layout;                 /* of it, for other values; NULL: there will be none */
    weft_memory *row_start, *exported; /* of weft_operator_matrix */
    weft_memory *floats; /* [n_entries] on the host in single precision, otherwise NULL */
    /* of a small matrix on a GPU, in single precision: */
    weft_memory *arguments[3]; /* starts of rows, columns, values */
    weft_product_arguments csr_vector;
} given_matrix;

/* Matrices with at most as many rows have the product kernel with several threads a row: a thread a row, in blocks of 512 rows,
 * leaves most of a large GPU idle. */
enum { WIDE_ROWS = 1 << 17, WIDE_BLOCK = 64 };

static const weft_operator_table host_table = {.apply = weft_operator_csr_apply,
                                               .diagonal = weft_operator_csr_diagonal};

static weft_status single_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error) {
    const float *values = weft_memory_host(((given_matrix *)op->state)->floats);
    if (!values) /* a null device */
        return WEFT_OK;
    return weft_csr_product_single(op->context->device, op->pattern, values, weft_memory_host(v),
                                   weft_memory_host(y), error);
}

static void single_free(weft_operator *op) {
    weft_memory_free(&((given_matrix *)op->state)->floats);
}

static const weft_operator_table single_table = {.apply = single_apply, .free = single_free};

static weft_status sell_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                              weft_error *error) {
    return weft_sell_product(((given_matrix *)op->state)->sell, v, y, error);
}

static weft_status sell_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    return weft_sell_diagonal(((given_matrix *)op->state)->sell, d, error);
}

static const weft_product_arguments *sell_rows(const weft_operator *op) {
    return weft_sell_matrix_product_kernel(((given_matrix *)op->state)->sell);
}

static void sell_matrix_release(weft_operator *op) {
    weft_memory_free(&((given_matrix *)op->state)->row_start);
    weft_memory_free(&((given_matrix *)op->state)->exported);
}

static void sell_free(weft_operator *op) {
    weft_sell_matrix_free(&((given_matrix *)op->state)->sell);
    weft_sell_free(&((given_matrix *)op->state)->layout);
    sell_matrix_release(op);
}

/* The values in the pattern's order, of matrices in double precision whose pattern is on the host. */
static weft_status sell_matrix(weft_operator *op, weft_memory **values, weft_error *error) {
    weft_status status = WEFT_OK;
    given_matrix *matrix = op->state;
    const weft_pattern *pattern = op->pattern;
    *values = NULL;
    if (op->single || !pattern->row_start)
        goto done;
    if (!matrix->exported)
        TRY(weft_memory_make(op->context->device, (size_t)pattern->n_entries * sizeof(double),
                             &matrix->exported, error));
    if (!matrix->row_start)
        TRY(weft_memory_place(op->context->device, pattern->row_start, (size_t)pattern->n_rows + 1,
                              sizeof(int64_t), &matrix->row_start, error));
    TRY(weft_sell_export(matrix->sell, matrix->row_start, matrix->exported, error));
    *values = matrix->exported;
done:
    return status;
}

static const weft_operator_table sell_table = {.apply = sell_apply,
                                               .diagonal = sell_diagonal,
                                               .free = sell_free,
                                               .rows = sell_rows,
                                               .matrix = sell_matrix,
                                               .matrix_release = sell_matrix_release};

/* ---- values in SELL format ---- */

typedef struct placing {
    const weft_sell *layout;
    const weft_pattern *pattern;
    const double *values;
    void *out;
    bool single;
} placing;

static void put(const placing *p, int64_t at, double value) {
    if (p->single)
        ((float *)p->out)[at] = (float)value;
    else
        ((double *)p->out)[at] = value;
}

/* Place the rows of one block. */
static void place_block(void *user, int64_t block) {
    const placing *p = user;
    const int64_t first = block * WEFT_SELL_ROWS, n = p->layout->n_rows;
    for (int64_t row = first; row < n && row < first + WEFT_SELL_ROWS; ++row) {
        const int slot = p->layout->slots[row];
        const int64_t slice = block * WEFT_SELL_SLICES + slot / WEFT_SLICE;
        int64_t at = (int64_t)p->layout->start[slice] + slot % WEFT_SLICE;
        for (int64_t k = p->pattern->row_start[row]; k < p->pattern->row_start[row + 1]; ++k) {
            const bool is_diagonal = p->pattern->columns[k] == row;
            put(p, is_diagonal ? row : at, p->values[k]);
            at += is_diagonal ? 0 : WEFT_SLICE;
        }
    }
}

static weft_status sell_values(weft_operator *op, const weft_sell *layout, const double *values,
                               bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = op->context->device;
    const size_t size = single ? sizeof(float) : sizeof(double);
    placing p = {layout, op->pattern, values, weft_array_make((size_t)layout->n_values, size),
                 single};
    if (!p.out)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    TRY(weft_device_for(device, layout->n_blocks, place_block, &p, error));
    TRY(weft_memory_write(weft_sell_matrix_values(((given_matrix *)op->state)->sell), 0, p.out,
                          (size_t)layout->n_values * size, error));
done:
    free(p.out);
    return status;
}

/* ---- values as floats on the host ---- */

typedef struct rounding {
    const double *from;
    float *to;
    int64_t n;
} rounding;

enum { ROUNDED = 1 << 16 };

static void round_chunk(void *user, int64_t chunk) {
    const rounding *r = user;
    const int64_t last = (chunk + 1) * ROUNDED < r->n ? (chunk + 1) * ROUNDED : r->n;
    for (int64_t i = chunk * ROUNDED; i < last; ++i)
        r->to[i] = (float)r->from[i];
}

static weft_status single_values(weft_operator *op, const double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = op->context->device;
    weft_memory **floats = &((given_matrix *)op->state)->floats;
    const int64_t n = op->pattern->n_entries;
    TRY(weft_memory_make_unset(device, (size_t)n * sizeof(float), floats, error));
    rounding r = {values, weft_memory_host(*floats), n};
    if (r.to)
        TRY(weft_device_for(device, (n + ROUNDED - 1) / ROUNDED, round_chunk, &r, error));
done:
    return status;
}

/* ---- small matrices in single precision on a GPU ---- */

static weft_status csr_vector_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                    weft_error *error) {
    (void)op, (void)v, (void)y;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "a matrix in single precision is applied by scripts alone");
}

static const weft_product_arguments *csr_vector_rows(const weft_operator *op) {
    return &((given_matrix *)op->state)->csr_vector;
}

static void csr_vector_free(weft_operator *op) {
    given_matrix *matrix = op->state;
    weft_memory_free(&matrix->arguments[0]);
    weft_memory_free(&matrix->arguments[1]);
    weft_memory_free(&matrix->arguments[2]);
}

static const weft_operator_table csr_vector_table = {
    .apply = csr_vector_apply, .free = csr_vector_free, .rows = csr_vector_rows};

bool weft_operator_uses_csr_vector(int64_t n_rows, int64_t n_entries) {
    return n_rows <= WIDE_ROWS && n_entries < INT32_MAX;
}

/* The product kernel with the arguments, which are there. */
static void set_csr_vector(given_matrix *matrix, int64_t n_rows) {
    matrix->csr_vector = (weft_product_arguments){.product_kernel = "csr_vector",
                                                  .arguments = matrix->arguments,
                                                  .n_arguments = 3,
                                                  .n_rows = n_rows,
                                                  .shared_bytes = WIDE_BLOCK * (int)sizeof(float)};
}

static weft_status csr_vector_make(weft_operator *op, const double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = op->context->device;
    given_matrix *matrix = op->state;
    const weft_pattern *pattern = op->pattern;
    const size_t n_rows = (size_t)pattern->n_rows, n_entries = (size_t)pattern->n_entries;
    int32_t *starts = weft_array_make(n_rows + 1, sizeof *starts);
    float *floats = weft_array_make(n_entries + 1, sizeof *floats);
    if (!starts || !floats)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    for (size_t i = 0; i <= n_rows; ++i)
        starts[i] = (int32_t)pattern->row_start[i];
    for (size_t k = 0; k < n_entries; ++k)
        floats[k] = (float)values[k];
    TRY(weft_memory_place(device, starts, n_rows + 1, sizeof *starts, &matrix->arguments[0],
                          error));
    TRY(weft_memory_place(device, pattern->columns, n_entries, sizeof *pattern->columns,
                          &matrix->arguments[1], error));
    TRY(weft_memory_place(device, floats, n_entries, sizeof *floats, &matrix->arguments[2], error));
    set_csr_vector(matrix, pattern->n_rows);
done:
    free(starts);
    free(floats);
    return status;
}

/* ---- the operator ---- */

weft_status weft_operator_from_matrix(weft_context *context, weft_pattern **pattern,
                                      const double *values, unsigned how, weft_operator **out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const bool single = (how & WEFT_MATRIX_SINGLE) != 0;
    weft_device *device = context->device;
    const bool on_gpu = weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT;
    const weft_operator_bytes bytes = {.state = sizeof(given_matrix)};
    weft_operator *op = NULL;
    weft_sell *layout = NULL;
    const bool csr_vector =
        on_gpu && single && !(how & WEFT_MATRIX_LARGE) &&
        weft_operator_uses_csr_vector((*pattern)->n_rows, (*pattern)->n_entries);
    const weft_operator_table *table = csr_vector ? &csr_vector_table
                                       : on_gpu   ? &sell_table
                                       : single   ? &single_table
                                                  : &host_table;
    TRY(weft_operator_allocate(context, table, &bytes, NULL, 0, &op, error));
    op->single = single;
    op->borrows_pattern = (how & WEFT_MATRIX_BORROWED) != 0;
    op->pattern = *pattern;
    op->n_dofs = op->pattern->n_rows;
    *pattern = NULL;
    if (csr_vector) {
        TRY(csr_vector_make(op, values, error));
    } else if (on_gpu) {
        TRY(weft_sell_matrix_make(device, op->pattern, single, &layout,
                                  &((given_matrix *)op->state)->sell, error));
        TRY(sell_values(op, layout, values, single, error));
        if ((how & WEFT_MATRIX_CHANGES) != 0) {
            ((given_matrix *)op->state)->layout = layout;
            layout = NULL;
        }
    } else if (single) {
        TRY(single_values(op, values, error));
    } else {
        TRY(weft_memory_place(device, values, (size_t)op->pattern->n_entries, sizeof *values,
                              &op->values, error));
    }
    *out = op;
    op = NULL;
done:
    if (*pattern && (how & WEFT_MATRIX_BORROWED) != 0)
        **pattern = (weft_pattern){0};
    weft_pattern_free(pattern);
    weft_sell_free(&layout);
    weft_operator_free(&op);
    return status;
}

weft_status weft_operator_set_matrix(weft_operator *op, const double *values, weft_error *error) {
    const given_matrix *matrix = op->state;
    return matrix->sell ? sell_values(op, matrix->layout, values, false, error)
                        : weft_memory_write(op->values, 0, values,
                                            (size_t)op->pattern->n_entries * sizeof *values, error);
}

/* An operator without a pattern on the host. */
static weft_status make_without_pattern(weft_context *context, const weft_operator_table *table,
                                        int64_t n_rows, int64_t n_entries, weft_operator **out,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_operator_bytes bytes = {.state = sizeof(given_matrix)};
    TRY(weft_operator_allocate(context, table, &bytes, NULL, 0, out, error));
    (*out)->n_dofs = n_rows;
    (*out)->pattern = calloc(1, sizeof *(*out)->pattern);
    if (!(*out)->pattern)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    (*out)->pattern->n_rows = n_rows;
    (*out)->pattern->n_entries = n_entries;
done:
    return status;
}

weft_status weft_operator_from_csr_vector(weft_context *context, int64_t n_rows, int64_t n_entries,
                                          weft_memory *arguments[3], weft_operator **out,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    TRY(make_without_pattern(context, &csr_vector_table, n_rows, n_entries, &op, error));
    op->single = true;
    for (int i = 0; i < 3; ++i) {
        ((given_matrix *)op->state)->arguments[i] = arguments[i];
        arguments[i] = NULL;
    }
    set_csr_vector(op->state, n_rows);
    *out = op;
    op = NULL;
done:
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&arguments[i]);
    weft_operator_free(&op);
    return status;
}

weft_status weft_operator_from_sell(weft_context *context, weft_sell_matrix **matrix,
                                    int64_t n_entries, weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    TRY(make_without_pattern(context, &sell_table, weft_sell_matrix_product_kernel(*matrix)->n_rows,
                             n_entries, &op, error));
    ((given_matrix *)op->state)->sell = *matrix;
    *matrix = NULL;
    *out = op;
    op = NULL;
done:
    weft_sell_matrix_free(matrix);
    weft_operator_free(&op);
    return status;
}
