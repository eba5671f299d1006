/* Decides which scripts need more than one segment: those with loops, with operators, and with
 * uniform values that arithmetic computes and memory keeps. */
#include "fusion/base/array.h"
#include "fusion/control/private.h"
#include "fusion/graph/builder.h"

#include <string.h>

static const weft_script_input *find_input(const weft_script *script, const char *name) {
    const int i = WEFT_FIND_NAME(script->inputs, script->n_inputs, name);
    return i >= 0 ? &script->inputs[i] : NULL;
}

/* Could a value be uniform? It is if no list is read outside reductions. */
static bool may_be_uniform(const weft_library *library, const weft_script *script,
                           const weft_node *node, int depth) {
    if (depth > script->n_statements)
        return false;
    if (node->kind == NODE_NAME) {
        const weft_script_input *input = find_input(script, node->name);
        for (int i = 0; i < script->n_statements; ++i)
            if (!script->statements[i].update &&
                strcmp(script->statements[i].name, node->name) == 0)
                return !script->statements[i].accumulate &&
                       may_be_uniform(library, script, script->statements[i].value, depth + 1);
        return !input || !input->over;
    }
    if (node->kind == NODE_CALL && weft_library_find_reduction(library, node->name))
        return true;
    if (node->kind == NODE_CALL && weft_library_find(library, node->name))
        return false;
    for (int i = 0; i < node->n_children; ++i)
        if (!may_be_uniform(library, script, node->children[i], depth))
            return false;
    return true;
}

/* Is a returned name uniform arithmetic, which is not a call? */
static weft_status returns_pending(weft_arena *arena, const weft_library *library,
                                   const weft_script *script, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph_builder graph = {.arena = arena, .library = library, .script = script};
    TRY(weft_graph_statements(&graph, error));
    for (int i = 0; i < script->n_returns; ++i) {
        const binding *known = weft_binding_find(&graph, script->returns[i].name);
        if (!known)
            continue;
        const int value = known->lazy.operand.value;
        *out |=
            known->lazy.arithmetic || (graph.graph->values[value].index_set == UNIFORM &&
                                       graph.graph->values[value].producer < 0 &&
                                       strcmp(graph.graph->values[value].name, known->name) != 0);
    }
done:
    return status;
}

static bool updates_twice(const weft_script *script) {
    for (int i = 0; i < script->n_statements; ++i)
        for (int k = 0; k < i && script->statements[i].update; ++k)
            if (script->statements[k].update &&
                strcmp(script->statements[k].name, script->statements[i].name) == 0)
                return true;
    return false;
}

weft_status weft_control_needs_steps(weft_arena *arena, const weft_library *library,
                                     const weft_script *script, bool *out, weft_error *error) {
    bool probe = false;
    *out = script->n_loops > 0;
    for (int i = 0; i < script->n_operators; ++i)
        *out |= !script->operators[i].product_kernel;
    /* for operators of every kind, so that the choice of an implementation does not decide whether
     * a script is legal */
    *out |= script->n_operators > 0 && updates_twice(script);
    for (int i = 0; i < script->n_statements && !*out; ++i) {
        const weft_script_statement *statement = &script->statements[i];
        const weft_script_input *input = find_input(script, statement->name);
        *out = statement->update && input && !input->over;
    }
    for (int i = 0; i < script->n_statements; ++i)
        for (int k = 0; k < script->n_returns; ++k) {
            const weft_node *made = script->statements[i].value;
            const bool whole =
                made->kind == NODE_CALL && weft_library_find_reduction(library, made->name);
            probe |= !whole && !script->statements[i].update && !script->statements[i].accumulate &&
                     strcmp(script->statements[i].name, script->returns[k].name) == 0 &&
                     may_be_uniform(library, script, made, 0);
        }
    return *out || !probe ? WEFT_OK : returns_pending(arena, library, script, out, error);
}
