/* Finds, for every entry of every local matrix, its position in the values of a CSR matrix. */
#include "fem/base/memory.h"
#include "fem/sparse/csr.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { TASK_BLOCKS = 512, TASK_ROWS = 4096 };

typedef struct weft_position_work {
    const int32_t *indices, *columns;
    const int64_t *row_start;
    const int32_t *n_upper; /* or NULL */
    uint32_t *mirror;       /* [n_entries] of each entry right of the diagonal: its mirror image */
    uint32_t *positions;
    int64_t n_cells, n_blocks, n_rows;
    int width, lanes;
    weft_position_map map; /* or NULL */
    const void *user;
    atomic_bool missing;
} weft_position_work;

/* The index of a column in a row of n entries; n or more if it is missing. Columns of a row are
 * distinct, so the first match is the result; matches beyond the row's end, where vector loads read
 * padding or the next row, have an index of at least n. */
typedef int64_t (*weft_row_search)(const int32_t *row, int32_t column, int64_t n);

INLINE int64_t search_plain(const int32_t *row, int32_t column, int64_t n) {
    int64_t k = 0;
    while (k < n && row[k] != column)
        ++k;
    return k;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) INLINE int64_t search_avx512(const int32_t *row, int32_t column,
                                                                int64_t n) {
    __m512i wanted = _mm512_set1_epi32(column);
    for (int64_t k = 0; k < n; k += 16) {
        unsigned equal = _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(row + k), wanted);
        if (equal)
            return k + __builtin_ctz(equal);
    }
    return n;
}

__attribute__((target("avx2"))) INLINE int64_t search_avx2(const int32_t *row, int32_t column,
                                                           int64_t n) {
    __m256i wanted = _mm256_set1_epi32(column);
    for (int64_t k = 0; k < n; k += 8) {
        __m256i equal = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(row + k)), wanted);
        unsigned bits = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
        if (bits)
            return k + __builtin_ctz(bits);
    }
    return n;
}
#endif

/* Writes the positions of one cell, `lanes` apart. Returns whether a coupling is missing. */
typedef bool (*weft_cell_find)(const weft_position_work *work, const int32_t *nodes, int width,
                               int lanes, weft_row_search search, uint32_t *out);

INLINE bool cell_find(const weft_position_work *work, const int32_t *nodes, int width, int lanes,
                      weft_row_search search, uint32_t *out) {
    bool missing = false;
    for (int i = 0; i < width; ++i) {
        int64_t first = work->row_start[nodes[i]];
        int64_t n = work->row_start[nodes[i] + 1] - first;
        for (int j = 0; j < width; ++j) {
            int64_t place = search(work->columns + first, nodes[j], n);
            missing |= place >= n;
            out[(i * width + j) * lanes] = (uint32_t)(first + place);
        }
    }
    return missing;
}

/* As cell_find, with one search per pair of nodes, among the entries right of the diagonal only. */
INLINE bool cell_find_mirrored(const weft_position_work *work, const int32_t *nodes, int width,
                               int lanes, weft_row_search search, uint32_t *out) {
    bool missing = false;
    for (int i = 0; i < width; ++i) {
        int64_t diagonal = work->row_start[nodes[i] + 1] - 1 - work->n_upper[nodes[i]];
        out[(i * width + i) * lanes] = (uint32_t)diagonal;
        for (int j = 0; j < i; ++j) {
            bool below = nodes[j] < nodes[i];
            int32_t row = below ? nodes[j] : nodes[i], n = work->n_upper[row];
            int64_t first = work->row_start[row + 1] - n;
            int64_t place = search(work->columns + first, below ? nodes[i] : nodes[j], n);
            uint32_t at = (uint32_t)(first + place), mirrored = (uint32_t)diagonal;
            if (nodes[i] == nodes[j]) {
                at = mirrored;
            } else {
                missing |= place >= n;
                mirrored = work->mirror[at];
            }
            out[(i * width + j) * lanes] = below ? mirrored : at;
            out[(j * width + i) * lanes] = below ? at : mirrored;
        }
    }
    return missing;
}

INLINE void find(weft_position_work *work, int64_t task, int width, weft_cell_find find_cell,
                 weft_row_search search) {
    const int lanes = work->lanes;
    int64_t last =
        (task + 1) * TASK_BLOCKS < work->n_blocks ? (task + 1) * TASK_BLOCKS : work->n_blocks;
    bool missing = false;
    for (int64_t block = task * TASK_BLOCKS; block < last; ++block)
        for (int lane = 0; lane < lanes; ++lane) {
            int64_t cell = block * lanes + lane;
            const int32_t *nodes =
                work->indices + (cell < work->n_cells ? cell : work->n_cells - 1) * width;
            uint32_t *out = work->positions + block * width * width * lanes + lane;
            missing |= find_cell(work, nodes, width, lanes, search, out);
            for (int k = 0; work->map && k < width * width; ++k)
                out[k * lanes] = work->map(work->user, nodes[k / width], out[k * lanes]);
        }
    if (missing)
        atomic_store(&work->missing, true);
}

/* Fill mirror: each entry left of the diagonal is the mirror image of one right of the diagonal, in
 * the row of its column. */
INLINE void find_mirror(weft_position_work *work, int64_t task, weft_row_search search) {
    int64_t last = (task + 1) * TASK_ROWS < work->n_rows ? (task + 1) * TASK_ROWS : work->n_rows;
    for (int64_t row = task * TASK_ROWS; row < last; ++row) {
        int64_t end = work->row_start[row + 1] - 1 - work->n_upper[row];
        for (int64_t k = work->row_start[row]; k < end; ++k) {
            int32_t c = work->columns[k], n = work->n_upper[c];
            int64_t first = work->row_start[c + 1] - n;
            work->mirror[first + search(work->columns + first, (int32_t)row, n)] = (uint32_t)k;
        }
    }
}

/* Common widths are compile-time constants, so that their loops unroll. */
INLINE void find_sized(weft_position_work *work, int64_t task, weft_row_search search) {
    if (work->mirror && work->width == 4)
        find(work, task, 4, cell_find_mirrored, search);
    else if (work->mirror)
        find(work, task, work->width, cell_find_mirrored, search);
    else if (work->width == 3)
        find(work, task, 3, cell_find, search);
    else if (work->width == 4)
        find(work, task, 4, cell_find, search);
    else
        find(work, task, work->width, cell_find, search);
}

typedef struct weft_finder {
    weft_task positions, mirror;
} weft_finder;

static void find_plain(void *user, int64_t task) {
    find_sized(user, task, search_plain);
}

static void mirror_plain(void *user, int64_t task) {
    find_mirror(user, task, search_plain);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void find_avx512(void *user, int64_t task) {
    find_sized(user, task, search_avx512);
}

__attribute__((target("avx512f"))) static void mirror_avx512(void *user, int64_t task) {
    find_mirror(user, task, search_avx512);
}

__attribute__((target("avx2"))) static void find_avx2(void *user, int64_t task) {
    find_sized(user, task, search_avx2);
}

__attribute__((target("avx2"))) static void mirror_avx2(void *user, int64_t task) {
    find_mirror(user, task, search_avx2);
}
#endif

static weft_finder finder(weft_vectors vectors) {
#if defined(__x86_64__)
    if (vectors == WEFT_VECTORS_AVX512)
        return (weft_finder){find_avx512, mirror_avx512};
    if (vectors == WEFT_VECTORS_AVX2)
        return (weft_finder){find_avx2, mirror_avx2};
#endif
    (void)vectors;
    return (weft_finder){find_plain, mirror_plain};
}

weft_status weft_pattern_positions(weft_device *device, const weft_pattern *pattern,
                                   const weft_connectivity *dofs, int lanes,
                                   weft_memory **positions, weft_error *error) {
    const weft_pattern_search search = {.pattern = pattern, .vectors = weft_vectors_of(device)};
    return weft_pattern_positions_by(device, &search, dofs, lanes, positions, error);
}

weft_status weft_coupling_missing(weft_error *error) {
    return weft_error_refuse(error, WEFT_ERROR_SHAPE,
                             "the pattern lacks couplings of this connectivity",
                             "make the pattern from a connectivity that contains them");
}

/* positions is NULL on a device that computes nothing. */
static weft_status work_run(weft_device *device, weft_position_work *work, weft_finder find,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_tasks = (work->n_blocks + TASK_BLOCKS - 1) / TASK_BLOCKS;
    if (!work->positions)
        goto done;
    if (work->n_upper) {
        work->mirror =
            weft_scratch_make((size_t)work->row_start[work->n_rows], sizeof *work->mirror);
        if (!work->mirror)
            TRY(weft_error_set(error, WEFT_ERROR_MEMORY,
                               "no memory for the matrix positions of %lld cells",
                               (long long)work->n_cells));
        TRY(weft_device_for(device, (work->n_rows + TASK_ROWS - 1) / TASK_ROWS, find.mirror, work,
                            error));
    }
    TRY(weft_device_for(device, n_tasks, find.positions, work, error));
    if (atomic_load(&work->missing))
        status = weft_coupling_missing(error);
done:
    free(work->mirror);
    work->mirror = NULL;
    return status;
}

weft_status weft_pattern_positions_by(weft_device *device, const weft_pattern_search *search,
                                      const weft_connectivity *dofs, int lanes,
                                      weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = search->pattern;
    weft_memory *memory = NULL;
    uint32_t *host = NULL; /* where the device's memory is not the host's */
    weft_position_work work = {.columns = pattern->columns,
                               .row_start = pattern->row_start,
                               .n_rows = pattern->n_rows,
                               .n_upper = search->n_upper,
                               .n_cells = weft_connectivity_from(dofs),
                               .width = weft_connectivity_width(dofs),
                               .lanes = lanes,
                               .map = search->map,
                               .user = search->user};
    work.n_blocks = (work.n_cells + lanes - 1) / lanes;
    size_t bytes = 0;
    if (weft_connectivity_to(dofs) != pattern->n_rows)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                           "a connectivity to %lld dofs and a pattern of %lld rows",
                           (long long)weft_connectivity_to(dofs), (long long)pattern->n_rows));
    if (__builtin_mul_overflow((size_t)work.n_blocks,
                               (size_t)(work.width * work.width * lanes) * sizeof(uint32_t),
                               &bytes))
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "too many cells for matrix positions"));
    TRY(weft_connectivity_read(dofs, error));
    work.indices = weft_connectivity_indices(dofs);
    TRY(weft_memory_make_unset(device, bytes, &memory, error));
    work.positions = weft_memory_host(memory);
    if (!work.positions && !weft_device_limits(device)->records_only) {
        work.positions = host = malloc(bytes + 1);
        if (!host)
            TRY(weft_out_of_memory(error, "the positions of a matrix"));
    }
    TRY(work_run(device, &work, finder(search->vectors), error));
    if (host)
        TRY(weft_memory_write(memory, 0, host, bytes, error));
    *positions = memory;
    memory = NULL;
done:
    free(host);
    weft_memory_free(&memory);
    return status;
}
