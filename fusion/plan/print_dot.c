/* Prints a plan for Graphviz: the dataflow graph with one cluster per kernel. */
#include "core/weft_escape.h"
#include "fusion/graph/print.h"
#include "fusion/plan/plan.h"

static void print_dot_gather(const weft_graph *graph, const weft_plan_kernel *kernel, int number,
                             weft_text *out) {
    const weft_accumulation *a = &graph->accumulations[kernel->gather];
    weft_text_add(out, "        g%d [shape=box, style=dashed, label=\"", number);
    weft_print_accumulation(graph, a, out);
    weft_text_add(out, "\\nby the owner\"];\n");
}

static void print_dot_kernel(const weft_graph *graph, const weft_plan_kernel *kernel, int number,
                             weft_text *out) {
    weft_text_add(out, "    subgraph cluster_%d {\n        label=\"%d: ", number, number);
    weft_text_add_dot(out, kernel->name);
    weft_text_add(out, "\\nover %s\";\n", weft_index_set_name(graph, kernel->index_set));
    for (int i = 0; kernel->implementation && i < kernel->implementation->fusion->n_calls; ++i) {
        weft_text_add(out, "        ");
        weft_print_dot_call(graph, &graph->calls[kernel->implementation->order[i]], out);
    }
    if (kernel->kind == KERNEL_GATHER)
        print_dot_gather(graph, kernel, number, out);
    weft_text_add(out, "    }\n");
}

void weft_plan_print_dot(const weft_graph *graph, const weft_plan *plan, weft_text *out) {
    weft_text_add(out, "digraph plan {\n"
                       "    node [fontname=\"monospace\"];\n"
                       "    edge [fontname=\"monospace\", fontsize=10];\n"
                       "    graph [fontname=\"monospace\"];\n");
    for (int i = 0; i < graph->n_values; ++i)
        if (weft_print_dot_is_node(graph, &graph->values[i]))
            weft_print_dot_value(graph, &graph->values[i], out);
    for (int i = 0; i < plan->n_kernels; ++i)
        print_dot_kernel(graph, &plan->kernels[i], i, out);
    weft_print_dot_all_edges(graph, out);
    for (int i = 0; i < plan->n_kernels; ++i) {
        if (plan->kernels[i].kind != KERNEL_GATHER)
            continue;
        const weft_accumulation *a = &graph->accumulations[plan->kernels[i].gather];
        weft_text_add(out, "    c%d -> g%d;\n    g%d -> d%d;\n", a->call, i, i, a->target);
    }
    weft_text_add(out, "}\n");
}
