/* Makes one segment, a straight-line script: names that it reads from earlier steps are its inputs,
 * names that later steps read are returned. */
#include "fusion/base/array.h"
#include "fusion/control/kept_plan.h"
#include "fusion/control/private.h"
#include "fusion/graph/builder.h"

#include <string.h>

static bool calls(const weft_node *node, const char *name) {
    if (node->kind == NODE_CALL && strcmp(node->name, name) == 0)
        return true;
    for (int i = 0; i < node->n_children; ++i)
        if (calls(node->children[i], name))
            return true;
    return false;
}

/* By a statement, or by the formula of an expression that a statement calls: the data of formulas by group. */
static bool is_read_here(const control_builder *b, const char *name) {
    const weft_script *script = b->script;
    for (int i = 0; i < b->n_open; ++i) {
        if (weft_control_statement_reads(&b->open[i], name))
            return true;
        for (int k = 0; k < script->n_expressions; ++k)
            if (script->expressions[k].body &&
                weft_control_node_reads(script->expressions[k].body, name) &&
                calls(b->open[i].value, script->expressions[k].name))
                return true;
    }
    return false;
}

static weft_status size_node(const control_builder *b, int size, weft_node **out) {
    weft_node *node = weft_arena_alloc(b->arena, 1, sizeof *node);
    if (!node)
        return weft_no_memory(b->error);
    *node = (weft_node){.kind = NODE_NUMBER, .number = size, .integer = true};
    *out = node;
    return WEFT_OK;
}

static weft_status input_of(const control_builder *b, const weft_control_name *name,
                            weft_script_input *out) {
    weft_status status = WEFT_OK;
    *out = (weft_script_input){.name = name->name, .rank = name->shape.rank, .place = name->place};
    if (name->index_set >= 0 && !name->matrix) /* matrix entries have no index set */
        out->over = b->script->indices[name->index_set].name;
    for (int i = 0; i < name->shape.rank; ++i)
        TRY(size_node(b, name->shape.sizes[i], &out->sizes[i]));
done:
    return status;
}

/* The script of a segment: all declarations, inputs that it reads, its statements, no returns. */
static weft_status segment_script(const control_builder *b, bool is_loop_body, weft_script **out) {
    weft_status status = WEFT_OK;
    const weft_control *control = b->control;
    weft_script *made = NULL;
    TRY(WEFT_ALLOC(b->arena, made, 1, b->error));
    *made = *b->script;
    made->n_loops = made->n_returns = made->n_inputs = 0;
    made->is_loop_body = is_loop_body;
    TRY(WEFT_ALLOC(b->arena, made->inputs, (size_t)control->n_names + 1, b->error));
    TRY(WEFT_ALLOC(b->arena, made->returns, (size_t)b->n_open + 1, b->error));
    TRY(WEFT_ALLOC(b->arena, made->statements, (size_t)b->n_open, b->error));
    for (int i = 0; i < control->n_names; ++i)
        if (!control->names[i].hidden && is_read_here(b, control->names[i].name))
            TRY(input_of(b, &control->names[i], &made->inputs[made->n_inputs++]));
    memcpy(made->statements, b->open, (size_t)b->n_open * sizeof *made->statements);
    made->n_statements = b->n_open;
    for (int i = 0; i < made->n_statements; ++i)
        made->statements[i].loop = -1;
    *out = made;
done:
    return status;
}

/* The type of a name of the segment. Pending: uniform arithmetic that is not a call. */
static void name_type(const weft_graph_builder *graph, const weft_lazy_value *v,
                      weft_control_name *name, bool *pending) {
    *pending = false;
    if (v->arithmetic) {
        name->shape = v->arithmetic->shape;
        name->index_set = UNIFORM;
        *pending = true;
        return;
    }
    const weft_value *value = &graph->graph->values[v->operand.value];
    const int connectivity = v->operand.connectivity;
    name->shape = v->operand.shape;
    name->index_set =
        connectivity >= 0 ? graph->graph->connectivities[connectivity].from : value->index_set;
    name->matrix = value->kind == VALUE_MATRIX;
    *pending = name->index_set == UNIFORM && !name->matrix && value->producer < 0;
}

typedef struct segment_name {
    weft_control_name name;
    const weft_node *value;
    bool wanted, pending, is_new;
} segment_name;

/* Mark the names that are read later, or by pending arithmetic that is read later. */
static void mark_wanted(const control_builder *b, segment_name *names, int n, int next) {
    for (int i = n - 1; i >= 0; --i) {
        if (!names[i].is_new)
            continue;
        names[i].wanted = weft_control_is_wanted(b, names[i].name.name, next);
        for (int k = i + 1; k < n && !names[i].wanted; ++k)
            names[i].wanted = names[k].wanted && names[k].pending &&
                              weft_control_node_reads(names[k].value, names[i].name.name);
    }
}

/* One entry per statement. */
static weft_status segment_names(const control_builder *b, const weft_graph_builder *graph,
                                 int next, segment_name *names) {
    const weft_script *script = b->script;
    for (int i = 0; i < b->n_open; ++i) {
        const weft_script_statement *statement = &b->open[i];
        const binding *known = weft_binding_find(graph, statement->name);
        names[i] = (segment_name){.value = statement->value};
        names[i].name = (weft_control_name){
            .name = statement->name, .loop = b->loop, .place = statement->place};
        if (known)
            name_type(graph, &known->lazy, &names[i].name, &names[i].pending);
        names[i].is_new =
            !statement->update && weft_control_name_find(b->control, statement->name) < 0;
        names[i].is_new &= WEFT_FIND_NAME(b->open, i, statement->name) < 0;
        names[i].name.returned =
            WEFT_FIND_NAME(script->returns, script->n_returns, statement->name) >= 0;
    }
    mark_wanted(b, names, b->n_open, next);
    return WEFT_OK;
}

/* Compile a segment through its stages. In a loop its kernels are predicated. */
static weft_status segment_make(const weft_compilation *c, weft_script *script, int number,
                                int loop, weft_segment **out, weft_error *error) {
    weft_segment *made = weft_arena_alloc(c->arena, 1, sizeof *made);
    if (!made)
        return weft_no_memory(error);
    *made = (weft_segment){.arena = c->arena,
                           .library = c->library,
                           .limits = c->limits,
                           .options = c->options,
                           .number = number,
                           .loop = loop,
                           .script = script};
    made->options.predicated |= loop >= 0;
    const int place = number < 0 ? 0 : number;
    if (c->kept && place >= c->kept->n_segments)
        return weft_error_set(error, WEFT_ERROR_INPUT, "the kept plan has too few segments");
    if (c->kept) {
        made->is_kept = true;
        made->options.forced_plan = c->kept->segments[place].plan;
    }
    *out = made;
    return weft_segment_plan(made, error);
}

static weft_status compile_segment(control_builder *b, weft_control_steps *steps,
                                   weft_script *script) {
    weft_status status = WEFT_OK;
    const int number = b->control->n_segments;
    const weft_control_step step = {.kind = CONTROL_SEGMENT, .number = number, .loop = b->loop};
    weft_segment *segment = NULL;
    TRY(segment_make(b->compilation, script, number, b->loop, &segment, b->error));
    TRY(WEFT_APPEND(b->arena, b->control->segments, b->control->n_segments, segment, b->error));
    TRY(weft_control_step_add(b, steps, &step));
done:
    return status;
}

static weft_status add_pending(control_builder *b, weft_control_steps *steps, segment_name *names) {
    weft_status status = WEFT_OK;
    weft_control_step step = {.kind = CONTROL_SCALARS, .loop = b->loop};
    for (int i = 0; i < b->n_open; ++i) {
        int id = 0;
        if (!names[i].wanted || !names[i].pending)
            continue;
        if (names[i].name.shape.rank > 0)
            TRY(weft_error_at(b->error, WEFT_ERROR_UNSUPPORTED, names[i].name.place,
                              "'%s' is a uniform tensor, read in another part of the program: "
                              "give its components names",
                              names[i].name.name));
        TRY(weft_control_name_add(b, &names[i].name, &id));
        weft_control_scalar scalar = {0};
        TRY(weft_control_scalar_make(b, names[i].value, id, &scalar));
        TRY(WEFT_APPEND(b->arena, step.scalars, step.n_scalars, scalar, b->error));
    }
    if (step.n_scalars > 0) {
        step.number = b->control->n_scalar_steps++;
        TRY(weft_control_step_add(b, steps, &step));
    }
done:
    return status;
}

static bool changes_memory(const control_builder *b, const segment_name *names) {
    for (int i = 0; i < b->n_open; ++i)
        if (b->open[i].update || (b->open[i].accumulate && !names[i].is_new &&
                                  weft_control_name_find(b->control, b->open[i].name) >= 0))
            return true;
    return false;
}

/* Are all statements pending arithmetic, so that the segment is empty? */
static bool is_all_pending(const control_builder *b, const segment_name *names) {
    for (int i = 0; i < b->n_open; ++i)
        if (!names[i].pending)
            return false;
    return true;
}

/* Does the segment contain all list operations of an outermost loop? Then its updates may be
 * double-buffered until the loop ends, because no other step reads the lists. */
static bool is_loop_body(const control_builder *b, const weft_control_steps *steps, int next) {
    return b->loop >= 0 && b->script->loops[b->loop].parent < 0 && steps->n == 0 &&
           next == b->script->loops[b->loop].last;
}

weft_status weft_control_segment_close(control_builder *b, weft_control_steps *steps, int next) {
    weft_status status = WEFT_OK;
    weft_script *script = NULL;
    segment_name *names = NULL;
    if (b->n_open == 0)
        goto done;
    TRY(segment_script(b, is_loop_body(b, steps, next), &script));
    weft_graph_builder graph = {
        .arena = b->arena, .library = b->compilation->library, .script = script};
    TRY(weft_graph_statements(&graph, b->error));
    TRY(WEFT_ALLOC(b->arena, names, (size_t)b->n_open, b->error));
    TRY(segment_names(b, &graph, next, names));
    for (int i = 0; i < b->n_open; ++i)
        if (names[i].wanted && !names[i].pending)
            script->returns[script->n_returns++] =
                (weft_script_return){names[i].name.name, names[i].name.place};
    if ((script->n_returns > 0 || changes_memory(b, names)) && !is_all_pending(b, names))
        TRY(compile_segment(b, steps, script));
    for (int i = 0; i < b->n_open; ++i) {
        int id = 0;
        if (names[i].wanted && !names[i].pending)
            TRY(weft_control_name_add(b, &names[i].name, &id));
    }
    TRY(add_pending(b, steps, names));
    b->n_open = 0;
done:
    return status;
}

/* ---- a script that is one segment ------------------------------------------------------------ */

/* The names that the caller may bind or read: inputs and returned values. */
static weft_status straight_names(control_builder *b, const weft_graph *graph) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        const weft_control_name name = {.name = value->name,
                                        .shape = value->shape,
                                        .index_set = value->index_set,
                                        .is_input = value->is_input,
                                        .returned = value->returned,
                                        .matrix = value->kind == VALUE_MATRIX,
                                        .loop = -1,
                                        .place = value->place};
        int id = weft_control_name_find(b->control, value->name);
        if ((value->is_input || value->returned) && id < 0)
            TRY(weft_control_name_add(b, &name, &id));
    }
done:
    return status;
}

weft_status weft_control_straight_make(const weft_compilation *compilation, weft_control **out,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control_step step = {.kind = CONTROL_SEGMENT, .loop = -1};
    weft_segment *segment = NULL;
    control_builder b = {
        .compilation = compilation, .arena = compilation->arena, .loop = -1, .error = error};
    TRY(WEFT_ALLOC(b.arena, b.control, 1, error));
    b.control->script = compilation->script;
    b.control->last_loop = -1;
    TRY(segment_make(compilation, compilation->script, -1, -1, &segment, error));
    TRY(WEFT_APPEND(b.arena, b.control->segments, b.control->n_segments, segment, b.error));
    TRY(weft_control_step_add(&b, &b.control->steps, &step));
    TRY(straight_names(&b, segment->graph));
    *out = b.control;
done:
    return status;
}

const weft_segment *weft_compilation_only(const weft_compilation *compilation) {
    const weft_control *control = compilation->control;
    return control->n_segments == 1 && control->segments[0]->number < 0 ? control->segments[0]
                                                                        : NULL;
}
