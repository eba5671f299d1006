/** Prepares forms for compilation: derivatives expanded, integrals grouped, degrees estimated.
 *  In: a form as a file writes it. Out: one integral for each type, id and metadata, sorted by type and
 *  id, with the degree of its quadrature rule.
 *  Source  UFL 2026.1.0: algorithms compute_form_data, estimate_degrees, apply_integral_scaling */
#pragma once

#include "fem/weft_element.h"
#include "forms/transform/transform.h"

typedef struct ufl_prepared {
    ufl_form form; /* integrands in index notation, grads of terminals alone */
    int n_arguments, n_coefficients, n_constants;
    const ufl_node **arguments;    /* 0 is the test function: rows */
    const ufl_node **coefficients; /* those left in the integrands, by count */
    const ufl_node **constants;    /* of the form as written, by count */
    int *degrees;                  /* of each integral's rule; see ufl_prepared_degree */
    const ufl_element **points;    /* a quadrature element that fixes the points, or NULL */
} ufl_prepared;

/** names  for messages; may be NULL */
const ufl_prepared *ufl_prepare(ufl_graph *graph, const ufl_form *form, const ufl_names *names);

/** UFL's estimate of the polynomial degree of an expression, by the rules of graph->part_degrees. */
int ufl_estimate_degree(ufl_graph *graph, const ufl_node *node);
/** The degree that the change of variables adds: of |det J| on cells, |det FJ| on facets. */
int ufl_scaling_degree(ufl_integral_type type, const ufl_mesh *mesh);
/** The rule of an integral over cells or facets.
 *  out     weft_quadrature_free
 *  Errors  those of weft_quadrature_make */
weft_status ufl_rule_make(ufl_integral_type type, const ufl_mesh *mesh, ufl_rule rule, int degree,
                          weft_quadrature *out, weft_error *error);
/** The number of points of a rule on the cells or facets that an integral runs over (fem/element); -1
 *  where there is none: degrees above 100, GLL on triangles and tetrahedra. */
int ufl_rule_points(ufl_integral_type type, const ufl_mesh *mesh, ufl_rule rule, int degree);
