/* A system to solve on a GPU, and the textbook's loop on the host to compare with. */
#ifndef CG_LATTICE_H
#define CG_LATTICE_H

#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6000 };

/* The seven-point stencil of triangles with random couplings, side^2 numbers in tiles of 16 by 32.
 */

typedef struct lattice {
    weft_pattern pattern;
    double *entries, *b, *inverse; /* b is 0 where constrained */
} lattice;

static inline int32_t *tiles(int side) {
    int32_t *number = malloc((size_t)side * (size_t)side * sizeof *number), next = 0;
    for (int ty = 0; ty < side; ty += 16)
        for (int tx = 0; tx < side; tx += 32)
            for (int y = ty; y < ty + 16 && y < side; ++y)
                for (int x = tx; x < tx + 32 && x < side; ++x)
                    number[y * side + x] = next++;
    return number;
}

/* Of an edge, the same from both sides: 1 to 2. */
static inline double coupling(int64_t i, int64_t j) {
    uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    return 1 + (double)((low * 2654435761u + high * 40503u) % 1000) / 1000;
}

static inline lattice lattice_make(int side, bool jacobi) {
    static const int step[6][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};
    int64_t n = (int64_t)side * side;
    lattice a = {.pattern = {.n_rows = n}};
    int32_t *number = tiles(side), *at = malloc((size_t)n * sizeof *at);
    a.pattern.row_start = calloc((size_t)n + 1, sizeof *a.pattern.row_start);
    a.pattern.columns = malloc((size_t)n * 7 * sizeof *a.pattern.columns);
    a.entries = malloc((size_t)n * 7 * sizeof *a.entries);
    a.b = calloc((size_t)n, sizeof *a.b);
    a.inverse = calloc((size_t)n, sizeof *a.inverse);
    for (int32_t p = 0; p < n; ++p)
        at[number[p]] = p;
    for (int64_t i = 0; i < n; ++i) {
        int x = at[i] % side, y = at[i] / side;
        int64_t *end = &a.pattern.n_entries, first = *end;
        double sum = 1e-3;
        a.pattern.columns[(*end)++] = (int32_t)i;
        for (int s = 0; s < 6; ++s) {
            int u = x + step[s][0], v = y + step[s][1];
            if (u < 0 || v < 0 || u >= side || v >= side)
                continue;
            int32_t j = number[v * side + u];
            a.pattern.columns[*end] = j;
            a.entries[*end] = -coupling(i, j);
            sum -= a.entries[(*end)++];
        }
        a.entries[first] = sum;
        a.pattern.row_start[i + 1] = *end;
        if (x > 0 && y > 0 && x < side - 1 && y < side - 1) { /* else constrained to 0 */
            a.inverse[i] = jacobi ? 1 / sum : 1;
            a.b[i] = sin(0.37 * (double)i) + 0.2;
        }
    }
    free(number);
    free(at);
    return a;
}

static inline void lattice_free(lattice *a) {
    free(a->pattern.row_start);
    free(a->pattern.columns);
    free(a->entries);
    free(a->b);
    free(a->inverse);
}

/* y = A v, 0 where constrained */
static inline void apply(const lattice *a, const double *v, double *y) {
    for (int64_t i = 0; i < a->pattern.n_rows; ++i) {
        y[i] = 0;
        for (int64_t e = a->pattern.row_start[i]; e < a->pattern.row_start[i + 1]; ++e)
            y[i] += a->inverse[i] > 0 ? a->entries[e] * v[a->pattern.columns[e]] : 0;
    }
}

static inline double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* Saad 2003, algorithm 9.1. Returns iterations; *indefinite where p.Ap <= 0 ended them. */
static inline int textbook(const lattice *a, double limit, double *x, double *rr,
                           bool *indefinite) {
    int64_t n = a->pattern.n_rows;
    size_t bytes = (size_t)n * sizeof(double);
    double *r = malloc(bytes), *z = malloc(bytes), *p = calloc((size_t)n, sizeof *p);
    double *q = malloc(bytes), before = INFINITY;
    int i = 0;
    memcpy(r, a->b, bytes);
    memset(x, 0, bytes);
    *indefinite = false;
    for (;; ++i) {
        rr[i] = dot(r, r, n);
        if (rr[i] <= limit || i == MOST)
            break;
        for (int64_t k = 0; k < n; ++k)
            z[k] = a->inverse[k] * r[k];
        double rz = dot(r, z, n);
        for (int64_t k = 0; k < n; ++k)
            p[k] = z[k] + rz / before * p[k];
        apply(a, p, q);
        double pq = dot(p, q, n);
        *indefinite = pq <= 0;
        if (*indefinite)
            break;
        for (int64_t k = 0; k < n; ++k) {
            x[k] += rz / pq * p[k];
            r[k] -= rz / pq * q[k];
        }
        before = rz;
    }
    free(r);
    free(z);
    free(p);
    free(q);
    return i;
}

#endif
