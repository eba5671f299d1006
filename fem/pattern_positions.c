#include "operator_internal.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { TASK_BLOCKS = 512 };

typedef struct weft_position_work {
    const int32_t *indices, *columns;
    const int64_t *row_start;
    uint32_t *positions;
    int64_t n_cells, n_blocks;
    int width, lanes;
    atomic_bool missing;
} weft_position_work;

/* The place of a column in a row of n, or at least n. Columns of a row differ, so the first equal
 * entry is the one; what vectors read past the row's end (padding, or the next row) comes later. */
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

INLINE void find(weft_position_work *work, int64_t task, int width, int lanes,
                 weft_row_search search) {
    int64_t last =
        (task + 1) * TASK_BLOCKS < work->n_blocks ? (task + 1) * TASK_BLOCKS : work->n_blocks;
    bool missing = false;
    for (int64_t block = task * TASK_BLOCKS; block < last; ++block)
        for (int lane = 0; lane < lanes; ++lane) {
            int64_t cell = block * lanes + lane;
            const int32_t *nodes =
                work->indices + (cell < work->n_cells ? cell : work->n_cells - 1) * width;
            uint32_t *out = work->positions + block * width * width * lanes + lane;
            for (int i = 0; i < width; ++i) {
                int64_t first = work->row_start[nodes[i]];
                int64_t n = work->row_start[nodes[i] + 1] - first;
                for (int j = 0; j < width; ++j) {
                    int64_t place = search(work->columns + first, nodes[j], n);
                    missing |= place >= n;
                    out[(i * width + j) * lanes] = (uint32_t)(first + place);
                }
            }
        }
    if (missing)
        atomic_store(&work->missing, true);
}

/* The usual sizes are constants, so that their loops unroll. */
INLINE void find_sized(weft_position_work *work, int64_t task, weft_row_search search) {
    if (work->width == 3)
        find(work, task, 3, work->lanes, search);
    else if (work->width == 4)
        find(work, task, 4, work->lanes, search);
    else
        find(work, task, work->width, work->lanes, search);
}

static void find_plain(void *user, int64_t task) {
    find_sized(user, task, search_plain);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void find_avx512(void *user, int64_t task) {
    find_sized(user, task, search_avx512);
}

__attribute__((target("avx2"))) static void find_avx2(void *user, int64_t task) {
    find_sized(user, task, search_avx2);
}
#endif

static weft_task finder(weft_vectors vectors) {
#if defined(__x86_64__)
    if (vectors == WEFT_VECTORS_AVX512)
        return find_avx512;
    if (vectors == WEFT_VECTORS_AVX2)
        return find_avx2;
#endif
    (void)vectors;
    return find_plain;
}

weft_status weft_pattern_positions(weft_device *device, const weft_pattern *pattern,
                                   const weft_connectivity *dofs, int lanes,
                                   weft_memory **positions, weft_error *error) {
    return weft_pattern_positions_by(device, pattern, dofs, lanes, weft_vectors_here(), positions,
                                     error);
}

weft_status weft_pattern_positions_by(weft_device *device, const weft_pattern *pattern,
                                      const weft_connectivity *dofs, int lanes,
                                      weft_vectors vectors, weft_memory **positions,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = NULL;
    weft_position_work work = {.indices = weft_connectivity_indices(dofs),
                               .columns = pattern->columns,
                               .row_start = pattern->row_start,
                               .n_cells = weft_connectivity_from(dofs),
                               .width = weft_connectivity_width(dofs),
                               .lanes = lanes};
    work.n_blocks = (work.n_cells + lanes - 1) / lanes;
    size_t bytes = 0;
    if (weft_connectivity_to(dofs) != pattern->n_rows) {
        status = weft_error_set(error, WEFT_ERROR_SHAPE,
                                "a connectivity to %lld dofs and a pattern of %lld rows",
                                (long long)weft_connectivity_to(dofs), (long long)pattern->n_rows);
        goto done;
    }
    if (__builtin_mul_overflow((size_t)work.n_blocks,
                               (size_t)(work.width * work.width * lanes) * sizeof(uint32_t),
                               &bytes)) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "too many cells for matrix positions");
        goto done;
    }
    TRY(weft_memory_make(device, bytes, &memory, error));
    work.positions = weft_memory_host(memory);
    if (work.positions) { /* else a device that computes nothing */
        TRY(weft_device_for(device, (work.n_blocks + TASK_BLOCKS - 1) / TASK_BLOCKS,
                            finder(vectors), &work, error));
        if (atomic_load(&work.missing)) {
            status = weft_error_set(error, WEFT_ERROR_SHAPE,
                                    "the pattern lacks couplings of this connectivity");
            weft_error_hint(error, "make the pattern from a connectivity that contains them");
            goto done;
        }
    }
    *positions = memory;
    memory = NULL;
done:
    weft_memory_free(&memory);
    return status;
}
