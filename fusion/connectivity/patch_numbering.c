/* Local numbers of a patch: its own nodes from 0, then the nodes round it, ascending. */
#include "core/weft_core.h"
#include "fusion/connectivity/vertex_patches.h"

#include <stdlib.h>
#include <string.h>

typedef struct halo_table {
    uint32_t mask;
    int32_t *keys, *values; /* local numbers of the halo; key -1: free */
} halo_table;

static int compare(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

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

/* Own nodes by their numbers, others by -1 - their slot; the others listed as they come. */
static int number_places(const weft_star_source_cells *source, int64_t patch,
                         const halo_table *table, int32_t *local, int32_t *halo) {
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

weft_status weft_star_local(const weft_star_source_cells *source, int64_t patch, int32_t **local,
                            int32_t **halo, int *n_halo, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_cells = (size_t)(source->start[patch + 1] - source->start[patch]);
    const size_t places = n_cells * (size_t)source->width;
    halo_table table = {0};
    int32_t *numbers = malloc((places + 1) * sizeof *numbers);
    int32_t *round = malloc((places + 1) * sizeof *round);
    if (!numbers || !round || table_make(places, &table) != WEFT_OK) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the stars of a patch");
        goto done;
    }
    const int n = number_places(source, patch, &table, numbers, round);
    if (source->nodes + n > WORD_LOCAL + 1) {
        status =
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%d nodes touch a patch of %d: too many for stars", n, source->nodes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        goto done;
    }
    qsort(round, (size_t)n, sizeof *round, compare);
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
