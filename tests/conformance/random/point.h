/** The point at which integrals are evaluated: tables of scalar elements, and the geometry of the cells. */
#pragma once

#include "naive.h"

enum { INDICES = 4096, TABLES = 16 };

/* Functions of a scalar element at all points of a side. */
typedef struct naive_table {
    const ufl_element *scalar;
    int side, n;
    double *values; /* [derivative][point][function], up to order 2 */
} naive_table;

typedef struct naive_point {
    const naive_cell *cell;
    const naive_data *data;
    naive_table tables[TABLES];
    int n_tables, n_points, p;
    double *points[2], *weights;
    double J[2][3][3], inverse[2][3][3], bend[2][3][3][3], x[3], normal[2][3], measure;
    int side, basis[2]; /* basis: function of each argument */
    int bound[INDICES];
    const ufl_node *moved[2], *along[2]; /* by e1 and e2 */
    bool failed;
} naive_point;

/** The table of an element on a side; NULL without memory.
 *  Returns  at's */
const naive_table *naive_table_of(naive_point *at, const ufl_element *scalar, int side);
/** The points of a rule on the cells, and its weights; false: there is no such rule. */
bool naive_points_make(naive_point *at, int degree);
/** Jacobian, its derivatives, inverse and the coordinates of point p on a side.
 *  Returns  the determinant */
double naive_place(naive_point *at, int side);
/** The normal of a facet at point p.
 *  Returns  the size of the facet relative to that of the reference */
double naive_facet_frame(naive_point *at, int side);
/** Free what a point has, and the point. */
void naive_point_free(naive_point *at);
