/* Evaluates expressions in index notation at a point. */
#include "ufl_evaluate.h"

#include <math.h>

/* A number in [-0.5, 0.5) that depends on the three. */
static double noise(int a, int b, int c) {
    uint32_t h = (uint32_t)a * 2654435761u ^ (uint32_t)b * 2246822519u ^ (uint32_t)c * 3266489917u;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return (double)((h ^ h >> 16) % 10007) / 10007 - 0.5;
}

/* The derivative in the directions d[n] of the polynomial of a function's component:
   1.2 + noise + b.x + x.B.x/2, B symmetric. */
static double polynomial(const ufl_point *point, const ufl_node *function, int flat, const int *d,
                         int n) {
    int who = 16 * function->detail + (int)function->type;
    double sum = n == 0 ? 1.2 + noise(who, flat, 0) : 0;
    for (int i = 0; i < 3; ++i) {
        double b = noise(who, flat, 1 + i);
        sum += n == 0 ? b * point->x[i] : n == 1 && d[0] == i ? b : 0;
        for (int j = 0; j < 3; ++j) {
            double m = noise(who, flat, 10 + (i < j ? 3 * i + j : 3 * j + i));
            if (n == 0)
                sum += m * point->x[i] * point->x[j] / 2;
            else if (n == 1)
                sum +=
                    (d[0] == i ? m * point->x[j] : 0) / 2 + (d[0] == j ? m * point->x[i] : 0) / 2;
            else if (n == 2)
                sum += ((d[0] == i && d[1] == j) + (d[0] == j && d[1] == i)) * m / 2;
        }
    }
    return sum;
}

static double function_value(const ufl_point *point, const ufl_node *function, const int *component,
                             const int *d, int n) {
    int flat = 0;
    for (int i = 0; i < function->rank; ++i)
        flat = flat * function->shape[i] + component[i];
    if (function->type == UFL_CONSTANT)
        return n > 0 ? 0 : 1.3 + noise(100 + function->detail, flat, 0);
    double value = polynomial(point, function, flat, d, n);
    if (function == point->moved)
        value += point->step * polynomial(point, point->along, flat, d, n);
    return value;
}

static double grad_value(ufl_point *point, const ufl_node *node, const int *component) {
    int n = 0;
    const ufl_node *terminal = node;
    for (; terminal->type == UFL_GRAD; terminal = ufl_operand(terminal, 0))
        ++n;
    if (!terminal->space) {
        point->failed = true;
        return 0;
    }
    return function_value(point, terminal, component, component + terminal->rank, n);
}

static double permutation(const int *component, int n) {
    double sign = 1;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            sign *= component[i] < component[j] ? 1 : component[i] == component[j] ? 0 : -1;
    return sign;
}

static double indexed(ufl_point *point, const ufl_node *node) {
    int component[UFL_RANK_MAX] = {0};
    for (int i = 0; i < node->n_indices; ++i) {
        int index = node->indices[i];
        if (index < 0 && UFL_FREE(index) >= UFL_TEST_INDICES)
            point->failed = true;
        else
            component[i] = index >= 0 ? index : point->bound[UFL_FREE(index)];
    }
    return point->failed ? 0 : ufl_test_value(point, ufl_operand(node, 0), component);
}

/* The operand with the indices of a node bound to values; they are restored. */
static double with_bound(ufl_point *point, const ufl_node *node, const int *values) {
    int before[UFL_RANK_MAX];
    for (int i = 0; i < node->n_indices; ++i) {
        int number = UFL_FREE(node->indices[i]);
        if (number >= UFL_TEST_INDICES) {
            point->failed = true;
            return 0;
        }
        before[i] = point->bound[number];
        point->bound[number] = values[i];
    }
    double value = ufl_test_value(point, ufl_operand(node, 0), NULL);
    for (int i = node->n_indices - 1; i >= 0; --i)
        point->bound[UFL_FREE(node->indices[i])] = before[i];
    return value;
}

static double index_sum(ufl_point *point, const ufl_node *node, const int *component) {
    const ufl_node *summand = ufl_operand(node, 0);
    int number = UFL_FREE(node->indices[0]), size = 0, before = 0;
    double sum = 0;
    for (int i = 0; i < summand->n_free; ++i)
        if (summand->free[i].number == number)
            size = summand->free[i].dimension;
    if (number >= UFL_TEST_INDICES) {
        point->failed = true;
        return 0;
    }
    before = point->bound[number];
    for (int i = 0; i < size; ++i) {
        point->bound[number] = i;
        sum += ufl_test_value(point, summand, component);
    }
    point->bound[number] = before;
    return sum;
}

static bool holds(ufl_point *point, const ufl_node *node) {
    if (node->type == UFL_NOT)
        return !holds(point, ufl_operand(node, 0));
    if (node->type == UFL_AND || node->type == UFL_OR) {
        bool a = holds(point, ufl_operand(node, 0)), b = holds(point, ufl_operand(node, 1));
        return node->type == UFL_AND ? a && b : a || b;
    }
    double a = ufl_test_value(point, ufl_operand(node, 0), NULL);
    double b = ufl_test_value(point, ufl_operand(node, 1), NULL);
    switch ((ufl_comparison)node->detail) {
    case UFL_EQ:
        return a == b;
    case UFL_NE:
        return a != b;
    case UFL_LE:
        return a <= b;
    case UFL_GE:
        return a >= b;
    case UFL_LT:
        return a < b;
    default:
        return a > b;
    }
}

static double math(ufl_function function, double a) {
    static double (*const functions[UFL_N_FUNCTIONS])(double) = {
        [UFL_SQRT] = sqrt, [UFL_EXP] = exp,   [UFL_LN] = log,    [UFL_COS] = cos,
        [UFL_SIN] = sin,   [UFL_TAN] = tan,   [UFL_COSH] = cosh, [UFL_SINH] = sinh,
        [UFL_TANH] = tanh, [UFL_ACOS] = acos, [UFL_ASIN] = asin, [UFL_ATAN] = atan,
        [UFL_ERF] = erf};
    return functions[function](a);
}

static double scalar_operator(ufl_point *point, const ufl_node *node) {
    double a = ufl_test_value(point, ufl_operand(node, 0), NULL);
    double b = node->n_operands > 1 ? ufl_test_value(point, ufl_operand(node, 1), NULL) : 0;
    switch (node->type) {
    case UFL_PRODUCT:
        return a * b;
    case UFL_DIVISION:
        return a / b;
    case UFL_POWER:
        return pow(a, b);
    case UFL_MATH:
        return math((ufl_function)node->detail, a);
    case UFL_ATAN2:
        return atan2(a, b);
    case UFL_BESSEL:
        return node->detail == 'J' ? jn((int)a, b) : node->detail == 'Y' ? yn((int)a, b) : NAN;
    case UFL_MIN:
        return a < b ? a : b;
    case UFL_MAX:
        return a > b ? a : b;
    default:
        point->failed = true;
        return 0;
    }
}

double ufl_test_value(ufl_point *point, const ufl_node *node, const int *component) {
    switch (node->type) {
    case UFL_ZERO:
        return 0;
    case UFL_INT:
    case UFL_FLOAT:
        return ufl_number(node);
    case UFL_IDENTITY:
        return component[0] == component[1];
    case UFL_PERMUTATION:
        return permutation(component, node->rank);
    case UFL_ARGUMENT:
    case UFL_COEFFICIENT:
    case UFL_CONSTANT:
        return function_value(point, node, component, NULL, 0);
    case UFL_GEOMETRY:
        point->failed = point->failed || node->detail != UFL_SPATIAL_COORDINATE;
        return node->detail == UFL_SPATIAL_COORDINATE ? point->x[component[0]] : 0;
    case UFL_GRAD:
        return grad_value(point, node, component);
    case UFL_INDEXED:
        return indexed(point, node);
    case UFL_COMPONENT_TENSOR:
        return with_bound(point, node, component);
    case UFL_LIST_TENSOR:
        return ufl_test_value(point, ufl_operand(node, component[0]), component + 1);
    case UFL_INDEX_SUM:
        return index_sum(point, node, component);
    case UFL_SUM:
        return ufl_test_value(point, ufl_operand(node, 0), component) +
               ufl_test_value(point, ufl_operand(node, 1), component);
    case UFL_ABS:
        return fabs(ufl_test_value(point, ufl_operand(node, 0), component));
    case UFL_CONDITIONAL:
        return ufl_test_value(point, ufl_operand(node, holds(point, ufl_operand(node, 0)) ? 1 : 2),
                              component);
    case UFL_VARIABLE:
    case UFL_RESTRICTED:
        return ufl_test_value(point, ufl_operand(node, 0), component);
    default:
        return scalar_operator(point, node);
    }
}
