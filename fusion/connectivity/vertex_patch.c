/* Makes one vertex patch: orders the ring of each own node and writes the words, row by row. */
#include "fusion/connectivity/edge_patches.h"

#include <stdlib.h>
#include <string.h>

/* first_vertex[width - 3][l]: the even permutation that brings local vertex l to the front. */
static const int first_vertex[2][4][4] = {{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}},
                                          {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 0, 1, 3}, {3, 0, 2, 1}}};

typedef struct patch_work {
    const weft_patch_source *source;
    int64_t first;
    int n_cells, n_corners;
    const int32_t *cells;  /* [n_cells] global numbers */
    int32_t *local;        /* [n_cells][width] */
    int32_t *corner_start; /* [nodes + 1] */
    int32_t *corners;      /* [n_corners] index in local */
    weft_vertex_walk_link *links;
    uint16_t *words; /* of all rings, concatenated */
    int32_t *word_cells, *word_start;
} patch_work;

static void work_free(patch_work *work) {
    free(work->local);
    free(work->corner_start);
    free(work->corners);
    free(work->links);
    free(work->words);
    free(work->word_cells);
    free(work->word_start);
}

static weft_status no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the rings of a patch");
}

int weft_patch_walks(int nodes) {
    return nodes >= 512 ? WEFT_PATCH_WALKS_MAX : nodes >= 256 ? 2 : 1;
}

int weft_patch_warps(int nodes) {
    return nodes / (WEFT_PATCH_LANES * weft_patch_walks(nodes));
}

/* List the cell corners at each own node, in ascending order of cell. */
static weft_status list_corners(patch_work *work, weft_error *error) {
    const int width = work->source->width, nodes = work->source->nodes;
    const int n_corners = work->n_cells * width;
    work->corner_start = calloc((size_t)nodes + 2, sizeof *work->corner_start);
    work->corners = malloc(((size_t)n_corners + 1) * sizeof *work->corners);
    if (!work->corner_start || !work->corners)
        return no_memory(error);
    int32_t *start = work->corner_start + 1; /* shifted: corner_start then has the starts */
    for (int i = 0; i < n_corners; ++i)
        if (work->local[i] < nodes)
            ++start[work->local[i]];
    int32_t sum = 0;
    for (int i = 0; i < nodes; ++i) {
        const int32_t count = start[i];
        start[i] = sum;
        sum += count;
    }
    for (int i = 0; i < n_corners; ++i)
        if (work->local[i] < nodes)
            work->corners[start[work->local[i]]++] = i;
    work->n_corners = sum;
    return WEFT_OK;
}

static int make_links(const patch_work *work, int node) {
    const int width = work->source->width;
    int n = 0;
    for (int i = work->corner_start[node]; i < work->corner_start[node + 1]; ++i) {
        const int cell = work->corners[i] / width, l = work->corners[i] % width;
        weft_vertex_walk_link *link = &work->links[n++];
        for (int v = 1; v < width; ++v)
            link->v[v - 1] = work->local[cell * width + first_vertex[width - 3][l][v]];
        link->cell = work->cells[cell];
    }
    return n;
}

static weft_status order_patches(patch_work *work, weft_vertex_walk_scratch *scratch,
                                 weft_error *error) {
    const int nodes = work->source->nodes;
    int most = 0;
    for (int i = 0; i < nodes; ++i)
        if (work->corner_start[i + 1] - work->corner_start[i] > most)
            most = work->corner_start[i + 1] - work->corner_start[i];
    const size_t n_words = 3 * (size_t)work->n_corners + (size_t)nodes;
    work->links = malloc(((size_t)most + 1) * sizeof *work->links);
    work->words = malloc((n_words + 1) * sizeof *work->words);
    work->word_cells = malloc((n_words + 1) * sizeof *work->word_cells);
    work->word_start = malloc(((size_t)nodes + 1) * sizeof *work->word_start);
    if (!work->links || !work->words || !work->word_cells || !work->word_start)
        return no_memory(error);
    work->word_start[0] = 0;
    for (int i = 0; i < nodes; ++i) {
        const int n = make_links(work, i), at = work->word_start[i];
        const int n_made = weft_vertex_walk_order(scratch, work->links, n, work->source->width,
                                                  work->words + at, work->word_cells + at);
        if (n_made < 0)
            return no_memory(error);
        work->word_start[i + 1] = at + n_made;
    }
    return WEFT_OK;
}

static int count_words(const patch_work *work, int node) {
    return work->word_start[node + 1] - work->word_start[node];
}

/* Counting sort of the own nodes by number of words, most first; ties in ascending order. */
static weft_status sort_nodes(const patch_work *work, uint16_t **out, weft_error *error) {
    const int nodes = work->source->nodes;
    int most = 0;
    for (int i = 0; i < nodes; ++i)
        if (count_words(work, i) > most)
            most = count_words(work, i);
    int32_t *first = calloc((size_t)most + 2, sizeof *first);
    *out = malloc((size_t)nodes * sizeof **out);
    if (!first || !*out) {
        free(first);
        return no_memory(error);
    }
    for (int i = 0; i < nodes; ++i)
        ++first[most - count_words(work, i) + 1];
    for (int i = 0; i < most; ++i)
        first[i + 1] += first[i];
    for (int i = 0; i < nodes; ++i)
        (*out)[first[most - count_words(work, i)]++] = (uint16_t)i;
    free(first);
    return WEFT_OK;
}

/* Index in the sorted nodes of a row's first node. Rows are dealt to warps in serpentine order, so
 * that warps have about equal work. */
static int row_first(int nodes, int warp, int iteration) {
    const int n_warps = weft_patch_warps(nodes);
    return (iteration * n_warps + (iteration % 2 ? n_warps - 1 - warp : warp)) * WEFT_PATCH_LANES;
}

static int count_groups(int n_words) {
    return n_words > WEFT_PATCH_GROUP ? (n_words + WEFT_PATCH_GROUP - 1) / WEFT_PATCH_GROUP : 1;
}

/* Set each warp's first group and row lengths. A row has at least one group, because its first
 * words are always read. */
static weft_status size_rows(const patch_work *work, const uint16_t *sorted, weft_patch *out,
                             weft_error *error) {
    const int nodes = work->source->nodes;
    const int n_warps = weft_patch_warps(nodes);
    out->rows = calloc((size_t)n_warps * 4, sizeof *out->rows);
    if (!out->rows)
        return no_memory(error);
    for (int w = 0; w < n_warps; ++w) {
        out->rows[4 * w] = (uint32_t)out->n_units;
        for (int iteration = 0; iteration < weft_patch_walks(nodes); ++iteration) {
            const int n_words = count_words(work, sorted[row_first(nodes, w, iteration)]);
            if (n_words > UINT16_MAX)
                return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                      "a node has %d words of cells round it: too many for patches",
                                      n_words);
            out->rows[4 * w + 1 + iteration / 2] |= (uint32_t)n_words << 16 * (iteration % 2);
            out->n_units += count_groups(n_words);
        }
    }
    return WEFT_OK;
}

typedef struct patch_row {
    const uint16_t *nodes; /* [lanes] */
    int warp, iteration, n_words;
    size_t first_group;
} patch_row;

static void write_row(const patch_work *work, const patch_row *row, weft_patch *out) {
    for (int lane = 0; lane < WEFT_PATCH_LANES; ++lane) {
        const int node = row->nodes[lane], n = count_words(work, node);
        const int at = work->word_start[node];
        out->order[(row->warp * WEFT_PATCH_LANES + lane) * weft_patch_walks(work->source->nodes) +
                   row->iteration] = (uint16_t)node;
        for (int i = 0; i < WEFT_PATCH_GROUP * count_groups(row->n_words); ++i) {
            const size_t group = row->first_group + (size_t)(i / WEFT_PATCH_GROUP);
            const size_t g = group * WEFT_PATCH_LANES * WEFT_PATCH_GROUP;
            const int j = i % WEFT_PATCH_GROUP;
            out->words[g + (size_t)(lane * WEFT_PATCH_GROUP + j)] =
                i < n ? work->words[at + i] : (uint16_t)(node | WORD_SKIP);
            if (out->cells && n > 0)
                out->cells[g + (size_t)(j * WEFT_PATCH_LANES + lane)] =
                    work->word_cells[at + (i < n ? i : n - 1)];
        }
    }
}

static weft_status write_rows(const patch_work *work, const uint16_t *sorted, weft_patch *out,
                              weft_error *error) {
    const int nodes = work->source->nodes;
    const size_t group = WEFT_PATCH_GROUP * WEFT_PATCH_LANES;
    out->words = malloc((size_t)out->n_units * group * sizeof *out->words);
    out->order = malloc((size_t)nodes * sizeof *out->order);
    if (work->source->with_cells)
        out->cells = calloc((size_t)out->n_units * group, sizeof *out->cells);
    if (!out->words || !out->order || (work->source->with_cells && !out->cells))
        return no_memory(error);
    for (int w = 0; w < weft_patch_warps(nodes); ++w) {
        size_t first_group = out->rows[4 * w];
        for (int iteration = 0; iteration < weft_patch_walks(nodes); ++iteration) {
            const uint16_t *row_nodes = sorted + row_first(nodes, w, iteration);
            const patch_row row = {row_nodes, w, iteration, count_words(work, row_nodes[0]),
                                   first_group};
            write_row(work, &row, out);
            first_group += (size_t)count_groups(row.n_words);
        }
    }
    return WEFT_OK;
}

weft_status weft_vertex_patch_make(const weft_patch_source *source, int64_t patch,
                                   weft_patch_scratch *scratch, weft_patch *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_patch made = {0};
    uint16_t *sorted = NULL;
    patch_work work = {.source = source,
                       .n_cells = (int)(source->start[patch + 1] - source->start[patch]),
                       .cells = source->list + source->start[patch]};
    TRY(weft_patch_local(source, patch, &work.local, &made.halo, &made.n_halo, error));
    TRY(list_corners(&work, error));
    TRY(order_patches(&work, &scratch->vertex, error));
    TRY(sort_nodes(&work, &sorted, error));
    TRY(size_rows(&work, sorted, &made, error));
    TRY(write_rows(&work, sorted, &made, error));
    *out = made;
    made = (weft_patch){0};
done:
    weft_patch_free(&made);
    work_free(&work);
    free(sorted);
    return status;
}
