/** Gradients of functionals of the solution of a form file's problem, by its adjoint.
 *
 *      In: a solved problem of weft_ufl_bind, or one in time after its steps, and a functional of its file, a form J without arguments.
 *      Out: J, and its derivative with respect to coefficients, constants and prescribed values.
 *
 *  In J a coefficient stands for the solution: the unknown of a nonlinear problem, what solve() states, `unknown`, or else the only one
 *  in the space of the trial function that the problem does not read. */
#ifndef WEFT_GRADIENT_H
#define WEFT_GRADIENT_H

#include "forms/weft_bind.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_gradient weft_gradient;

typedef struct weft_gradient_options {
    size_t size; /* sizeof(weft_gradient_options) */
    /* the variable of the file that holds J; NULL: derivatives by u are given, by weft_gradient_pull_back */
    const char *functional;
    /* what the problem was bound with; its values are read again */
    const weft_bind_options *bind;
    const weft_problem_options *solve; /* of the adjoint problem, and of projections */
    /* Of a problem in time: what made its steps, which had `checkpoints`; NULL: it is stationary. J is that of u at the end, or
     * over_time its integral by the trapezoidal rule over the steps */
    weft_transient *transient;
    bool over_time;
    /* [n_controls] names as for weft_gradient_control, for which one sweep through the steps is enough; each other control
     * needs one more */
    const char *const *controls;
    int n_controls;
} weft_gradient_options;
static inline weft_gradient_options weft_gradient_options_default(void) {
    weft_gradient_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

enum { WEFT_GRADIENT_NUMBERS_MAX = 16 };

/** The derivative with respect to one control. Lists are those of the gradient, until it is updated or freed. */
typedef struct weft_gradient_of {
    weft_problem *
        problem; /* of functions like the control, for their space and for files: u is `gradient` */
    int64_t n;   /* dofs of these */
    const double *derivative; /* [n] of J with respect to each dof (the gradient in l2) */
    /* [n] g with (g, q) = dJ/dm q for all q of the space (that in L2), by
     * weft_gradient_project; else NULL */
    const double *gradient;
    /* of a Constant, and of a coefficient in Real: the derivative with respect to its components. The lists are then about the
     * same control as a function that is constant in each cell. 0: it is a function */
    int n_numbers;
    double numbers[WEFT_GRADIENT_NUMBERS_MAX];
    weft_cg_outcome outcome; /* of the projection */
} weft_gradient_of;

/** Compute J, and the adjoint state.
 *  problem  made by weft_ufl_bind and solved; borrowed, as is what options have; must outlive the result
 *  out      caller's; weft_gradient_free
 *  Errors   WEFT_ERROR_USAGE: no such functional, or the problem is a script's, or in time without recorded steps; WEFT_ERROR_UNSUPPORTED: it
 *           is divided among ranks, or in time with constraints, Robin conditions, a scheme of its own or an open constant; WEFT_ERROR_INPUT: J has no coefficient that is the solution; the adjoint problem has no solution; those of
 *           weft_ufl_bind and weft_problem_solve */
weft_status weft_gradient_make(weft_problem *problem, const weft_gradient_options *options,
                               weft_gradient **out, weft_error *error);
void weft_gradient_free(weft_gradient **gradient);
/** Compute J, the adjoint state and the derivatives of controls again, after the problem was solved again. What weft_gradient_control has
 *  set before is no longer true.
 *  Errors  those of weft_problem_solve */
weft_status weft_gradient_update(weft_gradient *gradient, weft_error *error);
/** Of a gradient without a functional: compute the adjoint state and the derivatives of controls for these derivatives by u.
 *  cotangent  [weft_problem_dofs], copied
 *  Errors     WEFT_ERROR_USAGE: there is a functional; those of weft_problem_solve */
weft_status weft_gradient_pull_back(weft_gradient *gradient, const double *cotangent,
                                    weft_error *error);
/** J of the solution. */
double weft_gradient_value(const weft_gradient *gradient);
/** How the adjoint problem was solved; J's derivatives are wrong where it has not converged. Borrowed. */
const weft_problem_report *weft_gradient_report(const weft_gradient *gradient);
/** The adjoint state, [weft_problem_dofs] of the problem; in time, of the first step. Borrowed. */
const double *weft_gradient_adjoint(const weft_gradient *gradient);
/** The derivative with respect to a coefficient or constant of the file.
 *  control  its name; NULL, or "u" if that is none: the values of Dirichlet conditions, of which `derivative` is about all dofs of u and zero, up to the
 *           solvers' tolerances, where nothing is prescribed; in time, what is prescribed at all times. In time also "initial",
 *           u at the start, if that is none. Of what depends on t it is the derivative by what is added at all times
 *  Errors   WEFT_ERROR_USAGE: no such name; those of weft_ufl_bind and weft_problem_solve */
weft_status weft_gradient_control(weft_gradient *gradient, const char *control,
                                  weft_gradient_of *out, weft_error *error);
/** The same with the gradient in L2, for which a system with the mass matrix of the control's space is solved. */
weft_status weft_gradient_project(weft_gradient *gradient, const char *control,
                                  weft_gradient_of *out, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
