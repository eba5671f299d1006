/* Makes CSR matrices from chunks of rows that tasks fill, and sums sparse rows. */
#include "fem/multigrid/private.h"

#include "core/base/sort.h"

#include <stdlib.h>
#include <string.h>

bool weft_csr_chunk_reserve(weft_csr_chunk *chunk, int64_t n) {
    if (chunk->n + n <= chunk->capacity)
        return true;
    int64_t capacity = chunk->n + n + chunk->capacity;
    int32_t *columns = realloc(chunk->columns, (size_t)capacity * sizeof *columns);
    if (columns)
        chunk->columns = columns;
    double *values = realloc(chunk->values, (size_t)capacity * sizeof *values);
    if (values)
        chunk->values = values;
    if (!columns || !values)
        return false;
    chunk->capacity = capacity;
    return true;
}

typedef struct build {
    weft_csr_fill fill;
    const void *user;
    const weft_csr_chunks *chunks;
    weft_csr *out;
} build;

static void fill_chunk(void *user, int64_t i) {
    const build *b = user;
    b->chunks->chunks[i].failed = !b->fill(b->user, &b->chunks->chunks[i]);
}

static void chunk_clear(weft_csr_chunk *chunk) {
    free(chunk->columns);
    free(chunk->values);
    *chunk = (weft_csr_chunk){0};
}

void weft_csr_chunks_clear(weft_csr_chunks *chunks) {
    for (int64_t i = 0; chunks->chunks && i < chunks->n_chunks; ++i)
        chunk_clear(&chunks->chunks[i]);
    free(chunks->chunks);
    free(chunks->row_start);
    *chunks = (weft_csr_chunks){0};
}

weft_status weft_csr_chunks_make(weft_device *device, weft_csr_fill fill, const void *user,
                                 int64_t n_rows, weft_csr_chunks *out, weft_error *error) {
    weft_status status = WEFT_OK;
    build b = {.fill = fill, .user = user, .chunks = out};
    int64_t *row_start = weft_array_make_unset((uint64_t)(n_rows + 1) * sizeof *row_start);
    out->n_rows = n_rows;
    out->n_chunks = (n_rows + WEFT_CSR_CHUNK - 1) / WEFT_CSR_CHUNK;
    out->row_start = row_start;
    out->chunks = calloc((size_t)out->n_chunks + 1, sizeof *out->chunks);
    if (!out->chunks || !row_start)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    for (int64_t i = 0; i < out->n_chunks; ++i) {
        int64_t first = i * WEFT_CSR_CHUNK, last = first + WEFT_CSR_CHUNK;
        out->chunks[i] = (weft_csr_chunk){.first = first,
                                          .last = last < n_rows ? last : n_rows,
                                          .lengths = row_start + first + 1};
    }
    TRY(weft_device_for(device, out->n_chunks, fill_chunk, &b, error));
    for (int64_t i = 0; i < out->n_chunks; ++i)
        if (out->chunks[i].failed)
            TRY(weft_out_of_memory(error, "a sparse matrix"));
    row_start[0] = 0; /* lengths become starts */
    for (int64_t i = 0; i < n_rows; ++i)
        row_start[i + 1] += row_start[i];
done:
    return status;
}

static void join_chunk(void *user, int64_t i) {
    const build *b = user;
    weft_csr_chunk *chunk = &b->chunks->chunks[i];
    int64_t at = b->chunks->row_start[chunk->first];
    if (chunk->n) {
        memcpy(b->out->columns + at, chunk->columns, (size_t)chunk->n * sizeof *chunk->columns);
        memcpy(b->out->values + at, chunk->values, (size_t)chunk->n * sizeof *chunk->values);
    }
    chunk_clear(chunk);
}

weft_status weft_csr_build(weft_device *device, weft_csr_fill fill, const void *user, weft_csr *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr made = {.n_rows = out->n_rows, .n_columns = out->n_columns};
    weft_csr_chunks chunks = {0};
    build b = {.chunks = &chunks, .out = &made};
    uint64_t n_entries;
    TRY(weft_csr_chunks_make(device, fill, user, out->n_rows, &chunks, error));
    n_entries = (uint64_t)chunks.row_start[out->n_rows];
    made.columns = weft_array_make_unset(n_entries * sizeof *made.columns);
    made.values = weft_array_make_unset(n_entries * sizeof *made.values);
    if (!made.columns || !made.values)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    TRY(weft_device_for(device, chunks.n_chunks, join_chunk, &b, error));
    made.row_start = chunks.row_start;
    chunks.row_start = NULL;
    *out = made;
    made = (weft_csr){0};
done:
    weft_csr_chunks_clear(&chunks);
    weft_csr_clear(&made);
    return status;
}

/* Eight slots per column, up to a table that fits into the first cache: most columns are in their first slot. */
bool weft_row_sum_make(weft_row_sum *row, int64_t most) {
    enum { SMALL = 1024 };
    size_t n_slots = 16;
    int shift = 28;
    while (n_slots < 2 * (size_t)most || (n_slots < SMALL && n_slots < 8 * (size_t)most)) {
        n_slots *= 2;
        --shift;
    }
    *row = (weft_row_sum){.shift = shift};
    row->keys = malloc(n_slots * sizeof *row->keys);
    row->sums = malloc(n_slots * sizeof *row->sums);
    row->used = malloc(n_slots * sizeof *row->used);
    if (!row->keys || !row->sums || !row->used) {
        weft_row_sum_free(row);
        return false;
    }
    memset(row->keys, 0xff, n_slots * sizeof *row->keys);
    return true;
}

uint32_t weft_row_sum_probe(weft_row_sum *row, int32_t column) {
    const uint32_t last = UINT32_MAX >> row->shift;
    uint32_t slot = weft_row_sum_hash(column, row->shift);
    while (row->keys[slot] != column && row->keys[slot] >= 0)
        slot = (slot + 1) & last;
    if (row->keys[slot] < 0) {
        row->keys[slot] = column;
        row->sums[slot] = 0;
        row->used[row->n_used++] = slot;
    }
    return slot;
}

void weft_row_sum_free(weft_row_sum *row) {
    free(row->keys);
    free(row->sums);
    free(row->used);
    *row = (weft_row_sum){0};
}

void weft_row_sum_append(weft_row_sum *row, bool sorted, weft_csr_chunk *chunk) {
    int32_t *columns = chunk->columns + chunk->n;
    double *values = chunk->values + chunk->n;
    for (int64_t k = 0; k < row->n_used; ++k)
        columns[k] = row->keys[row->used[k]];
    if (sorted)
        weft_numbers_sort((uint32_t *)columns, (size_t)row->n_used);
    for (int64_t k = 0; k < row->n_used; ++k)
        values[k] = row->sums[sorted ? weft_row_sum_probe(row, columns[k]) : row->used[k]];
    for (int64_t k = 0; k < row->n_used; ++k)
        row->keys[row->used[k]] = -1;
    chunk->n += row->n_used;
    row->n_used = 0;
}
