/** Boxes of quadrilaterals or hexahedra with displaced nodes for benchmarks of products: large meshes with general
 * connectivities, made without the library's meshes and spaces, and a check of products in four places. */
#ifndef CELL_BOX_SUPPORT_H
#define CELL_BOX_SUPPORT_H

#include "cell_action_support.h"

enum { BOX_BLOCK = 8 };

/** The unit square or cube in n^d cells; functions of degree p, a geometry of degree g. */
typedef struct box {
    weft_cell_type cell;
    int d, n, p, g;
    int64_t n_cells, n_dofs, n_vertices;
    int32_t *vertices, *nodes;       /* [cells][(g+1)^d], [cells][(p+1)^d] in the elements' order */
    double *x;                       /* [n_vertices][d] */
    int32_t *number;                 /* of a dof of the lattice, [(n*p+1)^d] */
    int32_t *corner;                 /* of a node of the geometry, [(n*g+1)^d] */
    const int *order, *vertex_order; /* of weft_cell_kernel; borrowed */
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

/* Numbers are given where a cell first has a node. */
static inline bool box_number(const box *b, const int64_t *cells, int degree, const int *order,
                              int32_t **lattice, int32_t **nodes, int64_t *n) {
    const int width = (int)box_power(degree + 1, b->d);
    const int64_t places = box_power((int64_t)b->n * degree + 1, b->d);
    *lattice = malloc((size_t)places * sizeof **lattice);
    *nodes = malloc((size_t)b->n_cells * (size_t)width * sizeof **nodes);
    if (!*lattice || !*nodes)
        return false;
    for (int64_t i = 0; i < places; ++i)
        (*lattice)[i] = -1;
    for (int64_t e = 0; e < b->n_cells; ++e) {
        const int64_t at[3] = {cells[e] % b->n, cells[e] / b->n % b->n, cells[e] / b->n / b->n};
        for (int t = 0; t < width; ++t) {
            int32_t *number = &(*lattice)[box_place(b, at, degree, t)];
            if (*number < 0)
                *number = (int32_t)(*n)++;
            (*nodes)[e * width + order[t]] = *number;
        }
    }
    return true;
}

static inline void box_free(box *b) {
    free(b->vertices);
    free(b->nodes);
    free(b->x);
    free(b->number);
    free(b->corner);
}

/** Fill b->n_cells and what follows; b: cell, n, p, g, order and vertex_order are set. false: out of memory. */
static inline bool box_make(box *b) {
    b->d = weft_cell_of(b->cell)->dimension;
    b->n_cells = box_power(b->n, b->d);
    int64_t *cells = box_order(b->d, b->n);
    const int64_t side = (int64_t)b->n * b->g + 1, places = box_power(side, b->d);
    const double size = b->g == 1 ? 0.15 : 0.05;
    b->x = malloc((size_t)(places * b->d) * sizeof *b->x);
    const bool made =
        cells && b->x && box_number(b, cells, b->p, b->order, &b->number, &b->nodes, &b->n_dofs) &&
        box_number(b, cells, b->g, b->vertex_order, &b->corner, &b->vertices, &b->n_vertices);
    for (int64_t i = 0; made && i < places; ++i) {
        const int64_t place[3] = {i % side, i / side % side, i / side / side};
        for (int c = 0; c < b->d; ++c) {
            const bool inside = place[c] > 0 && place[c] < side - 1;
            const double move = inside ? size * action_random((uint64_t)(b->d * i + c)) : 0;
            b->x[b->d * b->corner[i] + c] = ((double)place[c] / b->g + move) / b->n;
        }
    }
    free(cells);
    return made;
}

/** Largest error of y = A x at the dofs inside 2^d cells in four places, relative to the largest value there.
 *  degree  of the rule */
static inline double box_check(const box *b, int degree, cell_integrand *integrand, const double *x,
                               const double *y) {
    const int p = b->p, d = b->d, width = (int)box_power(p + 1, d), side = 2 * p + 1;
    const int corners = (int)box_power(b->g + 1, d), inside = (int)box_power(side, d);
    const weft_element_kind kind = {WEFT_LAGRANGE, p};
    action_tables tables = action_tables_make(b->cell, b->g, kind, 1, kind, 0, degree);
    double *dofs = calloc((size_t)(2 * width + inside + corners * d), sizeof *dofs),
           *result = dofs + width, *sums = result + width, *vertices = sums + inside, worst = 0,
           largest = 0;
    const box pair = {.d = d, .n = 2};
    for (int place = 0; dofs && place < 4; ++place) {
        int64_t at[3] = {0};
        for (int c = 0; c < d; ++c)
            at[c] = (int64_t)((action_random((uint64_t)(100 * place + c)) + 1) / 2 * (b->n - 1));
        memset(sums, 0, (size_t)inside * sizeof *sums);
        for (int cell = 0; cell < 1 << d; ++cell) {
            const int64_t own[3] = {cell & 1, cell >> 1 & 1, cell >> 2};
            const int64_t there[3] = {at[0] + own[0], at[1] + own[1], at[2] + own[2]};
            for (int t = 0; t < corners * d; ++t)
                vertices[b->vertex_order[t / d] * d + t % d] =
                    b->x[d * b->corner[box_place(b, there, b->g, t / d)] + t % d];
            for (int t = 0; t < width; ++t) {
                dofs[b->order[t]] = x[b->number[box_place(b, there, p, t)]];
                result[b->order[t]] = 0;
            }
            action_cell(&tables, vertices, dofs, NULL, integrand, result);
            for (int t = 0; t < width; ++t)
                sums[box_place(&pair, own, p, t)] += result[b->order[t]];
        }
        for (int i = 0; i < inside; ++i) {
            const int64_t lattice[3] = {i % side, i / side % side, i / side / side};
            int64_t to = 0, stride = 1;
            bool within = true;
            for (int c = 0; c < d; ++c, stride *= (int64_t)b->n * p + 1) {
                within = within && lattice[c] > 0 && lattice[c] < side - 1;
                to += (at[c] * p + lattice[c]) * stride;
            }
            if (!within)
                continue;
            const double expected = sums[i], got = y[b->number[to]];
            worst = fabs(got - expected) <= worst ? worst : fabs(got - expected);
            largest = fmax(largest, fabs(expected));
        }
    }
    free(dofs);
    action_tables_free(&tables);
    return largest > 0 ? worst / largest : INFINITY;
}

#endif
