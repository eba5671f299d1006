/** Solvers of other libraries, opened at run time where they are installed: preconditioners and
 *  complete solves. Nothing is linked. hypre, PETSc and, on a GPU, cuDSS are reached by plug-ins, which need their headers. Not installed.
 *
 *      In: a sparse matrix on the host and its constrained dofs.
 *      Out: z = M^-1 r, or the solution of A x = b.
 *
 *  hypre and PETSc use MPI: that of the ranks, or, in a process that is alone, one that the first solver starts, and the end
 *  of the process stops. MPI cannot be started twice in a
 *  process, and wants one thread: call these functions from the main thread. Signal actions are as
 *  before after every function.
 *
 *  Decision  docs/decisions/0044-other-solvers-are-opened-not-linked.md */
#pragma once

#include "fem/space/layout.h"
#include "fem/weft_operator.h"

typedef enum weft_external_kind {
    WEFT_EXTERNAL_HYPRE,   /* BoomerAMG: classical algebraic multigrid */
    WEFT_EXTERNAL_PETSC,   /* GAMG: smoothed aggregation; incomplete factorizations */
    WEFT_EXTERNAL_CHOLMOD, /* sparse Cholesky factorization */
    WEFT_EXTERNAL_UMFPACK, /* sparse LU factorization */
    WEFT_EXTERNAL_MUMPS,   /* the same */
    WEFT_EXTERNAL_CUDSS    /* the same, on a GPU */
} weft_external_kind;

typedef struct weft_external_info {
    const char *name;
    const char *help;     /* a few words */
    const char *variable; /* environment variable that names a library to open */
    const char *package;  /* of each distribution */
    /* names that weft_external_options.method accepts, the default first; NULL at the end */
    const char *const *methods;
    bool is_direct;             /* exact up to rounding; no iterations */
    bool takes_general;         /* preconditions matrices that are not symmetric, too */
    bool takes_indefinite;      /* and those with any diagonal, symmetric or not */
    bool takes_ranks;           /* works on the rows of several ranks, if these are of MPI */
    bool on_gpu;                /* works on the device of weft_external_options, a GPU */
    const char *general_method; /* the default for these; NULL: the first */
} weft_external_info;
/** The number of kinds, which are numbered from 0. */
int weft_external_count(void);
const weft_external_info *weft_external_about(weft_external_kind kind);
/** Find a kind by name.
 *  Errors  WEFT_ERROR_USAGE (the hint lists the names); *out untouched */
weft_status weft_external_find(const char *name, weft_external_kind *out, weft_error *error);

/** Can the library be opened? */
bool weft_external_is_found(weft_external_kind kind);

/** A matrix with its constrained dofs: symmetric and positive definite, unless is_general is set. */
typedef struct weft_external_matrix {
    const weft_pattern *pattern; /* dof = node * components + component */
    const double *values;        /* [n_entries] on the host */
    const int32_t *constrained;  /* ascending dofs, whose rows and columns are left out */
    int64_t n_constrained;
    /* need not be symmetric, if the library takes_general; M is then not, either */
    bool is_general;
    int components;   /* per node; 0 means 1 */
    bool is_singular; /* pure Neumann: the constants are the null space, and are projected out */
    /* ascending dofs, one for each constant that the equations leave open besides, as that of a pressure: z is zero
     * there if the solver is direct, which others ignore */
    const int32_t *pinned;
    int n_pinned;
    int dimension; /* of the mesh; 0: unknown */
    /* [n_nodes][dimension], of the nodes; NULL: unknown. With components == dimension the rigid
     * body modes are taken for the near null space. */
    const double *coordinates;
    /* on several ranks, the owner of each dof, whose row is complete; with components, of whole nodes. Otherwise NULL */
    weft_layout *layout;
    weft_device *device; /* of the layout */
} weft_external_matrix;

typedef struct weft_external_options {
    /* file to open; NULL: the kind's variable, else the names of distributions'
     * libraries, newest first */
    const char *library;
    const char *method; /* one of the kind's; NULL: the default */
    /* of PETSc, in its own syntax, e.g. "-pc_type lu -pc_factor_mat_solver_type mumps"; NULL: none */
    const char *settings;
    weft_device *device; /* for kinds on a GPU; borrowed, must outlive the solver */
} weft_external_options;

typedef struct weft_external weft_external;
/** Open the library and set up its solver. All ranks call this and what follows.
 *  matrix   pattern and constrained are borrowed and must outlive the solver; values, pinned and coordinates
 *           are borrowed for the call
 *  options  borrowed for the call; NULL: none
 *  out      caller's; weft_external_free
 *  Errors   WEFT_ERROR_UNSUPPORTED (the library is missing, of an unknown version, or has other
 *           numbers than double and 32-bit int; more than 2^31 - 1 entries; a matrix that is
 *           not symmetric; a singular one with several components; ranks that are not of MPI, or a library that takes none), WEFT_ERROR_INPUT (an entry that is not finite; a diagonal entry or
 *           pivot that is not positive, unless the library takes_indefinite; one that is singular up to rounding; no free dof), WEFT_ERROR_USAGE (no such method),
 *           WEFT_ERROR_MEMORY; WEFT_ERROR_INTERNAL with the library's own message; *out untouched */
weft_status weft_external_make(weft_external_kind kind, const weft_external_matrix *matrix,
                               const weft_external_options *options, weft_external **out,
                               weft_error *error);
void weft_external_free(weft_external **solver);
/** The library's name, version and method, e.g. "hypre 2.26.0, BoomerAMG". */
const char *weft_external_description(const weft_external *solver);
/** Set the solver up again for other values of the same pattern.
 *  values  [n_entries], borrowed for the call
 *  Errors  as weft_external_make; after an error the solver can only be updated or freed */
weft_status weft_external_update(weft_external *solver, const double *values, weft_error *error);
/** z = M^-1 r with a symmetric positive definite M, so that CG may use it: one V-cycle, a pair of
 *  triangular solves, or A^-1.
 *  r, z    [n_dofs]; z is 0 at constrained dofs and those of other ranks, and r is not read there; may be the same
 *  Errors  WEFT_ERROR_INTERNAL with the library's own message */
weft_status weft_external_apply(weft_external *solver, const double *r, double *z,
                                weft_error *error);

/** The same on the device of a kind on a GPU, without waiting; not during a graph capture.
 *  r, z  [n_dofs] doubles on the device, not the same; a singular matrix leaves z a constant */
weft_status weft_external_apply_on_device(weft_external *solver, weft_memory *r, weft_memory *z,
                                          weft_error *error);

typedef struct weft_external_result {
    int iterations;  /* of the library's CG; 0 for direct solvers */
    double residual; /* |r| / |b - A x_constrained| of the result, recomputed */
    bool converged;  /* by the library's own word */
} weft_external_result;
/** Solve A x = b by the library alone: its CG with the preconditioner, or directly. Not on several ranks.
 *  values     [n_entries], those of the last set-up
 *  b, x       [n_dofs]; x holds boundary values at constrained dofs, and gets the solution from an
 *             initial guess of zero
 *  tolerance  for |r| / |b - A x_constrained|; not used by direct solvers
 *  Errors     WEFT_ERROR_INTERNAL with the library's own message; not converging is not an error */
weft_status weft_external_solve(weft_external *solver, const double *values, const double *b,
                                double *x, double tolerance, int max_iterations,
                                weft_external_result *result, weft_error *error);
