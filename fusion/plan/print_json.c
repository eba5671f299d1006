/* Prints fusions, implementations, cover and plan as JSON; docs/compiler.md lists the keys. */
#include "fusion/base/json.h"
#include "fusion/graph/print.h"
#include "fusion/library/native.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/scatter.h"
#include "fusion/plan/segment.h"

static json_t *names(const weft_graph *graph, const int *data, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; ++i)
        weft_json_append(&list, weft_graph_json_name(graph, data[i]));
    return list;
}

static json_t *block(const weft_implementation *one) {
    return !one ? json_null()
                : json_pack("{s:i, s:i, s:i, s:i}", "elements", one->elements_per_block, "threads",
                            one->threads_per_element > 0 ? one->threads_per_element : 1,
                            "iterations", one->serial_iterations, "stride", one->stride);
}

static json_t *calls(const weft_graph *graph, const weft_implementation *one) {
    json_t *list = json_array();
    for (int i = 0; one && i < one->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[one->order[i]];
        const int variant = one->variants[i];
        const weft_language language =
            call->specialisation ? weft_specialisation_language(call->specialisation, variant)
                                 : LANGUAGE_PLAIN;
        weft_json_append(
            &list,
            json_pack("{s:i, s:o, s:i, s:i, s:s}", "call", call->id, "result",
                      weft_graph_json_name(graph, call->result), "variant", variant, "threads",
                      call->specialisation ? call->specialisation->threads[variant] : 1, "language",
                      weft_language_names[language]));
    }
    return list;
}

static json_t *loads(const weft_graph *graph, const weft_plan_kernel *kernel) {
    json_t *list = json_array();
    for (int i = 0; i < kernel->n_loads; ++i)
        weft_json_append(&list, weft_graph_json_operand(graph, &kernel->loads[i]));
    return list;
}

static json_t *scatters(const weft_graph *graph, const weft_plan_kernel *kernel) {
    json_t *list = json_array();
    for (int i = 0; i < kernel->n_scatters; ++i)
        weft_json_append(
            &list, weft_graph_json_accumulation(graph, &graph->accumulations[kernel->scatters[i]]));
    return list;
}

static json_t *reductions(const weft_graph *graph, const weft_plan_kernel *kernel) {
    json_t *list = json_array();
    for (int i = 0; i < kernel->n_reductions; ++i)
        weft_json_append(&list,
                         weft_graph_json_name(graph, graph->calls[kernel->reductions[i]].result));
    return list;
}

static json_t *argument_json(const weft_graph *graph, const weft_argument *argument) {
    static const char *const kinds[] = {
        [ARGUMENT_VALUE] = "list",          [ARGUMENT_CONNECTIVITY] = "connectivity",
        [ARGUMENT_POSITIONS] = "positions", [ARGUMENT_PARTIALS] = "partials",
        [ARGUMENT_PATCH] = "patches",       [ARGUMENT_CELL_PATCH] = "patches",
        [ARGUMENT_PRODUCT] = "operator",    [ARGUMENT_DOUBLE_BUFFER] = "double_buffer",
        [ARGUMENT_PATCH_MATRIX] = "rows",   [ARGUMENT_COLOUR] = "colour",
        [ARGUMENT_SIZES] = "sizes",         [ARGUMENT_MEMBERS] = "members",
        [ARGUMENT_OWNED] = "owned",         [ARGUMENT_TEAM] = "team",
        [ARGUMENT_GATHER] = "transposed"};
    const char *kind = kinds[argument->kind];
    if (argument->kind == ARGUMENT_GATHER)
        return json_pack("{s:s, s:o, s:s}", "kind", kind, "name",
                         weft_json_string(graph->connectivities[argument->index].name), "part",
                         argument->part == 0 ? "start" : "positions");
    if (argument->kind == ARGUMENT_OWNED || argument->kind == ARGUMENT_TEAM)
        return json_pack("{s:s, s:o}", "kind", kind, "name",
                         weft_json_string(graph->index_sets[argument->index].name));
    if (argument->kind == ARGUMENT_MEMBERS || argument->kind == ARGUMENT_SIZES)
        return json_pack("{s:s, s:n}", "kind", kind, "name");
    if (argument->kind == ARGUMENT_CONNECTIVITY || argument->kind == ARGUMENT_PATCH ||
        argument->kind == ARGUMENT_CELL_PATCH || argument->kind == ARGUMENT_COLOUR)
        return json_pack("{s:s, s:o}", "kind", kind, "name",
                         weft_json_string(graph->connectivities[argument->index].name));
    return json_pack("{s:s, s:o}", "kind", kind, "name",
                     argument->kind == ARGUMENT_PRODUCT
                         ? weft_json_string(graph->operators[argument->index])
                         : weft_graph_json_name(graph, argument->index));
}

static json_t *arguments(const weft_graph *graph, const weft_plan_kernel *kernel) {
    json_t *list = json_array();
    for (int i = 0; i < kernel->n_arguments; ++i)
        weft_json_append(&list, argument_json(graph, &kernel->arguments[i]));
    return list;
}

static json_t *group_json(const weft_plan_kernel *kernel) {
    if (kernel->kind != KERNEL_GROUP || (kernel - 1)->kind == KERNEL_FINAL_REDUCTION)
        return json_null(); /* that of final reductions follows from that of their kernels */
    json_t *list = json_array();
    for (int i = kernel->n_members; i > 0; --i)
        weft_json_append(&list, weft_json_string((kernel - i)->name));
    return json_pack("{s:s, s:i, s:o}", "combination", weft_combination_name(kernel->combination),
                     "threads", kernel->threads, "members", list);
}

static json_t *kernel_json(const weft_graph *graph, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:b, s:o, s:o, s:i, s:o, "
        "s:o, s:o, s:o}",
        "name", weft_json_string(kernel->name), "index_set",
        weft_graph_json_index_set(graph, kernel->index_set), "level",
        one ? json_integer(one->fusion->level) : json_null(), "block", block(one), "calls",
        calls(graph, one), "loads", loads(graph, kernel), "stores",
        names(graph, kernel->stores, kernel->n_stores), "scatters", scatters(graph, kernel),
        "gather",
        kernel->kind == KERNEL_GATHER
            ? weft_graph_json_accumulation(graph, &graph->accumulations[kernel->gather])
            : json_null(),
        "adds", kernel->accumulates, "cell_colours", kernel->kind == KERNEL_CELL_COLOURS,
        "reductions", reductions(graph, kernel), "finishes", kernel->kind == KERNEL_FINAL_REDUCTION,
        "zeroed", names(graph, kernel->zero, kernel->n_zero), "arguments", arguments(graph, kernel),
        "onchip_peak", one ? one->onchip_peak : 0, "bytes_loaded",
        weft_json_number(kernel->bytes_loaded), "bytes_stored",
        weft_json_number(kernel->bytes_stored), "flops", weft_json_number(kernel->flops), "group",
        group_json(kernel));
}

static json_t *buffer_json(const weft_graph *graph, const weft_plan *plan, int number) {
    const weft_plan_buffer *buffer = &plan->buffers[number];
    json_t *data = json_array();
    for (int k = 0; k < graph->n_values; ++k)
        if (plan->buffer_of[k] == number)
            weft_json_append(&data, weft_graph_json_name(graph, k));
    return json_pack("{s:o, s:i, s:i, s:i, s:o}", "index_set",
                     weft_graph_json_index_set(graph, buffer->index_set), "components",
                     buffer->components, "first", buffer->first, "last", buffer->last, "data",
                     data);
}

json_t *weft_plan_json(const weft_graph *graph, const weft_plan *plan, int segment) {
    json_t *kernels = json_array(), *buffers = json_array();
    for (int i = 0; i < plan->n_kernels; ++i)
        weft_json_append(&kernels, kernel_json(graph, &plan->kernels[i]));
    for (int i = 0; i < plan->n_buffers; ++i)
        weft_json_append(&buffers, buffer_json(graph, plan, i));
    json_t *plan_json = json_pack(
        "{s:s, s:i, s:s, s:o, s:o}", "format", "weft-plan-1", "lanes", plan->lanes, "scatter",
        weft_scatter_name(plan->scatter, plan->is_simt), "kernels", kernels, "buffers", buffers);
    if (plan->retreat != WEFT_SCATTER_AUTO)
        weft_json_set(&plan_json, "retreat",
                      json_string(weft_scatter_name(plan->retreat, plan->is_simt)));
    if (segment >= 0)
        weft_json_set(&plan_json, "segment", json_integer(segment));
    return plan_json;
}

/* ---- what the planner chooses from ---- */

json_t *weft_fusions_json(const weft_segment *c) {
    json_t *list = json_array();
    for (int i = 0; i < c->fusions->n; ++i) {
        const weft_fusion *fusion = &c->fusions->list[i];
        weft_json_append(&list,
                         json_pack("{s:o, s:o, s:i}", "calls",
                                   weft_json_integers(fusion->calls, fusion->n_calls), "index_set",
                                   weft_graph_json_index_set(c->graph, fusion->index_set), "level",
                                   fusion->level));
    }
    const weft_fusion_counts *counts = &c->fusions->counts;
    return json_pack("{s:s, s:o, s:I, s:I, s:I}", "format", "weft-fusions-1", "fusions", list,
                     "connected", (json_int_t)counts->connected, "not_convex",
                     (json_int_t)counts->not_convex, "unfit", (json_int_t)counts->unfit);
}

static json_t *onchip(const weft_graph *graph, const weft_implementation *one) {
    static const char *const places[] = {"registers", "shared", "own_registers"};
    json_t *list = json_array();
    for (int m = 0; m < one->n_onchip; ++m) {
        json_t *operand = weft_graph_json_operand(graph, &one->onchip[m]);
        weft_json_set(&operand, "place", json_string(places[one->placement[m]]));
        weft_json_append(&list, operand);
    }
    return list;
}

static int number_of(const weft_fusions *fusions, const weft_fusion *fusion) {
    int i = 0;
    while (i < fusions->n && fusions->list[i].calls != fusion->calls)
        ++i;
    return i;
}

static json_t *implementation_json(const weft_segment *c, const weft_implementation *one) {
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:b, s:o}",
        "fusion", number_of(c->fusions, one->fusion), "calls", calls(c->graph, one), "block",
        block(one), "on_chip", onchip(c->graph, one), "onchip_peak", one->onchip_peak,
        "shared_components", one->threads_per_element > 0 ? one->shared_components : 0,
        "register_components",
        one->threads_per_element > 0 ? one->register_components : one->onchip_peak, "barriers",
        weft_implementation_prediction(one).barriers, "bytes_loaded",
        weft_json_number(one->bytes_loaded), "bytes_stored", weft_json_number(one->bytes_stored),
        "flops", weft_json_number(one->flops), "seconds", json_real(one->seconds), "cost",
        json_real(one->cost), "spilled_bytes", one->spilled_bytes, "measured", one->measured,
        "pruned", one->reason ? json_string(one->reason) : json_null());
}

json_t *weft_implementations_json(const weft_segment *c) {
    json_t *list = json_array();
    for (int i = 0; i < c->implementations->n; ++i)
        weft_json_append(&list, implementation_json(c, &c->implementations->list[i]));
    return json_pack("{s:s, s:I, s:o}", "format", "weft-implementations-1", "considered",
                     (json_int_t)c->implementations->considered, "implementations", list);
}

json_t *weft_cover_json(const weft_segment *c) {
    json_t *list = json_array();
    for (int i = 0; i < c->cover->n; ++i)
        weft_json_append(&list, implementation_json(c, c->cover->list[i]));
    return json_pack("{s:s, s:o, s:b, s:b, s:o}", "format", "weft-cover-1", "seconds",
                     json_real(c->cover->seconds), "proved", c->cover->proved, "recalled",
                     c->cover_recalled, "implementations", list);
}
