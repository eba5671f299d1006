/* Converts a script with loops to steps. Statements over lists are collected in a segment for as
 * long as possible; updates of uniform values are deferred until they are read, so that they do not
 * split the segment. */
#include "fusion/base/array.h"
#include "fusion/control/private.h"

#include <string.h>

weft_status weft_control_step_add(const control_builder *b, weft_control_steps *steps,
                                  const weft_control_step *step) {
    return WEFT_APPEND(b->arena, steps->list, steps->n, *step, b->error);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* End the segment, then add the deferred updates. */
static weft_status flush(control_builder *b, weft_control_steps *steps, int next) {
    weft_status status = WEFT_OK;
    TRY(weft_control_segment_close(b, steps, next));
    if (b->n_deferred == 0)
        goto done;
    weft_control_step *last = steps->n > 0 ? &steps->list[steps->n - 1] : NULL;
    if (!last || last->kind != CONTROL_SCALARS) {
        const weft_control_step fresh = {
            .kind = CONTROL_SCALARS, .number = b->control->n_scalar_steps++, .loop = b->loop};
        TRY(weft_control_step_add(b, steps, &fresh));
        last = &steps->list[steps->n - 1];
    }
    for (int i = 0; i < b->n_deferred; ++i) {
        weft_control_scalar made = {0};
        const weft_script_statement *update = &b->deferred[i];
        TRY(weft_control_scalar_make(b, update->value,
                                     weft_control_name_find(b->control, update->name), &made));
        TRY(WEFT_APPEND(b->arena, last->scalars, last->n_scalars, made, b->error));
    }
    b->n_deferred = 0;
done:
    return status;
}

static bool reads_deferred(const control_builder *b, const weft_node *node) {
    for (int i = 0; i < b->n_deferred; ++i)
        if (weft_control_node_reads(node, b->deferred[i].name))
            return true;
    return false;
}

static weft_status check_updated(const control_builder *b, int name,
                                 const weft_script_statement *statement) {
    const weft_control_name *known = name >= 0 ? &b->control->names[name] : NULL;
    if (!known)
        return weft_error_at(b->error, WEFT_ERROR_TYPE, statement->place,
                             "'%s' has no value that could be updated", statement->name);
    if (known->matrix)
        return weft_error_at(b->error, WEFT_ERROR_TYPE, statement->place,
                             "'%s' is a sparse matrix: it is not updated", statement->name);
    if (known->index_set == UNIFORM && known->shape.rank > 0)
        return weft_error_at(b->error, WEFT_ERROR_UNSUPPORTED, statement->place,
                             "'%s' is a uniform tensor: only uniform numbers are updated",
                             statement->name);
    return WEFT_OK;
}

static weft_status read_update(control_builder *b, weft_control_steps *steps, int i) {
    weft_status status = WEFT_OK;
    const weft_script_statement *statement = &b->script->statements[i];
    if (weft_control_is_open(b, statement->name, false) ||
        weft_control_is_open(b, statement->name, true))
        TRY(weft_control_segment_close(b, steps, i));
    const int name = weft_control_name_find(b->control, statement->name);
    TRY(check_updated(b, name, statement));
    if (b->control->names[name].index_set == UNIFORM) {
        TRY(WEFT_APPEND(b->arena, b->deferred, b->n_deferred, *statement, b->error));
        goto done;
    }
    if (reads_deferred(b, statement->value))
        TRY(flush(b, steps, i));
    TRY(WEFT_APPEND(b->arena, b->open, b->n_open, *statement, b->error));
done:
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

static weft_status check_applied(const control_builder *b, const weft_script_operator *op, int v,
                                 const weft_node *node) {
    const weft_script *script = b->script;
    const weft_control_name *list = &b->control->names[v];
    const char *over = list->index_set >= 0 ? script->indices[list->index_set].name : "nothing";
    if (!list->matrix && strcmp(over, op->over) == 0)
        return WEFT_OK;
    return weft_error_at(b->error, WEFT_ERROR_TYPE, node->place,
                         "operator '%s' works on lists over %s, '%s' is %s%s", op->name, op->over,
                         node->name, list->matrix ? "a sparse matrix" : "over ",
                         list->matrix ? "" : over);
}

/* Is the statement after q = apply(A, p) a dot(p, q) that the operator can compute? */
static bool asks_dot(const control_builder *b, int i, const char *v) {
    const weft_script *script = b->script;
    const weft_script_statement *product = &script->statements[i];
    if (i + 1 >= script->n_statements || script->statements[i + 1].loop != product->loop)
        return false;
    const weft_script_statement *next = &script->statements[i + 1];
    const weft_node *asked = next->value;
    if (next->update || next->accumulate || asked->kind != NODE_CALL ||
        strcmp(asked->name, "dot") != 0 || asked->n_children != 2 ||
        asked->children[0]->kind != NODE_NAME || asked->children[1]->kind != NODE_NAME)
        return false;
    const char *one = asked->children[0]->name, *other = asked->children[1]->name;
    return (strcmp(one, v) == 0 && strcmp(other, product->name) == 0) ||
           (strcmp(other, v) == 0 && strcmp(one, product->name) == 0);
}

static weft_status made_name(control_builder *b, const weft_script_statement *statement,
                             const weft_control_name *like, int *id) {
    weft_control_name made = {.name = statement->name,
                              .shape = like ? like->shape : (weft_shape){0},
                              .index_set = like ? like->index_set : UNIFORM,
                              .loop = b->loop,
                              .place = statement->place};
    made.returned = WEFT_FIND_NAME(b->script->returns, b->script->n_returns, statement->name) >= 0;
    return weft_control_name_add(b, &made, id);
}

/* *used: number of statements that were consumed. */
static weft_status read_apply(control_builder *b, weft_control_steps *steps, int i, int *used) {
    weft_status status = WEFT_OK;
    const weft_script *script = b->script;
    const weft_script_statement *statement = &script->statements[i];
    const weft_node *v = statement->value->children[1];
    weft_control_step step = {.kind = CONTROL_APPLY, .loop = b->loop, .dot = -1};
    step.op =
        WEFT_FIND_NAME(script->operators, script->n_operators, statement->value->children[0]->name);
    const weft_operator_choice *choice = b->control->choices[step.op];
    TRY(flush(b, steps, i)); /* the caller's callback may read any uniform value */
    step.v = weft_control_name_find(b->control, v->name);
    if (step.v < 0 || b->control->names[step.v].index_set == UNIFORM)
        TRY(weft_error_at(b->error, WEFT_ERROR_TYPE, v->place,
                          "'%s' is not a list that '%s' can be applied to", v->name,
                          script->operators[step.op].name));
    TRY(check_applied(b, &script->operators[step.op], step.v, v));
    const weft_control_name like = b->control->names[step.v];
    TRY(made_name(b, statement, &like, &step.y));
    if (choice && choice->brings_dot && like.shape.rank == 0 && asks_dot(b, i, v->name)) {
        TRY(made_name(b, &script->statements[i + 1], NULL, &step.dot));
        ++*used;
    }
    TRY(weft_control_step_add(b, steps, &step));
done:
    return status;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static weft_status read_block(control_builder *b, weft_control_steps *steps, int first, int last);

static weft_status read_loop(control_builder *b, weft_control_steps *steps, int number) {
    weft_status status = WEFT_OK;
    weft_control *control = b->control;
    const weft_script_loop *loop = &b->script->loops[number];
    weft_control_step step = {.kind = CONTROL_LOOP, .number = number, .loop = b->loop};
    TRY(flush(b, steps, loop->first));
    TRY(weft_control_check_reads(b, loop->most, true));
    TRY(weft_control_check_reads(b, loop->condition, true));
    TRY(weft_control_scalar_make(b, loop->most, -1, &step.most));
    TRY(weft_control_condition_make(b, loop->condition, &step.condition));
    const int outside = b->loop, n_before = control->n_names;
    b->loop = number;
    TRY(read_block(b, &step.body, loop->first, loop->last));
    b->loop = outside;
    for (int i = n_before; i < control->n_names; ++i)
        control->names[i].hidden = true;
    if (outside < 0)
        control->last_loop = number;
    TRY(weft_control_step_add(b, steps, &step));
done:
    return status;
}

static int loop_starting(const control_builder *b, int statement) {
    const weft_script *script = b->script;
    for (int i = 0; i < script->n_loops; ++i)
        if (script->loops[i].parent == b->loop && script->loops[i].first == statement)
            return i;
    return -1;
}

/* Products by product kernels are calls in a segment. */
static bool is_opaque(const control_builder *b, const weft_node *apply) {
    const weft_script *script = b->script;
    const int i = WEFT_FIND_NAME(script->operators, script->n_operators, apply->children[0]->name);
    return i < 0 || !script->operators[i].product_kernel;
}

static weft_status read_block(control_builder *b, weft_control_steps *steps, int first, int last) {
    weft_status status = WEFT_OK;
    for (int i = first; i < last;) {
        const int loop = loop_starting(b, i);
        if (loop >= 0) {
            TRY(read_loop(b, steps, loop));
            i = b->script->loops[loop].last;
            continue;
        }
        const weft_script_statement *statement = &b->script->statements[i];
        int used = 1;
        TRY(weft_control_check_reads(b, statement->value, false));
        if (weft_node_is_apply(statement->value) && is_opaque(b, statement->value)) {
            TRY(read_apply(b, steps, i, &used));
        } else if (statement->update) {
            TRY(read_update(b, steps, i));
        } else {
            if (reads_deferred(b, statement->value))
                TRY(flush(b, steps, i));
            TRY(WEFT_APPEND(b->arena, b->open, b->n_open, *statement, b->error));
        }
        i += used;
    }
    TRY(flush(b, steps, last));
done:
    return status;
}

/* ---- entry points ---------------------------------------------------------------------------- */

static weft_status add_inputs(control_builder *b) {
    weft_status status = WEFT_OK;
    const weft_script *script = b->script;
    for (int i = 0; i < script->n_inputs; ++i) {
        const weft_script_input *input = &script->inputs[i];
        weft_control_name name = {.name = input->name,
                                  .index_set = UNIFORM,
                                  .is_input = true,
                                  .loop = -1,
                                  .place = input->place};
        int id = 0;
        name.shape.rank = input->rank;
        for (int k = 0; k < input->rank; ++k)
            TRY(weft_script_integer(script, input->sizes[k], &name.shape.sizes[k], b->error));
        if (input->over)
            name.index_set = WEFT_FIND_NAME(script->indices, script->n_indices, input->over);
        TRY(weft_control_name_add(b, &name, &id));
    }
done:
    return status;
}

static weft_status add_choices(control_builder *b) {
    const weft_compile_options *options = &b->compilation->options;
    const weft_script *script = b->script;
    b->control->choices =
        weft_arena_alloc(b->arena, (size_t)script->n_operators + 1, sizeof *b->control->choices);
    if (!b->control->choices)
        return weft_no_memory(b->error);
    for (int i = 0; i < script->n_operators; ++i) {
        const int k =
            WEFT_FIND_NAME(options->operators, options->n_operators, script->operators[i].name);
        b->control->choices[i] = k >= 0 ? &options->operators[k] : NULL;
    }
    return WEFT_OK;
}

static bool is_added_to(const weft_script *script, const char *name) {
    for (int i = 0; i < script->n_statements; ++i)
        if (script->statements[i].accumulate && strcmp(script->statements[i].name, name) == 0)
            return true;
    return false;
}

static weft_status check_returns(const control_builder *b) {
    const weft_script *script = b->script;
    for (int i = 0; i < script->n_returns; ++i)
        for (int k = 0; k < script->n_inputs; ++k)
            if (strcmp(script->returns[i].name, script->inputs[k].name) == 0 &&
                !is_added_to(script, script->inputs[k].name))
                return weft_error_at(b->error, WEFT_ERROR_TYPE, script->returns[i].place,
                                     "'%s' is an input: return a value that is computed from it",
                                     script->returns[i].name);
    return WEFT_OK;
}

weft_status weft_control_build(const weft_compilation *compilation, const bool *recomputed,
                               weft_control **out, weft_error *error) {
    weft_status status = WEFT_OK;
    control_builder b = {
        .compilation = compilation, .arena = compilation->arena, .loop = -1, .error = error};
    TRY(WEFT_ALLOC(b.arena, b.script, 1, error));
    TRY(WEFT_ALLOC(b.arena, b.control, 1, error));
    *b.script = *compilation->script;
    b.control->script = b.script;
    b.control->last_loop = -1;
    TRY(check_returns(&b));
    TRY(weft_control_lift_reductions(&b));
    for (int i = 0; recomputed && i < b.script->n_loops; ++i)
        if (recomputed[i])
            TRY(weft_control_rematerialise(&b, i));
    TRY(add_inputs(&b));
    TRY(add_choices(&b));
    TRY(read_block(&b, &b.control->steps, 0, b.script->n_statements));
    if (b.control->steps.n == 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_TYPE, "the script returns nothing that it computes",
                              "end it with: return NAME;"));
    *out = b.control;
done:
    return status;
}
