/* The solver and the steps of a solve (fem/solve/steps.c), which fem/solve/cg.c combines. Not
 * installed.
 *
 * Decision  docs/decisions/0035-krylov-methods-are-scripts.md */
#pragma once

#include "fem/form/form.h"
#include "fem/solve/persistent.h"
#include "fem/sparse/lists.h"

/** The data of the scripts cg_*.weft, by their names there: first lists over the dofs, then uniform
 *  values, i.e. memories of one double. */
typedef enum weft_cg_name {
    WEFT_CG_X,
    WEFT_CG_B,
    WEFT_CG_Z, /* d r, with the residual r */
    WEFT_CG_P,
    WEFT_CG_Q,         /* A p or A x; after weft_cg_norm and weft_cg_residual, r, which it remains
                          with a preconditioner */
    WEFT_CG_D,         /* the inverse diagonal, 0 for constrained dofs */
    WEFT_CG_RZ,        /* r.z of the present residual */
    WEFT_CG_RZ_BEFORE, /* r.z of the residual that p was made from */
    WEFT_CG_RR,
    WEFT_CG_PQ,
    WEFT_CG_STEP,   /* alpha of the previous iteration, whose update of x is still pending */
    WEFT_CG_GAIN,   /* sum of alpha r.z: decrease of the squared energy norm of the error */
    WEFT_CG_ENERGY, /* x.A x */
    WEFT_CG_SHARE,  /* 1 / n if means are subtracted, otherwise 0 */
    WEFT_CG_SIZE, /* of WEFT_CG_SOLUTION x.x/d over free dofs; of the single loop |r|; of residuals the
                       largest |x_i|; see also the scripts below */
    WEFT_CG_START,      /* of WEFT_CG_GIVEN: sum of |x|; of WEFT_CG_DIAGONAL_SIGNS: lowest entry */
    WEFT_CG_LEAST,      /* of the diagonal of free dofs */
    WEFT_CG_MOST,       /* of the diagonal; of residuals the largest |r_i| */
    WEFT_CG_WRONG,      /* NaN if it has an entry that is not finite, else 0 */
    WEFT_CG_JACOBI,     /* 1 with Jacobi's preconditioner, else 0 */
    WEFT_CG_ITERATIONS, /* limit of iterations of one run */
    WEFT_CG_LIMIT,      /* value of rr at which the tolerance is met */
    WEFT_CG_NAMES
} weft_cg_name;

typedef enum weft_cg_script {
    WEFT_CG_LOOP,
    WEFT_CG_PRECONDITIONED_LOOP,
    WEFT_CG_SINGLE_LOOP, /* the same, where z stays in single precision */
    WEFT_CG_RESIDUAL,
    WEFT_CG_RESIDUAL_MEAN,  /* the same, with its mean subtracted */
    WEFT_CG_RESIDUAL_ALONE, /* the same, with a preconditioner: without z */
    WEFT_CG_MEAN,           /* subtracts from x its mean */
    WEFT_CG_SOLUTION,
    WEFT_CG_DIAGONAL,       /* makes d from diag(A) */
    WEFT_CG_DIAGONAL_SIGNS, /* of methods for indefinite matrices on a GPU */
    WEFT_CG_GIVEN, /* makes p from x at constrained dofs; size, the sum of |p|; start, of |x|; z is 1 at free
                         dofs */
    WEFT_CG_REFERENCE, /* from p = A z: rz = r.p and size = p.p */
    WEFT_CG_ADD,       /* adds z to x; rz = q.z, size = z.z */
    WEFT_CG_SCRIPTS
} weft_cg_script;

typedef struct weft_krylov weft_krylov; /* fem/solve/krylov.h */

struct weft_solver {
    /* kept between solves */
    weft_context *context;
    weft_operator *op;
    int64_t n, n_all;                   /* dofs: here, and of all ranks */
    weft_memory *memory[WEFT_CG_NAMES]; /* x and b are the caller's, NULL between solves */
    weft_memory *history;               /* rr of each iteration of a run */
    weft_lists *lists;
    weft_memory *product; /* A p of iterations with a preconditioner; NULL before the first */
    weft_operator_in_script in_script;      /* op as the operator A of the loops */
    weft_compiled scripts[WEFT_CG_SCRIPTS]; /* compiled when first run */
    weft_memory *kept;                      /* of weft_cg_keep; NULL before the first use */
    weft_persistent *persistent;            /* NULL before the first use, or if not used */
    bool persistent_refused;                /* by the device's compiler: it is not tried again */
    weft_krylov *krylov;                    /* a method besides CG; NULL before its first use */
    /* of one solve */
    const weft_cg_options *options;
    bool bound[WEFT_CG_SCRIPTS]; /* to the memories of this solve */
    double rr, rz, pq;           /* host copies for the present residual */
    const char *breakdown;       /* what a method besides CG cannot divide by; NULL: nothing */
    double start_rr;             /* r.r at the start of the present cycle of GMRES */
    bool repeats;                /* another cycle would be like the last */
    bool is_homogeneous;         /* constrained values are 0, after weft_cg_norm */
    bool is_zero;                /* x is 0, from weft_cg_norm until it changes */
    double energy;               /* x.A x when the residual was last b - A x */
    double gain;                 /* decrease of the energy of the error */
    double norm;                 /* |b - A x_constrained| */
    double scaled_norm;          /* likewise, in the norm sqrt(r.d r) */
    double largest;              /* max d_i A_ii over free dofs */
    double softest, stiffest;    /* least and largest A_ii of free dofs; 0: one is not positive */
    double largest_r, largest_x; /* |r_i| and |x_i| when the residual was last b - A x */
    double limit;                /* for rr */
    double discretisation, algebraic; /* estimated errors in the energy norm; NaN: not estimated */
};

/** The list in single precision in which the preconditioner of CG leaves its result; NULL: it has none. */
weft_memory *weft_cg_single(const weft_solver *cg);
/** Compile the scripts that the solve will run, all at once. */
weft_status weft_cg_compile(weft_solver *cg, weft_error *error);
/** Run a script on the memories of this solve; compiled, if it is not yet, and bound on first use. */
weft_status weft_cg_run(weft_solver *cg, weft_cg_script script, weft_error *error);
/** Unbind the memories of a solve from a script; the program is kept. */
void weft_cg_unbind(weft_solver *cg, weft_cg_script script);

/** Start a solve: check the arguments, and reset the state of the previous solve. */
weft_status weft_cg_start(weft_solver *cg, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_error *error);
/** End a solve, also after an error: unbind the caller's memories. */
void weft_cg_end(weft_solver *cg);
/** Set d = 1 / diag(A) (Jacobi) or 1, and 0 for constrained dofs; set `largest`. Methods for
 *  indefinite matrices take the absolute values of the diagonal, and the largest one for 0.
 *  least  gets the smallest diagonal entry of a free dof, or NaN if there is one */
weft_status weft_cg_diagonal(weft_solver *cg, double *least, weft_error *error);
/** Set norm and scaled_norm, to which residuals are relative. Overwrites z, p and q, the residual of x = 0 at free
 *  dofs; p becomes zero. */
weft_status weft_cg_norm(weft_solver *cg, weft_error *error);
/** The factor for b and x with which the squares in CG neither overflow nor underflow: 1 for all
 *  but extreme systems, otherwise a power of two, so that scaling is exact. Call after
 *  weft_cg_norm. */
weft_status weft_cg_scale_wanted(weft_solver *cg, double *scale, weft_error *error);
/** Multiply b and x.
 *  largest  the largest |x| then; INFINITY if an entry is not finite */
weft_status weft_cg_scale(weft_solver *cg, double factor, double *largest, weft_error *error);
/** Compute r = b - A x into q, rr and rz, and without a preconditioner z. Restarts: the next search direction is z. */
weft_status weft_cg_residual(weft_solver *cg, weft_error *error);
/** *size = the norm sqrt(x.x/d) of x over free dofs. */
weft_status weft_cg_size(weft_solver *cg, double *size, weft_error *error);
/** Keep a copy of x, and tell later how far x is from it: max |x_i - kept_i|. */
weft_status weft_cg_keep(weft_solver *cg, weft_error *error);
weft_status weft_cg_moved(weft_solver *cg, double *moved, weft_error *error);
/** Run up to `iterations` iterations, at most WEFT_CG_ITERATIONS_MAX: the loop of cg.weft. Starts
 *  from z, rr and rz of weft_cg_residual, or continues the previous run. If pq is not positive
 *  afterwards, the last iteration broke down and had no effect.
 *  done  number of iterations
 *  rr    rr[1 .. *done] gets r.r after each iteration */
enum { WEFT_CG_ITERATIONS_MAX = 4096 };
weft_status weft_cg_iterations(weft_solver *cg, int iterations, int *done, double *rr,
                               weft_error *error);
/** Iterations in one kernel (fem/solve/one_kernel.c). */
typedef struct weft_cg_batch {
    int n;              /* iterations */
    bool is_indefinite; /* ended because p.A p <= 0 */
    double *rr;         /* [n + 1]: at the start and after each; free() */
} weft_cg_batch;
/** Prepare the persistent kernel if it is applicable, i.e. for a stored matrix on a GPU whose
 *  multiprocessors can hold the vectors. Call after weft_cg_diagonal. The choice is logged. */
weft_status weft_cg_persistent_prepare(weft_solver *cg, bool *is_persistent, weft_error *error);
/** Run up to `iterations` iterations from the present residual; updates x and rr, but not r. Ends
 *  early if the recurrence meets the tolerance or breaks down (then rz is 0 or NaN). */
weft_status weft_cg_persistent(weft_solver *cg, int iterations, weft_cg_batch *out,
                               weft_error *error);
/** Start from full multigrid (fem/solve/full.c). Call after weft_cg_norm.
 *  report  NULL: without cycles on the finest level */
weft_status weft_cg_full_start(weft_solver *cg, int cycles, weft_full_report *report,
                               weft_error *error);
/** Set the free entries of x to zero. */
weft_status weft_cg_clear(weft_solver *cg, weft_error *error);

/* ---- stopping criteria (fem/solve/stop.c) ------------------------------------------------- */

typedef struct weft_cg_convergence {
    int iterations, capacity;
    double *history; /* [iterations + 1]: residuals relative to the norm */
    double lowest;   /* the lowest of them, and its iteration */
    int lowest_at;
    double *gains;         /* [iterations / 1000 + 1]: cg->gain at every 1000th iteration */
    double replaced;       /* the true residual when the recurrence last met the tolerance */
    int at_once;           /* iterations to request from the device at once */
    double *rr;            /* [WEFT_CG_ITERATIONS_MAX + 1] of a run */
    bool is_true;          /* the residual is b - A x, not that of the recurrence */
    bool to_rounding;      /* converged, but not to the tolerance */
    double backward_error; /* NaN: not computed */
    double jump;           /* see weft_cg_result */
    bool is_measuring;     /* x was kept when the present iterations started */
} weft_cg_convergence;

/** weft_cg_options.until_discretisation (fem/solve/full.c). */
weft_status weft_cg_until_discretisation(weft_solver *cg, weft_cg_convergence *convergence,
                                         weft_cg_outcome *outcome, weft_error *error);
/** Set cg->limit from a tolerance relative to the norm, bounded below by the smallest one that is
 *  useful for a recurrence. */
void weft_cg_limit(weft_solver *cg, double tolerance);
/** Set history[iterations] = residual, and update the lowest residual. */
weft_status weft_cg_note(weft_cg_convergence *convergence, double residual, weft_error *error);
/** Compute b - A x, unless the residual is that already; without the mean of x where that is to be
 *  subtracted. Replaces the last entry of the history. */
weft_status weft_cg_true_residual(weft_solver *cg, weft_cg_convergence *convergence,
                                  weft_error *error);
/** Decide whether the iteration ends. If the recurrence has met the tolerance but b - A x has not,
 *  it is restarted from b - A x, as long as every restart halves the true residual.
 *  broken   p.q was not positive
 *  decided  true: the iteration ends, with *outcome */
weft_status weft_cg_judge(weft_solver *cg, weft_cg_convergence *convergence, bool broken,
                          bool *decided, weft_cg_outcome *outcome, weft_error *error);
/** Iterations until the next check for stagnation, which needs the host. */
int weft_cg_until_check(int iterations);
/** Predicted number of further iterations, extrapolating the second half of the history; 0:
 *  unknown. */
int weft_cg_iterations_remaining(const double *history, int iterations, double tolerance);
/** Report progress to the monitor: digits gained of those wanted, and iterations. */
void weft_cg_report(const weft_solver *cg, const double *history, int iterations);
