/** Blocks of vectors, and small pencils. Not installed.
 *
 *      In: blocks [rows][stride], one vector a column, so that a product with several vectors reads a matrix once.
 *      Out: others, and small matrices. */
#pragma once

#include "fem/eigen/eigen.h"

/** Columns are in groups of so many, the last ones filled up with zeros. */
enum { COLUMNS_GROUP = 4 };

/** A block of m vectors. Start from {0}; columns_free. */
typedef struct columns {
    int64_t n;
    int m, stride;       /* a multiple of COLUMNS_GROUP, at least m */
    double *values;      /* [n][stride], 0 from column m on; NULL: on the device */
    weft_memory *memory; /* the same there */
} columns;
static inline int columns_width(int m) {
    return (m + COLUMNS_GROUP - 1) / COLUMNS_GROUP * COLUMNS_GROUP;
}
/** A block of at most `most` columns, zero, where the pencil has its blocks.
 *  out     columns_free, also after an error
 *  Errors  WEFT_ERROR_MEMORY */
weft_status columns_make(const weft_pencil *pencil, int most, columns *out, weft_error *error);
void columns_free(columns *block);
/** y = A x, 0 in dropped rows. */
weft_status columns_product(const weft_pencil *pencil, const weft_csr *A, const columns *x,
                            columns *y, weft_error *error);
/** G = a^T b, [a->m][b->m]. */
weft_status columns_gram(const weft_pencil *pencil, const columns *a, const columns *b, double *G,
                         weft_error *error);
/** A term of a sum of blocks: of columns times C [of->m][m of the sum], or, with C NULL, these columns themselves. */
typedef struct columns_term {
    const columns *of;
    const double *C;
} columns_term;
/** out = the sum of the terms, with m columns; out may be one of them. */
weft_status columns_combine(const weft_pencil *pencil, const columns_term *terms, int n_terms,
                            int m, columns *out, weft_error *error);
/** sums[k] = sum over rows of (a - c_k b)^2 d, of column k; d [rows]. */
weft_status columns_residuals(const weft_pencil *pencil, const columns *a, const double *c,
                              const columns *b, const double *d, double *sums, weft_error *error);
/** Fill columns from the first on with pseudorandom entries, 0 in dropped rows.
 *  seed  other numbers give other entries */
weft_status columns_random(const weft_pencil *pencil, int first, int last, int seed, columns *out,
                           weft_error *error);
/** Keep n columns of a block, by their numbers, ascending. */
weft_status columns_take(const weft_pencil *pencil, const int *list, int n, columns *block,
                         weft_error *error);
/** Copy a column to out [n], or values to a column. */
weft_status columns_get(const weft_pencil *pencil, const columns *block, int at, double *out,
                        weft_error *error);
weft_status columns_set(const weft_pencil *pencil, columns *block, int at, const double *values,
                        weft_error *error);

/** Columns = T of them, 0 in dropped rows.
 *  d     pencil_diagonal
 *  r, z  [rows] scratch */
weft_status columns_precondition(const weft_pencil *pencil, const double *d, columns *block,
                                 double *r, double *z, weft_error *error);
/** The same by vectors on the host, one after the other. */
weft_status columns_precondition_each(const weft_pencil *pencil, const double *d, columns *block,
                                      double *r, double *z, weft_error *error);
/** What a place of blocks has for each of these functions. */
typedef struct columns_table {
    weft_status (*make)(const weft_pencil *pencil, columns *out, weft_error *error);
    weft_status (*product)(const weft_pencil *pencil, const weft_csr *A, const columns *x,
                           columns *y, weft_error *error);
    weft_status (*gram)(const weft_pencil *pencil, const columns *a, const columns *b, double *G,
                        weft_error *error);
    weft_status (*combine)(const weft_pencil *pencil, const columns_term *terms, int n_terms, int m,
                           columns *out, weft_error *error);
    weft_status (*take)(const weft_pencil *pencil, const int *list, int n, columns *block,
                        weft_error *error);
    weft_status (*residuals)(const weft_pencil *pencil, const columns *a, const double *c,
                             const columns *b, const double *d, double *sums, weft_error *error);
    weft_status (*random)(const weft_pencil *pencil, int first, int last, int seed, columns *out,
                          weft_error *error);
    weft_status (*get)(const weft_pencil *pencil, const columns *block, int at, double *out,
                       weft_error *error);
    weft_status (*set)(const weft_pencil *pencil, columns *block, int at, const double *values,
                       weft_error *error);
    weft_status (*precondition)(const weft_pencil *pencil, const double *d, columns *block,
                                double *r, double *z, weft_error *error);
} columns_table;
extern const columns_table columns_on_device;

/** Matrices and memories of blocks on a GPU: pencil.blocks of a pencil with these K and M, in either order. */
typedef struct columns_device columns_device;
/** Does the pencil's device compute, and has the pencil as many rows as pay for copies and launches? */
bool columns_device_pays(const weft_pencil *pencil);
/** d       pencil_diagonal
 *  out     columns_device_free
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_COMPILER, WEFT_ERROR_DEVICE */
weft_status columns_device_make(const weft_pencil *pencil, const double *d, columns_device **out,
                                weft_error *error);
void columns_device_free(columns_device **there);
/** The diagonal for residuals and an approximate inverse from now on. */
weft_status columns_device_set_diagonal(columns_device *there, const double *d, weft_error *error);

/** A block with its products. */
typedef struct basis {
    columns v, kv, mv;
} basis;
weft_status basis_make(const weft_pencil *pencil, int most, basis *out, weft_error *error);
void basis_free(basis *b);
/** kv = K v, mv = M v. */
weft_status basis_products(const weft_pencil *pencil, basis *b, weft_error *error);
/** v -= a (a.mv^T v), without its products; a is M-orthonormal. */
weft_status basis_project(const weft_pencil *pencil, const basis *a, columns *v, weft_error *error);
/** The same of v and its products. */
weft_status basis_project_all(const weft_pencil *pencil, const basis *a, basis *b,
                              weft_error *error);
/** r -= a.mv (a.v^T r), so that r [rows] does no work on a, which is M-orthonormal. */
weft_status basis_balance(const weft_pencil *pencil, const basis *a, double *r, weft_error *error);
/** b = b C, C [b->v.m][m], with its products; kv, which may have no columns, is left out then. */
weft_status basis_combine(const weft_pencil *pencil, basis *b, const double *C, int m,
                          weft_error *error);
/** Make M-orthonormal columns of b, fewer of them where some depend on others: eigenvectors of the Gram matrix, scaled to a unit diagonal,
 *  whose values are at most `threshold` of the largest are left out.
 *  Source  Stathopoulos and Wu 2002 (SVQB) */
weft_status basis_select(const weft_pencil *pencil, double threshold, basis *b, weft_error *error);

/** The m smallest eigenvalues of G c = l H c, both [n][n] symmetric, H positive definite; G and H are overwritten.
 *  values    [m]
 *  C         [n][m], C^T H C = 1
 *  rounding  least reciprocal of the square of the condition of H's Cholesky factor, after it is scaled to a unit diagonal
 *  fine      set to whether it is positive definite, and no worse than that
 *  Errors    WEFT_ERROR_MEMORY */
weft_status pencil_diagonalise(int n, int m, double *G, double *H, double *values, double *C,
                               double rounding, bool *fine, weft_error *error);
/** The smallest eigenvalues of a pencil with few rows, of all.
 *  d       pencil_diagonal
 *  m       of x, at most; fewer where there are no more
 *  values  [m]
 *  x       set, with the products; M-orthonormal
 *  Errors  WEFT_ERROR_INPUT: K + M is not positive definite */
weft_status pencil_whole(const weft_pencil *pencil, const double *d, int m, double *values,
                         basis *x, weft_error *error);
/** One over the diagonal of K, 0 in dropped rows.
 *  out     [rows]
 *  Errors  WEFT_ERROR_INPUT: an entry is not positive */
weft_status pencil_diagonal(const weft_pencil *pencil, double *out, weft_error *error);

/** z = T r of vectors on the host, which z is 0 in dropped rows of.
 *  d  pencil_diagonal */
weft_status pencil_precondition(const weft_pencil *pencil, const double *d, const double *r,
                                double *z, weft_error *error);

/** What the iteration works with. Start from {0} with the borrowed members; iteration_free. */
typedef struct iteration {
    const weft_pencil *pencil;
    const weft_eigen_settings *settings;
    const double *d;   /* [rows] pencil_diagonal */
    const basis *null; /* M-orthonormal null vectors, without kv */
    basis x, w, p;     /* approximate eigenvectors, preconditioned residuals, former directions */
    int m;             /* columns of x */
    double *values;    /* [m] */
    double *residuals; /* [m] */
    double quotient;   /* of rows, where some have no mass (find_quotient); otherwise 0 */
    double least;      /* values that are smaller count as this, which residuals are relative to */
    int *active;       /* [n_active] columns whose residuals are above the tolerance */
    int n_active;
    double *r, *z;          /* [rows] */
    weft_eigenpairs *pairs; /* gets how it went */
} iteration;
/** Iterate until the wanted values have converged, or cannot. */
weft_status iteration_run(iteration *it, weft_error *error);
/** it->residuals, and what is active. */
weft_status iteration_measure(iteration *it, weft_error *error);
void iteration_free(iteration *it);
/** Refuse an approximate inverse that is not symmetric, or not positive definite, which the iteration does not see. */
weft_status iteration_check_inverse(iteration *it, weft_error *error);

/** Residuals of values beyond the wanted ones that are shown. */
#define PAIRS_KNOWN 1e-2

/** Set cluster, next and cut. Values are one where they differ by less than 10 times the larger of the residual's square and 1e-8, or by
 *  rounding, which is relative to the distance from the shift: 0 has no digits of its own. */
void clusters_number(const weft_pencil *pencil, weft_eigenpairs *pairs);
/** Rotate the columns of each cluster of x so that they are the same in each run: to eigenvectors of a fixed random diagonal, where values
 *  are so close that no residual suffers.
 *  tolerance  of residuals */
weft_status clusters_fix(const weft_pencil *pencil, const double *values, double tolerance,
                         columns *x, weft_error *error);
/** Turn the signs of vectors [n][rows], so that the largest component is positive; the first of those that are equal but for rounding. */
void clusters_turn(int n, int64_t rows, double *vectors);

/** The null vectors of a pencil, M-orthonormal.
 *  Errors  WEFT_ERROR_INPUT: the mass vanishes on one */
weft_status pairs_place_null(const weft_pencil *pencil, basis *out, weft_error *error);
/** Refuse a mass with a negative entry on the diagonal.
 *  d  pencil_diagonal */
weft_status pairs_check_mass(const weft_pencil *pencil, const double *d, weft_error *error);
/** The error where a pencil has fewer values than are wanted. */
weft_status pairs_refuse_number(int wanted, int64_t most, weft_error *error);
/** Set it->pairs from the columns of it->x and it->values, by the matrices themselves, and not by what an iteration knows of them. */
weft_status pairs_describe(iteration *it, weft_error *error);
