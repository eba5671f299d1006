/* cuDSS: a sparse factorization on an NVIDIA GPU as a direct solver, L U, or L D L^T of a symmetric matrix. */
#include "fem/external/plugin.h"

#include "kernels/plugins/cudss_plugin.h"

#include "core/base/number.h"
#include "fem/base/memory.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef struct cudss_state {
    void *library;
    weft_plugin *plugin;
    weft_cudss_plugin cudss;
    weft_cudss_solver *solver;
    weft_device *device;
    weft_memory *row_start, *columns, *values, *b, *x;
    int *entries;  /* [n_entries] of the system's; NULL: all of them */
    double *upper; /* [n_entries] their values */
    int n_entries; /* that cuDSS gets */
    bool matches;  /* rows are permuted by size, where pivots would be too small otherwise */
    bool is_analysed;
    char *description; /* of the caller, [128]; its beginning is the version */
    int version[3];
} cudss_state;

/* A call of the plug-in, with the device's context. */
typedef struct cudss_call {
    cudss_state *state;
    enum { MAKE, FACTORISE, SOLVE, REPORT, FREE } what;
    weft_cudss_system system;
    weft_cudss_report report;
    weft_cudss_outcome outcome;
} cudss_call;

static void do_call(void *user, void *stream) {
    cudss_call *call = user;
    cudss_state *s = call->state;
    call->system.stream = stream;
    switch (call->what) {
    case MAKE:
        call->outcome = s->cudss.make(s->library, dlsym, &call->system, &s->solver);
        break;
    case FACTORISE:
        call->outcome = s->cudss.factorise(s->solver, !s->is_analysed || s->matches, s->matches);
        break;
    case SOLVE:
        call->outcome = s->cudss.solve(s->solver);
        break;
    case REPORT:
        s->cudss.report(s->solver, &call->report);
        break;
    case FREE:
        s->cudss.free(s->solver);
        s->solver = NULL;
    }
}

/* The message of what failed. */
static weft_status check(cudss_state *s, weft_cudss_outcome outcome,
                         const weft_external_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_call report = {s, REPORT, {0}, {0}, WEFT_CUDSS_OK};
    if (outcome == WEFT_CUDSS_OK)
        goto done;
    if (outcome == WEFT_CUDSS_SINGULAR)
        TRY(weft_external_refuse_singular("cuDSS", error));
    if (outcome == WEFT_CUDSS_MEMORY)
        TRY(weft_external_refuse_memory("cuDSS", system, error));
    if (s->solver)
        TRY(weft_device_lend(s->device, do_call, &report, error));
    TRY(weft_external_ended("cuDSS", report.report.code, error));
done:
    return status;
}

static weft_status start(void *library, void *state, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_state *s = state;
    s->library = library;
    s->description = description;
    TRY(weft_plugin_make(&weft_external_cudss, library, &s->cudss, &s->plugin, error));
    if (!s->cudss.version(library, dlsym, s->version))
        TRY(weft_external_unknown_version(&weft_external_cudss, s->version[0], s->version[1],
                                          error));
done:
    return status;
}

/* The entries of the upper triangle, which is what cuDSS takes of a symmetric matrix. */
static weft_status keep_upper(cudss_state *s, const weft_external_system *system, int *row_start,
                              int *columns, weft_error *error) {
    const size_t n_entries = (size_t)system->row_start[system->n];
    s->entries = weft_array_make(n_entries, sizeof *s->entries);
    s->upper = weft_array_make(n_entries, sizeof *s->upper);
    if (!s->entries || !s->upper)
        return weft_out_of_memory(error, "cuDSS");
    s->n_entries = 0;
    for (int i = 0; i < system->n; ++i) {
        for (int e = system->row_start[i]; e < system->row_start[i + 1]; ++e)
            if (system->columns[e] >= i) {
                columns[s->n_entries] = system->columns[e];
                s->entries[s->n_entries++] = e;
            }
        row_start[i + 1] = s->n_entries;
    }
    return WEFT_OK;
}

static void matrix_free(cudss_state *s) {
    cudss_call call = {s, FREE, {0}, {0}, WEFT_CUDSS_OK};
    if (s->solver)
        (void)weft_device_lend(s->device, do_call, &call, NULL);
    weft_memory_free(&s->row_start);
    weft_memory_free(&s->columns);
    weft_memory_free(&s->values);
    free(s->entries);
    free(s->upper);
    s->entries = NULL;
    s->upper = NULL;
    s->is_analysed = false;
}

/* The pattern on the device, and cuDSS's objects for it. */
static weft_status matrix_make(cudss_state *s, const weft_external_system *system,
                               bool is_symmetric, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)system->n, most = (size_t)system->row_start[n];
    int *row_start = NULL, *columns = NULL;
    cudss_call call = {s, MAKE, {.n = system->n, .is_symmetric = is_symmetric}, {0}, WEFT_CUDSS_OK};
    s->n_entries = system->row_start[n];
    if (is_symmetric) {
        row_start = weft_array_make(n + 1, sizeof *row_start);
        columns = weft_array_make(most, sizeof *columns);
        if (!row_start || !columns)
            TRY(weft_out_of_memory(error, "cuDSS"));
        row_start[0] = 0;
        TRY(keep_upper(s, system, row_start, columns, error));
    }
    TRY(weft_memory_place(s->device, row_start ? row_start : system->row_start, n + 1,
                          sizeof *row_start, &s->row_start, error));
    TRY(weft_memory_place(s->device, columns ? columns : system->columns, (size_t)s->n_entries,
                          sizeof *columns, &s->columns, error));
    TRY(weft_memory_make(s->device, (size_t)s->n_entries * sizeof(double), &s->values, error));
    call.system.n_entries = s->n_entries;
    call.system.row_start = weft_memory_address(s->row_start);
    call.system.columns = weft_memory_address(s->columns);
    call.system.values = weft_memory_address(s->values);
    call.system.b = weft_memory_address(s->b);
    call.system.x = weft_memory_address(s->x);
    TRY(weft_device_lend(s->device, do_call, &call, error));
    TRY(check(s, call.outcome, system, error));
done:
    free(row_start);
    free(columns);
    return status;
}

static weft_status place(void *state, const weft_external_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_state *s = state;
    const size_t bytes = (size_t)system->n * sizeof(double);
    s->device = system->device;
    TRY(weft_memory_make(s->device, bytes, &s->b, error));
    TRY(weft_memory_make(s->device, bytes, &s->x, error));
    TRY(matrix_make(s, system, system->is_symmetric, error));
done:
    return status;
}

/* Factorise the values of the system.
 * again  whether a pivot is too small without a permutation of the rows */
static weft_status factorise(cudss_state *s, const weft_external_system *system, bool *again,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_call call = {s, FACTORISE, {0}, {0}, WEFT_CUDSS_OK};
    for (int e = 0; s->entries && e < s->n_entries; ++e)
        s->upper[e] = system->values[s->entries[e]];
    TRY(weft_memory_write(s->values, 0, s->entries ? s->upper : system->values,
                          (size_t)s->n_entries * sizeof(double), error));
    TRY(weft_device_lend(s->device, do_call, &call, error));
    s->is_analysed = call.outcome == WEFT_CUDSS_OK;
    cudss_call report = {s, REPORT, {0}, {0}, WEFT_CUDSS_OK};
    if (s->is_analysed)
        TRY(weft_device_lend(s->device, do_call, &report, error));
    *again = !s->matches && (call.outcome == WEFT_CUDSS_SINGULAR || report.report.n_perturbed > 0);
    if (!*again)
        TRY(check(s, call.outcome, system, error));
    (void)weft_print(s->description, 128,
                     "cuDSS %d.%d.%d, %s%s, %.3g MB of factors, %.3g MB in all", s->version[0],
                     s->version[1], s->version[2], s->entries ? "L D L^T" : "L U",
                     s->matches ? " with rows matched" : "", 8e-6 * (double)report.report.n_factors,
                     1e-6 * (double)report.report.device_bytes);
done:
    return status;
}

/* Pivots are chosen near the diagonal, where those of a saddle point may vanish: its rows are then permuted, by size, and
 * are from then on. */
static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_state *s = state;
    bool again = false;
    TRY(factorise(s, system, &again, error));
    if (again) {
        matrix_free(s);
        s->matches = true;
        TRY(matrix_make(s, system, false, error));
        TRY(factorise(s, system, &again, error));
    }
done:
    return status;
}

static weft_status run(void *state, weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_state *s = state;
    cudss_call call = {s, SOLVE, {0}, {0}, WEFT_CUDSS_OK};
    TRY(weft_device_lend(s->device, do_call, &call, error));
    if (call.outcome != WEFT_CUDSS_OK)
        TRY(weft_external_ended("cuDSS", (int)call.outcome, error));
done:
    return status;
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    weft_status status = WEFT_OK;
    cudss_state *s = state;
    const size_t bytes = weft_memory_bytes(s->b);
    TRY(weft_memory_write(s->b, 0, r, bytes, error));
    TRY(run(s, error));
    TRY(weft_memory_read(s->x, 0, z, bytes, error));
done:
    return status;
}

static void lists(const void *state, weft_memory **b, weft_memory **x) {
    const cudss_state *s = state;
    *b = s->b;
    *x = s->x;
}

static void state_free(void *state) {
    cudss_state *s = state;
    matrix_free(s);
    weft_memory_free(&s->b);
    weft_memory_free(&s->x);
    weft_plugin_free(&s->plugin);
    free(s);
}

static const char *const methods[] = {"lu", NULL};
static const char *const names[] = {"libcudss.so.1", "libcudss.so.0", NULL};
static const char *const folders[] = {"cu13", "cu12", NULL};

const weft_external_library weft_external_cudss = {
    .info = {.name = "cudss",
             .help = "LU factorization of the library cuDSS, on a GPU",
             .variable = "WEFT_CUDSS",
             .package = "pip install nvidia-cudss-cu13, or -cu12 with a driver for CUDA 12",
             .methods = methods,
             .is_direct = true,
             .takes_general = true,
             .takes_indefinite = true,
             .on_gpu = true},
    .title = "cuDSS",
    .names = names,
    .wheels = folders,
    .state_bytes = sizeof(cudss_state),
    .start = start,
    .place = place,
    .update = update,
    .apply = apply,
    .lists = lists,
    .run = run,
    .free = state_free,
};
