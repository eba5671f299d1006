/* Evaluates tables by arithmetic without branches: with t_i = (s - x_i)/h_i limited to [0, 1],
 *
 *      y(s)  = y_0 + sum over i of t_i (a_i + t_i (b_i + t_i c_i)),
 *      y'(s) = m_0 + sum over i of t_i (2 b_i + t_i 3 c_i)/h_i     between the first and the last knot,
 *
 *  where each term goes from 0 to the difference of its two knots and is the cubic Hermite
 *  interpolant between them: a_i = h_i m_i, b_i = 3 (y_i+1 - y_i) - h_i (2 m_i + m_i+1),
 *  c_i = h_i (m_i + m_i+1) - 2 (y_i+1 - y_i). */
#include "fusion/graph/private.h"
#include "fusion/script/table.h"

#include <math.h>
#include <string.h>

static weft_status number(weft_graph_builder *builder, tree *t, double value, int *out,
                          weft_error *error) {
    weft_status status = weft_tree_add(
        builder, t,
        (weft_arithmetic){.op = ARITHMETIC_NUMBER, .number = fabs(value), .a = -1, .b = -1}, out,
        error);
    if (status == WEFT_OK && value < 0)
        status = weft_tree_add(builder, t,
                               (weft_arithmetic){.op = ARITHMETIC_NEGATE, .a = *out, .b = -1}, out,
                               error);
    return status;
}

static weft_status binary(weft_graph_builder *builder, tree *t, weft_arithmetic_op op,
                          const char *name, int a, int b, int *out, weft_error *error) {
    return weft_tree_add(builder, t,
                         (weft_arithmetic){.op = op, .name = name, .a = a, .b = b}, out, error);
}

/* t_i */
static weft_status add_position(weft_graph_builder *builder, tree *t, const weft_script_table *table,
                                int i, int s, int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int left = -1, factor = -1, zero = -1, one = -1;
    TRY(number(builder, t, table->x[i], &left, error));
    TRY(binary(builder, t, ARITHMETIC_SUBTRACT, NULL, s, left, &left, error));
    TRY(number(builder, t, 1 / (table->x[i + 1] - table->x[i]), &factor, error));
    TRY(binary(builder, t, ARITHMETIC_MULTIPLY, NULL, left, factor, &left, error));
    TRY(number(builder, t, 0, &zero, error));
    TRY(number(builder, t, 1, &one, error));
    TRY(binary(builder, t, ARITHMETIC_INTRINSIC, "max", left, zero, &left, error));
    TRY(binary(builder, t, ARITHMETIC_INTRINSIC, "min", left, one, out, error));
done:
    return status;
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

static weft_status add_table(weft_graph_builder *builder, tree *t, const weft_script_table *table,
                             bool is_slope, int s, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    int sum = -1, zero = -1;
    TRY(number(builder, t, is_slope ? table->slopes[0] : table->y[0], &sum, error));
    for (int i = 0; i < table->n - 1; ++i) {
        const double h = table->x[i + 1] - table->x[i], dy = table->y[i + 1] - table->y[i];
        const double m = table->slopes[i], m1 = table->slopes[i + 1];
        const double a = h * m, b = 3 * dy - h * (2 * m + m1), c = h * (m + m1) - 2 * dy;
        const double of_value[] = {a, b, c}, of_slope[] = {2 * b / h, 3 * c / h};
        int position = -1, term = -1;
        TRY(add_position(builder, t, table, i, s, &position, error));
        TRY(add_term(builder, t, is_slope ? of_slope : of_value, is_slope ? 2 : 3, position, &term,
                     error));
        TRY(binary(builder, t, ARITHMETIC_ADD, NULL, sum, term, &sum, error));
    }
    if (is_slope) {
        TRY(number(builder, t, 0, &zero, error));
        TRY(add_select(builder, t, s, table->x[table->n - 1], sum, zero, &sum, error));
        TRY(add_select(builder, t, s, table->x[0], zero, sum, &sum, error));
    }
    *root = sum;
done:
    return status;
}

/* An argument that is more than a name is computed once, by a call of its own. */
weft_status weft_table_inline(weft_graph_builder *builder, const name_scope *scope,
                              const weft_node *node, tree *t, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operand operand = {0};
    tree argument = {.index_set = UNIFORM};
    int s = -1;
    TRY(weft_tree_build(builder, scope, node->children[1], &argument, &s, error));
    if (argument.n == 1 || argument.index_set == UNIFORM) {
        TRY(weft_tree_build(builder, scope, node->children[1], t, &s, error));
    } else {
        TRY(weft_tree_make_call(builder, &argument, argument.index_set, node->place, &operand,
                                error));
        TRY(weft_tree_operand(builder, t, &operand, node->place, &s, error));
    }
    TRY(add_table(builder, t, node->table, strcmp(node->name, "table_slope") == 0, s, root, error));
done:
    return status;
}
