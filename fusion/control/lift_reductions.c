/* Makes each reduction inside arithmetic a statement of its own, so that the rest is arithmetic on
 * names of lists or of uniform values. */
#include "fusion/base/array.h"
#include "fusion/control/private.h"

#include <string.h>

static weft_status copy_node(const control_builder *b, const weft_node *from, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *made = NULL;
    TRY(WEFT_ALLOC(b->arena, made, 1, b->error));
    *made = *from;
    TRY(WEFT_ALLOC(b->arena, made->children, (size_t)from->n_children + 1, b->error));
    for (int i = 0; i < from->n_children; ++i)
        TRY(copy_node(b, from->children[i], &made->children[i]));
    *out = made;
done:
    return status;
}

typedef struct lifter {
    control_builder *b;
    weft_script_statement *made;
    int n_made;
} lifter;

static weft_status statement_append(lifter *l, const weft_script_statement *statement) {
    if (l->n_made == WEFT_STATEMENTS_MAX)
        return weft_error_at(l->b->error, WEFT_ERROR_UNSUPPORTED, statement->place,
                             "more than %d statements", WEFT_STATEMENTS_MAX);
    return WEFT_APPEND(l->b->arena, l->made, l->n_made, *statement, l->b->error);
}

static weft_status lift(lifter *l, const weft_script_statement *statement, weft_node **node) {
    weft_status status = WEFT_OK;
    const weft_library *library = l->b->compilation->library;
    const bool is_call = (*node)->kind == NODE_CALL;
    if (is_call && weft_library_find_reduction(library, (*node)->name)) {
        weft_node *name = NULL;
        TRY(WEFT_ALLOC(l->b->arena, name, 1, l->b->error));
        weft_script_statement lifted = {.value = *node,
                                        .loop = statement->loop,
                                        .part = statement->part,
                                        .fuse = statement->fuse,
                                        .together = statement->together,
                                        .place = (*node)->place};
        TRY(weft_control_fresh_name(l->b, statement->name, &lifted.name));
        *name = (weft_node){.kind = NODE_NAME, .name = lifted.name, .place = lifted.place};
        TRY(statement_append(l, &lifted));
        *node = name;
    } else if (!is_call ||
               (!weft_library_find(library, (*node)->name) && !weft_node_is_apply(*node))) {
        for (int i = 0; i < (*node)->n_children; ++i)
            TRY(lift(l, statement, &(*node)->children[i]));
    }
done:
    return status;
}

static bool updates_list(const weft_script *script, const weft_script_statement *statement) {
    const int i = WEFT_FIND_NAME(script->inputs, script->n_inputs, statement->name);
    return statement->update && i >= 0 && script->inputs[i].over;
}

weft_status weft_control_lift_reductions(control_builder *b) {
    weft_status status = WEFT_OK;
    weft_script *script = b->script;
    lifter l = {.b = b};
    int *moved = weft_arena_alloc(b->arena, (size_t)script->n_statements + 1, sizeof *moved);
    weft_script_loop *loops =
        weft_arena_alloc(b->arena, (size_t)script->n_loops + 1, sizeof *loops);
    if (!moved || !loops)
        TRY(weft_no_memory(b->error));
    for (int i = 0; i < script->n_statements; ++i) {
        weft_script_statement statement = script->statements[i];
        const bool whole =
            statement.value->kind == NODE_CALL && !statement.update &&
            weft_library_find_reduction(b->compilation->library, statement.value->name);
        moved[i] = l.n_made;
        if (!whole && !statement.accumulate && !updates_list(script, &statement)) {
            TRY(copy_node(b, statement.value, &statement.value));
            TRY(lift(&l, &statement, &statement.value));
        }
        TRY(statement_append(&l, &statement));
    }
    moved[script->n_statements] = l.n_made;
    for (int i = 0; i < script->n_loops; ++i) {
        loops[i] = script->loops[i];
        loops[i].first = moved[loops[i].first];
        loops[i].last = moved[loops[i].last];
    }
    script->statements = l.made;
    script->n_statements = l.n_made;
    script->loops = loops;
done:
    return status;
}
