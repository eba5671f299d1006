/* Lays out a SELL matrix from its pattern: sorts rows, sizes slices, then fills in columns. */
#include "fem/sparse/sell.h"

#include <stdlib.h>
#include <string.h>

typedef struct sell_work {
    const weft_pattern *pattern;
    weft_sell *sell;
} sell_work;

void weft_sell_free(weft_sell **sell) {
    if (!sell || !*sell)
        return;
    free((*sell)->rows);
    free((*sell)->slots);
    free((*sell)->start);
    free((*sell)->column_start);
    free((*sell)->columns);
    free((*sell)->bases);
    free(*sell);
    *sell = NULL;
}

/* Number of off-diagonal entries. */
static int64_t row_length(const weft_pattern *pattern, int64_t row) {
    const int32_t *columns = pattern->columns;
    int64_t first = pattern->row_start[row], last = pattern->row_start[row + 1];
    for (int64_t k = first; k < last; ++k)
        if (columns[k] == row)
            return last - first - 1;
    return last - first;
}

static int descending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Sort rows by length, longest first, then by number; slots without a row have length 0. */
static void rows_sort(const sell_work *work, int64_t block, int64_t *lengths) {
    weft_sell *sell = work->sell;
    uint64_t keys[WEFT_SELL_ROWS];
    for (int i = 0; i < WEFT_SELL_ROWS; ++i) {
        const int64_t row = block * WEFT_SELL_ROWS + i;
        const int64_t length = row < sell->n_rows ? row_length(work->pattern, row) : 0;
        keys[i] = (uint64_t)length << 16 | (uint64_t)(WEFT_SELL_ROWS - 1 - i);
    }
    qsort(keys, WEFT_SELL_ROWS, sizeof *keys, descending);
    for (int i = 0; i < WEFT_SELL_ROWS; ++i) {
        const uint64_t row = WEFT_SELL_ROWS - 1 - (keys[i] & 0xffff);
        sell->rows[block * WEFT_SELL_ROWS + i] = (uint16_t)row;
        sell->slots[block * WEFT_SELL_ROWS + (int64_t)row] = (uint16_t)i;
        if (i % WEFT_SLICE == 0)
            lengths[i / WEFT_SLICE] = (int64_t)(keys[i] >> 16);
    }
}

/* Find the segments of 2048 columns that a block refers to; false if there are more than 32. */
static bool bases_find(const sell_work *work, int64_t block) {
    const weft_pattern *pattern = work->pattern;
    int32_t *bases = work->sell->bases + block * WEFT_SELL_BASES;
    int64_t first = block * WEFT_SELL_ROWS, last = first + WEFT_SELL_ROWS;
    if (last > pattern->n_rows)
        last = pattern->n_rows;
    int n = 0, i = 0;
    bases[n++] = (int32_t)(first >> WEFT_SELL_OFFSET << WEFT_SELL_OFFSET);
    for (int64_t k = pattern->row_start[first]; k < pattern->row_start[last]; ++k) {
        const int32_t base = pattern->columns[k] >> WEFT_SELL_OFFSET << WEFT_SELL_OFFSET;
        if (bases[i] == base)
            continue;
        for (i = 0; i < n && bases[i] != base; ++i)
            ;
        if (i == WEFT_SELL_BASES) {
            bases[0] = -1;
            return false;
        }
        if (i == n)
            bases[n++] = base;
    }
    return true;
}

/* Write the size of slice s, divided by 32, to start[s + 1] and column_start[s + 1]. */
static void block_size(void *user, int64_t block) {
    const sell_work *work = user;
    weft_sell *sell = work->sell;
    int64_t lengths[WEFT_SELL_SLICES];
    rows_sort(work, block, lengths);
    const bool coded = bases_find(work, block);
    for (int i = 0; i < WEFT_SELL_SLICES; ++i) {
        const int64_t slice = block * WEFT_SELL_SLICES + i;
        sell->start[slice + 1] = (uint32_t)lengths[i];
        sell->column_start[slice + 1] = (uint32_t)(coded ? (lengths[i] + 1) / 2 : lengths[i]);
    }
}

weft_status weft_sell_check_size(int64_t n_values, weft_error *error) {
    if (n_values <= (int64_t)UINT32_MAX)
        return WEFT_OK;
    return weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                             "the SELL matrix has more than 2^32 - 1 values",
                             "use the assembly lma or matrix-free");
}

static weft_status starts_sum(weft_sell *sell, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t values = sell->n_blocks * WEFT_SELL_ROWS, words = 0;
    TRY(weft_sell_check_size(values, error));
    sell->start[0] = (uint32_t)values;
    for (int64_t i = 1; i <= sell->n_blocks * WEFT_SELL_SLICES; ++i) {
        values += (int64_t)sell->start[i] * WEFT_SLICE;
        words += (int64_t)sell->column_start[i] * WEFT_SLICE;
        TRY(weft_sell_check_size(values, error));
        sell->start[i] = (uint32_t)values;
        sell->column_start[i] = (uint32_t)words;
    }
    sell->n_values = values;
    sell->n_words = words;
done:
    return status;
}

static uint32_t code_of(const int32_t *bases, int32_t column) {
    const int32_t base = column >> WEFT_SELL_OFFSET << WEFT_SELL_OFFSET;
    uint32_t i = 0;
    while (bases[i] != base)
        ++i;
    return i << WEFT_SELL_OFFSET | (uint32_t)(column - base);
}

/* Write one row's columns, padded with the row itself. A slot without a row is padded with the
 * block's first row. */
static void row_fill(const sell_work *work, int64_t block, int slot) {
    const weft_pattern *pattern = work->pattern;
    weft_sell *sell = work->sell;
    const int64_t slice = block * WEFT_SELL_SLICES + slot / WEFT_SLICE;
    const int64_t n = weft_sell_length(sell, slice);
    const int32_t *bases = sell->bases + block * WEFT_SELL_BASES;
    uint32_t *out = sell->columns + sell->column_start[slice] + slot % WEFT_SLICE;
    int64_t row = block * WEFT_SELL_ROWS + sell->rows[block * WEFT_SELL_ROWS + slot];
    int64_t at = 0, end = 0;
    if (row < pattern->n_rows) {
        at = pattern->row_start[row];
        end = pattern->row_start[row + 1];
    } else {
        row = block * WEFT_SELL_ROWS;
    }
    for (int64_t k = 0; k < n; ++k) {
        if (at < end && pattern->columns[at] == row)
            ++at;
        const int32_t column = at < end ? pattern->columns[at++] : (int32_t)row;
        if (bases[0] < 0)
            out[k * WEFT_SLICE] = (uint32_t)column;
        else
            out[k / 2 * WEFT_SLICE] |= code_of(bases, column) << (k % 2 * 16);
    }
}

static void block_fill(void *user, int64_t block) {
    for (int slot = 0; slot < WEFT_SELL_ROWS; ++slot)
        row_fill(user, block, slot);
}

static weft_status no_memory(weft_error *error) {
    weft_out_of_memory(error, "the columns of a SELL matrix");
    weft_error_hint(error, "use the assembly matrix-free, which stores no matrix");
    return WEFT_ERROR_MEMORY;
}

weft_status weft_sell_make(weft_device *device, const weft_pattern *pattern, weft_sell **out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell *made = calloc(1, sizeof *made);
    sell_work work = {pattern, made};
    if (!made)
        TRY(no_memory(error));
    made->n_rows = pattern->n_rows;
    made->n_blocks = (pattern->n_rows + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS;
    const size_t n_padded = (size_t)made->n_blocks * WEFT_SELL_ROWS;
    const size_t n_slices = (size_t)made->n_blocks * WEFT_SELL_SLICES;
    made->rows = weft_array_make(n_padded, sizeof *made->rows);
    made->slots = weft_array_make(n_padded, sizeof *made->slots);
    made->start = weft_array_make(n_slices + 1, sizeof *made->start);
    made->column_start = weft_array_make(n_slices + 1, sizeof *made->column_start);
    made->bases = weft_array_make((size_t)made->n_blocks * WEFT_SELL_BASES, sizeof *made->bases);
    if (!made->rows || !made->slots || !made->start || !made->column_start || !made->bases)
        TRY(no_memory(error));
    TRY(weft_device_for(device, made->n_blocks, block_size, &work, error));
    TRY(starts_sum(made, error));
    made->columns = weft_array_make((size_t)made->n_words, sizeof *made->columns);
    if (!made->columns)
        TRY(no_memory(error));
    TRY(weft_device_for(device, made->n_blocks, block_fill, &work, error));
    *out = made;
    made = NULL;
done:
    weft_sell_free(&made);
    return status;
}

int64_t weft_sell_place(const weft_sell *sell, int64_t row, int64_t k) {
    const int slot = sell->slots[row];
    const int64_t slice = row / WEFT_SELL_ROWS * WEFT_SELL_SLICES + slot / WEFT_SLICE;
    return sell->start[slice] + k * WEFT_SLICE + slot % WEFT_SLICE;
}

int32_t weft_sell_column(const weft_sell *sell, int64_t row, int64_t k) {
    const int slot = sell->slots[row];
    const int64_t block = row / WEFT_SELL_ROWS;
    const int64_t slice = block * WEFT_SELL_SLICES + slot / WEFT_SLICE;
    const uint32_t *words = sell->columns + sell->column_start[slice] + slot % WEFT_SLICE;
    const int32_t *bases = sell->bases + block * WEFT_SELL_BASES;
    if (bases[0] < 0)
        return (int32_t)words[k * WEFT_SLICE];
    const uint32_t code = words[k / 2 * WEFT_SLICE] >> (k % 2 * 16) & 0xffff;
    return bases[code >> WEFT_SELL_OFFSET] + (int32_t)(code & ((1 << WEFT_SELL_OFFSET) - 1));
}
