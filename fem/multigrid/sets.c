/* Lists and frees sets of nodes. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

enum { SHARES = 8 };

void weft_node_sets_clear(weft_node_sets *sets) {
    free(sets->start);
    free(sets->nodes);
    free(sets->of);
    *sets = (weft_node_sets){0};
}

/* Shares of the nodes count their nodes in each set; the sums over the shares before give each share
 * its places. */
typedef struct listing {
    weft_node_sets *sets;
    int64_t n_nodes;
    int32_t *places; /* [SHARES][n] */
} listing;

static void share_count(void *user, int64_t share) {
    const listing *l = user;
    int32_t *places = l->places + share * l->sets->n;
    int64_t last = weft_share(l->n_nodes, share + 1, SHARES);
    memset(places, 0, (size_t)l->sets->n * sizeof *places);
    for (int64_t i = weft_share(l->n_nodes, share, SHARES); i < last; ++i)
        if (l->sets->of[i] >= 0)
            ++places[l->sets->of[i]];
}

static void share_move(void *user, int64_t share) {
    const listing *l = user;
    int32_t *places = l->places + share * l->sets->n;
    int64_t last = weft_share(l->n_nodes, share + 1, SHARES);
    for (int64_t i = weft_share(l->n_nodes, share, SHARES); i < last; ++i)
        if (l->sets->of[i] >= 0)
            l->sets->nodes[places[l->sets->of[i]]++] = (int32_t)i;
}

weft_status weft_node_sets_list(weft_device *device, int64_t n_nodes, weft_node_sets *sets,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t sum = 0;
    listing l = {.sets = sets, .n_nodes = n_nodes};
    sets->start = malloc((size_t)(sets->n + 1) * sizeof *sets->start);
    sets->nodes = malloc((size_t)(n_nodes + 1) * sizeof *sets->nodes);
    l.places = malloc((size_t)(SHARES * sets->n + 1) * sizeof *l.places);
    if (!sets->start || !sets->nodes || !l.places)
        TRY(weft_out_of_memory(error, "aggregates"));
    TRY(weft_device_for(device, SHARES, share_count, &l, error));
    for (int64_t s = 0; s < sets->n; ++s) {
        sets->start[s] = sum;
        for (int64_t share = 0; share < SHARES; ++share) {
            int32_t *place = &l.places[share * sets->n + s], n = *place;
            *place = sum;
            sum += n;
        }
    }
    sets->start[sets->n] = sum;
    TRY(weft_device_for(device, SHARES, share_move, &l, error));
done:
    free(l.places);
    return status;
}
