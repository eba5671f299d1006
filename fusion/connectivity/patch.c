/* Lists the cells incident to each patch and gives the nodes of a patch local numbers. */
#include "core/base/sort.h"
#include "core/weft_core.h"
#include "fusion/connectivity/patches.h"
#include "fusion/connectivity/private.h"
#include "fusion/connectivity/vertex_patches.h"

#include <stdlib.h>
#include <string.h>

void weft_patch_free(weft_patch *patch) {
    free(patch->halo);
    free(patch->order);
    free(patch->rows);
    free(patch->words);
    free(patch->cells);
    *patch = (weft_patch){0};
}

/* ---- cells ---- */

/* A counting sort by patch: one task per chunk of cells, so each patch's cells are ascending. */

enum { CHUNKS = 64 };

typedef struct cell_sorter {
    const weft_patch_source *source;
    int64_t n_from, n_patches;
    int32_t *list;
    int64_t *start;
    uint32_t *counts; /* [CHUNKS][n_patches] cells; then the chunk's offset in the patch's list */
} cell_sorter;

static int cell_patches(const cell_sorter *s, int64_t cell, int32_t patches[4]) {
    const int width = s->source->width;
    const int32_t *indices = s->source->indices + cell * width;
    int n = 0;
    for (int v = 0; v < width; ++v) {
        const int32_t patch = indices[v] / s->source->nodes;
        int k = 0;
        while (k < n && patches[k] != patch)
            ++k;
        if (k == n)
            patches[n++] = patch;
    }
    return n;
}

static void count_cells(void *user, int64_t chunk) {
    const cell_sorter *s = user;
    uint32_t *counts = s->counts + chunk * s->n_patches;
    int32_t patches[4];
    for (int64_t cell = s->n_from * chunk / CHUNKS; cell < s->n_from * (chunk + 1) / CHUNKS; ++cell)
        for (int k = cell_patches(s, cell, patches) - 1; k >= 0; --k)
            ++counts[patches[k]];
}

static void list_cells(void *user, int64_t chunk) {
    const cell_sorter *s = user;
    uint32_t *counts = s->counts + chunk * s->n_patches;
    int32_t patches[4];
    for (int64_t cell = s->n_from * chunk / CHUNKS; cell < s->n_from * (chunk + 1) / CHUNKS; ++cell)
        for (int k = cell_patches(s, cell, patches) - 1; k >= 0; --k)
            s->list[s->start[patches[k]] + counts[patches[k]]++] = (int32_t)cell;
}

static void sum_counts(const cell_sorter *s) {
    int64_t sum = 0;
    for (int64_t p = 0; p < s->n_patches; ++p) {
        uint32_t in_patch = 0;
        s->start[p] = sum;
        for (int64_t chunk = 0; chunk < CHUNKS; ++chunk) {
            const uint32_t count = s->counts[chunk * s->n_patches + p];
            s->counts[chunk * s->n_patches + p] = in_patch;
            in_patch += count;
        }
        sum += in_patch;
    }
    s->start[s->n_patches] = sum;
}

weft_status weft_patch_sort_cells(weft_device *device, weft_patch_source *source, int64_t n_from,
                                  int64_t n_patches, int32_t **list, int64_t **start,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    cell_sorter s = {.source = source, .n_from = n_from, .n_patches = n_patches};
    s.counts = weft_array_make(CHUNKS * (size_t)n_patches + 1, sizeof *s.counts);
    s.start = weft_array_make((size_t)n_patches + 1, sizeof *s.start);
    if (s.counts && s.start) {
        TRY(weft_device_for(device, CHUNKS, count_cells, &s, error));
        sum_counts(&s);
        s.list = malloc(((size_t)s.start[n_patches] + 1) * sizeof *s.list);
    }
    if (!s.list) {
        status = weft_cells_no_memory("patches", n_from, error);
        goto done;
    }
    TRY(weft_device_for(device, CHUNKS, list_cells, &s, error));
    source->list = *list = s.list;
    source->start = *start = s.start;
    s.list = NULL;
    s.start = NULL;
done:
    free(s.counts);
    free(s.list);
    free(s.start);
    return status;
}

/* ---- local numbers ---- */

typedef struct halo_table {
    uint32_t mask;
    int32_t *keys, *values; /* global number of a halo node (-1: free) and its local number */
} halo_table;

static uint32_t halo_slot(const halo_table *table, int32_t node) {
    uint32_t slot = ((uint32_t)node * 0x9e3779b1u >> 8) & table->mask;
    while (table->keys[slot] >= 0 && table->keys[slot] != node)
        slot = (slot + 1) & table->mask;
    return slot;
}

static weft_status table_make(size_t places, halo_table *out) {
    uint32_t size = 64;
    while (size < 2 * places)
        size *= 2;
    out->mask = size - 1;
    out->keys = malloc(size * sizeof *out->keys);
    out->values = malloc(size * sizeof *out->values);
    if (!out->keys || !out->values)
        return WEFT_ERROR_MEMORY;
    memset(out->keys, 0xff, size * sizeof *out->keys);
    return WEFT_OK;
}

/* Write local numbers: own nodes directly, halo nodes as -1 - slot in the table. halo gets the halo
 * nodes, unsorted. Returns their number. */
static int number_places(const weft_patch_source *source, int64_t patch, const halo_table *table,
                         int32_t *local, int32_t *halo) {
    const int width = source->width;
    const int64_t first = patch * source->nodes, left = source->n_to - first;
    const int n_own = left < source->nodes ? (int)left : source->nodes;
    int n_halo = 0;
    for (int64_t i = source->start[patch]; i < source->start[patch + 1]; ++i)
        for (int v = 0; v < width; ++v) {
            const int32_t node = source->indices[(int64_t)source->list[i] * width + v];
            const int64_t own = node - first;
            if (own >= 0 && own < n_own) {
                *local++ = (int32_t)own;
                continue;
            }
            const uint32_t slot = halo_slot(table, node);
            if (table->keys[slot] < 0) {
                table->keys[slot] = node;
                halo[n_halo++] = node;
            }
            *local++ = -1 - (int32_t)slot;
        }
    return n_halo;
}

weft_status weft_patch_local(const weft_patch_source *source, int64_t patch, int32_t **local,
                             int32_t **halo, int *n_halo, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_cells = (size_t)(source->start[patch + 1] - source->start[patch]);
    const size_t places = n_cells * (size_t)source->width;
    halo_table table = {0};
    int32_t *numbers = malloc((places + 1) * sizeof *numbers);
    int32_t *round = malloc((places + 1) * sizeof *round);
    if (!numbers || !round || table_make(places, &table) != WEFT_OK) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the rings of a patch");
        goto done;
    }
    const int n = number_places(source, patch, &table, numbers, round);
    if (source->nodes + n > WORD_LOCAL + 1) {
        status =
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%d nodes touch a patch of %d: too many for patches", n, source->nodes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        goto done;
    }
    weft_numbers_sort((uint32_t *)round, (size_t)n);
    for (int i = 0; i < n; ++i)
        table.values[halo_slot(&table, round[i])] = source->nodes + i;
    for (size_t i = 0; i < places; ++i)
        if (numbers[i] < 0)
            numbers[i] = table.values[-1 - numbers[i]];
    *local = numbers;
    *halo = round;
    *n_halo = n;
    numbers = round = NULL;
done:
    free(numbers);
    free(round);
    free(table.keys);
    free(table.values);
    return status;
}
