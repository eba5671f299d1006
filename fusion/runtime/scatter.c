/* Arguments and launches of accumulating stores by cell colours (one launch per colour, so that
 * each colour is complete before the next) and by patches, for vectors and rows of matrices. */
#include "fusion/plan/scatter.h"
#include "fusion/base/target.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/plan/patches.h"
#include "fusion/runtime/private.h"

/* ---- colours of cells ---- */

weft_status weft_program_colours_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell_colours *colours = NULL;
    TRY(weft_connectivity_colours(p->connectivities[argument->index], &colours, error));
    *out = colours->n_colours > 0 ? colours->order[0] : NULL;
done:
    return status;
}

weft_status weft_program_colours_launch(weft_program_segment *p, const weft_plan_kernel *kernel,
                                        const weft_launch *whole, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell_colours *colours = NULL;
    int place = 0;
    while (kernel->arguments[place].kind != ARGUMENT_COLOUR)
        ++place;
    TRY(weft_connectivity_colours(p->connectivities[kernel->arguments[place].index], &colours,
                                  error));
    for (int i = 0; i < colours->n_colours; ++i) {
        weft_launch launch = *whole;
        launch.n_elements = colours->start[i + 1] - colours->start[i];
        if (colours->is_serial_last && i == colours->n_colours - 1)
            launch.n_blocks = launch.block_threads = 1;
        p->arguments[place] = colours->order[i];
        TRY(weft_device_launch(p->device, &launch, error));
    }
done:
    return status;
}

/* ---- patches of a vector ---- */

/* Does any kernel need the cells' numbers? Then all kernels share the patches that contain them. */
static bool patches_read_cells(const weft_program_segment *p, int connectivity, int part) {
    const weft_plan *plan = p->segment->plan;
    bool with_cells = false;
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i) {
            const weft_argument *argument = &plan->kernels[k].arguments[i];
            with_cells |= argument->kind == ARGUMENT_PATCH && argument->index == connectivity &&
                          argument->part == part;
        }
    return with_cells;
}

static weft_status program_patches(const weft_program_segment *p, int connectivity,
                                   weft_patch_kind kind, const weft_patches **out,
                                   weft_error *error) {
    const int cells = kind == PATCH_EDGE ? WEFT_PATCH_ARGUMENTS + WEFT_EDGE_PATCH_ARGUMENTS - 1
                                         : WEFT_PATCH_ARGUMENTS - 1;
    const weft_patch_options options = {.kind = kind,
                                        .nodes = weft_patch_nodes(&p->segment->options),
                                        .n_warps = WEFT_EDGE_PATCH_THREADS / WEFT_PATCH_LANES,
                                        .with_cells = patches_read_cells(p, connectivity, cells)};
    return weft_connectivity_patches(p->connectivities[connectivity], &options, out, error);
}

weft_status weft_program_patch_argument(const weft_program_segment *p,
                                        const weft_argument *argument, weft_memory **out,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_patch_kind kind = argument->part < WEFT_PATCH_ARGUMENTS ? PATCH_VERTEX : PATCH_EDGE;
    const weft_patches *made = NULL;
    TRY(program_patches(p, argument->index, kind, &made, error));
    weft_memory *const memories[WEFT_PATCH_ARGUMENTS + WEFT_EDGE_PATCH_ARGUMENTS] = {
        made->halo_start, made->halo, made->order, made->rows,  made->words, made->cells,
        made->halo_start, made->halo, made->rows,  made->words, made->cells};
    *out = memories[argument->part];
done:
    return status;
}

/* One thread block per patch, whose staged values must fit in shared memory. */
weft_status weft_program_patch_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                    weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_patch_computation patch = weft_patch_computation_of(graph, kernel);
    const weft_patches *made = NULL;
    TRY(program_patches(p, patch.accumulation->connectivity,
                        kernel->kind == KERNEL_EDGE_PATCH ? PATCH_EDGE : PATCH_VERTEX, &made,
                        error));
    const size_t bytes =
        weft_patch_computation_shared(graph, &patch, made->most_local,
                                      p->segment->options.single ? sizeof(float) : sizeof(double));
    if (bytes > p->segment->limits.onchip_bytes) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%d nodes in and round a patch of %d need %zu bytes of shared memory, %s "
                       "has %zu a block",
                       made->most_local, patch.nodes, bytes, p->segment->limits.name,
                       p->segment->limits.onchip_bytes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        TRY(WEFT_ERROR_UNSUPPORTED);
    }
    launch->n_elements = made->n_nodes;
    launch->block_threads = patch.threads;
    launch->n_blocks = made->n_patches;
    launch->shared_bytes = (int)bytes;
done:
    return status;
}

/* Make the patches of the plan that is taken. */
static weft_status make_patches(const weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    for (int k = 0; k < plan->n_kernels; ++k) {
        weft_launch launch = {0};
        if (weft_kernel_is_patch(plan->kernels[k].kind) &&
            plan->kernels[k].kind != KERNEL_MATRIX_PATCH)
            TRY(weft_program_grid(p, &plan->kernels[k], &launch, error));
    }
done:
    return status;
}

weft_status weft_program_patches_choose(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error why = {0};
    if (p->segment != p->first || !p->first->otherwise || !weft_scatter_is_fragile(p->first->plan))
        goto done;
    if (!p->patches_tried) {
        status = make_patches(p, &why);
        if (status == WEFT_ERROR_UNSUPPORTED) {
            weft_log(weft_device_monitor(p->device), WEFT_LOG_INFO,
                     "%s: additions are kept apart by %s, not by %s: %s",
                     p->first->plan->kernels[0].name,
                     weft_scatter_name(p->first->otherwise->plan->scatter, true),
                     weft_scatter_name(p->first->plan->scatter, true), why.message);
            p->patches_refused = true;
            status = WEFT_OK;
        }
        if (status != WEFT_OK && error)
            *error = why;
        TRY(status);
        p->patches_tried = true;
    }
    if (p->patches_refused)
        p->segment = p->first->otherwise;
done:
    return status;
}

weft_status weft_program_patches_make(weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < program->compilation->control->n_segments; ++i) {
        TRY(weft_program_patches_choose(program->segments[i], error));
        TRY(make_patches(program->segments[i], error));
    }
done:
    return status;
}

/* ---- rows of a matrix ---- */

weft_status weft_program_matrix_argument(const weft_program_segment *p,
                                         const weft_argument *argument, weft_memory **out,
                                         weft_error *error) {
    const weft_matrix_rows *rows = &p->matrix_rows[argument->index];
    weft_memory *const memories[WEFT_PATCH_MATRIX_ARGUMENTS] = {
        rows->start,      rows->rows, rows->word_start, rows->words,
        rows->halo_start, rows->halo, rows->first,      rows->cells};
    *out = memories[argument->part];
    return *out ? WEFT_OK
                : weft_error_set(
                      error, WEFT_ERROR_USAGE,
                      "matrix '%s' is made row by row: what its rows need (%d) is not bound",
                      p->segment->graph->values[argument->index].name, argument->part);
}

weft_status weft_program_matrix_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                     weft_launch *launch, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const weft_patch_computation patch = weft_patch_computation_of(graph, kernel);
    const weft_matrix_rows *rows = &p->matrix_rows[patch.accumulation->target];
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    const size_t staged = (size_t)weft_patch_staged_count(graph, &patch);
    const size_t bytes =
        (staged * (size_t)rows->most_local + (size_t)rows->most_values) * real_bytes;
    if (bytes > p->segment->limits.onchip_bytes) {
        weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "%d rows with %lld entries need %zu bytes of shared memory, %s has %zu a block",
            WEFT_PATCH_NODES, (long long)rows->most_values, bytes, p->segment->limits.name,
            p->segment->limits.onchip_bytes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        return WEFT_ERROR_UNSUPPORTED;
    }
    launch->n_elements = rows->n_rows;
    launch->block_threads = WEFT_PATCH_MATRIX_THREADS;
    launch->n_blocks = rows->n_blocks;
    launch->shared_bytes = (int)bytes;
    return WEFT_OK;
}
