/* Makes each apply a statement of its own, q = apply(A, p), and inlines it if the options have a
 * script of A: its declarations are added, v becomes p, y becomes q, other assigned names become
 * unique. */
#include "fusion/script/private.h"

#include <stdio.h>
#include <string.h>

typedef struct script_renaming {
    const char *from, *to;
} script_renaming;

/* The script of one operator, and the names of its declarations in the main script. */
typedef struct written_operator {
    const weft_operator_choice *choice;
    weft_script *script; /* NULL: not read yet */
    script_renaming *names;
    int n_names;
} written_operator;

typedef struct operator_writer {
    script_parser *parser;
    written_operator *operators;
    int n_operators;
    weft_script_statement *made; /* resulting statements */
    int n_made;
    int n_splits; /* in the operator scripts inlined so far */
} operator_writer;

static const char *renamed(const script_renaming *names, int n, const char *name) {
    for (int i = 0; i < n; ++i)
        if (strcmp(names[i].from, name) == 0)
            return names[i].to;
    return name;
}

/* An unused name: the first free one of NAME, NAME_1, NAME_2, ... */
static weft_status fresh_name(script_parser *parser, const char *prefix, const char *name,
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

static weft_status declare_name(script_parser *parser, const char *name, weft_location place,
                                script_name_kind kind) {
    const weft_token token = {.kind = TOKEN_NAME, .place = place, .text = name};
    return weft_script_declare(parser, &token, kind);
}

/* A copy with names replaced. */
static weft_status node_copy(script_parser *parser, const weft_node *from,
                             const script_renaming *names, int n, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *made = NULL;
    TRY(weft_script_node_make(parser, from->kind, from->place, &made));
    *made = *from;
    if (from->name)
        made->name = renamed(names, n, from->name);
    made->children =
        weft_arena_alloc(parser->arena, (size_t)from->n_children + 1, sizeof(weft_node *));
    made->key_values =
        weft_arena_alloc(parser->arena, (size_t)from->n_keys + 1, sizeof(weft_node *));
    if (!made->children || !made->key_values)
        TRY(weft_script_no_memory(parser->error));
    for (int i = 0; i < from->n_children; ++i)
        TRY(node_copy(parser, from->children[i], names, n, &made->children[i]));
    for (int i = 0; i < from->n_keys; ++i)
        TRY(node_copy(parser, from->key_values[i], names, n, &made->key_values[i]));
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
            TRY(weft_script_no_memory(w->parser->error));
    }
    TRY(fresh_name(w->parser, prefix, name, out));
    TRY(declare_name(w->parser, *out, place, kind));
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
        TRY(declare_name(w->parser, index->name, index->place, SCRIPT_INDEX));
        weft_script_index joined = *index;
        joined.up_to = NULL; /* names an input of the operator's script */
        SCRIPT_APPEND(w->parser, script->indices, script->n_indices, joined);
    }
done:
    return status;
}

/* Add the operator's other declarations. Its input v is the argument of apply. */
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
        TRY(node_copy(parser, made.width, op->names, op->n_names, &made.width));
        TRY(join_name(w, op, made.name, made.place, SCRIPT_CONNECTIVITY, &made.name));
        SCRIPT_APPEND(parser, script->connectivities, script->n_connectivities, made);
    }
    for (int i = 0; i < from->n_inputs; ++i) {
        weft_script_input made = from->inputs[i];
        if (strcmp(made.name, "v") == 0)
            continue;
        for (int k = 0; k < made.rank; ++k)
            TRY(node_copy(parser, made.sizes[k], op->names, op->n_names, &made.sizes[k]));
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

static weft_status read_operator(operator_writer *w, written_operator *op) {
    weft_status status = WEFT_OK;
    script_parser *parser = w->parser;
    script_parser inner = {.arena = parser->arena, .loop = -1, .error = parser->error};
    inner.script = weft_arena_alloc(parser->arena, 1, sizeof *inner.script);
    if (!inner.script)
        TRY(weft_script_no_memory(parser->error));
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

static weft_status append(operator_writer *w, const weft_script_statement *made) {
    weft_status status = WEFT_OK;
    if (w->n_made == WEFT_STATEMENTS_MAX)
        TRY(weft_error_at(w->parser->error, WEFT_ERROR_UNSUPPORTED, made->place,
                          "more than %d statements", WEFT_STATEMENTS_MAX));
    weft_script_statement statement = *made;
    statement.part += w->n_splits;
    SCRIPT_APPEND(w->parser, w->made, w->n_made, statement);
done:
    return status;
}

/* Add NAME = value for a fresh name, computed by `add`, and put the name in place of the value. */
static weft_status append_named(operator_writer *w, const weft_script_statement *statement,
                                const char *prefix, const char *suffix, weft_node **value,
                                weft_status (*add)(operator_writer *,
                                                   const weft_script_statement *)) {
    weft_status status = WEFT_OK;
    const weft_location place = (*value)->place;
    weft_script_statement made = {.value = *value,
                                  .loop = statement->loop,
                                  .part = statement->part,
                                  .fuse = statement->fuse,
                                  .together = statement->together,
                                  .place = place};
    TRY(fresh_name(w->parser, prefix, suffix, &made.name));
    TRY(declare_name(w->parser, made.name, place, SCRIPT_ASSIGNED));
    TRY(weft_script_node_make(w->parser, NODE_NAME, place, value));
    (*value)->name = made.name;
    TRY(add(w, &made));
done:
    return status;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Copy the directives of a statement of A. Each inlining of A gets its own copy of a fuse or
 * together block, made[] by number; if the product is in a block itself, that block applies. */
static weft_status copy_directives(operator_writer *w, const weft_script *script, int *made,
                                   const weft_script_statement *product,
                                   const script_renaming *names, int n_names,
                                   weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    script_parser *parser = w->parser;
    const int fuse = statement->fuse, together = statement->together;
    int *shared = made + script->n_fuses + 1;
    statement->loop = product->loop;
    statement->part += product->part;
    statement->fuse = product->fuse;
    if (statement->variant)
        TRY(node_copy(parser, statement->variant, names, n_names, &statement->variant));
    statement->together = product->together;
    if (together > 0 && product->together == 0 && product->fuse == 0) {
        if (shared[together] == 0) {
            SCRIPT_APPEND(parser, parser->script->togethers, parser->script->n_togethers,
                          script->togethers[together - 1]);
            shared[together] = parser->script->n_togethers;
        }
        statement->together = shared[together];
    }
    if (fuse == 0 || product->fuse > 0)
        goto done;
    if (made[fuse] == 0) {
        weft_script_fuse block = script->fuses[fuse - 1];
        for (int k = 0; k < FUSE_CHOICES; ++k)
            if (block.choices[k])
                TRY(node_copy(parser, block.choices[k], names, n_names, &block.choices[k]));
        SCRIPT_APPEND(parser, parser->script->fuses, parser->script->n_fuses, block);
        made[fuse] = parser->script->n_fuses;
    }
    statement->fuse = made[fuse];
done:
    return status;
}

/* q = apply(A, p) as the statements of A. */
static weft_status write_out(operator_writer *w, written_operator *op,
                             const weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    script_parser *parser = w->parser;
    if (!op->script)
        TRY(read_operator(w, op));
    const weft_script *script = op->script;
    size_t n = (size_t)(op->n_names + script->n_statements + 2);
    script_renaming *names = weft_arena_alloc(parser->arena, n, sizeof *names);
    const char *prefix = weft_arena_print(parser->arena, "%s_", op->choice->name);
    int *fuses = weft_arena_alloc(
        parser->arena, (size_t)(script->n_fuses + script->n_togethers + 2), sizeof *fuses);
    if (!names || !prefix || !fuses)
        TRY(weft_script_no_memory(parser->error));
    if (statement->fuse > 0 && script->n_splits > 0) {
        status = weft_error_at(
            parser->error, WEFT_ERROR_TYPE, statement->place,
            "the script of operator '%s' has a split, and this product is in a fuse block",
            op->choice->name);
        goto done;
    }
    int count = 0;
    names[count++] = (script_renaming){"v", statement->value->children[1]->name};
    names[count++] = (script_renaming){"y", statement->name};
    for (int i = 0; i < op->n_names; ++i)
        names[count++] = op->names[i];
    for (int i = 0; i < script->n_statements; ++i) {
        weft_script_statement made = script->statements[i];
        if (strcmp(renamed(names, count, made.name), made.name) == 0) {
            const char *fresh = NULL;
            TRY(fresh_name(parser, prefix, made.name, &fresh));
            TRY(declare_name(parser, fresh, made.place,
                             made.accumulate ? SCRIPT_ACCUMULATED : SCRIPT_ASSIGNED));
            names[count++] = (script_renaming){made.name, fresh};
        }
        made.name = renamed(names, count, made.name);
        for (int k = 0; k < made.n_connectivities; ++k)
            made.connectivities[k] = renamed(names, count, made.connectivities[k]);
        TRY(node_copy(parser, made.value, names, count, &made.value));
        TRY(copy_directives(w, script, fuses, statement, names, count, &made));
        TRY(append(w, &made));
    }
    w->n_splits += script->n_splits;
done:
    return status;
}

static written_operator *find_written(operator_writer *w, const char *name) {
    for (int i = 0; i < w->n_operators; ++i)
        if (strcmp(w->operators[i].choice->name, name) == 0 && w->operators[i].choice->fragments)
            return &w->operators[i];
    return NULL;
}

/* Add NAME = apply(A, LIST), or the statements of A. */
static weft_status add_apply(operator_writer *w, const weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    weft_node *value = statement->value;
    if (value->children[1]->kind != NODE_NAME)
        TRY(append_named(w, statement, statement->name, "_of", &value->children[1], append));
    written_operator *op = find_written(w, value->children[0]->name);
    if (op)
        TRY(write_out(w, op, statement));
    else
        TRY(append(w, statement));
done:
    return status;
}

/* Replace every apply inside an expression by a name. */
static weft_status lift_applies(operator_writer *w, const weft_script_statement *statement,
                                weft_node **node) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < (*node)->n_children; ++i)
        TRY(lift_applies(w, statement, &(*node)->children[i]));
    const bool own = *node == statement->value && !statement->update && !statement->accumulate;
    if (!weft_node_is_apply(*node) || own)
        goto done;
    TRY(append_named(w, statement, (*node)->children[0]->name, "_product", node, add_apply));
done:
    return status;
}

static weft_status choices_read(operator_writer *w, const weft_compile_options *options) {
    weft_status status = WEFT_OK;
    weft_script *script = w->parser->script;
    for (int i = 0; options && i < options->n_operators; ++i) {
        const weft_operator_choice *choice = &options->operators[i];
        const int known = WEFT_FIND_NAME(script->operators, script->n_operators, choice->name);
        if (known < 0)
            TRY(weft_script_unknown_option(w->parser, choice->name, SCRIPT_OPERATOR));
        script->operators[known].product_kernel = choice->product_kernel;
        script->operators[known].is_long = choice->is_long;
        written_operator op = {.choice = choice};
        SCRIPT_APPEND(w->parser, w->operators, w->n_operators, op);
    }
done:
    return status;
}

/* Remove the declarations of inlined operators. */
static void drop_written(operator_writer *w) {
    weft_script *script = w->parser->script;
    int n = 0;
    for (int i = 0; i < script->n_operators; ++i)
        if (!find_written(w, script->operators[i].name))
            script->operators[n++] = script->operators[i];
    script->n_operators = n;
}

weft_status weft_script_write_operators(script_parser *parser,
                                        const weft_compile_options *options) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    operator_writer w = {.parser = parser};
    int *moved = NULL;
    TRY(choices_read(&w, options));
    if (script->n_operators == 0)
        goto done;
    moved = weft_arena_alloc(parser->arena, (size_t)script->n_statements + 1, sizeof *moved);
    if (!moved)
        TRY(weft_script_no_memory(parser->error));
    for (int i = 0; i < script->n_statements; ++i) {
        weft_script_statement *statement = &script->statements[i];
        moved[i] = w.n_made;
        parser->loop = statement->loop;
        TRY(lift_applies(&w, statement, &statement->value));
        TRY(weft_node_is_apply(statement->value) ? add_apply(&w, statement)
                                                 : append(&w, statement));
    }
    moved[script->n_statements] = w.n_made;
    for (int i = 0; i < script->n_loops; ++i) {
        script->loops[i].first = moved[script->loops[i].first];
        script->loops[i].last = moved[script->loops[i].last];
    }
    script->statements = w.made;
    script->n_statements = w.n_made;
    script->n_splits += w.n_splits;
    drop_written(&w);
done:
    parser->loop = -1;
    return status;
}
