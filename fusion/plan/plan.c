/* Turns a cover into a plan: kernels in launch order, their arguments, and shared buffers. */
#include "fusion/plan/plan.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/plan/cell_patches.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/in_place.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/scatter.h"

#include <stdio.h>
#include <string.h>

typedef struct planner {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_compile_options *options;
    weft_plan *plan;
    bool *started; /* [n_values] an earlier kernel has accumulated into this list */
} planner;

static weft_status argument_add(planner *p, weft_plan_kernel *kernel, weft_argument argument,
                                weft_error *error) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (memcmp(&kernel->arguments[i], &argument, sizeof argument) == 0)
            return WEFT_OK;
    return WEFT_APPEND(p->arena, kernel->arguments, kernel->n_arguments, argument, error);
}

/* A name of bounded length, such as "k2_jacobian_tform_dshape". What it has of calls does not depend on the number, which
 * shared launches change. */
static const char *kernel_name(planner *p, const weft_implementation *implementation) {
    char name[96];
    size_t length = (size_t)snprintf(name, sizeof name, "k%d", p->plan->n_kernels);
    const size_t most = length + 62;
    for (int i = 0; i < implementation->fusion->n_calls; ++i) {
        const char *label = p->graph->calls[implementation->order[i]].label;
        const size_t added = strlen(label) + 1;
        if (length + added > most) {
            length += (size_t)snprintf(name + length, sizeof name - length, "_etc");
            break;
        }
        length += (size_t)snprintf(name + length, sizeof name - length, "_%s", label);
    }
    return weft_arena_copy(p->arena, name, length);
}

static weft_status kernel_allocate(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_onchip = (size_t)kernel->implementation->n_onchip + 1;
    const size_t n_accumulations = (size_t)p->graph->n_accumulations + 1;
    TRY(WEFT_ALLOC(p->arena, kernel->loads, n_onchip, error));
    TRY(WEFT_ALLOC(p->arena, kernel->stores, n_onchip, error));
    TRY(WEFT_ALLOC(p->arena, kernel->scatters, n_accumulations, error));
    TRY(WEFT_ALLOC(p->arena, kernel->reductions, n_onchip, error));
    TRY(WEFT_ALLOC(p->arena, kernel->zero, n_accumulations, error));
done:
    return status;
}

static weft_status kernel_loads_and_stores(planner *p, weft_plan_kernel *kernel,
                                           weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const weft_implementation *implementation = kernel->implementation;
    for (int i = 0; i < implementation->n_onchip; ++i) {
        const weft_operand *operand = &implementation->onchip[i];
        const weft_value *value = &graph->values[operand->value];
        const bool produced_here = value->producer >= 0 && operand->connectivity < 0 &&
                                   weft_fusion_contains(implementation->fusion, value->producer);
        const int storage = weft_value_storage(graph, operand->value);
        if (!produced_here) {
            kernel->loads[kernel->n_loads++] = *operand;
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, storage, 0}, error));
            if (operand->connectivity >= 0)
                TRY(argument_add(p, kernel,
                                 (weft_argument){ARGUMENT_CONNECTIVITY, operand->connectivity, 0},
                                 error));
            continue;
        }
        const weft_call *producer = &graph->calls[value->producer];
        if (producer->reduction && !weft_reduction_is_closed(producer, kernel->slice)) {
            kernel->reductions[kernel->n_reductions++] = value->producer;
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, operand->value, 0},
                             error));
            continue;
        }
        bool live_out = weft_value_is_live_out(graph, implementation->fusion, operand->value);
        for (int k = 0; k < graph->n_accumulations; ++k)
            live_out |= graph->accumulations[k].source == operand->value &&
                        weft_scatter_gathers(p->options, &graph->accumulations[k]);
        if (!live_out)
            continue;
        kernel->stores[kernel->n_stores++] = operand->value;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, storage, 0}, error));
        if (value->producer == kernel->prologue && storage != operand->value)
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DOUBLE_BUFFER, storage, 0},
                             error));
    }
done:
    return status;
}

/* Has an earlier kernel accumulated into the first target of this kernel? */
static bool first_target_started(const planner *p, const weft_plan_kernel *kernel) {
    for (int k = 0; k < p->graph->n_accumulations; ++k)
        if (weft_fusion_contains(kernel->implementation->fusion, p->graph->accumulations[k].call))
            return p->started[p->graph->accumulations[k].target];
    return false;
}

/* Add the arguments of the hand-written product kernel, after all others. */
static weft_status kernel_rows(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_call *call = &p->graph->calls[kernel->product];
    for (int i = 0; i < call->product_kernel->n_arguments; ++i)
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PRODUCT, call->op, i}, error));
done:
    return status;
}

static weft_status kernel_scatters(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    for (int k = 0; k < graph->n_accumulations; ++k) {
        const weft_accumulation *a = &graph->accumulations[k];
        if (!weft_fusion_contains(kernel->implementation->fusion, a->call) ||
            weft_scatter_gathers(p->options, a))
            continue;
        kernel->scatters[kernel->n_scatters++] = k;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, a->target, 0}, error));
        if (a->matrix)
            TRY(argument_add(
                p, kernel, (weft_argument){ARGUMENT_POSITIONS, a->target, a->connectivity}, error));
        else
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_CONNECTIVITY, a->connectivity, 0},
                             error));
        if (!p->started[a->target] && !graph->values[a->target].is_input)
            kernel->zero[kernel->n_zero++] = a->target;
        p->started[a->target] = true;
    }
done:
    return status;
}

int weft_patch_nodes(const weft_compile_options *options) {
    return options->patch_nodes != 0 ? options->patch_nodes : WEFT_PATCH_NODES;
}

static weft_status check_patch_nodes(const weft_compile_options *options, weft_error *error) {
    const int nodes = weft_patch_nodes(options);
    if (nodes == 128 || nodes == 256 || nodes == WEFT_PATCH_NODES)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_USAGE, "patches have 128, 256 or %d nodes, not %d",
                          WEFT_PATCH_NODES, nodes);
}

/* The kind of a computing kernel whose loads, stores and accumulations are known. */
static weft_status kernel_kind(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_kernel_kind apart = KERNEL_MAP;
    const bool is_nested = weft_fusion_is_nested(p->graph, kernel->implementation->fusion);
    if (!is_nested && p->plan->is_simt)
        TRY(weft_scatter_kind(p->arena, p->graph, p->plan, p->options, kernel, &apart, error));
    kernel->kind = is_nested                                         ? KERNEL_NESTED
                   : apart != KERNEL_MAP                             ? apart
                   : kernel->product >= 0                            ? KERNEL_PRODUCT
                   : kernel->implementation->is_dense                ? KERNEL_DENSE
                   : kernel->implementation->threads_per_element > 0 ? KERNEL_MULTI_THREAD
                   : kernel->n_reductions > 0                        ? KERNEL_REDUCTION
                                                                     : KERNEL_MAP;
    if (kernel->kind == KERNEL_PRODUCT && (p->plan->target.warp_threads != WEFT_NATIVE_WARP ||
                                           p->plan->target.reduction_tile != WEFT_PRODUCT_TILE))
        TRY(weft_error_refuse(
            error, WEFT_ERROR_UNSUPPORTED, "this device does not run the products of operators",
            "product kernels are written for warps of 32 threads and tiles of 512 rows"));
    if (kernel->kind == KERNEL_REDUCTION && p->plan->is_simt)
        kernel->coarsening = kernel->implementation->serial_iterations;
done:
    return status;
}

bool weft_kernel_is_patch(weft_kernel_kind kind) {
    return kind == KERNEL_VERTEX_PATCH || kind == KERNEL_EDGE_PATCH ||
           kind == KERNEL_MATRIX_PATCH || kind == KERNEL_CELL_PATCH;
}

/* The values that a patch kernel loads, and its target. It overwrites the target instead of zeroing it first,
 * unless it adds to existing values. */
static weft_status patch_arguments_start(planner *p, weft_plan_kernel *kernel, int target,
                                         bool was_started, weft_error *error) {
    weft_status status = WEFT_OK;
    kernel->accumulates = was_started || p->graph->values[target].is_input;
    kernel->n_zero = 0;
    kernel->n_arguments = 0;
    kernel->arguments = NULL;
    for (int i = 0; i < kernel->n_loads; ++i)
        TRY(argument_add(p, kernel,
                         (weft_argument){ARGUMENT_VALUE,
                                         weft_value_storage(p->graph, kernel->loads[i].value), 0},
                         error));
    TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, target, 0}, error));
done:
    return status;
}

/* Set the arguments of a kernel over patches of cells: those of every connectivity, of sums first, so that patches with sums are
 * made once. */
static weft_status kernel_cell_patches(planner *p, weft_plan_kernel *kernel, bool was_started,
                                       weft_error *error) {
    static const int sums[] = {CELL_PATCH_ROW_START, CELL_PATCH_ORDER, CELL_PATCH_PAIRS,
                               CELL_PATCH_START, CELL_PATCH_NODES};
    static const int loads[] = {CELL_PATCH_START, CELL_PATCH_NODES, CELL_PATCH_PLACES};
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    TRY(check_patch_nodes(p->options, error));
    kernel->patch_cells = weft_cell_patch_cells(graph, a, p->options);
    TRY(patch_arguments_start(p, kernel, a->target, was_started, error));
    TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, a->target, 0}, error));
    for (size_t k = 0; k < sizeof sums / sizeof *sums; ++k)
        TRY(argument_add(p, kernel,
                         weft_cell_patch_argument(a->connectivity, kernel->patch_cells, sums[k]),
                         error));
    for (int i = 0; i < kernel->n_loads; ++i)
        for (size_t k = 0; k < sizeof loads / sizeof *loads && kernel->loads[i].connectivity >= 0;
             ++k)
            TRY(argument_add(p, kernel,
                             weft_cell_patch_argument(kernel->loads[i].connectivity,
                                                      kernel->patch_cells, loads[k]),
                             error));
done:
    return status;
}

/* Append the kernel that adds up what patches of cells leave for their border nodes. */
static weft_status cell_border(planner *p, const weft_plan_kernel *made, weft_error *error) {
    static const int parts[] = {CELL_PATCH_BORDER, CELL_PATCH_BORDER_START,
                                CELL_PATCH_BORDER_SLOTS};
    weft_status status = WEFT_OK;
    const weft_accumulation *a = &p->graph->accumulations[made->scatters[0]];
    weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
    *kernel = (weft_plan_kernel){.kind = KERNEL_CELL_BORDER,
                                 .gather = made->scatters[0],
                                 .product = -1,
                                 .prologue = -1,
                                 .index_set = p->graph->connectivities[a->connectivity].to,
                                 .patch_cells = made->patch_cells,
                                 .accumulates = made->accumulates};
    kernel->name = weft_arena_print(p->arena, "k%d_border_%s", p->plan->n_kernels,
                                    p->graph->values[a->target].name);
    if (!kernel->name)
        TRY(weft_no_memory(error));
    TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, a->target, 0}, error));
    TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, a->target, 0}, error));
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k)
        TRY(argument_add(p, kernel,
                         weft_cell_patch_argument(a->connectivity, kernel->patch_cells, parts[k]),
                         error));
    ++p->plan->n_kernels;
done:
    return status;
}

/* Set the arguments of a kernel over patches of nodes or edges. */
static weft_status kernel_patches(planner *p, weft_plan_kernel *kernel, bool was_started,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const bool matrix = kernel->kind == KERNEL_MATRIX_PATCH;
    const bool edges = kernel->kind == KERNEL_EDGE_PATCH;
    const weft_patch_computation patch = weft_patch_computation_of(p->graph, kernel);
    const int hidden =
        !weft_patch_computation_reads_cells(p->graph, &patch); /* omits the last argument, cells */
    const int target = patch.accumulation->target;
    const int first = edges ? WEFT_PATCH_ARGUMENTS : 0;
    const int n_parts = matrix  ? WEFT_PATCH_MATRIX_ARGUMENTS
                        : edges ? WEFT_EDGE_PATCH_ARGUMENTS
                                : WEFT_PATCH_ARGUMENTS;
    TRY(check_patch_nodes(p->options, error));
    kernel->patch_nodes = matrix ? WEFT_PATCH_NODES : weft_patch_nodes(p->options);
    TRY(patch_arguments_start(p, kernel, target, was_started, error));
    for (int part = first; part < first + n_parts - hidden; ++part)
        TRY(argument_add(
            p, kernel,
            matrix ? (weft_argument){ARGUMENT_PATCH_MATRIX, target, part}
                   : (weft_argument){ARGUMENT_PATCH, patch.accumulation->connectivity, part},
            error));
done:
    return status;
}

/* The sizes of the product, and the number of the last of few rows that count. */
static weft_status kernel_sizes(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_index_set *first =
        &p->graph->index_sets[p->graph->index_sets[kernel->index_set].first];
    if (weft_product_holds_columns(p->graph, kernel->index_set) && first->up_to >= 0)
        TRY(argument_add(
            p, kernel,
            (weft_argument){ARGUMENT_VALUE, weft_value_storage(p->graph, first->up_to), 0}, error));
    TRY(argument_add(p, kernel,
                     (weft_argument){ARGUMENT_SIZES, (int)(kernel - p->plan->kernels), 0}, error));
done:
    return status;
}

enum { COMPONENTS_MOST = 32 /* WORDS_NUMBERS of kernels/prelude/ranks_cuda.h, as exact sums */ };

/* Sums of ranks are exact, and the least and the greatest of several numbers have no order. Why is one not computed? NULL: it is.
 * Ranks divide the columns of a matrix (fusion/plan/segment.c), which sums over the rows of each column do not see. */
static const char *undistributed(const planner *p, const weft_plan_kernel *kernel,
                                 const weft_call *call) {
    const char op = call->reduction->op;
    const bool is_nested = kernel->kind == KERNEL_NESTED;
    if (is_nested && (p->plan->is_simt || call->pairs.triangle != TRIANGLE_NONE ||
                      weft_call_is_mirrored(call) || call->reduction->over == REDUCE_ALL))
        return "it is over products of index sets";
    if (is_nested && !call->is_divided)
        return NULL;
    if (p->plan->is_simt &&
        weft_shape_count(&p->graph->values[call->result].shape) > COMPONENTS_MOST)
        return "its numbers are too many for a message between GPUs";
    return op != '+' && (is_nested || (op != '<' && op != '>'))
               ? is_nested ? "only sums along rows are" : "only sums, minima and maxima are"
           : op == '+' && p->options->single ? "its numbers are in single precision"
                                             : NULL;
}

static weft_status check_distributed(const planner *p, const weft_plan_kernel *kernel,
                                     weft_error *error) {
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_call *call = &p->graph->calls[kernel->reductions[i]];
        const char *reason = undistributed(p, kernel, call);
        if (!reason)
            continue;
        weft_error_at(error, WEFT_ERROR_UNSUPPORTED, call->place,
                      "'%s' is not computed on several ranks: %s", call->label, reason);
        weft_error_hint(error, "use one rank");
        return WEFT_ERROR_UNSUPPORTED;
    }
    return WEFT_OK;
}

/* The elements of the index set that is summed, or the columns. */
static weft_status kernel_owned(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    bool counts = kernel->kind != KERNEL_NESTED;
    if (!p->options->distributed || kernel->n_reductions == 0)
        goto done;
    TRY(check_distributed(p, kernel, error));
    for (int i = 0; i < kernel->n_reductions; ++i)
        counts |= p->graph->calls[kernel->reductions[i]].is_divided;
    if (!counts)
        goto done;
    TRY(argument_add(p, kernel,
                     (weft_argument){ARGUMENT_OWNED,
                                     kernel->kind == KERNEL_NESTED
                                         ? p->graph->index_sets[kernel->index_set].second
                                         : kernel->index_set,
                                     0},
                     error));
done:
    return status;
}

/* Add the arguments that are specific to the kind of the kernel. */
static weft_status kernel_extras(planner *p, weft_plan_kernel *kernel, bool was_started,
                                 weft_error *error) {
    if (kernel->kind == KERNEL_CELL_PATCH)
        return kernel_cell_patches(p, kernel, was_started, error);
    if (weft_kernel_is_patch(kernel->kind))
        return kernel_patches(p, kernel, was_started, error);
    if (kernel->kind == KERNEL_PRODUCT)
        return kernel_rows(p, kernel, error);
    if (kernel->kind == KERNEL_NESTED)
        return kernel_sizes(p, kernel, error);
    if (kernel->kind == KERNEL_CELL_COLOURS)
        return argument_add(
            p, kernel,
            (weft_argument){ARGUMENT_COLOUR,
                            p->graph->accumulations[kernel->scatters[0]].connectivity, 0},
            error);
    return WEFT_OK;
}

/* The operands of a call that a gather evaluates, each once. */
static weft_status folded_loads(planner *p, weft_plan_kernel *kernel, const weft_call *call,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(WEFT_ALLOC(p->arena, kernel->loads, (size_t)call->n_operands + 1, error));
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const int storage = weft_value_storage(p->graph, operand->value);
        bool repeated = false;
        for (int k = 0; k < i; ++k)
            repeated |= call->operands[k].value == operand->value &&
                        call->operands[k].connectivity == operand->connectivity;
        if (repeated)
            continue;
        kernel->loads[kernel->n_loads++] = *operand;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, storage, 0}, error));
    }
    kernel->flops = call->flops;
done:
    return status;
}

/* Append the gather kernels of a fusion's accumulations, each over the target's index set.
 * folded  NULL, or the implementation of its only call, which the gather evaluates */
static weft_status gather_kernels(planner *p, const weft_fusion *fusion,
                                  const weft_implementation *folded, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const double real_bytes = p->options->single ? sizeof(float) : sizeof(double);
    for (int k = 0; k < graph->n_accumulations; ++k) {
        const weft_accumulation *a = &graph->accumulations[k];
        if (!weft_fusion_contains(fusion, a->call) || !weft_scatter_gathers(p->options, a))
            continue;
        weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
        *kernel = (weft_plan_kernel){.kind = KERNEL_GATHER,
                                     .implementation = folded,
                                     .gather = k,
                                     .product = -1,
                                     .prologue = folded ? a->call : -1,
                                     .index_set = graph->connectivities[a->connectivity].to};
        kernel->name = weft_arena_print(p->arena, "k%d_gather_%s", p->plan->n_kernels,
                                        graph->values[a->target].name);
        if (!kernel->name)
            TRY(weft_no_memory(error));
        if (folded)
            TRY(folded_loads(p, kernel, &graph->calls[a->call], error));
        else
            TRY(argument_add(
                p, kernel, (weft_argument){ARGUMENT_VALUE, weft_value_storage(graph, a->source), 0},
                error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_VALUE, a->target, 0}, error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_GATHER, a->connectivity, 0}, error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_GATHER, a->connectivity, 1}, error));
        /* the first gather of a list that starts from zero overwrites it, later ones add */
        kernel->accumulates = (p->started[a->target] && !weft_fault("gather_overwrites")) ||
                              graph->values[a->target].is_input;
        p->started[a->target] = true;
        weft_traffic_of_gather(graph, a, folded != NULL, real_bytes, kernel->accumulates,
                               &kernel->bytes_loaded, &kernel->bytes_stored);
        ++p->plan->n_kernels;
    }
done:
    return status;
}

/* Append a kernel for each open result of a nested kernel: it combines the parts in order. */
static weft_status nested_finals(planner *p, const weft_plan_kernel *made, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < made->n_reductions; ++i) {
        weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
        const weft_value *result = &p->graph->values[p->graph->calls[made->reductions[i]].result];
        *kernel = (weft_plan_kernel){.kind = KERNEL_NESTED_FINAL,
                                     .gather = -1,
                                     .product = -1,
                                     .prologue = -1,
                                     .index_set = result->index_set,
                                     .slice = made->slice,
                                     .reductions = &made->reductions[i],
                                     .n_reductions = 1};
        kernel->name = weft_arena_print(p->arena, "k%d_combine", p->plan->n_kernels);
        if (!kernel->name)
            TRY(weft_no_memory(error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, result->id, 0}, error));
        TRY(argument_add(
            p, kernel, (weft_argument){ARGUMENT_VALUE, weft_value_storage(p->graph, result->id), 0},
            error));
        TRY(argument_add(
            p, kernel, (weft_argument){ARGUMENT_SIZES, (int)(made - p->plan->kernels), 0}, error));
        ++p->plan->n_kernels;
    }
done:
    return status;
}

/* Append the kernel that combines the partial results of the preceding one: a few numbers, read by
 * one thread, or one thread block on a GPU. (The last block to arrive could do it, but then every
 * block would have to wait for its stores before signalling its arrival, which costs more on large
 * lists.) */
static weft_status finish_after(planner *p, const weft_plan_kernel *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
    if (made->kind == KERNEL_CELL_PATCH) {
        status = cell_border(p, made, error);
        goto done;
    }
    if (made->n_reductions == 0)
        goto done;
    if (made->kind == KERNEL_NESTED) {
        status = nested_finals(p, made, error);
        goto done;
    }
    *kernel = (weft_plan_kernel){.kind = KERNEL_FINAL_REDUCTION,
                                 .gather = -1,
                                 .product = -1,
                                 .prologue = -1,
                                 .index_set = made->index_set,
                                 .reductions = made->reductions,
                                 .n_reductions = made->n_reductions,
                                 .coarsening = made->coarsening};
    kernel->name = weft_arena_print(p->arena, "k%d_finish", p->plan->n_kernels);
    if (!kernel->name)
        TRY(weft_no_memory(error));
    for (int i = 0; i < made->n_reductions; ++i) {
        const int result = p->graph->calls[made->reductions[i]].result;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, result, 0}, error));
        TRY(argument_add(p, kernel,
                         (weft_argument){ARGUMENT_VALUE, weft_value_storage(p->graph, result), 0},
                         error));
    }
    if (p->options->distributed && p->plan->is_simt)
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_TEAM, made->index_set, 0}, error));
    ++p->plan->n_kernels;
done:
    return status;
}

static weft_status plan_kernels(planner *p, const weft_cover *cover, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < cover->n; ++i) {
        weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
        if ((!cover->folds || cover->folds[i]) &&
            weft_gather_evaluates(p->graph, p->options, p->plan->is_simt, cover->list[i]->fusion)) {
            TRY(gather_kernels(p, cover->list[i]->fusion, cover->list[i], error));
            continue;
        }
        *kernel =
            (weft_plan_kernel){.implementation = cover->list[i],
                               .gather = -1,
                               .product = weft_fusion_product(p->graph, cover->list[i]->fusion),
                               .prologue = weft_fusion_prologue(p->graph, cover->list[i]->fusion),
                               .index_set = cover->list[i]->fusion->index_set,
                               .bytes_loaded = cover->list[i]->bytes_loaded,
                               .bytes_stored = cover->list[i]->bytes_stored,
                               .flops = cover->list[i]->flops};
        kernel->name = kernel_name(p, cover->list[i]);
        if (!kernel->name)
            TRY(weft_no_memory(error));
        if (weft_fusion_is_nested(p->graph, cover->list[i]->fusion))
            kernel->slice = weft_fusion_slice(p->graph, cover->list[i]->fusion);
        TRY(kernel_allocate(p, kernel, error));
        TRY(kernel_loads_and_stores(p, kernel, error));
        const bool was_started = first_target_started(p, kernel);
        TRY(kernel_scatters(p, kernel, error));
        TRY(kernel_kind(p, kernel, error));
        TRY(kernel_owned(p, kernel, error));
        TRY(kernel_extras(p, kernel, was_started, error));
        ++p->plan->n_kernels;
        TRY(finish_after(p, kernel, error));
        TRY(gather_kernels(p, cover->list[i]->fusion, NULL, error));
    }
done:
    return status;
}

weft_status weft_plan_make(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                           const weft_limits *limits, const weft_compile_options *options,
                           weft_plan **out, weft_error *error) {
    weft_status status = WEFT_OK;
    planner p = {.arena = arena, .graph = graph, .options = options};
    TRY(WEFT_ALLOC(arena, p.plan, 1, error));
    TRY(WEFT_ALLOC(arena, p.started, (size_t)graph->n_values + 1, error));
    p.plan->lanes = weft_target_lanes(limits, options->single);
    p.plan->is_simt = weft_target_is_simt(limits);
    p.plan->target = limits->target;
    p.plan->scatter = options->scatter;
    p.plan->predicated = options->predicated && p.plan->is_simt;
    p.plan->reduction_blocks = p.plan->is_simt
                                   ? limits->target.reduction_tile / limits->target.warp_threads
                                   : WEFT_REDUCTION_BLOCKS;
    TRY(WEFT_ALLOC(arena, p.plan->kernels,
                   (size_t)(2 * cover->n + graph->n_accumulations + graph->n_calls), error));
    TRY(plan_kernels(&p, cover, error));
    if (p.plan->is_simt && options->plan == WEFT_PLAN_FUSED && !options->distributed)
        TRY(weft_plan_group(arena, graph, cover, p.plan, error));
    TRY(weft_plan_check(graph, p.plan, error));
    TRY(weft_plan_assign_buffers(arena, graph, p.plan, error));
    *out = p.plan;
done:
    return status;
}
