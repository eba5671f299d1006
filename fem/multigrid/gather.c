/* Gathers nodes and their strong neighbours into sets, where there are no coordinates. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

/* Vanek, Mandel and Brezina 1996, algorithm 5.1, steps 1 and 2: neighbourhoods without nodes of
 * other sets; then remaining nodes join the set of a strong neighbour, or start one with their
 * remaining neighbours. */
static bool is_gathered(const weft_node_graph *graph, const int32_t *of, int64_t node) {
    const weft_csr *G = &graph->couplings;
    for (int64_t k = G->row_start[node]; k < G->row_start[node + 1]; ++k)
        if (graph->flags[k] & WEFT_CONNECTS && of[G->columns[k]] >= 0)
            return true;
    return of[node] >= 0;
}

static void gather(const weft_node_graph *graph, int32_t *of, int64_t node, int32_t set) {
    const weft_csr *G = &graph->couplings;
    of[node] = set;
    for (int64_t k = G->row_start[node]; k < G->row_start[node + 1]; ++k)
        if (graph->flags[k] & WEFT_CONNECTS && of[G->columns[k]] < 0)
            of[G->columns[k]] = set;
}

/* The set of the neighbour with the strongest coupling, or -1. */
static int32_t strongest_set(const weft_node_graph *graph, const int32_t *of, int64_t node) {
    const weft_csr *G = &graph->couplings;
    double strongest = 0;
    int32_t set = -1;
    for (int64_t k = G->row_start[node]; k < G->row_start[node + 1]; ++k) {
        int32_t j = G->columns[k];
        double coupling = G->values[k] * graph->scale[j];
        coupling = coupling < 0 ? -coupling : coupling;
        if (graph->flags[k] & WEFT_CONNECTS && of[j] >= 0 && coupling > strongest) {
            strongest = coupling;
            set = of[j];
        }
    }
    return set;
}

weft_status weft_nodes_gather(const weft_coarsening *level, const weft_node_graph *graph,
                              weft_node_sets *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_node_sets made = {0};
    int32_t n_first = 0, n_sets = 0, *of = NULL;
    size_t n = (size_t)level->n_nodes;
    of = malloc((n + 1) * sizeof *of);
    made.of = malloc((n + 1) * sizeof *made.of);
    if (!of || !made.of)
        TRY(weft_out_of_memory(error, "aggregates"));
    memset(of, 0xff, n * sizeof *of);
    for (size_t i = 0; i < n; ++i)
        if (graph->active[i] && !is_gathered(graph, of, (int64_t)i))
            gather(graph, of, (int64_t)i, n_first++);
    for (size_t i = 0; i < n; ++i)
        made.of[i] = of[i] >= 0 || !graph->active[i] ? of[i] : strongest_set(graph, of, (int64_t)i);
    n_sets = n_first;
    for (size_t i = 0; i < n; ++i)
        if (graph->active[i] && made.of[i] < 0)
            gather(graph, made.of, (int64_t)i, n_sets++);
    made.n = n_sets;
    TRY(weft_node_sets_list(level->device, level->n_nodes, &made, error));
    *out = made;
    made = (weft_node_sets){0};
done:
    free(of);
    weft_node_sets_clear(&made);
    return status;
}
