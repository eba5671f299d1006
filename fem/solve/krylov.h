/** Krylov methods besides CG: two or three scripts each, run between the steps that all methods
 *  share (fem/solve/private.h).
 *
 *      start   from r = b - A x, in q: vectors and numbers of the first iteration
 *      loop    iterations; updates rr, and `broken` if the script has breakdowns
 *      end     x from what a cycle of iterations leaves (GMRES)
 *
 *  The inputs of a script are bound by name. x, b, d, q, rr, rz, limit and iterations are those of
 *  the solver; all others belong to the method and are allocated with the sizes of
 *  their index sets: nodes, and of m elements, the restart length, basis and steps.
 *
 *  Decision  docs/decisions/0035-krylov-methods-are-scripts.md */
#pragma once

#include "fem/solve/private.h"

typedef enum weft_krylov_script {
    WEFT_KRYLOV_START,
    WEFT_KRYLOV_LOOP,
    WEFT_KRYLOV_END,
    WEFT_KRYLOV_SCRIPTS
} weft_krylov_script;

/** Descriptor of a method. */
typedef struct weft_krylov_method {
    weft_method_info info;
    const char *files[WEFT_KRYLOV_SCRIPTS]; /* NULL: it has no such script; CG: none */
    const char *breakdowns[4];              /* what broken = 1, 2, ... means */
    int n_vectors; /* over nodes, besides the solver's and the basis: inputs and intermediates */
    /** Run after a loop of `iterations`: set x, and cg->breakdown if it cannot. NULL: nothing to
     *  do. Such methods start again from b - A x after every loop. */
    weft_status (*end)(weft_solver *cg, int iterations, weft_error *error);
} weft_krylov_method;
const weft_krylov_method *weft_krylov_method_of(weft_method method);
extern const weft_krylov_method weft_krylov_minres, weft_krylov_gmres, weft_krylov_bicgstab;

/** Prepare for the method of cg->options: compile its scripts and allocate its data, unless they are
 *  those of the last such method.
 *  Errors  WEFT_ERROR_USAGE (a restart length out of range), those of weft_compiled_make */
weft_status weft_krylov_prepare(weft_solver *cg, weft_error *error);
/** Run a script of the method; bound on first use in a solve. */
weft_status weft_krylov_run(weft_solver *cg, weft_krylov_script script, weft_error *error);
/** An input of the method's own, e.g. the basis V; NULL: it has no such input. */
weft_memory *weft_krylov_memory(const weft_solver *cg, const char *name);
/** The restart length of options. */
int weft_krylov_restart(const weft_cg_options *options);
/** Bytes of the basis of GMRES. */
size_t weft_krylov_basis_bytes(const weft_limits *limits, int64_t n_dofs, int restart);
/** The length of a cycle of iterations; 0: unlimited. */
int weft_krylov_cycle(const weft_solver *cg);
/** Run up to `iterations` iterations.
 *  is_new    start from the residual of weft_cg_residual, otherwise continue
 *  done, rr  as weft_cg_iterations */
weft_status weft_krylov_iterations(weft_solver *cg, bool is_new, int iterations, int *done,
                                   double *rr, weft_error *error);
/** Unbind the memories of a solve. */
void weft_krylov_unbind(weft_solver *cg);
void weft_krylov_free(weft_krylov **krylov);
