/** The tensor of an integral from the form as its file writes it, point by point and entry by entry: operators by
 *  their definitions, derivatives by truncated polynomials, functions and cells by their tables. Nothing is shared
 *  with forms/transform and forms/lower. */
#pragma once

#include "forms/degree/degree.h"

enum { NAIVE_FUNCTIONS = 16 };

/** One cell, or two that share a facet. */
typedef struct naive_cell {
    const ufl_mesh *mesh;
    ufl_integral_type type;
    int n_sides, facets[2];
    double x[2][8][3]; /* of the vertices; the geometry has degree 1 */
} naive_cell;

/** What coefficients and constants are. */
typedef struct naive_data {
    int n;
    const ufl_node *nodes[NAIVE_FUNCTIONS];
    const double *values[NAIVE_FUNCTIONS]; /* dofs of the cells one after another; components */
} naive_data;

/** The sum of the integrals of one type over one cell.
 *  form    as the file has it, all of whose integrals of the type have the rule of `degree`
 *  tensor  [rows][columns]; 1 where there is no argument
 *  scale   the greatest sum of sizes of what an entry's points add; at least the size of the cell, for data are
 *          about 1 and terms may cancel
 *  Returns false where an operator is not known here */
bool naive_tensor(const ufl_form *form, const naive_cell *cell, const naive_data *data, int degree,
                  int rows, int columns, double *tensor, double *scale);
