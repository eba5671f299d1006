/* Makes levels of multigrid on a device, geometric or by aggregation: Galerkin matrices, inverse diagonals and bounds
 * of eigenvalues, from the operator's matrix, without copies to the host but that of the coarsest. */
#include "fem/precondition/device_levels.h"

#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

void weft_device_level_clear(weft_device_level *level, const weft_operator *finest) {
    weft_device_matrix_free(&level->csr);
    if (level->op != finest)
        weft_operator_free(&level->op);
    weft_memory_free(&level->fixed);
    *level = (weft_device_level){0};
}

/* *d = 1 / diag(A), 0 at constrained dofs. */
static weft_status invert_diagonal(const weft_levels_work *w, const weft_device_level *level,
                                   weft_memory **d, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = w->context->device;
    const int64_t n = weft_operator_dofs(level->op);
    int32_t bad = 0;
    weft_memory *found = NULL;
    TRY(weft_memory_make_unset(device, (size_t)n * sizeof(double), d, error));
    TRY(weft_operator_diagonal(level->op, *d, error));
    TRY(weft_memory_make(device, sizeof bad, &found, error));
    const weft_setup_kernel kernel = {"values", "invert_diagonal", n, 0, 0};
    TRY(weft_setup_launch(w->setup, &kernel, (weft_memory *[]){level->fixed, *d, found}, 3, error));
    TRY(weft_memory_read(found, 0, &bad, sizeof bad, error));
    if (bad > 0) {
        const int64_t dof = INT32_MAX - bad;
        double value = 0;
        TRY(weft_memory_read(*d, (size_t)dof * sizeof value, &value, sizeof value, error));
        TRY(weft_diagonal_refused(dof, value, error));
    }
done:
    weft_memory_free(&found);
    return status;
}

/* The diagonal in single precision, and lambda unless it is set. */
weft_status weft_device_level_diagonal(const weft_levels_work *w, const weft_device_level *level,
                                       weft_cycle_source *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = w->context->device;
    const int64_t n = weft_operator_dofs(level->op);
    weft_memory *d = NULL;
    TRY(invert_diagonal(w, level, &d, error));
    if (source->lambda <= 0)
        TRY(weft_eigenvalue_bound(w->context, w->bound, level->op, d, &source->lambda, error));
    TRY(weft_memory_make_unset(device, (size_t)n * sizeof(float), &source->a, error));
    const weft_setup_kernel invert = {"values", "diagonal", n, 0, 0};
    TRY(weft_setup_launch(w->setup, &invert, (weft_memory *[]){d, source->a}, 2, error));
done:
    weft_memory_free(&d);
    return status;
}

/* The same of a small matrix in CSR format, whose columns are moved. */
static weft_status make_csr_vector(const weft_levels_work *w, weft_device_level *level,
                                   weft_cycle_source *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = w->context->device;
    weft_device_pattern *pattern = &level->csr.pattern;
    const size_t n_rows = (size_t)pattern->n_rows, n_entries = (size_t)pattern->n_entries;
    weft_memory *made[3] = {NULL}; /* starts, columns, values */
    TRY(weft_memory_make_unset(device, (n_rows + 1) * sizeof(int32_t), &made[0], error));
    TRY(weft_memory_make_unset(device, n_entries * sizeof(float), &made[2], error));
    const weft_setup_kernel kernel = {"values", "csr_scaled", pattern->n_rows, 0, 0};
    weft_memory *const arguments[] = {pattern->row_start, pattern->columns, level->csr.values,
                                      source->a,          made[0],          made[2]};
    TRY(weft_setup_launch(w->setup, &kernel, arguments, 6, error));
    made[1] = pattern->columns;
    pattern->columns = NULL;
    TRY(weft_operator_from_csr_vector(w->context, pattern->n_rows, pattern->n_entries, made,
                                      &source->op, error));
done:
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&made[i]);
    return status;
}

/* The scaled matrix in single precision. */
weft_status weft_device_level_scaled(const weft_levels_work *w, weft_device_level *level,
                                     weft_cycle_source *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell_matrix *scaled = NULL;
    if (level->csr.values &&
        weft_operator_uses_csr_vector(level->csr.pattern.n_rows, level->csr.pattern.n_entries)) {
        status = make_csr_vector(w, level, source, error);
        goto done;
    }
    TRY(weft_sell_matrix_scaled(w->setup, level->sell, source->a, w->half_precision, &scaled,
                                error));
    TRY(weft_operator_from_sell(w->context, &scaled, weft_operator_entries(level->op), &source->op,
                                error));
done:
    return status;
}

/* The operator of a coarse level. */
weft_status weft_device_level_lay_out(const weft_levels_work *w, weft_device_level *coarse,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell_matrix *sell = NULL;
    TRY(weft_sell_matrix_from_device(w->setup, &coarse->csr.pattern, &sell, error));
    TRY(weft_sell_matrix_set(w->setup, &coarse->csr, sell, error));
    coarse->sell = sell;
    TRY(weft_operator_from_sell(w->context, &sell, coarse->csr.pattern.n_entries, &coarse->op,
                                error));
done:
    weft_sell_matrix_free(&sell);
    return status;
}

static weft_status coarsen(const weft_levels_work *w, const weft_device_level *fine,
                           const weft_device_parents *parents, weft_device_level *coarse,
                           bool is_last, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool has_csr = fine->csr.values != NULL;
    const weft_fine_matrix matrix = {has_csr ? &fine->csr : NULL, has_csr ? NULL : fine->sell};
    TRY(weft_device_galerkin(w->setup, &matrix, parents, &coarse->csr, error));
    if (!is_last)
        TRY(weft_device_level_lay_out(w, coarse, error));
done:
    return status;
}

/* The matrix and the constrained dofs of the last level on the host. */
weft_status weft_device_level_read(const weft_levels_work *w, const weft_device_level *level,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_levels *out = w->out;
    weft_pattern pattern = {.n_rows = level->csr.pattern.n_rows,
                            .n_entries = level->csr.pattern.n_entries};
    const size_t n = (size_t)pattern.n_rows;
    const size_t bytes = (size_t)pattern.n_entries * sizeof(double);
    unsigned char *flags = malloc(n + 1);
    out->last.values = weft_array_make_unset(bytes);
    out->constrained = malloc((n + 1) * sizeof *out->constrained);
    if (!flags || !out->last.values || !out->constrained)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_device_pattern_read(&level->csr.pattern, &pattern, error));
    out->last.n_rows = out->last.n_columns = pattern.n_rows;
    out->last.row_start = pattern.row_start;
    out->last.columns = pattern.columns;
    TRY(weft_memory_read(level->csr.values, 0, out->last.values, bytes, error));
    TRY(weft_memory_read(level->fixed, 0, flags, n, error));
    out->n_constrained = 0;
    for (size_t i = 0; i < n; ++i)
        if (flags[i])
            out->constrained[out->n_constrained++] = (int32_t)i;
done:
    free(flags);
    return status;
}

/* Coarsen by one level: *level becomes the coarser one. */
static weft_status step(const weft_levels_work *w, const weft_levels_options *options, int number,
                        weft_device_level *level, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_levels *out = w->out;
    const weft_hierarchy *hierarchy = options->hierarchy;
    const weft_hierarchy_level *finer = &hierarchy->levels[hierarchy->n_levels - number];
    const int64_t n_coarse = finer[-1].mesh->n_nodes * options->components;
    const bool is_last = number + 1 == options->most_levels || n_coarse <= options->coarsest_rows;
    weft_cycle_source *source = &out->sources[out->n];
    weft_device_parents parents = {.fine_fixed = level->fixed};
    weft_connectivity *connectivity = NULL;
    weft_device_level coarse = {0};
    *source = (weft_cycle_source){
        .parents = weft_dof_parents(w->context->device, finer, options->components),
        .degree = options->degree};
    ++out->n;
    if (!source->parents)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_device_level_diagonal(w, level, source, error));
    TRY(weft_connectivity_make(w->context->device, source->parents, weft_operator_dofs(level->op),
                               2, n_coarse, &connectivity, error));
    parents.parents = connectivity;
    TRY(weft_device_coarse_flags(w->setup, &parents, error));
    coarse.fixed = parents.coarse_fixed;
    source->is_masked = parents.is_masked;
    TRY(coarsen(w, level, &parents, &coarse, is_last, error));
    TRY(weft_device_level_scaled(w, level, source, error));
    weft_device_level_clear(level, options->problem->op);
    *level = coarse;
    coarse = (weft_device_level){0};
    out->mesh = finer[-1].mesh;
    if (is_last)
        TRY(weft_device_level_read(w, level, error));
    out->is_complete = is_last;
done:
    weft_connectivity_free(&connectivity);
    weft_device_level_clear(&coarse, options->problem->op);
    return status;
}

void weft_levels_clear(weft_levels *levels) {
    for (int i = 0; i < levels->n; ++i)
        weft_cycle_source_clear(&levels->sources[i]);
    weft_csr_clear(&levels->last);
    free(levels->constrained);
    free(levels->x);
    free(levels->modes);
    free(levels->node_start);
    *levels = (weft_levels){0};
}

/* The operator's matrix and the constrained dofs. */
weft_status weft_device_level_open(weft_levels_work *w, const weft_preconditioner_problem *problem,
                                   weft_device_level *level, bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    int components = 0;
    TRY(weft_setup_make(w->context->device, &w->setup, error));
    level->sell = weft_operator_sell(problem->op, &components);
    w->half_precision = components == 1;
    *made = level->sell != NULL;
    if (*made)
        TRY(weft_device_flags(w->setup, problem->constrained, problem->n_constrained,
                              weft_operator_dofs(problem->op), &level->fixed, error));
done:
    return status;
}

weft_status weft_levels_finest(weft_context *context, const weft_preconditioner_problem *problem,
                               weft_cycle_source *source, bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_eigenvalue_steps bound = {0};
    weft_levels_work w = {.context = context, .bound = &bound};
    weft_device_level level = {.op = problem->op};
    *made = false;
    if (!weft_setup_on_device(context->device))
        goto done;
    TRY(weft_device_level_open(&w, problem, &level, made, error));
    if (!*made)
        goto done;
    TRY(weft_device_level_diagonal(&w, &level, source, error));
    TRY(weft_device_level_scaled(&w, &level, source, error));
done:
    weft_device_level_clear(&level, problem->op);
    weft_eigenvalue_steps_clear(&bound);
    weft_setup_free(&w.setup);
    return status;
}

/* ---- all levels ---- */

static weft_status make_by_hierarchy(weft_levels_work *w, const weft_levels_options *options,
                                     bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *finest = options->problem->op;
    weft_device_level level = {.op = finest};
    TRY(weft_device_level_open(w, options->problem, &level, made, error));
    for (int number = 1; *made && !w->out->is_complete; ++number)
        TRY(step(w, options, number, &level, error));
done:
    weft_device_level_clear(&level, finest);
    return status;
}

weft_status weft_levels_on_device(weft_context *context, const weft_levels_options *options,
                                  weft_levels *out, bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_eigenvalue_steps bound = {0};
    weft_levels_work w = {.context = context, .out = out, .bound = &bound};
    *made = false;
    *out = (weft_levels){0};
    if (!weft_setup_on_device(context->device) || options->most_levels < 2 ||
        weft_operator_dofs(options->problem->op) <= options->coarsest_rows)
        goto done;
    TRY(options->hierarchy ? make_by_hierarchy(&w, options, made, error)
                           : weft_levels_by_aggregation(&w, options, made, error));
done:
    if (status != WEFT_OK)
        weft_levels_clear(out);
    weft_eigenvalue_steps_clear(&bound);
    weft_setup_free(&w.setup);
    return status;
}
