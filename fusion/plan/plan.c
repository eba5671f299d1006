/* From a cover to kernels, their arguments, buffers and launches in order. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/plan.h"

#include <stdio.h>
#include <string.h>

typedef struct planner {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_compile_options *options;
    weft_plan *plan;
    bool *started; /* [n_data] accumulated lists that some kernel has begun */
} planner;

static weft_status argument_add(planner *p, weft_plan_kernel *kernel, weft_argument argument,
                                weft_error *error) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (memcmp(&kernel->arguments[i], &argument, sizeof argument) == 0)
            return WEFT_OK;
    if (kernel->n_arguments % 16 == 0) {
        weft_argument *grown =
            weft_arena_alloc(p->arena, (size_t)kernel->n_arguments + 16, sizeof *grown);
        if (grown == NULL)
            return weft_no_memory(error);
        if (kernel->n_arguments > 0)
            memcpy(grown, kernel->arguments, (size_t)kernel->n_arguments * sizeof *grown);
        kernel->arguments = grown;
    }
    kernel->arguments[kernel->n_arguments++] = argument;
    return WEFT_OK;
}

static bool in_fusion(const weft_fusion *fusion, int call) {
    for (int i = 0; i < fusion->n_calls; ++i)
        if (fusion->calls[i] == call)
            return true;
    return false;
}

static bool is_gathered(const planner *p, const weft_accumulation *a) {
    return p->options->scatter == WEFT_SCATTER_GATHERED && !a->matrix;
}

/* "k2_jacobian_tform_dshape", of bounded length */
static const char *kernel_name(planner *p, const weft_implementation *implementation) {
    char name[96];
    size_t length = (size_t)snprintf(name, sizeof name, "k%d", p->plan->n_kernels);
    for (int i = 0; i < implementation->fusion->n_calls; ++i) {
        const char *label = p->graph->calls[implementation->order[i]].label;
        const size_t added = strlen(label) + 1;
        if (length + added > 64) {
            length += (size_t)snprintf(name + length, sizeof name - length, "_etc");
            break;
        }
        length += (size_t)snprintf(name + length, sizeof name - length, "_%s", label);
    }
    return weft_arena_copy(p->arena, name, length);
}

static weft_status kernel_allocate(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    const size_t n_onchip = (size_t)kernel->implementation->n_onchip + 1;
    const size_t n_accumulations = (size_t)p->graph->n_accumulations + 1;
    kernel->loads = weft_arena_alloc(p->arena, n_onchip, sizeof *kernel->loads);
    kernel->stores = weft_arena_alloc(p->arena, n_onchip, sizeof *kernel->stores);
    kernel->scatters = weft_arena_alloc(p->arena, n_accumulations, sizeof *kernel->scatters);
    kernel->reductions = weft_arena_alloc(p->arena, n_onchip, sizeof *kernel->reductions);
    kernel->zero = weft_arena_alloc(p->arena, n_accumulations, sizeof *kernel->zero);
    return kernel->loads != NULL && kernel->stores != NULL && kernel->scatters != NULL &&
                   kernel->reductions != NULL && kernel->zero != NULL
               ? WEFT_OK
               : weft_no_memory(error);
}

static weft_status kernel_loads_and_stores(planner *p, weft_plan_kernel *kernel,
                                           weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const weft_implementation *implementation = kernel->implementation;
    for (int i = 0; i < implementation->n_onchip; ++i) {
        const weft_operand *operand = &implementation->onchip[i];
        const weft_datum *datum = &graph->data[operand->datum];
        const bool inside = datum->producer >= 0 && operand->map < 0 &&
                            in_fusion(implementation->fusion, datum->producer);
        const int storage = weft_datum_storage(graph, operand->datum);
        if (!inside) {
            kernel->loads[kernel->n_loads++] = *operand;
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DATUM, storage, 0}, error));
            if (operand->map >= 0)
                TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_MAP, operand->map, 0}, error));
            continue;
        }
        if (graph->calls[datum->producer].reduction != NULL) {
            kernel->reductions[kernel->n_reductions++] = datum->producer;
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, operand->datum, 0},
                             error));
            continue;
        }
        bool leaves = weft_datum_leaves(graph, implementation->fusion, operand->datum);
        for (int k = 0; k < graph->n_accumulations; ++k)
            leaves |= graph->accumulations[k].source == operand->datum &&
                      is_gathered(p, &graph->accumulations[k]);
        if (!leaves)
            continue;
        kernel->stores[kernel->n_stores++] = operand->datum;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DATUM, storage, 0}, error));
        if (datum->producer == kernel->folded && storage != operand->datum)
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_TWIN, storage, 0}, error));
    }
done:
    return status;
}

/* Has another kernel begun the list that this one accumulates into first? */
static bool first_target_started(const planner *p, const weft_plan_kernel *kernel) {
    for (int k = 0; k < p->graph->n_accumulations; ++k)
        if (in_fusion(kernel->implementation->fusion, p->graph->accumulations[k].call))
            return p->started[p->graph->accumulations[k].target];
    return false;
}

/* What the routine of a rows call works on, behind everything else. */
static weft_status kernel_rows(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_call *call = &p->graph->calls[kernel->rows];
    for (int i = 0; i < call->routine->n_arguments; ++i)
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_ROWS, call->op, i}, error));
done:
    return status;
}

static weft_status kernel_scatters(planner *p, weft_plan_kernel *kernel, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    for (int k = 0; k < graph->n_accumulations; ++k) {
        const weft_accumulation *a = &graph->accumulations[k];
        if (!in_fusion(kernel->implementation->fusion, a->call) || is_gathered(p, a))
            continue;
        kernel->scatters[kernel->n_scatters++] = k;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DATUM, a->target, 0}, error));
        if (a->matrix)
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_POSITIONS, a->target, 0}, error));
        else
            TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_MAP, a->map, 0}, error));
        if (!p->started[a->target] && !graph->data[a->target].is_input)
            kernel->zero[kernel->n_zero++] = a->target;
        p->started[a->target] = true;
    }
done:
    return status;
}

int weft_star_nodes(const weft_compile_options *options) {
    return options->star_nodes != 0 ? options->star_nodes : WEFT_STAR_NODES;
}

static weft_status check_star_nodes(const weft_compile_options *options, weft_error *error) {
    const int nodes = weft_star_nodes(options);
    if (nodes == 128 || nodes == 256 || nodes == WEFT_STAR_NODES)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_USAGE,
                          "patches of stars have 128, 256 or %d nodes, not %d", WEFT_STAR_NODES,
                          nodes);
}

/* By patches: one accumulation and nothing else. */
static bool is_patch(const planner *p, const weft_plan_kernel *kernel) {
    if ((p->options->scatter != WEFT_SCATTER_STARS &&
         p->options->scatter != WEFT_SCATTER_VERTEX_STARS) ||
        !p->plan->is_simt || kernel->n_scatters != 1 || kernel->n_stores > 0 ||
        kernel->n_reductions > 0)
        return false;
    const weft_star_source star = weft_star_source_of(p->graph, kernel);
    return weft_star_source_fits(p->graph, &star);
}

static weft_kernel_kind patch_kind(const planner *p, const weft_accumulation *a) {
    if (a->matrix)
        return KERNEL_MATRIX_PATCH;
    return p->options->scatter == WEFT_SCATTER_STARS && p->graph->maps[a->map].width == 4 &&
                   weft_shape_count(&p->graph->data[a->target].shape) == 1
               ? KERNEL_EDGE_PATCH
               : KERNEL_VERTEX_PATCH;
}

/* By colours of cells: all accumulations through one map, whose colours they are. */
static bool is_by_colours(const planner *p, const weft_plan_kernel *kernel) {
    const weft_accumulation *all = p->graph->accumulations;
    if (p->options->scatter != WEFT_SCATTER_CELL_COLOURS || !p->plan->is_simt ||
        kernel->n_scatters == 0)
        return false;
    for (int i = 1; i < kernel->n_scatters; ++i)
        if (all[kernel->scatters[i]].map != all[kernel->scatters[0]].map)
            return false;
    return true;
}

/* Of a kernel that computes, when what it loads, stores and accumulates is known. Reductions want
 * all instances in one launch. */
static weft_kernel_kind kernel_kind(const planner *p, const weft_plan_kernel *kernel) {
    if (is_patch(p, kernel))
        return patch_kind(p, &p->graph->accumulations[kernel->scatters[0]]);
    if (kernel->rows >= 0)
        return KERNEL_PRODUCT;
    if (kernel->implementation->warps > 0)
        return KERNEL_MULTI_THREAD;
    if (kernel->n_reductions > 0)
        return KERNEL_REDUCTION;
    return is_by_colours(p, kernel) ? KERNEL_CELL_COLOURS : KERNEL_MAP;
}

bool weft_kernel_is_patch(weft_kernel_kind kind) {
    return kind == KERNEL_VERTEX_PATCH || kind == KERNEL_EDGE_PATCH || kind == KERNEL_MATRIX_PATCH;
}

/* What is accumulated by patches has other arguments and starts from nothing. */
static weft_status kernel_patches(planner *p, weft_plan_kernel *kernel, bool was_started,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const bool matrix = kernel->kind == KERNEL_MATRIX_PATCH;
    const bool edges = kernel->kind == KERNEL_EDGE_PATCH;
    const weft_star_source star = weft_star_source_of(p->graph, kernel);
    const int hidden = !weft_star_source_reads_cells(p->graph, &star); /* the cells come last */
    const int target = star.accumulation->target;
    const int first = edges ? WEFT_STAR_ARGUMENTS : 0;
    const int n_parts = matrix  ? WEFT_STAR_MATRIX_ARGUMENTS
                        : edges ? WEFT_EDGE_STAR_ARGUMENTS
                                : WEFT_STAR_ARGUMENTS;
    TRY(check_star_nodes(p->options, error));
    kernel->star_nodes = matrix ? WEFT_STAR_NODES : weft_star_nodes(p->options);
    kernel->adds = was_started || p->graph->data[target].is_input;
    kernel->n_zero = 0;
    kernel->n_arguments = 0;
    kernel->arguments = NULL;
    for (int i = 0; i < kernel->n_loads; ++i)
        TRY(argument_add(p, kernel,
                         (weft_argument){ARGUMENT_DATUM,
                                         weft_datum_storage(p->graph, kernel->loads[i].datum), 0},
                         error));
    TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DATUM, target, 0}, error));
    for (int part = first; part < first + n_parts - hidden; ++part)
        TRY(argument_add(p, kernel,
                         matrix ? (weft_argument){ARGUMENT_STAR_MATRIX, target, part}
                                : (weft_argument){ARGUMENT_STAR, star.accumulation->map, part},
                         error));
done:
    return status;
}

/* What kernels of its kind need besides the lists of their calls. */
static weft_status kernel_extras(planner *p, weft_plan_kernel *kernel, bool was_started,
                                 weft_error *error) {
    if (weft_kernel_is_patch(kernel->kind))
        return kernel_patches(p, kernel, was_started, error);
    if (kernel->kind == KERNEL_PRODUCT)
        return kernel_rows(p, kernel, error);
    if (kernel->kind == KERNEL_CELL_COLOURS)
        return argument_add(
            p, kernel,
            (weft_argument){ARGUMENT_COLOUR, p->graph->accumulations[kernel->scatters[0]].map, 0},
            error);
    return WEFT_OK;
}

/* The gathers of what a kernel has stored, each a kernel over the target's index set. */
static weft_status gathers_after(planner *p, const weft_fusion *fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    const double real_bytes = p->options->single ? sizeof(float) : sizeof(double);
    for (int k = 0; k < graph->n_accumulations; ++k) {
        const weft_accumulation *a = &graph->accumulations[k];
        if (!in_fusion(fusion, a->call) || !is_gathered(p, a))
            continue;
        weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
        *kernel = (weft_plan_kernel){.kind = KERNEL_GATHER,
                                     .gather = k,
                                     .rows = -1,
                                     .folded = -1,
                                     .index_set = graph->maps[a->map].to};
        kernel->name = weft_arena_print(p->arena, "k%d_gather_%s", p->plan->n_kernels,
                                        graph->data[a->target].name);
        if (kernel->name == NULL)
            return weft_no_memory(error);
        const int source = weft_datum_storage(graph, a->source);
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DATUM, source, 0}, error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_DATUM, a->target, 0}, error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_GATHER, a->map, 0}, error));
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_GATHER, a->map, 1}, error));
        /* the first gather of a list that starts from zero writes it, later ones add */
        kernel->adds = (p->started[a->target] && !weft_planted("gather_overwrites")) ||
                       graph->data[a->target].is_input;
        p->started[a->target] = true;
        kernel->bytes_stored = real_bytes * weft_shape_count(&graph->data[a->target].shape);
        /* and, as many as there are, positions and what the cells stored: not known here */
        kernel->bytes_loaded = 8.0 + (kernel->adds ? kernel->bytes_stored : 0.0);
        ++p->plan->n_kernels;
    }
done:
    return status;
}

/* The kernel that joins the partial results of the one before it: a few numbers, read by one
 * thread; on a GPU by one thread block. (The block that arrives last could, but then every block
 * has to wait for its stores before it says that it arrived: on large lists that costs more.) */
static weft_status finish_after(planner *p, const weft_plan_kernel *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
    if (made->n_reductions == 0)
        return WEFT_OK;
    *kernel = (weft_plan_kernel){.kind = KERNEL_FINISH,
                                 .gather = -1,
                                 .rows = -1,
                                 .folded = -1,
                                 .index_set = made->index_set,
                                 .reductions = made->reductions,
                                 .n_reductions = made->n_reductions};
    kernel->name = weft_arena_print(p->arena, "k%d_finish", p->plan->n_kernels);
    if (kernel->name == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < made->n_reductions; ++i) {
        const int result = p->graph->calls[made->reductions[i]].result;
        TRY(argument_add(p, kernel, (weft_argument){ARGUMENT_PARTIALS, result, 0}, error));
        TRY(argument_add(p, kernel,
                         (weft_argument){ARGUMENT_DATUM, weft_datum_storage(p->graph, result), 0},
                         error));
    }
    ++p->plan->n_kernels;
done:
    return status;
}

static weft_status plan_kernels(planner *p, const weft_cover *cover, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < cover->n; ++i) {
        weft_plan_kernel *kernel = &p->plan->kernels[p->plan->n_kernels];
        *kernel = (weft_plan_kernel){.implementation = cover->list[i],
                                     .gather = -1,
                                     .rows = weft_fusion_rows(p->graph, cover->list[i]->fusion),
                                     .folded = weft_fusion_folded(p->graph, cover->list[i]->fusion),
                                     .index_set = cover->list[i]->fusion->index_set,
                                     .bytes_loaded = cover->list[i]->bytes_loaded,
                                     .bytes_stored = cover->list[i]->bytes_stored,
                                     .flops = cover->list[i]->flops};
        kernel->name = kernel_name(p, cover->list[i]);
        if (kernel->name == NULL)
            return weft_no_memory(error);
        TRY(kernel_allocate(p, kernel, error));
        TRY(kernel_loads_and_stores(p, kernel, error));
        const bool was_started = first_target_started(p, kernel);
        TRY(kernel_scatters(p, kernel, error));
        kernel->kind = kernel_kind(p, kernel);
        TRY(kernel_extras(p, kernel, was_started, error));
        ++p->plan->n_kernels;
        TRY(finish_after(p, kernel, error));
        TRY(gathers_after(p, cover->list[i]->fusion, error));
    }
done:
    return status;
}

static bool kernel_uses(const weft_plan_kernel *kernel, int datum) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (kernel->arguments[i].kind == ARGUMENT_DATUM && kernel->arguments[i].index == datum)
            return true;
    return false;
}

/* Intermediates in memory share buffers where their lifetimes, in kernels, are disjoint. */
static weft_status plan_buffers(planner *p, weft_error *error) {
    const weft_graph *graph = p->graph;
    weft_plan *plan = p->plan;
    plan->buffer_of =
        weft_arena_alloc(p->arena, (size_t)graph->n_data + 1, sizeof *plan->buffer_of);
    plan->buffers = weft_arena_alloc(p->arena, (size_t)graph->n_data + 1, sizeof *plan->buffers);
    if (plan->buffer_of == NULL || plan->buffers == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_data; ++i)
        plan->buffer_of[i] = -1;
    for (int k = 0; k < plan->n_kernels; ++k) {
        for (int i = 0; i < graph->n_data; ++i) {
            const weft_datum *datum = &graph->data[i];
            if (plan->buffer_of[i] >= 0 || datum->returned || datum->is_input ||
                datum->storage >= 0 || !kernel_uses(&plan->kernels[k], i))
                continue;
            int last = k, b = 0;
            const int count = weft_shape_count(&datum->shape);
            for (int m = k; m < plan->n_kernels; ++m)
                if (kernel_uses(&plan->kernels[m], i))
                    last = m;
            while (b < plan->n_buffers &&
                   (plan->buffers[b].last >= k + weft_planted("overlapped_buffers") ||
                    plan->buffers[b].index_set != datum->index_set))
                ++b;
            if (b == plan->n_buffers)
                plan->buffers[plan->n_buffers++] =
                    (weft_plan_buffer){.index_set = datum->index_set, .first = k};
            plan->buffers[b].last = last;
            if (count > plan->buffers[b].components)
                plan->buffers[b].components = count;
            plan->buffer_of[i] = b;
        }
    }
    return WEFT_OK;
}

weft_status weft_plan_make(weft_arena *arena, const weft_graph *graph, const weft_cover *cover,
                           const weft_limits *limits, const weft_compile_options *options,
                           weft_plan **out, weft_error *error) {
    weft_status status = WEFT_OK;
    planner p = {.arena = arena, .graph = graph, .options = options};
    p.plan = weft_arena_alloc(arena, 1, sizeof *p.plan);
    p.started = weft_arena_alloc(arena, (size_t)graph->n_data + 1, sizeof *p.started);
    if (p.plan == NULL || p.started == NULL)
        return weft_no_memory(error);
    p.plan->lanes = weft_target_lanes(limits, options->single);
    p.plan->is_simt = weft_target_is_simt(limits);
    p.plan->guarded = options->guarded && p.plan->is_simt;
    p.plan->reduction_blocks =
        p.plan->is_simt ? WEFT_CUDA_CHUNK / WEFT_CUDA_LANES : WEFT_REDUCTION_BLOCKS;
    p.plan->kernels = weft_arena_alloc(arena, (size_t)(2 * cover->n + graph->n_accumulations),
                                       sizeof *p.plan->kernels);
    if (p.plan->kernels == NULL)
        return weft_no_memory(error);
    TRY(plan_kernels(&p, cover, error));
    TRY(plan_buffers(&p, error));
    *out = p.plan;
done:
    return status;
}
