/* PETSc: GAMG, or an incomplete factorization, as a preconditioner, or PETSc's CG with it; GMRES for
 * matrices that are not symmetric. */
#include "fem/external/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int petsc_error_handler(void *comm, int line, const char *function, const char *file,
                                int code, int type, const char *message, void *context);

/* PetscInt is int, PetscScalar and PetscReal are double (checked by check_numbers), enumerations
 * are int, objects are pointers. */
#define PETSC_FUNCTIONS(FUNCTION)                                                                  \
    FUNCTION(PetscGetVersionNumber, (int *, int *, int *, int *))                                  \
    FUNCTION(PetscOptionsSetValue, (void *, const char *, const char *))                           \
    FUNCTION(PetscOptionsInsertString, (void *, const char *))                                     \
    FUNCTION(PetscInitialized, (int *))                                                            \
    FUNCTION(PetscInitializeNoArguments, (void))                                                   \
    FUNCTION(PetscFinalize, (void))                                                                \
    FUNCTION(PetscPushErrorHandler, (petsc_error_handler *, void *))                               \
    FUNCTION(PetscPopErrorHandler, (void))                                                         \
    FUNCTION(PetscDataTypeFromString, (const char *, int *, int *))                                \
    FUNCTION(PetscDataTypeGetSize, (int, size_t *))                                                \
    FUNCTION(MatCreateSeqAIJWithArrays, (void *, int, int, int *, int *, double *, void **))       \
    FUNCTION(MatSetBlockSize, (void *, int))                                                       \
    FUNCTION(MatSetOption, (void *, int, int))                                                     \
    FUNCTION(MatAssemblyBegin, (void *, int))                                                      \
    FUNCTION(MatAssemblyEnd, (void *, int))                                                        \
    FUNCTION(MatNullSpaceCreate, (void *, int, int, void **, void **))                             \
    FUNCTION(MatNullSpaceDestroy, (void **))                                                       \
    FUNCTION(MatSetNullSpace, (void *, void *))                                                    \
    FUNCTION(MatDestroy, (void **))                                                                \
    FUNCTION(VecCreateSeqWithArray, (void *, int, int, const double *, void **))                   \
    FUNCTION(VecPlaceArray, (void *, const double *))                                              \
    FUNCTION(VecResetArray, (void *))                                                              \
    FUNCTION(VecDestroy, (void **))                                                                \
    FUNCTION(KSPCreate, (void *, void **))                                                         \
    FUNCTION(KSPSetOptionsPrefix, (void *, const char *))                                          \
    FUNCTION(KSPSetFromOptions, (void *))                                                          \
    FUNCTION(KSPSetOperators, (void *, void *, void *))                                            \
    FUNCTION(KSPSetTolerances, (void *, double, double, double, int))                              \
    FUNCTION(KSPSetUp, (void *))                                                                   \
    FUNCTION(KSPGetPC, (void *, void **))                                                          \
    FUNCTION(KSPSolve, (void *, void *, void *))                                                   \
    FUNCTION(KSPGetIterationNumber, (void *, int *))                                               \
    FUNCTION(KSPGetConvergedReason, (void *, int *))                                               \
    FUNCTION(KSPDestroy, (void **))                                                                \
    FUNCTION(PCSetCoordinates, (void *, int, int, double *))                                       \
    FUNCTION(PCApply, (void *, void *, void *))

#define POINTER(name, parameters) int(*name) parameters;
typedef struct petsc_functions {
    PETSC_FUNCTIONS(POINTER)
} petsc_functions;
#undef POINTER
#define NAME(name, parameters) #name,
static const char *const function_names[] = {PETSC_FUNCTIONS(NAME)};
#undef NAME
enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

enum { /* of PETSc's enumerations */
       PETSC_DOUBLE = 1,
       PETSC_INT = 16,
       PETSC_ERROR_INITIAL = 0,
       PETSC_ERR_MEM = 55,
       MAT_SPD = 15,
       MAT_FINAL_ASSEMBLY = 0,
       FIRST_MINOR = 18, /* of the versions 3.x, whose functions are those above */
       LAST_MINOR = 24
};

typedef struct petsc_state {
    petsc_functions petsc;
    char message[512]; /* of the first error since it was cleared */
    void *self;        /* communicator */
    int n;
    void *matrix, *b, *x, *ksp;
    void *pc; /* of ksp */
} petsc_state;

/* Keep the message that explains the error; the others name the callers. */
static int note(void *comm, int line, const char *function, const char *file, int code, int type,
                const char *message, void *context) {
    (void)comm;
    (void)line;
    (void)file;
    petsc_state *s = context;
    if (type == PETSC_ERROR_INITIAL && !s->message[0])
        snprintf(s->message, sizeof s->message, "%s: %s", function ? function : "PETSc",
                 message && message[0] ? message : "no message");
    return code;
}

/* Errors come to `note` between begin and end, and nowhere else. */
static void begin(petsc_state *s) {
    s->message[0] = '\0';
    s->petsc.PetscPushErrorHandler(note, s);
}

static weft_status end(petsc_state *s, int code, const char *what, weft_error *error) {
    s->petsc.PetscPopErrorHandler();
    if (code == 0)
        return WEFT_OK;
    if (code == PETSC_ERR_MEM)
        return weft_out_of_memory(error, "PETSc");
    s->message[strcspn(s->message, "\n")] = '\0';
    return weft_error_set(error, WEFT_ERROR_INTERNAL, "PETSc failed to %s: %s (error %d)", what,
                          s->message, code);
}

/* The second half of a 64-bit integer would overwrite the -7. */
static weft_status check_numbers(petsc_state *s, weft_error *error) {
    int scalar = 0, real = 0, found[2] = {0}, version[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
    size_t size = 0;
    s->petsc.PetscGetVersionNumber(&version[0], &version[2], &version[4], &version[6]);
    if (version[0] != 3 || version[2] < FIRST_MINOR || version[2] > LAST_MINOR)
        return weft_external_unknown_version(&weft_external_petsc, version[0], version[2], error);
    s->petsc.PetscDataTypeFromString("scalar", &scalar, &found[0]);
    s->petsc.PetscDataTypeFromString("real", &real, &found[1]);
    s->petsc.PetscDataTypeGetSize(PETSC_INT, &size);
    if (version[1] == -7 && found[0] && scalar == PETSC_DOUBLE && found[1] &&
        real == PETSC_DOUBLE && size == sizeof(int))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "this PETSc has other numbers than double and 32-bit int");
    weft_error_hint(error, "set WEFT_PETSC to a library with real numbers and 32-bit indices (%s)",
                    weft_external_petsc.info.package);
    return WEFT_ERROR_UNSUPPORTED;
}

static void stop(int exit_code, void *library) {
    (void)exit_code;
    petsc_functions petsc;
    if (weft_external_functions(library, "PETSc", function_names, N_FUNCTIONS, &petsc, NULL) ==
        WEFT_OK)
        petsc.PetscFinalize();
}

/* Start PETSc once in a process, without its signal handlers and without the options that it would
 * read from .petscrc in the home and the working directory. Exit handlers run in reverse order:
 * PETSc stops before MPI. */
static weft_status start(void *library, petsc_state *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_external_signals *signals = NULL;
    int is_running = 0;
    TRY(weft_external_functions(library, "PETSc", function_names, N_FUNCTIONS, &s->petsc, error));
    TRY(check_numbers(s, error));
    TRY(weft_external_mpi_start(library, "PETSc", &s->self, error));
    TRY(weft_external_signals_keep(&signals, error));
    s->petsc.PetscInitialized(&is_running);
    if (!is_running) {
        s->petsc.PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
        s->petsc.PetscOptionsSetValue(NULL, "-skip_petscrc", "true");
        s->petsc.PetscOptionsSetValue(NULL, "-options_left", "false");
        if (s->petsc.PetscInitializeNoArguments() != 0)
            status = weft_error_set(error, WEFT_ERROR_INTERNAL, "PETSc does not start");
        else if (on_exit(stop, library) != 0)
            status = weft_out_of_memory(error, "stopping PETSc");
    }
done:
    weft_external_signals_restore(&signals);
    return status;
}

/* Leave the function with the code of a call that fails. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != 0)                                                                            \
            return code_;                                                                          \
    } while (0)

static int matrix_make(petsc_state *s, const weft_external_system *system) {
    const petsc_functions *petsc = &s->petsc;
    CALL(petsc->MatCreateSeqAIJWithArrays(s->self, s->n, s->n, system->row_start, system->columns,
                                          system->values, &s->matrix));
    CALL(petsc->MatSetBlockSize(s->matrix, system->components));
    if (!system->is_general)
        CALL(petsc->MatSetOption(s->matrix, MAT_SPD, 1));
    if (system->is_singular) {
        void *constants = NULL;
        CALL(petsc->MatNullSpaceCreate(s->self, 1, 0, NULL, &constants));
        CALL(petsc->MatSetNullSpace(s->matrix, constants));
        CALL(petsc->MatNullSpaceDestroy(&constants));
    }
    CALL(petsc->VecCreateSeqWithArray(s->self, 1, s->n, NULL, &s->b));
    CALL(petsc->VecCreateSeqWithArray(s->self, 1, s->n, NULL, &s->x));
    return 0;
}

static int solver_make(petsc_state *s, const char *method, const weft_external_system *system) {
    const petsc_functions *petsc = &s->petsc;
    char options[320];
    snprintf(options, sizeof options,
             "-weft_ksp_type %s -weft_ksp_norm_type unpreconditioned%s -weft_pc_type %s "
             "-weft_pc_gamg_reuse_interpolation false%s",
             system->is_general ? "gmres" : "cg",
             system->is_general ? " -weft_ksp_pc_side right" : "", method,
             system->is_singular ? " -weft_mg_coarse_pc_type svd" : "");
    CALL(petsc->KSPCreate(s->self, &s->ksp));
    CALL(petsc->KSPSetOptionsPrefix(s->ksp, "weft_"));
    CALL(petsc->PetscOptionsInsertString(NULL, options));
    CALL(petsc->KSPSetOperators(s->ksp, s->matrix, s->matrix));
    CALL(petsc->KSPSetFromOptions(s->ksp));
    CALL(petsc->KSPGetPC(s->ksp, &s->pc));
    if (system->coordinates && system->components == system->dimension)
        CALL(petsc->PCSetCoordinates(s->pc, system->dimension, s->n / system->components,
                                     system->coordinates));
    return 0;
}

static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    (void)system; /* whose values the matrix shares */
    petsc_state *s = state;
    begin(s);
    int code = s->petsc.MatAssemblyBegin(s->matrix, MAT_FINAL_ASSEMBLY);
    if (code == 0)
        code = s->petsc.MatAssemblyEnd(s->matrix, MAT_FINAL_ASSEMBLY);
    if (code == 0)
        code = s->petsc.KSPSetOperators(s->ksp, s->matrix, s->matrix);
    if (code == 0)
        code = s->petsc.KSPSetUp(s->ksp);
    return end(s, code, "set up the preconditioner", error);
}

static weft_status make(void *library, const char *method, const weft_external_system *system,
                        void **state, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    int version[8] = {0};
    petsc_state *s = calloc(1, sizeof *s);
    if (!s)
        TRY(weft_out_of_memory(error, "PETSc"));
    *state = s;
    s->n = system->n;
    TRY(start(library, s, error));
    s->petsc.PetscGetVersionNumber(&version[0], &version[2], &version[4], &version[6]);
    snprintf(description, 128, "PETSc %d.%d.%d, %s", version[0], version[2], version[4], method);
    begin(s);
    TRY(end(s, matrix_make(s, system), "copy the matrix", error));
    begin(s);
    TRY(end(s, solver_make(s, method, system), "make a solver", error));
    TRY(update(s, system, error));
done:
    return status;
}

static int apply_once(petsc_state *s, const double *r, double *z) {
    CALL(s->petsc.VecPlaceArray(s->b, r));
    CALL(s->petsc.VecPlaceArray(s->x, z));
    CALL(s->petsc.PCApply(s->pc, s->b, s->x));
    CALL(s->petsc.VecResetArray(s->b));
    CALL(s->petsc.VecResetArray(s->x));
    return 0;
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    petsc_state *s = state;
    begin(s);
    return end(s, apply_once(s, r, z), "apply the preconditioner", error);
}

static int solve_once(petsc_state *s, const double *b, double *x, weft_external_result *result) {
    int reason = 0;
    CALL(s->petsc.VecPlaceArray(s->b, b));
    CALL(s->petsc.VecPlaceArray(s->x, x));
    CALL(s->petsc.KSPSolve(s->ksp, s->b, s->x));
    CALL(s->petsc.VecResetArray(s->b));
    CALL(s->petsc.VecResetArray(s->x));
    CALL(s->petsc.KSPGetIterationNumber(s->ksp, &result->iterations));
    CALL(s->petsc.KSPGetConvergedReason(s->ksp, &reason));
    result->converged = reason > 0;
    return 0;
}

static weft_status solve(void *state, const double *b, double *x, double tolerance,
                         int max_iterations, weft_external_result *result, weft_error *error) {
    petsc_state *s = state;
    begin(s);
    int code = s->petsc.KSPSetTolerances(s->ksp, tolerance, 0, 1e30, max_iterations);
    if (code == 0)
        code = solve_once(s, b, x, result);
    return end(s, code, "solve", error);
}

static void state_free(void *state) {
    petsc_state *s = state;
    if (s->ksp)
        s->petsc.KSPDestroy(&s->ksp);
    if (s->b)
        s->petsc.VecDestroy(&s->b);
    if (s->x)
        s->petsc.VecDestroy(&s->x);
    if (s->matrix)
        s->petsc.MatDestroy(&s->matrix);
    free(s);
}

static const char *const methods[] = {"gamg", "icc", "ilu", NULL};
/* Debian's and Ubuntu's, with real numbers and 32-bit indices; then a build of the user's own. */
static const char *const names[] = {
    "libpetsc_real.so.3.24", "libpetsc_real.so.3.23", "libpetsc_real.so.3.22",
    "libpetsc_real.so.3.21", "libpetsc_real.so.3.20", "libpetsc_real.so.3.19",
    "libpetsc_real.so.3.18", "libpetsc.so",           NULL};

const weft_external_library weft_external_petsc = {
    .info = {.name = "petsc",
             .help = "GAMG, or ILU for nonsymmetric matrices, of the library PETSc",
             .variable = "WEFT_PETSC",
             .package = "libpetsc-real3.18 in Debian 12, "
                        "libpetsc-real3.22 in Debian 13, libpetsc-real3.19t64 in Ubuntu 24.04",
             .methods = methods,
             .takes_general = true,
             .general_method = "ilu"},
    .title = "PETSc",
    .names = names,
    .make = make,
    .update = update,
    .apply = apply,
    .solve = solve,
    .free = state_free,
};
