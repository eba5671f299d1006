/* Orders the nodes of cells as VTK does, from linear cells to Lagrange cells of any degree.
 *
 * Source  VTK 9: vtkHigherOrderTriangle, Tetra, Quadrilateral, Hexahedron */
#include "fem/io/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int weft_vtk_type(weft_cell_type cell, int degree) {
    static const int linear[WEFT_CELL_TYPES] = {1, 3, 5, 10, 9, 12};
    static const int lagrange[WEFT_CELL_TYPES] = {1, 68, 69, 71, 70, 72};
    return degree == 1 ? linear[cell] : lagrange[cell];
}

/* Points of the lattice in VTK's order: on simplices the weights of the vertices, whose sum is the
 * degree; on others the coordinates. */
typedef struct lattice {
    int (*points)[4];
    int n;
} lattice;

static void put(lattice *out, const int base[4], int a, int n_a, int b, int n_b) {
    int *point = out->points[out->n++];
    memcpy(point, base, 4 * sizeof *point);
    point[a] += n_a;
    point[b] += n_b;
}

static void put_edge(lattice *out, const int base[4], int a, int b, int degree) {
    for (int k = 1; k < degree; ++k)
        put(out, base, a, degree - k, b, k);
}

/* Vertices, edges, then the triangle inside. */
static void put_triangle(lattice *out, const int base[4], const int v[3], int degree) {
    int inside[4];
    if (degree < 0)
        return;
    for (int i = 0; i < (degree == 0 ? 1 : 3); ++i)
        put(out, base, v[i], degree, v[i], 0);
    for (int i = 0; i < 3; ++i)
        put_edge(out, base, v[i], v[(i + 1) % 3], degree);
    memcpy(inside, base, sizeof inside);
    for (int i = 0; i < 3; ++i)
        ++inside[v[i]];
    if (degree > 2)
        put_triangle(out, inside, v, degree - 3);
}

static void put_tetrahedron(lattice *out, const int base[4], int degree) {
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    static const int faces[4][3] = {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}};
    int inside[4];
    for (int i = 0; i < (degree == 0 ? 1 : 4); ++i)
        put(out, base, i, degree, i, 0);
    for (int i = 0; i < 6; ++i)
        put_edge(out, base, edges[i][0], edges[i][1], degree);
    for (int i = 0; i < 4 && degree > 2; ++i) {
        memcpy(inside, base, sizeof inside);
        for (int k = 0; k < 3; ++k)
            ++inside[faces[i][k]];
        put_triangle(out, inside, faces[i], degree - 3);
    }
    for (int k = 0; k < 4; ++k)
        inside[k] = base[k] + 1;
    if (degree > 3)
        put_tetrahedron(out, inside, degree - 4);
}

/* Points of a box of d axes whose coordinates are fixed to 0 or the degree, or free (-1). */
static void put_box(lattice *out, const int fixed[3], int degree) {
    const int n = degree - 1;
    int count = 1;
    for (int axis = 0; axis < 3; ++axis)
        count *= fixed[axis] < 0 ? n : 1;
    for (int i = 0; i < count; ++i) {
        int *point = out->points[out->n++];
        for (int axis = 0, rest = i; axis < 3; ++axis) {
            point[axis] = fixed[axis] < 0 ? rest % n + 1 : fixed[axis] * degree;
            rest = fixed[axis] < 0 ? rest / n : rest;
        }
        point[3] = 0;
    }
}

static void put_cube(lattice *out, int d, int degree) {
    static const int square[9][3] = {{0, 0},  {1, 0},  {1, 1},  {0, 1},  {-1, 0},
                                     {1, -1}, {-1, 1}, {0, -1}, {-1, -1}};
    static const int cube[27][3] = {
        {0, 0, 0},   {1, 0, 0},   {1, 1, 0},   {0, 1, 0},   {0, 0, 1},   {1, 0, 1},   {1, 1, 1},
        {0, 1, 1},   {-1, 0, 0},  {1, -1, 0},  {-1, 1, 0},  {0, -1, 0},  {-1, 0, 1},  {1, -1, 1},
        {-1, 1, 1},  {0, -1, 1},  {0, 0, -1},  {1, 0, -1},  {1, 1, -1},  {0, 1, -1},  {0, -1, -1},
        {1, -1, -1}, {-1, 0, -1}, {-1, 1, -1}, {-1, -1, 0}, {-1, -1, 1}, {-1, -1, -1}};
    for (int i = 0; i < (d == 2 ? 9 : 27); ++i)
        put_box(out, d == 2 ? square[i] : cube[i], degree);
}

static void put_cell(lattice *out, const weft_cell *cell, int degree) {
    static const int zero[4] = {0}, all[3] = {0, 1, 2};
    if (!cell->simplex) {
        put_cube(out, cell->dimension, degree);
    } else if (cell->dimension == 3) {
        put_tetrahedron(out, zero, degree);
    } else if (cell->dimension == 2) {
        put_triangle(out, zero, all, degree);
    } else {
        put(out, zero, 0, degree, 0, 0);
        put(out, zero, 1, degree, 1, 0);
        put_edge(out, zero, 0, 1, degree);
    }
}

/* The node at a point of the lattice. */
static int find_node(const weft_element *e, const double *points, const int *at) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension;
    for (int i = 0; i < e->n_nodes; ++i) {
        bool here = true;
        for (int axis = 0; axis < d; ++axis)
            here &= fabs(points[i * d + axis] * e->degree - at[axis + cell->simplex]) < 1e-6;
        if (here)
            return i;
    }
    return 0;
}

weft_status weft_vtk_order(const weft_element *element, int **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(element->cell);
    const size_t n = (size_t)element->n_nodes;
    lattice order = {.points = calloc(n, sizeof *order.points)};
    double *points = calloc(n * (size_t)cell->dimension, sizeof *points);
    int *nodes = calloc(n, sizeof *nodes);
    if (!order.points || !points || !nodes)
        TRY(weft_out_of_memory(error, "the nodes of VTK's cells"));
    TRY(weft_element_equispaced(element, points, error));
    put_cell(&order, cell, element->degree);
    bool is_other = false;
    for (int i = 0; i < order.n; ++i) {
        nodes[i] = find_node(element, points, order.points[i]);
        is_other |= nodes[i] != i;
    }
    *out = is_other ? nodes : NULL;
    nodes = is_other ? NULL : nodes;
done:
    free(order.points);
    free(points);
    free(nodes);
    return status;
}
