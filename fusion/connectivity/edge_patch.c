/* The edge stars of one patch: local numbers, a cover, rows of lanes that never give to the same
 * node at the same time, words. */
#include "fusion/connectivity/edge_patches.h"

#include <stdlib.h>
#include <string.h>

enum {
    LANES = WEFT_STAR_LANES,
    VERTICES = WEFT_EDGE_STAR_CELLS + 3,
    TIMES = WEFT_EDGE_STAR_CELLS / 2 + 2, /* when lanes give: ring vertices in pairs; a and b */
    LOOK_AHEAD = 256,                     /* stars that are tried for a place in a row */
    CHOICES = 8,                          /* that fit, the best of which is taken */
    READ_LANES = 8,                       /* lanes whose wide loads go together, and their banks */
    GIVE_LANES = 16,                      /* the same of what a star gives */
    EMPTY = -1
};

typedef struct edge_row {
    int32_t stars[LANES]; /* EMPTY: none */
    int n_cells;          /* of its longest star, the first */
} edge_row;

/* What the lanes so far read of each vertex, and give to it, by bank of shared memory. */
typedef struct bank_use {
    uint8_t reads[VERTICES][READ_LANES], gives[VERTICES][GIVE_LANES];
} bank_use;

typedef struct edge_work {
    const weft_patch_source *source;
    weft_edge_star_scratch *scratch;
    int n_cells, n_rows;
    int32_t *local;
    edge_row *rows;
    int32_t *next;  /* [n_stars + 1] the next star without a row; [n_stars] is the first */
    int32_t *given; /* [TIMES][nodes] the last row that gives to a node then */
} edge_work;

static void work_free(edge_work *work) {
    free(work->local);
    free(work->rows);
    free(work->next);
    free(work->given);
}

static weft_status no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the edge stars of a patch");
}

static weft_status check_cells(const edge_work *work, weft_error *error) {
    for (int c = 0; c < work->n_cells; ++c)
        for (int k = 0; k < 4; ++k)
            for (int m = k + 1; m < 4; ++m)
                if (work->local[4 * c + k] == work->local[4 * c + m])
                    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                          "a cell has the same vertex twice: no edge stars");
    return WEFT_OK;
}

/* ---- rows ---- */

/* The place in `given` of what the star gives to its v-th vertex (a, b, then the ring), NULL where
 * that is not the patch's to know. */
static int32_t *place_given(const edge_work *work, const weft_edge_star *star, int v) {
    const int nodes = work->source->nodes;
    const int32_t node = v < 2 ? star->ends[v] : work->scratch->ring[star->at + v - 2];
    const int time = v < 2 ? TIMES - 1 : (v - 2) / 2;
    return node < nodes ? &work->given[time * nodes + node] : NULL;
}

static bool fits(const edge_work *work, const weft_edge_star *star) {
    for (int v = 0; v < star->n_cells + 3; ++v) {
        const int32_t *row = place_given(work, star, v);
        if (row && *row == work->n_rows)
            return false;
    }
    return true;
}

static int32_t star_vertex(const edge_work *work, const weft_edge_star *star, int v) {
    return v < 2 ? star->ends[v] : work->scratch->ring[star->at + v - 2];
}

/* How often the star would go to a bank that is in use. */
static int count_conflicts(const edge_work *work, const weft_edge_star *star, const bank_use *use) {
    int n = 0;
    for (int v = 0; v < star->n_cells + 3; ++v) {
        const int32_t node = star_vertex(work, star, v);
        n += 2 * use->reads[v][node % READ_LANES];
        if (node < work->source->nodes)
            n += use->gives[v][node % GIVE_LANES];
    }
    return n;
}

static void use_banks(const edge_work *work, const weft_edge_star *star, int lane, bank_use *use) {
    for (int v = 0; v < star->n_cells + 3; ++v) {
        const int32_t node = star_vertex(work, star, v);
        ++use->reads[v][node % READ_LANES];
        if (node < work->source->nodes)
            ++use->gives[v][node % GIVE_LANES];
    }
    if (lane % READ_LANES == READ_LANES - 1)
        memset(use->reads, 0, sizeof use->reads);
    if (lane % GIVE_LANES == GIVE_LANES - 1)
        memset(use->gives, 0, sizeof use->gives);
}

static void reverse_ring(const edge_work *work, weft_edge_star *star) {
    const int n = star->n_cells;
    int32_t *ring = work->scratch->ring + star->at, *cells = work->scratch->cells + star->at;
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

static void turn_star(const edge_work *work, weft_edge_star *star, int turn) {
    if (turn % 2 == 0) {
        const int32_t kept = star->ends[0];
        star->ends[0] = star->ends[1];
        star->ends[1] = kept;
    } else {
        reverse_ring(work, star);
    }
}

/* As it stands, with its ends exchanged, or round the other way: the best, and its conflicts; -1:
 * it does not fit. */
static int try_star(const edge_work *work, weft_edge_star *star, const bank_use *use) {
    int least = -1, best = 0;
    for (int turn = 0; turn < 4; ++turn) { /* four turns and it stands as before */
        const int n = fits(work, star) ? count_conflicts(work, star, use) : -1;
        if (n >= 0 && (least < 0 || n < least)) {
            least = n;
            best = turn;
        }
        turn_star(work, star, turn);
    }
    for (int turn = 0; turn < best; ++turn)
        turn_star(work, star, turn);
    return least;
}

/* The link to the star that fits best of the next ones of equal length, NULL: none fits. */
static int32_t *choose_star(const edge_work *work, const bank_use *use) {
    weft_edge_star_scratch *s = work->scratch;
    int32_t *best = NULL;
    int least = 0, length = 0, looked = 0, found = 0;
    for (int32_t *link = &work->next[s->n_stars]; *link != EMPTY; link = &work->next[*link]) {
        weft_edge_star *star = &s->stars[*link];
        if (++looked > LOOK_AHEAD || (best && star->n_cells < length))
            break;
        const int conflicts = try_star(work, star, use);
        if (conflicts < 0)
            continue;
        if (!best || conflicts < least) {
            best = link;
            least = conflicts;
            length = star->n_cells;
        }
        if (least == 0 || ++found == CHOICES)
            break;
    }
    return best;
}

static void fill_row(edge_work *work) {
    weft_edge_star_scratch *s = work->scratch;
    edge_row *row = &work->rows[work->n_rows];
    bank_use use = {0};
    int n = 0;
    row->n_cells = s->stars[work->next[s->n_stars]].n_cells;
    for (int32_t *link; n < LANES && (link = choose_star(work, &use)) != NULL; ++n) {
        const weft_edge_star *star = &s->stars[*link];
        for (int v = 0; v < star->n_cells + 3; ++v) {
            int32_t *given = place_given(work, star, v);
            if (given)
                *given = work->n_rows;
        }
        use_banks(work, star, n, &use);
        row->stars[n] = *link;
        *link = work->next[*link];
    }
    while (n < LANES)
        row->stars[n++] = EMPTY;
    ++work->n_rows;
}

static weft_status make_rows(edge_work *work, weft_error *error) {
    const int n_stars = work->scratch->n_stars;
    const size_t n_given = (size_t)TIMES * (size_t)work->source->nodes;
    work->rows = malloc(((size_t)n_stars + 1) * sizeof *work->rows);
    work->next = malloc(((size_t)n_stars + 1) * sizeof *work->next);
    work->given = malloc(n_given * sizeof *work->given);
    if (!work->rows || !work->next || !work->given)
        return no_memory(error);
    memset(work->given, 0xff, n_given * sizeof *work->given);
    for (int i = 0; i < n_stars; ++i)
        work->next[i] = i + 1 < n_stars ? i + 1 : EMPTY;
    work->next[n_stars] = n_stars > 0 ? 0 : EMPTY;
    while (work->next[n_stars] != EMPTY)
        fill_row(work);
    return WEFT_OK;
}

/* ---- words ---- */

static int count_pairs(const edge_row *row) {
    return 1 + (row->n_cells + 2) / 2;
}

/* Rows go to warps to and fro, as they come shorter and shorter. */
static int row_warp(int row, int n_warps) {
    const int place = row % n_warps;
    return row / n_warps % 2 ? n_warps - 1 - place : place;
}

static weft_status size_warps(const edge_work *work, weft_patch *out, weft_error *error) {
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

/* Word i of a row's lane: its flags and vertex. */
static uint16_t lane_word(const edge_work *work, const edge_row *row, int lane, int i) {
    const weft_edge_star_scratch *s = work->scratch;
    const int last = i - 2 >= row->n_cells ? EDGE_LAST : 0;
    if (row->stars[lane] == EMPTY)
        return (uint16_t)(EDGE_SKIP | last);
    const weft_edge_star *star = &s->stars[row->stars[lane]];
    if (i < 2)
        return (uint16_t)star->ends[i];
    const int end = star->at + star->n_cells;
    return (uint16_t)(star->at + i - 2 <= end ? s->ring[star->at + i - 2] | last
                                              : s->ring[end] | EDGE_SKIP | last);
}

/* The cell that it completes, or the star's nearest. */
static int32_t lane_cell(const edge_work *work, const edge_row *row, int lane, int i) {
    if (row->stars[lane] == EMPTY)
        return 0;
    const weft_edge_star *star = &work->scratch->stars[row->stars[lane]];
    int k = i - 3;
    k = k < 0 ? 0 : k >= star->n_cells ? star->n_cells - 1 : k;
    return work->scratch->cells[star->at + k];
}

static void write_row(const edge_work *work, const edge_row *row, int32_t first_pair,
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

static weft_status write_words(const edge_work *work, const int32_t *numbers, weft_patch *out,
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
    edge_work work = {.source = source,
                      .scratch = &scratch->edge,
                      .n_cells = (int)(source->start[patch + 1] - source->start[patch])};
    TRY(weft_patch_local(source, patch, &work.local, &made.halo, &made.n_halo, error));
    TRY(check_cells(&work, error));
    if (!weft_edge_stars_cover(work.scratch, work.local, work.n_cells, source->nodes + made.n_halo))
        TRY(no_memory(error));
    TRY(make_rows(&work, error));
    TRY(size_warps(&work, &made, error));
    TRY(write_words(&work, source->list + source->start[patch], &made, error));
    *out = made;
    made = (weft_patch){0};
done:
    weft_patch_free(&made);
    work_free(&work);
    return status;
}
