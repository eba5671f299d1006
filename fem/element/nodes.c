/* Places the nodes of Lagrange elements: Gauss-Lobatto-Legendre points on edges, warped points on
 * triangles and tetrahedra, products on quadrilaterals and hexahedra. */
#include "fem/element/private.h"

#include <math.h>
#include <stdlib.h>

enum { LINE_MAX = WEFT_ELEMENT_DEGREE_MAX + 1 };

/* Nodes of [0, 1] for the degree. */
static void line_nodes(int degree, bool warped, double *x) {
    double weights[LINE_MAX];
    if (warped)
        weft_gauss_lobatto(degree + 1, x, weights);
    else
        for (int i = 0; i <= degree; ++i)
            x[i] = (double)i / degree;
}

/* The displacement of equispaced nodes to `line`, interpolated at x. */
static double displacement(int degree, const double *line, double x) {
    double sum = 0;
    for (int i = 0; i <= degree; ++i) {
        double product = line[i] - (double)i / degree;
        for (int j = 0; j <= degree; ++j)
            if (j != i)
                product *= (x * degree - j) / (i - j);
        sum += product;
    }
    return sum;
}

/* Barycentric coordinates of the node with these counts, whose sum is the degree: each pair (a, b)
 * moves along its edge by the displacement at (1 + a - b) / 2, times 4 a b / (1 - (a - b)^2), which
 * is 1 on the edge and 0 where a or b is. */
static void warp(int degree, const double *line, int n, const int *counts, double *out) {
    for (int i = 0; i < n; ++i)
        out[i] = (double)counts[i] / degree;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j) {
            const double a = (double)counts[i] / degree, b = (double)counts[j] / degree;
            if (counts[i] == 0 || counts[j] == 0)
                continue;
            const double move =
                displacement(degree, line, 0.5 * (1 + a - b)) * 4 * a * b / (1 - (a - b) * (a - b));
            out[i] += move;
            out[j] -= move;
        }
}

int weft_interior_nodes(const weft_cell *cell, int degree, bool warped, double *points) {
    const int d = cell->dimension;
    double line[LINE_MAX];
    int n = 0, last[3] = {0};
    if (d == 0)
        return 1;
    line_nodes(degree, warped, line);
    for (int axis = 0; axis < d; ++axis)
        last[axis] = degree - 1;
    for (int k = d > 2; k <= last[2]; ++k)
        for (int j = d > 1; j <= last[1]; ++j)
            for (int i = 1; i <= last[0]; ++i) {
                const int counts[4] = {degree - i - j - k, i, j, k};
                double barycentric[4];
                if (cell->simplex && counts[0] < 1)
                    continue;
                if (points && cell->simplex)
                    warp(degree, line, d + 1, counts, barycentric);
                for (int axis = 0; points && axis < d; ++axis)
                    points[n * d + axis] =
                        cell->simplex ? barycentric[axis + 1] : line[counts[axis + 1]];
                ++n;
            }
    return n;
}

/* Copy points of an entity, given in its own axes, into the cell. */
static void place(const weft_cell *cell, int dimension, int entity, int n, const double *from,
                  double *to) {
    static const int axis_vertex[3] = {1, 2, 4}; /* of quadrilaterals and hexahedra */
    int vertices[8];
    const int d = cell->dimension;
    const bool simplex = weft_cell_of(weft_cell_entity_type(cell, dimension))->simplex;
    weft_cell_entity(cell, dimension, entity, vertices);
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < d; ++axis) {
            const double start = cell->vertices[vertices[0]][axis];
            double x = start;
            for (int a = 0; a < dimension; ++a) {
                const int end = vertices[simplex ? a + 1 : axis_vertex[a]];
                x += from[i * dimension + a] * (cell->vertices[end][axis] - start);
            }
            to[i * d + axis] = x;
        }
}

int weft_lagrange_nodes(const weft_cell *cell, int degree, bool warped, double *points,
                        int entity_nodes[4]) {
    int n = 0;
    for (int dimension = 0; dimension < 4; ++dimension) {
        entity_nodes[dimension] = 0;
        if (dimension > cell->dimension)
            continue;
        const weft_cell *own = weft_cell_of(weft_cell_entity_type(cell, dimension));
        const int inside = weft_interior_nodes(own, degree, warped, NULL);
        double *from = points ? malloc(((size_t)(inside * dimension) + 1) * sizeof *from) : NULL;
        if (points && !from)
            return -1;
        entity_nodes[dimension] = inside;
        if (points)
            weft_interior_nodes(own, degree, warped, from);
        for (int entity = 0; entity < cell->n_entities[dimension]; ++entity, n += inside)
            if (points)
                place(cell, dimension, entity, inside, from, points + n * cell->dimension);
        free(from);
    }
    return n;
}
