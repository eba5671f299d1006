/* Makes each apply a statement of its own, q = apply(A, p), and inlines it if the options have a
 * script of A: its declarations are added, v becomes p, y becomes q, other assigned names become
 * unique. */
#include "fusion/script/operators.h"

#include <string.h>

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
                                  .place = place};
    TRY(weft_script_fresh_name(w->parser, prefix, suffix, &made.name));
    TRY(weft_script_declare_name(w->parser, made.name, place, SCRIPT_ASSIGNED));
    TRY(weft_script_node_make(w->parser, NODE_NAME, place, value));
    (*value)->name = made.name;
    TRY(add(w, &made));
done:
    return status;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Copy the directives of a statement of A. Each inlining of A gets its own copy of a fuse block,
 * made[] by number; if the product is in a fuse block itself, that block applies instead. */
static weft_status copy_directives(operator_writer *w, const weft_script *script, int *made,
                                   const weft_script_statement *product,
                                   const script_renaming *names, int n_names,
                                   weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    script_parser *parser = w->parser;
    const int fuse = statement->fuse;
    statement->loop = product->loop;
    statement->part += product->part;
    statement->fuse = product->fuse;
    if (statement->variant != NULL)
        TRY(weft_script_node_copy(parser, statement->variant, names, n_names, &statement->variant));
    if (fuse == 0 || product->fuse > 0)
        goto done;
    if (made[fuse] == 0) {
        weft_script_fuse block = script->fuses[fuse - 1];
        for (int k = 0; k < FUSE_CHOICES; ++k)
            if (block.choices[k] != NULL)
                TRY(weft_script_node_copy(parser, block.choices[k], names, n_names,
                                          &block.choices[k]));
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
        TRY(weft_script_read_operator(w, op));
    const weft_script *script = op->script;
    size_t n = (size_t)(op->n_names + script->n_statements + 2);
    script_renaming *names = weft_arena_alloc(parser->arena, n, sizeof *names);
    const char *prefix = weft_arena_print(parser->arena, "%s_", op->choice->name);
    int *fuses = weft_arena_alloc(parser->arena, (size_t)script->n_fuses + 1, sizeof *fuses);
    if (!names || !prefix || !fuses)
        TRY(weft_script_no_memory(parser->error));
    if (statement->fuse > 0 && script->n_splits > 0) {
        status =
            weft_error_at(parser->error, WEFT_ERROR_TYPE, statement->place,
                          "the script of operator '%s' has a split, and this product stands in "
                          "a fuse block",
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
        if (strcmp(weft_script_renamed(names, count, made.name), made.name) == 0) {
            const char *fresh = NULL;
            TRY(weft_script_fresh_name(parser, prefix, made.name, &fresh));
            TRY(weft_script_declare_name(parser, fresh, made.place,
                                         made.accumulate ? SCRIPT_ACCUMULATED : SCRIPT_ASSIGNED));
            names[count++] = (script_renaming){made.name, fresh};
        }
        made.name = weft_script_renamed(names, count, made.name);
        for (int k = 0; k < made.n_connectivities; ++k)
            made.connectivities[k] = weft_script_renamed(names, count, made.connectivities[k]);
        TRY(weft_script_node_copy(parser, made.value, names, count, &made.value));
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
            return weft_script_unknown_option(w->parser, choice->name, SCRIPT_OPERATOR);
        script->operators[known].product_kernel = choice->product_kernel;
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
        if (weft_node_is_apply(statement->value))
            TRY(add_apply(&w, statement));
        else
            TRY(append(&w, statement));
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
