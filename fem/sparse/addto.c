/* Makes the list of cells of each row for owner-computes assembly (fem/sparse/addto.h). */
#include "fem/sparse/addto.h"
#include "core/base/sort.h"
#include "fem/base/memory.h"
#include "fem/sparse/csr.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct addto_work {
    const int32_t *indices;
    int64_t n_cells;
    int width;
    const weft_pattern *pattern;
    const weft_sell *sell;
    weft_addto *addto;
    uint32_t *first;  /* [n_rows + 1] start of each row in places */
    uint32_t *places; /* cell * width + vertex, by row, ascending */
    int32_t **halos;  /* [n_blocks], concatenated later */
    atomic_int fault;
} addto_work;

/* The other vertices of a cell after an even permutation that makes vertex v the first. */
static const int others_2[2][1] = {{1}, {0}};
static const int others_3[3][2] = {{1, 2}, {2, 0}, {0, 1}};
static const int others_4[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static const int *others_of(int width, int vertex) {
    return width == 2 ? others_2[vertex] : width == 3 ? others_3[vertex] : others_4[vertex];
}

void weft_addto_free(weft_addto **addto) {
    if (!addto || !*addto)
        return;
    free((*addto)->word_start);
    free((*addto)->words);
    free((*addto)->cells);
    free((*addto)->halo_start);
    free((*addto)->halo);
    free(*addto);
    *addto = NULL;
}

static void places_sort(addto_work *work) {
    const int64_t n = work->n_cells * work->width, n_rows = work->pattern->n_rows;
    for (int64_t i = 0; i < n; ++i)
        work->first[work->indices[i]] += 1;
    uint32_t sum = 0;
    for (int64_t r = 0; r <= n_rows; ++r) {
        sum += work->first[r];
        work->first[r] = sum;
    }
    for (int64_t i = n - 1; i >= 0; --i)
        work->places[--work->first[work->indices[i]]] = (uint32_t)i;
}

/* The rows outside of a block that it couples with, ascending. */
static int32_t *halo_find(const weft_pattern *pattern, int64_t first, int64_t last, int64_t *n) {
    const int64_t begin = pattern->row_start[first], end = pattern->row_start[last];
    int32_t *halo = malloc(((size_t)(end - begin) + 1) * sizeof *halo);
    int64_t count = 0;
    for (int64_t k = begin; halo && k < end; ++k)
        if (pattern->columns[k] < first || pattern->columns[k] >= last)
            halo[count++] = pattern->columns[k];
    if (halo)
        weft_numbers_sort((uint32_t *)halo, (size_t)count);
    *n = 0;
    for (int64_t k = 0; halo && k < count; ++k)
        if (k == 0 || halo[k] != halo[*n - 1])
            halo[(*n)++] = halo[k];
    return halo;
}

static int64_t block_end(const addto_work *work, int64_t block) {
    const int64_t last = (block + 1) * WEFT_SELL_ROWS;
    return last < work->pattern->n_rows ? last : work->pattern->n_rows;
}

/* Count words and halo entries into word_start[slice + 1] and halo_start[block + 1], and find the
 * halo of a block that has cells. */
static void block_size(void *user, int64_t block) {
    addto_work *work = user;
    weft_addto *addto = work->addto;
    const int64_t first = block * WEFT_SELL_ROWS, last = block_end(work, block);
    for (int slot = 0; slot < WEFT_SELL_ROWS; ++slot) {
        const int64_t slice = block * WEFT_SELL_SLICES + slot / WEFT_SLICE;
        const int64_t row = first + work->sell->rows[first + slot];
        const uint32_t n = row < last ? work->first[row + 1] - work->first[row] : 0;
        if (n > addto->word_start[slice + 1])
            addto->word_start[slice + 1] = n;
    }
    if (work->first[last] == work->first[first])
        return;
    work->halos[block] = halo_find(work->pattern, first, last, &addto->halo_start[block + 1]);
    if (!work->halos[block])
        atomic_store(&work->fault, WEFT_ADDTO_FAULT_MEMORY);
    else if (addto->halo_start[block + 1] > (1 << WEFT_ADDTO_LOCAL_BITS) - WEFT_SELL_ROWS)
        atomic_store(&work->fault, WEFT_ADDTO_FAULT_LOCAL);
}

/* The local number of each entry of a row. */
static void row_locals(const addto_work *work, int64_t row, uint32_t *locals) {
    const weft_pattern *pattern = work->pattern;
    const int64_t block = row / WEFT_SELL_ROWS, first = block * WEFT_SELL_ROWS;
    const int64_t last = block_end(work, block), *start = work->addto->halo_start;
    const int32_t *halo = work->addto->halo + start[block];
    for (int64_t k = pattern->row_start[row]; k < pattern->row_start[row + 1]; ++k) {
        const int32_t column = pattern->columns[k];
        int64_t low = 0, high = start[block + 1] - start[block];
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (halo[middle] < column)
                low = middle + 1;
            else
                high = middle;
        }
        locals[k - pattern->row_start[row]] =
            (uint32_t)(column >= first && column < last ? column - first : WEFT_SELL_ROWS + low);
    }
}

static uint64_t word_make(addto_work *work, int64_t row, uint32_t place, const uint32_t *locals) {
    const weft_pattern *pattern = work->pattern;
    const int32_t *cell = work->indices + place / (uint32_t)work->width * (uint32_t)work->width;
    const int *others = others_of(work->width, (int)(place % (uint32_t)work->width));
    const int32_t *columns = pattern->columns + pattern->row_start[row];
    const int64_t n = pattern->row_start[row + 1] - pattern->row_start[row];
    uint64_t word = 0;
    for (int v = 0; v < work->width - 1; ++v) {
        const int32_t other = cell[others[v]];
        int64_t k = 0, diagonal = 0;
        while (k < n && columns[k] != other)
            diagonal += columns[k++] == row;
        if (other == row || k == n) {
            atomic_store(&work->fault,
                         other == row ? WEFT_ADDTO_FAULT_TWICE : WEFT_ADDTO_FAULT_MISSING);
            return WEFT_ADDTO_NONE;
        }
        if (k - diagonal >= 1 << WEFT_ADDTO_SLOT_BITS) {
            atomic_store(&work->fault, WEFT_ADDTO_FAULT_SLOT);
            return WEFT_ADDTO_NONE;
        }
        word |= (locals[k] | (uint64_t)(k - diagonal) << WEFT_ADDTO_LOCAL_BITS)
                << v * (WEFT_ADDTO_LOCAL_BITS + WEFT_ADDTO_SLOT_BITS);
    }
    return word;
}

static void block_fill(void *user, int64_t block) {
    addto_work *work = user;
    weft_addto *addto = work->addto;
    const weft_pattern *pattern = work->pattern;
    const int64_t first = block * WEFT_SELL_ROWS, last = block_end(work, block);
    int64_t longest = 0;
    for (int64_t row = first; row < last; ++row)
        if (pattern->row_start[row + 1] - pattern->row_start[row] > longest)
            longest = pattern->row_start[row + 1] - pattern->row_start[row];
    uint32_t *locals = malloc(((size_t)longest + 1) * sizeof *locals);
    if (!locals)
        atomic_store(&work->fault, WEFT_ADDTO_FAULT_MEMORY);
    for (int slot = 0; locals && slot < WEFT_SELL_ROWS; ++slot) {
        const int64_t slice = block * WEFT_SELL_SLICES + slot / WEFT_SLICE;
        const int64_t row = first + work->sell->rows[first + slot];
        const int64_t n = (addto->word_start[slice + 1] - addto->word_start[slice]) / WEFT_SLICE;
        const int64_t base = (int64_t)addto->word_start[slice] + slot % WEFT_SLICE;
        const uint32_t begin = row < last ? work->first[row] : 0;
        const int64_t have = row < last ? work->first[row + 1] - begin : 0;
        if (have > 0)
            row_locals(work, row, locals);
        for (int64_t k = 0; k < n; ++k) {
            const uint32_t place = k < have ? work->places[begin + k] : 0;
            addto->words[base + k * WEFT_SLICE] =
                k < have ? word_make(work, row, place, locals) : WEFT_ADDTO_NONE;
            if (addto->cells)
                addto->cells[base + k * WEFT_SLICE] = (int32_t)(place / (uint32_t)work->width);
        }
    }
    free(locals);
}

weft_status weft_addto_fault_status(int fault, weft_error *error) {
    static const char *const cannot[] = {
        [WEFT_ADDTO_FAULT_LOCAL] = "a block of 512 rows couples with too many others",
        [WEFT_ADDTO_FAULT_SLOT] = "a row has more than 256 entries",
        [WEFT_ADDTO_FAULT_TWICE] = "a cell has a node twice"};
    if (fault == WEFT_ADDTO_FAULT_NONE)
        return WEFT_OK;
    if (fault == WEFT_ADDTO_FAULT_MEMORY)
        return weft_out_of_memory(error, "the cells round each row");
    if (fault == WEFT_ADDTO_FAULT_MISSING)
        return weft_coupling_missing(error);
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "rows cannot be made by their owners: %s",
                   cannot[fault]);
    weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
    return WEFT_ERROR_UNSUPPORTED;
}

/* Sum the sizes, which gives the starts, and concatenate the halos. */
static weft_status starts_sum(addto_work *work, weft_error *error) {
    weft_addto *addto = work->addto;
    const weft_sell *sell = work->sell;
    int64_t words = 0;
    for (int64_t i = 1; i <= addto->n_blocks * WEFT_SELL_SLICES; ++i) {
        words += (int64_t)addto->word_start[i] * WEFT_SLICE;
        if (words > (int64_t)UINT32_MAX)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "too many cells to make rows by their owners");
        addto->word_start[i] = (uint32_t)words;
    }
    for (int64_t b = 0; b < addto->n_blocks; ++b) {
        const int64_t values =
            (int64_t)sell->start[(b + 1) * WEFT_SELL_SLICES] - sell->start[b * WEFT_SELL_SLICES];
        const int local = WEFT_SELL_ROWS + (int)addto->halo_start[b + 1];
        addto->most_values = values > addto->most_values ? values : addto->most_values;
        addto->most_local = local > addto->most_local ? local : addto->most_local;
        addto->halo_start[b + 1] += addto->halo_start[b];
    }
    addto->n_words = words;
    addto->n_halo = addto->halo_start[addto->n_blocks];
    addto->halo = weft_array_make((size_t)addto->n_halo, sizeof *addto->halo);
    addto->words = weft_array_make((size_t)words, sizeof *addto->words);
    if (!addto->halo || !addto->words)
        return weft_out_of_memory(error, "the cells round each row");
    for (int64_t b = 0; b < addto->n_blocks; ++b)
        if (work->halos[b])
            memcpy(addto->halo + addto->halo_start[b], work->halos[b],
                   (size_t)(addto->halo_start[b + 1] - addto->halo_start[b]) * sizeof *addto->halo);
    return WEFT_OK;
}

weft_status weft_addto_check(const weft_connectivity *dofs, int64_t n_rows, weft_error *error) {
    const int64_t width = weft_connectivity_width(dofs), n = weft_connectivity_from(dofs);
    if (weft_connectivity_to(dofs) != n_rows)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "a connectivity to %lld dofs and a matrix of %lld rows",
                              (long long)weft_connectivity_to(dofs), (long long)n_rows);
    if (width < 2 || width > WEFT_ADDTO_WIDTH || n * width > (int64_t)UINT32_MAX)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "rows are made by their owners from up to 2^32 - 1 vertices of cells "
                              "of 2, 3 or 4; here are %lld cells of %lld",
                              (long long)n, (long long)width);
    return WEFT_OK;
}

static weft_status work_make(addto_work *work, weft_error *error) {
    weft_addto *addto = work->addto;
    const size_t n_rows = (size_t)work->pattern->n_rows, n_blocks = (size_t)addto->n_blocks;
    addto->word_start = weft_array_make(n_blocks * WEFT_SELL_SLICES + 1, sizeof *addto->word_start);
    addto->halo_start = weft_array_make(n_blocks + 1, sizeof *addto->halo_start);
    work->first = weft_array_make(n_rows + 1, sizeof *work->first);
    work->places =
        weft_scratch_make((size_t)work->n_cells * (size_t)work->width, sizeof *work->places);
    work->halos = calloc(n_blocks + 1, sizeof *work->halos);
    addto->most_local = WEFT_SELL_ROWS;
    return addto->word_start && addto->halo_start && work->first && work->places && work->halos
               ? WEFT_OK
               : weft_out_of_memory(error, "the cells round each row");
}

weft_status weft_addto_make(weft_device *device, const weft_connectivity *dofs,
                            const weft_pattern *pattern, const weft_sell *sell, bool with_cells,
                            weft_addto **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_addto *made = NULL;
    addto_work work = {.n_cells = weft_connectivity_from(dofs),
                       .width = weft_connectivity_width(dofs),
                       .pattern = pattern,
                       .sell = sell};
    TRY(weft_addto_check(dofs, pattern->n_rows, error));
    TRY(weft_connectivity_read(dofs, error));
    work.indices = weft_connectivity_indices(dofs);
    made = work.addto = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "the cells round each row"));
    made->n_blocks = sell->n_blocks;
    TRY(work_make(&work, error));
    places_sort(&work);
    TRY(weft_device_for(device, made->n_blocks, block_size, &work, error));
    TRY(weft_addto_fault_status(atomic_load(&work.fault), error));
    TRY(starts_sum(&work, error));
    if (with_cells && !(made->cells = weft_array_make((size_t)made->n_words, sizeof *made->cells)))
        TRY(weft_out_of_memory(error, "the cells round each row"));
    TRY(weft_device_for(device, made->n_blocks, block_fill, &work, error));
    TRY(weft_addto_fault_status(atomic_load(&work.fault), error));
    *out = made;
    made = NULL;
done:
    for (int64_t b = 0; work.halos && b < sell->n_blocks; ++b)
        free(work.halos[b]);
    free(work.halos);
    free(work.first);
    free(work.places);
    weft_addto_free(&made);
    return status;
}
