/* Numbers nodes by METIS parts of the node graph, breadth first within each part. */
#include "fem/order/private.h"

#include <metis.h>
#include <pthread.h>
#include <stdlib.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS must be built with 32-bit idx_t");

/* METIS uses libc's rand, whose state is global: calls are serialised to be reproducible. */
static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

enum { METIS_SEED = 1 };

/* Neighbours of nodes: neighbours[start[i] .. start[i + 1]), without i itself. */
typedef struct node_graph {
    int64_t n_nodes;
    int64_t *start;
    int32_t *neighbours;
} node_graph;

static weft_status no_memory(const weft_mesh *mesh, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to order %lld nodes", mesh->source,
                   (long long)mesh->n_nodes);
    weft_error_hint(error, "use a coarser mesh or a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

/* Make the node graph from the mesh's matrix pattern, removing the diagonal in place. */
static weft_status graph_make(const weft_mesh *mesh, weft_pattern **pattern, node_graph *graph,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *dofs = NULL;
    TRY(weft_connectivity_make(NULL, mesh->cells, mesh->n_cells, weft_mesh_cell_vertices(mesh),
                               mesh->n_nodes, &dofs, error));
    TRY(weft_pattern_make(NULL, dofs, 1, pattern, NULL, error));
    int32_t *columns = (*pattern)->columns;
    int64_t *start = (*pattern)->row_start, kept = 0, k = 0;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        int64_t end = start[i + 1];
        start[i] = kept;
        for (; k < end; ++k)
            if (columns[k] != i)
                columns[kept++] = columns[k];
    }
    start[mesh->n_nodes] = kept;
    *graph = (node_graph){mesh->n_nodes, start, columns};
done:
    weft_connectivity_free(&dofs);
    return status;
}

/* Set part[i] of each node; all 0 if there is one part only, or if METIS fails. */
static weft_status parts_find(const weft_mesh *mesh, const node_graph *graph, int32_t n_parts,
                              int32_t *part, weft_error *error) {
    weft_status status = WEFT_OK;
    idx_t *start = NULL;
    if (n_parts < 2)
        goto done;
    start = malloc(((size_t)graph->n_nodes + 1) * sizeof *start);
    if (!start)
        TRY(no_memory(mesh, error));
    for (int64_t i = 0; i <= graph->n_nodes; ++i)
        start[i] = (idx_t)graph->start[i];
    idx_t n = (idx_t)graph->n_nodes, one = 1, parts = n_parts, cut = 0, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = METIS_SEED;
    options[METIS_OPTION_NUMBERING] = 0;
    pthread_mutex_lock(&metis_lock);
    int result = METIS_PartGraphKway(&n, &one, start, graph->neighbours, NULL, NULL, NULL, &parts,
                                     NULL, NULL, options, &cut, part);
    pthread_mutex_unlock(&metis_lock);
    if (result == METIS_ERROR_MEMORY)
        status = no_memory(mesh, error);
    else if (result != METIS_OK)
        status = weft_error_set(error, WEFT_ERROR_INTERNAL, "%s: METIS ended with code %d",
                                mesh->source, result);
done:
    free(start);
    return status;
}

typedef struct breadth {
    const node_graph *graph;
    const int32_t *part;
    int32_t *queue;  /* [n_nodes] new -> old */
    int32_t *new_of; /* [n_nodes], -1: not yet */
} breadth;

/* Breadth-first search from a node within its part. Fills queue[first ..) and returns its end. */
static int64_t breadth_first(breadth *b, int32_t from, int64_t first) {
    int64_t end = first + 1;
    b->queue[first] = from;
    b->new_of[from] = (int32_t)first;
    for (int64_t head = first; head < end; ++head) {
        int32_t node = b->queue[head];
        for (int64_t k = b->graph->start[node]; k < b->graph->start[node + 1]; ++k) {
            int32_t next = b->graph->neighbours[k];
            if (b->new_of[next] < 0 && b->part[next] == b->part[from]) {
                b->new_of[next] = (int32_t)end;
                b->queue[end++] = next;
            }
        }
    }
    return end;
}

/* Number the nodes by part. Each connected piece starts from a peripheral node, from which
 * breadth-first search has narrow fronts. */
static void nodes_number(breadth *b, const int32_t *by_part) {
    int64_t next = 0;
    for (int64_t i = 0; i < b->graph->n_nodes; ++i)
        b->new_of[i] = -1;
    for (int64_t i = 0; i < b->graph->n_nodes; ++i) {
        if (b->new_of[by_part[i]] >= 0)
            continue;
        int64_t end = breadth_first(b, by_part[i], next);
        int32_t far = b->queue[end - 1];
        for (int64_t k = next; k < end; ++k)
            b->new_of[b->queue[k]] = -1;
        next = breadth_first(b, far, next);
    }
}

/* Counting sort; count has n_parts + 1 zeros. */
static void sort_by_part(const int32_t *part, int64_t n, int32_t n_parts, int64_t *count,
                         int32_t *by_part) {
    for (int64_t i = 0; i < n; ++i)
        count[part[i] + 1] += 1;
    for (int32_t p = 0; p < n_parts; ++p)
        count[p + 1] += count[p];
    for (int64_t i = 0; i < n; ++i)
        by_part[count[part[i]]++] = (int32_t)i;
}

weft_status weft_order_metis(const weft_mesh *mesh, int64_t part_nodes, const weft_monitor *monitor,
                             int32_t *old, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern *pattern = NULL;
    node_graph graph = {0};
    size_t n = (size_t)mesh->n_nodes;
    int64_t n_parts = (mesh->n_nodes + part_nodes - 1) / part_nodes;
    if (n_parts > INT32_MAX)
        n_parts = 1;
    int32_t *part = weft_array_make(n, sizeof *part);
    int32_t *by_part = weft_array_make(n, sizeof *by_part);
    int32_t *new_of = weft_array_make(n, sizeof *new_of);
    int64_t *count = calloc((size_t)n_parts + 1, sizeof *count);
    if (!part || !by_part || !new_of || !count)
        TRY(no_memory(mesh, error));
    TRY(graph_make(mesh, &pattern, &graph, error));
    if (graph.start[graph.n_nodes] > INT32_MAX)
        n_parts = 1; /* too many edges for METIS: breadth-first search only */
    weft_progress(monitor, "order", 1, 3);
    TRY(parts_find(mesh, &graph, (int32_t)n_parts, part, error));
    weft_progress(monitor, "order", 2, 3);
    sort_by_part(part, mesh->n_nodes, (int32_t)n_parts, count, by_part);
    nodes_number(&(breadth){&graph, part, old, new_of}, by_part);
done:
    weft_pattern_free(&pattern);
    free(part);
    free(by_part);
    free(new_of);
    free(count);
    return status;
}
