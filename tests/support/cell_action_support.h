/** Actions of forms on meshes of quadrilaterals and hexahedra, and their plain reference: quadrature point by point with the
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
 *  u, du  [components], [components][3] of the argument; 0 for axes and components that there are not
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

/* Stokes: the pressure is the component behind those of the velocity, of which there are `d`. */
static inline void stokes(int d, const double *u, double (*du)[3], double *f0, double (*f1)[3]) {
    for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j)
            f1[i][j] = du[i][j] - (i == j ? u[d] : 0);
        f0[d] -= du[i][i];
    }
}
static inline void stokes_2(const double *x, const double *u, double (*du)[3], const double *w,
                            double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x, (void)w, (void)dw;
    stokes(2, u, du, f0, f1);
}
static inline void stokes_3(const double *x, const double *u, double (*du)[3], const double *w,
                            double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x, (void)w, (void)dw;
    stokes(3, u, du, f0, f1);
}
static inline double action_random(uint64_t i) {
    i = (i + 1) * 0x9E3779B97F4A7C15u;
    i = (i ^ i >> 31) * 0xBF58476D1CE4E5B9u;
    i = (i ^ i >> 29) * 0x94D049BB133111EBu;
    return (double)((i ^ i >> 32) >> 11) * (2. / 9007199254740992.) - 1;
}

/* Move nodes inside of the unit cube by up to `size` along each axis. */
static inline void action_move(int d, int64_t n_nodes, double size, double *x) {
    for (int64_t i = 0; i < n_nodes; ++i) {
        bool inside = true;
        for (int c = 0; c < d; ++c)
            inside = inside && x[d * i + c] > 1e-9 && x[d * i + c] < 1 - 1e-9;
        for (int c = 0; c < d && inside; ++c)
            x[d * i + c] += size * action_random((uint64_t)(d * i + c));
    }
}

/** n^d quadrilaterals or hexahedra of the unit cube, whose inner nodes are moved; of degree 1 or 2. */
static inline weft_status action_mesh(weft_device *device, weft_cell_type cell, int degree, int n,
                                      weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *straight = NULL;
    weft_space *space = NULL;
    weft_mesh_data data = {.cell = cell, .degree = degree};
    TRY(weft_mesh_make_boxes(cell, n, &straight, error));
    const int d = data.dimension = straight->dimension;
    if (degree == 1) {
        action_move(d, straight->n_nodes, 0.15 / n, straight->x);
        *out = straight;
        straight = NULL;
        goto done;
    }
    TRY(weft_space_make(device, straight, (weft_element_kind){WEFT_LAGRANGE, degree}, 1, &space,
                        error));
    const size_t width = (size_t)weft_space_element(space)->n_nodes;
    data.n_nodes = weft_space_nodes(space);
    data.n_cells = straight->n_cells;
    data.x = weft_array_make((size_t)data.n_nodes, (size_t)d * sizeof *data.x);
    data.cells = weft_array_make((size_t)data.n_cells, width * sizeof *data.cells);
    if (!data.x || !data.cells)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory"));
    memcpy(data.x, weft_space_points(space), (size_t)(data.n_nodes * d) * sizeof *data.x);
    memcpy(data.cells, weft_space_cell_nodes(space),
           (size_t)data.n_cells * width * sizeof *data.cells);
    action_move(d, data.n_nodes, 0.05 / n, data.x);
    TRY(weft_mesh_make(&data, "moved", NULL, out, error));
done:
    weft_space_free(&space);
    weft_mesh_free(&straight);
    return status;
}

/* ---- reference ---- */

typedef struct action_table {
    int n_nodes, n_points;
    double *values; /* [1 + d][points][nodes] */
} action_table;

static inline action_table action_tabulate(weft_cell_type cell, weft_element_kind kind,
                                           const weft_quadrature *rule) {
    weft_element *element = NULL;
    action_table table = {0};
    if (weft_element_make(kind.family, cell, kind.degree, &element, NULL) != WEFT_OK)
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

/** A function with values in `components` numbers: those before `split` of the first table with interleaved dofs, then
 * those of the second table with theirs. */
typedef struct action_function {
    action_table tables[2];
    int components, split;
} action_function;

/* Dof i of component c is number *first + i * *stride of a cell. */
static inline const action_table *action_component(const action_function *f, int c, int *first,
                                                   int *stride) {
    const int second = c >= f->split, n = f->tables[0].n_nodes;
    *stride = second ? f->components - f->split : f->split;
    *first = second ? n * f->split + c - f->split : c;
    return &f->tables[second];
}
static inline int action_dofs(const action_function *f) {
    return f->split * f->tables[0].n_nodes + (f->components - f->split) * f->tables[1].n_nodes;
}

/* Value and reference gradient of one component at a point. */
static inline void action_sum(const action_table *table, int d, int point, const double *dofs,
                              int stride, double out[4]) {
    for (int k = 0; k <= d; ++k) {
        out[k] = 0;
        for (int i = 0; i < table->n_nodes; ++i)
            out[k] += table->values[(k * table->n_points + point) * table->n_nodes + i] *
                      dofs[i * stride];
    }
}

/* The Jacobian's inverse K[r][m] = dX_r/dx_m. Returns the determinant. */
static inline double action_inverse(int d, double J[3][3], double K[3][3]) {
    double det = 0;
    if (d == 2) /* the third axis is its own */
        J[2][2] = 1;
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
static inline void action_evaluate(const action_function *function, int d, int point,
                                   const double *dofs, double K[3][3], double *u, double (*du)[3]) {
    for (int c = 0; c < function->components; ++c) {
        double all[4] = {0};
        int first = 0, stride = 0;
        const action_table *table = action_component(function, c, &first, &stride);
        action_sum(table, d, point, dofs + first, stride, all);
        u[c] = all[0];
        for (int m = 0; m < d; ++m) {
            du[c][m] = 0;
            for (int r = 0; r < d; ++r)
                du[c][m] += all[1 + r] * K[r][m];
        }
    }
}

/** The tables of a form's functions. */
typedef struct action_tables {
    int d;
    weft_quadrature rule;
    action_function own, other; /* components 0: no coefficient */
    action_table geometry;
} action_tables;

/** Scalars and vectors of one element; .own.split and the second table are set behind it for others. */
static inline action_tables action_tables_make(weft_cell_type cell, int geometry,
                                               weft_element_kind kind, int components,
                                               weft_element_kind other, int other_components,
                                               int quadrature_degree) {
    action_tables made = {.d = weft_cell_of(cell)->dimension,
                          .own = {.components = components, .split = components},
                          .other = {.components = other_components, .split = other_components}};
    if (weft_quadrature_make(cell, WEFT_SCHEME_DEFAULT, quadrature_degree, &made.rule, NULL) !=
        WEFT_OK)
        abort();
    made.own.tables[0] = action_tabulate(cell, kind, &made.rule);
    made.geometry = action_tabulate(cell, (weft_element_kind){WEFT_LAGRANGE, geometry}, &made.rule);
    if (other_components > 0)
        made.other.tables[0] = action_tabulate(cell, other, &made.rule);
    return made;
}
static inline void action_tables_free(action_tables *tables) {
    for (int i = 0; i < 2; ++i) {
        free(tables->own.tables[i].values);
        free(tables->other.tables[i].values);
    }
    free(tables->geometry.values);
    weft_quadrature_free(&tables->rule);
}

/** Add the action on one cell.
 *  vertices  [nodes of the geometry][d]; dofs, result: of t->own; other: of the coefficient */
static inline void action_cell(const action_tables *t, const double *vertices, const double *dofs,
                               const double *other, cell_integrand *integrand, double *result) {
    const int d = t->d;
    for (int p = 0; p < t->rule.n; ++p) {
        double place[3] = {0}, J[3][3] = {{0}}, K[3][3], u[4] = {0}, du[4][3] = {{0}}, v[4] = {0},
               dv[4][3] = {{0}}, f0[4] = {0}, f1[4][3] = {{0}};
        for (int k = 0; k < d; ++k) {
            double all[4] = {0};
            action_sum(&t->geometry, d, p, vertices + k, d, all);
            place[k] = all[0];
            memcpy(J[k], all + 1, (size_t)d * sizeof J[k][0]);
        }
        const double scale = fabs(action_inverse(d, J, K)) * t->rule.weights[p];
        action_evaluate(&t->own, d, p, dofs, K, u, du);
        action_evaluate(&t->other, d, p, other, K, v, dv);
        integrand(place, u, du, v, dv, f0, f1);
        for (int k = 0; k < t->own.components; ++k) {
            int first = 0, stride = 0;
            const action_table *table = action_component(&t->own, k, &first, &stride);
            const int n = table->n_nodes;
            for (int i = 0; i < n; ++i) {
                const double *phi = table->values + p * n + i;
                double sum = f0[k] * phi[0];
                for (int r = 0; r < d; ++r)
                    for (int m = 0; m < d; ++m)
                        sum += f1[k][m] * K[r][m] * phi[(1 + r) * t->rule.n * n];
                result[first + i * stride] += scale * sum;
            }
        }
    }
}

/** y += the action of the integrand on all cells.
 *  dofs, others  [cells][dofs of a cell of tables->own and ->other], flat
 *  nodes         [cells][nodes of the geometry], with the coordinates `points`, [][d] */
static inline void action_reference(const action_tables *tables, int64_t n_cells,
                                    const int32_t *nodes, const double *points, const int32_t *dofs,
                                    const int32_t *others, cell_integrand *integrand,
                                    const double *x, const double *w, double *y) {
    const int n = action_dofs(&tables->own), m = action_dofs(&tables->other),
              v = tables->geometry.n_nodes, d = tables->d;
    double *own = calloc((size_t)(2 * n + m + v * d), sizeof *own), *result = own + n,
           *other = result + n, *vertices = other + m;
    if (!own)
        abort();
    for (int64_t cell = 0; cell < n_cells; ++cell) {
        for (int i = 0; i < v * d; ++i)
            vertices[i] = points[(int64_t)nodes[cell * v + i / d] * d + i % d];
        for (int i = 0; i < n; ++i) {
            own[i] = x[dofs[cell * n + i]];
            result[i] = 0;
        }
        for (int i = 0; i < m; ++i)
            other[i] = w[others[cell * m + i]];
        action_cell(tables, vertices, own, other, integrand, result);
        for (int i = 0; i < n; ++i)
            y[dofs[cell * n + i]] += result[i];
    }
    free(own);
}

#endif
