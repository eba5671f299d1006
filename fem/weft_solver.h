/** Krylov methods: conjugate gradients, MINRES, restarted GMRES and BiCGStab.
 *
 *      In: an operator, a right-hand side, an initial guess.
 *      Out: the solution, the outcome and the convergence history. */
#ifndef WEFT_SOLVER_H
#define WEFT_SOLVER_H

#include "fem/weft_preconditioner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_method {
    WEFT_METHOD_CG,
    WEFT_METHOD_MINRES,
    WEFT_METHOD_GMRES,
    WEFT_METHOD_BICGSTAB
} weft_method;
typedef struct weft_method_info {
    const char *name;  /* of options and JSON */
    const char *title; /* of reports */
    const char *help;  /* a few words */
    bool needs_symmetric, needs_definite;
} weft_method_info;
#define WEFT_METHODS_MOST 8
/** The number of methods, which are numbered from 0. */
int weft_method_count(void);
const weft_method_info *weft_method_about(weft_method method);
/** Append the names to a text, "cg, ... or bicgstab", each with its help in brackets. */
void weft_method_list(weft_text *out);

/** Outcomes of every method. */
typedef enum weft_cg_outcome {
    WEFT_CG_CONVERGED,
    WEFT_CG_MAX_ITERATIONS,
    WEFT_CG_INDEFINITE, /* CG: p.Ap <= 0 */
    WEFT_CG_BREAKDOWN,  /* a divisor is 0 (CG: r.z), but the residual is not small */
    WEFT_CG_NAN,
    WEFT_CG_STAGNATION, /* no progress, not explained by rounding */
    WEFT_CG_OVERFLOW /* the system, scaled, is solved, but the solution exceeds the largest number */
} weft_cg_outcome;
const char *weft_cg_outcome_name(weft_cg_outcome outcome);

typedef struct weft_cg_options {
    size_t size; /* sizeof(weft_cg_options) */
    weft_method method;
    int restart; /* GMRES: iterations between restarts, up to WEFT_RESTART_MAX; 0: 30 */
    /* scale by the inverse of |diag A| (symmetrically in CG and MINRES, otherwise from the right,
     * so that residuals are those of A x = b) */
    bool jacobi;
    double tolerance;           /* see weft_solver_solve; 0: as far as rounding allows */
    int max_iterations;         /* see weft_cg_iterations_limit */
    const int32_t *constrained; /* ascending dofs whose value in x is given; borrowed */
    int64_t n_constrained;
    bool project_mean; /* the operator is symmetric and singular, the constants its null space */
    /* with `jacobi` set, replaces D^-1, which still scales norms; borrowed; NULL: none */
    weft_preconditioner *preconditioner;
    /* CG starts by full multigrid of the preconditioner, with so many cycles on each level but the
     * finest; 0: from x; otherwise only the constrained values of x are read if one is not 0 */
    int full_cycles;
    /* instead of CG: full multigrid with two cycles on each level and, until the algebraic
     * error is below 0.3 of the discretisation error, further cycles; the tolerance is not
     * used. Needs a mesh with levels */
    bool until_discretisation;
    const weft_monitor *monitor;
    const weft_space *const *spaces; /* [n_spaces] of x, to tell its components; borrowed */
    int n_spaces;                    /* 0: unknown */
} weft_cg_options;
static inline weft_cg_options weft_cg_options_default(void) {
    weft_cg_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

#define WEFT_RESTART_MAX 500
#define WEFT_FULL_CYCLES_UNTIL 2 /* on each level, with until_discretisation */

typedef struct weft_cg_result {
    weft_cg_outcome outcome;
    const char *breakdown; /* what was 0 in a breakdown of a method besides CG; otherwise NULL */
    int iterations;
    double residual;       /* relative, recomputed from b - A x at the end */
    double *history;       /* [iterations + 1] relative residuals; free() */
    bool to_rounding;      /* converged as far as rounding allows, not to the tolerance */
    double backward_error; /* see weft_solver_solve; NaN if the tolerance was met */
    /* not converged because what stiff rows leave in the residual may hide errors of soft ones: the
     * largest entry of D over the least; otherwise 0 */
    double jump;
    /* with until_discretisation, otherwise NaN: estimated errors in the energy norm; residuals in the
     * history that were not computed are NaN */
    double discretisation_error, algebraic_error;
} weft_cg_result;

/** A solver for one operator, for repeated solves. It keeps its vectors (four of n_dofs doubles, and
 *  those of the last method besides CG: 6 for MINRES, 4 for BiCGStab, restart + 1 for GMRES), its
 *  programs and, on a GPU, the persistent kernel of CG for small systems, so that solves after the
 *  first neither compile nor allocate. */
typedef struct weft_solver weft_solver;
/** What a later solve will run. */
typedef struct weft_solver_plan {
    weft_method method;
    bool has_preconditioner, projects_mean;
    bool has_values;   /* given ones that are not 0, or none at all */
    bool starts_full;  /* full_cycles > 0 */
    bool stays_single; /* the preconditioner's result stays in single precision */
} weft_solver_plan;
/** Let other threads compile the scripts of the solve meanwhile, if kernels are compiled at all and not in the
 *  cache. Failures come again in the solve. */
void weft_solver_compile_in_background(weft_context *context, weft_operator *op,
                                       const weft_solver_plan *plan);
/** context, op  borrowed; must outlive the solver. The operator may be reassembled between solves
 *  out          caller's; weft_solver_free
 *  Errors       WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_solver_make(weft_context *context, weft_operator *op, weft_solver **out,
                             weft_error *error);
void weft_solver_free(weft_solver **solver);
/** Solve A x = b. The result does not depend on the number of threads.
 *  b, x       [n_dofs] doubles on the device; x holds the initial guess, with the boundary values
 *             at constrained dofs
 *  options    borrowed for the call
 *  result     also set if the outcome is not WEFT_CG_CONVERGED, which is not an error
 *  Converged  for the true residual r = b - A x and the diagonal D of A,
 *                 |r| <= tolerance |b - A x_constrained| and, with spaces, tolerance |b - A e|, e near constants
 *                 besides given values (large constants then mask nothing), or 1e-14 |b - A x_constrained|
 *                 with CG: sqrt(r.D^-1 r) <= 100 tolerance sqrt(x.A x) (stiff parts mask no soft ones)
 *                 where all D_i > 0: max |r_i| <= 10 tolerance min D_i max |x_i| (nor stiff rows)
 *             or, if rounding prevents this, in norms scaled by D, |r| / (|A| |x| + |b|) <= (10 + sqrt(iterations)) 2^-52 (backward error)
 *                 and |r| <= 1e-4 |b| and max |r_i| <= 5e-6 min D_i max |x_i|
 *  Errors     WEFT_ERROR_USAGE, WEFT_ERROR_SHAPE, WEFT_ERROR_UNSUPPORTED (a null device),
 *             WEFT_ERROR_MEMORY, WEFT_ERROR_COMPILER, WEFT_ERROR_DEVICE
 *  Source     Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1; Higham 2002, 7.1 and 17.5; for
 *             the other methods the scripts fem/scripts/{minres,gmres,bicgstab}.weft */
weft_status weft_solver_solve(weft_solver *solver, weft_memory *b, weft_memory *x,
                              const weft_cg_options *options, weft_cg_result *result,
                              weft_error *error);
/** Make a solver, solve once, free it. */
weft_status weft_cg_solve(weft_context *context, weft_operator *op, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_cg_result *result,
                          weft_error *error);

/** Expected number of iterations of Jacobi-CG for a second-order elliptic problem with even coefficients, proportional to
 *  n_nodes^(1/dimension), within a factor of 2 for usual conditions. Read: what describes mesh and element.
 *  tolerance  0: as far as rounding allows */
double weft_cg_iterations_expected(const weft_assembly_problem *problem, double tolerance);
/** A limit on the iterations: 50 times the number that is expected of a scalar in elements of degree 1 on simplices, as
 *  conditions and coefficients vary, and at least 10,000. */
int weft_cg_iterations_limit(int dimension, int64_t n_nodes, double tolerance);
#define WEFT_COSTS_MAX 5
/** Figures of one preconditioner on a device; a time that is 0 is predicted from the bytes of a product. */
typedef struct weft_preconditioner_speed {
    /* seconds per row, [dimension - 2]; an iteration with CG's product */
    double set_up, iteration[2];
} weft_preconditioner_speed;
typedef struct weft_preconditioner_speeds {
    weft_preconditioner_speed of[WEFT_COSTS_MAX];
    int n_measured; /* figures from the tuning database */
} weft_preconditioner_speeds;
/** The figures that the tuning database has of a device, called "preconditioner NAME set-up",
 *  "preconditioner NAME iteration 2D" and "... 3D"; elsewhere 0.
 *  tuning  borrowed; NULL: none
 *  device  its identity (weft_device_identity)
 *  Errors  those of weft_tuning_get */
weft_status weft_preconditioner_speeds_read(weft_tuning *tuning, const char *device,
                                            weft_preconditioner_speeds *out, weft_error *error);
/** Store the figures of a solve that was measured: of n_rows rows, with `kind` in a mesh of this dimension.
 *  Nothing is stored for kinds that weft_preconditioner_costs does not know.
 *  Errors  those of weft_tuning_set */
weft_status weft_preconditioner_speeds_write(weft_tuning *tuning, const char *device, int kind,
                                             int dimension,
                                             const weft_preconditioner_speed *seconds_per_row,
                                             weft_error *error);
/** Predicted time of a solve with one preconditioner. */
typedef struct weft_preconditioner_cost {
    const char *name;
    int kind; /* of weft_preconditioner; -1: Jacobi's, with the fastest assembly */
    double iterations, iteration_seconds, set_up_seconds; /* of one solve */
    double seconds;                                       /* matrix, set-up and iterations */
} weft_preconditioner_cost;
/** Predict the time with Jacobi's preconditioner, by aggregation and, if the levels of refinement are
 *  there, by multigrid, best choice first. Returns their number. Problems are taken to be elliptic.
 *  Multigrid for symmetric ones, and for those whose asymmetry is known: preconditioned by the symmetric part, they
 *  take more iterations the more convection there is across the whole domain.
 *  problem  applications: the expected iterations with Jacobi's preconditioner, of all solves; factorisations > 0: lu, too
 *  speeds   of the device; NULL: constants, measured elsewhere */
int weft_preconditioner_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                              bool has_levels, const weft_preconditioner_speeds *speeds,
                              weft_preconditioner_cost out[WEFT_COSTS_MAX]);
/** Bytes that a solver holds besides the operator, x and b: vectors, and with CG for systems that
 *  the persistent kernel keeps on a GPU's chip a second copy of the matrix.
 *  options             borrowed; only method and restart are read
 *  has_preconditioner  other than Jacobi's, which the persistent kernel does not apply */
size_t weft_cg_memory_estimate(const weft_limits *limits, weft_assembly assembly,
                               const weft_assembly_problem *problem, const weft_cg_options *options,
                               bool has_preconditioner);

#ifdef __cplusplus
}
#endif
#endif
