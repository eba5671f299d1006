/* Makes prolongations of smoothed aggregation and their Galerkin matrices on a device (kernels/setup/aggregation.cu,
 * galerkin_weighted.cu). */
#include "fem/multigrid/on_device.h"

#include "fem/base/memory.h"
#include "fusion/connectivity/connectivity.h"

#include <string.h>

enum { ROW_NEIGHBOURS = 64 }; /* as in kernels/setup/aggregation.cu and aggregation_blocks.cu */

void weft_device_prolongation_free(weft_device_prolongation *prolongation) {
    weft_memory **memories[] = {&prolongation->columns, &prolongation->weights,
                                &prolongation->modes, &prolongation->x};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    *prolongation = (weft_device_prolongation){0};
}

/* T, by node; the near-nullspace and the coordinates of the coarse level. */
static weft_status make_tentative(weft_setup *setup, const weft_device_coarsening *level,
                                  const weft_device_aggregates *aggregates, weft_memory **t,
                                  weft_device_prolongation *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n = aggregates->n, d = level->dimension;
    weft_memory *sizes = NULL;
    TRY(weft_memory_make(device, (size_t)level->n * sizeof(double), t, error));
    TRY(weft_memory_make_unset(device, (size_t)n * sizeof(double), &made->modes, error));
    TRY(weft_memory_make_unset(device, (size_t)(n * d) * sizeof(double), &made->x, error));
    TRY(weft_setup_numbers(setup, &d, 1, &sizes, error));
    const weft_setup_kernel kernel = {"aggregation", "tentative", n, 0, 0};
    weft_memory *const arguments[] = {sizes,
                                      aggregates->start,
                                      aggregates->members,
                                      aggregates->nodes,
                                      level->modes,
                                      level->x,
                                      *t,
                                      made->modes,
                                      made->x};
    TRY(weft_setup_launch(setup, &kernel, arguments, 9, error));
done:
    weft_memory_free(&sizes);
    return status;
}

weft_status weft_device_make_rows(weft_setup *setup, const weft_device_rows_launch *launch,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    enum { MOST_ARGUMENTS = 32 };
    const double limits[] = {launch->theta, launch->lambda};
    const int n = launch->n_arguments;
    int32_t overflows = 0;
    weft_memory *sizes = NULL, *bounds = NULL, *overflow = NULL;
    TRY(weft_setup_numbers(setup, launch->numbers, 2, &sizes, error));
    TRY(weft_memory_place(weft_setup_device(setup), limits, 1, sizeof limits, &bounds, error));
    TRY(weft_memory_make(weft_setup_device(setup), sizeof overflows, &overflow, error));
    weft_memory *arguments[MOST_ARGUMENTS] = {sizes, bounds};
    memcpy(arguments + 2, launch->arguments, (size_t)n * sizeof(weft_memory *));
    arguments[n + 2] = overflow;
    TRY(weft_setup_launch(setup, &launch->kernel, arguments, n + 3, error));
    TRY(weft_memory_read(overflow, 0, &overflows, sizeof overflows, error));
    if (overflows)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a node is next to more than %d aggregates", ROW_NEIGHBOURS));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&bounds);
    weft_memory_free(&overflow);
    return status;
}

static weft_status make_rows(weft_setup *setup, const weft_device_coarsening *level,
                             const weft_device_aggregates *aggregates, weft_memory *t,
                             weft_device_prolongation *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const size_t n_entries = (size_t)level->n * WEFT_ROW_AGGREGATES;
    weft_sell_memories A;
    weft_sell_matrix_memories(level->A, &A);
    TRY(weft_memory_make_unset(device, n_entries * sizeof(int32_t), &made->columns, error));
    TRY(weft_memory_make_unset(device, n_entries * sizeof(double), &made->weights, error));
    weft_memory *const arguments[] = {A.slots,   A.bases,     A.start,           A.column_start,
                                      A.columns, A.values,    aggregates->scale, aggregates->of,
                                      t,         made->modes, made->columns,     made->weights};
    const weft_device_rows_launch launch = {{"aggregation", "prolongation", level->n, 0, 0},
                                            {aggregates->n, 0},
                                            level->theta,
                                            level->lambda,
                                            arguments,
                                            12};
    TRY(weft_device_make_rows(setup, &launch, error));
done:
    return status;
}

weft_status weft_device_prolong(weft_setup *setup, const weft_device_coarsening *level,
                                const weft_device_aggregates *aggregates,
                                weft_device_prolongation *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_prolongation made = {.n_rows = level->n, .n_columns = aggregates->n};
    weft_memory *t = NULL;
    TRY(make_tentative(setup, level, aggregates, &t, &made, error));
    TRY(make_rows(setup, level, aggregates, t, &made, error));
    *out = made;
    made = (weft_device_prolongation){0};
done:
    weft_memory_free(&t);
    weft_device_prolongation_free(&made);
    return status;
}

/* ---- the Galerkin matrix ---------------------------------------------------------------------- */

/* P, A, and what the kernels write. */
typedef struct product {
    weft_setup *setup;
    weft_memory *arguments[16];
    int n_common;
} product;

static weft_status run(product *p, const char *name, int64_t n_rows, weft_memory *const *outputs,
                       int n_outputs, weft_error *error) {
    const weft_setup_kernel kernel = {"galerkin_weighted", name, 32 * n_rows, 0, 0};
    for (int i = 0; i < n_outputs; ++i)
        p->arguments[p->n_common + i] = outputs[i];
    return weft_setup_launch(p->setup, &kernel, p->arguments, p->n_common + n_outputs, error);
}

weft_status weft_device_galerkin_weighted(weft_setup *setup, const weft_device_coarsening *level,
                                          weft_memory *scale, const weft_device_prolongation *P,
                                          weft_connectivity *transfer, weft_device_matrix *out,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n = P->n_columns;
    weft_device_matrix made = {.pattern.n_rows = n};
    weft_device_pattern *pattern = &made.pattern;
    weft_memory *start = NULL, *places = NULL, *lengths = NULL, *longest = NULL;
    weft_sell_memories A;
    int32_t most = 0;
    weft_sell_matrix_memories(level->A, &A);
    TRY(weft_connectivity_transposed(transfer, weft_device_limits(device)->lanes_double, &start,
                                     &places, error));
    TRY(weft_memory_make_unset(device, (size_t)(n + 1) * sizeof(uint32_t), &lengths, error));
    TRY(weft_memory_make(device, sizeof most, &longest, error));
    product p = {setup,
                 {start, places, P->columns, P->weights, A.slots, A.bases, A.start, A.column_start,
                  A.columns},
                 9};
    TRY(run(&p, "weighted_lengths", n, (weft_memory *[]){lengths, longest}, 2, error));
    TRY(weft_setup_sums(setup, lengths, n, &pattern->row_start, &pattern->n_entries, error));
    TRY(weft_memory_read(longest, 0, &most, sizeof most, error));
    TRY(weft_device_pattern_check(most, pattern->n_entries, error));
    const size_t n_entries = (size_t)pattern->n_entries;
    TRY(weft_memory_make_unset(device, n_entries * sizeof(int32_t), &pattern->columns, error));
    TRY(weft_memory_make_unset(device, n_entries * sizeof(double), &made.values, error));
    weft_memory *const outputs[] = {A.values, scale, pattern->row_start, pattern->columns,
                                    made.values};
    TRY(run(&p, "weighted_rows", n, outputs, 5, error));
    *out = made;
    made = (weft_device_matrix){0};
done:
    weft_memory_free(&lengths);
    weft_memory_free(&longest);
    weft_device_matrix_free(&made);
    return status;
}
