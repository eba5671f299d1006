/** Boundary conditions of a space and the loads that go with them.
 *
 *      space, conditions -> constrained dofs and their values      (Dirichlet: u = g)
 *                        -> forms that the operator adds           (Robin: flux + alpha u = g)
 *                        -> loads that the right-hand side adds    (Neumann: flux = g; Robin)
 *                        -> is the problem solvable at all?
 *
 *  The flux is what a weak form leaves on the boundary: k du/dn, or a component of the traction.
 *  What is in no condition has no flux. */
#ifndef WEFT_BC_H
#define WEFT_BC_H

#include "fem/weft_space.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_condition_kind {
    WEFT_DIRICHLET,
    WEFT_NEUMANN,
    WEFT_ROBIN
} weft_condition_kind;

/** One condition on one component. Texts are borrowed. */
typedef struct weft_condition {
    weft_condition_kind kind;
    const char *group;  /* of facets; "boundary": all of it */
    const char *value;  /* g, a formula in x, y, z */
    const char *alpha;  /* of Robin, a formula likewise */
    const char *origin; /* names the condition in messages; NULL: the group's name */
    int component;
} weft_condition;

/** The nodes of a condition's group, ascending; *out from weft_array_make, the caller's.
 *  Errors  WEFT_ERROR_INPUT with the condition's origin: no such group, or one without facets;
 *          WEFT_ERROR_MEMORY */
weft_status weft_condition_nodes(const weft_space *space, const weft_condition *condition,
                                 int32_t **out, int64_t *n, weft_error *error);

typedef struct weft_bc weft_bc;
/** Find the dofs and facets of conditions, and evaluate what Dirichlet conditions give. Where groups
 *  meet the later condition holds. No conditions at all: u = 0 on the whole boundary.
 *  context, space, texts of the conditions  borrowed, must outlive it
 *  Errors  WEFT_ERROR_INPUT: no such group (lists those that exist), a group without facets, a
 *          value that is not finite; WEFT_ERROR_SYNTAX, _TYPE with a caret in the formula;
 *          WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_bc_make(weft_context *context, const weft_space *space,
                         const weft_condition *conditions, int n, weft_bc **out, weft_error *error);
void weft_bc_free(weft_bc **bc);

/** The dofs of Dirichlet conditions, ascending, [*n]; borrowed. As weft_cg_options wants them. */
const int32_t *weft_bc_constrained(const weft_bc *bc, int64_t *n);
/** u = factor * g at those dofs; u [dofs], the others stay. */
void weft_bc_set(const weft_bc *bc, double factor, double *u);
/** The forms of Robin conditions, int alpha phi_i phi_j over their facets; returns how many.
 *  Borrowed. */
int weft_bc_forms(const weft_bc *bc, const weft_form **forms);
/** weft_operator_make with the form of the cells and the forms of Robin conditions, and
 *  weft_operator_assemble. */
weft_status weft_bc_operator_make(weft_bc *bc, weft_assembly assembly, const weft_form *cells,
                                  weft_operator **out, weft_error *error);

/* ---- loads ------------------------------------------------------------------------------ */

enum { WEFT_LOAD_DEGREE = 4 }; /* of quadrature, where nothing else is asked for */

/** b_i = int f phi_i over the cells + int g phi_i over the facets of all Neumann and Robin
 *  conditions, by rules of this degree. f is for spaces with one component.
 *  source        f, a formula in x, y, z; NULL: zero. origin names it in messages
 *  b and values  [dofs], of weft_vector_make, zero before
 *  Errors        WEFT_ERROR_INPUT: f or g is not finite (with origin); as weft_bc_make */
weft_status weft_bc_load_make(weft_bc *bc, const char *source, const char *origin, int degree,
                              weft_memory *b, double *values, weft_error *error);

/* ---- is it solvable? -------------------------------------------------------------------- */

/** Does nothing fix the constant that can be added to a component? A Dirichlet dof or a Robin
 *  condition with ALPHA other than 0 does, in the part of the mesh that touches it. Cells of one part
 *  are connected through shared nodes.
 *  Errors  WEFT_ERROR_INPUT: the mesh has several such parts, and one is not fixed;
 *          WEFT_ERROR_MEMORY */
weft_status weft_bc_find_free(const weft_bc *bc, int component, bool *is_free, weft_error *error);

/** Where nothing fixes the constant, -div(k grad u) = f with flux g has a solution if int f + int g
 *  = 0, which quadrature shows to within a bound. */
typedef struct weft_balance {
    double source, flux; /* int f, int g */
    double sum;          /* of both */
    double rounding;     /* what rounding may leave of a sum of zero: 1e-8 int |f| + |g| */
    double bound;        /* |sum| above it: no solution */
} weft_balance;
/** By two rules of quadrature: what they differ by is the doubt, and bounds the sum, between
 *  rounding and 1e-3 (int |f| + |g|). source may be NULL.  Errors as weft_bc_load_make */
weft_status weft_bc_balance(weft_bc *bc, const char *source, const char *origin, weft_balance *out,
                            weft_error *error);
/** The same of a right-hand side b [n]: its bound is 1e-3 sum |b_i|, source and flux are NaN. */
weft_balance weft_balance_of(const double *b, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
