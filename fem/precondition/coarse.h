/** The operator of a problem for functions of a lower degree, from which multigrid makes its levels.
 *
 *      In: a degree. Out: a space on the same mesh, and the operator of the same form on it.
 *
 *  Decision  docs/decisions/0065-multigrid-without-a-matrix.md */
#pragma once

#include "fem/weft_operator.h"
#include "fem/weft_space.h"

/** An operator of a lower degree, with what it refers to. */
typedef struct weft_coarse {
    weft_space *space;
    weft_operator *op;
    weft_entity_dofs *dofs;        /* [n_parts][n_sets] of its forms, malloc'd */
    struct weft_bound_form *bound; /* [n_parts], malloc'd */
    int n_dofs;
} weft_coarse;
void weft_coarse_free(weft_coarse **coarse);

/** Which form. */
typedef enum weft_coarse_form {
    WEFT_COARSE_PROBLEM,   /* the problem's, of the functions of one subspace alone */
    WEFT_COARSE_COMPONENT, /* the same, of the first component of vectors alone */
    WEFT_COARSE_MASS,      /* u v dx, of a scalar subspace */
    WEFT_COARSE_LAPLACIAN  /* grad u . grad v dx, the same */
} weft_coarse_form;

/** What for. */
typedef enum weft_coarse_use {
    WEFT_COARSE_MATRIX,   /* csr */
    WEFT_COARSE_PRODUCT,  /* without a matrix */
    WEFT_COARSE_SINGLE,   /* the same, of floats (weft_operator_make_single) */
    WEFT_COARSE_DIAGONAL, /* alone (weft_operator_make_diagonal); not assembled */
    WEFT_COARSE_USES
} weft_coarse_use;

/** An operator to be made. */
typedef struct weft_coarse_request {
    weft_coarse_form form;
    int field;  /* of a mixed space: the subspace; otherwise 0 */
    int degree; /* at least 1, of continuous Lagrange elements */
    weft_coarse_use use;
} weft_coarse_request;

/** What makes them. */
typedef struct weft_coarser {
    /** out     weft_coarse_free; its operator is assembled, if it is for more than its diagonal
     *  Errors  WEFT_ERROR_UNSUPPORTED: there is none; those of weft_operator_make and _single */
    weft_status (*make)(void *user, const weft_coarse_request *request, weft_coarse **out,
                        weft_error *error);
    /** Is the form that of a saddle point: of two subspaces, the first with vectors whose block has derivatives of both arguments in
     *  each term, the second without a block? */
    bool (*is_saddle)(void *user);
    /** Does the form couple no component of the vectors of a subspace with another one, and is it the same for each? */
    bool (*is_uncoupled)(void *user, int field);
    void *user;
} weft_coarser;
