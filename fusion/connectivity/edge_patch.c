/* Makes one edge patch: covers its cells by edge rings, forms rows and writes the words. */
#include "fusion/connectivity/edge_patches.h"

#include <stdlib.h>
#include <string.h>

enum {
    LANES = WEFT_PATCH_LANES,
    VERTICES = WEFT_EDGE_RING_CELLS + 3,
    TIMES = WEFT_EDGE_RING_CELLS / 2 + 2, /* steps of accumulation: pairs of ring vertices; a, b */
    LOOK_AHEAD = 256,                     /* maximum number of rings tried for a lane of a row */
    CHOICES = 8,                          /* fitting rings to compare before taking the best */
    READ_LANES = 8,                       /* lanes per transaction of a wide load; also its banks */
    GIVE_LANES = 16,                      /* the same for accumulation */
    EMPTY = -1
};

typedef struct edge_row {
    int32_t rings[LANES]; /* EMPTY: none */
    int n_cells;          /* cells of rings[0], the longest */
} edge_row;

/* Shared-memory accesses of the lanes filled so far, per ring vertex and bank. */
typedef struct bank_use {
    uint8_t reads[VERTICES][READ_LANES], gives[VERTICES][GIVE_LANES];
} bank_use;

typedef struct symmetric_work {
    const weft_patch_source *source;
    weft_edge_ring_scratch *scratch;
    int n_cells, n_rows;
    int32_t *local;
    edge_row *rows;
    int32_t *next;  /* [n_rings + 1] linked list of the rings without a row; head: [n_rings] */
    int32_t *given; /* [TIMES][nodes] the last row that adds to a node in this step */
} symmetric_work;

static void work_free(symmetric_work *work) {
    free(work->local);
    free(work->rows);
    free(work->next);
    free(work->given);
}

static weft_status no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the edge rings of a patch");
}

static weft_status check_cells(const symmetric_work *work, weft_error *error) {
    for (int c = 0; c < work->n_cells; ++c)
        for (int k = 0; k < 4; ++k)
            for (int m = k + 1; m < 4; ++m)
                if (work->local[4 * c + k] == work->local[4 * c + m])
                    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                          "a cell has the same vertex twice: no edge rings");
    return WEFT_OK;
}

/* ---- rows ---- */

/* The entry of `given` for the ring's v-th vertex (a, b, then the ring vertices); NULL: a halo
 * node, whose contribution is dropped. */
static int32_t *place_given(const symmetric_work *work, const weft_edge_ring *edge_ring, int v) {
    const int nodes = work->source->nodes;
    const int32_t node = v < 2 ? edge_ring->ends[v] : work->scratch->ring[edge_ring->at + v - 2];
    const int time = v < 2 ? TIMES - 1 : (v - 2) / 2;
    return node < nodes ? &work->given[time * nodes + node] : NULL;
}

static bool fits(const symmetric_work *work, const weft_edge_ring *edge_ring) {
    for (int v = 0; v < edge_ring->n_cells + 3; ++v) {
        const int32_t *row = place_given(work, edge_ring, v);
        if (row && *row == work->n_rows)
            return false;
    }
    return true;
}

static int32_t patch_vertex(const symmetric_work *work, const weft_edge_ring *edge_ring, int v) {
    return v < 2 ? edge_ring->ends[v] : work->scratch->ring[edge_ring->at + v - 2];
}

/* Bank conflicts that the ring would add; reads count double. */
static int count_conflicts(const symmetric_work *work, const weft_edge_ring *edge_ring,
                           const bank_use *use) {
    int n = 0;
    for (int v = 0; v < edge_ring->n_cells + 3; ++v) {
        const int32_t node = patch_vertex(work, edge_ring, v);
        n += 2 * use->reads[v][node % READ_LANES];
        if (node < work->source->nodes)
            n += use->gives[v][node % GIVE_LANES];
    }
    return n;
}

static void use_banks(const symmetric_work *work, const weft_edge_ring *edge_ring, int lane,
                      bank_use *use) {
    for (int v = 0; v < edge_ring->n_cells + 3; ++v) {
        const int32_t node = patch_vertex(work, edge_ring, v);
        ++use->reads[v][node % READ_LANES];
        if (node < work->source->nodes)
            ++use->gives[v][node % GIVE_LANES];
    }
    if (lane % READ_LANES == READ_LANES - 1)
        memset(use->reads, 0, sizeof use->reads);
    if (lane % GIVE_LANES == GIVE_LANES - 1)
        memset(use->gives, 0, sizeof use->gives);
}

static void reverse_ring(const symmetric_work *work, weft_edge_ring *edge_ring) {
    const int n = edge_ring->n_cells;
    int32_t *ring = work->scratch->ring + edge_ring->at,
            *cells = work->scratch->cells + edge_ring->at;
    for (int i = 0; i < n - i; ++i) {
        const int32_t kept = ring[i];
        ring[i] = ring[n - i];
        ring[n - i] = kept;
    }
    for (int i = 0; i < n - 1 - i; ++i) {
        const int32_t kept = cells[i];
        cells[i] = cells[n - 1 - i];
        cells[n - 1 - i] = kept;
    }
}

static void rotate_patch(const symmetric_work *work, weft_edge_ring *edge_ring, int iteration) {
    if (iteration % 2 == 0) {
        const int32_t kept = edge_ring->ends[0];
        edge_ring->ends[0] = edge_ring->ends[1];
        edge_ring->ends[1] = kept;
    } else {
        reverse_ring(work, edge_ring);
    }
}

/* Try the ring with its ends exchanged, reversed, or both, and leave it in the orientation with the
 * fewest conflicts. Returns their number; -1: no orientation fits. */
static int try_patch(const symmetric_work *work, weft_edge_ring *edge_ring, const bank_use *use) {
    int least = -1, best = 0;
    for (int iteration = 0; iteration < 4; ++iteration) { /* four steps restore the orientation */
        const int n = fits(work, edge_ring) ? count_conflicts(work, edge_ring, use) : -1;
        if (n >= 0 && (least < 0 || n < least)) {
            least = n;
            best = iteration;
        }
        rotate_patch(work, edge_ring, iteration);
    }
    for (int iteration = 0; iteration < best; ++iteration)
        rotate_patch(work, edge_ring, iteration);
    return least;
}

/* The link to the fitting ring with the fewest conflicts: the first that fits and those after it of
 * the same length. NULL: none fits. */
static int32_t *choose_patch(const symmetric_work *work, const bank_use *use) {
    weft_edge_ring_scratch *s = work->scratch;
    int32_t *best = NULL;
    int least = 0, length = 0, looked = 0, found = 0;
    for (int32_t *link = &work->next[s->n_rings]; *link != EMPTY; link = &work->next[*link]) {
        weft_edge_ring *edge_ring = &s->rings[*link];
        if (++looked > LOOK_AHEAD || (best && edge_ring->n_cells < length))
            break;
        const int conflicts = try_patch(work, edge_ring, use);
        if (conflicts < 0)
            continue;
        if (!best || conflicts < least) {
            best = link;
            least = conflicts;
            length = edge_ring->n_cells;
        }
        if (least == 0 || ++found == CHOICES)
            break;
    }
    return best;
}

static void fill_row(symmetric_work *work) {
    weft_edge_ring_scratch *s = work->scratch;
    edge_row *row = &work->rows[work->n_rows];
    bank_use use = {0};
    int n = 0;
    row->n_cells = s->rings[work->next[s->n_rings]].n_cells;
    for (int32_t *link; n < LANES && (link = choose_patch(work, &use)); ++n) {
        const weft_edge_ring *edge_ring = &s->rings[*link];
        for (int v = 0; v < edge_ring->n_cells + 3; ++v) {
            int32_t *given = place_given(work, edge_ring, v);
            if (given)
                *given = work->n_rows;
        }
        use_banks(work, edge_ring, n, &use);
        row->rings[n] = *link;
        *link = work->next[*link];
    }
    while (n < LANES)
        row->rings[n++] = EMPTY;
    ++work->n_rows;
}

static weft_status make_rows(symmetric_work *work, weft_error *error) {
    const int n_rings = work->scratch->n_rings;
    const size_t n_given = (size_t)TIMES * (size_t)work->source->nodes;
    work->rows = malloc(((size_t)n_rings + 1) * sizeof *work->rows);
    work->next = malloc(((size_t)n_rings + 1) * sizeof *work->next);
    work->given = malloc(n_given * sizeof *work->given);
    if (!work->rows || !work->next || !work->given)
        return no_memory(error);
    memset(work->given, 0xff, n_given * sizeof *work->given);
    for (int i = 0; i < n_rings; ++i)
        work->next[i] = i + 1 < n_rings ? i + 1 : EMPTY;
    work->next[n_rings] = n_rings > 0 ? 0 : EMPTY;
    while (work->next[n_rings] != EMPTY)
        fill_row(work);
    return WEFT_OK;
}

/* ---- words ---- */

static int count_pairs(const edge_row *row) {
    return 1 + (row->n_cells + 2) / 2;
}

/* Rows are dealt to warps in serpentine order to balance their work, since rows get shorter. */
static int row_warp(int row, int n_warps) {
    const int place = row % n_warps;
    return row / n_warps % 2 ? n_warps - 1 - place : place;
}

static weft_status size_threads(const symmetric_work *work, weft_patch *out, weft_error *error) {
    const int n_warps = work->source->n_warps;
    out->rows = calloc(2 * (size_t)n_warps, sizeof *out->rows);
    if (!out->rows)
        return no_memory(error);
    for (int w = 0; w < n_warps; ++w) {
        out->rows[2 * w] = (uint32_t)out->n_units;
        for (int r = 0; r < work->n_rows; ++r)
            if (row_warp(r, n_warps) == w) {
                ++out->rows[2 * w + 1];
                out->n_units += count_pairs(&work->rows[r]);
            }
    }
    return WEFT_OK;
}

/* Word i of a lane of a row. */
static uint16_t lane_word(const symmetric_work *work, const edge_row *row, int lane, int i) {
    const weft_edge_ring_scratch *s = work->scratch;
    const int last = i - 2 >= row->n_cells ? EDGE_LAST : 0;
    if (row->rings[lane] == EMPTY)
        return (uint16_t)(EDGE_SKIP | last);
    const weft_edge_ring *edge_ring = &s->rings[row->rings[lane]];
    if (i < 2)
        return (uint16_t)edge_ring->ends[i];
    const int end = edge_ring->at + edge_ring->n_cells;
    return (uint16_t)(edge_ring->at + i - 2 <= end ? s->ring[edge_ring->at + i - 2] | last
                                                   : s->ring[end] | EDGE_SKIP | last);
}

/* The cell that word i completes, or the nearest cell of the ring. */
static int32_t lane_cell(const symmetric_work *work, const edge_row *row, int lane, int i) {
    if (row->rings[lane] == EMPTY)
        return 0;
    const weft_edge_ring *edge_ring = &work->scratch->rings[row->rings[lane]];
    int k = i - 3;
    k = k < 0 ? 0 : k >= edge_ring->n_cells ? edge_ring->n_cells - 1 : k;
    return work->scratch->cells[edge_ring->at + k];
}

static void write_row(const symmetric_work *work, const edge_row *row, int32_t first_pair,
                      const int32_t *numbers, weft_patch *out) {
    for (int i = 0; i < 2 * count_pairs(row); ++i)
        for (int lane = 0; lane < LANES; ++lane) {
            const size_t pair = (size_t)(first_pair + i / 2);
            out->words[(pair * LANES + (size_t)lane) * 2 + (size_t)(i % 2)] =
                lane_word(work, row, lane, i);
            if (out->cells)
                out->cells[(pair * 2 + (size_t)(i % 2)) * LANES + (size_t)lane] =
                    numbers[lane_cell(work, row, lane, i)];
        }
}

static weft_status write_words(const symmetric_work *work, const int32_t *numbers, weft_patch *out,
                               weft_error *error) {
    const size_t n_words = (size_t)out->n_units * 2 * LANES;
    const int n_warps = work->source->n_warps;
    out->words = malloc((n_words + 1) * sizeof *out->words);
    if (work->source->with_cells)
        out->cells = malloc((n_words + 1) * sizeof *out->cells);
    if (!out->words || (work->source->with_cells && !out->cells))
        return no_memory(error);
    int32_t pair = 0;
    for (int w = 0; w < n_warps; ++w)
        for (int r = 0; r < work->n_rows; ++r)
            if (row_warp(r, n_warps) == w) {
                write_row(work, &work->rows[r], pair, numbers, out);
                pair += count_pairs(&work->rows[r]);
            }
    return WEFT_OK;
}

weft_status weft_edge_patch_make(const weft_patch_source *source, int64_t patch,
                                 weft_patch_scratch *scratch, weft_patch *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_patch made = {0};
    symmetric_work work = {.source = source,
                           .scratch = &scratch->edge,
                           .n_cells = (int)(source->start[patch + 1] - source->start[patch])};
    TRY(weft_patch_local(source, patch, &work.local, &made.halo, &made.n_halo, error));
    TRY(check_cells(&work, error));
    if (!weft_edge_rings_cover(work.scratch, work.local, work.n_cells, source->nodes + made.n_halo))
        TRY(no_memory(error));
    TRY(make_rows(&work, error));
    TRY(size_threads(&work, &made, error));
    TRY(write_words(&work, source->list + source->start[patch], &made, error));
    *out = made;
    made = (weft_patch){0};
done:
    weft_patch_free(&made);
    work_free(&work);
    return status;
}
