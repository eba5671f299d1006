/** Measures, integrals and forms.
 *  In: scalar integrands. Out: forms, which are lists of integrals. Forms are immutable.
 *  After ufl_form_prepare (forms/transform) each integral has at most one id; "everywhere" integrals and
 *  integrals with an id add up on the cells or facets of that id. */
#pragma once

#include "forms/expression/expression.h"

typedef enum ufl_integral_type {
    UFL_CELL,            /* dx */
    UFL_EXTERIOR_FACET,  /* ds */
    UFL_INTERIOR_FACET,  /* dS */
    UFL_VERTEX_INTEGRAL, /* dP */
    UFL_RIDGE            /* dr */
} ufl_integral_type;
const char *ufl_integral_type_name(ufl_integral_type type); /* "cell", as in UFL */
const char *ufl_measure_name(ufl_integral_type type);       /* "dx" */

typedef enum ufl_rule {
    UFL_RULE_DEFAULT,
    UFL_RULE_GAUSS_JACOBI,
    UFL_RULE_GLL,
    UFL_RULE_VERTEX
} ufl_rule;
const char *ufl_rule_name(ufl_rule rule); /* "default", "GJ", "GLL", "vertex" */

enum { UFL_ID_EVERYWHERE = -1 };

/** What dx(...) sets. Equal metadata are summed before degrees are estimated. */
typedef struct ufl_metadata {
    int degree;      /* quadrature_degree; -1: given as -1, to be estimated */
    bool has_degree; /* whether the form file says quadrature_degree at all */
    ufl_rule rule;
    bool has_rule;
    const char *others; /* the other entries, sorted, as text; "" for none. They have no effect */
} ufl_metadata;
bool ufl_metadata_equal(const ufl_metadata *a, const ufl_metadata *b);

typedef struct ufl_measure {
    ufl_integral_type type;
    const ufl_mesh *mesh; /* NULL: that of the integrand */
    int n_ids;            /* 0: everywhere */
    const int *ids;
    ufl_metadata metadata;
    const struct ufl_measure *next; /* of a sum of measures; NULL: the last */
} ufl_measure;

typedef struct ufl_integral {
    ufl_integral_type type;
    const ufl_mesh *mesh;
    int id; /* UFL_ID_EVERYWHERE or the number of a physical group */
    ufl_metadata metadata;
    const ufl_node *integrand; /* a scalar without free indices */
    ufl_place place;
    int estimated_degree; /* ufl_form_prepare: of the integrand, with the scaling; else -1 */
} ufl_integral;

typedef struct ufl_form {
    int n_integrals;
    const ufl_integral *integrals;
    ufl_place place;
} ufl_form;

/** integrand*measure: one integral for each id and each part of a sum of measures.
 *  Errors  WEFT_ERROR_SHAPE: not a scalar; WEFT_ERROR_TYPE: no mesh, or several */
const ufl_form *ufl_form_integrate(ufl_graph *graph, const ufl_node *integrand,
                                   const ufl_measure *measure);
const ufl_form *ufl_form_make(ufl_graph *graph, const ufl_integral *integrals, int n);
const ufl_form *ufl_form_add(ufl_graph *graph, const ufl_form *a, const ufl_form *b);
/** scalar*form; the scalar has no arguments of its own that the arity check would refuse. */
const ufl_form *ufl_form_scale(ufl_graph *graph, const ufl_node *scalar, const ufl_form *form);

/** The terminals of some type, each once, sorted by number or count.
 *  out    arena; may be left NULL where there are none
 *  Returns their number, or -1 and an error. */
int ufl_form_terminals(ufl_graph *graph, const ufl_form *form, ufl_type type,
                       const ufl_node ***out);
int ufl_terminals(ufl_graph *graph, const ufl_node *const *roots, int n, ufl_type type,
                  const ufl_node ***out);
