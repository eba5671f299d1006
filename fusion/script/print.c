/* Prints a script as canonical text that reads back to the same script. */
#include "core/base/number.h"
#include "fusion/script/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operator precedence; an operand of lower precedence gets parentheses. */
enum { BINDS_CONDITION, BINDS_SUM, BINDS_PRODUCT, BINDS_NEGATE, BINDS_POWER, BINDS_PRIMARY };

static int binding(const weft_node *node) {
    if (node->kind == NODE_NEGATE)
        return BINDS_NEGATE;
    if (node->kind != NODE_BINARY)
        return BINDS_PRIMARY;
    if (node->op == '^')
        return BINDS_POWER;
    if (weft_op_compares(node->op) || node->op == CONDITION_AND)
        return BINDS_CONDITION;
    return node->op == '*' || node->op == '/' ? BINDS_PRODUCT : BINDS_SUM;
}

/* The shortest digits that read back as the same double, with a decimal point if it is not an
 * integer. */
static void print_number(const weft_node *node, weft_text *out) {
    char digits[400];
    if (node->integer)
        weft_print(digits, sizeof digits, "%.0f", node->number);
    else
        weft_number_print(node->number, 1, digits);
    bool pointed = strpbrk(digits, ".e") != NULL;
    weft_text_add(out, "%s%s", digits, node->integer || pointed ? "" : ".0");
}

static void print_operand(const weft_node *node, int least, weft_text *out) {
    bool parentheses = binding(node) < least;
    weft_text_add(out, parentheses ? "(" : "");
    weft_node_print(node, out);
    weft_text_add(out, parentheses ? ")" : "");
}

static void print_binary(const weft_node *node, weft_text *out) {
    int own = binding(node);
    if (node->op == '^') {
        print_operand(node->children[0], BINDS_PRIMARY, out);
        weft_text_add(out, "^");
        print_operand(node->children[1], BINDS_NEGATE, out);
        return;
    }
    print_operand(node->children[0], own, out);
    weft_text_add(out, own <= BINDS_SUM ? " %s " : "%s", weft_op_text(node->op));
    print_operand(node->children[1], own == BINDS_CONDITION ? own : own + 1, out);
}

static void print_list(weft_node *const *nodes, int first, int n, weft_text *out) {
    for (int i = first; i < n; ++i) {
        weft_text_add(out, i > first ? ", " : "");
        weft_node_print(nodes[i], out);
    }
}

static void print_call(const weft_node *node, weft_text *out) {
    weft_text_add(out, "%s(", node->name);
    print_list(node->children, 0, node->n_children, out);
    for (int i = 0; i < node->n_keys; ++i) {
        weft_text_add(out, "%s%s = ", i > 0 || node->n_children > 0 ? ", " : "", node->keys[i]);
        weft_node_print(node->key_values[i], out);
    }
    weft_text_add(out, ")");
}

void weft_node_print(const weft_node *node, weft_text *out) {
    switch (node->kind) {
    case NODE_NUMBER:
        print_number(node, out);
        break;
    case NODE_NAME:
        weft_text_add(out, "%s", node->name);
        break;
    case NODE_CALL:
        print_call(node, out);
        break;
    case NODE_NEGATE:
        weft_text_add(out, "-");
        print_operand(node->children[0], BINDS_NEGATE, out);
        break;
    case NODE_BINARY:
        print_binary(node, out);
        break;
    case NODE_SUBSCRIPT:
        print_operand(node->children[0], BINDS_PRIMARY, out);
        weft_text_add(out, "[");
        print_list(node->children, 1, node->n_children, out);
        weft_text_add(out, "]");
        break;
    }
}

/* Inputs that were declared by one statement share its sizes and are printed as one statement
 * again; otherwise the text could become very long. */
static bool same_type(const weft_script_input *a, const weft_script_input *b) {
    if (a->rank != b->rank || (a->rank > 0 && a->sizes[0] != b->sizes[0]))
        return false;
    return a->over && b->over ? strcmp(a->over, b->over) == 0 : a->over == b->over;
}

/* Inputs of formulas are declared again when the formulas are read. */
static bool is_data(const weft_script *script, int i) {
    for (int k = 0; k < script->n_data; ++k)
        if (strcmp(script->data[k].input, script->inputs[i].name) == 0)
            return true;
    return false;
}

static void print_input(const weft_script *script, int i, weft_text *out) {
    const weft_script_input *input = &script->inputs[i];
    bool first = i == 0 || !same_type(input, &script->inputs[i - 1]);
    bool last = i == script->n_inputs - 1 || !same_type(input, &script->inputs[i + 1]) ||
                is_data(script, i + 1);
    if (is_data(script, i))
        return;
    weft_text_add(out, "%s%s", first ? "input " : ", ", input->name);
    if (!last)
        return;
    weft_text_add(out, " : real%s", input->rank > 0 ? "[" : "");
    print_list(input->sizes, 0, input->rank, out);
    weft_text_add(out, input->rank > 0 ? "]" : "");
    if (input->over)
        weft_text_add(out, " over %s", input->over);
    weft_text_add(out, ";\n");
}

static void print_declarations(const weft_script *script, weft_text *out) {
    bool first = true; /* a product of two index sets is declared by the lists over it */
    for (int i = 0; i < script->n_indices; ++i) {
        if (script->indices[i].first)
            continue;
        const weft_script_index *index = &script->indices[i];
        weft_text_add(out, "%s%s%s%s%s", first ? "index " : ", ", index->name,
                      index->plain ? " plain" : "", index->up_to ? " up to " : "",
                      index->up_to ? index->up_to : "");
        first = false;
    }
    weft_text_add(out, first ? "" : ";\n");
    for (int i = 0; i < script->n_parameters; ++i)
        weft_text_add(out, "parameter %s = %d;\n", script->parameters[i].name,
                      script->parameters[i].value);
    for (int i = 0; i < script->n_connectivities; ++i) {
        const weft_script_connectivity *connectivity = &script->connectivities[i];
        weft_text_add(out, "connectivity %s : %s -> %s[", connectivity->name, connectivity->from,
                      connectivity->to);
        weft_node_print(connectivity->width, out);
        weft_text_add(out, "]%s;\n", connectivity->is_ordered ? " ordered" : "");
    }
    for (int i = 0; i < script->n_inputs; ++i)
        print_input(script, i, out);
    for (int i = 0; i < script->n_operators; ++i)
        weft_text_add(out, "operator %s over %s;\n", script->operators[i].name,
                      script->operators[i].over);
}

/* Can the formulas be written in a script? It has no files, a first formula without a group, and names
 * of groups without other characters than letters, digits and _. */
static bool is_writable(const weft_script_expression *expression) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    bool fine = expression->n_references == 0 && !expression->groups[0];
    for (int i = 1; i < expression->n_bodies; ++i) {
        const char *group = expression->groups[i];
        fine = fine && group && group[0] > '9' && group[strspn(group, letters)] == '\0' &&
               !weft_script_reserved(group);
    }
    return fine;
}

static void print_expression(const weft_script_expression *expression, weft_text *out) {
    weft_text_add(out, "expression %s(", expression->name);
    for (int i = 0; i < expression->n_arguments; ++i)
        weft_text_add(out, "%s%s", i > 0 ? ", " : "", expression->arguments[i]);
    weft_text_add(out, ")");
    if (expression->over)
        weft_text_add(out, " over %s", expression->over);
    weft_text_add(out, " = ");
    if (expression->n_bodies == 0)
        weft_node_print(expression->body, out);
    else if (!is_writable(expression))
        weft_text_add(out, "0"); /* the text of the options has its formulas */
    else
        for (int i = 0; i < expression->n_bodies; ++i) {
            weft_text_add(out, "%s%s%s", i > 0 ? ", " : "", i > 0 ? expression->groups[i] : "",
                          i > 0 ? ": " : "");
            weft_node_print(expression->bodies[i], out);
        }
    weft_text_add(out, ";\n");
}

static void print_indent(int depth, weft_text *out) {
    for (int i = 0; i < depth; ++i)
        weft_text_add(out, "    ");
}

/* The loops that start at a statement: outer ones first, as they are numbered. */
static void print_loops_start(const weft_script *script, int statement, int *depth,
                              weft_text *out) {
    for (int i = 0; i < script->n_loops; ++i) {
        const weft_script_loop *loop = &script->loops[i];
        if (loop->first != statement)
            continue;
        print_indent((*depth)++, out);
        weft_text_add(out, "repeat at most ");
        weft_node_print(loop->most, out);
        weft_text_add(out, " while (");
        weft_node_print(loop->condition, out);
        weft_text_add(out, ") {\n");
    }
}

static void print_loops_end(const weft_script *script, int statement, int *depth, weft_text *out) {
    for (int i = 0; i < script->n_loops; ++i)
        if (script->loops[i].last == statement + 1) {
            print_indent(--*depth, out);
            weft_text_add(out, "}\n");
        }
}

static void print_statement(const weft_script_statement *statement, weft_text *out) {
    weft_text_add(out, "%s%s", statement->update ? "update " : "", statement->name);
    for (int i = 0; i < statement->n_connectivities; ++i)
        weft_text_add(out, "%s%s", i == 0 ? "[" : ",", statement->connectivities[i]);
    weft_text_add(out, statement->accumulate ? "] += " : " = ");
    weft_node_print(statement->value, out);
    weft_script_print_using(statement, out);
    weft_text_add(out, ";\n");
}

void weft_script_print(const weft_script *script, weft_text *out) {
    print_declarations(script, out);
    for (int i = 0; i < script->n_expressions; ++i)
        print_expression(&script->expressions[i], out);
    int depth = 0;
    for (int i = 0; i < script->n_statements; ++i) {
        weft_script_print_directives_end(script, i, out);
        print_loops_start(script, i, &depth, out);
        weft_script_print_directives_start(script, i, out);
        print_indent(depth, out);
        print_statement(&script->statements[i], out);
        print_loops_end(script, i, &depth, out);
    }
    weft_script_print_directives_end(script, script->n_statements, out);
    for (int i = 0; i < script->n_returns; ++i)
        weft_text_add(out, "%s%s%s", i == 0 ? "return " : ", ", script->returns[i].name,
                      i == script->n_returns - 1 ? ";\n" : "");
}
