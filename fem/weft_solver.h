/** Conjugate gradients. In: an operator, a right-hand side, a start. Out: a solution, and how it was reached. */
#ifndef WEFT_SOLVER_H
#define WEFT_SOLVER_H

#include "fem/weft_operator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_cg_outcome {
    WEFT_CG_CONVERGED,
    WEFT_CG_MAX_ITERATIONS,
    WEFT_CG_INDEFINITE, /* p.Ap <= 0 */
    WEFT_CG_BREAKDOWN,  /* r.z = 0 while the residual is not small */
    WEFT_CG_NAN,
    WEFT_CG_STAGNATION /* no progress, and rounding is not the reason */
} weft_cg_outcome;
const char *weft_cg_outcome_name(weft_cg_outcome outcome);

typedef struct weft_cg_options {
    bool jacobi;
    double tolerance;           /* on |r| / |b - A x_constrained|; 0: down to rounding */
    int max_iterations;         /* see weft_cg_iterations_limit */
    const int32_t *constrained; /* ascending dofs whose value in x is kept; borrowed */
    int64_t n_constrained;
    bool project_mean; /* singular operator whose null space is the constants */
    const weft_monitor *monitor;
} weft_cg_options;

typedef struct weft_cg_result {
    weft_cg_outcome outcome;
    int iterations;
    double residual;       /* relative, recomputed from b - A x at the end */
    double *history;       /* [iterations + 1] relative residuals; free() */
    bool to_rounding;      /* converged: not to the tolerance, but as far as rounding allows */
    double backward_error; /* see weft_solver_solve; NaN where the tolerance was met */
} weft_cg_result;

/** Conjugate gradients for an operator: made once, to solve often. Keeps its vectors (four of n_dofs
 *  doubles), its programs, and on a GPU the kernel that a small system stays in, so that further
 *  solves compile and allocate nothing.
 *  context, op  borrowed; they must outlive it. The operator may be assembled again in between
 *  Errors       WEFT_ERROR_MEMORY */
typedef struct weft_solver weft_solver;
weft_status weft_solver_make(weft_context *context, weft_operator *op, weft_solver **out,
                             weft_error *error);
void weft_solver_free(weft_solver **solver);
/** Solve A x = b. x holds the start (its constrained dofs the boundary values); memories of n_dofs
 *  doubles. An outcome other than converged is no error. Deterministic for any number of threads.
 *
 *  Converged  |r| <= tolerance |b - A x_constrained| for r = b - A x itself, and sqrt(r.D^-1 r) <=
 *             100 tolerance sqrt(x.A x), D the diagonal of A, so that Dirichlet values on a stiff
 *             part do not hide soft ones; or, where rounding does not allow that, a backward error
 *             |r| / (|A| |x| + |b|) of at most (10 + sqrt(iterations)) 2^-52, in norms scaled by D,
 *             with |r| no more than 1e-4 |b| in the same norm.
 *  Errors     WEFT_ERROR_USAGE, WEFT_ERROR_SHAPE, WEFT_ERROR_UNSUPPORTED (a null device),
 *             WEFT_ERROR_MEMORY, WEFT_ERROR_COMPILER, WEFT_ERROR_DEVICE
 *  Source     Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1; Higham 2002, 7.1 and 17.5 */
weft_status weft_solver_solve(weft_solver *solver, weft_memory *b, weft_memory *x,
                              const weft_cg_options *options, weft_cg_result *result,
                              weft_error *error);
/** Make a solver, solve once, free it. */
weft_status weft_cg_solve(weft_context *context, weft_operator *op, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_cg_result *result,
                          weft_error *error);

/** Products that Jacobi-CG is expected to take for a second-order elliptic problem on a mesh of
 *  about equal cells: they grow with the nodes a side. 0 as tolerance: down to rounding. */
double weft_cg_iterations_expected(int dimension, int64_t n_nodes, double tolerance);
/** A limit for them: 50 times as many, for other conditions, coefficients and shapes, and at least
 *  10,000. */
int weft_cg_iterations_limit(int dimension, int64_t n_nodes, double tolerance);
/** Bytes that conjugate gradients hold beside the operator and x and b: vectors, and on a GPU where
 * the system stays on the chip the matrix once more, laid out by multiprocessors. */
size_t weft_cg_memory_estimate(const weft_limits *limits, weft_assembly assembly,
                               const weft_assembly_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
