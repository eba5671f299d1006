/* Runs a segment: every launch of its plan. */
#include "core/base/fault.h"
#include "core/comm/exact.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/runtime/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LENGTH = 256 };

static weft_memory *value_memory(const weft_program_segment *p, int value) {
    const int buffer = p->segment->plan->buffer_of[value];
    return buffer >= 0 ? p->buffers[buffer] : p->data[value];
}

static weft_status launch_argument(weft_program_segment *p, const weft_argument *argument,
                                   weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    weft_memory *parts[2] = {NULL, NULL};
    switch (argument->kind) {
    case ARGUMENT_VALUE:
        *out = value_memory(p, argument->index);
        break;
    case ARGUMENT_PARTIALS:
        *out = p->partials[argument->index];
        break;
    case ARGUMENT_PRODUCT:
    case ARGUMENT_DOUBLE_BUFFER:
        status = weft_program_product_argument(p, argument, out, error);
        break;
    case ARGUMENT_POSITIONS:
        *out =
            p->positions[weft_program_positions_place(p, argument->index, argument->part)].memory;
        break;
    case ARGUMENT_MEMBERS:
        *out = p->members[argument->index];
        break;
    case ARGUMENT_OWNED:
        *out = p->shares[argument->index]->owned;
        break;
    case ARGUMENT_TEAM:
        *out = p->shares[argument->index]->team;
        break;
    case ARGUMENT_SIZES:
        *out = p->nested[argument->index].sizes;
        break;
    case ARGUMENT_PATCH_MATRIX:
        status = weft_program_matrix_argument(p, argument, out, error);
        break;
    case ARGUMENT_CONNECTIVITY:
    case ARGUMENT_COLOUR:
    case ARGUMENT_PATCH:
    case ARGUMENT_CELL_PATCH:
    case ARGUMENT_GATHER:
        if (!p->connectivities[argument->index]) {
            status = weft_error_set(error, WEFT_ERROR_USAGE, "connectivity '%s' is not bound",
                                    p->segment->graph->connectivities[argument->index].name);
            break;
        }
        if (argument->kind == ARGUMENT_PATCH) {
            status = weft_program_patch_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_CELL_PATCH) {
            status = weft_program_cell_patch_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_COLOUR) {
            status = weft_program_colours_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_CONNECTIVITY) {
            status = weft_connectivity_interleaved(p->connectivities[argument->index], plan->lanes,
                                                   out, error);
            break;
        }
        TRY(weft_connectivity_transposed(p->connectivities[argument->index], plan->lanes, &parts[0],
                                         &parts[1], error));
        *out = parts[argument->part];
        break;
    }
done:
    return status;
}

/* A schedule with all blocks in one range. */
typedef struct serial_schedule {
    weft_schedule schedule;
    int64_t start[2], range[1][2];
} serial_schedule;

/* The host schedule in which concurrent accumulating stores share no target. Kernels that
 * accumulate through several connectivities, and those of several ranks, run serially. */
static weft_status launch_schedule(weft_program_segment *p, const weft_plan_kernel *kernel,
                                   serial_schedule *serial, const weft_schedule **out,
                                   weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const int lanes = p->segment->plan->lanes;
    int connectivity = -1;
    bool several = false;
    for (int i = 0; i < kernel->n_scatters; ++i) {
        const int m = graph->accumulations[kernel->scatters[i]].connectivity;
        several |= connectivity >= 0 && m != connectivity;
        connectivity = m;
    }
    *out = NULL;
    if (p->segment->plan->is_simt) /* stores are atomic, by owners or by cell colours */
        return WEFT_OK;
    *out = p->chunks[kernel - p->segment->plan->kernels];
    if (connectivity < 0 || *out)
        return WEFT_OK;
    /* colours of cells, and so the order of additions to a target, depend on the part of a rank */
    if (!several && p->connectivities[connectivity] && !p->segment->options.distributed)
        return weft_connectivity_schedule(p->connectivities[connectivity], lanes, out, error);
    *serial = (serial_schedule){.start = {0, 1},
                                .range = {{0, weft_program_blocks(p, kernel->index_set)}}};
    serial->schedule =
        (weft_schedule){.n_colours = 1, .colour_start = serial->start, .ranges = serial->range};
    *out = &serial->schedule;
    return WEFT_OK;
}

weft_status weft_program_kernel_arguments(weft_program_segment *p, const weft_plan_kernel *kernel,
                                          weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < kernel->n_arguments; ++i)
        TRY(launch_argument(p, &kernel->arguments[i], &out[i], error));
done:
    return status;
}

static weft_memory *active_of(const weft_program_segment *p) {
    return p->active ? p->active : p->always;
}

/* Zero the target of accumulating stores; predicated like the kernel itself. */
static weft_status zero(const weft_program_segment *p, const weft_plan_kernel *kernel, int value,
                        weft_error *error) {
    weft_memory *list = value_memory(p, value);
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    weft_memory *arguments[2] = {list, active_of(p)};
    char name[NAME_LENGTH];
    if (!p->segment->plan->predicated)
        return weft_memory_zero(list, error);
    snprintf(name, sizeof name, "%s" WEFT_CLEAR_SUFFIX, kernel->name);
    const weft_launch launch = {.module = p->module,
                                .kernel = name,
                                .arguments = arguments,
                                .n_arguments = 2,
                                .n_elements = (int64_t)(weft_memory_bytes(list) / real_bytes),
                                .lanes = p->segment->plan->lanes};
    return launch.n_elements > 0 ? weft_device_launch(p->device, &launch, error) : WEFT_OK;
}

/* ---- how kernels of a kind are launched ---- */

/* Set the number of blocks for a number of elements per block. */
static void set_blocks(weft_launch *launch, int threads, int64_t elements) {
    launch->block_threads = threads;
    launch->n_blocks = (launch->n_elements + elements - 1) / elements;
}

static weft_status map_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                            weft_launch *launch, weft_error *error) {
    const weft_implementation *one = kernel->implementation;
    (void)error;
    if (p->segment->plan->is_simt && weft_source_block_threads(p->segment->plan, kernel) > 0)
        set_blocks(launch, one->elements_per_block,
                   (int64_t)one->elements_per_block * one->serial_iterations);
    return WEFT_OK;
}

static weft_status gather_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                               weft_launch *launch, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const weft_graph_connectivity *map =
        &graph->connectivities[graph->accumulations[kernel->gather].connectivity];
    (void)error;
    const weft_target *target = &p->segment->plan->target;
    if (!weft_source_shares_targets(graph, p->segment->plan->is_simt, kernel))
        return WEFT_OK;
    const int64_t contributions = p->sizes[map->from] * map->width;
    set_blocks(launch, target->block_threads,
               target->block_threads / weft_source_gather_threads(target, contributions,
                                                                  launch->n_elements,
                                                                  p->segment->options.distributed));
    return WEFT_OK;
}

static weft_status reduction_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                  weft_launch *launch, weft_error *error) {
    const int tiles = kernel->coarsening > 1 ? kernel->coarsening : 1;
    (void)error;
    if (p->segment->plan->is_simt)
        set_blocks(launch, 0, (int64_t)p->segment->plan->target.reduction_tile * tiles);
    return WEFT_OK;
}

static weft_status multi_thread_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                     weft_launch *launch, weft_error *error) {
    const weft_implementation *one = kernel->implementation;
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    (void)error;
    set_blocks(launch, one->threads_per_element * one->elements_per_block,
               (int64_t)one->elements_per_block * one->serial_iterations);
    launch->shared_bytes =
        (int)((size_t)one->shared_components * (size_t)one->elements_per_block * real_bytes);
    return WEFT_OK;
}

/* On the host one thread, whose n_elements is the number of partial results plus one. */
static weft_status finish_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                               weft_launch *launch, weft_error *error) {
    (void)error;
    launch->n_elements =
        weft_program_reduction_tiles(p, kernel->index_set) + !weft_fault("last_chunk_lost");
    launch->lanes = (int)launch->n_elements;
    if (p->segment->plan->is_simt) { /* without elements the kernel stores the neutral element */
        launch->n_elements = p->sizes[kernel->index_set];
        launch->lanes = p->segment->plan->target.warp_threads;
        launch->n_blocks = 1;
        launch->block_threads = p->segment->plan->target.reduction_tile;
        launch->waits = !p->segment->plan->predicated;
    }
    return WEFT_OK;
}

static weft_status launch_once(weft_program_segment *p, const weft_plan_kernel *kernel,
                               const weft_launch *launch, weft_error *error) {
    (void)kernel;
    return launch->n_elements > 0 || launch->n_blocks > 0
               ? weft_device_launch(p->device, launch, error)
               : WEFT_OK;
}

int64_t weft_program_join_blocks(const weft_program_segment *p, const weft_plan_kernel *kernel) {
    const int tiles = kernel->coarsening > 1 ? kernel->coarsening : 1;
    const int64_t n = (weft_program_reduction_tiles(p, kernel->index_set) + tiles - 1) / tiles;
    const weft_target *target = &p->segment->plan->target;
    const int direct =
        p->segment->options.distributed ? target->joined_exact : target->joined_direct;
    return p->segment->plan->is_simt && n > direct
               ? (n + target->joined_before - 1) / target->joined_before
               : 0;
}

/* Numbers of a reduction's result. */
static int64_t count_numbers(const weft_program_segment *p, const weft_call *call) {
    const weft_value *made = &p->segment->graph->values[call->result];
    return (made->index_set >= 0 ? p->sizes[made->index_set] : 1) * weft_shape_count(&made->shape);
}

/* The first `count` partial results of each rank become the sums of all. */
static weft_status join_sums(weft_program_segment *p, const weft_call *call, weft_comm *comm,
                             double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t count = count_numbers(p, call);
    weft_exact_sum *sums = malloc((size_t)count * sizeof *sums + 1);
    if (!sums)
        TRY(weft_no_memory(error));
    TRY(weft_memory_read(p->partials[call->result], 0, sums, (size_t)count * sizeof *sums, error));
    TRY(weft_comm_join_sums(comm, sums, count, error));
    for (int64_t c = 0; c < count; ++c)
        out[c] = weft_exact_value(&sums[c]);
done:
    free(sums);
    return status;
}

/* Least and greatest numbers.
 *  out  [count], of this rank, then of all */
static weft_status join_extremes(const weft_call *call, weft_comm *comm, int64_t count, double *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(comm);
    double *all = malloc((size_t)size * (size_t)count * sizeof *all + 1);
    if (!all)
        TRY(weft_no_memory(error));
    TRY(weft_comm_gather(comm, out, (size_t)count * sizeof *out, all, error));
    for (int64_t i = 0; i < size * count; ++i) {
        double *value = &out[i % count];
        if (i < count || isnan(all[i]) ||
            (call->reduction->op == '<' ? all[i] < *value : all[i] > *value))
            *value = all[i];
    }
done:
    free(all);
    return status;
}

/* Join the results of all ranks. */
static weft_status join_ranks(weft_program_segment *p, const weft_call *call, weft_comm *comm,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t count = count_numbers(p, call);
    const size_t bytes = (size_t)count * sizeof(double);
    weft_memory *result = value_memory(p, weft_value_storage(p->segment->graph, call->result));
    double *values = malloc(bytes + 1);
    if (!values)
        TRY(weft_no_memory(error));
    if (call->reduction->op == '+') {
        TRY(join_sums(p, call, comm, values, error));
    } else {
        TRY(weft_memory_read(result, 0, values, bytes, error));
        TRY(join_extremes(call, comm, count, values, error));
    }
    TRY(weft_memory_write(result, 0, values, bytes, error));
done:
    free(values);
    return status;
}

static weft_status join_all_ranks(weft_program_segment *p, const weft_plan_kernel *kernel,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_share *share = p->shares[kernel->index_set];
    for (int i = 0;
         i < kernel->n_reductions && p->segment->options.distributed && !share->in_kernels; ++i)
        TRY(join_ranks(p, &p->segment->graph->calls[kernel->reductions[i]], share->comm, error));
done:
    return status;
}

/* On a GPU many partial results are joined by several blocks before. The second launch is left out
 * where a loop's kernel does its work. */
static weft_status launch_finish(weft_program_segment *p, const weft_plan_kernel *kernel,
                                 const weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    weft_launch part = *launch;
    part.n_blocks = weft_program_join_blocks(p, kernel);
    if (part.n_blocks > 0)
        TRY(launch_once(p, kernel, &part, error));
    if (!p->leaves_join || kernel != &plan->kernels[plan->n_kernels - 1])
        TRY(launch_once(p, kernel, launch, error));
    TRY(join_all_ranks(p, kernel, error));
done:
    return status;
}

/* Sums along the rows of a matrix whose columns ranks divide. */
static weft_status launch_nested_final(weft_program_segment *p, const weft_plan_kernel *kernel,
                                       const weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_call *call = &graph->calls[kernel->reductions[0]];
    TRY(launch_once(p, kernel, launch, error));
    if (call->is_divided)
        TRY(join_ranks(p, call, p->shares[graph->index_sets[call->index_set].second]->comm, error));
done:
    return status;
}

static const struct kernel_launcher {
    /* NULL: the device's usual grid of n_elements */
    weft_status (*grid)(const weft_program_segment *, const weft_plan_kernel *, weft_launch *,
                        weft_error *);
    weft_status (*launch)(weft_program_segment *, const weft_plan_kernel *, const weft_launch *,
                          weft_error *);
} launchers[WEFT_KERNEL_KINDS] = {
    [KERNEL_MAP] = {map_grid, launch_once},
    [KERNEL_REDUCTION] = {reduction_grid, launch_once},
    [KERNEL_CELL_COLOURS] = {NULL, weft_program_colours_launch},
    [KERNEL_MULTI_THREAD] = {multi_thread_grid, launch_once},
    [KERNEL_DENSE] = {multi_thread_grid, launch_once},
    [KERNEL_PRODUCT] = {weft_program_product_grid, launch_once},
    [KERNEL_VERTEX_PATCH] = {weft_program_patch_grid, launch_once},
    [KERNEL_EDGE_PATCH] = {weft_program_patch_grid, launch_once},
    [KERNEL_MATRIX_PATCH] = {weft_program_matrix_grid, launch_once},
    [KERNEL_CELL_PATCH] = {weft_program_cell_patch_grid, launch_once},
    [KERNEL_CELL_BORDER] = {weft_program_cell_border_grid, launch_once},
    [KERNEL_FINAL_REDUCTION] = {finish_grid, launch_finish},
    [KERNEL_GATHER] = {gather_grid, launch_once},
    [KERNEL_NESTED] = {weft_program_nested_grid, launch_once},
    [KERNEL_NESTED_FINAL] = {weft_program_nested_final_grid, launch_nested_final},
    [KERNEL_GROUP] = {weft_program_group_grid, weft_program_group_launch},
};

weft_status weft_program_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                              weft_launch *launch, weft_error *error) {
    launch->n_elements = kernel->index_set >= 0 ? p->sizes[kernel->index_set] : 1;
    launch->lanes = p->segment->plan->lanes;
    return launchers[kernel->kind].grid ? launchers[kernel->kind].grid(p, kernel, launch, error)
                                        : WEFT_OK;
}

/* Other ranks' elements of a list get their values, before a product reads them. */
static weft_status update_list(weft_program_segment *p, const weft_plan_kernel *kernel, int value,
                               weft_error *error) {
    const weft_share *share = p->shares[kernel->index_set];
    return share->update(share->user, value_memory(p, value), p->segment->options.single,
                         p->segment->plan->predicated ? active_of(p) : NULL, error);
}

/* Does a product kernel store the next value of this list into its double buffer? Then it computes copies of other ranks'
 * elements itself, from those of the other lists. */
static bool is_double_buffered(const weft_plan_kernel *kernel, int value) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (kernel->arguments[i].kind == ARGUMENT_DOUBLE_BUFFER &&
            kernel->arguments[i].index == value)
            return true;
    return false;
}

/* The lists that a product kernel reads at other rows than its own: all, or those that it writes only.
 * Decision  docs/decisions/0073-gpus-of-ranks-write-into-each-others-memory.md */
static weft_status update_product(weft_program_segment *p, const weft_plan_kernel *kernel,
                                  bool double_buffered, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_call *call =
        &graph->calls[kernel->prologue >= 0 ? kernel->prologue : kernel->product];
    const weft_share *share = p->shares[kernel->index_set];
    if (!p->segment->options.distributed || !share || !share->update)
        goto done;
    for (int k = 0; k < call->n_operands; ++k) {
        const int value = weft_value_storage(graph, call->operands[k].value);
        bool repeated = graph->values[value].index_set < 0;
        for (int m = 0; m < k; ++m)
            repeated |= weft_value_storage(graph, call->operands[m].value) == value;
        if (!repeated && is_double_buffered(kernel, value) == double_buffered &&
            !weft_fault("missing_exchange"))
            TRY(update_list(p, kernel, value, error));
    }
done:
    return status;
}

weft_status weft_program_segment_start_ranks(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    for (int k = 0; k < plan->n_kernels; ++k)
        if (plan->kernels[k].kind == KERNEL_PRODUCT)
            TRY(update_product(p, &plan->kernels[k], true, error));
done:
    return status;
}

static weft_status launch_kernel(weft_program_segment *p, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    serial_schedule serial;
    if (kernel->kind == KERNEL_PRODUCT)
        TRY(update_product(p, kernel, false, error));
    weft_launch launch = {.module = p->module,
                          .kernel = kernel->name,
                          .arguments = p->arguments,
                          .n_arguments = kernel->n_arguments};
    for (int i = 0; i < kernel->n_zero && !weft_fault("missed_clear"); ++i)
        TRY(zero(p, kernel, kernel->zero[i], error));
    if (kernel->is_member) /* it is launched with its group */
        goto done;
    TRY(weft_program_kernel_arguments(p, kernel, p->arguments, error));
    if (p->segment->plan->predicated)
        p->arguments[launch.n_arguments++] = active_of(p);
    TRY(launch_schedule(p, kernel, &serial, &launch.schedule, error));
    TRY(weft_program_grid(p, kernel, &launch, error));
    TRY(launchers[kernel->kind].launch(p, kernel, &launch, error));
    weft_program_product_swap(p, kernel);
done:
    return status;
}

weft_status weft_program_warm_up(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    TRY(weft_program_prepare(p, error));
    for (int k = 0; k < plan->n_kernels; ++k) {
        weft_launch launch = {0};
        TRY(weft_program_kernel_arguments(p, &plan->kernels[k], p->arguments, error));
        TRY(weft_program_grid(p, &plan->kernels[k], &launch, error));
    }
done:
    return status;
}

weft_status weft_program_launch_kernel(weft_program *program, int kernel, weft_error *error) {
    weft_program_segment *p = program->segments[0];
    return launch_kernel(p, &p->segment->plan->kernels[kernel], error);
}

/* A kernel with a product is timed as one of its operator. */
static weft_status launch_product(weft_program_segment *p, const weft_plan_kernel *kernel,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    TRY(weft_operator_clock_start(p->clock, error));
    TRY(launch_kernel(p, kernel, error));
    TRY(weft_operator_clock_stop(p->clock, graph->operators[graph->calls[kernel->product].op],
                                 error));
done:
    return status;
}

weft_status weft_program_segment_run(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    TRY(weft_program_prepare(p, error));
    for (int i = 0; i < plan->n_kernels; ++i)
        TRY((plan->kernels[i].kind == KERNEL_PRODUCT ? launch_product
                                                     : launch_kernel)(p, &plan->kernels[i], error));
done:
    return status;
}
