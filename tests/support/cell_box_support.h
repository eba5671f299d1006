/** Boxes of quadrilaterals or hexahedra with displaced nodes for benchmarks of products: large meshes with general
 * connectivities, made without the library's meshes and spaces, and a check of products in four places. */
#ifndef CELL_BOX_SUPPORT_H
#define CELL_BOX_SUPPORT_H

#include "cell_action_support.h"

enum { BOX_BLOCK = 8 };

/** Where a scalar function has its dofs: node i of a cell is number first + i * stride among the dofs of the cell, and
 * node j of all is number base + j * stride of all dofs. */
typedef struct box_field {
    int degree, first, stride;
    int64_t base;
    const int32_t *number; /* of a node of the lattice, [(n*degree+1)^d] */
    const int *order;      /* node i of the lattice of a cell is node order[i] of its element */
} box_field;

/** The unit square or cube in n^d cells; functions of degree p, a geometry of degree g. With a pressure, vectors of degree
 * p and then a scalar of degree p - 1 (Taylor and Hood). */
typedef struct box {
    weft_cell_type cell;
    int d, n, p, g;
    bool pressure;
    const int *order, *pressure_order, *vertex_order; /* borrowed */
    int64_t n_cells, n_dofs, n_vertices;
    int width, n_fields; /* width: dofs of a cell */
    box_field fields[4];
    int32_t *vertices, *dofs; /* [cells][(g+1)^d], [cells][width] in the elements' order */
    double *x;                /* [n_vertices][d] */
    int32_t *numbers[3];      /* of lattices: functions, pressure, geometry */
} box;

static inline int64_t box_power(int64_t n, int d) {
    return d == 3 ? n * n * n : n * n;
}

/* Cell number `cell`, in blocks of BOX_BLOCK^d cells. */
static inline int64_t *box_order(int d, int n) {
    const int depth = d == 3 ? n : 1;
    int64_t *order = malloc((size_t)box_power(n, d) * sizeof *order), count = 0;
    for (int K = 0; order && K < depth; K += BOX_BLOCK)
        for (int J = 0; J < n; J += BOX_BLOCK)
            for (int I = 0; I < n; I += BOX_BLOCK)
                for (int k = K; k < K + BOX_BLOCK && k < depth; ++k)
                    for (int j = J; j < J + BOX_BLOCK && j < n; ++j)
                        for (int i = I; i < I + BOX_BLOCK && i < n; ++i)
                            order[count++] = ((int64_t)k * n + j) * n + i;
    return order;
}

/* Where node t (x fastest) of a cell is on the lattice of functions of this degree. */
static inline int64_t box_place(const box *b, const int64_t *cell, int degree, int t) {
    const int64_t side = (int64_t)b->n * degree + 1;
    int64_t place = 0, stride = 1;
    for (int a = 0; a < b->d; ++a, t /= degree + 1, stride *= side)
        place += (cell[a] * degree + t % (degree + 1)) * stride;
    return place;
}

/* Number the lattice of a degree: where a cell first has a node. */
static inline bool box_number(const box *b, const int64_t *cells, int degree, int32_t **lattice,
                              int64_t *n) {
    const int width = (int)box_power(degree + 1, b->d);
    const int64_t places = box_power((int64_t)b->n * degree + 1, b->d);
    *lattice = malloc((size_t)places * sizeof **lattice);
    *n = 0;
    if (!*lattice)
        return false;
    for (int64_t i = 0; i < places; ++i)
        (*lattice)[i] = -1;
    for (int64_t e = 0; e < b->n_cells; ++e) {
        const int64_t at[3] = {cells[e] % b->n, cells[e] / b->n % b->n, cells[e] / b->n / b->n};
        for (int t = 0; t < width; ++t) {
            int32_t *number = &(*lattice)[box_place(b, at, degree, t)];
            if (*number < 0)
                *number = (int32_t)(*n)++;
        }
    }
    return true;
}

/* The dofs of a field in all cells. */
static inline void box_fill(const box *b, const int64_t *cells, const box_field *f, int width,
                            int32_t *out) {
    const int nodes = (int)box_power(f->degree + 1, b->d);
    for (int64_t e = 0; e < b->n_cells; ++e) {
        const int64_t at[3] = {cells[e] % b->n, cells[e] / b->n % b->n, cells[e] / b->n / b->n};
        for (int t = 0; t < nodes; ++t)
            out[e * width + f->first + f->order[t] * f->stride] =
                (int32_t)(f->base + (int64_t)f->number[box_place(b, at, f->degree, t)] * f->stride);
    }
}

static inline void box_free(box *b) {
    free(b->vertices);
    free(b->dofs);
    free(b->x);
    for (int i = 0; i < 3; ++i)
        free(b->numbers[i]);
}

/* Lists the fields of a numbered box. */
static inline void box_fields(box *b, int64_t n_nodes, int64_t n_pressure) {
    const int c = b->pressure ? b->d : 1, width = (int)box_power(b->p + 1, b->d) * c;
    for (int k = 0; k < c; ++k)
        b->fields[k] = (box_field){b->p, k, c, k, b->numbers[0], b->order};
    b->n_fields = c;
    b->width = width;
    b->n_dofs = n_nodes * c;
    if (!b->pressure)
        return;
    b->fields[b->n_fields++] =
        (box_field){b->p - 1, width, 1, b->n_dofs, b->numbers[1], b->pressure_order};
    b->width += (int)box_power(b->p, b->d);
    b->n_dofs += n_pressure;
}

static inline void box_displace(box *b) {
    const int64_t side = (int64_t)b->n * b->g + 1;
    const double size = b->g == 1 ? 0.15 : 0.05;
    for (int64_t i = 0; i < b->n_vertices; ++i) {
        const int64_t place[3] = {i % side, i / side % side, i / side / side};
        for (int c = 0; c < b->d; ++c) {
            const bool inside = place[c] > 0 && place[c] < side - 1;
            const double move = inside ? size * action_random((uint64_t)(b->d * i + c)) : 0;
            b->x[b->d * b->numbers[2][i] + c] = ((double)place[c] / b->g + move) / b->n;
        }
    }
}

/** Fill b->n_cells and what follows; b: what is before is set, but d. false: out of memory. */
static inline bool box_make(box *b) {
    int64_t n_nodes = 0, n_pressure = 0;
    b->d = weft_cell_of(b->cell)->dimension;
    b->n_cells = box_power(b->n, b->d);
    const int corners = (int)box_power(b->g + 1, b->d);
    int64_t *cells = box_order(b->d, b->n);
    bool made = cells && box_number(b, cells, b->p, &b->numbers[0], &n_nodes) &&
                (!b->pressure || box_number(b, cells, b->p - 1, &b->numbers[1], &n_pressure)) &&
                box_number(b, cells, b->g, &b->numbers[2], &b->n_vertices);
    if (made) {
        box_fields(b, n_nodes, n_pressure);
        b->x = malloc((size_t)(b->n_vertices * b->d) * sizeof *b->x);
        b->dofs = malloc((size_t)b->n_cells * (size_t)b->width * sizeof *b->dofs);
        b->vertices = malloc((size_t)b->n_cells * (size_t)corners * sizeof *b->vertices);
        made = b->x && b->dofs && b->vertices;
    }
    for (int i = 0; made && i < b->n_fields; ++i)
        box_fill(b, cells, &b->fields[i], b->width, b->dofs);
    if (made) {
        const box_field vertices = {b->g, 0, 1, 0, b->numbers[2], b->vertex_order};
        box_fill(b, cells, &vertices, corners, b->vertices);
        box_displace(b);
    }
    free(cells);
    return made;
}

static inline action_tables box_tables(const box *b, int degree) {
    const weft_element_kind kind = {WEFT_LAGRANGE, b->p};
    const int components = b->pressure ? b->d : 1;
    action_tables tables = action_tables_make(b->cell, b->g, kind, components, kind, 0, degree);
    if (b->pressure) {
        tables.own.tables[1] =
            action_tabulate(b->cell, (weft_element_kind){WEFT_LAGRANGE, b->p - 1}, &tables.rule);
        ++tables.own.components;
    }
    return tables;
}

/* The result of a cell, of x. */
static inline void box_cell(const box *b, const action_tables *tables, const int64_t *at,
                            cell_integrand *integrand, const double *x, double *dofs,
                            double *vertices, double *result) {
    const int corners = (int)box_power(b->g + 1, b->d);
    for (int t = 0; t < corners * b->d; ++t)
        vertices[b->vertex_order[t / b->d] * b->d + t % b->d] =
            b->x[b->d * b->numbers[2][box_place(b, at, b->g, t / b->d)] + t % b->d];
    for (int i = 0; i < b->n_fields; ++i) {
        const box_field *f = &b->fields[i];
        for (int t = 0; t < (int)box_power(f->degree + 1, b->d); ++t)
            dofs[f->first + f->order[t] * f->stride] =
                x[f->base + (int64_t)f->number[box_place(b, at, f->degree, t)] * f->stride];
    }
    memset(result, 0, (size_t)b->width * sizeof *result);
    action_cell(tables, vertices, dofs, NULL, integrand, result);
}

/* The place on the box's lattice of place i of the lattice of 2^d cells from cell `at`; -1: on their boundary. */
static inline int64_t box_inside(const box *b, const int64_t *at, int degree, int i) {
    const int side = 2 * degree + 1;
    int64_t to = 0, stride = 1;
    for (int c = 0; c < b->d; ++c, i /= side, stride *= (int64_t)b->n * degree + 1) {
        if (i % side == 0 || i % side == side - 1)
            return -1;
        to += (at[c] * degree + i % side) * stride;
    }
    return to;
}

/** Largest error of y = A x at the dofs inside 2^d cells in four places, relative to the largest value there.
 *  degree  of the rule */
static inline double box_check(const box *b, int degree, cell_integrand *integrand, const double *x,
                               const double *y) {
    const int d = b->d, most = (int)box_power(2 * b->p + 1, d);
    action_tables tables = box_tables(b, degree);
    const int vertex_numbers = tables.geometry.n_nodes * d;
    double *dofs = calloc((size_t)(2 * b->width + 4 * most + vertex_numbers), sizeof *dofs);
    double *result = dofs + b->width, *sums = result + b->width, *vertices = sums + 4 * most;
    double worst = 0, largest = 0;
    const box pair = {.d = d, .n = 2};
    for (int place = 0; dofs && place < 4; ++place) {
        int64_t at[3] = {0};
        for (int c = 0; c < d; ++c)
            at[c] = (int64_t)((action_random((uint64_t)(100 * place + c)) + 1) / 2 * (b->n - 1));
        memset(sums, 0, (size_t)(4 * most) * sizeof *sums);
        for (int cell = 0; cell < 1 << d; ++cell) {
            const int64_t own[3] = {cell & 1, cell >> 1 & 1, cell >> 2};
            const int64_t there[3] = {at[0] + own[0], at[1] + own[1], at[2] + own[2]};
            box_cell(b, &tables, there, integrand, x, dofs, vertices, result);
            for (int i = 0; i < b->n_fields; ++i) {
                const box_field *f = &b->fields[i];
                for (int t = 0; t < (int)box_power(f->degree + 1, d); ++t)
                    sums[i * most + box_place(&pair, own, f->degree, t)] +=
                        result[f->first + f->order[t] * f->stride];
            }
        }
        for (int i = 0; i < b->n_fields * most; ++i) {
            const box_field *f = &b->fields[i / most];
            const int64_t to = i % most < (int)box_power(2 * f->degree + 1, d)
                                   ? box_inside(b, at, f->degree, i % most)
                                   : -1;
            if (to < 0)
                continue;
            const double got = y[f->base + (int64_t)f->number[to] * f->stride];
            worst = fabs(got - sums[i]) <= worst ? worst : fabs(got - sums[i]);
            largest = fmax(largest, fabs(sums[i]));
        }
    }
    free(dofs);
    action_tables_free(&tables);
    return largest > 0 ? worst / largest : INFINITY;
}

#endif
