/* Makes graphs, prolongations and near-nullspaces of nodes with several rows on a device
 * (kernels/setup/aggregation_blocks.cu). */
#include "fem/multigrid/on_device.h"

static weft_status make(weft_setup *setup, int64_t n, size_t size, weft_memory **out,
                        weft_error *error) {
    return weft_memory_make_unset(weft_setup_device(setup), (size_t)n * size, out, error);
}

static weft_status run(weft_setup *setup, const char *name, int64_t n,
                       weft_memory *const *arguments, int n_arguments, weft_error *error) {
    const weft_setup_kernel kernel = {"aggregation_blocks", name, n, 0, 0};
    return weft_setup_launch(setup, &kernel, arguments, n_arguments, error);
}

weft_status weft_device_blocks_finest(weft_setup *setup, int components, bool rigid_body_modes,
                                      weft_device_blocks *level, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = level->dimension;
    const int64_t n = level->n_rows;
    weft_memory *sizes = NULL, *kinds = NULL;
    level->most_rows = components;
    level->n_modes = rigid_body_modes ? d * (d + 1) / 2 : components;
    TRY(make(setup, level->n_nodes + 1, sizeof(int64_t), &level->first, error));
    TRY(make(setup, n, sizeof(int32_t), &level->of, error));
    TRY(make(setup, n * level->n_modes, sizeof(double), &level->modes, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){components, level->n_nodes}, 2, &sizes, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){d, level->n_modes, rigid_body_modes}, 3, &kinds,
                           error));
    const int64_t most = n > level->n_nodes ? n : level->n_nodes + 1;
    TRY(run(setup, "even_nodes", most, (weft_memory *[]){sizes, level->first, level->of}, 3,
            error));
    weft_memory *const arguments[] = {kinds,        level->fixed, level->x,
                                      level->first, level->of,    level->modes};
    TRY(run(setup, "node_modes", n, arguments, 6, error));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&kinds);
    return status;
}

/* ---- the graph ------------------------------------------------------------------------------- */

void weft_device_node_graph_free(weft_device_node_graph *graph) {
    weft_device_matrix_free(&graph->norms);
    weft_memory_free(&graph->fixed);
    *graph = (weft_device_node_graph){0};
}

weft_status weft_device_node_graph_make(weft_setup *setup, const weft_device_blocks *level,
                                        weft_device_node_graph *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = level->n_nodes;
    weft_device_node_graph made = {.norms.pattern.n_rows = n};
    weft_device_pattern *pattern = &made.norms.pattern;
    weft_memory *lengths = NULL;
    weft_sell_memories A;
    weft_sell_matrix_memories(level->A, &A);
    TRY(make(setup, n, sizeof(uint32_t), &lengths, error));
    weft_memory *const counted[] = {A.slots,        A.bases,   A.start,
                                    A.column_start, A.columns, level->fixed,
                                    level->first,   level->of, lengths};
    TRY(run(setup, "graph_lengths", n, counted, 9, error));
    TRY(weft_setup_sums(setup, lengths, n, &pattern->row_start, &pattern->n_entries, error));
    TRY(weft_device_pattern_check(0, pattern->n_entries, error));
    TRY(make(setup, pattern->n_entries, sizeof(int32_t), &pattern->columns, error));
    TRY(make(setup, pattern->n_entries, sizeof(double), &made.norms.values, error));
    TRY(make(setup, n, 1, &made.fixed, error));
    weft_memory *const filled[] = {
        A.slots,          A.bases,           A.start,      A.column_start, A.columns,
        A.values,         level->fixed,      level->first, level->of,      pattern->row_start,
        pattern->columns, made.norms.values, made.fixed};
    TRY(run(setup, "graph_rows", n, filled, 13, error));
    *out = made;
    made = (weft_device_node_graph){0};
done:
    weft_memory_free(&lengths);
    weft_device_node_graph_free(&made);
    return status;
}

weft_status weft_device_aggregate_blocks(weft_setup *setup, const weft_device_blocks *level,
                                         const weft_device_node_graph *graph,
                                         weft_device_aggregates *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell_matrix *sell = NULL;
    TRY(weft_sell_matrix_from_device(setup, &graph->norms.pattern, &sell, error));
    TRY(weft_sell_matrix_set(setup, &graph->norms, sell, error));
    const weft_device_coarsening nodes = {.A = sell,
                                          .n = level->n_nodes,
                                          .fixed = graph->fixed,
                                          .x = level->x,
                                          .dimension = level->dimension,
                                          .theta = level->theta,
                                          .aggregate_nodes = level->aggregate_nodes};
    TRY(weft_device_aggregate(setup, &nodes, out, error));
done:
    weft_sell_matrix_free(&sell);
    return status;
}

/* ---- prolongation ---------------------------------------------------------------------------- */

void weft_device_block_prolongation_free(weft_device_block_prolongation *P) {
    weft_memory **memories[] = {&P->scale, &P->counts, &P->aggregates, &P->weights,
                                &P->first, &P->of,     &P->modes,      &P->x};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    *P = (weft_device_block_prolongation){0};
}

/* Coarse rows are numbered by aggregates. */
static weft_status number_rows(weft_setup *setup, weft_memory *ranks, weft_memory *R,
                               weft_device_block_prolongation *P, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t m = P->n_modes;
    weft_memory *sizes = NULL;
    TRY(weft_setup_sums(setup, ranks, P->n_aggregates, &P->first, &P->n_columns, error));
    TRY(make(setup, P->n_columns, sizeof(int32_t), &P->of, error));
    TRY(make(setup, P->n_columns * m, sizeof(double), &P->modes, error));
    TRY(weft_setup_numbers(setup, &m, 1, &sizes, error));
    TRY(run(setup, "block_modes", P->n_aggregates,
            (weft_memory *[]){sizes, P->first, R, P->of, P->modes}, 5, error));
done:
    weft_memory_free(&sizes);
    return status;
}

weft_status weft_device_block_tentative(weft_setup *setup, const weft_device_blocks *level,
                                        const weft_device_aggregates *aggregates,
                                        weft_device_block_prolongation *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = aggregates->n, d = level->dimension, m = level->n_modes;
    weft_device_block_prolongation made = {
        .n_rows = level->n_rows, .n_aggregates = n, .n_modes = level->n_modes};
    weft_memory *sizes = NULL, *R = NULL, *ranks = NULL;
    TRY(make(setup, n * m * m, sizeof(double), &R, error));
    TRY(make(setup, n, sizeof(uint32_t), &ranks, error));
    TRY(make(setup, n * d, sizeof(double), &made.x, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){d, m, level->most_rows}, 3, &sizes, error));
    weft_memory *const arguments[] = {sizes,
                                      aggregates->start,
                                      aggregates->members,
                                      aggregates->nodes,
                                      level->first,
                                      level->x,
                                      level->modes,
                                      R,
                                      ranks,
                                      made.x};
    TRY(run(setup, "block_tentative", 32 * n, arguments, 10, error));
    TRY(number_rows(setup, ranks, R, &made, error));
    *out = made;
    made = (weft_device_block_prolongation){0};
done:
    weft_memory_free(&sizes);
    weft_memory_free(&R);
    weft_memory_free(&ranks);
    weft_device_block_prolongation_free(&made);
    return status;
}

/* 1 / sqrt(a_ii) */
static weft_status make_scale(weft_setup *setup, const weft_device_blocks *level,
                              const weft_sell_memories *A, weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_setup_kernel kernel = {"aggregation", "scales", level->n_rows, 0, 0};
    TRY(make(setup, level->n_rows, sizeof(double), out, error));
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){level->fixed, A->values, *out}, 3,
                          error));
done:
    return status;
}

weft_status weft_device_block_prolong(weft_setup *setup, const weft_device_blocks *level,
                                      const weft_device_node_graph *graph,
                                      const weft_device_aggregates *aggregates,
                                      weft_device_block_prolongation *P, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_entries = level->n_rows * WEFT_ROW_AGGREGATES;
    const weft_device_pattern *couplings = &graph->norms.pattern;
    weft_sell_memories A;
    weft_sell_matrix_memories(level->A, &A);
    TRY(make_scale(setup, level, &A, &P->scale, error));
    TRY(make(setup, n_entries, sizeof(int32_t), &P->aggregates, error));
    TRY(make(setup, level->n_rows, sizeof(int32_t), &P->counts, error));
    TRY(make(setup, n_entries * level->n_modes, sizeof(double), &P->weights, error));
    weft_memory *const arguments[] = {A.slots,
                                      A.bases,
                                      A.start,
                                      A.column_start,
                                      A.columns,
                                      A.values,
                                      P->scale,
                                      level->first,
                                      level->of,
                                      couplings->row_start,
                                      couplings->columns,
                                      graph->norms.values,
                                      aggregates->scale,
                                      aggregates->of,
                                      P->first,
                                      level->modes,
                                      P->modes,
                                      P->aggregates,
                                      P->counts,
                                      P->weights};
    const weft_device_rows_launch launch = {
        {"aggregation_blocks", "block_prolongation", 32 * level->n_rows, 0, 0},
        {level->n_modes, P->n_aggregates},
        level->theta,
        level->lambda,
        arguments,
        20};
    TRY(weft_device_make_rows(setup, &launch, error));
done:
    return status;
}

weft_status weft_device_block_transfer(weft_setup *setup, const weft_device_block_prolongation *P,
                                       weft_memory **columns, weft_memory **weights,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = P->n_rows * WEFT_ROW_AGGREGATES * P->n_modes;
    weft_memory *sizes = NULL;
    TRY(make(setup, n, sizeof(int32_t), columns, error));
    TRY(make(setup, n, sizeof(float), weights, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){P->n_modes, P->n_columns}, 2, &sizes, error));
    weft_memory *const arguments[] = {sizes,    P->aggregates, P->counts, P->weights,
                                      P->first, *columns,      *weights};
    TRY(run(setup, "block_transfer", n, arguments, 7, error));
done:
    weft_memory_free(&sizes);
    return status;
}
