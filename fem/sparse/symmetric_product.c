/* Multiplies with a symmetric matrix on the host, patch by patch in local arrays, round by round.
 * The target rows of a round are distinct, so a SIMD vector of slots can be scattered at once. Halo
 * columns and the empty slot may repeat, but the results stored for them are never read. */
#include "fem/sparse/symmetric.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { TASK_PATCHES = 4, LOCAL = WEFT_SYMMETRIC_HALO + WEFT_SYMMETRIC_MOST_HALO };

/* The vectors of a patch by local column; own: sums over the row's own slots. */
typedef struct edge_local {
    _Alignas(64) double v[LOCAL], y[LOCAL], own[WEFT_SYMMETRIC_NODES];
} edge_local;

/* own_i += a_ij v_j and y_j += a_ij v_i for the slots of all rounds. */
typedef void (*symmetric_rounds)(edge_local *local, const double *slots, const uint16_t *columns,
                                 int n_rounds);

typedef struct symmetric_product {
    const weft_symmetric *symmetric;
    const double *values;
    const double *v;
    double *y;
    symmetric_rounds rounds;
} symmetric_product;

static void rounds_plain(edge_local *local, const double *slots, const uint16_t *columns,
                         int n_rounds) {
    for (int r = 0; r < n_rounds; ++r)
        for (int i = 0; i < WEFT_SYMMETRIC_NODES; ++i) {
            const size_t k = (size_t)r * WEFT_SYMMETRIC_NODES + (size_t)i;
            const double a = slots[k];
            local->own[i] += a * local->v[columns[k]];
            local->y[columns[k]] += a * local->v[i];
        }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl"))) static void
rounds_avx512(edge_local *local, const double *slots, const uint16_t *columns, int n_rounds) {
    for (int r = 0; r < n_rounds; ++r)
        for (int i = 0; i < WEFT_SYMMETRIC_NODES; i += 8) {
            const size_t k = (size_t)r * WEFT_SYMMETRIC_NODES + (size_t)i;
            const __m256i j =
                _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(columns + k)));
            const __m512d a = _mm512_loadu_pd(slots + k);
            const __m512d v_j = _mm512_i32gather_pd(j, local->v, 8);
            const __m512d y_j = _mm512_i32gather_pd(j, local->y, 8);
            const __m512d own = _mm512_load_pd(local->own + i);
            _mm512_store_pd(local->own + i, _mm512_fmadd_pd(a, v_j, own));
            _mm512_i32scatter_pd(local->y, j, _mm512_fmadd_pd(a, _mm512_load_pd(local->v + i), y_j),
                                 8);
        }
}
#endif

static void patch_product(const symmetric_product *work, int64_t p, edge_local *local) {
    const weft_symmetric_patch *patch = &work->symmetric->patches[p];
    const double *values = work->values + patch->first_value;
    const double *overflow_values = values + (patch->n_rounds + 1) * WEFT_SYMMETRIC_NODES;
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
        local->own[i] = values[i] * local->v[i];
    work->rounds(local, values + WEFT_SYMMETRIC_NODES,
                 work->symmetric->columns + patch->first_column, patch->n_rounds);
    for (uint32_t k = 0; k < patch->n_overflow; ++k)
        local->own[rows[k]] +=
            overflow_values[k] * (overflow[k] >= 0 ? local->v[overflow[k]] : work->v[~overflow[k]]);
    for (int i = 0; i < n; ++i)
        work->y[first + i] = local->own[i] + local->y[i];
}

static void patches_product(void *user, int64_t task) {
    const symmetric_product *work = user;
    edge_local local;
    for (int64_t p = task * TASK_PATCHES; p < (task + 1) * TASK_PATCHES; ++p)
        if (p < work->symmetric->n_patches)
            patch_product(work, p, &local);
}

weft_status weft_symmetric_product(weft_device *device, const weft_symmetric *symmetric,
                                   const double *values, weft_vectors vectors, const double *v,
                                   double *y, weft_error *error) {
    symmetric_product work = {symmetric, values, v, y, rounds_plain};
#if defined(__x86_64__)
    if (vectors == WEFT_VECTORS_AVX512 && __builtin_cpu_supports("avx512vl"))
        work.rounds = rounds_avx512;
#endif
    (void)vectors;
    return weft_device_for(device, (symmetric->n_patches + TASK_PATCHES - 1) / TASK_PATCHES,
                           patches_product, &work, error);
}
