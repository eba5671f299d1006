/** Pencils on a grid, whose eigenvalues are known: with K the difference -u'' in three directions,
 *      l = sum of 2 - 2 cos(k pi/(n + 1)), or, without the ends held, 2 - 2 cos(k pi/n), over s for M = s. */
#ifndef EIGEN_SUPPORT_H
#define EIGEN_SUPPORT_H

#include "fem/eigen/eigen.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

/* Of values, whose errors are the square of a residual of 1e-8. */
static const double TOLERANCE = 1e-11;
enum { MOST = 40 };

/* The difference on a grid of a x b x c points. */
typedef struct grid {
    int size[3];
    bool is_free; /* the ends are not held */
    weft_csr K, M;
    double values[MOST], greatest[MOST]; /* ascending; greatest: descending */
} grid;

static inline int ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static inline void fill_values(grid *g, double factor) {
    const double pi = acos(-1);
    const int n = g->size[0] * g->size[1] * g->size[2];
    double *all = calloc((size_t)n, sizeof *all);
    for (int i = 0; i < n; ++i)
        for (int axis = 0, left = i; axis < 3; left /= g->size[axis++]) {
            const int k = left % g->size[axis];
            all[i] += factor * (2 - 2 * cos(g->is_free ? k * pi / g->size[axis]
                                                       : (k + 1) * pi / (g->size[axis] + 1)));
        }
    qsort(all, (size_t)n, sizeof *all, ascending);
    for (int i = 0; i < MOST && i < n; ++i) {
        g->values[i] = all[i];
        g->greatest[i] = all[n - 1 - i];
    }
    free(all);
}

/* K and M = mass of the grid, K times `factor`. */
static inline grid grid_make(int a, int b, int c, bool is_free, double factor, double mass) {
    grid g = {.size = {a, b, c}, .is_free = is_free};
    const int n = a * b * c;
    weft_error error;
    assert_int_equal(weft_csr_allocate(n, n, 7 * (int64_t)n, &g.K, &error), WEFT_OK);
    assert_int_equal(weft_csr_allocate(n, n, n, &g.M, &error), WEFT_OK);
    int64_t at = 0;
    for (int i = 0; i < n; ++i) {
        const int strides[] = {1, a, a * b};
        double diagonal = 0;
        int64_t middle = 0;
        for (int side = -3; side <= 3; ++side) {
            const int axis = abs(side) - 1;
            if (side == 0) {
                middle = at;
                g.K.columns[at++] = i;
                continue;
            }
            const int place = i / strides[axis] % g.size[axis], to = place + (side < 0 ? -1 : 1);
            const bool is_inside = to >= 0 && to < g.size[axis];
            diagonal += is_inside || !is_free;
            if (is_inside) {
                g.K.columns[at] = i + (side < 0 ? -1 : 1) * strides[axis];
                g.K.values[at++] = -factor;
            }
        }
        g.K.values[middle] = diagonal * factor;
        g.K.row_start[i + 1] = at;
        g.M.columns[i] = i;
        g.M.values[i] = mass;
        g.M.row_start[i + 1] = i + 1;
    }
    fill_values(&g, factor / mass);
    return g;
}

static inline void grid_clear(grid *g) {
    weft_csr_clear(&g->K);
    weft_csr_clear(&g->M);
}

static inline weft_eigenpairs find_of(const weft_pencil *pencil, int n, double tolerance,
                                      bool largest) {
    weft_eigenpairs pairs = {.n = 0};
    weft_error error = {0};
    const weft_eigen_settings settings = {.n = n, .tolerance = tolerance, .max_iterations = 1000};
    check(largest ? weft_eigen_largest(pencil, &settings, &pairs, &error)
                  : weft_eigen_smallest(pencil, &settings, &pairs, &error),
          &error);
    assert_int_equal(pairs.outcome, WEFT_EIGEN_CONVERGED);
    assert_int_equal(pairs.n, n);
    return pairs;
}

static inline weft_eigenpairs find(const weft_pencil *pencil, int n, double tolerance) {
    return find_of(pencil, n, tolerance, false);
}

/* Orthonormal vectors with the largest component positive, that solve the problem. */
static inline void check_vectors(const weft_pencil *pencil, const weft_eigenpairs *pairs,
                                 double tolerance) {
    const int64_t n = pencil->K.n_rows;
    for (int k = 0; k < pairs->n; ++k) {
        const double *x = pairs->vectors + k * n;
        double residual = 0, most = 0;
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0, diagonal = 0;
            most = fabs(x[i]) > fabs(most) * (1 + 1e-5) ? x[i] : most;
            for (int64_t at = pencil->K.row_start[i]; at < pencil->K.row_start[i + 1]; ++at) {
                sum += pencil->K.values[at] * x[pencil->K.columns[at]];
                diagonal += pencil->K.columns[at] == i ? pencil->K.values[at] : 0;
            }
            sum -= pairs->values[k] * pencil->M.values[i] * x[i];
            residual += sum * sum / diagonal;
        }
        assert_true(most > 0);
        assert_true(sqrt(residual / pairs->values[k]) < 2 * tolerance);
        assert_true(pairs->residuals[k] < 2 * tolerance);
        for (int other = 0; other <= k; ++other) {
            double dot = -(other == k);
            for (int64_t i = 0; i < n; ++i)
                dot += pencil->M.values[i] * x[i] * pairs->vectors[other * n + i];
            assert_true(fabs(dot) < 1e-10);
        }
    }
}

#endif
