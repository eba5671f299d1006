/** The parts of a weft_gradient: problems that are derived from a form file.
 *
 *      In: a solved problem. Out: J, the adjoint state, derivatives.
 *
 *      gradient.c  derives and binds the problems; those of a stationary problem
 *      sweep.c     goes back through the steps of a problem in time */
#pragma once

#include "forms/bind/bind.h"
#include "forms/compile/compile.h"
#include "forms/weft_gradient.h"

/* A derived problem, with a library of its own. */
typedef struct weft_derived {
    weft_context context;
    weft_library *library;
    weft_ufl *ufl;
    ufl_sensitivity what;
    weft_problem *problem;
    weft_bind_options bind;
    weft_problem_value *values;  /* those of the problem that it reads, and the states; malloc'd */
    weft_bind_measure *measures; /* that it has; malloc'd */
    char *control;               /* its name, malloc'd; NULL: prescribed values */
    bool is_initial;             /* in time: u at the start, instead of prescribed values */
    double *derivative;          /* [dofs], malloc'd: its load */
    weft_gradient_of of;
    struct weft_derived *next;
} weft_derived;

/* What derived problems read: u, the adjoint state, and in time what it is for the mass, and two numbers. */
typedef enum weft_gradient_input {
    WEFT_GRADIENT_STATE,
    WEFT_GRADIENT_ADJOINT,
    WEFT_GRADIENT_ADJOINT_MASS,
    WEFT_GRADIENT_SHIFT,
    WEFT_GRADIENT_WEIGHT,
    WEFT_GRADIENT_INPUTS
} weft_gradient_input;

struct weft_gradient {
    weft_problem *problem; /* borrowed */
    weft_gradient_options options;
    weft_memory *inputs[WEFT_GRADIENT_INPUTS]; /* NULL: not in time */
    weft_derived *functional, *adjoint;        /* functional NULL: derivatives by u are given */
    double *cotangent;                         /* [dofs], malloc'd: these */
    double *lambda;                            /* [dofs], malloc'd: the adjoint state */
    weft_cg_result again; /* where the problem is its own adjoint, and in time, of all steps */
    double value;
    weft_problem_report report; /* of the adjoint problem */
    weft_derived *controls;     /* the last one first */
};

/** Solve an adjoint problem once more by the matrix and the preconditioner that a problem has.
 *  load, out  [dofs] */
weft_status weft_gradient_solve_again(weft_gradient *g, weft_problem *by, const double *load,
                                      double *out, weft_error *error);
/** Set `of` from the derivative. */
void weft_derived_finish(weft_derived *d);
/** J, the adjoint states and the derivatives with respect to all controls of a problem in time. */
weft_status weft_gradient_sweep(weft_gradient *g, weft_error *error);
