/* Launches kernels over a product of two index sets, and the kernels that combine their parts.
 *
 * The slices of the matrix are divided into parts: thread blocks or clusters on a GPU, ranges of
 * slices on the host. Their number depends on the sizes and the device alone, so that results are
 * repeatable. On a GPU with clusters, kernels over rows are generated for the sizes of the run. */
#include "core/base/exact.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>

/* Number of slices of a product, and of parts that share them. */
typedef struct parts {
    int64_t n_slices, n_parts;
} parts;

static const weft_index_set *product_of(const weft_program_segment *p,
                                        const weft_plan_kernel *kernel) {
    return &p->segment->graph->index_sets[kernel->index_set];
}

static int number_of(const weft_program_segment *p, const weft_plan_kernel *kernel) {
    return (int)(kernel - p->segment->plan->kernels);
}

static parts parts_of(const weft_program_segment *p, const weft_plan_kernel *kernel) {
    const weft_index_set *set = product_of(p, kernel);
    const weft_nested_launch *launch = &p->nested[number_of(p, kernel)];
    const int64_t lanes = p->segment->plan->lanes;
    parts made = {.n_slices = p->sizes[set->first]};
    if (kernel->slice == SLICE_COLUMNS)
        made.n_slices = (p->sizes[set->second] + lanes - 1) / lanes;
    if (launch->module)
        made.n_parts = launch->shape.n_parts;
    else if (p->segment->plan->is_simt) {
        const int multiprocessors = p->segment->limits.multiprocessors;
        made.n_parts = 2 * (multiprocessors > 0 ? multiprocessors : 1);
        made.n_parts = made.n_parts < made.n_slices ? made.n_parts : made.n_slices;
    } else {
        made.n_parts = (made.n_slices + WEFT_NESTED_SLICES - 1) / WEFT_NESTED_SLICES;
        made.n_parts = made.n_parts < WEFT_NESTED_PARTS ? made.n_parts : WEFT_NESTED_PARTS;
    }
    return made;
}

weft_status weft_program_nested_choose(weft_program_segment *p, weft_error *error) {
    const weft_plan *plan = p->first->plan;
    bool fits = true;
    weft_nested_shape shape;
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_index_set *set = &p->first->graph->index_sets[plan->kernels[i].index_set];
        if (plan->kernels[i].kind == KERNEL_NESTED && plan->kernels[i].slice == SLICE_COLUMNS)
            fits = fits && weft_nested_shape_make(p->first, &plan->kernels[i], p->sizes[set->first],
                                                  p->sizes[set->second], &shape);
    }
    fits ^= weft_fault("plan_for_other_sizes") && p->first->otherwise;
    if (!fits && !p->first->otherwise)
        return weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                                 "no kernel holds columns of a matrix of these sizes",
                                 "remove the fuse block that needs it");
    p->segment = fits ? p->first : p->first->otherwise;
    return WEFT_OK;
}

static weft_status prepare_sizes(weft_program_segment *p, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_index_set *set = product_of(p, kernel);
    const int64_t sizes[] = {p->sizes[set->first], p->sizes[set->second],
                             parts_of(p, kernel).n_parts};
    weft_memory **memory = &p->nested[number_of(p, kernel)].sizes;
    if (!*memory)
        TRY(weft_memory_make(p->device, sizeof sizes, memory, error));
    TRY(weft_memory_write(*memory, 0, sizes, sizeof sizes, error));
done:
    return status;
}

/* The module with the kernel for these sizes, where the device has clusters. */
static weft_status prepare_module(weft_program_segment *p, const weft_plan_kernel *kernel,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_index_set *set = product_of(p, kernel);
    weft_nested_launch *launch = &p->nested[number_of(p, kernel)];
    weft_text text = {0};
    weft_module_free(&launch->module);
    if (!weft_nested_shape_make(p->segment, kernel, p->sizes[set->first], p->sizes[set->second],
                                &launch->shape))
        goto done;
    TRY(weft_source_nested_sized(p->segment, kernel, &launch->shape, &text, error));
    TRY(weft_module_make(p->device, kernel->name, text.data, &launch->module, error));
done:
    weft_text_free(&text);
    return status;
}

/* One range of slices per part, all in parallel. */
static weft_status prepare_schedule(weft_schedule **out, const parts *all, weft_error *error) {
    weft_schedule *made = calloc(1, sizeof *made);
    weft_schedule_free(out);
    if (!made)
        return weft_no_memory(error);
    made->n_colours = all->n_parts > 0;
    made->colour_start = calloc(2, sizeof *made->colour_start);
    made->ranges = calloc((size_t)all->n_parts + 1, sizeof *made->ranges);
    if (!made->colour_start || !made->ranges) {
        weft_schedule_free(&made);
        return weft_no_memory(error);
    }
    made->colour_start[1] = all->n_parts;
    for (int64_t i = 0; i < all->n_parts; ++i) {
        made->ranges[i][0] = i * all->n_slices / all->n_parts;
        made->ranges[i][1] = (i + 1) * all->n_slices / all->n_parts - weft_fault("rows_lost");
    }
    *out = made;
    return WEFT_OK;
}

/* Ranks divide the columns of a matrix; each has all its rows. */
static weft_status check_share(const weft_program_segment *p, const weft_call *call,
                               const weft_index_set *set, weft_error *error) {
    const weft_share *share = p->shares[call->is_divided ? set->second : set->first];
    if (!p->segment->options.distributed || (share && (call->is_divided || !share->comm)))
        return WEFT_OK;
    weft_error_at(error, WEFT_ERROR_USAGE, call->place,
                  share ? "'%s' sums over rows, which ranks divide"
                        : "what ranks own of the rows and columns of '%s' is not known",
                  call->label);
    return WEFT_ERROR_USAGE;
}

weft_status weft_program_nested_prepare(weft_program_segment *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_plan_kernel *kernel = &p->segment->plan->kernels[number];
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    const weft_index_set *set = product_of(p, kernel);
    if (set->pairs.triangle != TRIANGLE_NONE && p->sizes[set->first] != p->sizes[set->second])
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                           "a list over %s needs sets of equal size, not of %lld and %lld",
                           set->name, (long long)p->sizes[set->first],
                           (long long)p->sizes[set->second]));
    TRY(prepare_module(p, kernel, error));
    TRY(prepare_sizes(p, kernel, error));
    const parts all = parts_of(p, kernel);
    if (!p->segment->plan->is_simt)
        TRY(prepare_schedule(&p->chunks[number], &all, error));
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &graph->calls[kernel->reductions[i]];
        const weft_value *result = &graph->values[call->result];
        const int64_t n_parts = all.n_parts + weft_call_is_mirrored(call); /* sums of rows */
        const int64_t n = result->index_set >= 0 ? p->sizes[result->index_set] : 1;
        const size_t needed =
            (size_t)(call->is_divided ? n * WEFT_EXACT_NUMBERS : n_parts * n + 1) *
            (size_t)weft_shape_count(&result->shape) * real_bytes;
        TRY(check_share(p, call, set, error));
        TRY(weft_program_partials(p, result->id, needed, error));
    }
done:
    return status;
}

weft_status weft_program_nested_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                     weft_launch *launch, weft_error *error) {
    const weft_nested_launch *own = &p->nested[number_of(p, kernel)];
    const parts all = parts_of(p, kernel);
    const int warp = p->segment->plan->target.warp_threads;
    (void)error;
    launch->n_elements = all.n_slices;
    launch->lanes = 1;
    if (own->module) {
        launch->module = own->module;
        launch->block_threads = own->shape.threads + (kernel->slice == SLICE_ROWS ? warp : 0);
        launch->shared_bytes = own->shape.shared_bytes;
        launch->cluster_blocks = own->shape.cluster;
        launch->n_blocks = all.n_parts * own->shape.cluster;
    } else if (p->segment->plan->is_simt) {
        launch->block_threads = WEFT_NESTED_THREADS;
        launch->n_blocks = all.n_parts;
    }
    return WEFT_OK;
}

weft_status weft_program_nested_final_grid(const weft_program_segment *p,
                                           const weft_plan_kernel *kernel, weft_launch *launch,
                                           weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const weft_value *result = &graph->values[graph->calls[kernel->reductions[0]].result];
    const int warp = p->segment->plan->target.warp_threads;
    (void)error;
    launch->n_elements *= weft_shape_count(&result->shape);
    if (p->segment->plan->is_simt) {
        launch->waits = !p->segment->plan->predicated;
        launch->block_threads = WEFT_NESTED_THREADS;
        launch->n_blocks = (launch->n_elements + warp - 1) / warp;
    }
    return WEFT_OK;
}
