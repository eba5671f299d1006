/** Linear constraints between dofs: ties, periodic boundaries, symmetry planes, values at points, and
 *  what rigid body modes need.
 *
 *      sum_j a_j u_j = c, any number of them    ->    u = C v + g
 *
 *  Each constraint expresses one of its dofs, which becomes dependent, by the others. C is sparse:
 *  the identity for all other dofs, and a row of factors for each dependent one. The constrained
 *  problem is
 *
 *      C^T A C v = C^T (b - A g)
 *
 *  in as many dofs as before, where dependent ones have v = 0 and a row of the identity, so that it
 *  is solved and preconditioned as any other. Without constraints nothing of this is made, and A is
 *  used as it is. Dofs of Dirichlet conditions are never dependent: a dependent dof refers to them, so
 *  that it follows values that depend on time; g is what prescribed values at points give.
 *  Source  Abel and Shephard 1979, An algorithm for multipoint constraints in finite element analysis */
#ifndef WEFT_CONSTRAINT_H
#define WEFT_CONSTRAINT_H

#include "fem/weft_bc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_constraints weft_constraints;
/** No constraints besides Dirichlet conditions, whose dofs count as known.
 *  context, space, bc  borrowed; must outlive the result
 *  out                 caller's; weft_constraints_free
 *  Errors              WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_constraints_make(weft_context *context, const weft_space *space, const weft_bc *bc,
                                  weft_constraints **out, weft_error *error);
/** One function of a mixed space. */
typedef struct weft_constraint_field {
    const weft_space *space;
    const weft_bc *bc;  /* its Dirichlet conditions */
    int64_t first_dof;  /* among the dofs of all */
    int first_value;    /* among their components */
    bool is_enrichment; /* its terms are added to those of the field before, as bubbles */
} weft_constraint_field;
/** The same for mixed functions, whose components are numbered from those of the first on. Dofs of discontinuous parts, which
 *  no cells share, cannot be tied; periodic sides leave them as they are.
 *  fields  [n] copied; spaces and conditions are borrowed. The conditions of the first have the time */
weft_status weft_constraints_make_in(weft_context *context, const weft_constraint_field *fields,
                                     int n, weft_constraints **out, weft_error *error);
void weft_constraints_free(weft_constraints **constraints);

/** Constraints may be added in any order. One that follows from earlier ones has no effect.
 *  Errors of all: WEFT_ERROR_INPUT, with the origin: it contradicts earlier ones, or Dirichlet
 *  values (names the node); WEFT_ERROR_MEMORY */

/** sum_i factors_i u_(dofs_i) = value
 *  dofs, factors  [n], of distinct dofs
 *  origin         names the constraint in messages; borrowed for the call; NULL: a pin, that carries nothing */
weft_status weft_constraints_add(weft_constraints *constraints, int n, const int32_t *dofs,
                                 const double *factors, double value, const char *origin,
                                 weft_error *error);
/** A component is equal at all nodes of a group of facets; its value is not given.
 *  Errors  also WEFT_ERROR_INPUT: no such group */
weft_status weft_constraints_tie(weft_constraints *constraints, const char *group, int component,
                                 const char *origin, weft_error *error);
/** All components at the nodes of one group of facets are those of the nodes of the other one, at the
 *  same place but for a translation: that of the centres of their bounding boxes.
 *  Errors  also WEFT_ERROR_INPUT: no such group; a node without a partner within 1e-6 of the box
 *          (names the first) */
weft_status weft_constraints_match(weft_constraints *constraints, const char *group,
                                   const char *other, const char *origin, weft_error *error);
/** All components are the same at nodes that the mesh file declares to be images of each other: Gmsh's Periodic.
 *  Errors  also WEFT_ERROR_INPUT: the mesh declares none; there are several components, and the image
 *          is not a translation */
weft_status weft_constraints_images(weft_constraints *constraints, const char *origin,
                                    weft_error *error);
/** The normal component is 0 at all nodes of a group of facets, in any direction: a symmetry plane, or sliding without
 *  friction, of each part with as many components as dimensions. At a node, normals of facets within 30 degrees are averaged.
 *  Errors  also WEFT_ERROR_INPUT: no such group; not as many components as dimensions */
weft_status weft_constraints_slide(weft_constraints *constraints, const char *group,
                                   const char *origin, weft_error *error);
/** A component has a value at a point, which need not be a node: there u is interpolated.
 *  point   [d]
 *  value   a number, or a formula in x, y, z and t; copied
 *  Errors  also WEFT_ERROR_INPUT: the point is outside the mesh */
weft_status weft_constraints_point(weft_constraints *constraints, const double *point,
                                   int component, const char *value, const char *origin,
                                   weft_error *error);

/** What constraints supply so that u satisfies them: forces of symmetry planes, sources of values at points.
 *  Ties and periodic sides supply nothing in all. Forces of those that share dofs cannot be separated. */
typedef struct weft_constraint_forces {
    int n;                /* origins */
    const char **origins; /* [n]; each is borrowed from the constraints */
    bool *supplies;       /* [n] whether they supply anything in all */
    int *first;           /* [n] the first origin with which it shares dofs; itself: none */
    double *sums;         /* [n][components of all fields]; of those that share dofs at the first */
} weft_constraint_forces;
/** r = C^T r, [n_dofs] on the host: the residual of each dependent dof goes to the dofs that express it.
 *  out     weft_constraint_forces_clear, also after an error
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_constraints_restrict(weft_constraints *constraints, double *r,
                                      weft_constraint_forces *out, weft_error *error);
void weft_constraint_forces_clear(weft_constraint_forces *forces);

/** Set dependent dofs of u [n_dofs] by the others, on the host: u = C u + g at the time of the conditions, or u = C u.
 *  Errors  as weft_reduction_fill */
weft_status weft_constraints_fill(weft_constraints *constraints, bool with_values, double *u,
                                  weft_error *error);

/** The linear system A u = b, in which u is given at some dofs. A value: all pointers are borrowed. */
typedef struct weft_system {
    weft_operator *op;
    /* [n_dofs]; u: the initial guess with the given values, then the solution */
    weft_memory *b, *u;
    const int32_t *constrained; /* [n_constrained] the dofs whose value is given, ascending */
    int64_t n_constrained;
} weft_system;

/** The constrained problem, for one solve or many: Newton's method and time steps. C, its transpose, g
 *  and C^T A C are on the device; the latter's entries are summed on the host. */
typedef struct weft_reduction weft_reduction;
/** Make C and g, after the last constraint was added.
 *  constraints  borrowed; must outlive the result
 *  out          caller's; weft_reduction_free
 *  Errors       WEFT_ERROR_MEMORY, _DEVICE; *out untouched */
weft_status weft_reduction_make(weft_constraints *constraints, weft_reduction **out,
                                weft_error *error);
void weft_reduction_free(weft_reduction **reduction);
/** Compute C^T A C from the present values of A. The operator is made by the first call, and by others
 *  with another `op`.
 *  op      that stores a matrix, assembled; borrowed until the next call
 *  Errors  WEFT_ERROR_USAGE (op stores no matrix), _MEMORY, _DEVICE */
weft_status weft_reduction_update(weft_reduction *reduction, weft_operator *op, weft_error *error);
/** C^T A C; NULL before weft_reduction_update. Borrowed. */
weft_operator *weft_reduction_operator(const weft_reduction *reduction);
/** u = C u + factor g at the time of the conditions (weft_bc_set_time), in place. Reads the independent
 *  dofs and those of Dirichlet conditions, which have `factor` times their values.
 *  u       [n_dofs]
 *  Errors  WEFT_ERROR_INPUT (prescribed values contradict each other at this time; a formula is not
 *          finite), those of weft_program_make */
weft_status weft_reduction_fill(weft_reduction *reduction, double factor, weft_memory *u,
                                weft_error *error);
/** u = the nearest values that satisfy the constraints, in the norm sqrt(sum w_i u_i^2), at the time of
 *  the conditions. Values of Dirichlet dofs stay. On the host.
 *  weights, u  [n_dofs] on the device
 *  Errors      as weft_reduction_fill */
weft_status weft_reduction_project(weft_reduction *reduction, weft_memory *weights, weft_memory *u,
                                   weft_error *error);
/** out = u without dependent dofs, which are 0. */
weft_status weft_reduction_keep(weft_reduction *reduction, weft_memory *u, weft_memory *out,
                                weft_error *error);
/** out = C^T r; [n_dofs] both, not the same. */
weft_status weft_reduction_restrict(weft_reduction *reduction, weft_memory *r, weft_memory *out,
                                    weft_error *error);
/** The system C^T A C v = C^T (b - A x0) of the present C^T A C, for x = x0 + C v of A x = b. Its vectors are the
 *  reduction's, and are set by weft_reduction_enter.
 *  reduction  NULL: nothing is dependent; the result is `whole`
 *  whole      A x = b, whose dofs with Dirichlet values are given */
weft_system weft_reduction_system(const weft_reduction *reduction, const weft_system *whole);
/** Set b and u of the system.
 *  reduction  NULL: no effect, as in weft_reduction_leave
 *  whole      u has the values of Dirichlet dofs and satisfies the constraints, or, for increments, what they
 *             change by; the rest is the initial guess */
weft_status weft_reduction_enter(weft_reduction *reduction, const weft_system *whole,
                                 weft_error *error);
/** x = x0 + C v, x0 of the last weft_reduction_enter. */
weft_status weft_reduction_leave(weft_reduction *reduction, const weft_system *whole,
                                 weft_error *error);
/** Nothing depends on anything, and there is nothing to check at other times: a weft_reduction is not
 *  needed. */
bool weft_constraints_empty(const weft_constraints *constraints);
/** Number of dependent dofs. */
int64_t weft_constraints_count(const weft_constraints *constraints);

#ifdef __cplusplus
}
#endif
#endif
