/* Frees, transposes and multiplies CSR matrices. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

void weft_csr_clear(weft_csr *matrix) {
    free(matrix->row_start);
    free(matrix->columns);
    free(matrix->values);
    *matrix = (weft_csr){0};
}

weft_status weft_csr_allocate(int64_t n_rows, int64_t n_columns, int64_t n_entries, weft_csr *out,
                              weft_error *error) {
    *out = (weft_csr){.n_rows = n_rows, .n_columns = n_columns};
    out->row_start = weft_array_make((size_t)n_rows + 1, sizeof *out->row_start);
    out->columns = weft_array_make((size_t)n_entries + 1, sizeof *out->columns);
    out->values = weft_array_make((size_t)n_entries + 1, sizeof *out->values);
    if (!out->row_start || !out->columns || !out->values)
        return weft_out_of_memory(error, "a sparse matrix");
    return WEFT_OK;
}

int64_t weft_csr_find(const weft_csr *A, int64_t row, int64_t column) {
    int64_t low = A->row_start[row], high = A->row_start[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (A->columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A->row_start[row + 1] && A->columns[low] == column ? low : -1;
}

/* ---- the transpose --------------------------------------------------------------------------- */

enum { MOST_CHUNKS = 16 };

/* Chunks of the rows count their entries of each column; the sums over the chunks before give each
 * chunk its offsets. */
typedef struct transpose {
    const weft_csr *A;
    weft_csr *out;
    int64_t n_chunks;
    int64_t *offsets; /* [n_chunks][n_columns] */
} transpose;

static void chunk_count(void *user, int64_t chunk) {
    const transpose *t = user;
    const weft_csr *A = t->A;
    int64_t *offsets = t->offsets + chunk * A->n_columns;
    memset(offsets, 0, (size_t)A->n_columns * sizeof *offsets);
    int64_t last = A->row_start[weft_chunk_start(A->n_rows, chunk + 1, t->n_chunks)];
    for (int64_t k = A->row_start[weft_chunk_start(A->n_rows, chunk, t->n_chunks)]; k < last; ++k)
        ++offsets[A->columns[k]];
}

static void chunk_move(void *user, int64_t chunk) {
    const transpose *t = user;
    const weft_csr *A = t->A;
    int64_t *offsets = t->offsets + chunk * A->n_columns;
    int64_t last = weft_chunk_start(A->n_rows, chunk + 1, t->n_chunks);
    for (int64_t i = weft_chunk_start(A->n_rows, chunk, t->n_chunks); i < last; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            int64_t at = offsets[A->columns[k]]++;
            t->out->columns[at] = (int32_t)i;
            t->out->values[at] = A->values[k];
        }
}

static void sum_offsets(const transpose *t) {
    int64_t n_columns = t->A->n_columns, sum = 0;
    for (int64_t c = 0; c < n_columns; ++c) {
        t->out->row_start[c] = sum;
        for (int64_t chunk = 0; chunk < t->n_chunks; ++chunk) {
            int64_t n = t->offsets[chunk * n_columns + c];
            t->offsets[chunk * n_columns + c] = sum;
            sum += n;
        }
    }
    t->out->row_start[n_columns] = sum;
}

weft_status weft_csr_transpose(weft_device *device, const weft_csr *A, weft_csr *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr made = {.n_rows = A->n_columns, .n_columns = A->n_rows};
    uint64_t n_entries = (uint64_t)A->row_start[A->n_rows];
    transpose t = {.A = A, .out = &made};
    t.n_chunks = A->row_start[A->n_rows] / (4 * A->n_columns + 1) + 1;
    t.n_chunks = t.n_chunks < MOST_CHUNKS ? t.n_chunks : MOST_CHUNKS;
    made.row_start = weft_array_make_unset((uint64_t)(made.n_rows + 1) * sizeof *made.row_start);
    made.columns = weft_array_make_unset(n_entries * sizeof *made.columns);
    made.values = weft_array_make_unset(n_entries * sizeof *made.values);
    t.offsets = malloc((size_t)(t.n_chunks * A->n_columns + 1) * sizeof *t.offsets);
    if (!made.row_start || !made.columns || !made.values || !t.offsets)
        TRY(weft_out_of_memory(error, "the transpose of a matrix"));
    TRY(weft_device_for(device, t.n_chunks, chunk_count, &t, error));
    sum_offsets(&t);
    TRY(weft_device_for(device, t.n_chunks, chunk_move, &t, error));
    *out = made;
    made = (weft_csr){0};
done:
    free(t.offsets);
    weft_csr_clear(&made);
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

/* The right factor is a matrix, or one in chunks. */
typedef struct product {
    const weft_csr *A, *B;
    const weft_csr_chunks *chunks; /* instead of B */
    int64_t n_columns;
    bool sorted;
} product;

/* A bound of the length of row i: the entries of B in the rows that row i of A refers to. */
static int64_t row_bound(const product *p, int64_t i) {
    const int64_t *row_start = p->B ? p->B->row_start : p->chunks->row_start;
    int64_t n = 0;
    for (int64_t k = p->A->row_start[i]; k < p->A->row_start[i + 1]; ++k) {
        int32_t j = p->A->columns[k];
        n += row_start[j + 1] - row_start[j];
    }
    return n < p->n_columns ? n : p->n_columns;
}

/* Add a times row j of B. */
static inline void add_scaled(const product *p, double a, int32_t j, weft_row_sum *row) {
    const int64_t *row_start = p->B ? p->B->row_start : p->chunks->row_start;
    int64_t first = row_start[j], n = row_start[j + 1] - first;
    const weft_csr_chunk *chunk = p->B ? NULL : &p->chunks->chunks[j / WEFT_CSR_CHUNK];
    int64_t at = chunk ? first - row_start[chunk->first] : first;
    const int32_t *columns = (chunk ? chunk->columns : p->B->columns) + at;
    const double *values = (chunk ? chunk->values : p->B->values) + at;
    for (int64_t k = 0; k < n; ++k)
        weft_row_sum_add(row, columns[k], a * values[k]);
}

static bool fill_product(const void *user, weft_csr_chunk *chunk) {
    const product *p = user;
    const weft_csr *A = p->A;
    weft_row_sum row = {0};
    int64_t most = 0;
    bool done = false;
    for (int64_t i = chunk->first; i < chunk->last; ++i) {
        int64_t n = row_bound(p, i);
        most = n > most ? n : most;
    }
    if (!weft_row_sum_make(&row, most))
        goto done;
    for (int64_t i = chunk->first; i < chunk->last; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            add_scaled(p, A->values[k], A->columns[k], &row);
        chunk->lengths[i - chunk->first] = row.n_used;
        if (!weft_csr_chunk_reserve(chunk, row.n_used))
            goto done;
        weft_row_sum_append(&row, p->sorted, chunk);
    }
    done = true;
done:
    weft_row_sum_free(&row);
    return done;
}

static weft_status shapes_check(const weft_csr *A, const weft_csr *B, weft_error *error) {
    if (A->n_columns == B->n_rows)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_SHAPE,
                          "a matrix of %lld columns times one of %lld rows",
                          (long long)A->n_columns, (long long)B->n_rows);
}

weft_status weft_csr_multiply(weft_device *device, const weft_csr *A, const weft_csr *B,
                              weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr made = {.n_rows = A->n_rows, .n_columns = B->n_columns};
    const product p = {.A = A, .B = B, .n_columns = B->n_columns, .sorted = true};
    TRY(shapes_check(A, B, error));
    TRY(weft_csr_build(device, fill_product, &p, &made, error));
    *out = made;
done:
    return status;
}

weft_status weft_galerkin_with(weft_device *device, const weft_csr *A, const weft_csr *P,
                               const weft_csr *R, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr made = {.n_rows = P->n_columns, .n_columns = P->n_columns};
    weft_csr_chunks AP = {0};
    const product first = {.A = A, .B = P, .n_columns = P->n_columns};
    const product second = {.A = R, .chunks = &AP, .n_columns = P->n_columns, .sorted = true};
    TRY(shapes_check(A, P, error));
    TRY(weft_csr_chunks_make(device, fill_product, &first, A->n_rows, &AP, error));
    TRY(weft_csr_build(device, fill_product, &second, &made, error));
    *out = made;
done:
    weft_csr_chunks_clear(&AP);
    return status;
}

weft_status weft_galerkin(weft_device *device, const weft_csr *A, const weft_csr *P, weft_csr *out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr R = {0};
    TRY(weft_csr_transpose(device, P, &R, error));
    TRY(weft_galerkin_with(device, A, P, &R, out, error));
done:
    weft_csr_clear(&R);
    return status;
}
