/** What the files of forms/lower share. */
#pragma once

#include "forms/lower/lower.h"
#include "forms/lower/scalar.h"

/** A part of a component of an element's value: the functions of a scalar element, function i of
 *  which is function first + stride*i of the whole element. */
typedef struct ufl_part {
    const ufl_element *scalar;
    int first, stride;
} ufl_part;
enum { UFL_PARTS_MAX = 1 };
/** The parts whose sum is component `flat` of the value. Returns their number, or -1 and an error. */
int ufl_component_parts(ufl_context *context, const ufl_element *element, int flat,
                        ufl_part parts[UFL_PARTS_MAX]);
/** Tabulate a scalar element.
 *  out  arena; [derivatives][points][functions]
 *  Returns the number of functions, or -1 and an error. */
int ufl_tabulate(ufl_context *context, const ufl_element *scalar, int order, int n_points,
                 const double *points, double **out);

/** A function of an argument at a point: derivative of the functions of a part. */
typedef struct ufl_basis {
    int argument, side;
    ufl_part part;
    int derivative; /* weft_derivative_index */
} ufl_basis;

/** An integrand as sum over terms: factor times a function of each argument. */
typedef struct ufl_term {
    int basis[2]; /* of arguments 0 and 1; -1: none */
    int factor;   /* a scalar */
} ufl_term;
typedef struct ufl_terms {
    int n;
    ufl_term *list; /* ascending by basis */
} ufl_terms;

/** Data that a lowered integral reads. */
typedef struct ufl_lowering {
    ufl_graph *graph;
    ufl_context *context;
    const ufl_mesh *mesh;
    int facets[2], n_sides; /* local numbers; -1: the cell */
    int side;               /* on which what is evaluated now is: 0 '+', 1 '-' */
    bool acts;              /* the trial function is data: an action (action.h) */
    bool collects; /* powers of 1 / det J are pulled out of factors (ufl_scalars.collected) */
    /* first derivatives of arguments are by physical coordinates, times det J; bases number them
     * like those by reference coordinates (affine cells) */
    bool keeps_gradients;
    ufl_scalars scalars;
    ufl_basis *bases;
    int n_bases, order; /* order: of the highest derivative */
    /* as SCALAR_COEFFICIENT and _CONSTANT number them */
    const ufl_node **coefficients, **constants;
    int n_coefficients, n_constants;
    /* scalars of each side; -1: not yet. scale: of weights, from side '+' */
    int jacobian[2][3][3], inverse[2][3][3], determinant[2], scale;
    int numbers[2]; /* of the arguments: test and trial function */
    struct ufl_memo *memo;
    int *bound; /* [n_indices] values of free indices */
} ufl_lowering;

/** What an integral starts from; of two arguments, with the numbers 0 and 1.
 *  facets  as ufl_lower_integral */
ufl_lowering ufl_lowering_of(ufl_graph *graph, const ufl_integral *integral, const int *facets);
/** Factor an integrand by its arguments.
 *  node  a true scalar without derivatives but grads of terminals
 *  Returns NULL and an error at the node's place for what is not supported */
const ufl_terms *ufl_factor(ufl_lowering *l, const ufl_node *node);
/** Sums of terms, in the lowering's arena; NULL and an error, also for operands that are NULL. (terms.c) */
const ufl_terms *ufl_terms_make(ufl_lowering *l, const ufl_term *list, int n);
/** A scalar without arguments; negative: an error was set. */
const ufl_terms *ufl_terms_scalar(ufl_lowering *l, int factor);
int ufl_terms_compare(const ufl_term *a, const ufl_term *b);
const ufl_terms *ufl_terms_add(ufl_lowering *l, const ufl_terms *a, const ufl_terms *b);
/** node  where a product of two functions of one argument is reported */
const ufl_terms *ufl_terms_multiply(ufl_lowering *l, const ufl_node *node, const ufl_terms *a,
                                    const ufl_terms *b);
/** The factor of a sum without arguments. -1 and an error at the node if it has some. */
int ufl_terms_factor(ufl_lowering *l, const ufl_node *node, const ufl_terms *terms);
/** Component (i, j) of the Jacobian, or of its inverse; its determinant; the factor of weights. */
int ufl_jacobian(ufl_lowering *l, int i, int j);
int ufl_jacobian_inverse(ufl_lowering *l, int i, int j);
int ufl_jacobian_adjugate(ufl_lowering *l, int i,
                          int j);             /* of the inverse, times the determinant */
int ufl_jacobian_reciprocal(ufl_lowering *l); /* 1 / determinant */
/* weight |det J| times a factor rest / det^power, where powers are collected. */
int ufl_scale_collected(ufl_lowering *l, int weight, int factor);
/** Derivative of component (i, j) of the Jacobian by reference coordinate k. */
int ufl_jacobian_gradient(ufl_lowering *l, int i, int j, int k);
int ufl_jacobian_determinant(ufl_lowering *l);
int ufl_weight_scale(ufl_lowering *l);
/** Component of a geometric quantity; -1 and an error where it is not supported. */
int ufl_quantity_scalar(ufl_lowering *l, const ufl_node *node, const int *component);
