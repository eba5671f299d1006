/* Matrices whose rows are made by their owners: what is bound for them, and their launches. */
#include "core/weft_core.h"
#include "fusion/base/target.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/compilation.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/plan.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_program.h"

#include <string.h>

static void rows_set(weft_program *p, const char *name, const weft_matrix_rows *rows) {
    const weft_graph *graph = p->compilation->graph;
    for (int i = 0; i < graph->n_data; ++i)
        if (graph->data[i].kind == DATUM_MATRIX && strcmp(graph->data[i].name, name) == 0)
            p->matrix_rows[i] = *rows;
}

weft_status weft_program_bind_matrix_rows(weft_program *program, const char *name,
                                          weft_memory *values, const weft_matrix_rows *rows,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind_matrix(program, name, values, NULL, error));
    if (program->flow == NULL)
        rows_set(program, name, rows);
    for (int i = 0; program->flow != NULL && i < program->compilation->flow->n_segments; ++i)
        rows_set(program->flow->segments[i], name, rows);
done:
    return status;
}

bool weft_program_makes_rows(const weft_program *p, int matrix) {
    const weft_plan *plan = p->compilation->plan;
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
            if (plan->kernels[k].arguments[i].kind == ARGUMENT_STAR_MATRIX &&
                plan->kernels[k].arguments[i].index == matrix)
                return true;
    return false;
}

weft_status weft_program_matrix_argument(const weft_program *p, const weft_argument *argument,
                                         weft_memory **out, weft_error *error) {
    const weft_matrix_rows *rows = &p->matrix_rows[argument->index];
    weft_memory *const memories[WEFT_STAR_MATRIX_ARGUMENTS] = {
        rows->start,      rows->rows, rows->word_start, rows->words,
        rows->halo_start, rows->halo, rows->cells};
    *out = memories[argument->part];
    return *out != NULL
               ? WEFT_OK
               : weft_error_set(error, WEFT_ERROR_USAGE,
                                "matrix '%s' is made row by row: what its rows need (%d) is not "
                                "bound",
                                p->compilation->graph->data[argument->index].name, argument->part);
}

weft_status weft_program_matrix_launch(const weft_program *p, const weft_plan_kernel *kernel,
                                       weft_launch *launch, weft_error *error) {
    const weft_graph *graph = p->compilation->graph;
    const weft_star_source star = weft_star_source_of(graph, kernel);
    const weft_matrix_rows *rows = &p->matrix_rows[star.accumulation->target];
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    size_t staged = 0;
    for (int i = 0; i < star.n_loads; ++i)
        if (star.loads[i].map == star.accumulation->map)
            staged += (size_t)weft_shape_count(&graph->data[star.loads[i].datum].shape);
    const size_t bytes =
        (staged * (size_t)rows->most_local + (size_t)rows->most_values) * real_bytes;
    if (bytes > p->compilation->limits.onchip_bytes) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%d rows with %lld entries need %zu bytes of shared memory, %s has %zu a "
                       "block",
                       WEFT_STAR_NODES, (long long)rows->most_values, bytes,
                       p->compilation->limits.name, p->compilation->limits.onchip_bytes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        return WEFT_ERROR_UNSUPPORTED;
    }
    launch->n_instances = rows->n_rows;
    launch->block_threads = WEFT_STAR_MATRIX_THREADS;
    launch->n_blocks = (rows->n_rows + WEFT_STAR_NODES - 1) / WEFT_STAR_NODES;
    launch->shared_bytes = (int)bytes;
    return WEFT_OK;
}
