/* BoomerAMG of hypre: one V-cycle as a preconditioner, or hypre's CG with it. */
#include "fem/external/private.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int hypre_solver_function(void *solver, void *matrix, void *b, void *x);

/* HYPRE_Int and HYPRE_BigInt are int, HYPRE_Real is double (checked by check_numbers), objects are
 * pointers. */
#define HYPRE_FUNCTIONS(FUNCTION)                                                                  \
    FUNCTION(HYPRE_VersionNumber, (int *, int *, int *, int *))                                    \
    FUNCTION(HYPRE_GetError, (void))                                                               \
    FUNCTION(HYPRE_ClearAllErrors, (void))                                                         \
    FUNCTION(HYPRE_IJMatrixCreate, (void *, int, int, int, int, void **))                          \
    FUNCTION(HYPRE_IJMatrixDestroy, (void *))                                                      \
    FUNCTION(HYPRE_IJMatrixSetObjectType, (void *, int))                                           \
    FUNCTION(HYPRE_IJMatrixSetRowSizes, (void *, const int *))                                     \
    FUNCTION(HYPRE_IJMatrixInitialize, (void *))                                                   \
    FUNCTION(HYPRE_IJMatrixSetValues,                                                              \
             (void *, int, int *, const int *, const int *, const double *))                       \
    FUNCTION(HYPRE_IJMatrixAssemble, (void *))                                                     \
    FUNCTION(HYPRE_IJMatrixGetObject, (void *, void **))                                           \
    FUNCTION(HYPRE_IJVectorCreate, (void *, int, int, void **))                                    \
    FUNCTION(HYPRE_IJVectorDestroy, (void *))                                                      \
    FUNCTION(HYPRE_IJVectorSetObjectType, (void *, int))                                           \
    FUNCTION(HYPRE_IJVectorInitialize, (void *))                                                   \
    FUNCTION(HYPRE_IJVectorSetValues, (void *, int, const int *, const double *))                  \
    FUNCTION(HYPRE_IJVectorGetValues, (void *, int, const int *, double *))                        \
    FUNCTION(HYPRE_IJVectorGetLocalRange, (void *, int *, int *))                                  \
    FUNCTION(HYPRE_IJVectorAssemble, (void *))                                                     \
    FUNCTION(HYPRE_IJVectorGetObject, (void *, void **))                                           \
    FUNCTION(HYPRE_ParVectorInnerProd, (void *, void *, double *))                                 \
    FUNCTION(HYPRE_ParVectorSetConstantValues, (void *, double))                                   \
    FUNCTION(HYPRE_BoomerAMGCreate, (void **))                                                     \
    FUNCTION(HYPRE_BoomerAMGDestroy, (void *))                                                     \
    FUNCTION(HYPRE_BoomerAMGSetTol, (void *, double))                                              \
    FUNCTION(HYPRE_BoomerAMGSetMaxIter, (void *, int))                                             \
    FUNCTION(HYPRE_BoomerAMGSetPrintLevel, (void *, int))                                          \
    FUNCTION(HYPRE_BoomerAMGSetNumFunctions, (void *, int))                                        \
    FUNCTION(HYPRE_BoomerAMGSetStrongThreshold, (void *, double))                                  \
    FUNCTION(HYPRE_BoomerAMGSetCycleRelaxType, (void *, int, int))                                 \
    FUNCTION(HYPRE_BoomerAMGSetup, (void *, void *, void *, void *))                               \
    FUNCTION(HYPRE_BoomerAMGSolve, (void *, void *, void *, void *))                               \
    FUNCTION(HYPRE_ParCSRPCGCreate, (void *, void **))                                             \
    FUNCTION(HYPRE_ParCSRPCGDestroy, (void *))                                                     \
    FUNCTION(HYPRE_ParCSRPCGSetTol, (void *, double))                                              \
    FUNCTION(HYPRE_ParCSRPCGSetMaxIter, (void *, int))                                             \
    FUNCTION(HYPRE_ParCSRPCGSetTwoNorm, (void *, int))                                             \
    FUNCTION(HYPRE_ParCSRPCGSetPrecond,                                                            \
             (void *, hypre_solver_function *, hypre_solver_function *, void *))                   \
    FUNCTION(HYPRE_ParCSRPCGSetup, (void *, void *, void *, void *))                               \
    FUNCTION(HYPRE_ParCSRPCGSolve, (void *, void *, void *, void *))                               \
    FUNCTION(HYPRE_ParCSRPCGGetNumIterations, (void *, int *))

#define POINTER(name, parameters) int(*name) parameters;
typedef struct hypre_functions {
    HYPRE_FUNCTIONS(POINTER)
} hypre_functions;
#undef POINTER
#define NAME(name, parameters) #name,
static const char *const function_names[] = {HYPRE_FUNCTIONS(NAME)};
#undef NAME
enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

enum {
    HYPRE_PARCSR = 5555,
    HYPRE_ERROR_MEMORY = 2,
    HYPRE_ERROR_ARGUMENT = 4,
    HYPRE_ERROR_CONVERGENCE = 256,
    FIRST_MINOR = 18, /* of the versions 2.x, whose functions are those above */
    COARSEST = 3,     /* of HYPRE_BoomerAMGSetCycleRelaxType */
    L1_JACOBI = 18
};

typedef struct hypre_state {
    hypre_functions hypre;
    void *self; /* communicator */
    int n;
    int *rows, *sizes; /* [n] */
    void *matrix, *b, *x;
    void *par_matrix, *par_b, *par_x; /* of the objects above */
    void *amg;
} hypre_state;

/* Read and clear hypre's error flag. */
static weft_status check(const hypre_functions *hypre, const char *what, weft_error *error) {
    int code = hypre->HYPRE_GetError();
    if (code == 0)
        return WEFT_OK;
    hypre->HYPRE_ClearAllErrors();
    if (code & HYPRE_ERROR_MEMORY)
        return weft_out_of_memory(error, "hypre");
    return weft_error_set(error, WEFT_ERROR_INTERNAL, "hypre failed to %s: %s (error %d)", what,
                          code & HYPRE_ERROR_ARGUMENT ? "an argument is wrong" : "no message",
                          code);
}

static weft_status vector_make(hypre_state *s, void **vector, void **par_vector,
                               weft_error *error) {
    s->hypre.HYPRE_IJVectorCreate(s->self, 0, s->n - 1, vector);
    s->hypre.HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
    s->hypre.HYPRE_IJVectorInitialize(*vector);
    s->hypre.HYPRE_IJVectorAssemble(*vector);
    s->hypre.HYPRE_IJVectorGetObject(*vector, par_vector);
    return check(&s->hypre, "make a vector", error);
}

/* Integers of 64 bits overwrite more than 32 bits of what they are stored to, and an inner product
 * of other numbers than doubles differs. */
static weft_status check_numbers(hypre_state *s, weft_error *error) {
    weft_status status = WEFT_OK;
    int range[4] = {-7, -7, -7, -7}, major[2] = {-7, -7};
    double product = -1;
    s->hypre.HYPRE_VersionNumber(major, NULL, NULL, NULL);
    s->hypre.HYPRE_IJVectorGetLocalRange(s->b, &range[0], &range[2]);
    s->hypre.HYPRE_ParVectorSetConstantValues(s->par_b, 1.5);
    s->hypre.HYPRE_ParVectorInnerProd(s->par_b, s->par_b, &product);
    TRY(check(&s->hypre, "compute an inner product", error));
    if (major[1] != -7 || range[1] != -7 || range[3] != -7 || range[2] != s->n - 1 ||
        !(product > 2.24 * s->n && product < 2.26 * s->n)) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "this hypre has other numbers than double and 32-bit int");
        weft_error_hint(error, "set WEFT_HYPRE to a library that was built with the defaults");
    }
done:
    return status;
}

/* 2.26 has HYPRE_Init, later versions have HYPRE_Initialize; both may be called again. */
static weft_status start(void *library, hypre_state *s, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    int version[6] = {0}; /* room for 64-bit integers */
    int (*initialize)(void) = NULL;
    TRY(weft_external_functions(library, "hypre", function_names, N_FUNCTIONS, &s->hypre, error));
    s->hypre.HYPRE_VersionNumber(&version[0], &version[2], &version[4], NULL);
    if (version[0] != 2 || version[2] < FIRST_MINOR)
        TRY(weft_external_unknown_version(&weft_external_hypre, version[0], version[2], error));
    TRY(weft_external_mpi_start(library, "hypre", &s->self, error));
    const char *name = dlsym(library, "HYPRE_Initialize") ? "HYPRE_Initialize" : "HYPRE_Init";
    TRY(weft_external_functions(library, "hypre", &name, 1, &initialize, error));
    initialize();
    TRY(check(&s->hypre, "start", error));
    snprintf(description, 128, "hypre %d.%d.%d, BoomerAMG", version[0], version[2], version[4]);
done:
    return status;
}

static weft_status matrix_make(hypre_state *s, const weft_external_system *system,
                               weft_error *error) {
    const hypre_functions *hypre = &s->hypre;
    for (int i = 0; i < s->n; ++i) {
        s->rows[i] = i;
        s->sizes[i] = system->row_start[i + 1] - system->row_start[i];
    }
    hypre->HYPRE_IJMatrixCreate(s->self, 0, s->n - 1, 0, s->n - 1, &s->matrix);
    hypre->HYPRE_IJMatrixSetObjectType(s->matrix, HYPRE_PARCSR);
    hypre->HYPRE_IJMatrixSetRowSizes(s->matrix, s->sizes);
    return check(hypre, "make a matrix", error);
}

static void amg_free(hypre_state *s) {
    if (s->amg)
        s->hypre.HYPRE_BoomerAMGDestroy(s->amg);
    s->amg = NULL;
}

/* hypre's defaults (HMIS coarsening, extended+i interpolation, l1 Gauss-Seidel forward on the way
 * down and backward on the way up, which make a symmetric V-cycle), with the strong threshold that
 * its manual advises: 0.25 in two dimensions, 0.5 in three and for systems. */
static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    hypre_state *s = state;
    const hypre_functions *hypre = &s->hypre;
    hypre->HYPRE_IJMatrixInitialize(s->matrix);
    hypre->HYPRE_IJMatrixSetValues(s->matrix, s->n, s->sizes, s->rows, system->columns,
                                   system->values);
    hypre->HYPRE_IJMatrixAssemble(s->matrix);
    hypre->HYPRE_IJMatrixGetObject(s->matrix, &s->par_matrix);
    TRY(check(hypre, "copy the matrix", error));
    amg_free(s);
    hypre->HYPRE_BoomerAMGCreate(&s->amg);
    hypre->HYPRE_BoomerAMGSetTol(s->amg, 0);
    hypre->HYPRE_BoomerAMGSetMaxIter(s->amg, 1);
    hypre->HYPRE_BoomerAMGSetPrintLevel(s->amg, 0);
    hypre->HYPRE_BoomerAMGSetNumFunctions(s->amg, system->components);
    hypre->HYPRE_BoomerAMGSetStrongThreshold(
        s->amg, system->dimension == 3 || system->components > 1 ? 0.5 : 0.25);
    if (system->is_singular) /* instead of elimination */
        hypre->HYPRE_BoomerAMGSetCycleRelaxType(s->amg, L1_JACOBI, COARSEST);
    hypre->HYPRE_BoomerAMGSetup(s->amg, s->par_matrix, s->par_b, s->par_x);
    TRY(check(hypre, "set up BoomerAMG", error));
done:
    return status;
}

static weft_status make(void *library, const char *method, const weft_external_system *system,
                        void **state, char *description, weft_error *error) {
    (void)method;
    weft_status status = WEFT_OK;
    hypre_state *s = calloc(1, sizeof *s);
    if (!s)
        TRY(weft_out_of_memory(error, "hypre"));
    *state = s;
    s->n = system->n;
    s->rows = weft_array_make((size_t)s->n, sizeof *s->rows);
    s->sizes = weft_array_make((size_t)s->n, sizeof *s->sizes);
    if (!s->rows || !s->sizes)
        TRY(weft_out_of_memory(error, "hypre"));
    TRY(start(library, s, description, error));
    TRY(vector_make(s, &s->b, &s->par_b, error));
    TRY(vector_make(s, &s->x, &s->par_x, error));
    TRY(check_numbers(s, error));
    TRY(matrix_make(s, system, error));
    TRY(update(s, system, error));
done:
    return status;
}

/* Set b and clear x. */
static void set_vectors(hypre_state *s, const double *b) {
    s->hypre.HYPRE_IJVectorSetValues(s->b, s->n, s->rows, b);
    s->hypre.HYPRE_ParVectorSetConstantValues(s->par_x, 0);
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    hypre_state *s = state;
    set_vectors(s, r);
    s->hypre.HYPRE_BoomerAMGSolve(s->amg, s->par_matrix, s->par_b, s->par_x);
    s->hypre.HYPRE_IJVectorGetValues(s->x, s->n, s->rows, z);
    return check(&s->hypre, "apply BoomerAMG", error);
}

/* In place of the set-up of BoomerAMG, which update has done. */
static int is_set_up(void *solver, void *matrix, void *b, void *x) {
    (void)solver;
    (void)matrix;
    (void)b;
    (void)x;
    return 0;
}

static weft_status solve(void *state, const double *b, double *x, double tolerance,
                         int max_iterations, weft_external_result *result, weft_error *error) {
    weft_status status = WEFT_OK;
    hypre_state *s = state;
    const hypre_functions *hypre = &s->hypre;
    void *pcg = NULL;
    set_vectors(s, b);
    hypre->HYPRE_ParCSRPCGCreate(s->self, &pcg);
    hypre->HYPRE_ParCSRPCGSetTol(pcg, tolerance);
    hypre->HYPRE_ParCSRPCGSetMaxIter(pcg, max_iterations);
    hypre->HYPRE_ParCSRPCGSetTwoNorm(pcg, 1);
    hypre->HYPRE_ParCSRPCGSetPrecond(pcg, hypre->HYPRE_BoomerAMGSolve, is_set_up, s->amg);
    hypre->HYPRE_ParCSRPCGSetup(pcg, s->par_matrix, s->par_b, s->par_x);
    TRY(check(hypre, "set up CG", error));
    hypre->HYPRE_ParCSRPCGSolve(pcg, s->par_matrix, s->par_b, s->par_x);
    result->converged = !(hypre->HYPRE_GetError() & HYPRE_ERROR_CONVERGENCE);
    if (!result->converged)
        hypre->HYPRE_ClearAllErrors();
    hypre->HYPRE_ParCSRPCGGetNumIterations(pcg, &result->iterations);
    hypre->HYPRE_IJVectorGetValues(s->x, s->n, s->rows, x);
    TRY(check(hypre, "solve", error));
done:
    if (pcg)
        hypre->HYPRE_ParCSRPCGDestroy(pcg);
    return status;
}

static void state_free(void *state) {
    hypre_state *s = state;
    amg_free(s);
    if (s->matrix)
        s->hypre.HYPRE_IJMatrixDestroy(s->matrix);
    if (s->b)
        s->hypre.HYPRE_IJVectorDestroy(s->b);
    if (s->x)
        s->hypre.HYPRE_IJVectorDestroy(s->x);
    free(s->rows);
    free(s->sizes);
    free(s);
}

static const char *const methods[] = {"boomeramg", NULL};
/* Debian 13 and sid, Ubuntu 24.04, Debian 12, Ubuntu 22.04, others. */
static const char *const names[] = {"libHYPRE-2.33.0.so", "libHYPRE-2.32.0.so",
                                    "libHYPRE-2.31.0.so", "libHYPRE-2.29.0.so",
                                    "libHYPRE-2.28.0.so", "libHYPRE-2.26.0.so",
                                    "libHYPRE-2.25.0.so", "libHYPRE-2.22.1.so",
                                    "libHYPRE.so",        NULL};

const weft_external_library weft_external_hypre = {
    .info = {.name = "hypre",
             .help = "BoomerAMG of the library hypre",
             .variable = "WEFT_HYPRE",
             .package = "libhypre-2.26.0 in Debian 12, "
                        "libhypre-2.32.0 in Debian 13, libhypre-2.28.0 in Ubuntu 24.04",
             .methods = methods,
             .takes_general = true},
    .title = "hypre",
    .names = names,
    .make = make,
    .update = update,
    .apply = apply,
    .solve = solve,
    .free = state_free,
};
