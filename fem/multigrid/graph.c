/* Makes the graph of couplings between nodes, and tells how strong they are. */
#include "fem/multigrid/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256 };

void weft_node_graph_clear(weft_node_graph *graph) {
    if (graph->owned)
        weft_csr_clear(&graph->couplings);
    free(graph->scale);
    free(graph->flags);
    free(graph->active);
    *graph = (weft_node_graph){0};
}

/* The rows of a chunk of nodes: Frobenius norms of the blocks of free rows and columns. */
static bool fill_norms(const void *user, weft_csr_chunk *chunk) {
    const weft_coarsening *level = user;
    const weft_csr *A = level->A;
    weft_row_sum row = {0};
    int64_t most = 0;
    bool done = false;
    for (int64_t node = chunk->first; node < chunk->last; ++node) {
        int64_t n =
            A->row_start[weft_node_row(level, node + 1)] - A->row_start[weft_node_row(level, node)];
        most = n > most ? n : most;
    }
    if (!weft_row_sum_make(&row, most))
        goto done;
    for (int64_t node = chunk->first; node < chunk->last; ++node) {
        for (int64_t i = weft_node_row(level, node); i < weft_node_row(level, node + 1); ++i)
            for (int64_t k = A->row_start[i]; level->scale[i] != 0 && k < A->row_start[i + 1]; ++k)
                if (level->scale[A->columns[k]] != 0)
                    weft_row_sum_add(&row, weft_row_node(level, A->columns[k]),
                                     A->values[k] * A->values[k]);
        int64_t n = row.n_used;
        if (!weft_csr_chunk_reserve(chunk, n))
            goto done;
        chunk->lengths[node - chunk->first] = n;
        weft_row_sum_append(&row, true, chunk);
        for (int64_t k = chunk->n - n; k < chunk->n; ++k)
            chunk->values[k] = sqrt(chunk->values[k]);
    }
    done = true;
done:
    weft_row_sum_free(&row);
    return done;
}

typedef struct graph_work {
    weft_node_graph *graph;
    double theta;
} graph_work;

static void chunk_scale(void *user, int64_t chunk) {
    const graph_work *w = user;
    const weft_csr *G = &w->graph->couplings;
    int64_t last = weft_chunk_start(G->n_rows, chunk + 1, CHUNKS);
    for (int64_t i = weft_chunk_start(G->n_rows, chunk, CHUNKS); i < last; ++i) {
        w->graph->scale[i] = 0;
        for (int64_t k = G->row_start[i]; k < G->row_start[i + 1]; ++k)
            if (G->columns[k] == i)
                w->graph->scale[i] = 1 / sqrt(G->values[k]);
    }
}

/* |g_ij|^2 > theta^2 g_ii g_jj connects nodes, |g_ij| > theta g_ii smooths row i. They differ where
 * coefficients jump: a node follows one in a much stiffer material, not the other way round. */
static void chunk_couplings(void *user, int64_t chunk) {
    const graph_work *w = user;
    const weft_csr *G = &w->graph->couplings;
    const double *scale = w->graph->scale;
    int64_t last = weft_chunk_start(G->n_rows, chunk + 1, CHUNKS);
    for (int64_t i = weft_chunk_start(G->n_rows, chunk, CHUNKS); i < last; ++i) {
        uint8_t any = 0;
        for (int64_t k = G->row_start[i]; k < G->row_start[i + 1]; ++k) {
            int32_t j = G->columns[k];
            double coupling = fabs(G->values[k]) * scale[i];
            bool other = j != i && scale[j] != 0;
            bool connects = other && coupling * scale[j] > w->theta;
            bool smooths = other && coupling * scale[i] > w->theta;
            w->graph->flags[k] =
                (uint8_t)((connects ? WEFT_CONNECTS : 0) | (smooths ? WEFT_SMOOTHS : 0));
            any |= w->graph->flags[k];
        }
        w->graph->active[i] = any != 0;
    }
}

weft_status weft_node_graph_make(const weft_coarsening *level, weft_node_graph *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_node_graph made = {.couplings = *level->A, .owned = level->node_start != NULL};
    const graph_work work = {&made, level->theta};
    size_t n_nodes = (size_t)level->n_nodes;
    if (made.owned) {
        made.couplings = (weft_csr){.n_rows = level->n_nodes, .n_columns = level->n_nodes};
        TRY(weft_csr_build(level->device, fill_norms, level, &made.couplings, error));
    }
    made.scale = malloc((n_nodes + 1) * sizeof *made.scale);
    made.active = malloc(n_nodes + 1);
    made.flags = malloc((size_t)made.couplings.row_start[n_nodes] + 1);
    if (!made.scale || !made.active || !made.flags)
        TRY(weft_out_of_memory(error, "the graph of a matrix"));
    if (made.owned)
        TRY(weft_device_for(level->device, CHUNKS, chunk_scale, (void *)&work, error));
    else
        memcpy(made.scale, level->scale, n_nodes * sizeof *made.scale);
    TRY(weft_device_for(level->device, CHUNKS, chunk_couplings, (void *)&work, error));
    *out = made;
    made = (weft_node_graph){0};
done:
    weft_node_graph_clear(&made);
    return status;
}
