/** What the tests of algebraic multigrid share: matrices of linear elements, assembled plainly, and
 *  a V-cycle written out as a reference. */
#ifndef WEFT_MULTIGRID_SUPPORT_H
#define WEFT_MULTIGRID_SUPPORT_H

#include "core/weft_core.h"
#include "fem/multigrid/multigrid.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices ------------------------------------------------------------------------------- */

/** A matrix whose rows grow; finished into a weft_csr. */
typedef struct test_rows {
    int64_t n_rows, n_columns;
    int *n, *capacity;
    int32_t **columns;
    double **values;
} test_rows;

static inline test_rows test_rows_make(int64_t n_rows, int64_t n_columns) {
    test_rows rows = {.n_rows = n_rows, .n_columns = n_columns};
    rows.n = calloc((size_t)n_rows + 1, sizeof *rows.n);
    rows.capacity = calloc((size_t)n_rows + 1, sizeof *rows.capacity);
    rows.columns = calloc((size_t)n_rows + 1, sizeof *rows.columns);
    rows.values = calloc((size_t)n_rows + 1, sizeof *rows.values);
    return rows;
}

static inline void test_rows_add(test_rows *rows, int64_t i, int64_t j, double value) {
    int k = rows->n[i];
    while (k > 0 && rows->columns[i][k - 1] > j)
        --k;
    if (k > 0 && rows->columns[i][k - 1] == j) {
        rows->values[i][k - 1] += value;
        return;
    }
    if (rows->n[i] == rows->capacity[i]) {
        size_t capacity = (size_t)(rows->capacity[i] = 2 * rows->capacity[i] + 8);
        rows->columns[i] = realloc(rows->columns[i], capacity * sizeof **rows->columns);
        rows->values[i] = realloc(rows->values[i], capacity * sizeof **rows->values);
    }
    memmove(rows->columns[i] + k + 1, rows->columns[i] + k,
            (size_t)(rows->n[i] - k) * sizeof **rows->columns);
    memmove(rows->values[i] + k + 1, rows->values[i] + k,
            (size_t)(rows->n[i] - k) * sizeof **rows->values);
    rows->columns[i][k] = (int32_t)j;
    rows->values[i][k] = value;
    ++rows->n[i];
}

static inline weft_csr test_rows_finish(test_rows *rows) {
    weft_csr out = {.n_rows = rows->n_rows, .n_columns = rows->n_columns};
    int64_t n = 0, at = 0;
    for (int64_t i = 0; i < rows->n_rows; ++i)
        n += rows->n[i];
    out.row_start = weft_array_make((size_t)rows->n_rows + 1, sizeof *out.row_start);
    out.columns = weft_array_make((size_t)n, sizeof *out.columns);
    out.values = weft_array_make((size_t)n, sizeof *out.values);
    for (int64_t i = 0; i < rows->n_rows; ++i) {
        for (int k = 0; k < rows->n[i]; ++k, ++at) {
            out.columns[at] = rows->columns[i][k];
            out.values[at] = rows->values[i][k];
        }
        out.row_start[i + 1] = at;
        free(rows->columns[i]);
        free(rows->values[i]);
    }
    free(rows->n);
    free(rows->capacity);
    free(rows->columns);
    free(rows->values);
    return out;
}

/** Move the inner nodes of square:n or cube:n at random by at most `share` of the mesh size. */
static inline void test_mesh_jitter(weft_mesh *mesh, int64_t n, double share) {
    uint64_t seed = 88172645463325252;
    int d = mesh->dimension;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        bool inner = true;
        for (int c = 0; c < d; ++c)
            inner &= mesh->x[i * d + c] > 1e-9 && mesh->x[i * d + c] < 1 - 1e-9;
        for (int c = 0; c < d && inner; ++c) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            mesh->x[i * d + c] += share / (double)n * ((double)(seed % 1000001) / 500000 - 1);
        }
    }
}

/** Gradients of a cell's basis functions; returns its volume. */
static inline double test_gradients(const weft_mesh *mesh, int64_t cell, double g[4][3]) {
    int d = mesh->dimension;
    const int32_t *v = mesh->cells + cell * (d + 1);
    double e[3][3] = {{0}, {0}, {0, 0, 1}}, det;
    memset(g, 0, 4 * sizeof *g);
    for (int j = 0; j < d; ++j)
        for (int c = 0; c < d; ++c)
            e[j][c] = mesh->x[(int64_t)v[j + 1] * d + c] - mesh->x[(int64_t)v[0] * d + c];
    for (int j = 0; j < 3; ++j)
        for (int c = 0; c < 3; ++c) {
            const double *a = e[(j + 1) % 3], *b = e[(j + 2) % 3];
            g[j + 1][c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
        }
    if (d == 2)
        memset(g[3], 0, sizeof g[3]);
    det = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2];
    for (int j = 1; j <= d; ++j)
        for (int c = 0; c < d; ++c) {
            g[j][c] /= det;
            g[0][c] -= g[j][c];
        }
    return fabs(det) / (d == 2 ? 2 : 6);
}

/** A problem: its matrix, constrained dofs and coordinates. */
typedef struct test_problem {
    weft_mesh *mesh; /* borrowed */
    int components;
    weft_csr A;
    int32_t *constrained;
    int64_t n_constrained;
} test_problem;

static inline void test_problem_clear(test_problem *p) {
    weft_csr_clear(&p->A);
    free(p->constrained);
    *p = (test_problem){0};
}

static inline weft_aggregation_options test_options(const test_problem *p) {
    return (weft_aggregation_options){.constrained = p->constrained,
                                      .n_constrained = p->n_constrained,
                                      .components = p->components,
                                      .dimension = p->mesh->dimension,
                                      .x = p->mesh->x,
                                      .rigid_body_modes = p->components > 1,
                                      .coarsest_rows = 400};
}

/** Replace rows and columns of the nodes on a group (NULL: of none) by those of the identity. */
static inline void test_constrain(test_problem *p, const char *group) {
    int g;
    int32_t *nodes = NULL;
    int64_t n = 0, c = p->components;
    weft_csr *A = &p->A;
    if (!group)
        return;
    assert_int_equal(weft_mesh_group(p->mesh, group, &g, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_group_nodes(p->mesh, g, &nodes, &n, NULL), WEFT_OK);
    p->n_constrained = n * c;
    p->constrained = calloc((size_t)(n * c) + 1, sizeof *p->constrained);
    uint8_t *is = calloc((size_t)A->n_rows + 1, 1);
    for (int64_t k = 0; k < n * c; ++k) {
        p->constrained[k] = (int32_t)(nodes[k / c] * c + k % c);
        is[p->constrained[k]] = 1;
    }
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (is[i] || is[A->columns[k]])
                A->values[k] = A->columns[k] == i;
    free(is);
    free(nodes);
}

/** -div(k grad u), k = inside the ball of radius 1/4 around the centre, 1 elsewhere. */
static inline test_problem test_poisson(weft_mesh *mesh, double inside, const char *group) {
    test_problem p = {.mesh = mesh, .components = 1};
    test_rows rows = test_rows_make(mesh->n_nodes, mesh->n_nodes);
    int d = mesh->dimension;
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        const int32_t *v = mesh->cells + cell * (d + 1);
        double g[4][3], volume = test_gradients(mesh, cell, g), distance = 0;
        for (int c = 0; c < d; ++c) {
            double centre = 0;
            for (int k = 0; k <= d; ++k)
                centre += mesh->x[(int64_t)v[k] * d + c] / (d + 1);
            distance += (centre - 0.5) * (centre - 0.5);
        }
        for (int a = 0; a <= d; ++a)
            for (int b = 0; b <= d; ++b)
                test_rows_add(&rows, v[a], v[b],
                              volume * (distance < 1.0 / 16 ? inside : 1) *
                                  (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]));
    }
    p.A = test_rows_finish(&rows);
    test_constrain(&p, group);
    return p;
}

/** Isotropic elasticity with E = 1. */
static inline test_problem test_elasticity(weft_mesh *mesh, double nu, const char *group) {
    int d = mesh->dimension;
    test_problem p = {.mesh = mesh, .components = d};
    test_rows rows = test_rows_make(mesh->n_nodes * d, mesh->n_nodes * d);
    double lambda = nu / (1 + nu) / (1 - 2 * nu), mu = 0.5 / (1 + nu);
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        const int32_t *v = mesh->cells + cell * (d + 1);
        double g[4][3], volume = test_gradients(mesh, cell, g);
        for (int a = 0; a <= d; ++a)
            for (int b = 0; b <= d; ++b) {
                double gg = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
                for (int i = 0; i < d; ++i)
                    for (int j = 0; j < d; ++j)
                        test_rows_add(&rows, (int64_t)v[a] * d + i, (int64_t)v[b] * d + j,
                                      volume * (lambda * g[a][i] * g[b][j] +
                                                mu * g[a][j] * g[b][i] + (i == j ? mu * gg : 0)));
            }
    }
    p.A = test_rows_finish(&rows);
    test_constrain(&p, group);
    return p;
}

/* ---- the reference V-cycle ------------------------------------------------------------------ */

static inline void test_multiply(const weft_csr *A, const double *v, double *y) {
    for (int64_t i = 0; i < A->n_rows; ++i) {
        y[i] = 0;
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            y[i] += A->values[k] * v[A->columns[k]];
    }
}

/** y += A^T v. */
static inline void test_multiply_transposed(const weft_csr *A, const double *v, double *y) {
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            y[A->columns[k]] += A->values[k] * v[i];
}

typedef struct test_cycle {
    const weft_algebraic_level *levels;
    int n_levels, degree;
    double *factor;   /* dense Cholesky factor of the coarsest matrix, by rows */
    double **vectors; /* [n_levels]: diagonal, residual, step, correction, right-hand side */
} test_cycle;

/** Pivots that are rounding error of a singular matrix are skipped: their rows remain zero. */
static inline void test_factor(test_cycle *c) {
    const weft_csr *A = &c->levels[c->n_levels - 1].A;
    int64_t n = A->n_rows;
    double *L = c->factor = calloc((size_t)(n * n) + 1, sizeof *L);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            L[i * n + A->columns[k]] = A->values[k];
    for (int64_t i = 0; i < n; ++i) {
        double before = L[i * n + i];
        for (int64_t j = 0; j <= i; ++j) {
            double sum = L[i * n + j];
            for (int64_t k = 0; k < j; ++k)
                sum -= L[i * n + k] * L[j * n + k];
            if (j < i)
                L[i * n + j] = L[j * n + j] != 0 ? sum / L[j * n + j] : 0;
            else
                L[i * n + i] = sum > 1e-11 * before ? sqrt(sum) : 0;
        }
    }
}

static inline void test_solve_coarsest(const test_cycle *c, const double *b, double *x) {
    int64_t n = c->levels[c->n_levels - 1].A.n_rows;
    const double *L = c->factor;
    for (int64_t i = 0; i < n; ++i) {
        double sum = b[i];
        for (int64_t k = 0; k < i; ++k)
            sum -= L[i * n + k] * x[k];
        x[i] = L[i * n + i] != 0 ? sum / L[i * n + i] : 0;
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        x[i] = L[i * n + i] != 0 ? x[i] / L[i * n + i] : 0;
        for (int64_t k = 0; k < i; ++k)
            x[k] -= L[i * n + k] * x[i];
    }
}

static inline test_cycle test_cycle_make(const weft_algebraic_level *levels, int n, int degree) {
    test_cycle c = {.levels = levels, .n_levels = n, .degree = degree};
    c.vectors = calloc((size_t)n, sizeof *c.vectors);
    for (int l = 0; l < n; ++l) {
        const weft_csr *A = &levels[l].A;
        c.vectors[l] = calloc(5 * (size_t)A->n_rows + 1, sizeof **c.vectors);
        for (int64_t i = 0; i < A->n_rows; ++i)
            for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
                if (A->columns[k] == i)
                    c.vectors[l][i] = A->values[k];
    }
    test_factor(&c);
    return c;
}

static inline void test_cycle_free(test_cycle *c) {
    for (int l = 0; l < c->n_levels; ++l)
        free(c->vectors[l]);
    free(c->vectors);
    free(c->factor);
}

/** Chebyshev polynomials of the fourth kind: Phillips and Fischer 2022, algorithm 3 without its
 *  optimised weights. */
static inline void test_smooth(const test_cycle *c, int l, const double *b, double *x) {
    const weft_csr *A = &c->levels[l].A;
    int64_t n = A->n_rows;
    double *diagonal = c->vectors[l], *residual = diagonal + n, *step = residual + n;
    double lambda = c->levels[l].lambda;
    test_multiply(A, x, residual);
    for (int64_t i = 0; i < n; ++i) {
        residual[i] = b[i] - residual[i];
        step[i] = 4.0 / 3 / lambda * residual[i] / diagonal[i];
    }
    for (int k = 1; k <= c->degree; ++k) {
        for (int64_t i = 0; i < n; ++i)
            x[i] += step[i];
        if (k == c->degree)
            break;
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (int64_t e = A->row_start[i]; e < A->row_start[i + 1]; ++e)
                sum += A->values[e] * step[A->columns[e]];
            residual[i] -= sum;
        }
        for (int64_t i = 0; i < n; ++i)
            step[i] = (2.0 * k - 1) / (2 * k + 3) * step[i] +
                      (8.0 * k + 4) / (2 * k + 3) / lambda * residual[i] / diagonal[i];
    }
}

/** x = V(b). */
static inline void test_cycle_apply(const test_cycle *c, int l, const double *b, double *x) {
    const weft_csr *A = &c->levels[l].A, *P = &c->levels[l].P;
    int64_t n = A->n_rows;
    if (l == c->n_levels - 1) {
        test_solve_coarsest(c, b, x);
        return;
    }
    double *residual = c->vectors[l] + n, *coarse = c->vectors[l + 1] + 3 * P->n_columns;
    double *coarse_b = coarse + P->n_columns;
    memset(x, 0, (size_t)n * sizeof *x);
    test_smooth(c, l, b, x);
    test_multiply(A, x, residual);
    for (int64_t i = 0; i < n; ++i)
        residual[i] = b[i] - residual[i];
    memset(coarse_b, 0, (size_t)P->n_columns * sizeof *coarse_b);
    test_multiply_transposed(P, residual, coarse_b);
    test_cycle_apply(c, l + 1, coarse_b, coarse);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = P->row_start[i]; k < P->row_start[i + 1]; ++k)
            x[i] += P->values[k] * coarse[P->columns[k]];
    test_smooth(c, l, b, x);
}

static inline double test_dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/** Iterations of conjugate gradients to |r| <= 1e-8 |b|, from zero; at most 200. */
static inline int test_iterations(const weft_algebraic_level *levels, int n_levels, int degree,
                                  const double *b) {
    const weft_csr *A = &levels[0].A;
    int64_t n = A->n_rows;
    test_cycle c = test_cycle_make(levels, n_levels, degree);
    double *r = calloc(4 * (size_t)n + 1, sizeof *r), *z = r + n, *p = z + n, *q = p + n;
    double norm = sqrt(test_dot(b, b, n)), rz = 0;
    int count = 0;
    memcpy(r, b, (size_t)n * sizeof *r);
    for (; count < 200 && sqrt(test_dot(r, r, n)) > 1e-8 * norm; ++count) {
        test_cycle_apply(&c, 0, r, z);
        double next = test_dot(r, z, n), beta = count ? next / rz : 0;
        for (int64_t i = 0; i < n; ++i)
            p[i] = z[i] + beta * p[i];
        test_multiply(A, p, q);
        double alpha = next / test_dot(p, q, n);
        for (int64_t i = 0; i < n; ++i)
            r[i] -= alpha * q[i];
        rz = next;
    }
    free(r);
    test_cycle_free(&c);
    return count;
}

#endif
