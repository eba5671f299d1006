/* Lists the names that a script declares and assigns, for programs that run arbitrary scripts. */
#include "fusion/base/array.h"
#include "fusion/control/program.h"

#include <string.h>

static bool is_first(const weft_script *script, int statement) {
    const char *name = script->statements[statement].name;
    return WEFT_FIND_NAME(script->statements, statement, name) < 0 &&
           WEFT_FIND_NAME(script->inputs, script->n_inputs, name) < 0;
}

int weft_compilation_names(const weft_compilation *compilation) {
    const weft_script *script = compilation->script;
    int n = script->n_indices + script->n_connectivities + script->n_inputs + script->n_parameters +
            script->n_expressions;
    for (int i = 0; i < script->n_statements; ++i)
        n += is_first(script, i);
    return n;
}

static const weft_value *find_value(const weft_graph *graph, const char *name) {
    for (int i = 0; i < graph->n_values; ++i)
        if (graph->values[i].named && strcmp(graph->values[i].name, name) == 0)
            return &graph->values[i];
    return NULL;
}

static void report_input(const weft_script *script, int i, weft_name_info *out) {
    const weft_script_input *input = &script->inputs[i];
    *out = (weft_name_info){
        .name = input->name, .kind = WEFT_NAME_INPUT, .over = input->over, .rank = input->rank};
    for (int k = 0; k < script->n_data; ++k)
        if (strcmp(script->data[k].input, input->name) == 0)
            out->kind = WEFT_NAME_DATA;
    for (int k = 0; k < input->rank; ++k)
        (void)weft_script_integer(script, input->sizes[k], &out->sizes[k], NULL);
}

/* Describe a name that is returned or kept between steps; false: it is not such a name. */
static bool report_kept(const weft_control *control, weft_name_info *out) {
    const int i = WEFT_FIND_NAME(control->names, control->n_names, out->name);
    if (i < 0)
        return false;
    const weft_control_name *name = &control->names[i];
    out->rank = name->shape.rank;
    memcpy(out->sizes, name->shape.sizes, sizeof out->sizes);
    out->over = name->index_set >= 0 ? control->script->indices[name->index_set].name : NULL;
    out->returned = name->returned;
    out->sparse = name->matrix;
    return true;
}

static void report_value(const weft_compilation *compilation, int i, weft_name_info *out) {
    const weft_control *control = compilation->control;
    const weft_graph *graph = NULL;
    const weft_value *value = NULL;
    *out = (weft_name_info){
        .name = compilation->script->statements[i].name, .kind = WEFT_NAME_VALUE, .rank = -1};
    if (report_kept(control, out))
        return;
    for (int k = 0; !value && k < control->n_segments; ++k) {
        graph = control->segments[k]->graph;
        value = find_value(graph, out->name);
    }
    if (!value)
        return;
    out->rank = value->shape.rank;
    memcpy(out->sizes, value->shape.sizes, sizeof out->sizes);
    out->over = value->index_set >= 0 ? graph->index_sets[value->index_set].name : NULL;
    out->returned = value->returned;
    out->sparse = value->kind == VALUE_MATRIX;
}

static void report_connectivity(const weft_script *script, int i, weft_name_info *out) {
    const weft_script_connectivity *connectivity = &script->connectivities[i];
    *out = (weft_name_info){.name = connectivity->name,
                            .kind = WEFT_NAME_CONNECTIVITY,
                            .over = connectivity->from,
                            .to = connectivity->to};
    (void)weft_script_integer(script, connectivity->width, &out->width, NULL);
}

void weft_compilation_name(const weft_compilation *compilation, int i, weft_name_info *out) {
    const weft_script *script = compilation->script;
    *out = (weft_name_info){0};
    if (i < script->n_indices) {
        *out = (weft_name_info){.name = script->indices[i].name, .kind = WEFT_NAME_INDEX};
        return;
    }
    i -= script->n_indices;
    if (i < script->n_connectivities) {
        report_connectivity(script, i, out);
        return;
    }
    i -= script->n_connectivities;
    if (i < script->n_inputs) {
        report_input(script, i, out);
        return;
    }
    i -= script->n_inputs;
    if (i < script->n_parameters) {
        *out = (weft_name_info){.name = script->parameters[i].name,
                                .kind = WEFT_NAME_PARAMETER,
                                .value = script->parameters[i].value};
        return;
    }
    i -= script->n_parameters;
    if (i < script->n_expressions) {
        *out = (weft_name_info){.name = script->expressions[i].name, .kind = WEFT_NAME_EXPRESSION};
        return;
    }
    i -= script->n_expressions;
    for (int k = 0; k < script->n_statements; ++k)
        if (is_first(script, k) && i-- == 0) {
            report_value(compilation, k, out);
            return;
        }
}

bool weft_compilation_reads(const weft_compilation *compilation, const char *input) {
    const weft_control *control = compilation->control;
    for (int k = 0; k < control->n_segments; ++k) {
        const weft_graph *graph = control->segments[k]->graph;
        for (int i = 0; i < graph->n_calls; ++i)
            for (int m = 0; m < graph->calls[i].n_operands; ++m) {
                const weft_value *value = &graph->values[graph->calls[i].operands[m].value];
                if (value->is_input && strcmp(value->name, input) == 0)
                    return true;
            }
    }
    return false;
}

int weft_compilation_data_inputs(const weft_compilation *compilation) {
    return compilation->script->n_data;
}

void weft_compilation_data(const weft_compilation *compilation, int i, weft_data_info *out) {
    *out = compilation->script->data[i];
}
