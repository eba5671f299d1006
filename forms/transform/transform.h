/** Transformations of expressions and forms.
 *  In: forms as a file writes them. Out: forms in index notation without derivatives but grads of
 *  terminals, and the forms that derivative, action, adjoint, lhs, ... make.
 *  Source  UFL 2026.1.0, whose degrees depend on each step's exact result
 *
 *      lower.c        tensor algebra to index notation
 *      differentiate.c, rules.c, functions.c  derivatives expanded
 *      arity.c        which arguments each term has
 *      restrictions.c which side of a facet each term takes
 *      arguments.c    derivative, split
 *      replace.c      replace, action, adjoint, energy_norm
 *      parts.c        lhs, rhs, functional */
#pragma once

#include "forms/form/form.h"

/** One pass over several expressions, which share common subexpressions. Start from {0}. */
typedef struct ufl_pass {
    ufl_map map;
    struct ufl_ruleset *rulesets;
} ufl_pass;

/** det, inner, dot, div, ... written as products and sums over indices. */
const ufl_node *ufl_lower_algebra(ufl_graph *graph, ufl_pass *pass, const ufl_node *node);
/** All derivatives carried out; what is left is UFL_GRAD of terminals. After ufl_lower_algebra. */
const ufl_node *ufl_apply_derivatives(ufl_graph *graph, ufl_pass *pass, const ufl_node *node);
/** Both, for an expression and for each integrand of a form, without the integrals that vanish. */
const ufl_node *ufl_expand_expression(ufl_graph *graph, const ufl_node *node);
const ufl_form *ufl_expand_derivatives(ufl_graph *graph, const ufl_form *form);

/** Nodes put in place of others; derivatives with respect to coefficients are expanded first. */
const ufl_node *ufl_replace_nodes(ufl_graph *graph, const ufl_node *node,
                                  const ufl_node *const *from, const ufl_node *const *to, int n);
const ufl_form *ufl_replace(ufl_graph *graph, const ufl_form *form, const ufl_node *const *from,
                            const ufl_node *const *to, int n);

/** The parts of a function in a mixed or vector space.
 *  out  arena
 *  Returns their number, or -1 and an error. */
int ufl_split(ufl_graph *graph, const ufl_node *function, const ufl_node ***out);

/** What a form is differentiated by, in pairs.
 *  w   coefficients, components of coefficients, or vectors of such components
 *  dw  directions; n_dw 0: a new Argument; n_dw 1: of all w together */
typedef struct ufl_directions {
    const ufl_node *const *w, *const *dw;
    int n_w, n_dw;
} ufl_directions;
const ufl_form *ufl_derivative(ufl_graph *graph, const ufl_form *form,
                               const ufl_directions *directions);
const ufl_node *ufl_derivative_expression(ufl_graph *graph, const ufl_node *node,
                                          const ufl_directions *directions);
const ufl_form *ufl_diff_form(ufl_graph *graph, const ufl_form *form, const ufl_node *variable);

/** coefficient  NULL: a new one in the space of the last argument */
const ufl_form *ufl_action(ufl_graph *graph, const ufl_form *form, const ufl_node *coefficient);
/** arguments  two new arguments in order of number, or NULL: numbers are swapped */
const ufl_form *ufl_adjoint(ufl_graph *graph, const ufl_form *form,
                            const ufl_node *const *arguments);
const ufl_form *ufl_energy_norm(ufl_graph *graph, const ufl_form *form,
                                const ufl_node *coefficient);
/** The terms with 2, 1 or 0 arguments; derivatives are expanded. ufl_rhs is negated. */
const ufl_form *ufl_lhs(ufl_graph *graph, const ufl_form *form);
const ufl_form *ufl_rhs(ufl_graph *graph, const ufl_form *form);
const ufl_form *ufl_functional(ufl_graph *graph, const ufl_form *form);

/** Check that each term of an expanded form has the same arguments, linearly.
 *  names  for messages; may be NULL
 *  Errors WEFT_ERROR_TYPE at the place of the term */
bool ufl_check_arity(ufl_graph *graph, const ufl_form *form, const ufl_names *names);
/** Check that integrands over interior facets of an expanded form take arguments, gradients, discontinuous functions and
 *  quantities of cells from one side, and nothing from a side of a side.
 *  Errors WEFT_ERROR_TYPE at the place of what has no side */
bool ufl_check_sides(ufl_graph *graph, const ufl_form *form, const ufl_names *names);
