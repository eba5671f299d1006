/** What holds for the plan of any script. */
#ifndef PLAN_INVARIANTS_H
#define PLAN_INVARIANTS_H

#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "test_support.h"

#include <stdlib.h>

/** Every call is in one kernel; what a kernel reads was made before or came from outside. */
static inline void check_plan(const char *script, const weft_compilation *compilation) {
    const weft_graph *graph = weft_compilation_only(compilation)->graph;
    const weft_plan *plan = weft_compilation_only(compilation)->plan;
    int *kernel = calloc((size_t)graph->n_calls + 1, sizeof *kernel);
    assert_non_null(kernel);
    for (int i = 0; i < graph->n_calls; ++i)
        kernel[i] = -1;
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_implementation *one = plan->kernels[i].implementation;
        for (int k = 0; one != NULL && k < one->fusion->n_calls; ++k) {
            assert_int_equal(kernel[one->order[k]], -1);
            kernel[one->order[k]] = i;
        }
    }
    for (int i = 0; i < graph->n_calls; ++i) {
        assert_true(kernel[i] >= 0);
        for (int k = 0; k < graph->calls[i].n_operands; ++k) {
            const weft_operand *operand = &graph->calls[i].operands[k];
            const int producer = graph->values[operand->value].producer;
            const bool barrier = operand->connectivity >= 0 ||
                                 (producer >= 0 && graph->calls[producer].reduction != NULL);
            if (producer >= 0 && (producer >= i || kernel[producer] > kernel[i] ||
                                  (barrier && kernel[producer] == kernel[i])))
                fail_msg("%s: call %d reads what is not made yet", script, i);
            /* the old value of a list is read no later than the next one is stored */
            for (int u = 0; u < graph->n_calls; ++u)
                if (graph->values[graph->calls[u].result].storage == operand->value &&
                    (u < i || kernel[u] < kernel[i] ||
                     (operand->connectivity >= 0 && kernel[u] == kernel[i])))
                    fail_msg("%s: call %d reads an old value", script, i);
            for (int a = 0; a < graph->n_accumulations; ++a)
                if (graph->accumulations[a].target == operand->value &&
                    kernel[graph->accumulations[a].call] >= kernel[i])
                    fail_msg("%s: call %d reads a list not complete", script, i);
        }
    }
    free(kernel);
}

/** Two data share a buffer only where one is dead before the other is born. */
static inline void check_buffers(const char *script, const weft_compilation *compilation) {
    const weft_graph *graph = weft_compilation_only(compilation)->graph;
    const weft_plan *plan = weft_compilation_only(compilation)->plan;
    for (int a = 0; a < graph->n_values; ++a)
        for (int b = 0; b < a; ++b) {
            int first[2] = {plan->n_kernels, plan->n_kernels}, last[2] = {-1, -1};
            if (plan->buffer_of[a] < 0 || plan->buffer_of[a] != plan->buffer_of[b])
                continue;
            for (int k = 0; k < plan->n_kernels; ++k)
                for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
                    for (int side = 0; side < 2; ++side) {
                        const weft_argument *argument = &plan->kernels[k].arguments[i];
                        if (argument->kind != ARGUMENT_VALUE ||
                            argument->index != (side == 0 ? a : b))
                            continue;
                        first[side] = k < first[side] ? k : first[side];
                        last[side] = k;
                    }
            if (first[0] <= last[1] && first[1] <= last[0])
                fail_msg("%s: '%s' and '%s' share a buffer", script, graph->values[a].name,
                         graph->values[b].name);
        }
}

#endif
