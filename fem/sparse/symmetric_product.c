/* Multiplies with a symmetric matrix on the host, patch by patch in local arrays, round by round.
 * The target rows of a round are distinct, so a SIMD vector of slots can be scattered at once. Halo
 * columns and the empty slot may repeat, but the results stored for them are never read. */
#include "fem/sparse/symmetric.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { TASK_PATCHES = 4, LOCAL = WEFT_SYMMETRIC_HALO + WEFT_SYMMETRIC_MOST_HALO };

typedef struct symmetric_product {
    const weft_symmetric *symmetric;
    const void *values;
    const double *v;
    double *y;
} symmetric_product;

/* The vectors of a patch by local column; own: sums over the row's own slots. */
typedef struct edge_local {
    _Alignas(64) double v[LOCAL], y[LOCAL], own[WEFT_SYMMETRIC_NODES];
} edge_local;

/* own_i += a_ij v_j and y_j += a_ij v_i for the slots of all rounds. */
typedef void (*symmetric_rounds)(edge_local *local, const void *slots, const uint16_t *columns,
                                 int n_rounds);

INLINE double value_at(const void *values, size_t k, bool single) {
    return single ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

INLINE void rounds_plain(edge_local *local, const void *slots, const uint16_t *columns,
                         int n_rounds, bool single) {
    for (int r = 0; r < n_rounds; ++r)
        for (int i = 0; i < WEFT_SYMMETRIC_NODES; ++i) {
            const size_t k = (size_t)r * WEFT_SYMMETRIC_NODES + (size_t)i;
            const double a = value_at(slots, k, single);
            local->own[i] += a * local->v[columns[k]];
            local->y[columns[k]] += a * local->v[i];
        }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl"))) INLINE void rounds_avx512(edge_local *local,
                                                                      const void *slots,
                                                                      const uint16_t *columns,
                                                                      int n_rounds, bool single) {
    for (int r = 0; r < n_rounds; ++r)
        for (int i = 0; i < WEFT_SYMMETRIC_NODES; i += 8) {
            const size_t k = (size_t)r * WEFT_SYMMETRIC_NODES + (size_t)i;
            const __m256i j =
                _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(columns + k)));
            const __m512d a = single ? _mm512_cvtps_pd(_mm256_loadu_ps((const float *)slots + k))
                                     : _mm512_loadu_pd((const double *)slots + k);
            const __m512d v_j = _mm512_i32gather_pd(j, local->v, 8);
            const __m512d y_j = _mm512_i32gather_pd(j, local->y, 8);
            const __m512d own = _mm512_load_pd(local->own + i);
            _mm512_store_pd(local->own + i, _mm512_fmadd_pd(a, v_j, own));
            _mm512_i32scatter_pd(local->y, j, _mm512_fmadd_pd(a, _mm512_load_pd(local->v + i), y_j),
                                 8);
        }
}
#endif

INLINE void patch_product(const symmetric_product *work, int64_t p, edge_local *local, bool single,
                          symmetric_rounds rounds) {
    const weft_symmetric_patch *patch = &work->symmetric->patches[p];
    const size_t size = single ? sizeof(float) : sizeof(double);
    const void *values = (const char *)work->values + (size_t)patch->first_value * size;
    const int32_t *halo = work->symmetric->lists + patch->first_list;
    const int32_t *overflow = halo + patch->n_halo, *rows = overflow + patch->n_overflow;
    const int64_t first = p * WEFT_SYMMETRIC_NODES, left = work->symmetric->n_rows - first;
    const int n = (int)(left < WEFT_SYMMETRIC_NODES ? left : WEFT_SYMMETRIC_NODES);
    memcpy(local->v, work->v + first, (size_t)n * sizeof *local->v);
    memset(local->v + n, 0, (size_t)(WEFT_SYMMETRIC_HALO - n) * sizeof *local->v);
    memset(local->y, 0, sizeof local->y);
    for (int k = 0; k < patch->n_halo; ++k)
        local->v[WEFT_SYMMETRIC_HALO + k] = work->v[halo[k]];
    for (int i = 0; i < WEFT_SYMMETRIC_NODES; ++i)
        local->own[i] = value_at(values, (size_t)i, single) * local->v[i];
    rounds(local, (const char *)values + WEFT_SYMMETRIC_NODES * size,
           work->symmetric->columns + patch->first_column, patch->n_rounds);
    const size_t first_overflow = (size_t)(patch->n_rounds + 1) * WEFT_SYMMETRIC_NODES;
    for (uint32_t k = 0; k < patch->n_overflow; ++k)
        local->own[rows[k]] += value_at(values, first_overflow + k, single) *
                               (overflow[k] >= 0 ? local->v[overflow[k]] : work->v[~overflow[k]]);
    for (int i = 0; i < n; ++i)
        work->y[first + i] = local->own[i] + local->y[i];
}

INLINE void patches_product(void *user, int64_t task, bool single, symmetric_rounds rounds) {
    const symmetric_product *work = user;
    edge_local local;
    for (int64_t p = task * TASK_PATCHES; p < (task + 1) * TASK_PATCHES; ++p)
        if (p < work->symmetric->n_patches)
            patch_product(work, p, &local, single, rounds);
}

static void double_plain(edge_local *local, const void *slots, const uint16_t *columns,
                         int n_rounds) {
    rounds_plain(local, slots, columns, n_rounds, false);
}

static void single_plain(edge_local *local, const void *slots, const uint16_t *columns,
                         int n_rounds) {
    rounds_plain(local, slots, columns, n_rounds, true);
}

static void task_double_plain(void *user, int64_t task) {
    patches_product(user, task, false, double_plain);
}

static void task_single_plain(void *user, int64_t task) {
    patches_product(user, task, true, single_plain);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl"))) static void
double_avx512(edge_local *local, const void *slots, const uint16_t *columns, int n_rounds) {
    rounds_avx512(local, slots, columns, n_rounds, false);
}

__attribute__((target("avx512f,avx512vl"))) static void
single_avx512(edge_local *local, const void *slots, const uint16_t *columns, int n_rounds) {
    rounds_avx512(local, slots, columns, n_rounds, true);
}

static void task_double_avx512(void *user, int64_t task) {
    patches_product(user, task, false, double_avx512);
}

static void task_single_avx512(void *user, int64_t task) {
    patches_product(user, task, true, single_avx512);
}
#endif

static weft_task choose(weft_vectors vectors, bool single) {
#if defined(__x86_64__)
    if (vectors == WEFT_VECTORS_AVX512 && __builtin_cpu_supports("avx512vl"))
        return single ? task_single_avx512 : task_double_avx512;
#endif
    (void)vectors;
    return single ? task_single_plain : task_double_plain;
}

weft_status weft_symmetric_product_by(weft_device *device, const weft_symmetric_values *matrix,
                                      weft_vectors vectors, const double *v, double *y,
                                      weft_error *error) {
    symmetric_product work = {matrix->symmetric, matrix->values, v, y};
    return weft_device_for(device, (matrix->symmetric->n_patches + TASK_PATCHES - 1) / TASK_PATCHES,
                           choose(vectors, matrix->single), &work, error);
}

weft_status weft_symmetric_product(weft_device *device, const weft_symmetric *symmetric,
                                   const void *values, bool single, const double *v, double *y,
                                   weft_error *error) {
    const weft_symmetric_values matrix = {symmetric, values, single};
    return weft_symmetric_product_by(device, &matrix, weft_vectors_of(device), v, y, error);
}
