/* PETSc by its own header: a preconditioner PC on the rows of one or several ranks, or PETSc's CG or GMRES with it. */
#define _GNU_SOURCE
#include <petscksp.h>

#include "foreign_start.h"

#if defined(PETSC_HAVE_MPIUNI)
#error "weft: this PETSc was built without MPI"
#elif defined(PETSC_USE_COMPLEX)
#error "weft: this PETSc has complex numbers, not real ones"
#elif !defined(PETSC_USE_REAL_DOUBLE)
#error "weft: this PETSc has other real numbers than double"
#endif

/* Leave a function with the code of a call that fails. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        PetscErrorCode code_ = (call);                                                             \
        if (code_)                                                                                 \
            return code_;                                                                          \
    } while (0)

#define PREFIX "weft_" /* of the options of a solver in PETSc's database */
enum { NAME_MOST = 256 };

struct weft_foreign {
    char message[WEFT_FOREIGN_MESSAGE]; /* of the first error since it was cleared */
    MPI_Comm comm;
    int has_comm, size, n;
    PetscInt first;
    Mat matrix;
    Vec b, x;
    KSP ksp;
    PC pc; /* of ksp */
    PetscInt *columns; /* [longest row] */
    PetscOptions asked; /* the user's options; NULL: none */
    int n_names;        /* of options of this solver in the database */
    char **names;       /* [n_names] with their prefix */
};

/* ---- errors ---------------------------------------------------------------------------------- */

/* Keep the message that explains the error; the others name the callers. */
static PetscErrorCode note(MPI_Comm comm, int line, const char *function, const char *file,
                           PetscErrorCode code, PetscErrorType type, const char *message,
                           void *context) {
    weft_foreign *s = context;
    (void)comm, (void)line, (void)file;
    if (type == PETSC_ERROR_INITIAL && !s->message[0])
        (void)snprintf(s->message, sizeof s->message, "%s: %s", function ? function : "PETSc",
                       message && message[0] ? message : "no message");
    return code;
}

/* Errors come to `note` between begin and end, and nowhere else. */
static void begin(weft_foreign *s) {
    s->message[0] = '\0';
    (void)PetscPushErrorHandler(note, s);
}

static weft_foreign_outcome outcome_of(PetscErrorCode code) {
    return code == PETSC_ERR_MEM                ? WEFT_FOREIGN_MEMORY
           : code == PETSC_ERR_ARG_UNKNOWN_TYPE ? WEFT_FOREIGN_USAGE
           : code == PETSC_ERR_USER_INPUT       ? WEFT_FOREIGN_USAGE
           : code == PETSC_ERR_SUP || code == PETSC_ERR_SUP_SYS || code == PETSC_ERR_MISSING_FACTOR
               ? WEFT_FOREIGN_UNSUPPORTED
               : WEFT_FOREIGN_FAILED;
}

static weft_foreign_outcome end(weft_foreign *s, PetscErrorCode code, const char *what, char *message) {
    (void)PetscPopErrorHandler();
    if (!code)
        return WEFT_FOREIGN_OK;
    s->message[strcspn(s->message, "\n")] = '\0';
    (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "PETSc failed to %s: %.400s (error %d)", what,
                   s->message, (int)code);
    return outcome_of(code);
}

/* ---- start and end --------------------------------------------------------------------------- */

static MPI_Comm world = MPI_COMM_NULL; /* PETSc's, if this plug-in has started it */

static int on_end_of_mpi(MPI_Comm comm, int key, void *value, void *user) {
    (void)comm, (void)key, (void)value, (void)user;
    (void)PetscFinalize();
    (void)MPI_Comm_free(&world);
    return MPI_SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still runs. */
static int stop_with_mpi(void) {
    int key = MPI_KEYVAL_INVALID;
    int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end_of_mpi, &key, NULL);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    return code;
}

/* A library with integers of 64 bits, where the header's have 32, overwrites the second number. */
static weft_foreign_outcome check_version(char *message) {
    PetscInt version[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
    (void)PetscGetVersionNumber(&version[0], &version[2], &version[4], &version[6]);
    if (version[0] == PETSC_VERSION_MAJOR && version[1] == -7 && version[2] == PETSC_VERSION_MINOR &&
        version[4] == PETSC_VERSION_SUBMINOR)
        return WEFT_FOREIGN_OK;
    (void)snprintf(message, WEFT_FOREIGN_MESSAGE,
                   "PETSc's library is of version %d.%d.%d, its header of %d.%d.%d%s", (int)version[0],
                   (int)version[2], (int)version[4], PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                   PETSC_VERSION_SUBMINOR, version[1] == -7 ? "" : ", with other integers");
    return WEFT_FOREIGN_UNSUPPORTED;
}

/* Without its signal handlers, and without the options that it would read from .petscrc in the home and the working directory. The
 * user's are set as they are, too, for those of the program as a whole, such as -log_view. */
static PetscErrorCode start_petsc(const void *comm, const char *options) {
    if (copy_comm(comm, &world) != MPI_SUCCESS)
        return PETSC_ERR_MPI;
    PETSC_COMM_WORLD = world;
    CALL(PetscOptionsSetValue(NULL, "-no_signal_handler", "true"));
    CALL(PetscOptionsSetValue(NULL, "-skip_petscrc", "true"));
    CALL(PetscOptionsSetValue(NULL, "-options_left", "false"));
    if (options)
        CALL(PetscOptionsInsertString(NULL, options));
    CALL(PetscInitializeNoArguments());
    return stop_with_mpi() == MPI_SUCCESS ? 0 : PETSC_ERR_MPI;
}

static weft_foreign_outcome start(void *library, void *(*find)(void *, const char *), const void *comm,
                                  const char *options, int *stays, char *message) {
    PetscBool is_running = PETSC_FALSE;
    weft_foreign_outcome outcome = check_mpi("PETSc", library, find, message);
    if (outcome == WEFT_FOREIGN_OK)
        outcome = check_version(message);
    if (outcome == WEFT_FOREIGN_OK)
        outcome = start_mpi("PETSc", message);
    if (outcome == WEFT_FOREIGN_OK)
        (void)PetscInitialized(&is_running);
    if (outcome == WEFT_FOREIGN_OK && !is_running) {
        *stays = 1;
        if (start_petsc(comm, options)) {
            (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "PETSc does not start");
            outcome = WEFT_FOREIGN_FAILED;
        }
    }
    *stays = *stays || has_started_mpi;
    return outcome;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Set an option of this solver until it is freed. */
static PetscErrorCode set_option(weft_foreign *s, const char *name, const char *value) {
    char full[NAME_MOST];
    char **names = realloc(s->names, (size_t)(s->n_names + 1) * sizeof *names);
    if (!names)
        return PETSC_ERR_MEM;
    s->names = names;
    (void)snprintf(full, sizeof full, "-" PREFIX "%s", name);
    names[s->n_names] = strdup(full);
    if (!names[s->n_names])
        return PETSC_ERR_MEM;
    ++s->n_names;
    return PetscOptionsSetValue(NULL, full, value);
}

/* The same, unless the user has set it. */
static PetscErrorCode set_default(weft_foreign *s, const char *name, const char *value) {
    PetscBool is_set = PETSC_FALSE;
    char full[NAME_MOST];
    (void)snprintf(full, sizeof full, "-%s", name);
    CALL(PetscOptionsHasName(NULL, PREFIX, full, &is_set));
    return is_set ? 0 : set_option(s, name, value);
}

/* PETSc skips words that are neither names, with a hyphen, nor their values: the first of them; NULL: there is none. */
static const char *find_stray(const char *options) {
    int is_named = 0;
    for (const char *word = options + strspn(options, " \t\n"); *word && !strpbrk(options, "\"'");
         word += strcspn(word, " \t\n"), word += strspn(word, " \t\n")) {
        const int is_name = word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
        if (!is_name && !is_named)
            return word;
        is_named = is_name;
    }
    return NULL;
}

/* Nobody reads the database of the user's options itself, so that all of them are "left". */
static PetscErrorCode set_options(weft_foreign *s, const char *options) {
    PetscInt n = 0;
    char **names = NULL, **values = NULL;
    CALL(PetscOptionsCreate(&s->asked));
    CALL(PetscOptionsInsertString(s->asked, options));
    CALL(PetscOptionsLeftGet(s->asked, &n, &names, &values));
    for (PetscInt i = 0; i < n; ++i)
        CALL(set_option(s, names[i], values[i]));
    return PetscOptionsLeftRestore(s->asked, &n, &names, &values);
}

/* The Krylov method is Weft's own. */
static int is_of_krylov(const char *name) {
    return strncmp(name, "ksp_", 4) == 0 && strncmp(name, "ksp_view", 8) != 0;
}

/* Everything that was set up has asked for its options by now: the name of one that nobody asked for, or that does nothing; empty: none. */
static PetscErrorCode find_unused(const weft_foreign *s, char out[NAME_MOST]) {
    PetscInt n = 0;
    char **names = NULL, **values = NULL, full[NAME_MOST];
    out[0] = '\0';
    CALL(PetscOptionsLeftGet(s->asked, &n, &names, &values));
    for (PetscInt i = 0; i < n && !out[0]; ++i) {
        PetscBool is_used = PETSC_FALSE, is_used_by_all = PETSC_FALSE;
        (void)snprintf(full, sizeof full, PREFIX "%s", names[i]);
        CALL(PetscOptionsUsed(NULL, full, &is_used));
        CALL(PetscOptionsUsed(NULL, names[i], &is_used_by_all));
        if ((!is_used && !is_used_by_all) || is_of_krylov(names[i]))
            (void)snprintf(out, NAME_MOST, "%s", names[i]);
    }
    return PetscOptionsLeftRestore(s->asked, &n, &names, &values);
}

static weft_foreign_outcome check_options(weft_foreign *s, char *message) {
    char unused[NAME_MOST] = "";
    begin(s);
    const weft_foreign_outcome outcome = end(s, find_unused(s, unused), "list its options", message);
    if (outcome != WEFT_FOREIGN_OK || !unused[0])
        return outcome;
    (void)snprintf(message, WEFT_FOREIGN_MESSAGE,
                   is_of_krylov(unused)
                       ? "PETSc's option -%s does nothing: the Krylov method is Weft's own"
                       : "PETSc does not use the option -%s with this preconditioner",
                   unused);
    return WEFT_FOREIGN_USAGE;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* The entries of each row, in columns of this rank and in those of others. */
static PetscErrorCode reserve(weft_foreign *s, const weft_foreign_rows *rows) {
    PetscInt *own = calloc((size_t)rows->n, sizeof *own), *others = calloc((size_t)rows->n, sizeof *others);
    int longest = 0;
    PetscErrorCode code = own && others ? 0 : PETSC_ERR_MEM;
    for (int i = 0; i < rows->n && !code; ++i) {
        const int from = rows->row_start[rows->rows[i]], to = rows->row_start[rows->rows[i] + 1];
        for (int e = from; e < to; ++e) {
            const int64_t column = rows->numbers[rows->columns[e]] - rows->first;
            ++*(column >= 0 && column < rows->n ? &own[i] : &others[i]);
        }
        longest = to - from > longest ? to - from : longest;
    }
    if (!code)
        code = MatSeqAIJSetPreallocation(s->matrix, 0, own); /* of these two, PETSc takes the one that is meant */
    if (!code)
        code = MatMPIAIJSetPreallocation(s->matrix, 0, own, 0, others);
    free(own);
    free(others);
    s->columns = malloc((size_t)longest * sizeof *s->columns + 1);
    return code ? code : s->columns ? 0 : PETSC_ERR_MEM;
}

static PetscErrorCode fill(weft_foreign *s, const weft_foreign_rows *rows) {
    for (int i = 0; i < rows->n; ++i) {
        const int from = rows->row_start[rows->rows[i]], to = rows->row_start[rows->rows[i] + 1];
        const PetscInt row = s->first + i;
        for (int e = from; e < to; ++e)
            s->columns[e - from] = (PetscInt)rows->numbers[rows->columns[e]];
        CALL(MatSetValues(s->matrix, 1, &row, to - from, s->columns, rows->values + from, INSERT_VALUES));
    }
    CALL(MatAssemblyBegin(s->matrix, MAT_FINAL_ASSEMBLY));
    CALL(MatAssemblyEnd(s->matrix, MAT_FINAL_ASSEMBLY)); /* which forgets what follows */
    if (rows->is_general)
        return 0;
    CALL(MatSetOption(s->matrix, MAT_SYMMETRIC, PETSC_TRUE));
    return MatSetOption(s->matrix, MAT_SPD, PETSC_TRUE);
}

static PetscErrorCode make_vector(const weft_foreign *s, PetscInt n_whole, Vec *out) {
    return s->size == 1 ? VecCreateSeqWithArray(s->comm, 1, s->n, NULL, out)
                        : VecCreateMPIWithArray(s->comm, 1, s->n, n_whole, NULL, out);
}

static PetscErrorCode make_matrix(weft_foreign *s, const weft_foreign_rows *rows) {
    const PetscInt n_whole = (PetscInt)rows->n_whole;
    CALL(MatCreate(s->comm, &s->matrix));
    CALL(MatSetSizes(s->matrix, s->n, s->n, n_whole, n_whole));
    CALL(MatSetOptionsPrefix(s->matrix, PREFIX));
    CALL(MatSetType(s->matrix, MATAIJ));
    CALL(MatSetFromOptions(s->matrix));
    CALL(MatSetBlockSize(s->matrix, rows->components));
    CALL(reserve(s, rows));
    CALL(MatSetOption(s->matrix, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    if (rows->is_singular) {
        MatNullSpace constants = NULL;
        CALL(MatNullSpaceCreate(s->comm, PETSC_TRUE, 0, NULL, &constants));
        CALL(MatSetNullSpace(s->matrix, constants));
        CALL(MatNullSpaceDestroy(&constants));
    }
    CALL(make_vector(s, n_whole, &s->b));
    return make_vector(s, n_whole, &s->x);
}

/* ---- the solver ------------------------------------------------------------------------------ */

/* PETSc's factorizations without fill are those of one process: of several, each factorises its own block. */
static PetscErrorCode set_method(weft_foreign *s, const char *method) {
    const int is_factor = strcmp(method, PCILU) == 0 || strcmp(method, PCICC) == 0;
    if (s->size == 1 || !is_factor)
        return PCSetType(s->pc, method);
    CALL(set_default(s, "sub_pc_type", method));
    return PCSetType(s->pc, PCBJACOBI);
}

static PetscErrorCode make_solver(weft_foreign *s, const weft_foreign_rows *rows, const char *method,
                                  const char *options) {
    if (options)
        CALL(set_options(s, options));
    CALL(KSPCreate(s->comm, &s->ksp));
    CALL(KSPSetOptionsPrefix(s->ksp, PREFIX));
    CALL(KSPSetType(s->ksp, rows->is_general ? KSPGMRES : KSPCG));
    CALL(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
    if (rows->is_general)
        CALL(KSPSetPCSide(s->ksp, PC_RIGHT));
    CALL(KSPSetOperators(s->ksp, s->matrix, s->matrix));
    CALL(KSPGetPC(s->ksp, &s->pc));
    CALL(set_method(s, method));
    CALL(set_default(s, "pc_gamg_reuse_interpolation", "false"));
    if (!rows->is_general) /* CG wants M symmetric, which PETSc's own default is not */
        CALL(set_default(s, "pc_asm_type", "basic"));
    if (rows->is_singular)
        CALL(set_default(s, "mg_coarse_pc_type", "svd"));
    CALL(KSPSetFromOptions(s->ksp));
    if (rows->coordinates && rows->components == rows->dimension)
        CALL(PCSetCoordinates(s->pc, rows->dimension, s->n / rows->components,
                              (PetscReal *)(uintptr_t)rows->coordinates));
    return 0;
}

static PetscErrorCode set_up(weft_foreign *s, PCFailedReason *reason) {
    CALL(KSPSetOperators(s->ksp, s->matrix, s->matrix));
    CALL(KSPSetUp(s->ksp));
    CALL(KSPSetUpOnBlocks(s->ksp));
    CALL(KSPViewFromOptions(s->ksp, NULL, "-ksp_view"));
    return PCGetFailedReason(s->pc, reason);
}

static const char *explain(PCFailedReason reason) {
    return reason == PC_FACTOR_STRUCT_ZEROPIVOT || reason == PC_FACTOR_NUMERIC_ZEROPIVOT ? "a pivot is zero"
           : reason == PC_SUBPC_ERROR                                                    ? "a block of it has failed"
                                                                                         : PCFailedReasons[reason];
}

static weft_foreign_outcome update(weft_foreign *s, const weft_foreign_rows *rows, char *message) {
    PCFailedReason reason = PC_NOERROR;
    PCType type = NULL;
    begin(s);
    PetscErrorCode code = fill(s, rows);
    if (!code)
        code = set_up(s, &reason);
    const weft_foreign_outcome outcome = end(s, code, "set up the preconditioner", message);
    if (outcome != WEFT_FOREIGN_OK || reason == PC_NOERROR)
        return outcome;
    (void)PCGetType(s->pc, &type);
    if (reason == PC_FACTOR_OUTMEMORY)
        return WEFT_FOREIGN_MEMORY;
    (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "PETSc's preconditioner %s does not suit the matrix: %s",
                   type ? type : "", explain(reason));
    return WEFT_FOREIGN_INPUT;
}

static weft_foreign_outcome make(const weft_foreign_rows *rows, const char *method, const char *options,
                                 weft_foreign **out, char *message) {
    weft_foreign *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return WEFT_FOREIGN_MEMORY;
    s->n = rows->n;
    s->first = (PetscInt)rows->first;
    if (rows->n_whole > PETSC_MAX_INT) {
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "the matrix has more rows than this PETSc counts, whose integers have 32 bits");
        return WEFT_FOREIGN_UNSUPPORTED;
    }
    if (copy_comm(rows->comm, &s->comm) != MPI_SUCCESS) {
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "MPI does not copy a communicator");
        return WEFT_FOREIGN_FAILED;
    }
    s->has_comm = 1;
    (void)MPI_Comm_size(s->comm, &s->size);
    if (options && find_stray(options)) {
        const char *stray = find_stray(options);
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "\"%.*s\" is neither a name of PETSc's options nor a value of one",
                       (int)strcspn(stray, " \t\n"), stray);
        return WEFT_FOREIGN_USAGE;
    }
    begin(s);
    weft_foreign_outcome outcome = end(s, make_matrix(s, rows), "copy the matrix", message);
    if (outcome != WEFT_FOREIGN_OK)
        return outcome;
    begin(s);
    outcome = end(s, make_solver(s, rows, method, options), "make a solver", message);
    if (outcome == WEFT_FOREIGN_FAILED && options) /* of a value that is not one, as of a name */
        outcome = WEFT_FOREIGN_USAGE;
    if (outcome == WEFT_FOREIGN_OK)
        outcome = update(s, rows, message);
    return outcome == WEFT_FOREIGN_OK && options ? check_options(s, message) : outcome;
}

static PetscErrorCode apply_once(weft_foreign *s, const double *r, double *z) {
    CALL(VecPlaceArray(s->b, r));
    CALL(VecPlaceArray(s->x, z));
    CALL(PCApply(s->pc, s->b, s->x));
    CALL(VecResetArray(s->b));
    return VecResetArray(s->x);
}

static weft_foreign_outcome apply(weft_foreign *s, const double *r, double *z, char *message) {
    begin(s);
    return end(s, apply_once(s, r, z), "apply the preconditioner", message);
}

static PetscErrorCode solve_once(weft_foreign *s, const double *b, double *x, double tolerance,
                                 int max_iterations, int *iterations, int *converged) {
    PetscInt n = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    CALL(KSPSetTolerances(s->ksp, tolerance, 0, 1e30, max_iterations));
    CALL(VecPlaceArray(s->b, b));
    CALL(VecPlaceArray(s->x, x));
    CALL(KSPSolve(s->ksp, s->b, s->x));
    CALL(VecResetArray(s->b));
    CALL(VecResetArray(s->x));
    CALL(KSPGetIterationNumber(s->ksp, &n));
    CALL(KSPGetConvergedReason(s->ksp, &reason));
    *iterations = (int)n;
    *converged = reason > 0;
    return 0;
}

static weft_foreign_outcome solve(weft_foreign *s, const double *b, double *x, double tolerance,
                                  int max_iterations, int *iterations, int *converged, char *message) {
    begin(s);
    return end(s, solve_once(s, b, x, tolerance, max_iterations, iterations, converged), "solve", message);
}

/* What a block is solved by: of bjacobi and asm, the preconditioner of this rank's first block. */
static PC block_of(const weft_foreign *s) {
    PetscErrorCode (*find[])(PC, PetscInt *, PetscInt *, KSP **) = {PCBJacobiGetSubKSP, PCASMGetSubKSP};
    static const char *const types[] = {PCBJACOBI, PCASM};
    PC block = NULL;
    for (int i = 0; i < 2 && !block; ++i) {
        PetscBool is_it = PETSC_FALSE;
        PetscInt n = 0;
        KSP *solvers = NULL;
        (void)PetscObjectTypeCompare((PetscObject)s->pc, types[i], &is_it);
        if (is_it && !find[i](s->pc, &n, NULL, &solvers) && n > 0)
            (void)KSPGetPC(solvers[0], &block);
    }
    return block;
}

static void describe(const weft_foreign *s, char *out, int size) {
    PCType type = NULL, block_type = NULL;
    MatSolverType factors = NULL;
    PC block = block_of(s);
    (void)PCGetType(s->pc, &type);
    if (block)
        (void)PCGetType(block, &block_type);
    (void)PCFactorGetMatSolverType(block ? block : s->pc, &factors);
    const int is_petsc = !factors || strcmp(factors, MATSOLVERPETSC) == 0;
    (void)snprintf(out, (size_t)size, "PETSc %d.%d.%d, %s%s%s%s%s", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                   PETSC_VERSION_SUBMINOR, type ? type : "", block_type ? " with " : "", block_type ? block_type : "",
                   is_petsc ? "" : " of ", is_petsc ? "" : factors);
}

static void solver_free(weft_foreign *s) {
    int is_stopped = 0;
    (void)MPI_Finalized(&is_stopped);
    if (!is_stopped) {
        (void)KSPDestroy(&s->ksp);
        (void)VecDestroy(&s->b);
        (void)VecDestroy(&s->x);
        (void)MatDestroy(&s->matrix);
        for (int i = 0; i < s->n_names; ++i)
            (void)PetscOptionsClearValue(NULL, s->names[i]);
        (void)PetscOptionsDestroy(&s->asked);
    }
    if (s->has_comm && !is_stopped)
        (void)MPI_Comm_free(&s->comm);
    for (int i = 0; i < s->n_names; ++i)
        free(s->names[i]);
    free(s->names);
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
