/** Scalar expressions of generated functions: hash-consed, folded, each either constant on a cell or
 *  different at every quadrature point.
 *  In: operations. Out: numbered expressions, operands before what uses them; their text in C. */
#pragma once

#include "forms/expression/expression.h"

typedef enum ufl_scalar_type {
    SCALAR_NUMBER,     /* value */
    SCALAR_VERTEX,     /* coordinate b of vertex a; those of the second cell follow the first's */
    SCALAR_COORDINATE, /* coordinate a of the point */
    SCALAR_JACOBIAN, /* d x_a / d X_b at the point, on side c of a facet; on cells that are not affine */
    SCALAR_CURVATURE,   /* derivative b (weft_derivative_index) of x_a at the point, on side c */
    SCALAR_DETERMINANT, /* of the Jacobian at the point, which is also the scalar a (actions alone) */
    SCALAR_WEIGHT,      /* of the point (actions alone) */
    SCALAR_COEFFICIENT, /* derivative c (weft_derivative_index) of component b of coefficient a/2, on side
                           a%2 of a facet */
    SCALAR_CONSTANT, /* component b of constant a */
    SCALAR_SUM,
    SCALAR_PRODUCT,
    SCALAR_QUOTIENT,
    SCALAR_FUNCTION1, /* name; of a */
    SCALAR_FUNCTION2, /* name; of a and b */
    SCALAR_SELECT,    /* name is a comparison: a < b ? c : d */
    SCALAR_TYPES
} ufl_scalar_type;

typedef struct ufl_scalar {
    ufl_scalar_type type;
    const char *name;
    int a, b, c, d; /* operands or numbers, by type; -1 where there are none */
    double value;
    bool constant; /* on the cell */
} ufl_scalar;

typedef struct ufl_scalars {
    ufl_context *context;
    ufl_scalar *list;
    int n;
    int *table; /* open addressing, 2^bits slots of number + 1 */
    int bits;
    /* > 0: powers of scalar collected - 1 are pulled out of products and of sums in which every
     * term has the same one (actions alone) */
    int collected;
} ufl_scalars;

/** Each returns a number in the list, or -1 after an error. An operand of -1 gives -1. */
int ufl_scalar_number(ufl_scalars *scalars, double value);
int ufl_scalar_leaf(ufl_scalars *scalars, ufl_scalar_type type, int a, int b, int c, bool constant);
int ufl_scalar_add(ufl_scalars *scalars, int a, int b);
int ufl_scalar_subtract(ufl_scalars *scalars, int a, int b);
int ufl_scalar_multiply(ufl_scalars *scalars, int a, int b);
int ufl_scalar_divide(ufl_scalars *scalars, int a, int b);
/** name  borrowed: a function of kernel bodies, such as "sqrt" */
int ufl_scalar_function(ufl_scalars *scalars, const char *name, int a);
int ufl_scalar_function2(ufl_scalars *scalars, const char *name, int a, int b);
/** name  borrowed: "<", "<=", ">" or ">=" */
int ufl_scalar_select(ufl_scalars *scalars, const char *name, int a, int b, int c, int d);
int ufl_scalar_power(ufl_scalars *scalars, int a, int exponent); /* an integer, exponent >= 0 */

/** Split a scalar into a power of the collected one, which is returned, and the rest. */
int ufl_scalar_collected(ufl_scalars *scalars, int a, int *rest);

static inline bool ufl_scalar_is(const ufl_scalars *scalars, int a, double value) {
    return a >= 0 && scalars->list[a].type == SCALAR_NUMBER && scalars->list[a].value == value;
}
/** The number of operands that are scalars. */
int ufl_scalar_operands(const ufl_scalar *scalar);
