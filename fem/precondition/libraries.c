/* Preconditioners of other libraries (fem/external): hypre, PETSc, CHOLMOD, UMFPACK and MUMPS on the host, cuDSS on a GPU. */
#include "fem/external/external.h"
#include "fem/precondition/precondition.h"

#include "core/weft_core.h"

#include "fem/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_on_gpu(const weft_preconditioner *preconditioner) {
    return weft_device_limits(preconditioner->context->device)->execution == WEFT_EXECUTION_SIMT;
}

/* The present values of the matrix in the order of its pattern, on the host.
 * copy  of a GPU's; free() */
static weft_status matrix_find(const weft_preconditioner *preconditioner, const double **values,
                               double **copy, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = preconditioner->problem.op;
    const char *name = preconditioner->kind->info.name;
    weft_memory *memory = NULL;
    if (!weft_operator_pattern(op)) {
        status = weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "the preconditioner %s needs a stored matrix, which this assembly lacks", name);
        weft_error_hint(error, "use --assembly csr");
        goto done;
    }
    TRY(weft_operator_matrix(op, &memory, error));
    *values = weft_memory_host(memory);
    if (*values)
        goto done;
    if (preconditioner->kind != &weft_preconditioner_lu || !is_on_gpu(preconditioner)) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "the preconditioner %s runs on the host", name);
        weft_error_hint(error, "use --device host, or a preconditioner of Weft's own");
        goto done;
    }
    *values = *copy = weft_scratch_make((size_t)weft_operator_entries(op), sizeof **copy);
    if (!*copy)
        TRY(weft_out_of_memory(error, "a copy of the matrix"));
    TRY(weft_memory_read(memory, 0, *copy, (size_t)weft_operator_entries(op) * sizeof **copy,
                         error));
    weft_operator_matrix_release(op);
done:
    return status;
}

/* The library of a kind. Of `lu`, it is the first for the device that is found, or, for the message, the first. */
static weft_status library_find(const weft_preconditioner_kind *kind, bool on_gpu,
                                weft_external_kind *out, weft_error *error) {
    int first = -1, found = -1;
    if (kind != &weft_preconditioner_lu)
        return weft_external_find(kind->info.name, out, error);
    for (int i = 0; i < weft_external_count() && found < 0; ++i) {
        const weft_external_info *info = weft_external_about((weft_external_kind)i);
        if (!info->takes_indefinite || info->on_gpu != on_gpu)
            continue;
        first = first < 0 ? i : first;
        found = weft_external_is_found((weft_external_kind)i) ? i : -1;
    }
    *out = (weft_external_kind)(found < 0 ? first : found);
    return WEFT_OK;
}

static bool library_is_found(const weft_preconditioner_kind *kind) {
    weft_external_kind library;
    return library_find(kind, false, &library, NULL) == WEFT_OK && weft_external_is_found(library);
}

/* Rows and entries of the matrix, of all ranks. */
static weft_status count(const weft_external_matrix *matrix, weft_preconditioner_level *out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = matrix->pattern;
    const unsigned char *owned = matrix->layout ? weft_layout_owned(matrix->layout) : NULL;
    weft_comm *comm = owned ? weft_layout_comm(matrix->layout) : NULL;
    out->n_rows = owned ? 0 : pattern->n_rows;
    out->n_entries = owned ? 0 : pattern->n_entries;
    for (int64_t i = 0; i < pattern->n_rows && owned; ++i) {
        out->n_rows += owned[i];
        out->n_entries += owned[i] ? pattern->row_start[i + 1] - pattern->row_start[i] : 0;
    }
    TRY(weft_comm_sum(comm, &out->n_rows, error));
    TRY(weft_comm_sum(comm, &out->n_entries, error));
done:
    return status;
}

static weft_status library_make(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    const weft_space *space = problem->space;
    weft_preconditioner_report *report = &preconditioner->report;
    weft_external_matrix matrix = {.pattern = weft_operator_pattern(problem->op),
                                   .constrained = problem->constrained,
                                   .n_constrained = problem->n_constrained,
                                   .pinned = problem->pinned,
                                   .n_pinned = problem->n_pinned,
                                   .is_singular = problem->project_mean,
                                   .is_general = problem->is_general,
                                   .layout = problem->op->layout,
                                   .device = preconditioner->context->device};
    const weft_external_options options = {
        .device = preconditioner->context->device,
        .settings =
            preconditioner->kind == &weft_preconditioner_petsc ? problem->petsc_options : NULL};
    weft_external_kind kind;
    weft_external *solver = NULL;
    double *copy = NULL;
    if (space) {
        matrix.components = weft_space_components(space);
        matrix.dimension = weft_space_mesh(space)->dimension;
        matrix.coordinates = weft_space_points(space);
    }
    TRY(matrix_find(preconditioner, &matrix.values, &copy, error));
    TRY(library_find(preconditioner->kind, is_on_gpu(preconditioner), &kind, error));
    TRY(weft_external_make(kind, &matrix, &options, &solver, error));
    preconditioner->state = solver;
    preconditioner->is_foreign = weft_external_about(kind)->on_gpu;
    TRY(count(&matrix, &report->levels[0], error));
    snprintf(report->detail, sizeof report->detail, "%s", weft_external_description(solver));
done:
    free(copy);
    return status;
}

static void library_free(weft_preconditioner *preconditioner) {
    weft_external *solver = preconditioner->state;
    weft_external_free(&solver);
    preconditioner->state = NULL;
}

static weft_status library_update(weft_preconditioner *preconditioner, weft_error *error) {
    weft_status status = WEFT_OK;
    const double *values = NULL;
    double *copy = NULL;
    if (preconditioner->problem.project_mean) { /* which is looked at when it is made */
        library_free(preconditioner);
        status = library_make(preconditioner, error);
        goto done;
    }
    TRY(matrix_find(preconditioner, &values, &copy, error));
    TRY(weft_external_update(preconditioner->state, values, error));
done:
    free(copy);
    return status;
}

static weft_status library_apply(weft_preconditioner *preconditioner, weft_memory *r,
                                 weft_memory *z, weft_error *error) {
    return preconditioner->is_foreign
               ? weft_external_apply_on_device(preconditioner->state, r, z, error)
               : weft_external_apply(preconditioner->state, weft_memory_host(r),
                                     weft_memory_host(z), error);
}

const weft_preconditioner_kind weft_preconditioner_hypre = {
    .info = {"hypre", "BoomerAMG of the library hypre", .needs_matrix = true, .needs_host = true},
    .make = library_make,
    .update = library_update,
    .apply = library_apply,
    .free = library_free,
    .is_found = library_is_found,
};

const weft_preconditioner_kind weft_preconditioner_petsc = {
    .info = {"petsc", "GAMG, or ILU for nonsymmetric matrices, of the library PETSc",
             .needs_matrix = true, .needs_host = true},
    .make = library_make,
    .update = library_update,
    .apply = library_apply,
    .free = library_free,
    .is_found = library_is_found,
};

const weft_preconditioner_kind weft_preconditioner_cholmod = {
    .info = {"cholmod", "a factorization by the library CHOLMOD", .needs_matrix = true,
             .needs_host = true},
    .make = library_make,
    .update = library_update,
    .apply = library_apply,
    .free = library_free,
    .is_found = library_is_found,
};

static size_t lu_estimate_memory(const weft_operator_sizes *sizes, int dimension) {
    const weft_factorization_cost cost =
        weft_factorization_predict(dimension, (int64_t)sizes->n_nodes, (int)sizes->n_components);
    const size_t copy =
        3 * sizeof(int32_t) + 2 * sizeof(double); /* of an entry: indices and values */
    return (size_t)cost.bytes + copy * sizes->n_entries;
}

const weft_preconditioner_kind weft_preconditioner_lu = {
    .info = {"lu",
             "a factorization L U of any regular matrix, by UMFPACK or MUMPS, on a GPU by cuDSS",
             .needs_matrix = true, .needs_host = true, .any_sign = true},
    .make = library_make,
    .update = library_update,
    .apply = library_apply,
    .free = library_free,
    .is_found = library_is_found,
    .estimate_memory = lu_estimate_memory,
};
