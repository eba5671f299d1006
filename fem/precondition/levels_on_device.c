/* Makes levels of multigrid on a device, geometric or by aggregation: Galerkin matrices, inverse diagonals and bounds
 * of eigenvalues, from the operator's matrix, without copies to the host but that of the coarsest. */
#include "fem/precondition/levels.h"

#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/multigrid/on_device.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

/* The level that is being coarsened. */
typedef struct device_level {
    weft_device_matrix csr; /* that of the finest is {0} */
    weft_sell_matrix *sell; /* the matrix of op */
    weft_operator *op;      /* in double precision; the finest: borrowed */
    weft_memory *fixed;     /* bytes, 1: constrained */
} device_level;

typedef struct levels_work {
    weft_context *context;
    weft_setup *setup;
    weft_levels *out;
    bool half_precision;          /* for weft_sell_matrix_scaled */
    weft_eigenvalue_steps *bound; /* kept from level to level */
} levels_work;

static void level_clear(device_level *level, const weft_operator *finest) {
    weft_device_matrix_free(&level->csr);
    if (level->op != finest)
        weft_operator_free(&level->op);
    weft_memory_free(&level->fixed);
    *level = (device_level){0};
}

/* *d = 1 / diag(A), 0 at constrained dofs. */
static weft_status invert_diagonal(const levels_work *w, const device_level *level, weft_memory **d,
                                   weft_error *error) {
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
static weft_status make_diagonal(const levels_work *w, const device_level *level,
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
static weft_status make_csr_vector(const levels_work *w, device_level *level,
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
static weft_status make_scaled(const levels_work *w, device_level *level, weft_cycle_source *source,
                               weft_error *error) {
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
static weft_status lay_out(const levels_work *w, device_level *coarse, weft_error *error) {
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

static weft_status coarsen(const levels_work *w, const device_level *fine,
                           const weft_device_parents *parents, device_level *coarse, bool is_last,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const bool has_csr = fine->csr.values != NULL;
    const weft_fine_matrix matrix = {has_csr ? &fine->csr : NULL, has_csr ? NULL : fine->sell};
    TRY(weft_device_galerkin(w->setup, &matrix, parents, &coarse->csr, error));
    if (!is_last)
        TRY(lay_out(w, coarse, error));
done:
    return status;
}

/* The matrix and the constrained dofs of the last level on the host. */
static weft_status read_last(const levels_work *w, const device_level *level, weft_error *error) {
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
static weft_status step(const levels_work *w, const weft_levels_options *options, int number,
                        device_level *level, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_levels *out = w->out;
    const weft_hierarchy *hierarchy = options->hierarchy;
    const weft_hierarchy_level *finer = &hierarchy->levels[hierarchy->n_levels - number];
    const int64_t n_coarse = finer[-1].mesh->n_nodes * options->components;
    const bool is_last = number + 1 == options->most_levels || n_coarse <= options->coarsest_rows;
    weft_cycle_source *source = &out->sources[out->n];
    weft_device_parents parents = {.fine_fixed = level->fixed};
    weft_connectivity *connectivity = NULL;
    device_level coarse = {0};
    *source = (weft_cycle_source){
        .parents = weft_dof_parents(w->context->device, finer, options->components),
        .degree = options->degree};
    ++out->n;
    if (!source->parents)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(make_diagonal(w, level, source, error));
    TRY(weft_connectivity_make(w->context->device, source->parents, weft_operator_dofs(level->op),
                               2, n_coarse, &connectivity, error));
    parents.parents = connectivity;
    TRY(weft_device_coarse_flags(w->setup, &parents, error));
    coarse.fixed = parents.coarse_fixed;
    source->is_masked = parents.is_masked;
    TRY(coarsen(w, level, &parents, &coarse, is_last, error));
    TRY(make_scaled(w, level, source, error));
    level_clear(level, options->problem->op);
    *level = coarse;
    coarse = (device_level){0};
    out->mesh = finer[-1].mesh;
    if (is_last)
        TRY(read_last(w, level, error));
    out->is_complete = is_last;
done:
    weft_connectivity_free(&connectivity);
    level_clear(&coarse, options->problem->op);
    return status;
}

void weft_levels_clear(weft_levels *levels) {
    for (int i = 0; i < levels->n; ++i)
        weft_cycle_source_clear(&levels->sources[i]);
    weft_csr_clear(&levels->last);
    free(levels->constrained);
    free(levels->x);
    free(levels->modes);
    *levels = (weft_levels){0};
}

/* The operator's matrix and the constrained dofs. */
static weft_status open_finest(levels_work *w, const weft_preconditioner_problem *problem,
                               device_level *level, bool *made, weft_error *error) {
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
    levels_work w = {.context = context, .bound = &bound};
    device_level level = {.op = problem->op};
    *made = false;
    if (!weft_setup_on_device(context->device))
        goto done;
    TRY(open_finest(&w, problem, &level, made, error));
    if (!*made)
        goto done;
    TRY(make_diagonal(&w, &level, source, error));
    TRY(make_scaled(&w, &level, source, error));
done:
    level_clear(&level, problem->op);
    weft_eigenvalue_steps_clear(&bound);
    weft_setup_free(&w.setup);
    return status;
}

/* ---- by aggregation ---- */

/* The level that is being coarsened, with what aggregation needs of its nodes. */
typedef struct nodes_level {
    device_level matrix;
    int64_t n;
    weft_memory *x, *own_x; /* [n][dimension]; where it is not the space's */
    weft_memory *modes;     /* [n] */
} nodes_level;

static void nodes_level_clear(nodes_level *level, const weft_operator *finest) {
    level_clear(&level->matrix, finest);
    weft_memory_free(&level->own_x);
    weft_memory_free(&level->modes);
    *level = (nodes_level){0};
}

/* When the steps of a level ended, for the log. */
enum { START, BOUND, AGGREGATES, PROLONGATION, PRODUCT, STEPS };

static weft_status mark(const levels_work *w, int step, double seconds[STEPS], weft_error *error) {
    const weft_status status = weft_device_wait(w->context->device, error);
    seconds[step] = weft_clock();
    return status;
}

static void report_step(const weft_monitor *monitor, int number, const nodes_level *level,
                        const nodes_level *coarse, const double seconds[STEPS]) {
    double ms[STEPS];
    for (int i = 1; i < STEPS; ++i)
        ms[i] = 1e3 * (seconds[i] - seconds[i - 1]);
    weft_log(monitor, WEFT_LOG_INFO,
             "level %d: %lld rows, %lld aggregates, %lld entries on the next level; eigenvalue "
             "%.1f ms, aggregates %.1f ms, prolongation %.1f ms, product %.1f ms",
             number, (long long)level->n, (long long)coarse->n,
             (long long)coarse->matrix.csr.pattern.n_entries, ms[BOUND], ms[AGGREGATES],
             ms[PROLONGATION], ms[PRODUCT]);
}

/* P in the cycle's form. */
static weft_status make_transfer(const levels_work *w, weft_device_prolongation *P,
                                 weft_cycle_source *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = w->context->device;
    const int64_t n = P->n_rows * WEFT_ROW_AGGREGATES;
    TRY(weft_memory_make_unset(device, (size_t)n * sizeof(float), &source->weights, error));
    const weft_setup_kernel narrow = {"aggregation", "narrow", n, 0, 0};
    TRY(weft_setup_launch(w->setup, &narrow, (weft_memory *[]){P->weights, source->weights}, 2,
                          error));
    TRY(weft_connectivity_make_copied(device, NULL, &P->columns, WEFT_ROW_AGGREGATES, P->n_columns,
                                      &source->transfer, error));
done:
    return status;
}

/* P, and the matrix and the nodes of the coarse level. */
static weft_status coarsen_nodes(const levels_work *w, const weft_device_coarsening *level,
                                 const weft_device_aggregates *aggregates,
                                 weft_cycle_source *source, nodes_level *coarse,
                                 double seconds[STEPS], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_prolongation P = {0}, whole;
    TRY(weft_device_prolong(w->setup, level, aggregates, &P, error));
    TRY(mark(w, PROLONGATION, seconds, error));
    whole = P; /* the transfer has its columns from here on */
    TRY(make_transfer(w, &P, source, error));
    TRY(weft_device_galerkin_weighted(w->setup, level, aggregates->scale, &whole, source->transfer,
                                      &coarse->matrix.csr, error));
    TRY(mark(w, PRODUCT, seconds, error));
    weft_connectivity_release_plain(source->transfer);
    TRY(weft_memory_make(w->context->device, (size_t)P.n_columns, &coarse->matrix.fixed, error));
    coarse->n = P.n_columns;
    coarse->x = coarse->own_x = P.x;
    coarse->modes = P.modes;
    P.x = P.modes = NULL;
done:
    weft_device_prolongation_free(&P);
    return status;
}

static weft_device_coarsening coarsening_of(const levels_work *w,
                                            const weft_levels_options *options,
                                            const nodes_level *level, double lambda) {
    const int d = weft_space_mesh(options->problem->space)->dimension;
    return (weft_device_coarsening){.A = level->matrix.sell,
                                    .n = level->n,
                                    .fixed = level->matrix.fixed,
                                    .modes = level->modes,
                                    .x = level->x,
                                    .dimension = d,
                                    .theta = weft_aggregation_theta(1, w->out->n),
                                    .lambda = lambda,
                                    .aggregate_nodes = weft_aggregation_nodes(d, false)};
}

/* Coarsen by one level: *level becomes the coarser one; without reduction it stays, and is the last. */
static weft_status step_by_aggregation(const levels_work *w, const weft_levels_options *options,
                                       nodes_level *level, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_levels *out = w->out;
    weft_cycle_source source = {.degree = options->degree};
    weft_device_aggregates aggregates = {0};
    nodes_level coarse = {0};
    double seconds[STEPS];
    TRY(mark(w, START, seconds, error));
    TRY(make_diagonal(w, &level->matrix, &source, error));
    const weft_device_coarsening coarsening = coarsening_of(w, options, level, source.lambda);
    TRY(mark(w, BOUND, seconds, error));
    TRY(weft_device_aggregate(w->setup, &coarsening, &aggregates, error));
    out->is_complete = !weft_aggregation_reduces(aggregates.n, level->n);
    if (out->is_complete)
        goto done;
    TRY(mark(w, AGGREGATES, seconds, error));
    TRY(coarsen_nodes(w, &coarsening, &aggregates, &source, &coarse, seconds, error));
    report_step(options->problem->monitor, out->n, level, &coarse, seconds);
    weft_device_aggregates_free(&aggregates);
    out->is_complete = out->n + 2 == options->most_levels || coarse.n <= options->coarsest_rows;
    if (!out->is_complete) /* its CSR matrix stays, in case that it turns out to be the last */
        TRY(lay_out(w, &coarse.matrix, error));
    TRY(make_scaled(w, &level->matrix, &source, error));
    nodes_level_clear(level, options->problem->op);
    *level = coarse;
    coarse = (nodes_level){0};
    out->sources[out->n++] = source;
    source = (weft_cycle_source){0};
done:
    weft_cycle_source_clear(&source);
    weft_device_aggregates_free(&aggregates);
    nodes_level_clear(&coarse, options->problem->op);
    return status;
}

static weft_status open_nodes(levels_work *w, const weft_preconditioner_problem *problem,
                              nodes_level *level, bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = w->context->device;
    level->n = weft_operator_dofs(problem->op);
    level->x = weft_space_coordinates(problem->space);
    TRY(open_finest(w, problem, &level->matrix, made, error));
    if (!*made)
        goto done;
    TRY(weft_memory_make_unset(device, (size_t)level->n * sizeof(double), &level->modes, error));
    const weft_setup_kernel kernel = {"aggregation", "constants", level->n, 0, 0};
    TRY(weft_setup_launch(w->setup, &kernel, (weft_memory *[]){level->matrix.fixed, level->modes},
                          2, error));
done:
    return status;
}

/* Coordinates and the near-nullspace of the last level. */
static weft_status read_nodes(const nodes_level *level, int dimension, weft_levels *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)level->n * sizeof(double), each = (size_t)dimension;
    out->x = malloc(bytes * each + 1);
    out->modes = malloc(bytes + 1);
    if (!out->x || !out->modes)
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_memory_read(level->x, 0, out->x, bytes * each, error));
    TRY(weft_memory_read(level->modes, 0, out->modes, bytes, error));
done:
    return status;
}

static weft_status make_by_aggregation(levels_work *w, const weft_levels_options *options,
                                       bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = options->problem;
    weft_levels *out = w->out;
    nodes_level level = {.matrix.op = problem->op};
    TRY(open_nodes(w, problem, &level, made, error));
    if (!*made)
        goto done;
    while (!out->is_complete) {
        TRY(step_by_aggregation(w, options, &level, error));
        /* they keep sums of rows, but the near-nullspace is not constant there */
        w->half_precision = false;
    }
    *made = out->n > 0;
    if (!*made)
        goto done;
    TRY(read_last(w, &level.matrix, error));
    TRY(read_nodes(&level, weft_space_mesh(problem->space)->dimension, out, error));
done:
    nodes_level_clear(&level, problem->op);
    return status;
}

/* ---- all levels ---- */

static weft_status make_by_hierarchy(levels_work *w, const weft_levels_options *options, bool *made,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *finest = options->problem->op;
    device_level level = {.op = finest};
    TRY(open_finest(w, options->problem, &level, made, error));
    for (int number = 1; *made && !w->out->is_complete; ++number)
        TRY(step(w, options, number, &level, error));
done:
    level_clear(&level, finest);
    return status;
}

weft_status weft_levels_on_device(weft_context *context, const weft_levels_options *options,
                                  weft_levels *out, bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_eigenvalue_steps bound = {0};
    levels_work w = {.context = context, .out = out, .bound = &bound};
    *made = false;
    *out = (weft_levels){0};
    if (!weft_setup_on_device(context->device) || options->most_levels < 2 ||
        weft_operator_dofs(options->problem->op) <= options->coarsest_rows)
        goto done;
    TRY(options->hierarchy ? make_by_hierarchy(&w, options, made, error)
                           : make_by_aggregation(&w, options, made, error));
done:
    if (status != WEFT_OK)
        weft_levels_clear(out);
    weft_eigenvalue_steps_clear(&bound);
    weft_setup_free(&w.setup);
    return status;
}
