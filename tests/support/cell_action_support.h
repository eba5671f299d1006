/** Actions of forms on meshes of hexahedra, and their plain reference: quadrature point by point with the
 * functions of the whole cell, without factors. For tests and benchmarks. */
#ifndef CELL_ACTION_SUPPORT_H
#define CELL_ACTION_SUPPORT_H

#include "fem/weft_fem.h"
#include "forms/file/file.h"
#include "forms/lower/action.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The integrand f0 . v + f1 : grad v at a point, by hand.
 *  u, du  [components], [components][3] of the argument
 *  w, dw  the same of the coefficient
 *  f0, f1 [components], [components][3], zero before */
typedef void cell_integrand(const double *x, const double *u, double (*du)[3], const double *w,
                            double (*dw)[3], double *f0, double (*f1)[3]);

/* The integrands of the mass matrix and of the Laplacian. */
static inline void mass(const double *x, const double *u, double (*du)[3], const double *w,
                        double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x, (void)du, (void)w, (void)dw, (void)f1;
    f0[0] = u[0];
}
static inline void laplace(const double *x, const double *u, double (*du)[3], const double *w,
                           double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x, (void)u, (void)w, (void)dw, (void)f0;
    memcpy(f1[0], du[0], sizeof f1[0]);
}

static inline double action_random(uint64_t i) {
    i = (i + 1) * 0x9E3779B97F4A7C15u;
    i = (i ^ i >> 31) * 0xBF58476D1CE4E5B9u;
    i = (i ^ i >> 29) * 0x94D049BB133111EBu;
    return (double)((i ^ i >> 32) >> 11) * (2. / 9007199254740992.) - 1;
}

/** n^3 hexahedra of the unit cube, whose inner vertices are moved. */
static inline weft_status action_mesh(int n, weft_mesh **out, weft_error *error) {
    const weft_status status = weft_mesh_make_boxes(WEFT_HEXAHEDRON, n, out, error);
    for (int64_t i = 0; status == WEFT_OK && i < (*out)->n_nodes; ++i) {
        double *x = (*out)->x + 3 * i;
        bool inside = true;
        for (int c = 0; c < 3; ++c)
            inside = inside && x[c] > 1e-9 && x[c] < 1 - 1e-9;
        for (int c = 0; c < 3 && inside; ++c)
            x[c] += 0.15 / n * action_random((uint64_t)(3 * i + c));
    }
    return status;
}

/* ---- reference ---- */

typedef struct action_table {
    int n_nodes, n_points;
    double *values; /* [4][points][nodes] */
} action_table;

static inline action_table action_tabulate(weft_family family, int degree,
                                           const weft_quadrature *rule) {
    weft_element *element = NULL;
    action_table table = {0};
    if (weft_element_make(family, WEFT_HEXAHEDRON, degree, &element, NULL) != WEFT_OK)
        abort();
    table.n_nodes = element->n_nodes;
    table.n_points = rule->n;
    table.values = malloc((size_t)(4 * rule->n * element->n_nodes) * sizeof(double));
    if (!table.values ||
        weft_element_tabulate(element, 1, rule->n, rule->points, table.values, NULL) != WEFT_OK)
        abort();
    weft_element_free(&element);
    return table;
}

/* Value and reference gradient of one component at a point. */
static inline void action_sum(const action_table *table, int point, const double *dofs,
                              int components, double out[4]) {
    for (int d = 0; d < 4; ++d) {
        out[d] = 0;
        for (int i = 0; i < table->n_nodes; ++i)
            out[d] += table->values[(d * table->n_points + point) * table->n_nodes + i] *
                      dofs[i * components];
    }
}

/* The Jacobian's inverse K[r][m] = dX_r/dx_m. Returns the determinant. */
static inline double action_inverse(double J[3][3], double K[3][3]) {
    double det = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            K[j][i] = J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] -
                      J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3];
    for (int j = 0; j < 3; ++j)
        det += J[0][j] * K[j][0];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            K[i][j] /= det;
    return det;
}

/* Physical values and gradients of all components. */
static inline void action_evaluate(const action_table *table, int point, const double *dofs,
                                   int components, double K[3][3], double *u, double (*du)[3]) {
    for (int c = 0; c < components; ++c) {
        double all[4];
        action_sum(table, point, dofs + c, components, all);
        u[c] = all[0];
        for (int m = 0; m < 3; ++m) {
            du[c][m] = 0;
            for (int r = 0; r < 3; ++r)
                du[c][m] += all[1 + r] * K[r][m];
        }
    }
}

/** The tables of a form's functions. */
typedef struct action_tables {
    weft_quadrature rule;
    action_table own, other, geometry;
    int components, other_components; /* 0: no coefficient */
} action_tables;

static inline action_tables action_tables_make(weft_element_kind kind, int components,
                                               weft_element_kind other, int other_components,
                                               int quadrature_degree) {
    action_tables made = {.components = components, .other_components = other_components};
    if (weft_quadrature_make(WEFT_HEXAHEDRON, WEFT_SCHEME_DEFAULT, quadrature_degree, &made.rule,
                             NULL) != WEFT_OK)
        abort();
    made.own = action_tabulate(kind.family, kind.degree, &made.rule);
    made.geometry = action_tabulate(WEFT_LAGRANGE, 1, &made.rule);
    if (other_components > 0)
        made.other = action_tabulate(other.family, other.degree, &made.rule);
    return made;
}
static inline void action_tables_free(action_tables *tables) {
    free(tables->own.values);
    free(tables->other.values);
    free(tables->geometry.values);
    weft_quadrature_free(&tables->rule);
}

/** Add the action on one cell.
 *  vertices  [8][3]; dofs, result [nodes][components]; other: of the coefficient */
static inline void action_cell(const action_tables *t, const double *vertices, const double *dofs,
                               const double *other, cell_integrand *integrand, double *result) {
    const int n = t->own.n_nodes, c = t->components, stride = t->rule.n * n;
    for (int p = 0; p < t->rule.n; ++p) {
        double place[3], J[3][3], K[3][3], u[4], du[4][3], v[4], dv[4][3], f0[4] = {0},
                                                                           f1[4][3] = {{0}};
        for (int k = 0; k < 3; ++k) {
            double all[4];
            action_sum(&t->geometry, p, vertices + k, 3, all);
            place[k] = all[0];
            memcpy(J[k], all + 1, sizeof J[k]);
        }
        const double scale = fabs(action_inverse(J, K)) * t->rule.weights[p];
        action_evaluate(&t->own, p, dofs, c, K, u, du);
        action_evaluate(&t->other, p, other, t->other_components, K, v, dv);
        integrand(place, u, du, v, dv, f0, f1);
        for (int k = 0; k < c; ++k)
            for (int i = 0; i < n; ++i) {
                const double *phi = t->own.values + p * n + i;
                double sum = f0[k] * phi[0];
                for (int r = 0; r < 3; ++r)
                    for (int m = 0; m < 3; ++m)
                        sum += f1[k][m] * K[r][m] * phi[(1 + r) * stride];
                result[i * c + k] += scale * sum;
            }
    }
}

/** y += the action of the integrand on all cells.
 *  x, w  of the spaces; w: coefficient of `other`, may be NULL with it */
static inline void action_reference(const weft_space *space, const weft_space *other,
                                    int quadrature_degree, cell_integrand *integrand,
                                    const double *x, const double *w, double *y) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_space *const spaces[2] = {space, other ? other : space};
    weft_element_kind kinds[2];
    for (int i = 0; i < 2; ++i)
        kinds[i] = (weft_element_kind){weft_space_element(spaces[i])->family,
                                       weft_space_element(spaces[i])->degree};
    const int c = weft_space_components(space), oc = other ? weft_space_components(other) : 0;
    action_tables tables = action_tables_make(kinds[0], c, kinds[1], oc, quadrature_degree);
    const int n = tables.own.n_nodes * c, m = tables.other.n_nodes * oc;
    double *dofs = calloc((size_t)(2 * n + m), sizeof *dofs), *result = dofs + n,
           *others = result + n;
    if (!dofs)
        abort();
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        const int32_t *nodes = weft_space_cell_nodes(space) + cell * tables.own.n_nodes;
        double vertices[24];
        for (int i = 0; i < 24; ++i)
            vertices[i] = mesh->x[3 * mesh->cells[8 * cell + i / 3] + i % 3];
        for (int i = 0; i < n; ++i) {
            dofs[i] = x[(int64_t)nodes[i / c] * c + i % c];
            result[i] = 0;
        }
        for (int i = 0; i < m; ++i)
            others[i] =
                w[(int64_t)weft_space_cell_nodes(other)[cell * tables.other.n_nodes + i / oc] * oc +
                  i % oc];
        action_cell(&tables, vertices, dofs, others, integrand, result);
        for (int i = 0; i < n; ++i)
            y[(int64_t)nodes[i / c] * c + i % c] += result[i];
    }
    free(dofs);
    action_tables_free(&tables);
}

#endif
