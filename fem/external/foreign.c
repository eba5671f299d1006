/* PETSc and hypre: preconditioners on the rows of one or several ranks, reached by plug-ins against their headers.
 *
 * Decision  docs/decisions/0068-plug-ins-are-compiled-against-headers.md */
#include "fem/external/plugin.h"

#include "core/comm/comm.h"
#include "kernels/plugins/foreign_plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct foreign_state {
    const weft_external_library *library;
    weft_plugin *plugin; /* NULL: it stays until the process ends */
    weft_foreign_plugin calls;
    weft_foreign *solver;
    weft_foreign_rows rows;
    int64_t *numbers; /* [rows of the system]; NULL: it has them */
} foreign_state;

/* ---- messages -------------------------------------------------------------------------------- */

static void hint_at(const weft_external_library *library, weft_foreign_outcome outcome,
                    weft_error *error) {
    const bool has_options = library == &weft_external_petsc;
    if (outcome == WEFT_FOREIGN_USAGE && has_options)
        weft_error_hint(error, "--petsc-options has PETSc's options of a PC, as \"-pc_type bjacobi "
                               "-sub_pc_type ilu\"; \"-help\" among them lists them");
    else if (outcome == WEFT_FOREIGN_INPUT)
        weft_error_hint(error, "use another preconditioner%s",
                        has_options ? ", or other --petsc-options" : "");
}

static weft_status report(const weft_external_library *library, weft_foreign_outcome outcome,
                          const char *message, weft_error *error) {
    static const weft_status statuses[] = {
        [WEFT_FOREIGN_OK] = WEFT_OK,
        [WEFT_FOREIGN_MEMORY] = WEFT_ERROR_MEMORY,
        [WEFT_FOREIGN_UNSUPPORTED] = WEFT_ERROR_UNSUPPORTED,
        [WEFT_FOREIGN_USAGE] = WEFT_ERROR_USAGE,
        [WEFT_FOREIGN_INPUT] = WEFT_ERROR_INPUT,
        [WEFT_FOREIGN_FAILED] = WEFT_ERROR_INTERNAL,
    };
    if (outcome == WEFT_FOREIGN_OK)
        return WEFT_OK;
    if (outcome == WEFT_FOREIGN_MEMORY)
        return weft_out_of_memory(error, library->title);
    weft_error_set(error, statuses[outcome], "%s", message);
    hint_at(library, outcome, error);
    return statuses[outcome];
}

/* ---- start ----------------------------------------------------------------------------------- */

/* A plug-in that MPI calls when it ends, and that ends MPI with the process if it has started it. */
typedef struct kept_plugin {
    weft_plugin *plugin;
    weft_foreign_plugin calls;
} kept_plugin;

static void stop(int exit_code, void *user) {
    (void)exit_code;
    const kept_plugin *kept = user;
    kept->calls.stop();
}

static weft_status keep(foreign_state *s, weft_error *error) {
    weft_status status = WEFT_OK;
    kept_plugin *kept = malloc(sizeof *kept);
    if (!kept)
        TRY(weft_out_of_memory(error, s->library->title));
    *kept = (kept_plugin){s->plugin, s->calls};
    if (on_exit(stop, kept) != 0)
        TRY(weft_out_of_memory(error, s->library->title));
    s->plugin = NULL; /* unloaded by nobody */
    kept = NULL;
done:
    free(kept);
    return status;
}

/* Libraries change the actions of signals when they start. */
static weft_status start(foreign_state *s, void *library, const weft_external_system *system,
                         const char *options, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_external_signals *signals = NULL;
    char message[WEFT_FOREIGN_MESSAGE] = "";
    int stays = 0;
    void *found = NULL;
    TRY(weft_external_functions(library, s->library->title, &s->library->function, 1, &found,
                                error));
    TRY(weft_plugin_make(s->library, library, &s->calls, &s->plugin, error));
    TRY(weft_external_signals_keep(&signals, error));
    const weft_foreign_outcome outcome =
        s->calls.start(library, dlsym, weft_comm_mpi(system->comm), options, &stays, message);
    if (stays)
        TRY(keep(s, error));
    status = report(s->library, outcome, message, error);
    if (outcome == WEFT_FOREIGN_UNSUPPORTED)
        weft_external_hint_mpi(s->library, error);
done:
    weft_external_signals_restore(&signals);
    return status;
}

/* ---- the solver ------------------------------------------------------------------------------ */

static weft_status describe_rows(foreign_state *s, const weft_external_system *system,
                                 weft_error *error) {
    if (!system->numbers) { /* this rank is alone */
        s->numbers = weft_array_make((size_t)system->n, sizeof *s->numbers);
        if (!s->numbers)
            return weft_out_of_memory(error, s->library->title);
        for (int i = 0; i < system->n; ++i)
            s->numbers[i] = i;
    }
    s->rows = (weft_foreign_rows){.comm = weft_comm_mpi(system->comm),
                                  .n = system->n_own,
                                  .first = system->first,
                                  .n_whole = system->n_whole,
                                  .rows = system->own,
                                  .row_start = system->row_start,
                                  .columns = system->columns,
                                  .numbers = system->numbers ? system->numbers : s->numbers,
                                  .values = system->values,
                                  .components = system->components,
                                  .dimension = system->dimension,
                                  .coordinates = system->coordinates,
                                  .is_singular = system->is_singular,
                                  .is_general = system->is_general};
    return WEFT_OK;
}

static weft_status make(const weft_external_library *of, void *library,
                        const weft_external_options *options, const weft_external_system *system,
                        void **state, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    char message[WEFT_FOREIGN_MESSAGE] = "";
    foreign_state *s = calloc(1, sizeof *s);
    if (!s)
        TRY(weft_out_of_memory(error, of->title));
    *state = s;
    s->library = of;
    TRY(start(s, library, system, options->settings, error));
    TRY(describe_rows(s, system, error));
    TRY(report(of, s->calls.make(&s->rows, options->method, options->settings, &s->solver, message),
               message, error));
    s->calls.describe(s->solver, description, 128);
done:
    return status;
}

static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    (void)system; /* whose values the rows refer to */
    foreign_state *s = state;
    char message[WEFT_FOREIGN_MESSAGE] = "";
    return report(s->library, s->calls.update(s->solver, &s->rows, message), message, error);
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    foreign_state *s = state;
    char message[WEFT_FOREIGN_MESSAGE] = "";
    return report(s->library, s->calls.apply(s->solver, r, z, message), message, error);
}

static weft_status solve(void *state, const double *b, double *x, double tolerance,
                         int max_iterations, weft_external_result *result, weft_error *error) {
    foreign_state *s = state;
    char message[WEFT_FOREIGN_MESSAGE] = "";
    int converged = 0;
    const weft_foreign_outcome outcome = s->calls.solve(s->solver, b, x, tolerance, max_iterations,
                                                        &result->iterations, &converged, message);
    result->converged = converged;
    return report(s->library, outcome, message, error);
}

static void state_free(void *state) {
    foreign_state *s = state;
    if (s->solver)
        s->calls.free(s->solver);
    weft_plugin_free(&s->plugin);
    free(s->numbers);
    free(s);
}

/* ---- the libraries --------------------------------------------------------------------------- */

static const char *const petsc_methods[] = {"gamg", "icc", "ilu", NULL};
/* Debian's and Ubuntu's with real numbers, a build of the user's own, and Debian's with indices of 64 bits. */
static const char *const petsc_names[] = {"libpetsc_real.so", "libpetsc.so", "libpetsc64_real.so",
                                          NULL};
static const char *const petsc_headers[] = {"petscksp.h", "petscconf.h", "petscversion.h", NULL};

const weft_external_library weft_external_petsc = {
    .info = {.name = "petsc",
             .help = "GAMG, or ILU for nonsymmetric matrices, of the library PETSc",
             .variable = "WEFT_PETSC",
             .package = "libpetsc-real-dev in Debian and Ubuntu",
             .methods = petsc_methods,
             .takes_general = true,
             .takes_ranks = true,
             .general_method = "ilu"},
    .title = "PETSc",
    .names = petsc_names,
    .roots = {"PETSC_DIR", "PETSC_ARCH"},
    .headers = petsc_headers,
    .function = "PetscGetVersionNumber",
    .make = make,
    .update = update,
    .apply = apply,
    .solve = solve,
    .free = state_free,
};

static const char *const hypre_methods[] = {"boomeramg", NULL};
static const char *const hypre_names[] = {"libHYPRE.so", "libHYPRE64.so", NULL};
static const char *const hypre_headers[] = {"HYPRE_parcsr_ls.h", "HYPRE_config.h", NULL};

const weft_external_library weft_external_hypre = {
    .info = {.name = "hypre",
             .help = "BoomerAMG of the library hypre",
             .variable = "WEFT_HYPRE",
             .package = "libhypre-dev in Debian and Ubuntu",
             .methods = hypre_methods,
             .takes_general = true,
             .takes_ranks = true},
    .title = "hypre",
    .names = hypre_names,
    .roots = {"HYPRE_DIR", NULL},
    .headers = hypre_headers,
    .function = "HYPRE_VersionNumber",
    .make = make,
    .update = update,
    .apply = apply,
    .solve = solve,
    .free = state_free,
};
