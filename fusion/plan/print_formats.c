/* The plan for other programs: Graphviz and JSON (docs/compiler.md has the keys). */
#include "core/weft_core.h"
#include "core/weft_escape.h"
#include "fusion/graph/graph.h"
#include "fusion/graph/print.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/plan.h"

/* ---- Graphviz: the graph, with a cluster a kernel ---- */

static void print_dot_gather(const weft_graph *graph, const weft_plan_kernel *kernel, int number,
                             weft_text *out) {
    const weft_accumulation *a = &graph->accumulations[kernel->gather];
    weft_text_add(out, "        g%d [shape=box, style=dashed, label=\"", number);
    print_accumulation(graph, a, out);
    weft_text_add(out, "\\nby the owner\"];\n");
}

static void print_dot_kernel(const weft_graph *graph, const weft_plan_kernel *kernel, int number,
                             weft_text *out) {
    weft_text_add(out, "    subgraph cluster_%d {\n        label=\"%d: ", number, number);
    weft_text_add_dot(out, kernel->name);
    weft_text_add(out, "\\nover %s\";\n", weft_index_set_name(graph, kernel->index_set));
    for (int i = 0; kernel->implementation != NULL && i < kernel->implementation->fusion->n_calls;
         ++i) {
        weft_text_add(out, "        ");
        print_dot_call(graph, &graph->calls[kernel->implementation->order[i]], out);
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
    for (int i = 0; i < graph->n_data; ++i)
        if (print_dot_is_node(graph, &graph->data[i]))
            print_dot_datum(graph, &graph->data[i], out);
    for (int i = 0; i < plan->n_kernels; ++i)
        print_dot_kernel(graph, &plan->kernels[i], i, out);
    print_dot_all_edges(graph, out);
    for (int i = 0; i < plan->n_kernels; ++i) {
        if (plan->kernels[i].kind != KERNEL_GATHER)
            continue;
        const weft_accumulation *a = &graph->accumulations[plan->kernels[i].gather];
        weft_text_add(out, "    c%d -> g%d;\n    g%d -> d%d;\n", a->call, i, i, a->target);
    }
    weft_text_add(out, "}\n");
}

/* ---- JSON ---- */

static void print_names(const weft_graph *graph, const char *key, const int *data, int n,
                        weft_text *out) {
    weft_text_add(out, "     \"%s\": [", key);
    for (int i = 0; i < n; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        print_json_name(graph, data[i], out);
    }
    weft_text_add(out, "],\n");
}

static void print_json_calls(const weft_graph *graph, const weft_implementation *one,
                             weft_text *out) {
    weft_text_add(out, "     \"calls\": [");
    for (int i = 0; one != NULL && i < one->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[one->order[i]];
        const int variant = one->variants[i];
        weft_text_add(out, "%s{\"call\": %d, \"result\": ", i > 0 ? ", " : "", call->id);
        print_json_name(graph, call->result, out);
        weft_text_add(out, ", \"variant\": %d, \"threads\": %d}", variant,
                      call->instance != NULL ? call->instance->threads[variant] : 1);
    }
    weft_text_add(out, "],\n");
}

static void print_json_accumulation(const weft_graph *graph, int accumulation, weft_text *out) {
    const weft_accumulation *a = &graph->accumulations[accumulation];
    weft_text_add(out, "{\"source\": ");
    print_json_name(graph, a->source, out);
    weft_text_add(out, ", \"target\": ");
    print_json_name(graph, a->target, out);
    weft_text_add(out, ", \"map\": ");
    weft_text_add_json(out, graph->maps[a->map].name);
    weft_text_add(out, ", \"matrix\": %s}", a->matrix ? "true" : "false");
}

static void print_json_moves(const weft_graph *graph, const weft_plan_kernel *kernel,
                             weft_text *out) {
    weft_text_add(out, "     \"loads\": [");
    for (int i = 0; i < kernel->n_loads; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        print_json_operand(graph, &kernel->loads[i], out);
    }
    weft_text_add(out, "],\n");
    print_names(graph, "stores", kernel->stores, kernel->n_stores, out);
    weft_text_add(out, "     \"scatters\": [");
    for (int i = 0; i < kernel->n_scatters; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        print_json_accumulation(graph, kernel->scatters[i], out);
    }
    weft_text_add(out, "],\n     \"gather\": ");
    if (kernel->kind == KERNEL_GATHER)
        print_json_accumulation(graph, kernel->gather, out);
    else
        weft_text_add(out, "null");
    weft_text_add(out, ", \"adds\": %s, \"cell_colours\": %s,\n", kernel->adds ? "true" : "false",
                  kernel->kind == KERNEL_CELL_COLOURS ? "true" : "false");
    weft_text_add(out, "     \"reductions\": [");
    for (int i = 0; i < kernel->n_reductions; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        print_json_name(graph, graph->calls[kernel->reductions[i]].result, out);
    }
    weft_text_add(out, "], \"finishes\": %s,\n", kernel->kind == KERNEL_FINISH ? "true" : "false");
    print_names(graph, "zeroed", kernel->zero, kernel->n_zero, out);
}

static void print_json_arguments(const weft_graph *graph, const weft_plan_kernel *kernel,
                                 weft_text *out) {
    weft_text_add(out, "     \"arguments\": [");
    for (int i = 0; i < kernel->n_arguments; ++i) {
        const weft_argument *argument = &kernel->arguments[i];
        static const char *const kinds[] = {
            [ARGUMENT_DATUM] = "list",          [ARGUMENT_MAP] = "connectivity",
            [ARGUMENT_POSITIONS] = "positions", [ARGUMENT_PARTIALS] = "partials",
            [ARGUMENT_STAR] = "stars",          [ARGUMENT_ROWS] = "operator",
            [ARGUMENT_TWIN] = "twin",           [ARGUMENT_STAR_MATRIX] = "rows",
            [ARGUMENT_COLOUR] = "colour",       [ARGUMENT_GATHER] = "transposed"};
        weft_text_add(out, "%s{\"kind\": \"%s\", \"name\": ", i > 0 ? ", " : "",
                      kinds[argument->kind]);
        if (argument->kind == ARGUMENT_MAP || argument->kind == ARGUMENT_GATHER ||
            argument->kind == ARGUMENT_STAR || argument->kind == ARGUMENT_COLOUR)
            weft_text_add_json(out, graph->maps[argument->index].name);
        else if (argument->kind == ARGUMENT_ROWS)
            weft_text_add_json(out, graph->operators[argument->index]);
        else
            print_json_name(graph, argument->index, out);
        if (argument->kind == ARGUMENT_GATHER)
            weft_text_add(out, ", \"part\": \"%s\"", argument->part == 0 ? "start" : "positions");
        weft_text_add(out, "}");
    }
    weft_text_add(out, "],\n");
}

static void print_json_kernel(const weft_graph *graph, const weft_plan_kernel *kernel,
                              weft_text *out) {
    const weft_implementation *one = kernel->implementation;
    weft_text_add(out, "    {\"name\": ");
    weft_text_add_json(out, kernel->name);
    weft_text_add(out, ", \"index_set\": ");
    print_json_index_set(graph, kernel->index_set, out);
    weft_text_add(out, ", \"level\": ");
    weft_text_add(out, one != NULL ? "%d,\n" : "null,\n", one != NULL ? one->fusion->level : 0);
    if (one != NULL)
        weft_text_add(
            out, "     \"block\": {\"instances\": %d, \"threads\": %d, \"iterations\": %d},\n",
            one->instances_per_block, one->warps > 0 ? one->warps : 1, one->serial_iterations);
    else
        weft_text_add(out, "     \"block\": null,\n");
    print_json_calls(graph, one, out);
    print_json_moves(graph, kernel, out);
    print_json_arguments(graph, kernel, out);
    weft_text_add(
        out, "     \"onchip_peak\": %d, \"bytes_loaded\": ", one != NULL ? one->onchip_peak : 0);
    print_number(kernel->bytes_loaded, out);
    weft_text_add(out, ", \"bytes_stored\": ");
    print_number(kernel->bytes_stored, out);
    weft_text_add(out, ", \"flops\": ");
    print_number(kernel->flops, out);
    weft_text_add(out, "}");
}

void weft_plan_print_json(const weft_graph *graph, const weft_plan *plan, int segment,
                          weft_text *out) {
    weft_text_add(out, "{\n  \"format\": \"weft-plan-1\",\n");
    if (segment >= 0)
        weft_text_add(out, "  \"segment\": %d,\n", segment);
    weft_text_add(out, "  \"lanes\": %d,\n  \"kernels\": [", plan->lanes);
    for (int i = 0; i < plan->n_kernels; ++i) {
        weft_text_add(out, i > 0 ? ",\n" : "\n");
        print_json_kernel(graph, &plan->kernels[i], out);
    }
    weft_text_add(out, "],\n  \"buffers\": [");
    for (int i = 0; i < plan->n_buffers; ++i) {
        const weft_plan_buffer *buffer = &plan->buffers[i];
        bool any = false;
        weft_text_add(out, "%s\n    {\"index_set\": ", i > 0 ? "," : "");
        print_json_index_set(graph, buffer->index_set, out);
        weft_text_add(out, ", \"components\": %d, \"first\": %d, \"last\": %d, \"data\": [",
                      buffer->components, buffer->first, buffer->last);
        for (int k = 0; k < graph->n_data; ++k) {
            if (plan->buffer_of[k] != i)
                continue;
            weft_text_add(out, any ? ", " : "");
            print_json_name(graph, k, out);
            any = true;
        }
        weft_text_add(out, "]}");
    }
    weft_text_add(out, "]\n}\n");
}
