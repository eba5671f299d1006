/* Finds the names that a statement reads, and checks that they have a value there. */
#include "fusion/base/array.h"
#include "fusion/control/private.h"

#include <stdio.h>
#include <string.h>

int weft_control_name_find(const weft_control *control, const char *name) {
    for (int i = 0; i < control->n_names; ++i)
        if (!control->names[i].hidden && strcmp(control->names[i].name, name) == 0)
            return i;
    return -1;
}

weft_status weft_control_name_add(control_builder *b, const weft_control_name *name, int *id) {
    weft_control *control = b->control;
    *id = control->n_names;
    return WEFT_APPEND(b->arena, control->names, control->n_names, *name, b->error);
}

bool weft_control_node_reads(const weft_node *node, const char *name) {
    if (node->kind == NODE_NAME && strcmp(node->name, name) == 0)
        return true;
    for (int i = 0; i < node->n_children; ++i)
        if (weft_control_node_reads(node->children[i], name))
            return true;
    return false;
}

bool weft_control_statement_reads(const weft_script_statement *statement, const char *name) {
    return ((statement->update || statement->accumulate) && strcmp(statement->name, name) == 0) ||
           weft_control_node_reads(statement->value, name);
}

bool weft_control_is_wanted(const control_builder *b, const char *name, int next) {
    const weft_script *script = b->script;
    if (WEFT_FIND_NAME(script->returns, script->n_returns, name) >= 0)
        return true;
    for (int i = next; i < script->n_statements; ++i)
        if (weft_control_statement_reads(&script->statements[i], name))
            return true;
    for (int i = 0; i < script->n_loops; ++i)
        if (script->loops[i].first >= next &&
            (weft_control_node_reads(script->loops[i].most, name) ||
             weft_control_node_reads(script->loops[i].condition, name)))
            return true;
    for (int i = 0; i < b->n_deferred; ++i)
        if (weft_control_statement_reads(&b->deferred[i], name))
            return true;
    return false;
}

static bool is_declared(const weft_script *script, const char *name) {
    return strcmp(name, "pi") == 0 ||
           WEFT_FIND_NAME(script->parameters, script->n_parameters, name) >= 0 ||
           WEFT_FIND_NAME(script->connectivities, script->n_connectivities, name) >= 0;
}

bool weft_control_is_open(const control_builder *b, const char *name, bool update) {
    for (int i = 0; i < b->n_open; ++i)
        if (b->open[i].update == update && strcmp(b->open[i].name, name) == 0)
            return true;
    return false;
}

static weft_status no_value(const control_builder *b, const weft_node *node, bool condition) {
    const weft_script *script = b->script;
    for (int i = 0; i < script->n_statements; ++i) {
        const weft_script_statement *made = &script->statements[i];
        if (made->update || strcmp(made->name, node->name) != 0)
            continue;
        if (made->loop >= 0 && made->loop != b->loop) {
            weft_error_at(b->error, WEFT_ERROR_TYPE, node->place,
                          "'%s' has no value here: it is made inside a loop (%s:%d:%d)", node->name,
                          made->place.source->name, made->place.line, made->place.column);
            weft_error_hint(b->error,
                            condition ? "the condition is asked before each iteration: declare an "
                                        "input, or make a name before the loop, and update it"
                                      : "make it before the loop and update it there");
        } else
            weft_error_at(b->error, WEFT_ERROR_TYPE, node->place,
                          "'%s' has no value here: it is made below (%s:%d:%d)", node->name,
                          made->place.source->name, made->place.line, made->place.column);
        return WEFT_ERROR_TYPE;
    }
    const char *near = weft_nearest_name(node->name, script->names, (size_t)script->n_names);
    weft_error_at(b->error, WEFT_ERROR_TYPE, node->place, "'%s' has no value here", node->name);
    if (near)
        weft_error_hint(b->error, "did you mean '%s'?", near);
    else
        weft_error_hint(b->error, "assign it first, or declare it: input %s : real;", node->name);
    return WEFT_ERROR_TYPE;
}

weft_status weft_control_check_reads(const control_builder *b, const weft_node *node,
                                     bool condition) {
    weft_status status = WEFT_OK;
    if (node->kind == NODE_NAME && weft_control_name_find(b->control, node->name) < 0 &&
        !is_declared(b->script, node->name) && !weft_control_is_open(b, node->name, false))
        TRY(no_value(b, node, condition));
    for (int i = weft_node_is_apply(node); i < node->n_children; ++i)
        TRY(weft_control_check_reads(b, node->children[i], condition));
done:
    return status;
}

weft_status weft_control_fresh_name(control_builder *b, const char *name, const char **out) {
    weft_script *script = b->script;
    for (int i = 1; i < WEFT_NAMES_MAX; ++i) {
        const char *made = weft_arena_print(b->arena, "%s_%d", name, i);
        if (!made)
            return weft_no_memory(b->error);
        if (weft_name_index(script->names, script->n_names, sizeof *script->names, made) >= 0)
            continue;
        *out = made;
        return WEFT_APPEND(b->arena, script->names, script->n_names, made, b->error);
    }
    return weft_error_set(b->error, WEFT_ERROR_UNSUPPORTED, "more than %d names in one script",
                          WEFT_NAMES_MAX);
}
