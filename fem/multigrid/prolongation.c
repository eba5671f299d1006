/* Smooths the tentative prolongation.
 *
 * Decision  docs/decisions/0040-smoothed-aggregation.md */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

#define OMEGA 1.5 /* 4/3 is best where only the largest eigenvalue counts */

typedef struct smoothing {
    const weft_coarsening *level, *coarse;
    const weft_node_graph *graph;
    const weft_node_sets *aggregates;
} smoothing;

/* A row of A_F T without the diagonal's part, by aggregates. */
typedef struct sparse_row {
    int64_t n;
    int32_t *aggregates, *order; /* order: ascending, from sort_row */
    double *sums;                /* [n][n_modes] */
} sparse_row;

static double *sums_of(sparse_row *row, int32_t aggregate, int n_modes) {
    int64_t k = 0;
    while (k < row->n && row->aggregates[k] != aggregate)
        ++k;
    if (k == row->n) {
        row->aggregates[row->n++] = aggregate;
        for (int r = 0; r < n_modes; ++r)
            row->sums[k * n_modes + r] = 0;
    }
    return row->sums + k * n_modes;
}

static int64_t coarse_count(const smoothing *s, int64_t aggregate) {
    return weft_node_row(s->coarse, aggregate + 1) - weft_node_row(s->coarse, aggregate);
}

/* Row i of A_F T. In A_F, blocks of other couplings are added to the diagonal, component by
 * component. Returns the diagonal entry. */
static double add_row(const smoothing *s, int64_t node, int64_t i, sparse_row *row) {
    const weft_csr *A = s->level->A, *G = &s->graph->couplings;
    const int m = s->level->n_modes;
    int64_t g = G->row_start[node], component = i - weft_node_row(s->level, node);
    double diagonal = 0;
    row->n = 0;
    if (s->aggregates->of[node] >= 0)
        sums_of(row, s->aggregates->of[node], m);
    for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
        int32_t j = A->columns[k], other = weft_row_node(s->level, j);
        if (s->level->scale[j] == 0)
            continue;
        while (G->columns[g] < other)
            ++g;
        bool kept = other == node || s->graph->flags[g] & WEFT_SMOOTHS;
        if (j == i || (!kept && j - weft_node_row(s->level, other) == component))
            diagonal += A->values[k];
        int32_t aggregate = s->aggregates->of[other];
        if (j == i || !kept || aggregate < 0)
            continue;
        double *to = sums_of(row, aggregate, m);
        const double *t = s->level->modes + (int64_t)j * m;
        int64_t n = coarse_count(s, aggregate);
        for (int64_t r = 0; r < n; ++r)
            to[r] += A->values[k] * t[r];
    }
    return diagonal;
}

static void sort_row(sparse_row *row) {
    for (int64_t k = 0; k < row->n; ++k) {
        int64_t at = k;
        for (; at > 0 && row->aggregates[row->order[at - 1]] > row->aggregates[k]; --at)
            row->order[at] = row->order[at - 1];
        row->order[at] = (int32_t)k;
    }
}

/* Row i of A_F T becomes row i of P. A diagonal that lumping has reduced much, or to nothing, is
 * limited: rows of A_F still add up to those of A. */
static void smooth_row(const smoothing *s, int64_t i, double diagonal, sparse_row *row) {
    const int m = s->level->n_modes;
    const double *t = s->level->modes + i * m;
    int32_t own = s->aggregates->of[weft_row_node(s->level, (int32_t)i)];
    double full = 1 / (s->level->scale[i] * s->level->scale[i]);
    double omega = -OMEGA / s->level->lambda / (diagonal > full / 4 ? diagonal : full / 4);
    for (int64_t k = 0; k < row->n * m; ++k)
        row->sums[k] *= omega;
    for (int64_t r = 0; own >= 0 && r < coarse_count(s, own); ++r)
        row->sums[r] += t[r] + omega * diagonal * t[r]; /* the first aggregate is the row's own */
}

/* The entry other than the first one with the smallest values. */
static int64_t smallest_entry(const sparse_row *row, int n_modes) {
    int64_t smallest = 0;
    double least = 0;
    for (int64_t k = 1; k < row->n; ++k) {
        double size = 0;
        for (int r = 0; r < n_modes; ++r)
            size += row->sums[k * n_modes + r] * row->sums[k * n_modes + r];
        if (smallest == 0 || size < least) {
            smallest = k;
            least = size;
        }
    }
    return smallest;
}

/* Remove the smallest entries of a row p of P. What the row interpolates, p R, remains: the first
 * aggregate, whose R is in echelon form, gets x with x R = what was removed. */
static void truncate_row(const smoothing *s, sparse_row *row) {
    const int m = s->level->n_modes;
    double removed[WEFT_MOST_MODES] = {0};
    if (row->n <= s->level->row_aggregates)
        return;
    while (row->n > s->level->row_aggregates) {
        int64_t k = smallest_entry(row, m), first = weft_node_row(s->coarse, row->aggregates[k]);
        for (int64_t r = 0; r < coarse_count(s, row->aggregates[k]); ++r)
            for (int b = 0; b < m; ++b)
                removed[b] += row->sums[k * m + r] * s->coarse->modes[(first + r) * m + b];
        --row->n;
        row->aggregates[k] = row->aggregates[row->n];
        memcpy(row->sums + k * m, row->sums + row->n * m, (size_t)m * sizeof *row->sums);
    }
    const double *R = s->coarse->modes + weft_node_row(s->coarse, row->aggregates[0]) * m;
    for (int64_t r = 0; r < coarse_count(s, row->aggregates[0]); ++r, R += m) {
        int pivot = 0;
        while (R[pivot] == 0)
            ++pivot;
        double x = removed[pivot] / R[pivot];
        for (int b = pivot; b < m; ++b)
            removed[b] -= x * R[b];
        row->sums[r] += x;
    }
}

static void append_row(const smoothing *s, sparse_row *row, weft_csr_chunk *chunk) {
    const int m = s->level->n_modes;
    sort_row(row);
    for (int64_t k = 0; k < row->n; ++k) {
        int64_t at = row->order[k], first = weft_node_row(s->coarse, row->aggregates[at]);
        int64_t n = coarse_count(s, row->aggregates[at]);
        for (int64_t r = 0; r < n; ++r) {
            chunk->columns[chunk->n] = (int32_t)(first + r);
            chunk->values[chunk->n++] = row->sums[at * m + r];
        }
    }
}

static bool fill_row(const smoothing *s, int64_t i, sparse_row *row, weft_csr_chunk *chunk) {
    int64_t before = chunk->n;
    if (s->level->scale[i] != 0) {
        double diagonal = add_row(s, weft_row_node(s->level, (int32_t)i), i, row);
        smooth_row(s, i, diagonal, row);
        truncate_row(s, row);
        if (!weft_csr_chunk_reserve(chunk, row->n * s->level->n_modes))
            return false;
        append_row(s, row, chunk);
    }
    chunk->lengths[i - chunk->first] = chunk->n - before;
    return true;
}

static bool fill_prolongation(const void *user, weft_csr_chunk *chunk) {
    const smoothing *s = user;
    const int64_t *row_start = s->level->A->row_start;
    sparse_row row = {.n = 0};
    size_t most = 0;
    bool done = false;
    for (int64_t i = chunk->first; i < chunk->last; ++i) {
        size_t n = (size_t)(row_start[i + 1] - row_start[i]) + 1;
        most = n > most ? n : most;
    }
    row.aggregates = malloc(most * sizeof *row.aggregates);
    row.order = malloc(most * sizeof *row.order);
    row.sums = malloc(most * (size_t)s->level->n_modes * sizeof *row.sums);
    if (!row.aggregates || !row.order || !row.sums)
        goto done;
    for (int64_t i = chunk->first; i < chunk->last; ++i)
        if (!fill_row(s, i, &row, chunk))
            goto done;
    done = true;
done:
    free(row.aggregates);
    free(row.order);
    free(row.sums);
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
