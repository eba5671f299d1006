/* The steps of a conjugate-gradient solve (cg_steps.c), put together in cg.c. Not installed. */
#ifndef WEFT_CG_INTERNAL_H
#define WEFT_CG_INTERNAL_H

#include "operator_internal.h"

typedef struct weft_cg {
    weft_device *device;
    weft_operator *op;
    const weft_cg_options *options;
    int64_t n, n_chunks;
    const weft_wide_kernels *wide;
    weft_memory *x_memory, *r_memory, *p_memory, *q_memory, *d_memory;
    weft_cg_vectors v;
    double *b;     /* changed by weft_cg_scale alone */
    double *sums;  /* [2][n_chunks] */
    double scalar; /* alpha, beta or a shift, of the pass that runs */
    double rr, rz; /* r.r and r.(d r) of the present residual */
    double norm;   /* |b - A x_constrained| */
} weft_cg;

/** Allocate; x and b must be host memories of n_dofs doubles. Free with weft_cg_release, also after
 * an error. */
weft_status weft_cg_prepare(weft_cg *cg, weft_context *context, weft_operator *op, weft_memory *b,
                            weft_memory *x, const weft_cg_options *options, weft_error *error);
void weft_cg_release(weft_cg *cg);
/** d = 1 / diag(A), or 1; 0 for constrained dofs. *least: the smallest diagonal entry of a free
 * dof, or NaN. */
weft_status weft_cg_diagonal(weft_cg *cg, double *least, weft_error *error);
/** The norm that residuals are relative to. Uses r, p and q. */
weft_status weft_cg_norm(weft_cg *cg, weft_error *error);
/** What b and x are to be multiplied by so that the squares of CG neither overflow nor vanish: a
 * power of two, so that no bit changes, and 1 for all but extreme systems. After weft_cg_norm. */
double weft_cg_scale_wanted(const weft_cg *cg);
/** Multiply b and x. */
void weft_cg_scale(weft_cg *cg, double factor);
/** r = b - A x, and its rr and rz. Uses q. */
weft_status weft_cg_residual(weft_cg *cg, weft_error *error);
/** p = d r + beta p */
weft_status weft_cg_direction(weft_cg *cg, double beta, weft_error *error);
/** q = A p without its constrained entries; *pq = p.q */
weft_status weft_cg_product(weft_cg *cg, double *pq, weft_error *error);
/** x += alpha p, r -= alpha q, and its rr and rz. */
weft_status weft_cg_update(weft_cg *cg, double alpha, weft_error *error);
/** Subtract from a vector its mean. */
weft_status weft_cg_subtract_mean(weft_cg *cg, double *vector, weft_error *error);
/** Set the free entries of x to zero. */
void weft_cg_clear(weft_cg *cg);

#endif
