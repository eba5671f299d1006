/* Checks that no kernel of a plan stores a list of which it loads other elements, and that the kernels of a launch are
 * independent. */
#include "fusion/plan/plan.h"

/* Is it a call of the kernel that is computed again wherever its result is read? */
static bool is_recomputed(const weft_plan_kernel *kernel, const weft_call *call) {
    return kernel->prologue == call->id || kernel->kind == KERNEL_GATHER ||
           weft_kernel_is_patch(kernel->kind);
}

/* Does the call read a loaded list at elements other than the one that the kernel's thread stores? */
static bool reads_others(const weft_plan_kernel *kernel, const weft_call *call,
                         const weft_operand *load) {
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        if (operand->value == load->value && operand->connectivity == load->connectivity &&
            (operand->connectivity >= 0 || call->product_kernel || is_recomputed(kernel, call)))
            return true;
    }
    return false;
}

/* Is what the kernel stores of a list written to another memory, which becomes the list's? */
static bool has_double_buffer(const weft_plan_kernel *kernel, int storage) {
    for (int i = 0; i < kernel->n_arguments; ++i)
        if (kernel->arguments[i].kind == ARGUMENT_DOUBLE_BUFFER &&
            kernel->arguments[i].index == storage)
            return true;
    return false;
}

static weft_status check_kernel(const weft_graph *graph, const weft_plan_kernel *kernel,
                                weft_error *error) {
    for (int i = 0; i < kernel->n_loads; ++i) {
        const weft_operand *load = &kernel->loads[i];
        const int storage = weft_value_storage(graph, load->value);
        bool others = false;
        if (!weft_kernel_writes(graph, kernel, storage) || has_double_buffer(kernel, storage))
            continue;
        for (int k = 0; k < kernel->implementation->fusion->n_calls; ++k)
            others |= reads_others(kernel, &graph->calls[kernel->implementation->order[k]], load);
        if (others)
            return weft_error_set(
                error, WEFT_ERROR_INTERNAL,
                "kernel '%s' stores '%s' while other elements of it are read%s%s", kernel->name,
                graph->values[storage].name, load->connectivity >= 0 ? " through " : "",
                load->connectivity >= 0 ? graph->connectivities[load->connectivity].name : "");
    }
    return WEFT_OK;
}

/* The members of a launch run in any order. */
static weft_status check_group(const weft_graph *graph, const weft_plan *plan, int group,
                               weft_error *error) {
    const weft_plan_kernel *kernels = plan->kernels;
    for (int a = group - kernels[group].n_members; a < group; ++a)
        for (int b = a + 1; b < group; ++b) {
            const int list = weft_kernels_conflict(graph, &kernels[a], &kernels[b]);
            if (list >= 0)
                return weft_error_set(error, WEFT_ERROR_INTERNAL,
                                      "kernels '%s' and '%s' share a launch, but one stores '%s', "
                                      "which the other uses",
                                      kernels[a].name, kernels[b].name, graph->values[list].name);
        }
    return WEFT_OK;
}

weft_status weft_plan_check(const weft_graph *graph, const weft_plan *plan, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < plan->n_kernels; ++i) {
        TRY(check_kernel(graph, &plan->kernels[i], error));
        if (plan->kernels[i].kind == KERNEL_GROUP)
            TRY(check_group(graph, plan, i, error));
    }
done:
    return status;
}
