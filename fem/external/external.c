/* Makes, updates, applies and frees solvers of other libraries, whichever it is. */
#include "fem/external/external.h"

#include "fem/external/private.h"

#include "core/comm/comm.h"
#include "fem/base/memory.h"
#include "fem/sparse/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const weft_external_library *const libraries[] = {
    [WEFT_EXTERNAL_HYPRE] = &weft_external_hypre,
    [WEFT_EXTERNAL_PETSC] = &weft_external_petsc,
    [WEFT_EXTERNAL_CHOLMOD] = &weft_external_cholmod,
    [WEFT_EXTERNAL_UMFPACK] = &weft_external_umfpack,
    [WEFT_EXTERNAL_MUMPS] = &weft_external_mumps,
    [WEFT_EXTERNAL_CUDSS] = &weft_external_cudss,
};
enum { N_KINDS = sizeof libraries / sizeof libraries[0] };

struct weft_external {
    const weft_external_library *library;
    const weft_pattern *pattern;
    void *state;
    weft_external_system system;
    double *in, *out; /* [system.n] */
    weft_lists
        *kernels; /* of a kind on a GPU, with the dofs of rows, and the rows of dofs; -1: none */
    weft_memory *dofs, *rows;
    char description[128];
};

int weft_external_count(void) {
    return N_KINDS;
}

const weft_external_info *weft_external_about(weft_external_kind kind) {
    return &libraries[kind]->info;
}

weft_status weft_external_find(const char *name, weft_external_kind *out, weft_error *error) {
    for (int i = 0; i < N_KINDS; ++i)
        if (strcmp(name, libraries[i]->info.name) == 0) {
            *out = (weft_external_kind)i;
            return WEFT_OK;
        }
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no library \"%s\"", name);
    weft_error_hint(error, "choose hypre, petsc, cholmod, umfpack, mumps or cudss");
    return WEFT_ERROR_USAGE;
}

bool weft_external_is_found(weft_external_kind kind) {
    void *handle = NULL;
    return weft_external_library_open(libraries[kind], NULL, &handle, NULL) == WEFT_OK;
}

static weft_status method_find(const weft_external_info *info, const char *name, const char **out,
                               weft_error *error) {
    weft_text list = {0};
    for (int i = 0; info->methods[i]; ++i) {
        if (!name || strcmp(name, info->methods[i]) == 0) {
            *out = info->methods[i];
            weft_text_free(&list);
            return WEFT_OK;
        }
        weft_text_add(&list, "%s%s", i ? ", " : "", info->methods[i]);
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "%s has no method \"%s\"", info->name, name);
    weft_error_hint(error, "choose one of: %s", list.data ? list.data : "");
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}

static weft_status check_singular(const weft_external_info *info,
                                  const weft_external_matrix *matrix, weft_error *error) {
    if (!matrix->is_singular || matrix->components <= 1)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s cannot be used for a singular matrix of several components: no value is "
                   "prescribed anywhere",
                   info->name);
    weft_error_hint(error, "prescribe a value somewhere, or use another solver");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status check_ranks(const weft_external_info *info, const weft_external_matrix *matrix,
                               weft_error *error) {
    weft_comm *comm = matrix->layout ? weft_layout_comm(matrix->layout) : NULL;
    if (weft_comm_size(comm) == 1 || (info->takes_ranks && weft_comm_mpi(comm)))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   info->takes_ranks ? "%s works on the rows of ranks that are processes of MPI, "
                                       "not threads"
                                     : "%s works in one process",
                   info->name);
    weft_error_hint(error, info->takes_ranks ? "start it by mpirun -n N instead of --ranks N"
                                             : "use multigrid, aggregation, hypre or petsc");
    return WEFT_ERROR_UNSUPPORTED;
}

/* Condition numbers of matrices with scaled rows and columns above which a factorization has hardly a correct digit. */
static const double CONDITION_MOST = 1e13;

/* The sums of rows without signs, and the greatest entries of columns, relative to those of their rows.
 * sums, greatest  [n] */
static void measure_entries(const weft_external_system *system, double *sums, double *greatest) {
    memset(greatest, 0, (size_t)system->n * sizeof *greatest);
    for (int i = 0; i < system->n; ++i) {
        const int first = system->row_start[i], last = system->row_start[i + 1];
        sums[i] = 0;
        for (int e = first; e < last; ++e)
            sums[i] += fabs(system->values[e]);
        for (int e = first; e < last && sums[i] > 0; ++e) {
            double *const of = &greatest[system->columns[e]];
            *of = fmax(*of, fabs(system->values[e]) / sums[i]);
        }
    }
}

/* Solve for a pseudorandom right-hand side: a matrix that is singular up to rounding has a solution that is large. Units
 * of equations and unknowns do not matter. */
static weft_status check_condition(weft_external *solver, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_system *system = &solver->system;
    double *greatest = NULL, condition = 0;
    uint64_t seed = 1;
    if (!solver->library->info.takes_indefinite)
        goto done;
    greatest = weft_array_make((size_t)system->n, sizeof *greatest);
    if (!greatest)
        TRY(weft_out_of_memory(error, solver->library->title));
    measure_entries(system, solver->in, greatest);
    for (int i = 0; i < system->n; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        solver->in[i] *= (double)(seed >> 40) * 0x1p-23 - 1;
    }
    TRY(solver->library->apply(solver->state, solver->in, solver->out, error));
    for (int i = 0; i < system->n; ++i) {
        const double size = fabs(solver->out[i]) * greatest[i];
        condition = size <= condition ? condition : size; /* NaN stays */
    }
    if (!(condition <= CONDITION_MOST))
        TRY(weft_external_refuse_singular(solver->library->title, error));
done:
    free(greatest);
    return status;
}

weft_status weft_external_ended(const char *title, int code, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_INTERNAL, "%s ended with status %d", title, code);
}

/* A direct solver, with its first factors. */
static weft_status make_direct(weft_external *solver, void *library, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_library *of = solver->library;
    solver->state = calloc(1, of->state_bytes);
    if (!solver->state)
        TRY(weft_out_of_memory(error, of->title));
    TRY(of->start(library, solver->state, solver->description, error));
    TRY(of->place(solver->state, &solver->system, error));
    TRY(of->update(solver->state, &solver->system, error));
done:
    return status;
}

/* What takes vectors on the device to the rows of the system, and back. */
static weft_status make_lists(weft_external *solver, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_system *system = &solver->system;
    const size_t n = (size_t)system->n, n_dofs = (size_t)solver->pattern->n_rows;
    int32_t *dofs = weft_array_make(n, sizeof *dofs), *rows = weft_array_make(n_dofs, sizeof *rows);
    if (!dofs || !rows)
        TRY(weft_out_of_memory(error, solver->library->title));
    for (size_t dof = 0; dof < n_dofs; ++dof)
        rows[dof] = -1;
    for (size_t i = 0; i < n; ++i) {
        dofs[i] = system->is_alone[i] ? -1 : system->dofs[i];
        if (dofs[i] >= 0)
            rows[dofs[i]] = (int32_t)i;
    }
    TRY(weft_lists_make(system->device, &solver->kernels, error));
    TRY(weft_memory_place(system->device, dofs, n, sizeof *dofs, &solver->dofs, error));
    TRY(weft_memory_place(system->device, rows, n_dofs, sizeof *rows, &solver->rows, error));
done:
    free(dofs);
    free(rows);
    return status;
}

weft_status weft_external_make(weft_external_kind kind, const weft_external_matrix *matrix,
                               const weft_external_options *options, weft_external **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_library *library = libraries[kind];
    weft_external_options given = options ? *options : (weft_external_options){.library = NULL};
    void *handle = NULL;
    weft_external *solver = calloc(1, sizeof *solver);
    if (!solver)
        TRY(weft_out_of_memory(error, library->title));
    solver->library = library;
    solver->pattern = matrix->pattern;
    if (!given.method && matrix->is_general && library->info.takes_general)
        given.method = library->info.general_method;
    TRY(method_find(&library->info, given.method, &given.method, error));
    TRY(check_singular(&library->info, matrix, error));
    TRY(check_ranks(&library->info, matrix, error));
    TRY(weft_external_library_open(library, given.library, &handle, error));
    TRY(weft_external_system_make(matrix, &library->info, &solver->system, error));
    solver->system.device = given.device;
    solver->in = weft_array_make((size_t)solver->system.n, sizeof *solver->in);
    solver->out = weft_array_make((size_t)solver->system.n, sizeof *solver->out);
    if (!solver->in || !solver->out) {
        status = weft_out_of_memory(error, library->title);
        goto done;
    }
    TRY(library->make ? library->make(library, handle, &given, &solver->system, &solver->state,
                                      solver->description, error)
                      : make_direct(solver, handle, error));
    TRY(check_condition(solver, error));
    if (library->info.on_gpu)
        TRY(make_lists(solver, error));
    *out = solver;
    solver = NULL;
done:
    weft_external_free(&solver);
    return status;
}

void weft_external_free(weft_external **solver) {
    weft_external *s = *solver;
    if (!s)
        return;
    if (s->state)
        s->library->free(s->state);
    weft_external_system_free(&s->system);
    weft_lists_free(&s->kernels);
    weft_memory_free(&s->dofs);
    weft_memory_free(&s->rows);
    free(s->in);
    free(s->out);
    free(s);
    *solver = NULL;
}

const char *weft_external_description(const weft_external *solver) {
    return solver->description;
}

weft_status weft_external_update(weft_external *solver, const double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_external_system_fill(&solver->system, solver->pattern, values, error));
    TRY(solver->library->update(solver->state, &solver->system, error));
    TRY(check_condition(solver, error));
done:
    return status;
}

/* The sum of all ranks, in their order. */
static weft_status sum_on_ranks(const weft_external_system *system, double *sum,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(system->comm);
    double *all = weft_array_make((size_t)size, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "a sum of ranks"));
    TRY(weft_comm_gather(system->comm, sum, sizeof *sum, all, error));
    *sum = weft_sum(all, size);
done:
    free(all);
    return status;
}

/* v  [n_own] */
static weft_status subtract_mean(const weft_external_system *system, double *v, weft_error *error) {
    weft_status status = WEFT_OK;
    double sum = 0;
    if (!system->is_singular)
        goto done;
    sum = weft_sum(v, system->n_own);
    TRY(sum_on_ranks(system, &sum, error));
    for (int i = 0; i < system->n_own; ++i)
        v[i] -= sum / (double)system->n_whole;
done:
    return status;
}

/* The rows of dofs that are coupled to nothing have the solution zero. */
static void clear_alone(const weft_external_system *system, double *v) {
    for (int i = 0; i < system->n_own; ++i)
        if (system->is_alone[system->own[i]])
            v[i] = 0;
}

weft_status weft_external_apply(weft_external *solver, const double *r, double *z,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_system *system = &solver->system;
    const int *own = system->own;
    for (int i = 0; i < system->n_own; ++i)
        solver->in[i] = system->is_free[own[i]] ? r[system->dofs[own[i]]] : 0;
    TRY(subtract_mean(system, solver->in, error));
    clear_alone(system, solver->in);
    TRY(solver->library->apply(solver->state, solver->in, solver->out, error));
    TRY(subtract_mean(system, solver->out, error));
    memset(z, 0, (size_t)solver->pattern->n_rows * sizeof *z);
    for (int i = 0; i < system->n_own; ++i)
        if (system->is_free[own[i]])
            z[system->dofs[own[i]]] = solver->out[i];
done:
    return status;
}

weft_status weft_external_apply_on_device(weft_external *solver, weft_memory *r, weft_memory *z,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_library *of = solver->library;
    weft_memory *b = NULL, *x = NULL;
    of->lists(solver->state, &b, &x);
    TRY(weft_lists_gather(solver->kernels, solver->system.n, solver->dofs, r, b, error));
    TRY(of->run(solver->state, error));
    TRY(weft_lists_gather(solver->kernels, solver->pattern->n_rows, solver->rows, x, z, error));
done:
    return status;
}

/* out = b - A x in the system's rows; 0 in those of constrained dofs. */
static weft_status residual(const weft_external *solver, const double *values, const double *b,
                            const double *x, double *out, weft_error *error) {
    const weft_pattern *pattern = solver->pattern;
    for (int i = 0; i < solver->system.n; ++i) {
        int64_t dof = solver->system.dofs[i];
        double sum = b[dof];
        for (int64_t e = pattern->row_start[dof]; e < pattern->row_start[dof + 1]; ++e)
            sum -= values[e] * x[pattern->columns[e]];
        out[i] = solver->system.is_free[i] ? sum : 0;
    }
    return subtract_mean(&solver->system, out, error);
}

static double norm(const double *v, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += v[i] * v[i];
    return sqrt(sum);
}

weft_status weft_external_solve(weft_external *solver, const double *values, const double *b,
                                double *x, double tolerance, int max_iterations,
                                weft_external_result *result, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_external_system *system = &solver->system;
    double size = 0;
    if (system->comm)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s solves alone on one rank only",
                           solver->library->title));
    for (int i = 0; i < system->n; ++i) {
        solver->out[i] = 0;
        if (system->is_free[i])
            x[system->dofs[i]] = 0;
    }
    TRY(residual(solver, values, b, x, solver->in, error));
    size = norm(solver->in, system->n);
    *result = (weft_external_result){.converged = true};
    if (size == 0)
        goto done;
    clear_alone(system, solver->in);
    TRY(solver->library->solve
            ? solver->library->solve(solver->state, solver->in, solver->out, tolerance,
                                     max_iterations, result, error)
            : solver->library->apply(solver->state, solver->in, solver->out, error));
    TRY(subtract_mean(system, solver->out, error));
    for (int i = 0; i < system->n; ++i)
        if (system->is_free[i])
            x[system->dofs[i]] = solver->out[i];
    TRY(residual(solver, values, b, x, solver->in, error));
    result->residual = norm(solver->in, system->n) / size;
done:
    return status;
}
