/** Eigenvalues of problems with a mass: vibration, buckling, drums.
 *
 *      In: a problem K u = l M u with its conditions, whose prescribed values are zero.
 *      Out: eigenvalues l with functions u, how far they are from solving it, and motions that nothing holds, for which l = 0. */
#ifndef WEFT_EIGEN_H
#define WEFT_EIGEN_H

#include "fem/weft_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The length of eigenvectors. */
typedef enum weft_eigen_length {
    WEFT_EIGEN_MASS,     /* u.M u = 1 */
    WEFT_EIGEN_COMPONENT /* the largest component of u is 1 */
} weft_eigen_length;

/** Which values. */
typedef enum weft_eigen_which {
    WEFT_EIGEN_SMALLEST, /* of a K that is positive semidefinite */
    WEFT_EIGEN_NEAR,     /* nearest to a shift, by a factorization of K - shift M */
    WEFT_EIGEN_LARGEST,  /* of such a K, and an M that is positive definite */
    /* nearest to 0, of both signs, of a K that is positive definite and any symmetric M, as that of stresses: factors of loads at which a
     * structure buckles; the largest component of u is 1 whatever `length` is */
    WEFT_EIGEN_BUCKLING
} weft_eigen_which;

typedef struct weft_eigen_options {
    size_t size; /* sizeof(weft_eigen_options) */
    int n;       /* eigenvalues wanted, from 1 to WEFT_EIGEN_MOST */
    weft_eigen_which which;
    double shift;
    int n_columns; /* vectors that are computed together, more than n; 0: by n */
    weft_eigen_length length;
} weft_eigen_options;
enum { WEFT_EIGEN_MOST = 500 };
static inline weft_eigen_options weft_eigen_options_default(void) {
    weft_eigen_options options;
    weft_options_clear(&options, sizeof options);
    options.n = 10;
    return options;
}

typedef enum weft_eigen_outcome {
    WEFT_EIGEN_CONVERGED,
    WEFT_EIGEN_MAX_ITERATIONS,
    WEFT_EIGEN_BREAKDOWN, /* the vectors that are computed together become dependent, again and again */
    WEFT_EIGEN_NAN
} weft_eigen_outcome;
/** "converged", "iteration limit reached", ... */
const char *weft_eigen_outcome_name(weft_eigen_outcome outcome);

/** What was found. Lists are borrowed from the result. */
typedef struct weft_eigen_report {
    weft_eigen_outcome
        outcome; /* others than WEFT_EIGEN_CONVERGED are not an error; values are then wrong */
    int n;
    const double *values; /* [n] ascending */
    /* [n] |K u - l M u| in the norm of D^-1, D = diag K, over sqrt(max(|l|, |l - shift|)) |u|_M: free of units and of the size of the mesh */
    const double *residuals;
    const double *
        errors; /* [n] estimated errors of the values of K and M that were assembled, in their unit: 10 l residual^2, at least a rounding of l and of l - shift */
    /* [n] numbers of the different values from 0; values are one where they differ by less than their errors, or 1e-8 of their size */
    const int *clusters;
    double
        next; /* the one that would be found next, after the last or before the first; NaN: not known */
    int cut; /* number of the value that `next` is one with, of which there may be more; -1: none */
    int n_rigid; /* motions, or constants, that nothing holds: for these l = 0, which are not among the values */
    int64_t n_dofs;
    const double *vectors; /* [n][n_dofs]; the largest component is positive */
    int iterations, n_columns;
    int64_t applications; /* of the preconditioner, to one vector each */
    double seconds;       /* besides the preconditioner's set-up, and factorizations */
    const char *method;   /* "LOBPCG" or "Lanczos", by a factorization */
    char reason[200];     /* why this one; "": no other one can */
    /* the library that has factorised, and its seconds; "": the preconditioner of `choice` was applied */
    char factors[120];
    double factor_seconds;
    /* Of each vector and each direction, in which one component of u is 1 everywhere, r: participation factors u.M r/u.M u, effective masses
     * (u.M r)^2/u.M u [n][n_directions], in the unit of the mass, and the whole mass r.M r [n_directions], in which M has the rows of
     * prescribed values too. n_directions is 0 of buckling and of vector elements, where these are not computed */
    int n_directions;
    const double *participations, *effective_masses, *total_masses;
    const weft_problem_choice
        *choice; /* of the preconditioner and the assembly; borrowed from the problem */
} weft_eigen_report;

typedef struct weft_eigen weft_eigen;
/** Find eigenvalues: the smallest and the largest by LOBPCG, the smallest also by Lanczos' method with factors, where `lu` or `cholmod` is
 *  the preconditioner or WEFT_AUTO expects them to be faster; those near a shift by that alone.
 *  problem  symmetric, linear, with a mass: of weft_ufl_bind or weft_script_bind with the option has_mass
 *  options  the preconditioner, its smoother, the tolerance of residuals, the number of iterations; borrowed, they must outlive the report
 *  eigen    which values
 *  out      caller's; weft_eigen_free
 *  Errors   WEFT_ERROR_USAGE: the problem has no mass, is not linear, options are out of range; WEFT_ERROR_UNSUPPORTED: it is of several
 *           functions or divided among ranks, the matrix or the mass is not symmetric, the assembly stores no matrix, the preconditioner
 *           is not symmetric or not definite; WEFT_ERROR_INPUT: prescribed values are not zero, the matrix is not definite, the problem has
 *           fewer values, the shift is one; those of weft_problem_solve and weft_external_make */
weft_status weft_problem_eigenvalues(weft_problem *problem, const weft_problem_options *options,
                                     const weft_eigen_options *eigen, weft_eigen **out,
                                     weft_error *error);
void weft_eigen_free(weft_eigen **eigen);
const weft_eigen_report *weft_eigen_reported(const weft_eigen *eigen);
/** Let u of the problem be an eigenvector, for weft_problem_values, results and files; k from 0. */
weft_status weft_problem_take_eigenvector(weft_problem *problem, const weft_eigen *eigen, int k,
                                          weft_error *error);
/** Write all eigenvectors as a series of steps for ParaView, .pvd or .vtkhdf; the time of each is its number, from 1.
 *  statement  a text that the file carries; may be NULL
 *  overwrite  replace an existing file
 *  Errors     those of weft_series_make */
weft_status weft_problem_write_eigenvectors(weft_problem *problem, const weft_eigen *eigen,
                                            const char *path, const char *statement, bool overwrite,
                                            weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
