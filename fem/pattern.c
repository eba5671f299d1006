#include "operator_internal.h"

#include <stdlib.h>
#include <string.h>

/* The pattern is found from the upper triangle: the edges of all cells by their lower node, each
 * neighbour kept once, in any order. Transposing that gives the lower triangle sorted, and
 * transposing once more the upper one: no row is sorted. */
typedef struct weft_pattern_work {
    const int32_t *indices;
    int64_t n_cells, n_rows;
    int width;
    int64_t *start; /* [n_rows + 1] into upper; then [n_rows] entries below the diagonal */
    int32_t *upper; /* higher nodes of edges, row after row; then without repetition, closed up */
    int64_t n_upper_all;
    int32_t *marker;  /* [n_rows] the last row that has seen this column */
    int32_t *n_upper; /* [n_rows] */
} weft_pattern_work;

static weft_status no_memory(weft_error *error, int64_t n_cells) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the matrix pattern of %lld cells",
                   (long long)n_cells);
    weft_error_hint(error, "use the assembly matrix-free, which stores no matrix");
    return WEFT_ERROR_MEMORY;
}

void weft_pattern_free(weft_pattern **pattern) {
    if (!pattern || !*pattern)
        return;
    free((*pattern)->row_start);
    free((*pattern)->columns);
    free(*pattern);
    *pattern = NULL;
}

static inline __attribute__((always_inline)) void edges_sort(weft_pattern_work *work, int width) {
    const int32_t *nodes = work->indices, *end = nodes + work->n_cells * width;
    int64_t *start = work->start, sum = 0;
    int32_t *upper = work->upper;
    for (; nodes < end; nodes += width)
        for (int i = 1; i < width; ++i)
            for (int j = 0; j < i; ++j)
                start[nodes[i] < nodes[j] ? nodes[i] : nodes[j]] += 1;
    for (int64_t r = 0; r <= work->n_rows; ++r) {
        sum += start[r];
        start[r] = sum;
    }
    for (nodes = work->indices; nodes < end; nodes += width)
        for (int i = 1; i < width; ++i)
            for (int j = 0; j < i; ++j) {
                bool less = nodes[i] < nodes[j];
                upper[--start[less ? nodes[i] : nodes[j]]] = less ? nodes[j] : nodes[i];
            }
}

/* Close up in place. Without branches: a slot is written always, and kept when it is new. */
static void upper_unite(weft_pattern_work *work) {
    int32_t *upper = work->upper, *marker = work->marker;
    int64_t n = 0, k = 0;
    for (int64_t r = 0; r < work->n_rows; ++r)
        marker[r] = -1;
    for (int64_t r = 0; r < work->n_rows; ++r) {
        int64_t before = n;
        marker[r] = (int32_t)r; /* a cell that has a node twice */
        for (int64_t end = work->start[r + 1]; k < end; ++k) {
            int32_t c = upper[k];
            upper[n] = c;
            n += marker[c] != r;
            marker[c] = (int32_t)r;
        }
        work->n_upper[r] = (int32_t)(n - before);
    }
    work->n_upper_all = n;
}

/* Row starts, and in work->start the number of entries below each diagonal. */
static void rows_count(weft_pattern_work *work, weft_pattern *pattern) {
    memset(work->start, 0, (size_t)work->n_rows * sizeof *work->start);
    for (int64_t k = 0; k < work->n_upper_all; ++k)
        work->start[work->upper[k]] += 1;
    int64_t sum = 0;
    for (int64_t r = 0; r < work->n_rows; ++r) {
        pattern->row_start[r] = sum;
        sum += work->start[r] + 1 + work->n_upper[r];
    }
    pattern->row_start[work->n_rows] = sum;
    pattern->n_entries = sum;
}

static void columns_fill(weft_pattern_work *work, weft_pattern *pattern) {
    int32_t *columns = pattern->columns, *filled = work->marker;
    const int64_t *row_start = pattern->row_start;
    memset(filled, 0, (size_t)work->n_rows * sizeof *filled);
    const int32_t *upper = work->upper;
    for (int64_t r = 0; r < work->n_rows; ++r)
        for (const int32_t *end = upper + work->n_upper[r]; upper < end; ++upper)
            columns[row_start[*upper] + filled[*upper]++] = (int32_t)r;
    for (int64_t r = 0; r < work->n_rows; ++r) {
        columns[row_start[r] + filled[r]] = (int32_t)r;
        filled[r] += 1;
        for (int64_t k = 0; k < work->start[r]; ++k) {
            int32_t c = columns[row_start[r] + k];
            columns[row_start[c] + filled[c]++] = (int32_t)r;
        }
    }
}

static weft_status pattern_find(const weft_connectivity *dofs, weft_pattern *pattern,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern_work work = {.indices = weft_connectivity_indices(dofs),
                              .n_cells = weft_connectivity_from(dofs),
                              .n_rows = weft_connectivity_to(dofs),
                              .width = weft_connectivity_width(dofs)};
    size_t n_rows = (size_t)work.n_rows, n_cells = (size_t)work.n_cells;
    size_t width = (size_t)work.width;
    work.start = weft_scratch_make(n_rows + 1, sizeof *work.start);
    work.marker = weft_scratch_make(n_rows, sizeof *work.marker);
    work.n_upper = weft_scratch_make(n_rows, sizeof *work.n_upper);
    work.upper = weft_scratch_make(n_cells * (width * (width - 1) / 2), sizeof *work.upper);
    pattern->row_start = weft_array_make(n_rows + 1, sizeof *pattern->row_start);
    pattern->n_rows = work.n_rows;
    if (!work.start || !work.marker || !work.n_upper || !work.upper || !pattern->row_start) {
        status = no_memory(error, work.n_cells);
        goto done;
    }
    memset(work.start, 0, (n_rows + 1) * sizeof *work.start);
    if (work.width == 3)
        edges_sort(&work, 3);
    else if (work.width == 4)
        edges_sort(&work, 4);
    else
        edges_sort(&work, work.width);
    upper_unite(&work);
    rows_count(&work, pattern);
    if (pattern->n_entries > (int64_t)UINT32_MAX) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "the matrix has %lld entries, more than 2^32 - 1",
                                (long long)pattern->n_entries);
        weft_error_hint(error, "use the assembly lma or matrix-free");
        goto done;
    }
    pattern->columns = weft_array_make((size_t)pattern->n_entries, sizeof *pattern->columns);
    if (!pattern->columns) {
        status = no_memory(error, work.n_cells);
        goto done;
    }
    columns_fill(&work, pattern);
done:
    free(work.start);
    free(work.marker);
    free(work.n_upper);
    free(work.upper);
    return status;
}

weft_status weft_pattern_make(weft_device *device, const weft_connectivity *dofs, int lanes,
                              weft_pattern **out, weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern *pattern = NULL;
    if (weft_connectivity_from(dofs) > (int64_t)UINT32_MAX) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "more than 2^32 - 1 cells");
        goto done;
    }
    pattern = calloc(1, sizeof *pattern);
    if (!pattern) {
        status = no_memory(error, weft_connectivity_from(dofs));
        goto done;
    }
    TRY(pattern_find(dofs, pattern, error));
    if (positions)
        TRY(weft_pattern_positions(device, pattern, dofs, lanes, positions, error));
    *out = pattern;
    pattern = NULL;
done:
    weft_pattern_free(&pattern);
    return status;
}
