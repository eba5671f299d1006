/* Which lists the kernels of a plan write, where two of them conflict, and the buffers of intermediates. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/plan/plan.h"

bool weft_kernel_writes(const weft_graph *graph, const weft_plan_kernel *kernel, int value) {
    const bool combines =
        kernel->kind == KERNEL_FINAL_REDUCTION || kernel->kind == KERNEL_NESTED_FINAL;
    for (int i = 0; i < kernel->n_stores; ++i)
        if (weft_value_storage(graph, kernel->stores[i]) == value)
            return true;
    for (int i = 0; combines && i < kernel->n_reductions; ++i)
        if (weft_value_storage(graph, graph->calls[kernel->reductions[i]].result) == value)
            return true;
    for (int i = 0; i < kernel->n_scatters; ++i)
        if (graph->accumulations[kernel->scatters[i]].target == value)
            return true;
    return (kernel->kind == KERNEL_GATHER || kernel->kind == KERNEL_CELL_BORDER) &&
           graph->accumulations[kernel->gather].target == value;
}

static bool is_memory(const weft_argument *argument) {
    return argument->kind == ARGUMENT_VALUE || argument->kind == ARGUMENT_DOUBLE_BUFFER;
}

/* Does a kernel on a GPU do nothing with a list but add to it, atomically? Such kernels run in any order. */
static bool only_adds(const weft_graph *graph, const weft_plan_kernel *kernel, int list) {
    bool adds = false, other = false;
    if (kernel->kind != KERNEL_MAP && kernel->kind != KERNEL_REDUCTION &&
        kernel->kind != KERNEL_MULTI_THREAD)
        return false;
    for (int i = 0; i < kernel->n_scatters; ++i)
        adds |= graph->accumulations[kernel->scatters[i]].target == list;
    for (int i = 0; i < kernel->n_stores; ++i)
        other |= weft_value_storage(graph, kernel->stores[i]) == list;
    for (int i = 0; i < kernel->n_loads; ++i)
        other |= weft_value_storage(graph, kernel->loads[i].value) == list;
    return adds && !other;
}

int weft_kernels_conflict(const weft_graph *graph, const weft_plan_kernel *a,
                          const weft_plan_kernel *b) {
    for (int i = 0; i < a->n_arguments; ++i)
        for (int k = 0; k < b->n_arguments; ++k) {
            const weft_argument *x = &a->arguments[i], *y = &b->arguments[k];
            if (x->index != y->index)
                continue;
            if ((x->kind == ARGUMENT_PARTIALS && y->kind == ARGUMENT_PARTIALS) ||
                (is_memory(x) && is_memory(y) &&
                 (weft_kernel_writes(graph, a, x->index) ||
                  weft_kernel_writes(graph, b, x->index)) &&
                 !(only_adds(graph, a, x->index) && only_adds(graph, b, x->index))))
                return x->index;
        }
    return -1;
}

static bool kernel_uses(const weft_plan_kernel *kernel, int value) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (kernel->arguments[i].kind == ARGUMENT_VALUE && kernel->arguments[i].index == value)
            return true;
    return false;
}

/* Those with disjoint live ranges, in kernels, share one. */
weft_status weft_plan_assign_buffers(weft_arena *arena, const weft_graph *graph, weft_plan *plan,
                                     weft_error *error) {
    plan->buffer_of = weft_arena_alloc(arena, (size_t)graph->n_values + 1, sizeof *plan->buffer_of);
    plan->buffers = weft_arena_alloc(arena, (size_t)graph->n_values + 1, sizeof *plan->buffers);
    if (!plan->buffer_of || !plan->buffers)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_values; ++i)
        plan->buffer_of[i] = -1;
    for (int k = 0; k < plan->n_kernels; ++k) {
        for (int i = 0; i < graph->n_values; ++i) {
            const weft_value *value = &graph->values[i];
            if (plan->buffer_of[i] >= 0 || value->returned || value->is_input ||
                value->storage >= 0 || !kernel_uses(&plan->kernels[k], i))
                continue;
            int last = k, b = 0;
            const int count = weft_shape_count(&value->shape);
            for (int m = k; m < plan->n_kernels; ++m)
                if (kernel_uses(&plan->kernels[m], i))
                    last = m;
            while (b < plan->n_buffers &&
                   (plan->buffers[b].last >= k + weft_fault("overlapped_buffers") ||
                    plan->buffers[b].index_set != value->index_set))
                ++b;
            if (b == plan->n_buffers)
                plan->buffers[plan->n_buffers++] =
                    (weft_plan_buffer){.index_set = value->index_set, .first = k};
            plan->buffers[b].last = last;
            if (count > plan->buffers[b].components)
                plan->buffers[b].components = count;
            plan->buffer_of[i] = b;
        }
    }
    return WEFT_OK;
}
