/** The two matrices of a problem whose eigenvalues are wanted, on the host, and what approximates the inverse of the first.
 *
 *      In: a problem with a mass, whose conditions are made. Out: a pencil for fem/eigen. */
#pragma once

#include "fem/eigen/eigen.h"
#include "fem/external/external.h"
#include "fem/problem/problem.h"

/** Start from {0} with the problem; weft_problem_pencil_clear. */
typedef struct weft_problem_pencil {
    weft_problem *problem; /* borrowed */
    weft_pencil pencil;
    weft_bound_form *bound; /* [parts of the problem] of the mass, malloc'd, as are texts */
    weft_text *texts;
    weft_operator *mass;
    weft_reduction *reduction; /* of the mass; NULL: nothing is dependent */
    double *own[2];            /* values of matrices that are kept on a GPU */
    double *null;              /* [n_null][n_dofs] */
    int32_t *held; /* [n_held] ascending dofs that are left out, and those that pin null vectors */
    int64_t n_held;
    double *copy;              /* [n_dofs] */
    weft_memory *r, *z, *zero; /* zero: one number */
    weft_csr shifted;          /* K - shift M */
    weft_pattern pattern;      /* of it */
    weft_external *factors;
    double seconds; /* of the factorization */
} weft_problem_pencil;
void weft_problem_pencil_clear(weft_problem_pencil *p);
/** Make the matrices, and find what nothing holds.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the mass is not symmetric; those of weft_problem_operator_make and weft_problem_check_fixed */
weft_status weft_problem_pencil_make(weft_problem_pencil *p, weft_error *error);
/** Make the preconditioner that was chosen; a problem that was left to Jacobi's gets aggregation. */
weft_status weft_problem_pencil_precondition(weft_problem_pencil *p, weft_error *error);
/** Can CHOLMOD factorise on the host? */
bool weft_problem_has_cholesky(const weft_context *context);
/** Factorise K - shift M, for pencil.invert.
 *  is_definite  it has to be, but for what nothing holds, which is pinned for a shift of 0: by CHOLMOD, whose factors are those of such matrices
 *  Errors  WEFT_ERROR_UNSUPPORTED: no library is found, on the host, that can; WEFT_ERROR_INPUT: it is not definite; those of
 *          weft_external_make */
weft_status weft_problem_pencil_factorise(weft_problem_pencil *p, double shift, bool is_definite,
                                          weft_error *error);
/** Set dependent dofs of eigenvectors by the others. */
weft_status weft_problem_pencil_expand(weft_problem_pencil *p, weft_eigenpairs *pairs,
                                       weft_error *error);
