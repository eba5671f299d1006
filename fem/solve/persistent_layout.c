/* Distributes the nodes and entries of a system over the threads of the persistent kernel. */
#include "fem/solve/persistent.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 1 << 16, PUBLISHED_STEP = 16 /* words: 128 bytes */ };

typedef struct weft_persistent_work {
    weft_persistent_layout *layout;
    const weft_pattern *pattern;
    uint8_t *is_sent;  /* [n] */
    int32_t *position; /* [n]: position of each node, over all blocks */
    int32_t **halos;   /* [n_blocks]: positions, ascending */
    int *n_halo;       /* [n_blocks] */
    int *widths;       /* [n_blocks][nodes]: pairs */
    atomic_bool failed;
} weft_persistent_work;

static int64_t first_of(const weft_persistent_layout *layout, int64_t b) {
    return b * layout->n / layout->shape.n_blocks;
}

static int64_t rows_of(const weft_persistent_layout *layout) {
    return (int64_t)layout->shape.nodes * layout->shape.threads;
}

static int64_t pairs_of(const weft_persistent_work *work, int64_t i) {
    const int64_t *start = work->pattern->row_start;
    int64_t n = start[i + 1] - start[i];
    if (!work->layout->has_diagonal)
        for (int64_t e = start[i]; e < start[i + 1]; ++e)
            n -= work->pattern->columns[e] == i;
    return (n + 1) / 2;
}

/* Mark the nodes that other blocks read, i.e. columns of rows in other blocks. */
static void mark_sent(weft_persistent_work *work) {
    const weft_pattern *pattern = work->pattern;
    for (int64_t b = 0; b < work->layout->shape.n_blocks; ++b) {
        int64_t first = first_of(work->layout, b), last = first_of(work->layout, b + 1);
        for (int64_t e = pattern->row_start[first]; e < pattern->row_start[last]; ++e)
            if (pattern->columns[e] < first || pattern->columns[e] >= last)
                work->is_sent[pattern->columns[e]] = 1;
    }
}

/* Sort key: nodes that are sent first, then by descending pairs, then by number. */
typedef struct weft_persistent_key {
    int64_t pairs;
    int32_t node;
    bool is_sent;
} weft_persistent_key;

static int compare_keys(const void *left, const void *right) {
    const weft_persistent_key *a = left, *b = right;
    if (a->is_sent != b->is_sent)
        return a->is_sent ? -1 : 1;
    if (a->pairs != b->pairs)
        return a->pairs > b->pairs ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void order_block(void *user, int64_t b) {
    weft_persistent_work *work = user;
    weft_persistent_layout *layout = work->layout;
    int64_t first = first_of(layout, b), n = first_of(layout, b + 1) - first;
    int64_t rows = rows_of(layout);
    weft_persistent_key *keys = malloc((size_t)n * sizeof *keys + 1);
    if (!keys) {
        atomic_store(&work->failed, true);
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        keys[i] = (weft_persistent_key){pairs_of(work, first + i), (int32_t)(first + i),
                                        work->is_sent[first + i]};
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    for (int64_t q = 0; q < rows; ++q)
        layout->node[b * rows + q] = q < n ? keys[q].node : -1;
    for (int64_t q = 0; q < n; ++q) {
        int *width = &work->widths[b * layout->shape.nodes + q / layout->shape.threads];
        work->position[keys[q].node] = (int32_t)(b * rows + q);
        layout->n_sent[b] += keys[q].is_sent;
        if (keys[q].pairs > *width)
            *width = (int)keys[q].pairs;
    }
    free(keys);
}

static int compare_positions(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* The distinct outside columns of a block, sorted by position, i.e. by owner. */
static void find_halo(void *user, int64_t b) {
    weft_persistent_work *work = user;
    const weft_pattern *pattern = work->pattern;
    int64_t first = first_of(work->layout, b), last = first_of(work->layout, b + 1);
    size_t n = 0, kept = 0;
    for (int pass = 0; pass < 2; ++pass) {
        int32_t *halo = work->halos[b];
        n = 0;
        for (int64_t e = pattern->row_start[first]; e < pattern->row_start[last]; ++e)
            if (pattern->columns[e] < first || pattern->columns[e] >= last) {
                if (halo)
                    halo[n] = work->position[pattern->columns[e]];
                ++n;
            }
        if (pass == 0)
            work->halos[b] = malloc(n * sizeof *halo + 1);
        if (!work->halos[b]) {
            atomic_store(&work->failed, true);
            return;
        }
    }
    int32_t *halo = work->halos[b];
    qsort(halo, n, sizeof *halo, compare_positions);
    for (size_t i = 0; i < n; ++i)
        if (i == 0 || halo[i] != halo[i - 1])
            halo[kept++] = halo[i];
    work->n_halo[b] = (int)kept;
}

static uint16_t column_of(const weft_persistent_work *work, int64_t b, int32_t position) {
    int64_t rows = rows_of(work->layout);
    if (position / rows == b)
        return (uint16_t)(position - b * rows);
    const int32_t *found = bsearch(&position, work->halos[b], (size_t)work->n_halo[b],
                                   sizeof *found, compare_positions);
    return (uint16_t)(rows + (found - work->halos[b]));
}

static void fill_block(void *user, int64_t b) {
    weft_persistent_work *work = user;
    weft_persistent_layout *layout = work->layout;
    const weft_pattern *pattern = work->pattern;
    int64_t rows = rows_of(layout), threads = layout->shape.threads;
    for (int64_t h = 0; h < layout->halo * threads; ++h)
        layout->halo_at[b * layout->halo * threads + h] =
            h < work->n_halo[b] ? work->halos[b][h] : -1;
    for (int64_t q = 0; q < rows; ++q) {
        int64_t k = q / threads, t = q % threads, node = layout->node[b * rows + q], used = 0;
        int64_t n_slots = 2 * (layout->starts[k + 1] - layout->starts[k]);
        int64_t at = 2 * ((b * layout->pairs + layout->starts[k]) * threads + t);
        int64_t e = node < 0 ? 0 : pattern->row_start[node];
        int64_t end = node < 0 ? 0 : pattern->row_start[node + 1];
        for (; e < end; ++e)
            if (layout->has_diagonal || pattern->columns[e] != node) {
                int64_t slot = at + used / 2 * 2 * threads + used % 2;
                layout->source[slot] = (int32_t)e;
                layout->columns[slot] = column_of(work, b, work->position[pattern->columns[e]]);
                ++used;
            }
        for (; used < n_slots; ++used) { /* zeros: any column is valid, and its own is local */
            int64_t slot = at + used / 2 * 2 * threads + used % 2;
            layout->source[slot] = -1;
            layout->columns[slot] = (uint16_t)q;
        }
    }
}

static weft_status no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY,
                          "no memory to lay out conjugate gradients in one kernel");
}

static weft_status for_blocks(weft_device *device, weft_persistent_work *work, weft_task task,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_device_for(device, work->layout->shape.n_blocks, task, work, error));
    if (atomic_load(&work->failed))
        status = no_memory(error);
done:
    return status;
}

/* Set the sizes common to all blocks: the maximum over the blocks. */
static weft_status set_common_sizes(weft_persistent_work *work, weft_error *error) {
    weft_persistent_layout *layout = work->layout;
    int n_blocks = layout->shape.n_blocks, nodes = layout->shape.nodes;
    int threads = layout->shape.threads;
    int halo = 0, sent = 0;
    for (int b = 0; b < n_blocks; ++b) {
        halo = work->n_halo[b] > halo ? work->n_halo[b] : halo;
        sent = layout->n_sent[b] > sent ? layout->n_sent[b] : sent;
    }
    layout->halo = halo > 0 ? (halo + threads - 1) / threads : 1;
    layout->published = (sent / PUBLISHED_STEP + 1) * PUBLISHED_STEP;
    for (int k = 0; k < nodes; ++k) {
        int width = 0;
        for (int b = 0; b < n_blocks; ++b)
            if (work->widths[b * nodes + k] > width)
                width = work->widths[b * nodes + k];
        layout->starts[k + 1] = layout->starts[k] + width;
    }
    if (layout->starts[nodes] == 0) /* no entries: one pair of zeros */
        layout->starts[nodes] = 1;
    layout->pairs = layout->starts[nodes];
    if ((int64_t)(nodes + layout->halo) * threads > COLUMNS_MOST)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "a block would see %lld nodes, and its columns have 16 bits",
                              (long long)(nodes + layout->halo) * threads);
    return WEFT_OK;
}

static weft_status entries_make(weft_persistent_layout *layout, weft_error *error) {
    size_t threads = (size_t)layout->shape.n_blocks * (size_t)layout->shape.threads;
    layout->halo_at = malloc((size_t)layout->halo * threads * sizeof *layout->halo_at);
    layout->source = malloc((size_t)layout->pairs * threads * 2 * sizeof *layout->source + 1);
    layout->columns = malloc((size_t)layout->pairs * threads * 2 * sizeof *layout->columns + 1);
    if (!layout->halo_at || !layout->source || !layout->columns)
        return no_memory(error);
    return WEFT_OK;
}

static weft_status work_make(weft_persistent_work *work, weft_error *error) {
    weft_persistent_layout *layout = work->layout;
    size_t n_blocks = (size_t)layout->shape.n_blocks, n = (size_t)layout->n;
    work->is_sent = calloc(n, 1);
    work->position = malloc(n * sizeof *work->position);
    work->halos = calloc(n_blocks, sizeof *work->halos);
    work->n_halo = calloc(n_blocks, sizeof *work->n_halo);
    work->widths = calloc(n_blocks * (size_t)layout->shape.nodes, sizeof *work->widths);
    layout->node = malloc(n_blocks * (size_t)rows_of(layout) * sizeof *layout->node);
    layout->n_sent = calloc(n_blocks, sizeof *layout->n_sent);
    if (!work->is_sent || !work->position || !work->halos || !work->n_halo || !work->widths ||
        !layout->node || !layout->n_sent)
        return no_memory(error);
    return WEFT_OK;
}

static void work_free(weft_persistent_work *work, int n_blocks) {
    for (int b = 0; work->halos && b < n_blocks; ++b)
        free(work->halos[b]);
    free(work->halos);
    free(work->is_sent);
    free(work->position);
    free(work->n_halo);
    free(work->widths);
}

weft_status weft_persistent_layout_make(weft_device *device, const weft_pattern *pattern,
                                        const weft_persistent_shape *shape, bool has_diagonal,
                                        weft_persistent_layout **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_persistent_layout *layout = calloc(1, sizeof *layout);
    weft_persistent_work work = {.layout = layout, .pattern = pattern};
    if (!layout)
        TRY(no_memory(error));
    layout->shape = *shape;
    layout->has_diagonal = has_diagonal;
    layout->n = pattern->n_rows;
    TRY(work_make(&work, error));
    mark_sent(&work);
    TRY(for_blocks(device, &work, order_block, error));
    TRY(for_blocks(device, &work, find_halo, error));
    TRY(set_common_sizes(&work, error));
    TRY(entries_make(layout, error));
    TRY(for_blocks(device, &work, fill_block, error));
    *out = layout;
    layout = NULL;
done:
    work_free(&work, shape->n_blocks);
    weft_persistent_layout_free(&layout);
    return status;
}

void weft_persistent_layout_free(weft_persistent_layout **layout) {
    if (!layout || !*layout)
        return;
    free((*layout)->node);
    free((*layout)->halo_at);
    free((*layout)->n_sent);
    free((*layout)->source);
    free((*layout)->columns);
    free(*layout);
    *layout = NULL;
}
