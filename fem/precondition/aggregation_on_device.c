/* Makes levels of multigrid by aggregation on a device: of one dof per node with one vector of the near-nullspace, or of
 * nodes with several rows. */
#include "fem/precondition/device_levels.h"

#include "core/weft_core.h"
#include "fem/multigrid/on_device.h"
#include "fusion/connectivity/connectivity.h"

#include <stdlib.h>

/* The level that is being coarsened, with what aggregation needs of its nodes. */
typedef struct nodes_level {
    weft_device_level matrix;
    int64_t n, n_nodes;      /* rows */
    weft_memory *x, *own_x;  /* [n_nodes][dimension]; where it is not the space's */
    weft_memory *modes;      /* [n][n_modes] */
    weft_memory *first, *of; /* see weft_device_blocks; NULL: a row per node */
    int n_modes, most_rows;
} nodes_level;

static void nodes_level_clear(nodes_level *level, const weft_operator *finest) {
    weft_device_level_clear(&level->matrix, finest);
    weft_memory_free(&level->own_x);
    weft_memory_free(&level->modes);
    weft_memory_free(&level->first);
    weft_memory_free(&level->of);
    *level = (nodes_level){0};
}

/* When the steps of a level ended, for the log. */
enum { START, BOUND, AGGREGATES, PROLONGATION, PRODUCT, TRANSFER, STEPS };

static weft_status mark(const weft_levels_work *w, int step, double seconds[STEPS],
                        weft_error *error) {
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
             "%.1f ms, aggregates %.1f ms, prolongation %.1f ms, product %.1f ms, transfer %.1f ms",
             number, (long long)level->n, (long long)coarse->n_nodes,
             (long long)coarse->matrix.csr.pattern.n_entries, ms[BOUND], ms[AGGREGATES],
             ms[PROLONGATION], ms[PRODUCT], ms[TRANSFER]);
}

/* ---- a row per node ---- */

/* P in the cycle's form. */
static weft_status make_transfer(const weft_levels_work *w, weft_device_prolongation *P,
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
static weft_status coarsen_rows(const weft_levels_work *w, const weft_device_coarsening *level,
                                const weft_device_aggregates *aggregates, weft_cycle_source *source,
                                nodes_level *coarse, double seconds[STEPS], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_prolongation P = {0}, whole;
    TRY(weft_device_prolong(w->setup, level, aggregates, &P, error));
    TRY(mark(w, PROLONGATION, seconds, error));
    whole = P; /* the transfer has its columns from here on */
    TRY(make_transfer(w, &P, source, error));
    TRY(weft_device_galerkin_weighted(w->setup, level, aggregates->scale, &whole, source->transfer,
                                      &coarse->matrix.csr, error));
    TRY(mark(w, PRODUCT, seconds, error)); /* with the transfer's transposed form */
    TRY(mark(w, TRANSFER, seconds, error));
    weft_connectivity_release_plain(source->transfer);
    coarse->n = coarse->n_nodes = P.n_columns;
    coarse->n_modes = coarse->most_rows = 1;
    coarse->x = coarse->own_x = P.x;
    coarse->modes = P.modes;
    P.x = P.modes = NULL;
done:
    weft_device_prolongation_free(&P);
    return status;
}

static weft_status coarsen_scalar(const weft_levels_work *w, const weft_levels_options *options,
                                  const nodes_level *level, weft_cycle_source *source,
                                  nodes_level *coarse, double seconds[STEPS], weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(options->problem->space)->dimension;
    const weft_device_coarsening coarsening = {.A = level->matrix.sell,
                                               .n = level->n,
                                               .fixed = level->matrix.fixed,
                                               .modes = level->modes,
                                               .x = level->x,
                                               .dimension = d,
                                               .theta = weft_aggregation_theta(1, w->out->n),
                                               .lambda = source->lambda,
                                               .aggregate_nodes = weft_aggregation_nodes(d, false)};
    weft_device_aggregates aggregates = {0};
    TRY(weft_device_aggregate(w->setup, &coarsening, &aggregates, error));
    if (!weft_aggregation_reduces(aggregates.n, level->n))
        goto done;
    TRY(mark(w, AGGREGATES, seconds, error));
    TRY(coarsen_rows(w, &coarsening, &aggregates, source, coarse, seconds, error));
done:
    weft_device_aggregates_free(&aggregates);
    return status;
}

/* ---- several rows per node ---- */

/* Are the modes of the problem those of rigid bodies, not a constant for each component? */
static bool is_rigid(const weft_levels_options *options) {
    return options->components > 1 &&
           options->components == weft_space_mesh(options->problem->space)->dimension;
}

/* What a level's nodes are to the kernels. */
static weft_device_blocks blocks_of(const weft_levels_options *options, const nodes_level *level) {
    const int d = weft_space_mesh(options->problem->space)->dimension;
    return (weft_device_blocks){.A = level->matrix.sell,
                                .n_rows = level->n,
                                .n_nodes = level->n_nodes,
                                .most_rows = level->most_rows,
                                .first = level->first,
                                .of = level->of,
                                .fixed = level->matrix.fixed,
                                .n_modes = level->n_modes,
                                .dimension = d,
                                .modes = level->modes,
                                .x = level->x,
                                .aggregate_nodes = weft_aggregation_nodes(d, is_rigid(options))};
}

/* P in the cycle's form, and the matrix and the nodes of the coarse level. */
static weft_status coarsen_nodes(const weft_levels_work *w, const weft_device_blocks *level,
                                 weft_device_block_prolongation *P, weft_cycle_source *source,
                                 nodes_level *coarse, double seconds[STEPS], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *columns = NULL;
    TRY(weft_device_galerkin_blocks(w->setup, level, P, &coarse->matrix.csr, error));
    TRY(mark(w, PRODUCT, seconds, error));
    TRY(weft_device_block_transfer(w->setup, P, &columns, &source->weights, error));
    TRY(weft_connectivity_make_copied(w->context->device, NULL, &columns,
                                      WEFT_ROW_AGGREGATES * P->n_modes, P->n_columns,
                                      &source->transfer, error));
    TRY(weft_connectivity_transposed(source->transfer,
                                     weft_device_limits(w->context->device)->lanes_double,
                                     &(weft_memory *){NULL}, &(weft_memory *){NULL}, error));
    weft_connectivity_release_plain(source->transfer);
    coarse->n = P->n_columns;
    coarse->n_nodes = P->n_aggregates;
    coarse->n_modes = coarse->most_rows = P->n_modes;
    coarse->x = coarse->own_x = P->x;
    coarse->modes = P->modes;
    coarse->first = P->first;
    coarse->of = P->of;
    P->x = P->modes = P->first = P->of = NULL;
done:
    weft_memory_free(&columns);
    return status;
}

/* Without vectors that depend on others aggregates have n_modes rows. */
static weft_status coarsen_blocks(const weft_levels_work *w, const weft_levels_options *options,
                                  const nodes_level *level, weft_cycle_source *source,
                                  nodes_level *coarse, double seconds[STEPS], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_blocks blocks = blocks_of(options, level);
    weft_device_node_graph graph = {0};
    weft_device_aggregates aggregates = {0};
    weft_device_block_prolongation P = {0};
    blocks.theta = weft_aggregation_theta(level->n_modes, w->out->n);
    blocks.lambda = source->lambda;
    TRY(weft_device_node_graph_make(w->setup, &blocks, &graph, error));
    TRY(weft_device_aggregate_blocks(w->setup, &blocks, &graph, &aggregates, error));
    if (!weft_aggregation_reduces(aggregates.n * level->n_modes, level->n))
        goto done;
    TRY(mark(w, AGGREGATES, seconds, error));
    TRY(weft_device_block_tentative(w->setup, &blocks, &aggregates, &P, error));
    TRY(weft_device_block_prolong(w->setup, &blocks, &graph, &aggregates, &P, error));
    TRY(mark(w, PROLONGATION, seconds, error));
    weft_device_node_graph_free(&graph);
    weft_device_aggregates_free(&aggregates);
    TRY(coarsen_nodes(w, &blocks, &P, source, coarse, seconds, error));
    TRY(mark(w, TRANSFER, seconds, error));
done:
    weft_device_node_graph_free(&graph);
    weft_device_aggregates_free(&aggregates);
    weft_device_block_prolongation_free(&P);
    return status;
}

/* ---- levels ---- */

/* Coarsen by one level: *level becomes the coarser one; without reduction it stays, and is the last. */
static weft_status coarsen_once(const weft_levels_work *w, const weft_levels_options *options,
                                nodes_level *level, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_levels *out = w->out;
    weft_cycle_source source = {.degree = options->degree};
    nodes_level coarse = {0};
    double seconds[STEPS];
    TRY(mark(w, START, seconds, error));
    TRY(weft_device_level_diagonal(w, &level->matrix, &source, error));
    TRY(mark(w, BOUND, seconds, error));
    TRY(level->first ? coarsen_blocks(w, options, level, &source, &coarse, seconds, error)
                     : coarsen_scalar(w, options, level, &source, &coarse, seconds, error));
    out->is_complete = coarse.n == 0;
    if (out->is_complete)
        goto done;
    TRY(weft_memory_make(w->context->device, (size_t)coarse.n, &coarse.matrix.fixed, error));
    report_step(options->problem->monitor, out->n, level, &coarse, seconds);
    out->is_complete = out->n + 2 == options->most_levels || coarse.n <= options->coarsest_rows;
    if (!out->is_complete) /* its CSR matrix stays: it is the last, if it cannot be coarsened */
        TRY(weft_device_level_lay_out(w, &coarse.matrix, error));
    TRY(weft_device_level_scaled(w, &level->matrix, &source, error));
    nodes_level_clear(level, options->problem->op);
    *level = coarse;
    coarse = (nodes_level){0};
    out->sources[out->n++] = source;
    source = (weft_cycle_source){0};
done:
    weft_cycle_source_clear(&source);
    nodes_level_clear(&coarse, options->problem->op);
    return status;
}

static weft_status open_rows(const weft_levels_work *w, nodes_level *level, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_setup_kernel kernel = {"aggregation", "constants", level->n, 0, 0};
    level->n_modes = level->most_rows = 1;
    TRY(weft_memory_make_unset(w->context->device, (size_t)level->n * sizeof(double), &level->modes,
                               error));
    TRY(weft_setup_launch(w->setup, &kernel, (weft_memory *[]){level->matrix.fixed, level->modes},
                          2, error));
done:
    return status;
}

static weft_status open_blocks(const weft_levels_work *w, const weft_levels_options *options,
                               nodes_level *level, weft_error *error) {
    weft_device_blocks blocks = blocks_of(options, level);
    const weft_status status =
        weft_device_blocks_finest(w->setup, options->components, is_rigid(options), &blocks, error);
    level->first = blocks.first;
    level->of = blocks.of;
    level->modes = blocks.modes;
    level->n_modes = blocks.n_modes;
    level->most_rows = blocks.most_rows;
    return status;
}

static weft_status open_nodes(weft_levels_work *w, const weft_levels_options *options,
                              nodes_level *level, bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = options->problem;
    level->n = weft_operator_dofs(problem->op);
    level->n_nodes = level->n / options->components;
    level->x = weft_space_coordinates(problem->space);
    TRY(weft_device_level_open(w, problem, &level->matrix, made, error));
    if (*made)
        TRY(options->components > 1 ? open_blocks(w, options, level, error)
                                    : open_rows(w, level, error));
done:
    return status;
}

/* Coordinates, rows and the near-nullspace of the nodes of the last level. */
static weft_status read_nodes(const nodes_level *level, int dimension, weft_levels *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_nodes = (size_t)level->n_nodes,
                 x_bytes = n_nodes * (size_t)dimension * sizeof(double);
    const size_t bytes = (size_t)level->n * (size_t)level->n_modes * sizeof(double);
    int64_t *first = malloc((n_nodes + 1) * sizeof *first);
    out->n_nodes = level->n_nodes;
    out->n_modes = level->n_modes;
    out->x = malloc(x_bytes + 1);
    out->modes = malloc(bytes + 1);
    out->node_start = level->first ? malloc((n_nodes + 1) * sizeof *out->node_start) : NULL;
    if (!out->x || !out->modes || !first || (level->first && !out->node_start))
        TRY(weft_out_of_memory(error, "a level of multigrid"));
    TRY(weft_memory_read(level->x, 0, out->x, x_bytes, error));
    TRY(weft_memory_read(level->modes, 0, out->modes, bytes, error));
    if (level->first)
        TRY(weft_memory_read(level->first, 0, first, (n_nodes + 1) * sizeof *first, error));
    for (size_t i = 0; level->first && i <= n_nodes; ++i)
        out->node_start[i] = (int32_t)first[i];
done:
    free(first);
    return status;
}

weft_status weft_levels_by_aggregation(weft_levels_work *w, const weft_levels_options *options,
                                       bool *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = options->problem;
    weft_levels *out = w->out;
    nodes_level level = {.matrix.op = problem->op};
    *made = false;
    if (options->components > WEFT_BLOCK_ROWS)
        goto done;
    TRY(open_nodes(w, options, &level, made, error));
    if (!*made)
        goto done;
    while (!out->is_complete) {
        TRY(coarsen_once(w, options, &level, error));
        /* they keep sums of rows, but the near-nullspace is not constant there */
        w->half_precision = false;
    }
    *made = out->n > 0;
    if (!*made)
        goto done;
    TRY(weft_device_level_read(w, &level.matrix, error));
    TRY(read_nodes(&level, weft_space_mesh(problem->space)->dimension, out, error));
done:
    nodes_level_clear(&level, problem->op);
    return status;
}
