/* Makes the Galerkin product of uniformly refined meshes from the parents of their nodes, without the prolongation.
 * The sums of the upper triangle alone are not faster, because which half an addition belongs to is
 * not predictable; local matrices of the children would need the pattern of the coarse mesh, and hold for P1 only. */
#include "fem/multigrid/private.h"

#include "fem/base/marks.h"
#include "fem/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 14, MOST_CHUNKS = 16 };

/* P has the weights 1/2 and 1/2 at the ends of a fine dof, which are the same dof for one that exists on the
 * coarser level. Weights of constrained dofs go to column n_coarse, which is left out. */
typedef struct refined {
    const weft_csr *A;
    const weft_parents *parents;
    int components;
    int64_t n_fine, n_coarse; /* dofs */
    uint8_t *fixed;           /* [n_coarse] */
    int32_t *ends;            /* [n_fine][2] */
    int64_t *first_bad;       /* [chunks] entry of parents that is out of range; -1 */
    /* the fine dofs of each coarse dof, ascending: their lists are counted and filled in chunks of the fine dofs */
    int64_t n_chunks;
    int64_t *offsets; /* [n_chunks][n_coarse] */
    int64_t *start;   /* [n_coarse + 1] */
    int32_t *fine;
} refined;

/* ---- the ends of each fine dof ---- */

static weft_status check_dofs(const int32_t *dofs, int64_t n, int64_t n_all, weft_error *error) {
    for (int64_t k = 0; k < n; ++k)
        if (dofs[k] < 0 || dofs[k] >= n_all)
            return weft_error_set(error, WEFT_ERROR_SHAPE, "constrained dof %lld of %lld dofs",
                                  (long long)dofs[k], (long long)n_all);
    return WEFT_OK;
}

static void chunk_ends(void *user, int64_t chunk) {
    const refined *r = user;
    const int32_t *parents = r->parents->parents;
    const int64_t n = r->parents->n_fine, last = (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
    r->first_bad[chunk] = -1;
    for (int64_t k = 2 * chunk * CHUNK; k < 2 * last; ++k) {
        if (parents[k] < 0 || parents[k] >= r->parents->n_coarse) {
            r->first_bad[chunk] = k;
            return;
        }
        for (int c = 0; c < r->components; ++c) {
            const int32_t end = parents[k] * r->components + c;
            r->ends[(k / 2 * r->components + c) * 2 + k % 2] =
                r->fixed[end] ? (int32_t)r->n_coarse : end;
        }
    }
}

static weft_status find_ends(weft_device *device, refined *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_parents *parents = r->parents;
    const int64_t n_chunks = (parents->n_fine + CHUNK - 1) / CHUNK;
    TRY(check_dofs(parents->fine_constrained, parents->n_fine_constrained, r->n_fine, error));
    TRY(check_dofs(parents->coarse_constrained, parents->n_coarse_constrained, r->n_coarse, error));
    r->fixed =
        weft_marks_of(parents->coarse_constrained, parents->n_coarse_constrained, r->n_coarse);
    r->first_bad = malloc((size_t)(n_chunks + 1) * sizeof *r->first_bad);
    r->ends = weft_scratch_make(2 * (size_t)r->n_fine + 1, sizeof *r->ends);
    if (!r->fixed || !r->first_bad || !r->ends)
        TRY(weft_out_of_memory(error, "a prolongation"));
    TRY(weft_device_for(device, n_chunks, chunk_ends, r, error));
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const int64_t k = r->first_bad[chunk];
        if (k >= 0)
            TRY(weft_error_set(error, WEFT_ERROR_SHAPE, "node %lld has the parent %lld of %lld",
                               (long long)(k / 2), (long long)parents->parents[k],
                               (long long)parents->n_coarse));
    }
    for (int64_t k = 0; k < parents->n_fine_constrained; ++k)
        for (int end = 0; end < 2; ++end)
            r->ends[2 * (int64_t)parents->fine_constrained[k] + end] = (int32_t)r->n_coarse;
done:
    return status;
}

/* ---- the fine dofs of each coarse dof ---- */

static void chunk_count(void *user, int64_t chunk) {
    const refined *r = user;
    int64_t *offsets = r->offsets + chunk * r->n_coarse;
    const int64_t last = weft_chunk_start(r->n_fine, chunk + 1, r->n_chunks);
    memset(offsets, 0, (size_t)r->n_coarse * sizeof *offsets);
    for (int64_t i = weft_chunk_start(r->n_fine, chunk, r->n_chunks); i < last; ++i) {
        const int32_t *ends = r->ends + 2 * i;
        if (ends[0] < r->n_coarse)
            ++offsets[ends[0]];
        if (ends[1] < r->n_coarse && ends[1] != ends[0])
            ++offsets[ends[1]];
    }
}

static void chunk_fill(void *user, int64_t chunk) {
    const refined *r = user;
    int64_t *offsets = r->offsets + chunk * r->n_coarse;
    const int64_t last = weft_chunk_start(r->n_fine, chunk + 1, r->n_chunks);
    for (int64_t i = weft_chunk_start(r->n_fine, chunk, r->n_chunks); i < last; ++i) {
        const int32_t *ends = r->ends + 2 * i;
        if (ends[0] < r->n_coarse)
            r->fine[offsets[ends[0]]++] = (int32_t)i;
        if (ends[1] < r->n_coarse && ends[1] != ends[0])
            r->fine[offsets[ends[1]]++] = (int32_t)i;
    }
}

static void sum_offsets(const refined *r) {
    int64_t sum = 0;
    for (int64_t c = 0; c < r->n_coarse; ++c) {
        r->start[c] = sum;
        for (int64_t chunk = 0; chunk < r->n_chunks; ++chunk) {
            const int64_t n = r->offsets[chunk * r->n_coarse + c];
            r->offsets[chunk * r->n_coarse + c] = sum;
            sum += n;
        }
    }
    r->start[r->n_coarse] = sum;
}

static weft_status list_fine(weft_device *device, refined *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t wanted = r->n_fine / (2 * r->n_coarse + 1) + 1;
    r->n_chunks = wanted < MOST_CHUNKS ? wanted : MOST_CHUNKS;
    r->offsets = weft_scratch_make((size_t)(r->n_chunks * r->n_coarse) + 1, sizeof *r->offsets);
    r->start = malloc((size_t)(r->n_coarse + 1) * sizeof *r->start);
    r->fine = weft_scratch_make(2 * (size_t)r->n_fine + 1, sizeof *r->fine);
    if (!r->offsets || !r->start || !r->fine)
        TRY(weft_out_of_memory(error, "a prolongation"));
    TRY(weft_device_for(device, r->n_chunks, chunk_count, r, error));
    sum_offsets(r);
    TRY(weft_device_for(device, r->n_chunks, chunk_fill, r, error));
done:
    return status;
}

/* ---- the product ---- */

/* The sums of a row. Additions to one column follow each other closely: four sums per column wait less for each
 * other. */
typedef struct sums {
    weft_row_sum row;
    double (*parts)[4]; /* [slots], zero between rows */
} sums;

static inline double *part_of(sums *s, const int32_t *keys, int shift, int32_t column) {
    const uint32_t slot = weft_row_sum_hash(column, shift);
    return s
        ->parts[__builtin_expect(keys[slot] == column, 1) ? slot
                                                          : weft_row_sum_probe(&s->row, column)];
}

static inline void add_entry(sums *s, const int32_t *keys, int shift, const int32_t *ends,
                             double value, int part) {
    part_of(s, keys, shift, ends[0])[part] += value;
    part_of(s, keys, shift, ends[1])[2 + part] += value;
}

/* Add `weight` times row i of A P, whose entries are halves. */
static void add_row(const refined *r, int64_t i, double weight, sums *s) {
    const int32_t *keys = s->row.keys, *ends = r->ends, *columns = r->A->columns;
    const double *values = r->A->values;
    const int shift = s->row.shift;
    const int64_t last = r->A->row_start[i + 1];
    int64_t k = r->A->row_start[i];
    for (; k + 1 < last; k += 2) {
        add_entry(s, keys, shift, ends + 2 * (int64_t)columns[k], weight * values[k], 0);
        add_entry(s, keys, shift, ends + 2 * (int64_t)columns[k + 1], weight * values[k + 1], 1);
    }
    if (k < last)
        add_entry(s, keys, shift, ends + 2 * (int64_t)columns[k], weight * values[k], 0);
}

/* Row I of P^T A P is the sum over the fine dofs i of I: p_iI (A P)_i. */
static void sum_row(const refined *r, int64_t coarse, sums *s) {
    const weft_csr *A = r->A;
    const int64_t end = r->start[coarse + 1];
    for (int64_t at = r->start[coarse]; at < end; ++at) {
        const int64_t i = r->fine[at], next = A->row_start[r->fine[at + 2 < end ? at + 2 : at]];
        __builtin_prefetch(A->columns + next);
        __builtin_prefetch(A->values + next);
        __builtin_prefetch(A->values + next + 8);
        add_row(r, i, r->ends[2 * i] == r->ends[2 * i + 1] ? 0.5 : 0.25, s);
    }
    for (int64_t k = 0; k < s->row.n_used; ++k) {
        double *part = s->parts[s->row.used[k]];
        s->row.sums[s->row.used[k]] = (part[0] + part[1]) + (part[2] + part[3]);
        memset(part, 0, sizeof s->parts[0]);
    }
}

static bool fill_rows(const void *user, weft_csr_chunk *chunk) {
    const refined *r = user;
    sums s = {0};
    int64_t most = 0;
    bool done = false;
    for (int64_t coarse = chunk->first; coarse < chunk->last; ++coarse) {
        int64_t n = 0;
        for (int64_t at = r->start[coarse]; at < r->start[coarse + 1]; ++at)
            n += 2 * (r->A->row_start[r->fine[at] + 1] - r->A->row_start[r->fine[at]]);
        most = n > most ? n : most;
    }
    if (!weft_row_sum_make(&s.row, most < r->n_coarse ? most : r->n_coarse + 1))
        goto done;
    s.parts = calloc(weft_row_sum_slots(&s.row), sizeof *s.parts);
    if (!s.parts)
        goto done;
    for (int64_t coarse = chunk->first; coarse < chunk->last; ++coarse) {
        const int64_t before = chunk->n;
        sum_row(r, coarse, &s);
        if (!weft_csr_chunk_reserve(chunk, s.row.n_used))
            goto done;
        weft_row_sum_append(&s.row, true, chunk);
        chunk->n -= chunk->n > before && chunk->columns[chunk->n - 1] == r->n_coarse;
        chunk->lengths[coarse - chunk->first] = chunk->n - before;
    }
    done = true;
done:
    weft_row_sum_free(&s.row);
    free(s.parts);
    return done;
}

weft_status weft_galerkin_refined(weft_device *device, const weft_csr *A,
                                  const weft_parents *parents, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int components = parents->components ? parents->components : 1;
    refined r = {.A = A,
                 .parents = parents,
                 .components = components,
                 .n_fine = parents->n_fine * components,
                 .n_coarse = parents->n_coarse * components};
    weft_csr made = {.n_rows = r.n_coarse, .n_columns = r.n_coarse};
    if (A->n_rows != r.n_fine || A->n_columns != r.n_fine)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                           "a matrix of %lld rows and %lld columns for %lld refined dofs",
                           (long long)A->n_rows, (long long)A->n_columns, (long long)r.n_fine));
    TRY(find_ends(device, &r, error));
    TRY(list_fine(device, &r, error));
    TRY(weft_csr_build(device, fill_rows, &r, &made, error));
    *out = made;
done:
    free(r.fixed);
    free(r.ends);
    free(r.first_bad);
    free(r.offsets);
    free(r.start);
    free(r.fine);
    return status;
}
