/** The operators of UFL.
 *  In: nodes. Out: a node, checked for shape, free indices and domain and simplified as UFL 2026.1 does
 *  (Zero eats products, 1*a is a, numbers fold, A[i] of known tensors is looked up), because degree
 *  estimation sees the result. NULL operands give NULL; a failed check sets the context's error at the
 *  current place and gives NULL.
 *
 *      literals.c    numbers, zeros, terminals
 *      indexing.c    index notation
 *      algebra.c     sums, products, quotients, powers
 *      functions.c   mathematical functions, conditions
 *      tensors.c     inner, dot, det, ...
 *      derivatives.c grad, div, diff, ...
 *
 *  Decision  docs/decisions/0049-form-files-have-an-interpreter.md */
#pragma once

#include "forms/expression/expression.h"

/* ---- literals and terminals ---- */

const ufl_node *ufl_int(ufl_graph *graph, int64_t value);
const ufl_node *ufl_float(ufl_graph *graph, double value);
const ufl_node *ufl_zero(ufl_graph *graph, const int *shape, int rank, const ufl_free_index *free,
                         int n_free);
const ufl_node *ufl_zero_scalar(ufl_graph *graph);
/** Zero of the shape and free indices of a node, with more axes appended. */
const ufl_node *ufl_zero_like(ufl_graph *graph, const ufl_node *node, const int *more, int n_more);
const ufl_node *ufl_identity(ufl_graph *graph, int n);
const ufl_node *ufl_permutation(ufl_graph *graph, int n);
const ufl_node *ufl_argument(ufl_graph *graph, const ufl_space *space, int number);
/** count  -1: the next */
const ufl_node *ufl_coefficient(ufl_graph *graph, const ufl_space *space, int count);
const ufl_node *ufl_constant(ufl_graph *graph, const ufl_mesh *mesh, const int *shape, int rank,
                             int count);
const ufl_node *ufl_geometry(ufl_graph *graph, ufl_quantity quantity, const ufl_mesh *mesh);

/* ---- index notation ---- */

typedef enum ufl_component_kind {
    UFL_COMPONENT_FIXED,
    UFL_COMPONENT_FREE,
    UFL_COMPONENT_SLICE,
    UFL_COMPONENT_ELLIPSIS
} ufl_component_kind;
typedef struct ufl_component {
    ufl_component_kind kind;
    int index; /* fixed: may be negative, counted from the end as in Python; free: its number */
} ufl_component;

/** a[components], with summation over repeated indices and axes for slices: Python's A[...]. */
const ufl_node *ufl_getitem(ufl_graph *graph, const ufl_node *a, const ufl_component *components,
                            int n);
/** a[indices], one for each axis, no summation. */
const ufl_node *ufl_indexed(ufl_graph *graph, const ufl_node *a, const int *indices, int n);
/** a[indices] and summation over indices that occur twice. */
const ufl_node *ufl_index(ufl_graph *graph, const ufl_node *a, const int *indices, int n);
/** The tensor T with T[indices] = a. */
const ufl_node *ufl_as_tensor(ufl_graph *graph, const ufl_node *a, const int *indices, int n);
const ufl_node *ufl_list_tensor(ufl_graph *graph, const ufl_node *const *parts, int n);
const ufl_node *ufl_index_sum(ufl_graph *graph, const ufl_node *a, int number);
/** a itself, or a[new indices], which are written to indices[rank of a]. */
const ufl_node *ufl_as_scalar(ufl_graph *graph, const ufl_node *a, int *indices);

/* ---- algebra ---- */

const ufl_node *ufl_add(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_subtract(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_negate(ufl_graph *graph, const ufl_node *a);
/** Product of two scalars; a free index of both is not summed. */
const ufl_node *ufl_product(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
/** Python's a*b: scalar times tensor, matrix times matrix or vector; sums over repeated indices. */
const ufl_node *ufl_multiply(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_divide(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_power(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_abs(ufl_graph *graph, const ufl_node *a);

/* ---- functions and conditions ---- */

const ufl_node *ufl_math(ufl_graph *graph, ufl_function function, const ufl_node *a);
const ufl_node *ufl_atan2(ufl_graph *graph, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_bessel(ufl_graph *graph, int kind, const ufl_node *order, const ufl_node *a);
const ufl_node *ufl_extremum(ufl_graph *graph, ufl_type min_or_max, const ufl_node *a,
                             const ufl_node *b);
const ufl_node *ufl_compare(ufl_graph *graph, ufl_comparison comparison, const ufl_node *a,
                            const ufl_node *b);
/** type  UFL_AND, UFL_OR, UFL_NOT (b is NULL) */
const ufl_node *ufl_logic(ufl_graph *graph, ufl_type type, const ufl_node *a, const ufl_node *b);
const ufl_node *ufl_conditional(ufl_graph *graph, const ufl_node *condition, const ufl_node *a,
                                const ufl_node *b);
const ufl_node *ufl_sign(ufl_graph *graph, const ufl_node *a);
const ufl_node *ufl_variable(ufl_graph *graph, const ufl_node *a);
const ufl_node *ufl_restrict(ufl_graph *graph, const ufl_node *a, int side);
const ufl_node *ufl_average(ufl_graph *graph, const ufl_node *a, int kind);
/** n NULL: v('+') - v('-'). */
const ufl_node *ufl_jump(ufl_graph *graph, const ufl_node *v, const ufl_node *n);

/* ---- tensor algebra ---- */

/** type  UFL_TRANSPOSED, UFL_PERP, UFL_TRACE, UFL_DETERMINANT, UFL_INVERSE, UFL_COFACTOR,
 *        UFL_DEVIATORIC, UFL_SKEW, UFL_SYM */
const ufl_node *ufl_tensor_unary(ufl_graph *graph, ufl_type type, const ufl_node *a);
/** type  UFL_INNER, UFL_DOT, UFL_OUTER, UFL_CROSS */
const ufl_node *ufl_tensor_binary(ufl_graph *graph, ufl_type type, const ufl_node *a,
                                  const ufl_node *b);
const ufl_node *ufl_diagonal(ufl_graph *graph, const ufl_node *a);
const ufl_node *ufl_diagonal_vector(ufl_graph *graph, const ufl_node *a);
/** Apply an operator to equal components of two tensors of one shape. */
const ufl_node *ufl_elementwise(ufl_graph *graph,
                                const ufl_node *(*operation)(ufl_graph *, const ufl_node *,
                                                             const ufl_node *),
                                const ufl_node *a, const ufl_node *b);

/* ---- derivatives ---- */

/** type  UFL_GRAD, UFL_DIV, UFL_NABLA_GRAD, UFL_NABLA_DIV, UFL_CURL */
const ufl_node *ufl_spatial(ufl_graph *graph, ufl_type type, const ufl_node *a);
/** a.dx(components): one more derivative for each. */
const ufl_node *ufl_dx(ufl_graph *graph, const ufl_node *a, const ufl_component *components, int n);
/** Derivative with respect to a variable, a coefficient or the spatial coordinate. */
const ufl_node *ufl_diff(ufl_graph *graph, const ufl_node *a, const ufl_node *v);
/** The Gateaux derivative of a with respect to w[n] in directions dw[n], not yet expanded. */
const ufl_node *ufl_gateaux(ufl_graph *graph, const ufl_node *a, const ufl_node *const *w,
                            const ufl_node *const *dw, int n);
/** A node of the same type with other operands, checked and simplified. */
const ufl_node *ufl_rebuild(ufl_graph *graph, const ufl_node *node,
                            const ufl_node *const *operands);
