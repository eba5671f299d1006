/** Matrices that have to be summed over points in each cell, as several elementary functions.
 *
 *      stages.c   terms -> stages: which factors are constant, whether sums over points become moments; headers
 *      rows.c     the last stage: rows of the matrix
 *
 *  A term is C_c F_f(p) d_k test_i(p) d_l trial_j(p) with C constant on the cell and F different at points:
 *
 *      NAME_constants  C_c
 *      NAME_points     D_f(p) = weight(p) F_f(p)
 *      NAME_moments    W_f(a,b) = sum_p D_f(p) U(p,a) V(p,b), where that takes fewer operations: d_k test_i = sum_a U_a
 *                      G_k(a,i), and V and H_l for the trial function (compress.c)
 *      NAME            A(i,j) = sum_b,l (sum_c,f,k C_c sum_a W_f(a,b) G_k(a,i)) H_l(b,j)
 *                      or sum_p,l (sum_c,f,k C_c D_f(p) d_k test_i(p)) d_l trial_j(p)
 *
 *  On cells whose Jacobian varies, of vectors, derivatives are by physical coordinates, so that factors are few: D has the
 *  adjugate of J too, by which rows transform the gradient of test_i, and the fluxes that meet the trial functions.
 *  Each has a body for one thread and one for many: a point, a moment, a row, a block of a row.
 *
 *  Decision  docs/decisions/0064-forms-in-stages.md */
#pragma once

#include "forms/lower/emit.h"

enum { STAGE_PARTS = 32, STAGE_DERIVATIVES = 20, STAGE_SUMS = 64 };

/** The functions of a scalar element on one side of a facet. */
typedef struct stage_space {
    ufl_element_table *table;
    bool used[STAGE_DERIVATIVES];
    ufl_compressed compressed;
    const char *values; /* name of the table [derivative][point, or column of U][function] */
    const char *units;  /* of U, where compressed */
    int count;          /* points, or columns of U */
} stage_space;

/** Rows or columns of the matrix: first + stride i. */
typedef struct stage_part {
    ufl_part part;
    int space;
} stage_part;

/** W_f(a,b) from offset on */
typedef struct stage_moment {
    int varying, test, trial; /* spaces */
    int offset;
} stage_moment;

typedef struct ufl_stager {
    ufl_emitter *e;
    ufl_lowered *out;
    ufl_terms terms;    /* their factors are constant on the cell */
    int *varying_of;    /* [terms] */
    int *varying;       /* scalars F; -1: 1 */
    int *constant_of;   /* [scalars] number among the constants; -1: none */
    int *constants;     /* scalars C */
    int (*parts_of)[2]; /* [terms] test and trial part */
    stage_part parts[2][STAGE_PARTS];
    stage_space spaces[STAGE_PARTS];
    stage_moment moments[STAGE_SUMS];
    int n_varying, n_constants, n_parts[2], n_spaces, n_moments;
    bool compressed;
    /* where gradients are by physical coordinates, times det J: D_f without weights, the adjugate of J */
    bool keeps_gradients;
    int adjugate[3][3]; /* numbers among the factors at points, behind n_factors others */
    int n_factors;
    bool *uses; /* [arguments] of the stage that is being written */
    weft_text text;
} ufl_stager;

/** Have rows at most STAGE_SUMS sums over functions of the test space? */
bool ufl_rows_fit(const ufl_stager *s);
/** The bodies of the last stage, into e->body. */
bool ufl_write_rows(ufl_stager *s);
/** Operations of the rows with tables of so many points or columns, and of the moments. */
long ufl_count_rows(const ufl_stager *s, bool compressed);
