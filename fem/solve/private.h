/* The solver and the steps of a solve (fem/solve/steps.c), put together in fem/solve/cg.c. Not installed. */
#pragma once

#include "fem/form/form.h"
#include "fem/solve/persistent.h"

/** What the scripts cg_*.weft work on, by the names they have there: lists over the dofs first,
 *  then uniform values, a memory of one double each. */
typedef enum weft_cg_name {
    WEFT_CG_X,
    WEFT_CG_B,
    WEFT_CG_Z, /* d r, r the residual */
    WEFT_CG_P,
    WEFT_CG_Q,         /* A p, A x, and, after weft_cg_norm and weft_cg_residual, r */
    WEFT_CG_D,         /* the inverse diagonal, 0 for constrained dofs */
    WEFT_CG_RZ,        /* r.z of the present residual */
    WEFT_CG_RZ_BEFORE, /* the same for the residual that p was made from */
    WEFT_CG_RR,
    WEFT_CG_PQ,
    WEFT_CG_STEP, /* alpha of the iteration before, by which x has not moved yet */
    WEFT_CG_GAIN, /* sum of alpha r.z, by which the square of the error's energy norm has fallen */
    WEFT_CG_ENERGY,     /* x.A x */
    WEFT_CG_SHARE,      /* 1 / n where means are subtracted, else 0 */
    WEFT_CG_SIZE,       /* x.x/d over free dofs */
    WEFT_CG_ITERATIONS, /* iterations of one run, at most */
    WEFT_CG_LIMIT,      /* of rr: where the tolerance is met */
    WEFT_CG_NAMES
} weft_cg_name;

typedef enum weft_cg_script {
    WEFT_CG_LOOP,
    WEFT_CG_RESIDUAL,
    WEFT_CG_MEAN,
    WEFT_CG_SOLUTION,
    WEFT_CG_SCRIPTS
} weft_cg_script;

struct weft_solver {
    /* kept from solve to solve */
    weft_context *context;
    weft_operator *op;
    int64_t n;
    weft_memory *memory[WEFT_CG_NAMES];     /* x and b are the caller's, NULL between solves */
    weft_memory *history;                   /* rr of a run, iteration by iteration */
    double *sums;                           /* one for each chunk of rows, for csr on the host */
    weft_compiled scripts[WEFT_CG_SCRIPTS]; /* compiled when first run */
    weft_persistent *persistent;            /* NULL before it is needed, and where it is not used */
    /* of one solve */
    const weft_cg_options *options;
    bool bound[WEFT_CG_SCRIPTS]; /* to these memories */
    double rr, rz, pq;           /* of the present residual, as the memories hold them */
    double energy;               /* x.A x when the residual was last b - A x */
    double gain;                 /* what the energy of the error has fallen by */
    double norm;                 /* |b - A x_constrained| */
    double scaled_norm;          /* the same, in the norm sqrt(r.d r) */
    double largest;              /* d_i A_ii of a free dof, at most */
    double limit;                /* of rr */
};

/** Run a script on the memories of this solve; compiled and bound when first asked for. */
weft_status weft_cg_run(weft_solver *cg, weft_cg_script script, weft_error *error);
/** The iterations of the last run of WEFT_CG_LOOP. */
weft_status weft_cg_counted(const weft_solver *cg, int64_t *iterations, weft_error *error);
/** Programs stay, the memories of a solve do not. */
void weft_cg_unbind(weft_solver *cg, weft_cg_script script);

/** Start a solve: check what is given, and clear what the last one left. */
weft_status weft_cg_start(weft_solver *cg, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_error *error);
/** End it, also after an error: nothing of the caller's is bound any more. */
void weft_cg_end(weft_solver *cg);
/** d = 1 / diag(A), or 1; 0 for constrained dofs; `largest`. *least: the smallest diagonal entry of
 *  a free dof, or NaN. */
weft_status weft_cg_diagonal(weft_solver *cg, double *least, weft_error *error);
/** The norms that residuals are relative to. Uses z, p and q; p is zero then. */
weft_status weft_cg_norm(weft_solver *cg, weft_error *error);
/** What b and x are to be multiplied by so that the squares of CG neither overflow nor vanish: a
 * power of two, so that no bit changes, and 1 for all but extreme systems. After weft_cg_norm. */
weft_status weft_cg_scale_wanted(weft_solver *cg, double *scale, weft_error *error);
/** Multiply b and x. */
weft_status weft_cg_scale(weft_solver *cg, double factor, weft_error *error);
/** r = b - A x, in q, and its z, rr and rz. The next direction is z alone. */
weft_status weft_cg_residual(weft_solver *cg, weft_error *error);
/** *size: the norm of x, sqrt(x.x/d) over free dofs. */
weft_status weft_cg_size(weft_solver *cg, double *size, weft_error *error);
/** As many iterations as `turns` says, at most WEFT_CG_ITERATIONS_MAX, or fewer: the loop of
 *  cg.weft. Starts from z, rr and rz of weft_cg_residual, or from where it stopped. *done of them,
 *  and in rr[1 .. *done] the r.r after each. The last one is broken, and of no effect, where pq is
 *  not positive then. */
enum { WEFT_CG_ITERATIONS_MAX = 4096 };
weft_status weft_cg_iterations(weft_solver *cg, int iterations, int *done, double *rr,
                               weft_error *error);
/** Iterations in one kernel (fem/solve/one_kernel.c). */
typedef struct weft_cg_batch {
    int n;              /* iterations */
    bool is_indefinite; /* ended so */
    double *rr;         /* [n + 1]: at the start and after each; free() */
} weft_cg_batch;
/** Whether iterations can be done in one kernel: a stored matrix on a GPU whose multiprocessors
 * keep the vectors. Makes what that takes. After weft_cg_diagonal; the choice is logged (info). */
weft_status weft_cg_persistent_prepare(weft_solver *cg, bool *is_persistent, weft_error *error);
/** At most so many iterations from the present residual, x and rr with them; then r is no longer
 * that of x. Ends where the recurrence meets the tolerance, and where it breaks down (then rz is 0
 * or NaN). */
weft_status weft_cg_persistent(weft_solver *cg, int iterations, weft_cg_batch *out,
                               weft_error *error);
/** Subtract from x its mean. */
weft_status weft_cg_subtract_mean(weft_solver *cg, weft_error *error);
/** Set the free entries of x to zero. */
weft_status weft_cg_clear(weft_solver *cg, weft_error *error);

/* ---- when it ends (fem/solve/stop.c) ---------------------------------------------------------------- */

typedef struct weft_cg_convergence {
    int iterations, capacity;
    double *history; /* [iterations + 1]: residuals relative to the norm */
    double lowest;   /* of them, and when */
    int lowest_at;
    double *gains;         /* [iterations / 1000 + 1]: cg->gain then */
    double replaced;       /* the true residual when the recurrence last met the tolerance */
    int at_once;           /* iterations to ask the device for at once */
    double *rr;            /* [WEFT_CG_ITERATIONS_MAX + 1] of a run */
    bool is_true;          /* the residual is b - A x itself, not the recurrence's */
    bool to_rounding;      /* converged, but not to the tolerance */
    double backward_error; /* NaN: was not asked for */
} weft_cg_convergence;

/** The limit for a residual relative to the norm, not below what a recurrence can be used for. */
void weft_cg_limit(weft_solver *cg, double tolerance);
/** history[iterations] = residual. */
weft_status weft_cg_note(weft_cg_convergence *convergence, double residual, weft_error *error);
/** Does the present residual end the iteration? broken: p.q was not positive. Where the recurrence
 *  has met the tolerance and x has not, it starts again from b - A x, once for each halving. */
weft_status weft_cg_judge(weft_solver *cg, weft_cg_convergence *convergence, bool broken,
                          bool *decided, weft_cg_outcome *outcome, weft_error *error);
/** Iterations up to the next at which a lack of progress is looked for: the host must see those. */
int weft_cg_until_check(int iterations);
/** Iterations to come, if residuals keep falling as over the last half of those done; 0: unknown.
 */
int weft_cg_iterations_ahead(const double *history, int iterations, double tolerance);
/** Tell the monitor the digits gained of those wanted, and the iterations. */
void weft_cg_report(const weft_solver *cg, const double *history, int iterations);
