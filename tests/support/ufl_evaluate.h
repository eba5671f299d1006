/** A naive interpreter of expressions in index notation: one component at one point, straight from the
 *  definitions, without factorisation. Functions are polynomials of degree 2 with coefficients made from
 *  their numbers, so that derivatives are exact. */
#pragma once

#include "forms/expression/expression.h"

enum { UFL_TEST_INDICES = 4096 };

typedef struct ufl_point {
    double x[3];
    const ufl_node *moved, *along; /* coefficient `moved` is moved + step*along; may be NULL */
    double step;
    int bound[UFL_TEST_INDICES]; /* values of free indices */
    bool failed;                 /* an operator that is not known, or an index out of range */
} ufl_point;

/** component  [node->rank] */
double ufl_test_value(ufl_point *point, const ufl_node *node, const int *component);
