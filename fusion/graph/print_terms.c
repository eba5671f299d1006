/* Prints values, operands and calls as in a script. */
#include "core/weft_escape.h"
#include "fusion/base/array.h"
#include "fusion/graph/print.h"
#include "fusion/library/function.h"

#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

bool weft_print_is_live(const weft_graph *graph, const weft_value *value) {
    if (value->is_input)
        return true;
    if (value->kind == VALUE_RESULT)
        return value->producer >= 0;
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].target == value->id)
            return true;
    return false;
}

static bool name_taken(const weft_graph *graph, int value, const char *name) {
    for (int i = 0; i < graph->n_values; ++i)
        if (i != value && (value < 0 || graph->values[i].named || i < value) &&
            strcmp(graph->values[i].name, name) == 0)
            return true;
    return WEFT_FIND_NAME(graph->connectivities, graph->n_connectivities, name) >= 0 ||
           WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, name) >= 0;
}

void weft_print_free_name(const weft_graph *graph, int value, char *name, size_t size) {
    for (size_t length = strlen(name); name_taken(graph, value, name) && length + 1 < size;) {
        name[length++] = '_';
        name[length] = '\0';
    }
}

void weft_print_name(const weft_graph *graph, int value, weft_text *out) {
    /* the updated value of a list has the name of the list */
    const weft_value *d = &graph->values[weft_value_storage(graph, value)];
    char name[64];
    if (d->named) {
        weft_text_add(out, "%s", d->name);
        return;
    }
    /* names of the language have at most 63 characters; 8 are reserved for '_' */
    if (snprintf(name, sizeof name, "%s", d->name) > 55)
        snprintf(name, sizeof name, "value_%d", value);
    weft_print_free_name(graph, value, name, sizeof name);
    weft_text_add(out, "%s", name);
}

void weft_print_number(double number, weft_text *out) {
    const bool whole = number >= 0 && number < 1e15 && number == (double)(int64_t)number;
    const weft_node node = {.kind = NODE_NUMBER, .number = number, .integer = whole};
    weft_node_print(&node, out);
}

void weft_print_to_column(weft_text *out, size_t line_start, size_t column) {
    do
        weft_text_add(out, " ");
    while (!out->failed && out->length - line_start < column);
}

void weft_print_type(const weft_graph *graph, const weft_shape *shape, int index_set,
                     weft_text *out) {
    weft_shape_print(shape, out);
    if (index_set >= 0)
        weft_text_add(out, " over %s", graph->index_sets[index_set].name);
}

/* The leading subscripts of an operand's part are the digits of its offset. */
void weft_print_operand(const weft_graph *graph, const weft_operand *operand, weft_text *out) {
    const weft_shape whole = weft_operand_whole(graph, operand);
    const int n = whole.rank - operand->shape.rank;
    int rest = weft_shape_count(&whole), offset = operand->offset;
    weft_print_name(graph, operand->value, out);
    if (operand->connectivity >= 0)
        weft_text_add(out, "[%s]", graph->connectivities[operand->connectivity].name);
    for (int i = 0; i < n; ++i) {
        rest /= whole.sizes[i];
        weft_text_add(out, "%s%d%s", i == 0 ? "[" : ",", offset / rest, i == n - 1 ? "]" : "");
        offset %= rest;
    }
}

/* Operator precedence, as in the grammar. */
enum { BINDS_SUM = 1, BINDS_PRODUCT, BINDS_NEGATE, BINDS_POWER, BINDS_PRIMARY };

static int binding_of(const weft_arithmetic *node) {
    static const int binds[] = {
        [ARITHMETIC_NUMBER] = BINDS_PRIMARY,    [ARITHMETIC_OPERAND] = BINDS_PRIMARY,
        [ARITHMETIC_NEGATE] = BINDS_NEGATE,     [ARITHMETIC_ADD] = BINDS_SUM,
        [ARITHMETIC_SUBTRACT] = BINDS_SUM,      [ARITHMETIC_MULTIPLY] = BINDS_PRODUCT,
        [ARITHMETIC_DIVIDE] = BINDS_PRODUCT,    [ARITHMETIC_POWER] = BINDS_POWER,
        [ARITHMETIC_INTRINSIC] = BINDS_PRIMARY, [ARITHMETIC_SELECT] = BINDS_PRIMARY};
    return binds[node->op];
}

static void print_tree(const weft_graph *graph, const weft_call *call, int index, int least,
                       weft_text *out);

/* select(a < b and c < d, x, y): the conditions of selects with one and the same other value */
static void print_select(const weft_graph *graph, const weft_call *call,
                         const weft_arithmetic *node, weft_text *out) {
    const weft_arithmetic *inner = node;
    weft_text_add(out, "select(");
    for (bool more = true; more; inner = more ? &call->arithmetic[inner->c] : inner) {
        print_tree(graph, call, inner->a, BINDS_SUM, out);
        weft_text_add(out, " %s ", inner->name);
        print_tree(graph, call, inner->b, BINDS_SUM, out);
        more = call->arithmetic[inner->c].op == ARITHMETIC_SELECT &&
               call->arithmetic[inner->c].d == inner->d;
        weft_text_add(out, more ? " and " : ", ");
    }
    print_tree(graph, call, inner->c, 0, out);
    weft_text_add(out, ", ");
    print_tree(graph, call, inner->d, 0, out);
    weft_text_add(out, ")");
}

static void print_tree(const weft_graph *graph, const weft_call *call, int index, int least,
                       weft_text *out) {
    const weft_arithmetic *node = &call->arithmetic[index];
    const int own = binding_of(node);
    weft_text_add(out, own < least ? "(" : "");
    switch (node->op) {
    case ARITHMETIC_NUMBER:
        if (memcmp(&node->number, &PI, sizeof PI) == 0)
            weft_text_add(out, "pi");
        else
            weft_print_number(node->number, out);
        break;
    case ARITHMETIC_OPERAND:
        weft_print_operand(graph, &call->operands[node->operand], out);
        break;
    case ARITHMETIC_NEGATE:
        weft_text_add(out, "-");
        print_tree(graph, call, node->a, BINDS_NEGATE, out);
        break;
    case ARITHMETIC_ADD:
    case ARITHMETIC_SUBTRACT:
    case ARITHMETIC_MULTIPLY:
    case ARITHMETIC_DIVIDE:
        print_tree(graph, call, node->a, own, out);
        weft_text_add(out, "%s",
                      node->op == ARITHMETIC_ADD        ? " + "
                      : node->op == ARITHMETIC_SUBTRACT ? " - "
                      : node->op == ARITHMETIC_MULTIPLY ? "*"
                                                        : "/");
        print_tree(graph, call, node->b, own + 1, out);
        break;
    case ARITHMETIC_POWER:
        print_tree(graph, call, node->a, BINDS_PRIMARY, out);
        weft_text_add(out, "^");
        print_tree(graph, call, node->b, BINDS_NEGATE, out);
        break;
    case ARITHMETIC_SELECT:
        print_select(graph, call, node, out);
        break;
    case ARITHMETIC_INTRINSIC:
        weft_text_add(out, "%s(", node->name);
        print_tree(graph, call, node->a, 0, out);
        if (node->b >= 0) {
            weft_text_add(out, ", ");
            print_tree(graph, call, node->b, 0, out);
        }
        weft_text_add(out, ")");
        break;
    }
    weft_text_add(out, own < least ? ")" : "");
}

void weft_print_call(const weft_graph *graph, const weft_call *call, weft_text *out) {
    const weft_specialisation *specialisation = call->specialisation;
    if (call->product_kernel) {
        weft_text_add(out, "apply(%s, ", graph->operators[call->op]);
        weft_print_operand(graph, &call->operands[0], out);
        weft_text_add(out, ")");
        return;
    }
    if (!specialisation) {
        print_tree(graph, call, call->n_arithmetic - 1, 0, out);
        return;
    }
    weft_text_add(out, "%s(", call->label);
    for (int i = 0; i < call->n_operands; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        weft_print_operand(graph, &call->operands[i], out);
    }
    for (int i = 0; i < specialisation->n_names; ++i) {
        const int known =
            weft_function_name_index(specialisation->function, specialisation->names[i]);
        if (known >= 0 && specialisation->function->names[known].is_parameter)
            weft_text_add(out, ", %s = %d", specialisation->names[i], specialisation->values[i]);
    }
    weft_text_add(out, ")");
}

/* A copy that the language implies when a part of a list is accumulated. */
static bool is_silent_copy(const weft_graph *graph, int value) {
    const weft_value *d = &graph->values[value];
    const weft_call *call = d->producer >= 0 ? &graph->calls[d->producer] : NULL;
    if (!call || d->named || d->returned || call->specialisation || call->product_kernel ||
        call->n_arithmetic != 1 || call->arithmetic[0].op != ARITHMETIC_OPERAND ||
        !weft_shape_equal(&call->operands[0].shape, &d->shape))
        return false;
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].value == value)
                return false;
    return true;
}

bool weft_print_call_is_silent(const weft_graph *graph, const weft_call *call) {
    return is_silent_copy(graph, call->result);
}

void weft_print_accumulation(const weft_graph *graph, const weft_accumulation *a, weft_text *out) {
    const char *connectivity = graph->connectivities[a->connectivity].name;
    weft_print_name(graph, a->target, out);
    weft_text_add(out, a->matrix ? "[%s,%s] += " : "[%s] += ", connectivity, connectivity);
    if (is_silent_copy(graph, a->source))
        weft_print_operand(graph, &graph->calls[a->call].operands[0], out);
    else
        weft_print_name(graph, a->source, out);
}

/* ---- other formats ---- */

/* In a script a list has one name before and after its update; here the names differ. */
void weft_print_distinct_name(const weft_graph *graph, int value, weft_text *out) {
    char name[80];
    if (graph->values[value].storage < 0) {
        weft_print_name(graph, value, out);
        return;
    }
    snprintf(name, sizeof name, "%s_next", graph->values[graph->values[value].storage].name);
    weft_print_free_name(graph, value, name, sizeof name);
    weft_text_add(out, "%s", name);
}
