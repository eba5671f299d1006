/* Opens shared libraries, looks up their functions, and restores the signal handlers that they replace. */
#include "fem/external/private.h"

#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

static weft_status missing(const weft_external_library *library, const char *reason,
                           weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s is not found: %s", library->title, reason);
    weft_error_hint(error, "install it (%s), or set %s to a library", library->info.package,
                    library->info.variable);
    return WEFT_ERROR_UNSUPPORTED;
}

static const char *why(void) {
    const char *reason = dlerror();
    return reason ? reason : "it cannot be opened";
}

/* Open the first of the names in FOLDER/lib; NULL: there is none. */
static void *open_below(const weft_external_library *library, const char *folder) {
    char path[1024];
    void *handle = NULL;
    for (int i = 0; library->names[i] && !handle; ++i) {
        const int length = snprintf(path, sizeof path, "%s/lib/%s", folder, library->names[i]);
        if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0)
            handle = dlopen(path, FLAGS);
    }
    return handle;
}

/* Open it in one of Python's folders, those of an environment that is active first. */
static void *open_in_wheels(const weft_external_library *library) {
    static const struct {
        const char *variable, *below; /* NULL: none */
    } places[] = {{"VIRTUAL_ENV", "/lib/python3*/site-packages"},
                  {"CONDA_PREFIX", "/lib/python3*/site-packages"},
                  {"HOME", "/.local/lib/python3*/site-packages"},
                  {NULL, "/usr/local/lib/python3*/dist-packages"},
                  {NULL, "/usr/local/lib/python3*/site-packages"},
                  {NULL, "/usr/lib/python3*/site-packages"}};
    void *handle = NULL;
    for (int k = 0; library->wheels && library->wheels[k]; ++k)
        for (size_t i = 0; i < sizeof places / sizeof places[0] && !handle; ++i) {
            const char *root = places[i].variable ? getenv(places[i].variable) : "";
            char pattern[1024];
            glob_t found = {0};
            if (!root || (places[i].variable && !root[0]))
                continue;
            snprintf(pattern, sizeof pattern, "%s%s/nvidia/%s", root, places[i].below,
                     library->wheels[k]);
            if (glob(pattern, 0, NULL, &found) == 0)
                for (size_t j = found.gl_pathc; j > 0 && !handle; --j) /* the newest Python first */
                    handle = open_below(library, found.gl_pathv[j - 1]);
            globfree(&found);
        }
    return handle;
}

/* Open it where its own variables of the environment say: PETSC_DIR, with PETSC_ARCH in it or not. */
static void *open_in_root(const weft_external_library *library) {
    const char *root = library->roots[0] ? getenv(library->roots[0]) : NULL;
    const char *part = library->roots[1] ? getenv(library->roots[1]) : NULL;
    char folder[512];
    void *handle = NULL;
    if (!root || !root[0] || strlen(root) + (part ? strlen(part) : 0) + 2 > sizeof folder)
        return NULL;
    (void)snprintf(folder, sizeof folder, "%s/%s", root, part ? part : "");
    handle = open_below(library, folder);
    return handle ? handle : open_below(library, root);
}

/* What the user has chosen: a library, or a folder with lib/. */
static weft_status open_chosen(const weft_external_library *library, const char *chosen, void **out,
                               weft_error *error) {
    void *handle = open_below(library, chosen);
    if (!handle)
        handle = dlopen(chosen, FLAGS);
    if (!handle)
        return missing(library, why(), error);
    *out = handle;
    return WEFT_OK;
}

static weft_status open_library(const weft_external_library *library, const char *name, void **out,
                                weft_error *error) {
    const char *chosen = name ? name : getenv(library->info.variable);
    if (chosen && chosen[0])
        return open_chosen(library, chosen, out, error);
    char reason[512] = "";
    void *handle = open_in_root(library);
    for (int i = 0; library->names[i] && !handle; ++i) {
        handle = dlopen(library->names[i], FLAGS);
        if (handle)
            break;
        /* A library that is there, but lacks one of its own, says more than those that are not. */
        const char *message = why();
        bool is_absent = strncmp(message, library->names[i], strlen(library->names[i])) == 0;
        if (!reason[0] || !is_absent)
            snprintf(reason, sizeof reason, "%s", message);
    }
    *out = handle ? handle : open_in_wheels(library);
    return *out ? WEFT_OK : missing(library, reason, error);
}

weft_status weft_external_functions(void *library, const char *title, const char *const *names,
                                    int n, void *functions, weft_error *error) {
    for (int i = 0; i < n; ++i) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "this %s is not known: it has no function %s", title, names[i]);
        memcpy((char *)functions + (size_t)i * sizeof symbol, &symbol, sizeof symbol);
    }
    return WEFT_OK;
}

weft_status weft_external_unknown_version(const weft_external_library *library, int major,
                                          int minor, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "this version of %s is not known: %d.%d",
                   library->title, major, minor);
    weft_error_hint(error, "set %s to the library of another version (%s)", library->info.variable,
                    library->info.package);
    return WEFT_ERROR_UNSUPPORTED;
}

void weft_external_hint_mpi(const weft_external_library *library, weft_error *error) {
    weft_error_hint(error,
                    "%s, mpicc and mpirun must be of one MPI: set WEFT_MPICC to its mpicc, or %s "
                    "to another %s",
                    library->title, library->info.variable, library->title);
}

weft_status weft_external_refuse_singular(const char *title, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "the matrix is singular, as %s found", title);
    weft_error_hint(error, "fix u in more places, or look for coefficients that are 0");
    return WEFT_ERROR_INPUT;
}

weft_status weft_external_refuse_memory(const char *title, const weft_external_system *system,
                                        weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY,
                   "%s has not enough memory for the factors of a matrix of %d rows and %d entries",
                   title, system->n, system->row_start[system->n]);
    weft_error_hint(error, "use another preconditioner, or a coarser mesh");
    return WEFT_ERROR_MEMORY;
}

struct weft_external_signals {
    struct sigaction action[NSIG];
    bool is_known[NSIG];
};

weft_status weft_external_signals_keep(weft_external_signals **out, weft_error *error) {
    weft_external_signals *signals = calloc(1, sizeof *signals);
    if (!signals)
        return weft_out_of_memory(error, "signal actions");
    for (int i = 1; i < NSIG; ++i)
        signals->is_known[i] = sigaction(i, NULL, &signals->action[i]) == 0;
    *out = signals;
    return WEFT_OK;
}

void weft_external_signals_restore(weft_external_signals **signals) {
    if (!*signals)
        return;
    for (int i = 1; i < NSIG; ++i)
        if ((*signals)->is_known[i])
            sigaction(i, &(*signals)->action[i], NULL);
    free(*signals);
    *signals = NULL;
}

/* Constructors set handlers, too: those of UCX, which Open MPI loads in Debian 13. */
weft_status weft_external_library_open(const weft_external_library *library, const char *name,
                                       void **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_external_signals *signals = NULL;
    TRY(weft_external_signals_keep(&signals, error));
    status = open_library(library, name, out, error);
done:
    weft_external_signals_restore(&signals);
    return status;
}
