/* Lists and frees sets of nodes. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 8 };

void weft_node_sets_clear(weft_node_sets *sets) {
    free(sets->start);
    free(sets->nodes);
    free(sets->of);
    *sets = (weft_node_sets){0};
}

/* Chunks of the nodes count their nodes in each set; the sums over the chunks before give each chunk
 * its offsets. */
typedef struct listing {
    weft_node_sets *sets;
    int64_t n_nodes;
    int32_t *offsets; /* [CHUNKS][n] */
} listing;

static void chunk_count(void *user, int64_t chunk) {
    const listing *l = user;
    int32_t *offsets = l->offsets + chunk * l->sets->n;
    int64_t last = weft_chunk_start(l->n_nodes, chunk + 1, CHUNKS);
    memset(offsets, 0, (size_t)l->sets->n * sizeof *offsets);
    for (int64_t i = weft_chunk_start(l->n_nodes, chunk, CHUNKS); i < last; ++i)
        if (l->sets->of[i] >= 0)
            ++offsets[l->sets->of[i]];
}

static void chunk_move(void *user, int64_t chunk) {
    const listing *l = user;
    int32_t *offsets = l->offsets + chunk * l->sets->n;
    int64_t last = weft_chunk_start(l->n_nodes, chunk + 1, CHUNKS);
    for (int64_t i = weft_chunk_start(l->n_nodes, chunk, CHUNKS); i < last; ++i)
        if (l->sets->of[i] >= 0)
            l->sets->nodes[offsets[l->sets->of[i]]++] = (int32_t)i;
}

weft_status weft_node_sets_list(weft_device *device, int64_t n_nodes, weft_node_sets *sets,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t sum = 0;
    listing l = {.sets = sets, .n_nodes = n_nodes};
    sets->start = malloc((size_t)(sets->n + 1) * sizeof *sets->start);
    sets->nodes = malloc((size_t)(n_nodes + 1) * sizeof *sets->nodes);
    l.offsets = malloc((size_t)(CHUNKS * sets->n + 1) * sizeof *l.offsets);
    if (!sets->start || !sets->nodes || !l.offsets)
        TRY(weft_out_of_memory(error, "aggregates"));
    TRY(weft_device_for(device, CHUNKS, chunk_count, &l, error));
    for (int64_t s = 0; s < sets->n; ++s) {
        sets->start[s] = sum;
        for (int64_t chunk = 0; chunk < CHUNKS; ++chunk) {
            int32_t *place = &l.offsets[chunk * sets->n + s], n = *place;
            *place = sum;
            sum += n;
        }
    }
    sets->start[sets->n] = sum;
    TRY(weft_device_for(device, CHUNKS, chunk_move, &l, error));
done:
    free(l.offsets);
    return status;
}
