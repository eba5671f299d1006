/** Preconditioners of Krylov methods.
 *
 *      In: an operator, its constrained dofs, and what a kind needs of the problem.
 *      Out: z = M r, a linear map close to the inverse of the operator. */
#ifndef WEFT_PRECONDITIONER_H
#define WEFT_PRECONDITIONER_H

#include "fem/weft_hierarchy.h"
#include "fem/weft_space.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Description of a kind of preconditioner. */
typedef struct weft_preconditioner_info {
    const char *name;
    const char *help; /* a few words */
    /* refuses operators whose assembly stores no matrix; where it coarsens, unless there is a coarser */
    bool needs_matrix;
    bool coarsens;     /* makes levels of multigrid */
    bool needs_levels; /* refuses problems without a hierarchy */
    bool
        needs_host; /* refuses devices other than the host, but for lu where its library for a GPU is found */
    bool reads_points; /* may read the coordinates of the nodes on a GPU */
    bool
        any_sign; /* suits any regular matrix, and is positive definite only where that is, so that MINRES cannot use it */
} weft_preconditioner_info;
/** The number of kinds, which are numbered from 0. */
int weft_preconditioner_count(void);
const weft_preconditioner_info *weft_preconditioner_about(int kind);
/** Find a kind by name.
 *  Errors  WEFT_ERROR_USAGE (no such kind; the hint lists the names) */
weft_status weft_preconditioner_find(const char *name, int *kind, weft_error *error);
/** Is the library found that it needs? True for those of Weft's own. */
bool weft_preconditioner_is_found(int kind);

/** What a preconditioner is made from. Everything is borrowed and must outlive it. */
typedef struct weft_preconditioner_problem {
    weft_operator *op;          /* assembled */
    const int32_t *constrained; /* ascending dofs whose value is given */
    int64_t n_constrained;
    /* [n_pinned] ascending dofs, one for each constant that the equations leave open besides those of project_mean,
     * which factorizations fix there */
    const int32_t *pinned;
    int n_pinned;
    /* the operator need not be symmetric, and neither need M: for GMRES, BiCGStab */
    bool is_general;
    bool project_mean;       /* the operator is singular, with the constants as its null space */
    const weft_space *space; /* of the dofs; NULL: unknown, which some kinds refuse */
    /* [n_spaces] of a mixed function, whose dofs stand one space after another;
     * `space` is NULL then */
    const weft_space *const *spaces;
    int n_spaces;                    /* 0: the function is not mixed */
    const weft_hierarchy *hierarchy; /* whose finest mesh is the space's; NULL: none */
    int degree;                      /* of the smoothing polynomial; 0: a default */
    /* weft_preconditioner_full will be called with so many cycles, which is then prepared with the
     * rest; 0: perhaps later */
    int full_cycles;
    int levels; /* most levels of multigrid; 0: as many as are useful */
    /* on the host: levels of multigrid in double precision, as they also are where the diagonal
     * leaves the range of single precision */
    bool double_levels;
    bool is_final; /* no update will follow, so that what only that needs is freed */
    /* makes the operator for functions of a lower degree, so that multigrid needs no matrix of
     * higher ones; NULL: it is not known */
    const struct weft_coarser *coarser;
    const char *petsc_options; /* of the kind petsc, in PETSc's syntax; NULL: none */
    const weft_monitor *monitor;
} weft_preconditioner_problem;

/** A level of multigrid, for reports. */
typedef struct weft_preconditioner_level {
    int64_t n_rows, n_entries;
    double lambda; /* bound of the largest eigenvalue of D^-1 A over free dofs */
} weft_preconditioner_level;
enum { WEFT_PRECONDITIONER_LEVELS_MAX = 32 };
/** What a preconditioner consists of. */
typedef struct weft_preconditioner_report {
    int kind, degree, n_levels;                                       /* one level: no multigrid */
    weft_preconditioner_level levels[WEFT_PRECONDITIONER_LEVELS_MAX]; /* the finest first */
    double complexity; /* entries of all levels, relative to the finest */
    size_t bytes;      /* held on the device */
    int restart;       /* of GMRES, which pays where an application takes long; 0: the default */
    double set_up_seconds;
    char detail[240]; /* further words, e.g. the library that is used; may be empty */
} weft_preconditioner_report;

typedef struct weft_preconditioner weft_preconditioner;
/** Make a preconditioner for the present values of the operator.
 *  context  borrowed; must outlive it
 *  problem  copied; what it points to is borrowed
 *  out      caller's; weft_preconditioner_free
 *  Errors   WEFT_ERROR_UNSUPPORTED (a kind that needs what the problem or the device lacks),
 *           WEFT_ERROR_USAGE, _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_preconditioner_make(weft_context *context, int kind,
                                     const weft_preconditioner_problem *problem,
                                     weft_preconditioner **out, weft_error *error);
void weft_preconditioner_free(weft_preconditioner **preconditioner);
/** Adapt it to new values of the operator, after weft_operator_assemble.
 *  Errors  as weft_preconditioner_make; afterwards it can only be updated again or freed */
weft_status weft_preconditioner_update(weft_preconditioner *preconditioner, weft_error *error);
/** Adapt it to new values of the operator where that pays: solves with it have come to take more than twice the iterations of the
 *  first one since it was made or updated, or a solve has failed. Otherwise it stays as it is, for the old values.
 *  Errors  as weft_preconditioner_update */
weft_status weft_preconditioner_refresh(weft_preconditioner *preconditioner, weft_error *error);
/** z = M r; r, z [n_dofs] doubles on the device; r is 0 at constrained dofs, and z becomes 0
 *  there. M is symmetric and positive definite if the operator is. After the first call, further
 *  ones only launch, copy and set to zero, so that a device can capture them.
 *  Errors  WEFT_ERROR_SHAPE, _MEMORY, _DEVICE */
weft_status weft_preconditioner_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                      weft_memory *z, weft_error *error);
const weft_preconditioner_report *
weft_preconditioner_reported(const weft_preconditioner *preconditioner);
/** A level of full multigrid: what its V-cycles have changed, in squares. */
enum { WEFT_FULL_CYCLES_MAX = 4 };
typedef struct weft_full_level {
    int64_t n_rows;
    int n_cycles;
    double energy[WEFT_FULL_CYCLES_MAX]; /* r.z of cycle k, about z.A z */
    double size[WEFT_FULL_CYCLES_MAX];   /* z.z */
} weft_full_level;
typedef struct weft_full_report {
    int n_levels; /* of meshes, [0] the finest */
    weft_full_level levels[WEFT_PRECONDITIONER_LEVELS_MAX];
} weft_full_report;
/** z = F r by full multigrid: z is on every level as close to the solution of A z = r there as a few
 *  V-cycles bring the interpolated solution of the coarser level. r, z as in
 *  weft_preconditioner_apply; r should be b - A x of an x that weft_preconditioner_lift has made.
 *  cycles  on each level, 1 to WEFT_FULL_CYCLES_MAX
 *  Errors  WEFT_ERROR_UNSUPPORTED (a kind without levels of meshes), and those of
 *          weft_preconditioner_apply */
weft_status weft_preconditioner_full(weft_preconditioner *preconditioner, int cycles,
                                     weft_memory *r, weft_memory *z, weft_full_report *report,
                                     weft_error *error);
/** A start of CG by full multigrid: z as above on the coarser levels, and interpolated to the finest in double
 *  precision, without a cycle there, which an iteration of CG does as well. */
weft_status weft_preconditioner_start(weft_preconditioner *preconditioner, int cycles,
                                      weft_memory *r, weft_memory *z, weft_error *error);
/** Set the free entries of x to a function that is smooth on every level, with the constrained ones as
 *  boundary values: their injections on the coarsest mesh, interpolated to the finest, on each level
 *  with the constrained values of that level.
 *  Memory  during the call, three lists of n_dofs doubles on the host
 *  Errors  as weft_preconditioner_full */
weft_status weft_preconditioner_lift(weft_preconditioner *preconditioner, weft_memory *x,
                                     weft_error *error);
/** Bytes that a preconditioner will hold on a device with these limits, within about 20 % for
 *  simplices of degree 1; 0 for solvers of other libraries but lu, whose memory is not known. */
size_t weft_preconditioner_memory_estimate(const weft_limits *limits, int kind,
                                           const weft_assembly_problem *problem);
/** What a factorization by the preconditioner lu is predicted to cost, on one core with the reference BLAS: within a
 *  factor of two in meshes of even shape. */
typedef struct weft_factorization_cost {
    double seconds, solution_seconds; /* of the factorization, and of a system with it */
    double bytes;                     /* at the peak */
} weft_factorization_cost;
weft_factorization_cost weft_factorization_predict(int dimension, int64_t n_nodes, int components);

#ifdef __cplusplus
}
#endif
#endif
