/** Kinds of preconditioners. Not installed.
 *
 *      In: a problem.  Out: a preconditioner, by the methods of its kind.
 *
 *  Each kind has a file that defines its weft_preconditioner_kind; the table of all kinds is in
 *  fem/precondition/kinds.c. */
#pragma once

#include "fem/form/form.h"
#include "fem/operator/operator.h"
#include "fem/weft_preconditioner.h"

/** Lists of floats on the device of a preconditioner that computes z = M (a b).
 *  a  [n] the diagonal, -1 at constrained dofs; b 0 there */
typedef struct weft_single_lists {
    weft_memory *a, *b, *z;
} weft_single_lists;

/** What factorises on several ranks, which must be processes. */
#define WEFT_RANKS_FACTORISE                                                                       \
    "mpirun with --preconditioner petsc and --petsc-options \"-pc_type lu "                        \
    "-pc_factor_mat_solver_type mumps\""

/** The methods of a kind. */
typedef struct weft_preconditioner_kind {
    weft_preconditioner_info info;
    /* Make state and fill the report, except kind, bytes and set_up_seconds, for the problem; also called
     * by weft_preconditioner_update if `update` is NULL, after `free`. On an error the caller
     * calls free. */
    weft_status (*make)(weft_preconditioner *preconditioner, weft_error *error);
    weft_status (*update)(weft_preconditioner *preconditioner, weft_error *error);
    weft_status (*apply)(weft_preconditioner *preconditioner, weft_memory *r, weft_memory *z,
                         weft_error *error);
    /* weft_preconditioner_full; NULL: not supported */
    weft_status (*full)(weft_preconditioner *preconditioner, int cycles, weft_memory *r,
                        weft_memory *z, weft_full_report *report, weft_error *error);
    /* weft_preconditioner_start; NULL: not supported */
    weft_status (*start)(weft_preconditioner *preconditioner, int cycles, weft_memory *r,
                         weft_memory *z, weft_error *error);
    /* The list of floats in which apply leaves the result divided by the root of preconditioner->square, if it is also
     * the list z: [n], the same until `free`; NULL, also the function: results are doubles */
    weft_memory *(*single)(const weft_preconditioner *preconditioner);
    /* The lists of floats between which `cycle` runs; false, also the function NULL: there are none. They may change with `make`. */
    bool (*lists)(const weft_preconditioner *preconditioner, weft_single_lists *out);
    weft_status (*cycle)(weft_preconditioner *preconditioner, weft_error *error);
    void (*free)(weft_preconditioner *preconditioner); /* sets state to NULL; state may be NULL */
    bool (*is_found)(
        const struct weft_preconditioner_kind *kind); /* its library; NULL: it needs none */
    /* Bytes that it will hold; NULL: not known. */
    size_t (*estimate_memory)(const weft_operator_sizes *sizes, int dimension);
} weft_preconditioner_kind;

struct weft_preconditioner {
    const weft_preconditioner_kind *kind;
    weft_context *context;
    weft_preconditioner_problem problem;
    weft_preconditioner_report report;
    void *state; /* private to the kind */
    /* multigrid alone: a matrix on the host in place of the operator's, which is NULL; borrowed, its values
     * for `make` alone; NULL: that of the operator. With the next: that of the whole, whose arrays are taken */
    struct weft_csr *matrix;
    struct weft_layout *layout; /* of its rows, on several ranks; borrowed; NULL: there is one */
    /* during apply in a loop, otherwise NULL: weft_program_product.active; r.r on the device, which
     * may be off by rounding, as a scale */
    weft_memory *active, *square;
    int n_solves, first_iterations; /* since it was made or updated; of the first of them */
    bool is_reused;                 /* made for other values than the operator's */
    bool needs_update;              /* it took too many iterations */
    bool has_warned;                /* of what does not suit it */
    bool is_foreign; /* applications are another library's work on the device: not to be captured */
    bool reads_operator; /* applications read inputs of forms, to which the rest must be adapted */
};
/** The most iterations of a solve before an update is better: INT_MAX, or a few times those of the first solve if it is
 *  reused. */
int weft_preconditioner_iterations_limit(const weft_preconditioner *preconditioner);
/** Free everything but the report. NULL: nothing. */
void weft_preconditioner_keep_report(weft_preconditioner *preconditioner);
/** Note the iterations of a solve.
 *  Returns  whether it failed with a reused preconditioner, so that an update may help */
bool weft_preconditioner_used(weft_preconditioner *preconditioner, int iterations, bool converged);

extern const weft_preconditioner_kind weft_preconditioner_chebyshev, weft_preconditioner_multigrid,
    weft_preconditioner_aggregation, weft_preconditioner_auxiliary, weft_preconditioner_block,
    weft_preconditioner_commutator, weft_preconditioner_augmented, weft_preconditioner_hypre,
    weft_preconditioner_petsc, weft_preconditioner_cholmod, weft_preconditioner_lu;
/** Multigrid on levels of lower degree, with a kind that coarsens for linear functions; not among those that are listed. */
extern const weft_preconditioner_kind weft_preconditioner_degrees;
/** The kind block for saddle points without a matrix; the same. */
extern const weft_preconditioner_kind weft_preconditioner_saddle;
bool weft_preconditioner_is_saddle(const weft_preconditioner_problem *problem);
/** Bytes that they will hold on a GPU, about, but for the inverse of the coarsest level. */
size_t weft_degrees_memory(const weft_operator_sizes *sizes, const weft_assembly_problem *problem);
size_t weft_saddle_memory(const weft_operator_sizes *sizes, const weft_assembly_problem *problem);
/** Does a kind work so for this problem? */
bool weft_preconditioner_lowers_degrees(const weft_preconditioner_kind *kind,
                                        const weft_preconditioner_problem *problem);

/** The error of a kind without full multigrid: WEFT_ERROR_UNSUPPORTED. */
weft_status weft_preconditioner_refuse_full(const weft_preconditioner *preconditioner,
                                            weft_error *error);

/* ---- parts that several kinds use ---- */

/** Set d = 1 / diag(A), 0 at constrained dofs, in double precision for each operator.
 *  d       [n_dofs] on the device
 *  extent  NULL, or gets the least and the largest entry of the diagonal at free dofs
 *  Errors  WEFT_ERROR_UNSUPPORTED (a diagonal entry of a free dof is not positive) */
weft_status weft_inverse_diagonal(const weft_preconditioner_problem *problem, weft_context *context,
                                  weft_memory *d, double *extent, weft_error *error);
/** The error for an entry of the diagonal that is not positive: WEFT_ERROR_UNSUPPORTED. */
weft_status weft_diagonal_refused(int64_t dof, double value, weft_error *error);
/** The compiled steps of weft_eigenvalue_bound, kept for the next operator. Initialise with {0}; free with
 *  weft_eigenvalue_steps_clear. */
typedef struct weft_eigenvalue_steps {
    weft_compiled compiled;
    const char *product_kernel; /* of the operator that it was compiled for */
    bool brings_dot;
} weft_eigenvalue_steps;
void weft_eigenvalue_steps_clear(weft_eigenvalue_steps *steps);
/** An upper bound of the largest eigenvalue of D^-1 A over free dofs: the largest Ritz value of a
 *  few Lanczos steps, i.e. of conjugate gradients for a fixed pseudo-random right-hand side, times
 *  1.05.
 *  steps   compiled unless they fit the operator
 *  d       inverse diagonal, 0 at constrained dofs, [n_dofs] on the device
 *  lambda  1 if no dof is free
 *  Errors  WEFT_ERROR_UNSUPPORTED (the operator is not positive semi-definite or has NaN), _MEMORY,
 *          _COMPILER, _DEVICE; an operator in single precision is too far from op->exact (_UNSUPPORTED)
 *  Source  Saad 2003, Iterative methods for sparse linear systems, 6.7.3 */
weft_status weft_eigenvalue_bound(weft_context *context, weft_eigenvalue_steps *steps,
                                  weft_operator *op, weft_memory *d, double *lambda,
                                  weft_error *error);
enum { WEFT_CHEBYSHEV_DEGREE_MAX = 6 };
/** What such a script knows, as bits. */
enum {
    WEFT_CHEBYSHEV_FROM_ZERO = 1, /* the initial guess is zero */
    WEFT_CHEBYSHEV_SCALED = 2, /* A and b are divided by the diagonal already, and there is no d */
    WEFT_CHEBYSHEV_STARTED = 4 /* from zero, with the first step as input: e1 = 4/3 inverse d b */
};
/** Append to a script the smoothing of A x = b by a polynomial in D^-1 A of some degree: Chebyshev
 *  of the fourth kind with optimised weights, which needs no bound of the small eigenvalues.
 *
 *  The script must define lists over the rows of the operator A: b, the right-hand side, d, the
 *  inverse diagonal, and x0, the initial guess, unless it is zero; and `inverse : real`, the
 *  reciprocal of a bound of the largest eigenvalue of D^-1 A. The text defines the smoothed x,
 *  after degree products, or degree - 1 from zero.
 *  how     these bits
 *  Source     Lottes 2022, Optimal polynomial smoothers for multigrid V-cycles; Phillips and
 *             Fischer 2022 */
void weft_chebyshev_append(weft_text *script, int degree, unsigned how);
/** The weight of step i = 1 .. degree. */
double weft_chebyshev_weight(int degree, int i);
