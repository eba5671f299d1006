/** How a problem on a mesh is solved.
 *
 *      In: options, which are never changed. Out: what was chosen, and why. */
#ifndef WEFT_PROBLEM_H
#define WEFT_PROBLEM_H

#include "fem/weft_solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In place of a method, an assembly or a preconditioner: WEFT_AUTO lets the library choose. The others are
 *  preconditioners besides the kinds of weft_preconditioner, which are numbered from 0. */
enum { WEFT_AUTO = -3, WEFT_NO_PRECONDITIONER = -2, WEFT_JACOBI = -1 };

typedef struct weft_problem_options {
    int method;         /* a weft_method; WEFT_AUTO: by symmetry and definiteness */
    int assembly;       /* a weft_assembly; WEFT_AUTO: the fastest as predicted */
    int preconditioner; /* a kind, or one of the above; WEFT_AUTO: the fastest whose memory fits */
    /* the preconditioner that WEFT_AUTO chose in the run that is continued, which is taken
     * again; WEFT_AUTO: none */
    int earlier;
    int smoother_degree;       /* of chebyshev and multigrid, 1 to 6; 0: the preconditioner's own */
    int restart;               /* of GMRES; 0: 30 */
    double tolerance;          /* of weft_cg_options */
    bool until_discretisation; /* full multigrid, instead of the tolerance */
    int max_iterations;        /* -1: by the size of the mesh */
    int tune; /* plans to measure for each script; also stores measured speeds; 0: none */
} weft_problem_options;
weft_problem_options weft_problem_options_default(void);

#define WEFT_CHOICE_REASON 200
/** What the options leave open as it was chosen, at first or after a failure; the rest as it was requested. */
typedef struct weft_problem_choice {
    weft_method method;
    weft_assembly assembly;
    int preconditioner;      /* a kind, WEFT_JACOBI or WEFT_NO_PRECONDITIONER */
    int restart;             /* of GMRES; 0: 30 */
    bool basis_is_too_large; /* of GMRES for the memory: BiCGStab takes its place */
    size_t bytes;            /* estimated, of the device's memory, at most; 0: no estimate */
    char method_reason[WEFT_CHOICE_REASON], preconditioner_reason[WEFT_CHOICE_REASON];
} weft_problem_choice;
/** What is chosen before anything is known: what is requested; CG and Jacobi's preconditioner. */
weft_problem_choice weft_problem_choice_start(const weft_problem_options *options);

#ifdef __cplusplus
}
#endif
#endif
