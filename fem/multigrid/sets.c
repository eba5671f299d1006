/* Lists and frees sets of nodes. */
#include "fem/multigrid/private.h"

#include <stdlib.h>

void weft_node_sets_clear(weft_node_sets *sets) {
    free(sets->start);
    free(sets->nodes);
    free(sets->of);
    *sets = (weft_node_sets){0};
}

weft_status weft_node_sets_list(int64_t n_nodes, weft_node_sets *sets, weft_error *error) {
    int64_t *next = sets->start = calloc((size_t)sets->n + 2, sizeof *sets->start);
    sets->nodes = malloc((size_t)(n_nodes + 1) * sizeof *sets->nodes);
    if (!sets->start || !sets->nodes)
        return weft_out_of_memory(error, "aggregates");
    for (int64_t i = 0; i < n_nodes; ++i)
        if (sets->of[i] >= 0)
            ++next[sets->of[i] + 2];
    for (int64_t s = 0; s < sets->n; ++s)
        next[s + 2] += next[s + 1];
    /* next[s + 1] is the next place of set s, and at the end the start of set s + 1. */
    for (int64_t i = 0; i < n_nodes; ++i)
        if (sets->of[i] >= 0)
            sets->nodes[next[sets->of[i] + 1]++] = (int32_t)i;
    return WEFT_OK;
}
