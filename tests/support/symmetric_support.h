/* Symmetric patterns and matrices for the tests of edges, and the product by rows to compare with.
 */
#ifndef SYMMETRIC_SUPPORT_H
#define SYMMETRIC_SUPPORT_H

#include "core/weft_core.h"
#include "fem/sparse/symmetric.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t edge_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* In (-1, 1) and with 20 bits, so that floats hold it exactly. */
static inline double edge_number(uint64_t *state) {
    return (double)(edge_random(state) % 2097151) / 1048576.0 - 1;
}

static inline int edge_ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/** The pattern of an edge list (pairs of rows, repetition allowed), with the diagonal or without.
 */
static inline weft_pattern *edge_pattern(int64_t n, const int32_t (*pairs)[2], int64_t n_pairs,
                                         bool diagonal) {
    uint64_t *keys = calloc((size_t)(2 * n_pairs + n + 1), sizeof *keys);
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    size_t n_keys = 0;
    for (int64_t k = 0; k < n_pairs; ++k)
        for (int side = 0; side < 2 && pairs[k][0] != pairs[k][1]; ++side)
            keys[n_keys++] = (uint64_t)pairs[k][side] << 32 | (uint32_t)pairs[k][1 - side];
    for (int64_t i = 0; i < n && diagonal; ++i)
        keys[n_keys++] = (uint64_t)i << 32 | (uint64_t)i;
    qsort(keys, n_keys, sizeof *keys, edge_ascending);
    pattern->n_rows = n;
    pattern->row_start = weft_array_make((size_t)n + 1, sizeof *pattern->row_start);
    pattern->columns = weft_array_make(n_keys, sizeof *pattern->columns);
    for (size_t k = 0; k < n_keys; ++k)
        if (k == 0 || keys[k] != keys[k - 1]) {
            pattern->columns[pattern->n_entries++] = (int32_t)(uint32_t)keys[k];
            pattern->row_start[(keys[k] >> 32) + 1] += 1;
        }
    for (int64_t i = 0; i < n; ++i)
        pattern->row_start[i + 1] += pattern->row_start[i];
    free(keys);
    return pattern;
}

/** A number for each pair, the same for (i, j) and (j, i). */
static inline double edge_entry(int64_t i, int64_t j) {
    uint64_t state =
        (uint64_t)(i < j ? i : j) * 2654435761u + (uint64_t)(i < j ? j : i) * 40503 + 1;
    edge_random(&state);
    edge_random(&state);
    return edge_number(&state);
}

static inline int64_t edge_place(const weft_symmetric *edge, int64_t row, uint32_t offset) {
    return edge->patches[row / WEFT_SYMMETRIC_NODES].first_value + offset;
}

/** The values of the matrix of edge_entry. */
static inline double *symmetric_values(const weft_symmetric *edge, const weft_pattern *pattern) {
    double *values = weft_array_make((size_t)edge->n_values, sizeof *values);
    for (int64_t i = 0; i < pattern->n_rows; ++i)
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k)
            if (edge->offsets[k] != WEFT_SYMMETRIC_DISCARD)
                values[edge_place(edge, i, edge->offsets[k])] = edge_entry(i, pattern->columns[k]);
    return values;
}

/** y = A v by rows, and in `sizes` (NULL allowed) the sum of the sizes of the terms. */
static inline void symmetric_reference(const weft_pattern *pattern, const double *v, double *y,
                                       double *sizes) {
    for (int64_t i = 0; i < pattern->n_rows; ++i) {
        double sum = 0, size = 0;
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k) {
            const double term = edge_entry(i, pattern->columns[k]) * v[pattern->columns[k]];
            sum += term;
            size += fabs(term);
        }
        y[i] = sum;
        if (sizes)
            sizes[i] = size;
    }
}

typedef enum edge_kind {
    EDGE_TRIANGLES, /* a square, numbered by lines */
    EDGE_TETS,      /* a cube, numbered by lines */
    EDGE_SHUFFLED,  /* the same, shuffled */
    EDGE_HUB,       /* a ring, and one row coupled with all */
    EDGE_DENSE,     /* every row with 200 random ones */
    EDGE_EMPTY,     /* a diagonal alone */
    EDGE_KINDS
} edge_kind;

/** About n rows of a kind: n exactly, but for triangles and tetrahedra. */
static inline weft_pattern *edge_pattern_of(edge_kind kind, int64_t n, bool diagonal) {
    uint64_t state = 88172645463325252u + (uint64_t)kind;
    const int d = kind == EDGE_TRIANGLES ? 2 : 3;
    int64_t side = 1, n_pairs = 0, plane;
    if (kind <= EDGE_SHUFFLED) {
        while ((d == 2 ? 1 : side) * side * side < n)
            ++side;
        n = (d == 2 ? 1 : side) * side * side;
    }
    plane = side * side;
    const int64_t step[7] = {1, side, side + 1, plane, plane + 1, plane + side, plane + side + 1};
    int32_t(*pairs)[2] = calloc((size_t)n * 200 + 1, sizeof *pairs);
    for (int64_t i = 0; i < n; ++i) {
        for (int k = 0; kind <= EDGE_SHUFFLED && k < (d == 2 ? 3 : 7); ++k) {
            const int64_t j = i + step[k]; /* a step of 1 wraps at the end of a line: no harm */
            if (j < n) {
                pairs[n_pairs][0] = (int32_t)i;
                pairs[n_pairs++][1] = (int32_t)j;
            }
        }
        const int64_t hub[2] = {(i + 1) % n, n / 3};
        for (int k = 0; kind == EDGE_HUB && k < 2; ++k) {
            pairs[n_pairs][0] = (int32_t)i;
            pairs[n_pairs++][1] = (int32_t)hub[k];
        }
        for (int k = 0; kind == EDGE_DENSE && k < 100; ++k) {
            pairs[n_pairs][0] = (int32_t)i;
            pairs[n_pairs++][1] = (int32_t)(edge_random(&state) % (uint64_t)n);
        }
    }
    if (kind == EDGE_SHUFFLED) {
        int32_t *to = malloc((size_t)n * sizeof *to);
        for (int64_t i = 0; i < n; ++i)
            to[i] = (int32_t)i;
        for (int64_t i = n - 1; i > 0; --i) {
            const int64_t j = (int64_t)(edge_random(&state) % (uint64_t)(i + 1));
            const int32_t kept = to[i];
            to[i] = to[j];
            to[j] = kept;
        }
        for (int64_t k = 0; k < n_pairs; ++k)
            for (int side_of = 0; side_of < 2; ++side_of)
                pairs[k][side_of] = to[pairs[k][side_of]];
        free(to);
    }
    weft_pattern *pattern = edge_pattern(n, (const int32_t(*)[2])pairs, n_pairs, diagonal);
    free(pairs);
    return pattern;
}

#endif
