/* Which cells touch which patch: a counting sort by chunks, so that a patch's cells ascend. */
#include "core/weft_core.h"
#include "fusion/connectivity/vertex_patches.h"

#include <stdlib.h>

enum { CHUNKS = 64 /* of cells, each counted by one task */ };

typedef struct cell_sorter {
    const weft_star_source_cells *source;
    int64_t n_from, n_patches;
    int32_t *list;
    int64_t *start;
    uint32_t *counts; /* [CHUNKS][n_patches], then where a chunk's cells go in a patch's */
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

weft_status weft_star_sort_cells(weft_device *device, weft_star_source_cells *source,
                                 int64_t n_from, int64_t n_patches, int32_t **list, int64_t **start,
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
        status = weft_star_no_memory("stars", n_from, error);
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
