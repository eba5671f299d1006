/** Boundary conditions of a space, and their loads.
 *
 *      space, conditions -> constrained dofs and their values      Dirichlet: u = g
 *                        -> forms to add to the operator           Robin:     flux + alpha u = g
 *                        -> loads to add to the right-hand side    Neumann:   flux = g; Robin
 *                        -> whether the problem is solvable
 *
 *  The flux is the natural boundary term of the weak form: k du/dn, or a component of the traction.
 *  It is zero on facets without a condition. */
#ifndef WEFT_BC_H
#define WEFT_BC_H

#include "fem/weft_space.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_condition_kind { WEFT_DIRICHLET, WEFT_NEUMANN, WEFT_ROBIN } weft_condition_kind;

/** One condition on one component. Strings are borrowed. */
typedef struct weft_condition {
    weft_condition_kind kind;
    /* of facets, of Dirichlet conditions also of points; "boundary": all outside */
    const char *group;
    const char *value;  /* g, a formula in x, y, z and t, which is 0 until weft_bc_set_time */
    const char *alpha;  /* Robin only: another such formula */
    const char *origin; /* names the condition in messages; NULL: the group's name */
    int component;
} weft_condition;

/** The nodes of a condition's group.
 *  out     [*n] ascending, from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_INPUT, with the condition's origin (no such group, a group without facets),
 *          WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_condition_nodes(const weft_space *space, const weft_condition *condition,
                                 int32_t **out, int64_t *n, weft_error *error);

typedef struct weft_bc weft_bc;
/** Find the dofs and facets of the conditions, and evaluate the Dirichlet values. At nodes shared
 *  by several groups the last condition holds. Without conditions, u = 0 on the whole boundary.
 *  context, space  borrowed; must outlive the result
 *  conditions      [n]; their strings are borrowed and must outlive the result
 *  out             caller's; weft_bc_free
 *  Errors          WEFT_ERROR_INPUT (no such group: lists the groups; a group without facets; a
 *                  value that is not finite), WEFT_ERROR_SYNTAX, _TYPE (with a caret in the
 *                  formula), WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_bc_make(weft_context *context, const weft_space *space,
                         const weft_condition *conditions, int n, weft_bc **out, weft_error *error);
/** Where the dofs of one function of a mixed space are among those of all. */
typedef struct weft_bc_place {
    int64_t first_dof, n_dofs;
} weft_bc_place;
/** The same for a function of a mixed space. Constrained dofs are numbered in its own space; forms and loads over
 *  facets are for vectors of all n_dofs.
 *  place   NULL: as weft_bc_make */
weft_status weft_bc_make_in(weft_context *context, const weft_space *space,
                            const weft_bc_place *place, const weft_condition *conditions, int n,
                            weft_bc **out, weft_error *error);
/** Let bc have the conditions on the flux of another function of the mixed space, too: weft_bc_forms, weft_bc_load_make,
 *  weft_bc_add_fluxes and weft_bc_moves (of fluxes and alphas) are then about both.
 *  other   borrowed; must outlive bc
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_bc_join(weft_bc *bc, weft_bc *other, weft_error *error);
void weft_bc_free(weft_bc **bc);

/** The dofs of Dirichlet conditions, [*n] ascending, as weft_cg_options.constrained. Borrowed. */
const int32_t *weft_bc_constrained(const weft_bc *bc, int64_t *n);
/** The condition whose value each of these dofs has, numbered as for weft_bc_make; without conditions
 *  the dof's component.
 *  out     [n] as weft_bc_constrained
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_bc_owners(const weft_bc *bc, int32_t *out, weft_error *error);
/** Set u = factor * g at the dofs of Dirichlet conditions; u [n_dofs]. */
void weft_bc_set(const weft_bc *bc, double factor, double *u);
/** The forms of Robin conditions, int alpha phi_i phi_j over their facets. Returns their number.
 *  Borrowed. */
int weft_bc_forms(const weft_bc *bc, const weft_form **forms);
/** Make the operator of the form over the cells and the forms of Robin conditions, and assemble it.
 *  cells   borrowed; must outlive the operator, as must bc
 *  out     caller's; weft_operator_free
 *  Errors  those of weft_operator_make and weft_operator_assemble */
weft_status weft_bc_operator_make(weft_bc *bc, weft_assembly assembly, const weft_form *cells,
                                  weft_operator **out, weft_error *error);

/* ---- conditions in time ---------------------------------------------------------------- */

/** Whether a formula of the conditions uses t: a value of Dirichlet conditions, a flux, or an alpha. */
typedef struct weft_bc_motion {
    bool dirichlet, flux, alpha;
} weft_bc_motion;
weft_bc_motion weft_bc_moves(const weft_bc *bc);
/** Set the time t of all formulas. Operators of Robin conditions whose alpha uses t have to be
 *  assembled afterwards. */
weft_status weft_bc_set_time(weft_bc *bc, double t, weft_error *error);
/** The memory of t, one double, which may be written on the device too. Borrowed. */
weft_memory *weft_bc_time(const weft_bc *bc);
/** Set u = g, by kernels on the device, at the dofs of Dirichlet conditions whose formula uses t; the
 *  first call compiles.
 *  u       [n_dofs]
 *  Errors  those of weft_bc_load_make, except that values which are not finite are taken */
weft_status weft_bc_apply(weft_bc *bc, weft_memory *u, weft_error *error);
/** Add int g phi_i over the facets of Neumann and Robin conditions to b [n_dofs], likewise. */
weft_status weft_bc_add_fluxes(weft_bc *bc, weft_memory *b, weft_error *error);

/* ---- loads ------------------------------------------------------------------------------ */

enum { WEFT_LOAD_DEGREE = 4 }; /* default degree of quadrature */

/** The right-hand side
 *
 *      b_i = int f phi_i over the cells
 *          + int g phi_i over the facets of Neumann and Robin conditions
 *
 *  source     f, a formula in x, y, z, for spaces with one component; NULL: zero, as of mixed functions
 *  origin     names f in messages
 *  degree     of the quadrature rules
 *  b, values  [n_dofs], from weft_vector_make, initially zero
 *  Errors     WEFT_ERROR_INPUT (f or g is not finite; with its origin), and as weft_bc_make */
weft_status weft_bc_load_make(weft_bc *bc, const char *source, const char *origin, int degree,
                              weft_memory *b, double *values, weft_error *error);

/** What the conditions of Robin exchange at the present time: flux = g - alpha u.
 *  u             [n_dofs]
 *  given, taken  [n] by condition, as for weft_bc_make: int g, int alpha u over its facets; 0 for other kinds
 *  Errors        as weft_bc_load_make, and those of weft_operator_make */
weft_status weft_bc_exchange(weft_bc *bc, weft_memory *u, double *given, double *taken, int n,
                             weft_error *error);

/* ---- solvability ------------------------------------------------------------------------ */

/** The parts of the mesh, which share no node.
 *  part    [n_nodes], numbers of parts from 0, by their lowest nodes; NULL: only *n is wanted
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_bc_parts(const weft_bc *bc, int32_t *part, int64_t *n, weft_error *error);
/** Whether a component is determined only up to a constant. A Dirichlet dof or a Robin condition
 *  with alpha other than 0 fixes the constant in its connected part of the mesh (cells are
 *  connected through shared nodes).
 *  is_free  true: the mesh is one part, and nothing fixes the constant
 *  Errors   WEFT_ERROR_INPUT (the mesh has several parts, and one is not fixed),
 *           WEFT_ERROR_MEMORY */
weft_status weft_bc_find_free(const weft_bc *bc, int component, bool *is_free, weft_error *error);

/** If nothing fixes the constant, -div(k grad u) = f with flux g has a solution if and only if
 *  int f + int g = 0, which quadrature verifies to within a bound. */
typedef struct weft_balance {
    double source, flux; /* int f, int g */
    double sum;          /* source + flux */
    double rounding;     /* rounding error of a sum of zero: 1e-8 (int |f| + int |g|) */
    double bound;        /* if |sum| exceeds it, there is no solution */
} weft_balance;
/** Compute the balance with two quadrature rules. Their difference estimates the error and is the
 *  bound, but at least `rounding` and at most 1e-3 (int |f| + int |g|).
 *  source  f, a formula, or NULL; origin names it in messages
 *  Errors  as weft_bc_load_make */
weft_status weft_bc_balance(weft_bc *bc, const char *source, const char *origin, weft_balance *out,
                            weft_error *error);
/** The balance of a right-hand side b [n]: sum b_i, with the bound 1e-3 sum |b_i|. source and flux
 *  are NaN. */
weft_balance weft_balance_of(const double *b, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
