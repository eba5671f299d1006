/* Reads and checks an operator's script, and adds its declarations to the main script. */
#include "fusion/script/operators.h"

#include <stdio.h>
#include <string.h>

const char *weft_script_renamed(const script_renaming *names, int n, const char *name) {
    for (int i = 0; i < n; ++i)
        if (strcmp(names[i].from, name) == 0)
            return names[i].to;
    return name;
}

/* An unused name: the first free one of NAME, NAME_1, NAME_2, ... */
weft_status weft_script_fresh_name(script_parser *parser, const char *prefix, const char *name,
                                   const char **out) {
    for (int i = 0; i < WEFT_NAMES_MAX; ++i) {
        char number[16] = "";
        const char *made = NULL;
        if (i > 0)
            (void)snprintf(number, sizeof number, "_%d", i);
        made = weft_arena_print(parser->arena, "%s%s%s", prefix, name, number);
        if (!made)
            break;
        *out = made;
        if (!weft_script_find(parser, made) && !weft_script_reserved(made))
            return WEFT_OK;
    }
    return weft_script_no_memory(parser->error);
}

weft_status weft_script_declare_name(script_parser *parser, const char *name, weft_location place,
                                     script_name_kind kind) {
    const weft_token token = {.kind = TOKEN_NAME, .place = place, .text = name};
    return weft_script_declare(parser, &token, kind);
}

/* A copy with names replaced. */
weft_status weft_script_node_copy(script_parser *parser, const weft_node *from,
                                  const script_renaming *names, int n, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *made = NULL;
    TRY(weft_script_node_make(parser, from->kind, from->place, &made));
    *made = *from;
    if (from->name)
        made->name = weft_script_renamed(names, n, from->name);
    made->children =
        weft_arena_alloc(parser->arena, (size_t)from->n_children + 1, sizeof(weft_node *));
    made->key_values =
        weft_arena_alloc(parser->arena, (size_t)from->n_keys + 1, sizeof(weft_node *));
    if (!made->children || !made->key_values)
        TRY(weft_script_no_memory(parser->error));
    for (int i = 0; i < from->n_children; ++i)
        TRY(weft_script_node_copy(parser, from->children[i], names, n, &made->children[i]));
    for (int i = 0; i < from->n_keys; ++i)
        TRY(weft_script_node_copy(parser, from->key_values[i], names, n, &made->key_values[i]));
    *out = made;
done:
    return status;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* The name of an operator's declaration in the main script: its own, or with a prefix. */
static weft_status join_name(operator_writer *w, written_operator *op, const char *name,
                             weft_location place, script_name_kind kind, const char **out) {
    weft_status status = WEFT_OK;
    const char *prefix = "";
    if (weft_script_find(w->parser, name)) {
        prefix = weft_arena_print(w->parser->arena, "%s_", op->choice->name);
        if (!prefix)
            return weft_script_no_memory(w->parser->error);
    }
    TRY(weft_script_fresh_name(w->parser, prefix, name, out));
    TRY(weft_script_declare_name(w->parser, *out, place, kind));
    const script_renaming renaming = {name, *out};
    SCRIPT_APPEND(w->parser, op->names, op->n_names, renaming);
done:
    return status;
}

static weft_status join_indices(operator_writer *w, const weft_script *from) {
    weft_status status = WEFT_OK;
    weft_script *script = w->parser->script;
    for (int i = 0; i < from->n_indices; ++i) {
        const weft_script_index *index = &from->indices[i];
        const int known = WEFT_FIND_NAME(script->indices, script->n_indices, index->name);
        if (known >= 0) {
            script->indices[known].plain |= index->plain;
            continue;
        }
        TRY(weft_script_declare_name(w->parser, index->name, index->place, SCRIPT_INDEX));
        SCRIPT_APPEND(w->parser, script->indices, script->n_indices, *index);
    }
done:
    return status;
}

/* Add the operator's other declarations. Its input v stands for the argument of apply. */
static weft_status join_declarations(operator_writer *w, written_operator *op) {
    weft_status status = WEFT_OK;
    script_parser *parser = w->parser;
    weft_script *script = parser->script;
    const weft_script *from = op->script;
    for (int i = 0; i < from->n_parameters; ++i) {
        weft_script_parameter made = from->parameters[i];
        const int known = WEFT_FIND_NAME(script->parameters, script->n_parameters, made.name);
        if (known >= 0 && script->parameters[known].value == made.value)
            continue;
        TRY(join_name(w, op, made.name, made.place, SCRIPT_PARAMETER, &made.name));
        SCRIPT_APPEND(parser, script->parameters, script->n_parameters, made);
    }
    for (int i = 0; i < from->n_connectivities; ++i) {
        weft_script_connectivity made = from->connectivities[i];
        TRY(weft_script_node_copy(parser, made.width, op->names, op->n_names, &made.width));
        TRY(join_name(w, op, made.name, made.place, SCRIPT_CONNECTIVITY, &made.name));
        SCRIPT_APPEND(parser, script->connectivities, script->n_connectivities, made);
    }
    for (int i = 0; i < from->n_inputs; ++i) {
        weft_script_input made = from->inputs[i];
        if (strcmp(made.name, "v") == 0)
            continue;
        for (int k = 0; k < made.rank; ++k)
            TRY(weft_script_node_copy(parser, made.sizes[k], op->names, op->n_names,
                                      &made.sizes[k]));
        TRY(join_name(w, op, made.name, made.place, SCRIPT_INPUT, &made.name));
        SCRIPT_APPEND(parser, script->inputs, script->n_inputs, made);
    }
    for (int i = 0; i < from->n_expressions; ++i) {
        weft_script_expression made = from->expressions[i];
        TRY(join_name(w, op, made.name, made.place, SCRIPT_EXPRESSION, &made.name));
        SCRIPT_APPEND(parser, script->expressions, script->n_expressions, made);
    }
done:
    return status;
}

/* ---- reading an operator's script ------------------------------------------------------------ */

static weft_status check_written(const operator_writer *w, const written_operator *op) {
    const weft_script *script = op->script;
    weft_error *error = w->parser->error;
    const char *name = op->choice->name;
    bool reads = false, makes = false;
    for (int i = 0; i < script->n_inputs; ++i) {
        reads |= strcmp(script->inputs[i].name, "v") == 0;
        if (strcmp(script->inputs[i].name, "y") == 0)
            return weft_error_at(error, WEFT_ERROR_TYPE, script->inputs[i].place,
                                 "the script of operator '%s' makes y: it is not an input", name);
    }
    for (int i = 0; i < script->n_statements; ++i) {
        makes |= strcmp(script->statements[i].name, "y") == 0;
        if (script->statements[i].update)
            return weft_error_at(error, WEFT_ERROR_TYPE, script->statements[i].place,
                                 "the script of operator '%s' updates nothing", name);
    }
    if (script->n_loops > 0 || script->n_operators > 0)
        return weft_error_at(error, WEFT_ERROR_UNSUPPORTED,
                             script->n_loops > 0 ? script->loops[0].place
                                                 : script->operators[0].place,
                             "the script of operator '%s' has neither loops nor operators", name);
    if (reads && makes)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_TYPE, "the script of operator '%s' has no '%s'", name,
                   reads ? "y" : "v");
    weft_error_hint(error, "it makes y from the input v, as in y[dofs] += mvmul(K, v[dofs]);");
    return WEFT_ERROR_TYPE;
}

weft_status weft_script_read_operator(operator_writer *w, written_operator *op) {
    weft_status status = WEFT_OK;
    script_parser *parser = w->parser;
    script_parser inner = {.arena = parser->arena, .loop = -1, .error = parser->error};
    inner.script = weft_arena_alloc(parser->arena, 1, sizeof *inner.script);
    if (!inner.script)
        return weft_script_no_memory(parser->error);
    TRY(weft_script_read_texts(&inner, op->choice->fragments, op->choice->n_fragments));
    TRY(weft_script_check_applies(&inner));
    op->script = inner.script;
    TRY(check_written(w, op));
    const int loop = parser->loop;
    parser->loop = -1; /* declarations are outside loops */
    TRY(join_indices(w, op->script));
    TRY(join_declarations(w, op));
    parser->loop = loop;
done:
    return status;
}
