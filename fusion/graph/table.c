/* Evaluates tables by arithmetic without branches. With s limited to [x_0, x_n-1], u_i = max(s - x_i, 0)
 * and l_i = u_i - u_i+1, which goes from 0 to h_i between knots i and i + 1,
 *
 *      y(s)  = y_0 + sum over i of l_i (a_i + l_i (b_i + l_i c_i)),
 *      y'(s) = m_0 + sum over i of l_i (2 b_i + 3 l_i c_i)     between the first and the last knot,
 *
 *  where each term goes from 0 to the difference of its two knots and is the cubic Hermite
 *  interpolant between them: a_i = m_i, b_i = (3 d_i - 2 m_i - m_i+1)/h_i,
 *  c_i = (m_i + m_i+1 - 2 d_i)/h_i^2, d_i = (y_i+1 - y_i)/h_i.
 *
 * Decision  docs/decisions/0003-formulas-are-inlined.md */
#include "fusion/script/table.h"
#include "fusion/graph/private.h"

#include <math.h>
#include <string.h>

static weft_status number(weft_graph_builder *builder, tree *t, double value, int *out,
                          weft_error *error) {
    weft_status status = weft_tree_add(
        builder, t,
        (weft_arithmetic){.op = ARITHMETIC_NUMBER, .number = fabs(value), .a = -1, .b = -1}, out,
        error);
    if (status == WEFT_OK && value < 0)
        status = weft_tree_add(
            builder, t, (weft_arithmetic){.op = ARITHMETIC_NEGATE, .a = *out, .b = -1}, out, error);
    return status;
}

static weft_status binary(weft_graph_builder *builder, tree *t, weft_arithmetic_op op,
                          const char *name, int a, int b, int *out, weft_error *error) {
    return weft_tree_add(builder, t, (weft_arithmetic){.op = op, .name = name, .a = a, .b = b}, out,
                         error);
}

/* p (k[0] + p (k[1] + p k[2])), of n coefficients */
static weft_status add_term(weft_graph_builder *builder, tree *t, const double *k, int n, int p,
                            int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int sum = -1, coefficient = -1;
    TRY(number(builder, t, k[n - 1], &sum, error));
    for (int j = n - 2; j >= 0; --j) {
        TRY(binary(builder, t, ARITHMETIC_MULTIPLY, NULL, p, sum, &sum, error));
        TRY(number(builder, t, k[j], &coefficient, error));
        TRY(binary(builder, t, ARITHMETIC_ADD, NULL, coefficient, sum, &sum, error));
    }
    TRY(binary(builder, t, ARITHMETIC_MULTIPLY, NULL, p, sum, out, error));
done:
    return status;
}

/* select(s < limit, below, above) */
static weft_status add_select(weft_graph_builder *builder, tree *t, int s, double limit, int below,
                              int above, int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arithmetic made = {.op = ARITHMETIC_SELECT, .name = "<", .a = s, .c = below, .d = above};
    TRY(number(builder, t, limit, &made.b, error));
    TRY(weft_tree_add(builder, t, made, out, error));
done:
    return status;
}

/* max(s - x_i, 0) */
static weft_status add_reach(weft_graph_builder *builder, tree *t, const weft_script_table *table,
                             int i, int s, int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int zero = -1;
    TRY(number(builder, t, table->x[i], out, error));
    TRY(binary(builder, t, ARITHMETIC_SUBTRACT, NULL, s, *out, out, error));
    if (i == 0)
        goto done;
    TRY(number(builder, t, 0, &zero, error));
    TRY(add_select(builder, t, *out, 0, zero, *out, out, error));
done:
    return status;
}

/* s is limited to the range of the table. */
static weft_status add_table(weft_graph_builder *builder, tree *t, const weft_script_table *table,
                             bool is_slope, int s, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    int sum = -1, reach = -1, next = -1;
    TRY(number(builder, t, is_slope ? table->slopes[0] : table->y[0], &sum, error));
    TRY(add_reach(builder, t, table, 0, s, &reach, error));
    for (int i = 0; i < table->n - 1; ++i, reach = next) {
        const double h = table->x[i + 1] - table->x[i], m = table->slopes[i];
        const double d = (table->y[i + 1] - table->y[i]) / h, m1 = table->slopes[i + 1];
        const double b = (3 * d - 2 * m - m1) / h, c = (m + m1 - 2 * d) / (h * h);
        const double of_value[] = {m, b, c}, of_slope[] = {2 * b, 3 * c};
        int length = reach, term = -1;
        if (i < table->n - 2) { /* s does not go beyond the last knot */
            TRY(add_reach(builder, t, table, i + 1, s, &next, error));
            TRY(binary(builder, t, ARITHMETIC_SUBTRACT, NULL, reach, next, &length, error));
        }
        TRY(add_term(builder, t, is_slope ? of_slope : of_value, is_slope ? 2 : 3, length, &term,
                     error));
        TRY(binary(builder, t, ARITHMETIC_ADD, NULL, sum, term, &sum, error));
    }
    *root = sum;
done:
    return status;
}

/* min(max(s, first), last) */
static weft_status add_limits(weft_graph_builder *builder, tree *t, const weft_script_table *table,
                              int s, int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int end = -1;
    TRY(number(builder, t, table->x[0], &end, error));
    TRY(binary(builder, t, ARITHMETIC_INTRINSIC, "max", s, end, out, error));
    TRY(number(builder, t, table->x[table->n - 1], &end, error));
    TRY(binary(builder, t, ARITHMETIC_INTRINSIC, "min", *out, end, out, error));
done:
    return status;
}

/* Make what a tree over an index set computes an operand of another tree. */
static weft_status add_call(weft_graph_builder *builder, const tree *from, weft_location place,
                            tree *t, int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operand operand = {0};
    TRY(weft_tree_make_call(builder, from, from->index_set, place, &operand, error));
    TRY(weft_tree_operand(builder, t, &operand, place, out, error));
done:
    return status;
}

/* The argument and its limits are computed once, by calls of their own; uniform ones are computed before
 * the loop over elements. */
weft_status weft_table_inline(weft_graph_builder *builder, const name_scope *scope,
                              const weft_node *node, tree *t, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script_table *table = node->table;
    const bool is_slope = strcmp(node->name, "table_slope") == 0;
    tree argument = {.index_set = UNIFORM}, limited = {.index_set = UNIFORM};
    int s = -1, inside = -1, zero = -1;
    TRY(weft_tree_build(builder, scope, node->children[1], &argument, &s, error));
    if (argument.index_set == UNIFORM) {
        TRY(weft_tree_build(builder, scope, node->children[1], t, &s, error));
        TRY(add_limits(builder, t, table, s, &inside, error));
    } else {
        TRY(add_call(builder, &argument, node->place, &limited, &s, error));
        TRY(add_limits(builder, &limited, table, s, &inside, error));
        TRY(add_call(builder, &limited, node->place, t, &inside, error));
        if (is_slope)
            TRY(add_call(builder, &argument, node->place, t, &s, error));
    }
    TRY(add_table(builder, t, table, is_slope, inside, root, error));
    if (!is_slope)
        goto done;
    TRY(number(builder, t, 0, &zero, error));
    TRY(add_select(builder, t, s, table->x[table->n - 1], *root, zero, root, error));
    TRY(add_select(builder, t, s, table->x[0], zero, *root, root, error));
done:
    return status;
}
