/* Splits sets of nodes into their connected components, and joins small ones to their neighbours. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256, NONE = -1, CANDIDATES = 64 };

typedef struct connection {
    const weft_node_graph *graph;
    const weft_node_sets *sets;
    int32_t *place;  /* [n_nodes] index into sets->nodes; NONE */
    int32_t *root;   /* [start[n]] place of the first node of the component */
    int32_t *size;   /* [start[n]] nodes of the component that starts at this place */
    int32_t *target; /* [start[n]] the component that this one joins: its place, or NONE */
    int64_t n_nodes;
    int32_t *of;      /* [n_nodes] new sets */
    int32_t smallest; /* smaller components join others */
} connection;

/* ---- components ------------------------------------------------------------------------------ */

static void chunk_places(void *user, int64_t chunk) {
    const connection *c = user;
    int64_t n = c->sets->start[c->sets->n], last = weft_chunk_start(n, chunk + 1, CHUNKS);
    for (int64_t p = weft_chunk_start(n, chunk, CHUNKS); p < last; ++p) {
        c->place[c->sets->nodes[p]] = (int32_t)p;
        c->root[p] = (int32_t)p;
        c->size[p] = 0;
    }
}

static int32_t find_root(const int32_t *root, int32_t p) {
    while (root[p] != p)
        p = root[p];
    return p;
}

/* The lower root becomes the root of both, so that roots do not depend on the order of unions. */
static void unite_set(const connection *c, int64_t first, int64_t last) {
    const weft_csr *G = &c->graph->couplings;
    for (int64_t p = first; p < last; ++p) {
        int64_t node = c->sets->nodes[p];
        for (int64_t k = G->row_start[node]; k < G->row_start[node + 1]; ++k) {
            int32_t q = c->graph->flags[k] & WEFT_CONNECTS ? c->place[G->columns[k]] : NONE;
            if (q < first || q >= p)
                continue;
            int32_t a = find_root(c->root, (int32_t)p), b = find_root(c->root, q);
            c->root[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int64_t p = first; p < last; ++p) {
        c->root[p] = find_root(c->root, (int32_t)p);
        ++c->size[c->root[p]];
    }
}

static void chunk_unite(void *user, int64_t chunk) {
    const connection *c = user;
    int64_t last = weft_chunk_start(c->sets->n, chunk + 1, CHUNKS);
    for (int64_t s = weft_chunk_start(c->sets->n, chunk, CHUNKS); s < last; ++s)
        unite_set(c, c->sets->start[s], c->sets->start[s + 1]);
}

/* ---- joining small components ---------------------------------------------------------------- */

typedef struct neighbours {
    int n;
    int32_t root[CANDIDATES];
    double coupling[CANDIDATES];
} neighbours;

/* Components beyond the first CANDIDATES are not considered. */
static void neighbours_add(neighbours *all, int32_t root, double coupling) {
    int k = 0;
    while (k < all->n && all->root[k] != root)
        ++k;
    if (k == CANDIDATES)
        return;
    if (k == all->n) {
        all->root[all->n++] = root;
        all->coupling[k] = 0;
    }
    all->coupling[k] += coupling;
}

/* Couplings of a node to components that are not small. A single node may
 * also follow one in a much stiffer material. */
static void node_neighbours(const connection *c, int32_t p, neighbours *all) {
    const weft_csr *G = &c->graph->couplings;
    int64_t node = c->sets->nodes[p];
    int flags = c->size[c->root[p]] == 1 ? WEFT_CONNECTS | WEFT_SMOOTHS : WEFT_CONNECTS;
    for (int64_t k = G->row_start[node]; k < G->row_start[node + 1]; ++k) {
        int32_t q = G->columns[k] == node ? NONE : c->place[G->columns[k]];
        if (q < 0 || !(c->graph->flags[k] & flags) || c->size[c->root[q]] < c->smallest)
            continue;
        double value = G->values[k] < 0 ? -G->values[k] : G->values[k];
        neighbours_add(all, c->root[q], value * c->graph->scale[G->columns[k]]);
    }
}

/* The component whose first node is at place p, in a set that ends at `last`. */
static int32_t find_target(const connection *c, int32_t p, int64_t last) {
    neighbours all = {.n = 0};
    int best = 0;
    for (int64_t q = p; q < last; ++q)
        if (c->root[q] == p)
            node_neighbours(c, (int32_t)q, &all);
    for (int k = 1; k < all.n; ++k)
        if (all.coupling[k] > all.coupling[best] ||
            (all.coupling[k] == all.coupling[best] && all.root[k] < all.root[best]))
            best = k;
    return all.n ? all.root[best] : p;
}

static void chunk_target(void *user, int64_t chunk) {
    const connection *c = user;
    int64_t last = weft_chunk_start(c->sets->n, chunk + 1, CHUNKS);
    for (int64_t s = weft_chunk_start(c->sets->n, chunk, CHUNKS); s < last; ++s)
        for (int64_t p = c->sets->start[s]; p < c->sets->start[s + 1]; ++p)
            if (c->root[p] == p)
                c->target[p] = c->size[p] < c->smallest
                                   ? find_target(c, (int32_t)p, c->sets->start[s + 1])
                                   : (int32_t)p;
}

/* ---- the new sets ---------------------------------------------------------------------------- */

/* Number the components that stay, in the order of their places; size becomes the number. */
static int64_t sets_number(const connection *c) {
    int64_t n = 0;
    for (int64_t p = 0; p < c->sets->start[c->sets->n]; ++p)
        if (c->root[p] == p && c->target[p] == p)
            c->size[p] = (int32_t)n++;
    return n;
}

static void chunk_sets(void *user, int64_t chunk) {
    const connection *c = user;
    int64_t last = weft_chunk_start(c->n_nodes, chunk + 1, CHUNKS);
    for (int64_t i = weft_chunk_start(c->n_nodes, chunk, CHUNKS); i < last; ++i)
        c->of[i] = c->place[i] < 0 ? NONE : c->size[c->target[c->root[c->place[i]]]];
}

weft_status weft_nodes_connect(const weft_coarsening *level, const weft_node_graph *graph,
                               weft_node_sets *sets, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_node_sets made = {0};
    size_t n = (size_t)sets->start[sets->n], n_nodes = (size_t)level->n_nodes;
    connection c = {.graph = graph,
                    .sets = sets,
                    .n_nodes = level->n_nodes,
                    .smallest = (int32_t)(level->aggregate_nodes / 3 + 1)};
    c.place = malloc((n_nodes + 1) * sizeof *c.place);
    c.root = malloc((n + 1) * sizeof *c.root);
    c.size = malloc((n + 1) * sizeof *c.size);
    c.target = malloc((n + 1) * sizeof *c.target);
    made.of = malloc((n_nodes + 1) * sizeof *made.of);
    if (!c.place || !c.root || !c.size || !c.target || !made.of)
        TRY(weft_out_of_memory(error, "aggregates"));
    memset(c.place, 0xff, n_nodes * sizeof *c.place);
    TRY(weft_device_for(level->device, CHUNKS, chunk_places, &c, error));
    TRY(weft_device_for(level->device, CHUNKS, chunk_unite, &c, error));
    TRY(weft_device_for(level->device, CHUNKS, chunk_target, &c, error));
    made.n = sets_number(&c);
    c.of = made.of;
    TRY(weft_device_for(level->device, CHUNKS, chunk_sets, &c, error));
    TRY(weft_node_sets_list(level->device, level->n_nodes, &made, error));
    weft_node_sets_clear(sets);
    *sets = made;
    made = (weft_node_sets){0};
done:
    free(c.place);
    free(c.root);
    free(c.size);
    free(c.target);
    weft_node_sets_clear(&made);
    return status;
}
