/* Smooths the tentative prolongation. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

typedef struct smoothing {
    const weft_coarsening *level, *coarse;
    const weft_node_graph *graph;
    const weft_node_sets *aggregates;
} smoothing;

/* The aggregates that the rows of a node interpolate from. */
typedef struct node_rows {
    int64_t node;
    int32_t *aggregates; /* ascending */
    int64_t n;
    double *sums; /* [aggregate][n_modes] one row of A_F T without the diagonal's part */
} node_rows;

static int64_t coarse_first(const smoothing *s, int64_t aggregate) {
    return weft_node_row(s->coarse, aggregate);
}

static int64_t coarse_count(const smoothing *s, int64_t aggregate) {
    return weft_node_row(s->coarse, aggregate + 1) - weft_node_row(s->coarse, aggregate);
}

/* ---- the aggregates around a node ------------------------------------------------------------ */

static void add_aggregate(node_rows *rows, int32_t aggregate) {
    int64_t k = rows->n;
    while (k > 0 && rows->aggregates[k - 1] > aggregate)
        --k;
    if (k > 0 && rows->aggregates[k - 1] == aggregate)
        return;
    memmove(rows->aggregates + k + 1, rows->aggregates + k,
            (size_t)(rows->n - k) * sizeof *rows->aggregates);
    rows->aggregates[k] = aggregate;
    ++rows->n;
}

static int64_t index_of(const node_rows *rows, int32_t aggregate) {
    int64_t k = 0;
    while (rows->aggregates[k] != aggregate)
        ++k;
    return k;
}

static void find_aggregates(const smoothing *s, int64_t node, node_rows *rows) {
    const weft_csr *G = &s->graph->couplings;
    const int32_t *of = s->aggregates->of;
    rows->node = node;
    rows->n = 0;
    if (of[node] >= 0)
        add_aggregate(rows, of[node]);
    for (int64_t k = G->row_start[node]; k < G->row_start[node + 1]; ++k)
        if (s->graph->strong[k] && of[G->columns[k]] >= 0)
            add_aggregate(rows, of[G->columns[k]]);
}

/* ---- A_F T ----------------------------------------------------------------------------------- */

/* Add row i of A_F T, but for the diagonal's part, to rows->sums. In A_F, blocks of nodes without a
 * strong coupling are added to the diagonal, component by component. Returns its entry. */
static double add_row(const smoothing *s, int64_t node, int64_t i, const node_rows *rows) {
    const weft_csr *A = s->level->A, *G = &s->graph->couplings;
    const int m = s->level->n_modes;
    int64_t g = G->row_start[node], component = i - weft_node_row(s->level, node);
    double diagonal = 0;
    for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
        int32_t j = A->columns[k], other = weft_row_node(s->level, j);
        if (s->level->scale[j] == 0)
            continue;
        while (G->columns[g] < other)
            ++g;
        if (other != node && !s->graph->strong[g]) {
            if (j - weft_node_row(s->level, other) == component)
                diagonal += A->values[k];
            continue;
        }
        if (j == i)
            diagonal += A->values[k];
        int32_t aggregate = s->aggregates->of[other];
        if (j == i || aggregate < 0)
            continue;
        int64_t n = coarse_count(s, aggregate);
        double *to = rows->sums + index_of(rows, aggregate) * m;
        for (int64_t r = 0; r < n; ++r)
            to[r] += A->values[k] * s->level->modes[(int64_t)j * m + r];
    }
    return diagonal;
}

/* Append row i of P, from row i of A_F T without the diagonal's part. A diagonal that lumping has reduced
 * much, or to nothing, is limited: rows of A_F still add up to those of A. */
static void finish_row(const smoothing *s, int64_t node, int64_t i, const node_rows *rows,
                       double diagonal, weft_csr_chunk *chunk) {
    const int m = s->level->n_modes;
    int32_t own = s->aggregates->of[node];
    double full = 1 / (s->level->scale[i] * s->level->scale[i]);
    double omega = -4.0 / 3 / s->level->lambda / (diagonal > full / 4 ? diagonal : full / 4);
    for (int64_t a = 0; a < rows->n; ++a) {
        int64_t first = coarse_first(s, rows->aggregates[a]);
        int64_t n = coarse_count(s, rows->aggregates[a]);
        for (int64_t r = 0; r < n; ++r) {
            double t = rows->aggregates[a] == own ? s->level->modes[i * m + r] : 0;
            chunk->columns[chunk->n] = (int32_t)(first + r);
            chunk->values[chunk->n++] = t + omega * (rows->sums[a * m + r] + diagonal * t);
        }
    }
}

static bool fill_row(const smoothing *s, int64_t i, node_rows *rows, weft_csr_chunk *chunk) {
    const int m = s->level->n_modes;
    int64_t node = weft_row_node(s->level, (int32_t)i), before = chunk->n;
    if (s->level->scale[i] != 0) {
        if (rows->node != node)
            find_aggregates(s, node, rows);
        if (!weft_csr_chunk_reserve(chunk, rows->n * m))
            return false;
        memset(rows->sums, 0, (size_t)(rows->n * m) * sizeof *rows->sums);
        double diagonal = add_row(s, node, i, rows);
        finish_row(s, node, i, rows, diagonal, chunk);
    }
    chunk->lengths[i - chunk->first] = chunk->n - before;
    return true;
}

static bool fill_prolongation(const void *user, weft_csr_chunk *chunk) {
    const smoothing *s = user;
    const weft_csr *G = &s->graph->couplings;
    node_rows rows = {.node = -1};
    int64_t most = 0;
    bool done = false;
    for (int64_t i = chunk->first; i < chunk->last; ++i) {
        int32_t node = weft_row_node(s->level, (int32_t)i);
        int64_t n = G->row_start[node + 1] - G->row_start[node] + 1;
        most = n > most ? n : most;
    }
    rows.aggregates = malloc((size_t)(most + 1) * sizeof *rows.aggregates);
    rows.sums = malloc((size_t)(most * s->level->n_modes + 1) * sizeof *rows.sums);
    if (!rows.aggregates || !rows.sums)
        goto done;
    for (int64_t i = chunk->first; i < chunk->last; ++i)
        if (!fill_row(s, i, &rows, chunk))
            goto done;
    done = true;
done:
    free(rows.aggregates);
    free(rows.sums);
    return done;
}

weft_status weft_prolongation_make(const weft_coarsening *level, const weft_node_graph *graph,
                                   const weft_node_sets *aggregates, const weft_coarsening *coarse,
                                   int64_t n_coarse_rows, weft_csr *P, weft_error *error) {
    weft_csr made = {.n_rows = level->A->n_rows, .n_columns = n_coarse_rows};
    const smoothing s = {level, coarse, graph, aggregates};
    weft_status status = weft_csr_build(level->device, fill_prolongation, &s, &made, error);
    if (status == WEFT_OK)
        *P = made;
    return status;
}
