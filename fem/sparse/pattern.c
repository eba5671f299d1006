/* Makes the sparsity pattern of connectivities. */
#include "core/base/sort.h"
#include "fem/base/memory.h"
#include "fem/sparse/csr.h"

#include <stdlib.h>
#include <string.h>

/* The upper triangle comes first: collect the higher neighbours of each node, cell by cell, then
 * sort them and remove duplicates. Its transpose is the lower triangle. Every step runs in parallel
 * over chunks of the cells or rows. Counters that several chunks update are atomic; as rows are
 * sorted afterwards, the result does not depend on the order of the updates. */
enum { CHUNKS = 256, STAMPS = 1024 };

typedef struct weft_pattern_work {
    const int32_t *indices;
    int64_t n_cells, n_rows;
    int width;
    bool shared;      /* more than one thread */
    int64_t *start;   /* [n_rows + 1] start of each row in upper */
    int32_t *upper;   /* higher neighbours by row; later without duplicates, n_upper per row */
    int32_t *n_upper; /* [n_rows] */
    int32_t *n_lower; /* [n_rows]; later the number not yet written to columns */
    int64_t *row_start;
    int32_t *columns;
    int32_t *sorted; /* [CHUNKS][width] buffer for a cell of each chunk, for other widths */
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

#define INLINE static inline __attribute__((always_inline))

INLINE int64_t add(int64_t *counter, int64_t n, bool shared) {
    if (shared)
        return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
    int64_t before = *counter;
    *counter = before + n;
    return before;
}

INLINE int32_t add_small(int32_t *counter, int32_t n, bool shared) {
    if (shared)
        return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
    int32_t before = *counter;
    *counter = before + n;
    return before;
}

INLINE void exchange(int32_t *a, int32_t *b) {
    int32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

/* Sort a cell's nodes; sorting networks for 3 and 4. */
INLINE void sort_cell(const int32_t *nodes, int width, int32_t *out) {
    memcpy(out, nodes, (size_t)width * sizeof *out);
    if (width == 3) {
        exchange(out, out + 1);
        exchange(out + 1, out + 2);
        exchange(out, out + 1);
    } else if (width == 4) {
        exchange(out, out + 1);
        exchange(out + 2, out + 3);
        exchange(out, out + 2);
        exchange(out + 1, out + 3);
        exchange(out + 1, out + 2);
    } else {
        weft_numbers_sort((uint32_t *)out, (size_t)width);
    }
}

static int64_t chunk_start(int64_t n, int64_t chunk) {
    return (int64_t)(n / CHUNKS * chunk + n % CHUNKS * chunk / CHUNKS);
}

/* Of a cell's pairs of nodes, width - 1 belong to its lowest node, width - 2 to the next, ... */
INLINE void count(const weft_pattern_work *w, int64_t chunk, int width, bool shared, int32_t *s) {
    int64_t last = chunk_start(w->n_cells, chunk + 1);
    for (int64_t cell = chunk_start(w->n_cells, chunk); cell < last; ++cell) {
        sort_cell(w->indices + cell * width, width, s);
        for (int i = 0; i + 1 < width; ++i)
            add(&w->start[s[i]], width - 1 - i, shared);
    }
}

/* start[r] is decremented from the end of row r to its beginning. */
INLINE void fill(const weft_pattern_work *w, int64_t chunk, int width, bool shared, int32_t *s) {
    int64_t last = chunk_start(w->n_cells, chunk + 1);
    for (int64_t cell = chunk_start(w->n_cells, chunk); cell < last; ++cell) {
        sort_cell(w->indices + cell * width, width, s);
        for (int i = 0; i + 1 < width; ++i) {
            int64_t n = width - 1 - i, at = add(&w->start[s[i]], -n, shared) - n;
            for (int k = 0; k < n; ++k)
                w->upper[at + k] = s[i + 1 + k];
        }
    }
}

/* Common widths are compile-time constants, so that their loops unroll. */
static void chunk_count(void *user, int64_t chunk) {
    const weft_pattern_work *w = user;
    int32_t s[4];
    if (w->width == 4 && w->shared)
        count(w, chunk, 4, true, s);
    else if (w->width == 4)
        count(w, chunk, 4, false, s);
    else if (w->width == 3)
        count(w, chunk, 3, w->shared, s);
    else
        count(w, chunk, w->width, w->shared, w->sorted + chunk * w->width);
}

static void chunk_fill(void *user, int64_t chunk) {
    const weft_pattern_work *w = user;
    int32_t s[4];
    if (w->width == 4 && w->shared)
        fill(w, chunk, 4, true, s);
    else if (w->width == 4)
        fill(w, chunk, 4, false, s);
    else if (w->width == 3)
        fill(w, chunk, 3, w->shared, s);
    else
        fill(w, chunk, w->width, w->shared, w->sorted + chunk * w->width);
}

static void starts_sum(weft_pattern_work *w) {
    int64_t sum = 0;
    for (int64_t r = 0; r <= w->n_rows; ++r) {
        sum += w->start[r];
        w->start[r] = sum;
    }
}

/* Remove duplicates from each row. A direct-mapped table, indexed by the low bits of the number,
 * filters most; the duplicates that it misses are adjacent after sorting. Branch-free: the next
 * element is always written, and kept if it is new. */
INLINE void unite(const weft_pattern_work *w, int64_t chunk, bool shared) {
    uint64_t seen[STAMPS];
    int64_t last = chunk_start(w->n_rows, chunk + 1);
    memset(seen, 0xFF, sizeof seen);
    for (int64_t r = chunk_start(w->n_rows, chunk); r < last; ++r) {
        int32_t *row = w->upper + w->start[r];
        int64_t n = 0, once = 0, n_all = w->start[r + 1] - w->start[r];
        for (int64_t k = 0; k < n_all; ++k) {
            uint64_t stamp = (uint64_t)r << 32 | (uint32_t)row[k];
            uint64_t *slot = &seen[row[k] % STAMPS];
            row[n] = row[k];
            n += *slot != stamp;
            *slot = stamp;
        }
        weft_numbers_sort((uint32_t *)row, (size_t)n);
        int32_t before = (int32_t)r; /* drops r itself, which a cell with a repeated node lists */
        for (int64_t k = 0; k < n; ++k) {
            int32_t c = row[k];
            row[once] = c;
            once += c != before;
            before = c;
        }
        for (int64_t k = 0; k < once; ++k)
            add_small(&w->n_lower[row[k]], 1, shared);
        w->n_upper[r] = (int32_t)once;
    }
}

static void chunk_unite(void *user, int64_t chunk) {
    const weft_pattern_work *w = user;
    if (w->shared)
        unite(w, chunk, true);
    else
        unite(w, chunk, false);
}

static void rows_sum(weft_pattern_work *w, weft_pattern *pattern) {
    int64_t sum = 0;
    for (int64_t r = 0; r < w->n_rows; ++r) {
        w->row_start[r] = sum;
        sum += w->n_lower[r] + 1 + w->n_upper[r];
    }
    w->row_start[w->n_rows] = sum;
    pattern->n_entries = sum;
}

/* Rows are processed in descending order, so that on one thread the lower parts come out sorted. */
INLINE void transpose(const weft_pattern_work *w, int64_t chunk, bool shared) {
    int64_t first = chunk_start(w->n_rows, CHUNKS - 1 - chunk);
    for (int64_t r = chunk_start(w->n_rows, CHUNKS - chunk) - 1; r >= first; --r) {
        const int32_t *upper = w->upper + w->start[r];
        int64_t n = w->n_upper[r], end = w->row_start[r + 1];
        w->columns[end - n - 1] = (int32_t)r;
        for (int64_t k = 0; k < n; ++k) {
            int32_t c = upper[k];
            w->columns[end - n + k] = c;
            w->columns[w->row_start[c] + add_small(&w->n_lower[c], -1, shared) - 1] = (int32_t)r;
        }
    }
}

static void chunk_transpose(void *user, int64_t chunk) {
    const weft_pattern_work *w = user;
    if (w->shared)
        transpose(w, chunk, true);
    else
        transpose(w, chunk, false);
}

static void chunk_sort(void *user, int64_t chunk) {
    const weft_pattern_work *w = user;
    int64_t last = chunk_start(w->n_rows, chunk + 1);
    for (int64_t r = chunk_start(w->n_rows, chunk); r < last; ++r) {
        int64_t n = w->row_start[r + 1] - w->row_start[r] - 1 - w->n_upper[r];
        weft_numbers_sort((uint32_t *)(w->columns + w->row_start[r]), (size_t)n);
    }
}

static weft_status rows_fill(weft_device *device, weft_pattern_work *w, weft_pattern *pattern,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    pattern->columns =
        weft_array_make_unset((uint64_t)pattern->n_entries * sizeof *pattern->columns);
    if (!pattern->columns)
        TRY(no_memory(error, w->n_cells));
    w->columns = pattern->columns;
    TRY(weft_device_for(device, CHUNKS, chunk_transpose, w, error));
    if (w->shared)
        TRY(weft_device_for(device, CHUNKS, chunk_sort, w, error));
done:
    return status;
}

/* Run a step over the cells of each connectivity. */
static weft_status run_each(weft_device *device, weft_pattern_work *w,
                            const weft_connectivity *const *dofs, int n,
                            void (*chunk)(void *user, int64_t chunk), weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < n; ++i) {
        TRY(weft_connectivity_read(dofs[i], error));
        w->indices = weft_connectivity_indices(dofs[i]);
        w->n_cells = weft_connectivity_from(dofs[i]);
        w->width = weft_connectivity_width(dofs[i]);
        TRY(weft_device_for(device, CHUNKS, chunk, w, error));
    }
done:
    return status;
}

static weft_status pattern_find(weft_device *device, const weft_connectivity *const *dofs, int n,
                                weft_pattern *pattern, int32_t **n_upper, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern_work w = {.n_cells = weft_connectivity_from(dofs[0]),
                           .n_rows = weft_connectivity_to(dofs[0]),
                           .shared = device && weft_device_limits(device)->threads > 1};
    size_t n_rows = (size_t)w.n_rows, n_pairs = 0, width = 0;
    for (int i = 0; i < n; ++i) {
        const size_t of_cell = (size_t)weft_connectivity_width(dofs[i]);
        n_pairs += (size_t)weft_connectivity_from(dofs[i]) * (of_cell * (of_cell - 1) / 2);
        width = of_cell > width ? of_cell : width;
    }
    w.start = weft_scratch_make(n_rows + 1, sizeof *w.start);
    w.n_upper = weft_scratch_make(n_rows, sizeof *w.n_upper);
    w.n_lower = weft_scratch_make(n_rows, sizeof *w.n_lower);
    w.upper = weft_scratch_make(n_pairs, sizeof *w.upper);
    w.sorted = weft_scratch_make(CHUNKS * width, sizeof *w.sorted);
    pattern->row_start = weft_array_make(n_rows + 1, sizeof *pattern->row_start);
    pattern->n_rows = w.n_rows;
    w.row_start = pattern->row_start;
    if (!w.start || !w.n_upper || !w.n_lower || !w.upper || !w.sorted || !pattern->row_start)
        TRY(no_memory(error, w.n_cells));
    memset(w.start, 0, (n_rows + 1) * sizeof *w.start);
    memset(w.n_lower, 0, n_rows * sizeof *w.n_lower);
    TRY(run_each(device, &w, dofs, n, chunk_count, error));
    starts_sum(&w);
    TRY(run_each(device, &w, dofs, n, chunk_fill, error));
    TRY(weft_device_for(device, CHUNKS, chunk_unite, &w, error));
    rows_sum(&w, pattern);
    if (pattern->n_entries > (int64_t)UINT32_MAX) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "the matrix has %lld entries, more than 2^32 - 1",
                                (long long)pattern->n_entries);
        weft_error_hint(error, "use the assembly lma or matrix-free");
        goto done;
    }
    TRY(rows_fill(device, &w, pattern, error));
    *n_upper = w.n_upper;
    w.n_upper = NULL;
done:
    free(w.start);
    free(w.n_upper);
    free(w.n_lower);
    free(w.upper);
    free(w.sorted);
    return status;
}

weft_status weft_pattern_make(weft_device *device, const weft_connectivity *dofs, int lanes,
                              weft_pattern **out, weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_pattern *pattern = NULL;
    int32_t *n_upper = NULL;
    if (weft_connectivity_from(dofs) > (int64_t)UINT32_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "more than 2^32 - 1 cells"));
    pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        TRY(no_memory(error, weft_connectivity_from(dofs)));
    TRY(pattern_find(device, &dofs, 1, pattern, &n_upper, error));
    const weft_pattern_search search = {
        .pattern = pattern, .n_upper = n_upper, .vectors = weft_vectors_of(device)};
    if (positions)
        TRY(weft_pattern_positions_by(device, &search, dofs, lanes, positions, error));
    *out = pattern;
    pattern = NULL;
done:
    free(n_upper);
    weft_pattern_free(&pattern);
    return status;
}

weft_status weft_pattern_make_of_all(weft_device *device, const weft_connectivity *const *dofs,
                                     int n, weft_pattern **out, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *n_upper = NULL;
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        TRY(no_memory(error, weft_connectivity_from(dofs[0])));
    TRY(pattern_find(device, dofs, n, pattern, &n_upper, error));
    *out = pattern;
    pattern = NULL;
done:
    free(n_upper);
    weft_pattern_free(&pattern);
    return status;
}
