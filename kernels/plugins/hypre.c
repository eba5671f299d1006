/* BoomerAMG of hypre by its own headers: one V-cycle on the rows of one or several ranks as a preconditioner, or hypre's CG with it. */
#define _GNU_SOURCE
#include <mpi.h>

#include <HYPRE.h>
#include <HYPRE_parcsr_ls.h>

#include "foreign_start.h"

#if !defined(HYPRE_HAVE_MPI)
#error "weft: this hypre was built without MPI"
#elif defined(HYPRE_COMPLEX)
#error "weft: this hypre has complex numbers, not real ones"
#elif defined(HYPRE_SINGLE) || defined(HYPRE_LONG_DOUBLE)
#error "weft: this hypre has other real numbers than double"
#elif defined(HYPRE_USING_GPU)
#error "weft: this hypre was built for GPUs, not for the host"
#endif

enum { COARSEST = 3, L1_JACOBI = 18 }; /* of HYPRE_BoomerAMGSetCycleRelaxType */

struct weft_foreign {
    MPI_Comm comm;
    int has_comm, n;
    HYPRE_BigInt *rows; /* [n] */
    HYPRE_Int *sizes;   /* [n] */
    HYPRE_BigInt *columns; /* [longest row] */
    HYPRE_IJMatrix matrix;
    HYPRE_IJVector b, x;
    HYPRE_ParCSRMatrix par_matrix; /* of the objects above */
    HYPRE_ParVector par_b, par_x;
    HYPRE_Solver amg;
};

/* Read and clear hypre's error flag. */
static weft_foreign_outcome check(const char *what, char *message) {
    const HYPRE_Int code = HYPRE_GetError();
    if (!code)
        return WEFT_FOREIGN_OK;
    (void)HYPRE_ClearAllErrors();
    (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "hypre failed to %s: %s (error %d)", what,
                   code & HYPRE_ERROR_ARG ? "an argument is wrong" : "no message", (int)code);
    return code & HYPRE_ERROR_MEMORY ? WEFT_FOREIGN_MEMORY : WEFT_FOREIGN_FAILED;
}

/* ---- start ------------------------------------------------------------------------------- */

/* A library with integers of 64 bits, where the header's have 32, overwrites the second number. */
static weft_foreign_outcome check_version(char *message) {
    HYPRE_Int version[2] = {-7, -7};
    (void)HYPRE_VersionNumber(NULL, NULL, NULL, version);
    if (version[0] == HYPRE_RELEASE_NUMBER && version[1] == -7)
        return WEFT_FOREIGN_OK;
    (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "hypre's library is of version %d, its header of %d%s",
                   (int)version[0], HYPRE_RELEASE_NUMBER, version[1] == -7 ? "" : ", with other integers");
    return WEFT_FOREIGN_UNSUPPORTED;
}

static weft_foreign_outcome start(void *library, void *(*find)(void *, const char *), const void *comm,
                                  const char *options, int *stays, char *message) {
    weft_foreign_outcome outcome = check_mpi("hypre", library, find, message);
    (void)comm, (void)options;
    if (outcome == WEFT_FOREIGN_OK)
        outcome = check_version(message);
    if (outcome == WEFT_FOREIGN_OK)
        outcome = start_mpi("hypre", message);
    *stays = has_started_mpi;
    if (outcome == WEFT_FOREIGN_OK)
        (void)HYPRE_Init();
    return outcome == WEFT_FOREIGN_OK ? check("start", message) : outcome;
}

/* ---- the solver ------------------------------------------------------------------------------ */

static weft_foreign_outcome make_vector(const weft_foreign *s, HYPRE_BigInt first, HYPRE_IJVector *vector,
                                        HYPRE_ParVector *par_vector, char *message) {
    void *object = NULL;
    (void)HYPRE_IJVectorCreate(s->comm, first, first + s->n - 1, vector);
    (void)HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
    (void)HYPRE_IJVectorInitialize(*vector);
    (void)HYPRE_IJVectorAssemble(*vector);
    (void)HYPRE_IJVectorGetObject(*vector, &object);
    *par_vector = object;
    return check("make a vector", message);
}

static weft_foreign_outcome make_matrix(weft_foreign *s, const weft_foreign_rows *rows, char *message) {
    const HYPRE_BigInt first = (HYPRE_BigInt)rows->first, last = first + s->n - 1;
    int longest = 0;
    s->rows = malloc((size_t)s->n * sizeof *s->rows);
    s->sizes = malloc((size_t)s->n * sizeof *s->sizes);
    if (!s->rows || !s->sizes)
        return WEFT_FOREIGN_MEMORY;
    for (int i = 0; i < s->n; ++i) {
        const int size = rows->row_start[rows->rows[i] + 1] - rows->row_start[rows->rows[i]];
        s->rows[i] = first + i;
        s->sizes[i] = size;
        longest = size > longest ? size : longest;
    }
    s->columns = malloc((size_t)longest * sizeof *s->columns + 1);
    if (!s->columns)
        return WEFT_FOREIGN_MEMORY;
    (void)HYPRE_IJMatrixCreate(s->comm, first, last, first, last, &s->matrix);
    (void)HYPRE_IJMatrixSetObjectType(s->matrix, HYPRE_PARCSR);
    (void)HYPRE_IJMatrixSetRowSizes(s->matrix, s->sizes);
    return check("make a matrix", message);
}

static weft_foreign_outcome fill(weft_foreign *s, const weft_foreign_rows *rows, char *message) {
    void *object = NULL;
    (void)HYPRE_IJMatrixInitialize(s->matrix);
    for (int i = 0; i < s->n; ++i) {
        const int from = rows->row_start[rows->rows[i]];
        for (int k = 0; k < s->sizes[i]; ++k)
            s->columns[k] = (HYPRE_BigInt)rows->numbers[rows->columns[from + k]];
        (void)HYPRE_IJMatrixSetValues(s->matrix, 1, &s->sizes[i], &s->rows[i], s->columns, rows->values + from);
    }
    (void)HYPRE_IJMatrixAssemble(s->matrix);
    (void)HYPRE_IJMatrixGetObject(s->matrix, &object);
    s->par_matrix = object;
    return check("copy the matrix", message);
}

static void amg_free(weft_foreign *s) {
    if (s->amg)
        (void)HYPRE_BoomerAMGDestroy(s->amg);
    s->amg = NULL;
}

/* hypre's defaults (HMIS coarsening, extended+i interpolation, l1 Gauss-Seidel forward on the way
 * down and backward on the way up, which make a symmetric V-cycle), with the strong threshold that
 * its manual advises: 0.25 in two dimensions, 0.5 in three and for systems. */
static weft_foreign_outcome update(weft_foreign *s, const weft_foreign_rows *rows, char *message) {
    const weft_foreign_outcome outcome = fill(s, rows, message);
    if (outcome != WEFT_FOREIGN_OK)
        return outcome;
    amg_free(s);
    (void)HYPRE_BoomerAMGCreate(&s->amg);
    (void)HYPRE_BoomerAMGSetTol(s->amg, 0);
    (void)HYPRE_BoomerAMGSetMaxIter(s->amg, 1);
    (void)HYPRE_BoomerAMGSetPrintLevel(s->amg, 0);
    (void)HYPRE_BoomerAMGSetNumFunctions(s->amg, rows->components);
    (void)HYPRE_BoomerAMGSetStrongThreshold(s->amg, rows->dimension == 3 || rows->components > 1 ? 0.5 : 0.25);
    if (rows->is_singular) /* instead of elimination */
        (void)HYPRE_BoomerAMGSetCycleRelaxType(s->amg, L1_JACOBI, COARSEST);
    (void)HYPRE_BoomerAMGSetup(s->amg, s->par_matrix, s->par_b, s->par_x);
    return check("set up BoomerAMG", message);
}

static weft_foreign_outcome make(const weft_foreign_rows *rows, const char *method, const char *options,
                                 weft_foreign **out, char *message) {
    weft_foreign *s = calloc(1, sizeof *s);
    const HYPRE_BigInt first = (HYPRE_BigInt)rows->first;
    (void)method, (void)options;
    *out = s;
    if (!s)
        return WEFT_FOREIGN_MEMORY;
    s->n = rows->n;
    if (rows->n_whole > (sizeof first == sizeof(int) ? INT32_MAX : INT64_MAX)) {
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "the matrix has more rows than this hypre counts, whose integers have 32 bits");
        return WEFT_FOREIGN_UNSUPPORTED;
    }
    if (copy_comm(rows->comm, &s->comm) != MPI_SUCCESS) {
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "MPI does not copy a communicator");
        return WEFT_FOREIGN_FAILED;
    }
    s->has_comm = 1;
    weft_foreign_outcome outcome = make_vector(s, first, &s->b, &s->par_b, message);
    if (outcome == WEFT_FOREIGN_OK)
        outcome = make_vector(s, first, &s->x, &s->par_x, message);
    if (outcome == WEFT_FOREIGN_OK)
        outcome = make_matrix(s, rows, message);
    return outcome == WEFT_FOREIGN_OK ? update(s, rows, message) : outcome;
}

/* Set b and clear x. */
static void set_vectors(weft_foreign *s, const double *b) {
    (void)HYPRE_IJVectorSetValues(s->b, s->n, s->rows, b);
    (void)HYPRE_ParVectorSetConstantValues(s->par_x, 0);
}

static weft_foreign_outcome apply(weft_foreign *s, const double *r, double *z, char *message) {
    set_vectors(s, r);
    (void)HYPRE_BoomerAMGSolve(s->amg, s->par_matrix, s->par_b, s->par_x);
    (void)HYPRE_IJVectorGetValues(s->x, s->n, s->rows, z);
    return check("apply BoomerAMG", message);
}

/* In place of the set-up of BoomerAMG, which update has done. */
static HYPRE_Int is_set_up(HYPRE_Solver solver, HYPRE_ParCSRMatrix matrix, HYPRE_ParVector b, HYPRE_ParVector x) {
    (void)solver, (void)matrix, (void)b, (void)x;
    return 0;
}

static weft_foreign_outcome solve(weft_foreign *s, const double *b, double *x, double tolerance,
                                  int max_iterations, int *iterations, int *converged, char *message) {
    HYPRE_Solver pcg = NULL;
    HYPRE_Int n = 0;
    set_vectors(s, b);
    (void)HYPRE_ParCSRPCGCreate(s->comm, &pcg);
    (void)HYPRE_ParCSRPCGSetTol(pcg, tolerance);
    (void)HYPRE_ParCSRPCGSetMaxIter(pcg, max_iterations);
    (void)HYPRE_ParCSRPCGSetTwoNorm(pcg, 1);
    (void)HYPRE_ParCSRPCGSetPrecond(pcg, HYPRE_BoomerAMGSolve, is_set_up, s->amg);
    (void)HYPRE_ParCSRPCGSetup(pcg, s->par_matrix, s->par_b, s->par_x);
    weft_foreign_outcome outcome = check("set up CG", message);
    if (outcome == WEFT_FOREIGN_OK) {
        (void)HYPRE_ParCSRPCGSolve(pcg, s->par_matrix, s->par_b, s->par_x);
        *converged = !(HYPRE_GetError() & HYPRE_ERROR_CONV);
        if (!*converged)
            (void)HYPRE_ClearAllErrors();
        (void)HYPRE_ParCSRPCGGetNumIterations(pcg, &n);
        *iterations = (int)n;
        (void)HYPRE_IJVectorGetValues(s->x, s->n, s->rows, x);
        outcome = check("solve", message);
    }
    if (pcg)
        (void)HYPRE_ParCSRPCGDestroy(pcg);
    return outcome;
}

static void describe(const weft_foreign *s, char *out, int size) {
    (void)s;
    (void)snprintf(out, (size_t)size, "hypre " HYPRE_RELEASE_VERSION ", BoomerAMG");
}

static void solver_free(weft_foreign *s) {
    int is_stopped = 0;
    (void)MPI_Finalized(&is_stopped);
    if (!is_stopped) {
        amg_free(s);
        if (s->matrix)
            (void)HYPRE_IJMatrixDestroy(s->matrix);
        if (s->b)
            (void)HYPRE_IJVectorDestroy(s->b);
        if (s->x)
            (void)HYPRE_IJVectorDestroy(s->x);
        if (s->has_comm)
            (void)MPI_Comm_free(&s->comm);
    }
    free(s->rows);
    free(s->sizes);
    free(s->columns);
    free(s);
}

/** The entry: arguments[0] is a weft_foreign_plugin to be filled. */
void weft_plugin_open(void *const *arguments, int64_t n, int64_t first, int64_t last);
void weft_plugin_open(void *const *arguments, int64_t n, int64_t first, int64_t last) {
    weft_foreign_plugin *out = arguments[0];
    (void)n, (void)first, (void)last;
    *out = (weft_foreign_plugin){start, make, update, apply, solve, describe, solver_free, stop};
}
