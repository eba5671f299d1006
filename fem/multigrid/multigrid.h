/** The algebraic part of multigrid: levels from a sparse matrix, on the host's threads.
 *
 *      In: a symmetric positive (semi)definite CSR matrix; constrained dofs, coordinates and
 *      near-nullspace, or the parents of refined nodes.
 *      Out: prolongations, Galerkin matrices P^T A P and bounds of eigenvalues.
 *
 *  Results do not depend on the number of threads. device is borrowed, for its threads; NULL: one
 *  thread. Not installed. */
#pragma once

#include "core/weft_core.h"

/* ---- sparse matrices ----------------------------------------------------------------------- */

/** A sparse matrix; columns ascend within a row. Start from {0}; arrays from weft_array_make_unset
 *  or borrowed. */
typedef struct weft_csr {
    int64_t n_rows, n_columns;
    int64_t *row_start; /* [n_rows + 1] */
    int32_t *columns;   /* [row_start[n_rows]] */
    double *values;     /* [row_start[n_rows]] */
} weft_csr;
/** Free the arrays of a matrix that owns them, and set it to {0}. */
void weft_csr_clear(weft_csr *matrix);
/** Arrays for a matrix, zero.
 *  out     caller's, also after an error; weft_csr_clear
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_csr_allocate(int64_t n_rows, int64_t n_columns, int64_t n_entries, weft_csr *out,
                              weft_error *error);
/** The place of an entry in columns and values; -1: none. */
int64_t weft_csr_find(const weft_csr *A, int64_t row, int64_t column);
/** out = A^T.
 *  out     caller's; weft_csr_clear
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_csr_transpose(weft_device *device, const weft_csr *A, weft_csr *out,
                               weft_error *error);
/** out = A B, whose entries are those of the pattern: none is dropped because it is zero.
 *  out     caller's; weft_csr_clear
 *  Errors  WEFT_ERROR_SHAPE, WEFT_ERROR_MEMORY; *out untouched
 *  Source  Gustavson 1978 */
weft_status weft_csr_multiply(weft_device *device, const weft_csr *A, const weft_csr *B,
                              weft_csr *out, weft_error *error);
/** out = P^T A P, as P^T (A P).
 *  Memory  during the call, A P and P^T
 *  Errors  as weft_csr_multiply */
weft_status weft_galerkin(weft_device *device, const weft_csr *A, const weft_csr *P, weft_csr *out,
                          weft_error *error);
/** The values of (A + A^T) / 2.
 *  A       n_rows = n_columns
 *  out     [row_start[n_rows]] caller's; not A's values
 *  Errors  WEFT_ERROR_UNSUPPORTED (an entry without its transpose in the pattern) */
weft_status weft_csr_symmetric_part(weft_device *device, const weft_csr *A, double *out,
                                    weft_error *error);
/** A bound of the largest eigenvalue of D^-1 A, D = diag(A), without the constrained rows and
 *  columns: the largest Ritz value of 8 Lanczos steps, plus its residual or 5 %, whichever is more; at
 *  most the largest row sum of |D^-1 A|, which ends the steps.
 *  A            symmetric, with a positive diagonal
 *  constrained  [n_constrained] ascending rows
 *  out          0 if all rows are constrained
 *  Errors       WEFT_ERROR_INPUT (names the row: an entry that is not finite, a diagonal entry that
 *               is missing or not positive), WEFT_ERROR_SHAPE (A is not square, a row is out of
 *               range), WEFT_ERROR_MEMORY; *out untouched
 *  Source       Zhou and Li 2011 */
weft_status weft_csr_eigenvalue(weft_device *device, const weft_csr *A, const int32_t *constrained,
                                int64_t n_constrained, double *out, weft_error *error);

/** The largest eigenvalue of the tridiagonal matrix of n Lanczos steps.
 *  alpha, beta  [n] its diagonal, and the entries beside it; the last beta is that of the next row
 *  residual     gets |beta_n s_n| of the Ritz vector s */
double weft_ritz_value(const double *alpha, const double *beta, int n, double *residual);
/** An entry of a fixed pseudorandom vector, uniform in [-1, 1): SplitMix64 of the row. */
double weft_random_entry(int64_t row);

/* ---- refined meshes ------------------------------------------------------------------------ */

/** Nodes of a uniformly refined mesh over those of the coarser one. */
typedef struct weft_parents {
    /* [n_fine][2] coarse nodes whose mean is the fine node; equal: it is this coarse node */
    const int32_t *parents;
    int64_t n_fine, n_coarse;
    int components;                                       /* dofs per node, interleaved; 0: 1 */
    const int32_t *fine_constrained, *coarse_constrained; /* ascending dofs */
    int64_t n_fine_constrained, n_coarse_constrained;
} weft_parents;
/** out = P^T A P with the linear interpolation P of refined nodes: weights 1/2 and 1/2, or 1. Rows of
 *  constrained fine dofs of P are empty, its columns of constrained coarse dofs too. Entries of out are those
 *  of the pattern, as with weft_galerkin.
 *  A       [n_fine * components] rows and columns
 *  out     [n_coarse * components] rows and columns; caller's; weft_csr_clear
 *  Memory  during the call, 16 bytes per fine dof, at most 128 per coarse dof, and a copy of the entries of out
 *  Errors  WEFT_ERROR_SHAPE (a parent or a constrained dof is out of range, or A has another size),
 *          WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_galerkin_refined(weft_device *device, const weft_csr *A,
                                  const weft_parents *parents, weft_csr *out, weft_error *error);

/* ---- smoothed aggregation ------------------------------------------------------------------ */

/** One level of a hierarchy, [0] the finest. */
typedef struct weft_algebraic_level {
    weft_csr A;
    weft_csr P;    /* from the next coarser level to this one; {0} for the coarsest */
    double lambda; /* bound of the largest eigenvalue of D^-1 A over free rows; 0: there are none */
} weft_algebraic_level;

/** Zeros are the defaults. Arrays are borrowed for the call. */
typedef struct weft_aggregation_options {
    const int32_t *constrained; /* [n_constrained] ascending dofs, rows of the identity */
    int64_t n_constrained;
    int components; /* dofs per node, interleaved; 0: 1 */
    /* [n_nodes + 1] in place of components, with near_nullspace: consecutive rows of each node; NULL: none */
    const int32_t *node_start;
    int64_t n_nodes;
    int dimension;   /* of the coordinates: 1 to 3 */
    const double *x; /* [n_nodes][dimension]; NULL: aggregates by the graph of the matrix alone */
    int n_near_nullspace; /* at most WEFT_MOST_MODES */
    /* [n_rows][n_near_nullspace], vectors v with A v near 0 on free rows; NULL: constants,
     * one for each component */
    const double *near_nullspace;
    bool rigid_body_modes; /* instead: 1, 3, 6 in 1D to 3D; components = dimension, with x */
    /* mean size; 0: 3 in 1D, 9 in 2D, 16 in 3D, 20 with rigid body modes in
     * 3D; not used without x */
    double aggregate_nodes;
    int n_finer;           /* levels that were made before this matrix */
    int row_aggregates;    /* most aggregates that a row of P interpolates from; 0: 4 */
    int most_levels;       /* 0: 20 */
    int64_t coarsest_rows; /* a level of at most this many rows is the last; 0: 2000 */
} weft_aggregation_options;
enum { WEFT_MOST_MODES = 16 };

/** The bound theta of strong couplings on a level, 0 the finest. */
double weft_aggregation_theta(int n_modes, int level);
/** The default of aggregate_nodes. */
double weft_aggregation_nodes(int dimension, bool rigid_body_modes);
/** Whether a level of n_coarse rows is worth to be made from one of n_rows. */
bool weft_aggregation_reduces(int64_t n_coarse, int64_t n_rows);

/** Make a hierarchy by smoothed aggregation. Aggregates come from recursive bisection of the
 *  coordinates and are connected by strong couplings (|a_ij|^2 > theta^2 a_ii a_jj); couplings that
 *  are not strong are added to the diagonal in A_F. The tentative prolongation T reproduces the
 *  near-nullspace; P = (I - 3/2 / lambda D_F^-1 A_F) T, without the smallest entries of long rows,
 *  whose part of the near-nullspace the row's own aggregate takes over.
 *  A         borrowed, also by levels[0].A: must outlive the levels; symmetric with a positive
 *            diagonal. Columns of constrained dofs are ignored
 *  levels    [*n_levels]; caller's; weft_algebraic_levels_free
 *  Coarsest  has more than coarsest_rows rows if no aggregate has two nodes, e.g. for a diagonal
 *            matrix, and may be singular if A is. Rows of P that no coarse dof supports are empty
 *  Log       levels, rows, entries, widest row of P; operator complexity, without finer levels
 *  Errors    as weft_csr_eigenvalue; WEFT_ERROR_USAGE (options), WEFT_ERROR_INPUT (coordinates or
 *            near-nullspace not finite), WEFT_ERROR_SHAPE, WEFT_ERROR_MEMORY; *levels untouched
 *  Source    Vanek, Mandel and Brezina 1996 */
weft_status weft_aggregation_make(weft_device *device, const weft_csr *A,
                                  const weft_aggregation_options *options,
                                  const weft_monitor *monitor, weft_algebraic_level **levels,
                                  int *n_levels, weft_error *error);
/** Frees all but the borrowed levels[0].A. */
void weft_algebraic_levels_free(weft_algebraic_level **levels, int n_levels);
