/** What follows from the solution of a problem.
 *
 *      after a solve, or a step in time -> integrals, errors, energy      weft_problem_integrals, _errors, _energy
 *                                       -> values at points               weft_probes, weft_problem_evaluate
 *                                       -> formulas of u and its gradient weft_problem_derive
 *                                       -> reactions and balance          weft_problem_reactions
 *
 *  All are about the present u on the device, for one function and mixed ones. Components are those of all functions of u. */
#ifndef WEFT_PROBLEM_RESULTS_H
#define WEFT_PROBLEM_RESULTS_H

#include "fem/weft_derive.h"
#include "fem/weft_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_VALUES_MAX = 16 }; /* components of u in all functions */

/** Components of u, those of mixed functions one after another. */
int weft_problem_components(const weft_problem *problem);

/* ---- integrals and errors ------------------------------------------------------------------ */

/** int u over the mesh.
 *  out  [weft_problem_components] */
weft_status weft_problem_integrals(weft_problem *problem, double *out, weft_error *error);
/** The errors of u.
 *  exact   [components] formulas in x, y, z and t
 *  origin  names them in messages
 *  t       the time in the formulas
 *  l2, h1  [components] (int (u - exact)^2)^(1/2), (int |grad u - grad exact|^2)^(1/2)
 *  Errors  those of weft_space_measure_errors */
weft_status weft_problem_errors(weft_problem *problem, const char *const *exact, const char *origin,
                                double t, double *l2, double *h1, weft_error *error);
/** u.(A u)/2 without what Robin conditions add to A: of a linear stationary problem, after weft_problem_solve.
 *  Errors  WEFT_ERROR_USAGE: another problem, or it is not solved */
weft_status weft_problem_energy(weft_problem *problem, double *out, weft_error *error);

/** The sum over the cells of a value that a script computes in each, such as its energy.
 *  name    in the script
 *  Errors  WEFT_ERROR_USAGE: the problem is not solved, or not that of a script; WEFT_ERROR_INPUT: the value is not a real
 *          over the cells; those of weft_compile */
weft_status weft_problem_sum(weft_problem *problem, const char *name, double *out,
                             weft_error *error);

/* ---- values at points ---------------------------------------------------------------------- */

/** Points, and where they are in a mesh. */
typedef struct weft_probes weft_probes;
/** context, mesh  borrowed; must outlive the result
 *  points         [n][d]
 *  out            caller's; weft_probes_free
 *  Errors         WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_probes_make(const weft_context *context, const weft_mesh *mesh,
                             const double *points, int64_t n, weft_probes **out, weft_error *error);
/** n points of a line at equal distances, both ends included.
 *  from, to  [d]
 *  points    [n][d], set to the points; may be NULL */
weft_status weft_probes_make_line(const weft_context *context, const weft_mesh *mesh,
                                  const double *from, const double *to, int64_t n, double *points,
                                  weft_probes **out, weft_error *error);
void weft_probes_free(weft_probes **probes);
/** The cell of each point, [n]; -1: outside. Borrowed. */
const int64_t *weft_probes_cells(const weft_probes *probes);
/** u at the points.
 *  out     [n][components]; NaN outside of the mesh
 *  Errors  WEFT_ERROR_USAGE: quadrature elements, or nothing is solved; WEFT_ERROR_MEMORY */
weft_status weft_problem_evaluate(weft_problem *problem, const weft_probes *probes, double *out,
                                  weft_error *error);
/** The same of a field of weft_derive_fields.
 *  space  of fields at nodes, that of weft_problem_space
 *  out    [n][field->n_components] */
weft_status weft_probes_field(const weft_probes *probes, const weft_space *space,
                              const weft_field *field, double *out, weft_error *error);

/* ---- failures ------------------------------------------------------------------------------ */

#define WEFT_ADVICE_MAX 400
/** What to try where a stationary problem was not solved. Options are named as those of the programs.
 *  out      for the text, if it is not a constant
 *  Returns  the text; NULL: it was solved */
const char *weft_problem_advice(const weft_problem *problem, char out[WEFT_ADVICE_MAX]);
/** The same of a step in time whose linear system ended so. */
const char *weft_problem_step_advice(const weft_problem *problem, weft_cg_outcome outcome,
                                     char out[WEFT_ADVICE_MAX]);

/* ---- formulas ------------------------------------------------------------------------------ */

/** Compile quantities, for weft_derive_run after each solve or step. They name u, its gradient, and what the forms read.
 *  settings  projection, aliases, solution, in_time (always of problems in time); what is zero is the problem's. NULL: all is
 *  out       caller's; weft_derive_free, before the problem is solved again or freed
 *  Errors    WEFT_ERROR_USAGE: the problem is not solved, nor in time; those of weft_derive_make */
weft_status weft_problem_derive(weft_problem *problem, const weft_derived_quantity *quantities,
                                int n, const weft_derive_problem *settings, weft_derive **out,
                                weft_error *error);

/** Write the mesh, u and the fields of derived quantities for ParaView, .vtkhdf or .vtu. Functions of a mixed u are u_0,
 *  u_1, ..., with their enrichments, at the nodes of the highest degree; those that are constant in each cell are on cells.
 *  derive     after weft_derive_run; may be NULL
 *  statement  a text that the file carries; may be NULL
 *  Errors     WEFT_ERROR_USAGE: nothing is solved; those of weft_space_write */
weft_status weft_problem_write(weft_problem *problem, const char *path, const weft_derive *derive,
                               const char *statement, weft_error *error);

/* ---- reactions ----------------------------------------------------------------------------- */

/** A part of the balance that has a name: "right", "--symmetry left", "ds(2)". */
typedef struct weft_flow {
    char *name; /* malloc'd */
    double sums[WEFT_VALUES_MAX];
    bool is_free[WEFT_VALUES_MAX]; /* it has no condition on this component */
} weft_flow;
typedef struct weft_flows {
    weft_flow *list;
    int n;
} weft_flows;

/** The balance of a solution: what flows into it, or the forces on it, by component of u.
 *
 *      reactions + loads + exchange - equation - storage = 0, up to what the solver leaves
 *
 *  All are sums over the dofs of a component, i.e. integrals with a test function of 1. */
typedef struct weft_problem_balance {
    bool is_made;
    weft_flows reactions; /* of Dirichlet groups, and of constraints */
    /* of Robin groups, and of parts of the boundary over which a form integrates u */
    weft_flows exchange;
    double loads[WEFT_VALUES_MAX]; /* sources, fluxes and loads at points */
    /* what the terms of the equation take up: 0 for -div(k grad u) */
    double equation[WEFT_VALUES_MAX];
    double storage[WEFT_VALUES_MAX]; /* in time: the derivative of the content */
    double sums[WEFT_VALUES_MAX];    /* of all */
    double sizes[WEFT_VALUES_MAX];   /* of the terms at all nodes, without signs */
    bool in_time; /* false also of texts with a scheme of their own: storage is in `equation` */
    char loads_reason[200]; /* why the loads are not known: they are in `equation`; "": they are */
} weft_problem_balance;

/** Compute the balance of a stationary problem. Logs a warning if it is far from zero.
 *  out     set; weft_problem_balance_clear, also after an error
 *  Errors  WEFT_ERROR_USAGE: the problem is not solved, or in time; WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_problem_reactions(weft_problem *problem, weft_problem_balance *out,
                                   weft_error *error);
/** The same of the last step; of the theta scheme means over it. Of an integrator that is divided among ranks all call it, the
 *  first one with the problem on the whole mesh, others with theirs.
 *  out     is_made is false before the first step, and on other ranks than the first */
weft_status weft_problem_reactions_in_time(weft_problem *problem, weft_transient *transient,
                                           weft_problem_balance *out, weft_error *error);
void weft_problem_balance_clear(weft_problem_balance *balance);

#ifdef __cplusplus
}
#endif
#endif
