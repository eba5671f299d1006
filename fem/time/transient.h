/** Shared by the files that integrate any form in time.
 *
 *      fem/time/scheme.c     the table of schemes, each in a file of its name
 *      fem/time/means.c      constants that the mass alone holds
 *      fem/time/system.c     operators and right-hand sides from the form and the conditions
 *      fem/time/fields.c     the functions of a mixed space
 *      fem/time/stage.c      solves the equation of a stage
 *      fem/time/newton.c     that of a nonlinear problem
 *      fem/time/control.c    errors and lengths of steps
 *      fem/time/balance.c    the terms of the last step
 *      fem/time/record.c     keeps steps, and goes back through them
 *      fem/time/transient.c  make, step, free */
#pragma once

#include "fem/linear/newton.h"
#include "fem/space/layout.h"
#include "fem/time/scheme.h"
#include "fem/weft_transient.h"

/** The forms a M + K and M and the vector of a part. */
typedef struct weft_time_part {
    weft_text total_text, mass_text;
    weft_bound_form total, mass;
    weft_compiled vector;
} weft_time_part;

/** a M + K, M and b or r at a time. */
typedef struct weft_time_system {
    weft_context *context;
    weft_transient_problem *problem;
    int64_t n;             /* dofs */
    weft_layout *layout;   /* of the ranks; NULL: one */
    weft_time_part *parts; /* [problem->n_parts] */
    weft_memory *shift;    /* the input a */
    weft_operator *total, *mass;
    weft_operator *robin;              /* of the conditions alone, if the problem is nonlinear */
    weft_memory *more;                 /* the vector of a further part; NULL: there is none */
    weft_memory *raw, *flux, *robin_u; /* of nonlinear problems: r of the forms; fluxes; alpha u */
    bool matrix_moves, vector_moves;   /* depend on t; alpha and fluxes included */
    bool flux_moves;                   /* fluxes and loads at points do */
    bool is_assembled, has_vector;
    double assembly_seconds;      /* in all steps */
    double at, a, vector_at;      /* the time; of the assembled total; of the vector */
    weft_reduction *reduction;    /* NULL: no constraints; else C^T (a M + K) C is solved */
    weft_problem_options options; /* of the problem */
    weft_linear linear;
    const weft_space *spaces[WEFT_TRANSIENT_FIELDS_MAX]; /* of the fields */
    /* constants that a M alone holds, if that is weak; of the assembled total */
    weft_held_modes means;
    bool is_singular; /* up to rounding, with one constant as its null space */
} weft_time_system;

typedef struct weft_time_record weft_time_record;
struct weft_transient {
    weft_transient_problem problem;
    weft_transient_field field;                    /* of a problem without fields */
    weft_memory *views[WEFT_TRANSIENT_FIELDS_MAX]; /* u of each field, if there are several */
    weft_time_system system;
    weft_vector_programs vectors;
    weft_memory *u;    /* the solution, and U of the stage that is solved; borrowed */
    weft_memory *load; /* b, or r */
    weft_memory *rhs, *work, *work2;
    weft_memory *of_given; /* A g, g the prescribed values; of problems with open constants */
    /* M u, at the start of the step, of the step before, and of each stage but the last; of the present U */
    weft_memory *mass_u[WEFT_TIME_STAGES + 1], *mass_now;
    weft_memory *residual[WEFT_TIME_STAGES], *residual_now; /* r_n, r_1, ...; of the present U */
    weft_memory *is_free;                                   /* 1, at Dirichlet dofs 0 */
    weft_newton newton;
    weft_memory *u_older; /* at the start of the step two before, for estimates of errors */
    weft_memory *u_old, *u_before; /* at the start of the step, and of the step before */
    double dt_before;              /* 0: there is no step before */
    double dt_older;               /* of the step before that */
    int n_history;                 /* steps before this one, at most 3 */
    double size;                   /* the largest |u| yet */
    double dt_next;                /* with a tolerance: what the next step should be */
    bool has_residual;             /* residual[0] is of u and t */
    weft_time_stage last;          /* of the last step; c is 0 before one */
    weft_transient_state state;
    weft_time_record *record; /* NULL: steps are not recorded */
};

/** Dofs of all fields. */
int64_t weft_time_dofs(const weft_transient_problem *problem);
/** Set u [n_dofs] to the values of Dirichlet conditions; is_free [n_dofs] to 0 there, else 1. */
void weft_time_fields_values(const weft_transient_problem *problem, double *u);
void weft_time_fields_free(const weft_transient_problem *problem, double *is_free);
/** Make the views of u. */
weft_status weft_time_fields_view(weft_transient *transient, weft_error *error);
/** Copy what u has of other ranks' dofs from these. */
weft_status weft_time_exchange(const weft_time_system *system, weft_memory *u, weft_error *error);
/** Set u to the values that depend on t. */
weft_status weft_time_fields_apply(weft_transient *transient, weft_error *error);
/** Make b compatible with open constants: the sum of b - A g over an open component becomes 0, g the prescribed
 *  values of x (NULL: 0). With an x it overwrites work, which is neither b nor x. */
weft_status weft_time_fields_project(weft_transient *transient, weft_memory *b, weft_memory *x,
                                     weft_error *error);
/** Make the operators without assembling them, and the program of the vector.
 *  out  weft_time_system_clear, also after an error */
weft_status weft_time_system_make(weft_context *context, weft_transient_problem *problem,
                                  weft_memory *load, weft_time_system *out, weft_error *error);
void weft_time_system_clear(weft_time_system *system);
/** Set the time of all formulas. */
weft_status weft_time_system_set(weft_time_system *system, double t, weft_error *error);
/** Assemble a M + K if that is not what the operator has; with `to_solve`, also what a solve needs. */
weft_status weft_time_system_assemble(weft_time_system *system, double a, bool to_solve,
                                      weft_error *error);
/** Solve (a M + K) x = b, or for x with x - C v given; the result is in system->linear.
 *  x     the initial guess, which satisfies the constraints, or, of increments, what they change by
 *  work  [n] is overwritten */
weft_status weft_time_system_solve(weft_time_system *system, double tolerance, weft_memory *b,
                                   weft_memory *x, weft_memory *work, weft_error *error);
/** Find the means. (fem/time/means.c) */
weft_status weft_time_means_find(weft_time_system *system, weft_error *error);
/** Take the rounding of K u out of the sums of K u = work over parts whose constants K maps to zero. */
weft_status weft_time_means_round(weft_time_system *system, weft_memory *work, weft_error *error);
/** Take the constants that b determines off x, and what A makes of them off b. b must not have moved in between when
 *  weft_time_means_enter is followed by weft_time_means_leave, which puts them back, corrected by what the rest x
 *  has of them.
 *  tolerance  becomes that for the rest */
weft_status weft_time_means_enter(weft_time_system *system, weft_memory *b, weft_memory *x,
                                  double *tolerance, weft_error *error);
weft_status weft_time_means_leave(weft_time_system *system, weft_memory *b, weft_memory *x,
                                  weft_error *error);
/** Set u to the values that constraints prescribe at the present time, after weft_time_fields_apply. */
weft_status weft_time_system_prescribe(weft_time_system *system, weft_memory *u, weft_error *error);
/** load = b(t) with fluxes; of nonlinear problems r(u, t) - fluxes + alpha u. */
weft_status weft_time_system_load(weft_time_system *system, weft_vector_programs *vectors,
                                  weft_memory *u, weft_memory *load, weft_error *error);

/** Solve a stage for transient->u, with mass_now and residual_now. Sets state.outcome. */
weft_status weft_time_stage_solve(weft_transient *transient, const weft_time_stage *stage,
                                  double dt, weft_error *error);
/** Solve A x = b, A the system's total. Sets state.outcome and iterations. Overwrites `work`, which is neither. */
weft_status weft_time_solve(weft_transient *transient, weft_memory *b, weft_memory *x,
                            double tolerance, weft_error *error);
/** a/h; of own schemes 1/h, which the script's matrix depends on in its own way. */
double weft_time_shift(const weft_time_stage *stage, double dt);
/** Add a/h sum u_j M u_j - sum q_j r_j, what a stage takes from earlier ones. */
void weft_time_known(const weft_transient *transient, const weft_time_stage *stage, double dt,
                     weft_terms *terms);
/** Solve a stage of a nonlinear problem. (fem/time/newton.c) */
weft_status weft_time_newton(weft_transient *transient, const weft_time_stage *stage, double dt,
                             weft_error *error);
/** The scheme of the next step: another one until there are as many solutions as the problem's needs, or the
 *  estimate of its error. */
const weft_time_row *weft_time_row_now(const weft_transient *transient);
/** Estimate the error of the step that was solved.
 *  next  what the next step should be, or this one, if it is not accepted */
weft_status weft_time_control(weft_transient *transient, double dt, bool *accepted, double *next,
                              weft_error *error);
/** Record steps, if the problem has checkpoints. (fem/time/record.c)
 *  begin  before the step's first stage, with u at its start
 *  stage  after each stage; end  of a step that was made
 *  Errors  WEFT_ERROR_UNSUPPORTED: there is a tolerance */
weft_status weft_time_record_make(const weft_transient_problem *problem, weft_time_record **out,
                                  weft_error *error);
void weft_time_record_free(weft_time_record **record);
weft_status weft_time_record_begin(weft_transient *transient, double dt,
                                   const weft_time_stage *stages, int n, weft_error *error);
weft_status weft_time_record_stage(weft_transient *transient, int stage, weft_error *error);
weft_status weft_time_record_end(weft_transient *transient, weft_error *error);
/** residual[0] = r(u, t) at the present state. */
weft_status weft_time_residual_start(weft_transient *transient, weft_error *error);
