/** Eigenvalues of symmetric pencils, K x = l M x, on the host, or with blocks of vectors on a GPU.
 *
 *      In: two sparse matrices, the rows that are left out, an approximate inverse of K, known null vectors.
 *      Out: the smallest eigenvalues, or those near a shift, their vectors, M-orthonormal, and residuals.
 *
 *      columns.c   blocks of vectors: products, Gram matrices, combinations
 *      columns_device.c  the same on a GPU
 *      basis.c     bases: orthogonal to others, without dependent vectors
 *      dense.c     small pencils, and the whole of a pencil with few rows
 *      smallest.c  the smallest values: LOBPCG
 *      lobpcg.c    its iteration
 *      near.c      the values near a shift: Lanczos' method with the inverse
 *      pencil.c    K - s M, the size of a value, the approximate inverse
 *      pairs.c     what was found, by the matrices themselves
 *      clusters.c  the same basis of a cluster, and the same signs, in each run
 *
 *  A residual is |K x - l M x| in the norm of D^-1, D = diag K, over sqrt(weft_pencil_size_of(l)) |x|_M: free of units and of the size of
 *  the mesh. The error of a value is about its square, relative to that size. Results do not depend on the number of threads. Not installed.
 *
 *  Decision  docs/decisions/0078-eigenvalues-by-blocks.md */
#pragma once

#include "core/weft_core.h"
#include "fem/multigrid/multigrid.h"
#include "fem/weft_eigen.h"

/** A pencil. All is borrowed. */
typedef struct weft_pencil {
    weft_device *device; /* for its threads; NULL: one thread */
    const weft_monitor *monitor;
    /* symmetric; K positive semidefinite, with a positive diagonal in the rows that are not left out; M positive semidefinite */
    weft_csr K, M;
    const int32_t *
        dropped; /* [n_dropped] ascending rows and columns that are left out: vectors are 0 there */
    int64_t n_dropped;
    const double
        *null; /* [n_null][rows] vectors with K y = 0, which are kept out; 0 in dropped rows */
    int n_null;
    /* z = T r, T near the inverse of K, symmetric and positive definite; r is 0 in dropped rows; z need not be. NULL: by the
     * diagonal */
    weft_status (*precondition)(void *user, const double *r, double *z, weft_error *error);
    void *user;
    /* the same of memories of the device; r may be changed. NULL: vectors are copied to the host */
    weft_status (*precondition_on_device)(void *user, weft_memory *r, weft_memory *z,
                                          weft_error *error);
    int64_t rows_on_device;        /* from which on blocks are on a GPU; 0: WEFT_EIGEN_ON_DEVICE */
    struct columns_device *blocks; /* of this folder alone: where blocks are; NULL: on the host */
    /* of weft_eigen_near: z = (K - shift M)^-1 r, but for null vectors; z is 0 in dropped rows */
    weft_status (*invert)(void *user, const double *r, double *z, weft_error *error);
    double shift;
    /* of weft_eigen_near with the shift 0: K is positive definite, M any symmetric matrix. The inner product is that of K then, and so is
     * the length of vectors, x.K x = 1 */
    bool is_buckling;
} weft_pencil;
/** What the error of a value is relative to: its size, or its distance from the shift, by which the inverse sees zeros. */
double weft_pencil_size_of(const weft_pencil *pencil, double value);
/** A = K - shift M, of the pattern of both.
 *  out     weft_csr_clear
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_pencil_shifted(const weft_pencil *pencil, weft_csr *out, weft_error *error);

typedef struct weft_eigen_settings {
    int n;            /* eigenvalues wanted */
    int n_columns;    /* of a block, more than n; 0: by n */
    double tolerance; /* of residuals */
    int max_iterations;
} weft_eigen_settings;

/** Eigenpairs, values ascending. Start from {0}; weft_eigenpairs_clear. */
typedef struct weft_eigenpairs {
    int n;                      /* wanted, or as many as the pencil has */
    int n_known;                /* n, and those beyond them that are nearly known */
    double *values, *residuals; /* [n_known] */
    double *vectors;            /* [n][rows], |x|_M = 1, the largest component positive */
    int *cluster;               /* [n_known] number of the value among different ones, from 0 */
    double next; /* the one that would be found next: after the last, or before the first; or NaN */
    bool next_is_first;
    int cut; /* number of the value that `next` is one with; -1: none */
    weft_eigen_outcome outcome;
    int iterations, n_columns;
    int64_t applications; /* of the approximate inverse, to one vector each */
    int n_restarts; /* iterations without the former directions, because the basis was dependent */
} weft_eigenpairs;
void weft_eigenpairs_clear(weft_eigenpairs *pairs);

/** Rows from which on a pencil is not solved as a whole, and from which on blocks are on a GPU. */
enum { WEFT_EIGEN_DENSE = 200, WEFT_EIGEN_ON_DEVICE = 20000 };

/** Bytes on the device of blocks of vectors for n eigenvalues, and of both matrices, with so many entries each. */
size_t weft_eigen_bytes_on_device(int64_t rows, double entries, int n);
/** Find the smallest eigenvalues by LOBPCG with basis selection and soft locking, or, of a pencil with few rows, all of them.
 *  out     weft_eigenpairs_clear, also after an error
 *  Errors  WEFT_ERROR_INPUT: more values than the pencil has, as many as the rank of M; a diagonal of K that is not positive; M vanishes on
 *          a null vector; T is not symmetric, or not positive definite; those of `precondition`; WEFT_ERROR_MEMORY
 *  Source  Knyazev 2001; Duersch, Shao, Yang and Gu 2018, A robust and efficient implementation of LOBPCG */
weft_status weft_eigen_smallest(const weft_pencil *pencil, const weft_eigen_settings *settings,
                                weft_eigenpairs *out, weft_error *error);
/** Find the largest eigenvalues, as the smallest of M x = mu K x; ascending.
 *  Errors  as weft_eigen_smallest; WEFT_ERROR_INPUT: a row has no mass, so that values are infinite */
weft_status weft_eigen_largest(const weft_pencil *pencil, const weft_eigen_settings *settings,
                               weft_eigenpairs *out, weft_error *error);
/** Find the eigenvalues nearest to the shift by block Lanczos with the inverse of K - shift M, in the inner product of M, with restarts; K
 *  need not be definite. A last round starts with other vectors, so that none is left out. With is_buckling the values 1/l of the inverse of K
 *  times M, in the inner product of K, give the l nearest to 0, of both signs.
 *
 *  The usual backward error does not see wrong values of badly scaled matrices: `invert` is tested on a random right-hand side, and residuals
 *  in the norm of D^-1 decide.
 *  out     weft_eigenpairs_clear, also after an error; values ascending
 *  Errors  WEFT_ERROR_INPUT: the inverse is wrong, as where the shift is an eigenvalue; the pencil has fewer values;
 *          M is not positive semidefinite, or with is_buckling K not positive definite; those of `invert`; WEFT_ERROR_MEMORY
 *  Source  Grimes, Lewis and Simon 1994 (also for buckling); Wu and Simon 2000 (thick restart) */
weft_status weft_eigen_near(const weft_pencil *pencil, const weft_eigen_settings *settings,
                            weft_eigenpairs *out, weft_error *error);
