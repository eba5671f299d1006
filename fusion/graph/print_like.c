/* Prints values whose index set or shape does not follow from their text, by a formula of two
 * arguments: the value, and a list with the wanted index set and shape. */
#include "fusion/graph/print.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 64 };

/* The index set and rank of arithmetic without its context, i.e. those of its operands. */
static void own_type(const weft_graph *graph, const weft_call *call, int *index_set, int *rank) {
    *index_set = UNIFORM;
    *rank = 0;
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const int set = weft_operand_index_set(graph, operand);
        *index_set = set != UNIFORM ? set : *index_set;
        *rank = operand->shape.rank > *rank ? operand->shape.rank : *rank;
    }
}

/* Two cases: a formula that uses none of its arguments, or only scalar ones, still has their index
 * set and shape; and a statement with a single operand would be another name, not a call. The copy
 * of a uniform value is printed as another name, because to return that makes the copy. */
bool weft_print_needs_like(const weft_graph *graph, const weft_call *call) {
    const weft_value *result = &graph->values[call->result];
    int index_set, rank;
    if (call->specialisation || call->product_kernel || call->index_set == UNIFORM)
        return false;
    own_type(graph, call, &index_set, &rank);
    /* `update` makes a copy, over the index set of its target */
    if (result->storage >= 0)
        return rank != result->shape.rank;
    return index_set == UNIFORM || rank != result->shape.rank || call->n_arithmetic == 1;
}

static bool some_need_like(const weft_graph *graph) {
    for (int i = 0; i < graph->n_calls; ++i)
        if (weft_print_needs_like(graph, &graph->calls[i]) &&
            !weft_print_call_is_silent(graph, &graph->calls[i]))
            return true;
    return false;
}

/* Does a part of the value, with leading subscripts 0, have the wanted shape? */
static bool part_like(const weft_graph *graph, int value, int connectivity,
                      const weft_shape *wanted, weft_operand *out) {
    *out = (weft_operand){.value = value, .connectivity = connectivity, .shape = *wanted};
    const weft_shape whole = weft_operand_whole(graph, out);
    const int skipped = whole.rank - wanted->rank;
    bool right = skipped >= 0;
    for (int i = 0; right && i < wanted->rank; ++i)
        right = whole.sizes[skipped + i] == wanted->sizes[i];
    return right;
}

static bool find_like(const weft_graph *graph, const weft_call *call, const weft_shape *wanted,
                      weft_operand *out) {
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        const bool made = value->kind == VALUE_INPUT ||
                          (value->producer >= 0 && value->producer < call->id &&
                           !weft_print_call_is_silent(graph, &graph->calls[value->producer]));
        if (!made || value->index_set == UNIFORM)
            continue;
        if (value->index_set == call->index_set && part_like(graph, i, -1, wanted, out))
            return true;
        for (int connectivity = 0; connectivity < graph->n_connectivities; ++connectivity)
            if (graph->connectivities[connectivity].from == call->index_set &&
                graph->connectivities[connectivity].to == value->index_set &&
                value->shape.rank < WEFT_RANK_MAX && part_like(graph, i, connectivity, wanted, out))
                return true;
    }
    return false;
}

/* A unique name: base, with '_' appended while it is taken. */
static void free_name(const weft_graph *graph, const char *base, char *name) {
    snprintf(name, NAME_SIZE, "%s", base);
    weft_print_free_name(graph, -1, name, NAME_SIZE);
}

static void like_name(const weft_graph *graph, char *name) {
    free_name(graph, "like", name);
}

static void shape_name(const weft_graph *graph, const weft_call *call, char *name) {
    char base[NAME_SIZE];
    snprintf(base, sizeof base, "shape_%d", call->id);
    free_name(graph, base, name);
}

/* Find a list with the index set and shape of a value; false: the graph has none. */
static bool choose_like(const weft_graph *graph, const weft_call *call, weft_operand *like) {
    const weft_shape scalar = {0}, *shape = &graph->values[call->result].shape;
    int index_set, rank;
    own_type(graph, call, &index_set, &rank);
    if (index_set != UNIFORM && rank == shape->rank) {
        *like = call->operands[0]; /* a copy */
        return true;
    }
    return find_like(graph, call, rank == shape->rank ? &scalar : shape, like);
}

void weft_print_like_declarations(const weft_graph *graph, weft_text *out) {
    char name[NAME_SIZE];
    weft_operand like = {0};
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        if (!weft_print_needs_like(graph, call) || weft_print_call_is_silent(graph, call) ||
            choose_like(graph, call, &like))
            continue;
        shape_name(graph, call, name);
        weft_text_add(out, "input %s : ", name);
        weft_print_type(graph, &graph->values[call->result].shape, call->index_set, out);
        weft_text_add(out, ";  # not read\n");
    }
    if (!some_need_like(graph))
        return;
    like_name(graph, name);
    weft_text_add(out, "expression %s(value, list) = value;\n", name);
}

void weft_print_like(const weft_graph *graph, const weft_call *call, weft_text *out) {
    char name[NAME_SIZE];
    weft_operand like = {0};
    like_name(graph, name);
    weft_text_add(out, "%s(", name);
    weft_print_call(graph, call, out);
    weft_text_add(out, ", ");
    if (choose_like(graph, call, &like))
        weft_print_operand(graph, &like, out);
    else {
        shape_name(graph, call, name);
        weft_text_add(out, "%s", name);
    }
    weft_text_add(out, ")");
}
