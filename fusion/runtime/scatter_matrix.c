/* Matrices whose rows are made by their owners: what is bound for them, and their launches. */
#include "core/weft_core.h"
#include "fusion/base/target.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/plan.h"
#include "fusion/plan/segment.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_program.h"

bool weft_program_makes_rows(const weft_program_segment *p, int matrix) {
    const weft_plan *plan = p->segment->plan;
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
            if (plan->kernels[k].arguments[i].kind == ARGUMENT_STAR_MATRIX &&
                plan->kernels[k].arguments[i].index == matrix)
                return true;
    return false;
}

weft_status weft_program_matrix_argument(const weft_program_segment *p,
                                         const weft_argument *argument, weft_memory **out,
                                         weft_error *error) {
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
                                p->segment->graph->data[argument->index].name, argument->part);
}

weft_status weft_program_matrix_launch(const weft_program_segment *p,
                                       const weft_plan_kernel *kernel, weft_launch *launch,
                                       weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const weft_star_source star = weft_star_source_of(graph, kernel);
    const weft_matrix_rows *rows = &p->matrix_rows[star.accumulation->target];
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    size_t staged = 0;
    for (int i = 0; i < star.n_loads; ++i)
        if (star.loads[i].map == star.accumulation->map)
            staged += (size_t)weft_shape_count(&graph->data[star.loads[i].datum].shape);
    const size_t bytes =
        (staged * (size_t)rows->most_local + (size_t)rows->most_values) * real_bytes;
    if (bytes > p->segment->limits.onchip_bytes) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%d rows with %lld entries need %zu bytes of shared memory, %s has %zu a "
                       "block",
                       WEFT_STAR_NODES, (long long)rows->most_values, bytes,
                       p->segment->limits.name, p->segment->limits.onchip_bytes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        return WEFT_ERROR_UNSUPPORTED;
    }
    launch->n_instances = rows->n_rows;
    launch->block_threads = WEFT_STAR_MATRIX_THREADS;
    launch->n_blocks = (rows->n_rows + WEFT_STAR_NODES - 1) / WEFT_STAR_NODES;
    launch->shared_bytes = (int)bytes;
    return WEFT_OK;
}
