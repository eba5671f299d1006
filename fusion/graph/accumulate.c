/* Adds accumulating stores to the graph: target[map] += source and target[map,map] += source. */
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <string.h>

/* The target of an accumulation: a new list or matrix, or an input as its initial value. */
static weft_status accumulation_target(weft_graph_builder *builder,
                                       const weft_script_statement *statement, int connectivity,
                                       const weft_shape *shape, int *target, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph *graph = builder->graph;
    const bool matrix = statement->n_connectivities == 2;
    const weft_value_kind kind = matrix ? VALUE_MATRIX : VALUE_ACCUMULATED;
    const binding *known = weft_binding_find(builder, statement->name);
    if (!known) {
        weft_lazy_value v = {.operand = {.connectivity = -1, .shape = *shape}};
        weft_value value = {.name = statement->name,
                            .named = true,
                            .kind = kind,
                            .shape = *shape,
                            .producer = -1,
                            .storage = -1,
                            .connectivity = connectivity,
                            .index_set = graph->connectivities[connectivity].to,
                            .place = statement->place};
        TRY(weft_value_add(builder, &value, &v.operand.value, error));
        TRY(weft_binding_add(builder, statement->name, &v, statement->place, error));
        *target = v.operand.value;
        goto done;
    }
    weft_value *value = !known->lazy.arithmetic ? &graph->values[known->lazy.operand.value] : NULL;
    if (!value || value->producer >= 0 || strcmp(value->name, statement->name) != 0)
        TRY(weft_error_at(
            error, WEFT_ERROR_TYPE, statement->place,
            "'%s' is assigned on line %d: only a new name or an input can be accumulated into",
            statement->name, known->place.line));
    if (builder->first_read[value->id].line != 0) {
        weft_error_at(error, WEFT_ERROR_TYPE, statement->place,
                      "'%s' is accumulated into after it was read on line %d", statement->name,
                      builder->first_read[value->id].line);
        weft_error_hint(error,
                        "a name holds one value: put every accumulation before the first use");
        TRY(WEFT_ERROR_TYPE);
    }
    if (value->kind == VALUE_INPUT && (matrix ? value->index_set == UNIFORM : true)) {
        value->kind = kind;
        value->connectivity = connectivity;
        if (matrix)
            value->index_set = graph->connectivities[connectivity].to;
    }
    if (value->kind != kind || value->index_set != graph->connectivities[connectivity].to ||
        !weft_shape_equal(&value->shape, shape)) {
        weft_text text = {0};
        weft_shape_print(&value->shape, &text);
        weft_text_add(&text, " over %s; what is added is ",
                      weft_index_set_name(graph, value->index_set));
        weft_shape_print(shape, &text);
        weft_text_add(&text, " over %s",
                      weft_index_set_name(graph, graph->connectivities[connectivity].to));
        weft_error_at(error, WEFT_ERROR_SHAPE, statement->place, "'%s' is %s", statement->name,
                      text.data ? text.data : "of another shape");
        weft_text_free(&text);
        TRY(WEFT_ERROR_SHAPE);
    }
    *target = value->id;
done:
    return status;
}

static weft_status accumulation_shape(const weft_graph_builder *builder,
                                      const weft_script_statement *statement, int connectivity,
                                      const weft_operand *source, weft_shape *target,
                                      weft_error *error) {
    const weft_graph_connectivity *m = &builder->graph->connectivities[connectivity];
    const int width = m->width, n = statement->n_connectivities;
    bool right = source->shape.rank >= n;
    for (int i = 0; right && i < n; ++i)
        right = source->shape.sizes[i] == width;
    if (n == 2 && source->shape.rank != 2)
        right = false;
    if (!right) {
        const weft_shape wanted = {.rank = 2, .sizes = {width, width}};
        weft_text text = {0};
        if (n == 2)
            weft_shape_print(&wanted, &text);
        else
            weft_text_add(&text, "real[%d, ...]", width);
        weft_text_add(&text, ", this is ");
        weft_shape_print(&source->shape, &text);
        weft_error_at(error, WEFT_ERROR_SHAPE, statement->place, "'%s' adds %s", m->name,
                      text.data ? text.data : "another shape");
        weft_text_free(&text);
        return WEFT_ERROR_SHAPE;
    }
    *target = (weft_shape){.rank = source->shape.rank - n};
    for (int i = 0; i < target->rank; ++i)
        target->sizes[i] = source->shape.sizes[i + n];
    return WEFT_OK;
}

weft_status weft_graph_accumulate(weft_graph_builder *builder,
                                  const weft_script_statement *statement, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph *graph = builder->graph;
    weft_lazy_value v = {0};
    weft_operand source = {0};
    weft_shape shape = {0};
    weft_accumulation made = {.connectivity =
                                  WEFT_FIND_NAME(graph->connectivities, graph->n_connectivities,
                                                 statement->connectivities[0]),
                              .matrix = statement->n_connectivities == 2,
                              .place = statement->place};
    for (int i = 0; i < statement->n_connectivities; ++i) {
        const int known = WEFT_FIND_NAME(graph->connectivities, graph->n_connectivities,
                                         statement->connectivities[i]);
        if (known >= 0 && known == made.connectivity)
            continue;
        weft_error_at(error, WEFT_ERROR_TYPE, statement->map_places[i],
                      known < 0 ? "there is no connectivity '%s'"
                                : "rows and columns need the same connectivity, not '%s'",
                      statement->connectivities[i]);
        if (known < 0)
            weft_error_hint(error, "declare it: connectivity %s : cells -> nodes[3];",
                            statement->connectivities[i]);
        TRY(WEFT_ERROR_TYPE);
    }
    TRY(weft_value_make(builder, statement->value, &v, error));
    if (v.arithmetic ||
        (v.operand.connectivity < 0 && graph->values[v.operand.value].index_set == UNIFORM))
        TRY(weft_error_at(
            error, WEFT_ERROR_TYPE, statement->place, "only a list over %s can be added here",
            weft_index_set_name(graph, graph->connectivities[made.connectivity].from)));
    TRY(weft_value_copy(builder, &v, statement->place, &source, error));
    made.source = source.value;
    made.call = graph->values[source.value].producer;
    if (graph->values[source.value].index_set != graph->connectivities[made.connectivity].from) {
        weft_error_at(error, WEFT_ERROR_TYPE, statement->place,
                      "'%s' leads from %s, but this value is over %s", statement->connectivities[0],
                      weft_index_set_name(graph, graph->connectivities[made.connectivity].from),
                      weft_index_set_name(graph, graph->values[source.value].index_set));
        TRY(WEFT_ERROR_TYPE);
    }
    TRY(accumulation_shape(builder, statement, made.connectivity, &source, &shape, error));
    TRY(accumulation_target(builder, statement, made.connectivity, &shape, &made.target, error));
    TRY(WEFT_APPEND(builder->arena, graph->accumulations, graph->n_accumulations, made, error));
done:
    return status;
}
