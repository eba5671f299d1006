/* Covers the cells of a patch by edge rings, greedily taking the longest remaining ring.
 *
 * Edges wait in buckets by an upper bound of their longest ring; an edge whose longest ring turns
 * out shorter moves to that bucket. */
#include "fusion/connectivity/edge_patches.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND_MOST = 64 /* maximum number of uncovered cells considered per edge */ };

void weft_edge_ring_scratch_free(weft_edge_ring_scratch *s) {
    free(s->rings);
    free(s->ring);
    free(s->cells);
    free(s->first);
    free(s->second);
    free(s->start);
    free(s->round);
    free(s->corner_start);
    free(s->corners);
    free(s->edge_to);
    free(s->waiting);
    free(s->covered);
    *s = (weft_edge_ring_scratch){0};
}

static bool scratch_grow(weft_edge_ring_scratch *s, int n_cells, int n_local) {
    if (n_cells <= s->capacity_cells && n_local <= s->capacity_local)
        return true;
    weft_edge_ring_scratch_free(s);
    const size_t cells = 2 * (size_t)n_cells + 1, local = 2 * (size_t)n_local + 1;
    const size_t edges = 6 * cells;
    s->rings = malloc(cells * sizeof *s->rings);
    s->ring = malloc(2 * cells * sizeof *s->ring);
    s->cells = malloc(2 * cells * sizeof *s->cells);
    s->first = malloc(edges * sizeof *s->first);
    s->second = malloc(edges * sizeof *s->second);
    s->start = malloc((edges + 1) * sizeof *s->start);
    s->round = malloc(edges * sizeof *s->round);
    s->corner_start = malloc((local + 1) * sizeof *s->corner_start);
    s->corners = malloc(4 * cells * sizeof *s->corners);
    s->edge_to = malloc(local * sizeof *s->edge_to);
    s->waiting = malloc(edges * sizeof *s->waiting);
    s->covered = malloc(cells);
    if (!s->rings || !s->ring || !s->cells || !s->first || !s->second || !s->start || !s->round ||
        !s->corner_start || !s->corners || !s->edge_to || !s->waiting || !s->covered) {
        weft_edge_ring_scratch_free(s);
        return false;
    }
    s->capacity_cells = (int)cells;
    s->capacity_local = (int)local;
    return true;
}

/* ---- edges ---- */

static void list_corners(weft_edge_ring_scratch *s, const int32_t *local, int n_cells,
                         int n_local) {
    int32_t *const end = s->corner_start + 1; /* fill positions; finally the starts */
    memset(s->corner_start, 0, ((size_t)n_local + 1) * sizeof *s->corner_start);
    for (int i = 0; i < 4 * n_cells; ++i)
        ++end[local[i]];
    int32_t sum = 0;
    for (int i = 0; i < n_local; ++i) {
        const int32_t count = end[i];
        end[i] = sum;
        sum += count;
    }
    for (int i = 0; i < 4 * n_cells; ++i)
        s->corners[end[local[i]]++] = i / 4;
}

/* Append the edges from node a to nodes of higher number, each with its cells. */
static void list_edges(weft_edge_ring_scratch *s, const int32_t *local, int32_t a) {
    const int first = s->n_edges;
    const int32_t *const begin = s->corners + s->corner_start[a];
    const int32_t *const end = s->corners + s->corner_start[a + 1];
    for (const int32_t *cell = begin; cell < end; ++cell)
        for (int k = 0; k < 4; ++k) {
            const int32_t b = local[4 * *cell + k];
            if (b <= a)
                continue;
            if (s->edge_to[b] < first) {
                s->edge_to[b] = s->n_edges;
                s->first[s->n_edges] = a;
                s->second[s->n_edges] = b;
                s->start[++s->n_edges] = 0;
            }
            ++s->start[s->edge_to[b] + 1];
        }
    for (int e = first; e < s->n_edges; ++e)
        s->start[e + 1] += s->start[e];
    const int32_t last = s->start[s->n_edges];
    for (const int32_t *cell = end; cell-- > begin;)
        for (int k = 0; k < 4; ++k) {
            const int32_t b = local[4 * *cell + k];
            if (b > a)
                s->round[--s->start[s->edge_to[b] + 1]] = *cell;
        }
    for (int e = first; e < s->n_edges; ++e) /* start[e + 1] has been decremented to e's start */
        s->start[e] = s->start[e + 1];
    s->start[s->n_edges] = last;
}

/* ---- the longest edge ring of an edge ---- */

typedef struct round_cell {
    int32_t q, r, cell; /* q, r: the two vertices that are not on the edge */
} round_cell;

typedef struct chain {
    int n;
    int32_t ring[WEFT_EDGE_RING_CELLS + 1], cells[WEFT_EDGE_RING_CELLS];
} chain;

static int list_round(const weft_edge_ring_scratch *s, const int32_t *local, int edge,
                      round_cell *out) {
    const int32_t a = s->first[edge], b = s->second[edge];
    int n = 0;
    for (int i = s->start[edge]; i < s->start[edge + 1] && n < ROUND_MOST; ++i) {
        const int32_t cell = s->round[i], *v = local + 4 * (size_t)cell;
        int32_t others[4];
        int n_others = 0;
        if (s->covered[cell])
            continue;
        for (int k = 0; k < 4; ++k)
            if (v[k] != a && v[k] != b)
                others[n_others++] = v[k];
        out[n++] = (round_cell){others[0], others[1], cell};
    }
    return n;
}

/* The first unused cell that contains the vertex; -1: none. */
static int cell_with(const round_cell *cells, int n, uint64_t used, int32_t vertex) {
    for (int i = 0; i < n; ++i)
        if (!(used >> i & 1) && (cells[i].q == vertex || cells[i].r == vertex))
            return i;
    return -1;
}

static void walk(const round_cell *cells, int n, uint64_t *used, int start, int32_t end,
                 chain *out) {
    out->n = 0;
    out->ring[0] = end;
    for (int i = start; i >= 0 && out->n < WEFT_EDGE_RING_CELLS;
         i = cell_with(cells, n, *used, end)) {
        *used |= (uint64_t)1 << i;
        end = cells[i].q == end ? cells[i].r : cells[i].q;
        out->cells[out->n++] = cells[i].cell;
        out->ring[out->n] = end;
    }
}

/* Find the longest chain of uncovered cells round an edge: open chains from their ends first, then
 * closed ones. Returns the number of uncovered cells at the edge. */
static int find_patch(const weft_edge_ring_scratch *s, const int32_t *local, int edge,
                      chain *best) {
    round_cell cells[ROUND_MOST];
    const int n = list_round(s, local, edge, cells);
    uint64_t used = 0;
    chain one;
    best->n = 0;
    for (int closed = 0; closed < 2; ++closed)
        for (int i = 0; i < n; ++i) {
            if (used >> i & 1)
                continue;
            const uint64_t with_i = used | (uint64_t)1 << i;
            int32_t end = cells[i].q;
            if (!closed && cell_with(cells, n, with_i, end) >= 0) {
                end = cells[i].r;
                if (cell_with(cells, n, with_i, end) >= 0)
                    continue;
            }
            walk(cells, n, &used, i, end, &one);
            if (one.n > best->n)
                *best = one;
            if (best->n == WEFT_EDGE_RING_CELLS)
                return n;
        }
    return n;
}

/* ---- the cover ---- */

static void take(weft_edge_ring_scratch *s, int edge, const chain *found) {
    s->rings[s->n_rings++] =
        (weft_edge_ring){{s->first[edge], s->second[edge]}, s->n_ring, found->n};
    for (int k = 0; k < found->n; ++k) {
        s->covered[found->cells[k]] = 1;
        s->cells[s->n_ring] = found->cells[k];
        s->ring[s->n_ring++] = found->ring[k];
    }
    s->cells[s->n_ring] = found->cells[found->n - 1];
    s->ring[s->n_ring++] = found->ring[found->n];
}

/* Put an edge in the bucket of the upper bound `length` of its longest ring. */
static void wait_in(int32_t *bucket, weft_edge_ring_scratch *s, int edge, int length) {
    if (length > WEFT_EDGE_RING_CELLS)
        length = WEFT_EDGE_RING_CELLS;
    if (length > 0) {
        s->waiting[edge] = bucket[length];
        bucket[length] = edge;
    }
}

bool weft_edge_rings_cover(weft_edge_ring_scratch *scratch, const int32_t *local, int n_cells,
                           int n_local) {
    int32_t bucket[WEFT_EDGE_RING_CELLS + 1]; /* first waiting edge, -1: none */
    chain found;
    if (!scratch_grow(scratch, n_cells, n_local))
        return false;
    weft_edge_ring_scratch *s = scratch;
    s->n_edges = s->n_rings = s->n_ring = 0;
    s->start[0] = 0;
    memset(s->covered, 0, (size_t)n_cells);
    list_corners(s, local, n_cells, n_local);
    for (int i = 0; i < n_local; ++i)
        s->edge_to[i] = -1;
    for (int i = 0; i < n_local; ++i)
        list_edges(s, local, i);
    for (int length = 0; length <= WEFT_EDGE_RING_CELLS; ++length)
        bucket[length] = -1;
    for (int edge = s->n_edges - 1; edge >= 0; --edge)
        wait_in(bucket, s, edge, s->start[edge + 1] - s->start[edge]);
    for (int length = WEFT_EDGE_RING_CELLS; length > 0; --length)
        for (int edge; (edge = bucket[length]) >= 0;) {
            bucket[length] = s->waiting[edge];
            const int left = find_patch(s, local, edge, &found);
            if (found.n == length) {
                take(s, edge, &found);
                wait_in(bucket, s, edge, left - length < length ? left - length : length);
            } else {
                wait_in(bucket, s, edge, found.n);
            }
        }
    return true;
}
