/* Copying random scripts, asking what reads what, and returning what nothing reads. */
#include "random_script.h"

#include <stdlib.h>
#include <string.h>

random_script *random_script_copy(const random_script *script) {
    random_script *made = random_alloc(1, sizeof *made);
    *made = *script;
    for (int i = 0; i < script->n_connectivities; ++i) {
        const random_map *map = &script->connectivities[i];
        const size_t n = (size_t)(script->sets[map->from].n * map->width);
        made->connectivities[i].indices = random_alloc(n + 1, sizeof *map->indices);
        memcpy(made->connectivities[i].indices, map->indices, n * sizeof *map->indices);
    }
    const random_operator *op = &script->op;
    if (op->row_start != NULL) {
        const size_t n = (size_t)script->sets[NODES].n, n_entries = (size_t)op->row_start[n];
        made->op.row_start = random_alloc(n + 1, sizeof *op->row_start);
        made->op.columns = random_alloc(n_entries + 1, sizeof *op->columns);
        made->op.entries = random_alloc(n_entries + 1, sizeof *op->entries);
        memcpy(made->op.row_start, op->row_start, (n + 1) * sizeof *op->row_start);
        memcpy(made->op.columns, op->columns, n_entries * sizeof *op->columns);
        memcpy(made->op.entries, op->entries, n_entries * sizeof *op->entries);
    }
    return made;
}

void random_script_clear(random_script *script) {
    for (int i = 0; i < script->n_connectivities; ++i)
        free(script->connectivities[i].indices);
    free(script->op.row_start);
    free(script->op.columns);
    free(script->op.entries);
}

void random_script_free(random_script **script) {
    if (script == NULL || *script == NULL)
        return;
    random_script_clear(*script);
    free(*script);
    *script = NULL;
}

bool random_node_reads(const random_script *s, int node, int list) {
    const random_node *one = &s->nodes[node];
    bool reads = one->kind == RANDOM_LIST && one->list == list;
    for (int i = 0; i < 4 && !reads; ++i)
        if (one->children[i] >= 0)
            reads = random_node_reads(s, one->children[i], list);
    return reads;
}

bool random_statement_reads(const random_script *s, const random_statement *one, int list) {
    return (one->root >= 0 && random_node_reads(s, one->root, list)) ||
           (one->second >= 0 && random_node_reads(s, one->second, list));
}

int random_loop_end(const random_script *s, int start) {
    int end = start + 1;
    for (int depth = 1; end < s->n_statements; ++end) {
        depth += s->statements[end].kind == RANDOM_REPEAT;
        depth -= s->statements[end].kind == RANDOM_END;
        if (depth == 0)
            break;
    }
    return end;
}

static bool is_inside(const random_script *s, int statement) {
    int depth = 0;
    for (int i = 0; i < statement; ++i) {
        depth += s->statements[i].kind == RANDOM_REPEAT;
        depth -= s->statements[i].kind == RANDOM_END;
    }
    return depth > 0;
}

void random_script_return_rest(random_script *s) {
    bool live[RANDOM_LISTS] = {
        false}; /* a result depends on it; lists are read by later ones alone */
    for (int i = s->n_lists - 1; i >= s->n_inputs; --i) {
        random_list *list = &s->lists[i];
        const bool returnable = !list->hidden || s->flows;
        bool made = false;
        for (int k = 0; k < s->n_statements; ++k) {
            const random_statement *one = &s->statements[k];
            const bool counts = one->list <= i || !s->lists[one->list].hidden || live[one->list];
            made |= k == list->maker && one->list == i;
            live[i] |= (counts || s->flows) && random_statement_reads(s, one, i);
        }
        if (!made || is_inside(s, list->maker))
            list->returned = false;
        else if (!live[i] && returnable)
            list->returned = true;
        live[i] |= list->returned;
    }
}

static void note_calls(const random_script *s, int node, bool *calls) {
    const random_node *one = &s->nodes[node];
    if (one->kind == RANDOM_CALL)
        calls[one->function] = true;
    for (int i = 0; i < 4; ++i)
        if (one->children[i] >= 0)
            note_calls(s, one->children[i], calls);
}

void random_script_calls(const random_script *s, bool *calls) {
    for (int i = 0; i < s->n_statements; ++i) {
        if (s->statements[i].root >= 0)
            note_calls(s, s->statements[i].root, calls);
        if (s->statements[i].second >= 0)
            note_calls(s, s->statements[i].second, calls);
    }
}
