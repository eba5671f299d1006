/* Evaluates integrals point by point. */
#include "point.h"
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static series value(naive_point *at, const ufl_node *node, const int *component);

/* ---- functions ---- */

/* The function of a scalar element that dof `dof` has in component `flat`; -1: none. */
static int function_of(const ufl_element *element, int dof, int flat, const ufl_element **scalar) {
    if (element->kind == UFL_BLOCKED) {
        int block = flat;
        if (element->symmetric) { /* 0; 1 2; 3 4 5 */
            const int i = flat / element->shape[0], j = flat % element->shape[0];
            block = i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
        }
        return dof % element->block_size == block
                   ? function_of(element->sub[0], dof / element->block_size, 0, scalar)
                   : -1;
    }
    for (int k = 0; element->kind == UFL_MIXED && k < element->n_sub; ++k) {
        const ufl_element *sub = element->sub[k];
        if (dof < sub->n_dofs)
            return flat >= 0 && flat < sub->value_size ? function_of(sub, dof, flat, scalar) : -1;
        dof -= sub->n_dofs;
        flat -= sub->value_size;
    }
    *scalar = element;
    return element->kind == UFL_MIXED ? -1 : dof;
}

/* A function of a scalar element in physical coordinates: H = K^T (H_X - sum_a g_a d^2 x_a/dX^2) K. */
static series basis_series(naive_point *at, const ufl_element *scalar, int function, int side) {
    const naive_table *table = naive_table_of(at, scalar, side);
    series result = {{{0}}};
    const int d = at->cell->mesh->tdim;
    double g[3] = {0}, h[3][3] = {{0}}, first[3] = {0}, second[3][3] = {{0}};
    if (!table) {
        at->failed = true;
        return result;
    }
    for (int i = 0; i < d; ++i) {
        int powers[3] = {0};
        ++powers[i];
        first[i] =
            table->values[(weft_derivative_index(d, powers) * at->n_points + at->p) * table->n +
                          function];
        for (int j = 0; j < d; ++j) {
            ++powers[j];
            second[i][j] =
                table->values[(weft_derivative_index(d, powers) * at->n_points + at->p) * table->n +
                              function];
            --powers[j];
        }
    }
    for (int a = 0; a < d; ++a)
        for (int i = 0; i < d; ++i)
            g[a] += at->inverse[side][i][a] * first[i];
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            for (int a = 0; a < d; ++a)
                second[i][j] -= g[a] * at->bend[side][a][i][j];
            for (int a = 0; a < d; ++a)
                for (int b = 0; b < d; ++b)
                    h[a][b] += at->inverse[side][i][a] * second[i][j] * at->inverse[side][j][b];
        }
    result.c[0][0] = table->values[at->p * table->n + function];
    for (int a = 0, t = 4; a < 3; ++a) {
        result.c[0][1 + a] = g[a];
        for (int b = a; b < 3; ++b)
            result.c[0][t++] = a == b ? h[a][b] / 2 : h[a][b];
    }
    return result;
}

static series function_value(naive_point *at, const ufl_node *node, const int *component) {
    const ufl_element *element = node->space->element, *scalar = NULL;
    series sum = {{{0}}};
    int flat = 0;
    for (int i = 0; i < node->rank; ++i)
        flat = flat * node->shape[i] + component[i];
    if (node->type == UFL_ARGUMENT) {
        const int dof = at->basis[node->detail] - at->side * element->n_dofs;
        const int function =
            dof >= 0 && dof < element->n_dofs ? function_of(element, dof, flat, &scalar) : -1;
        return function < 0 ? sum : basis_series(at, scalar, function, at->side);
    }
    for (int k = 0; k < at->data->n; ++k) {
        if (at->data->nodes[k] != node)
            continue;
        for (int dof = 0; dof < element->n_dofs; ++dof) {
            const int function = function_of(element, dof, flat, &scalar);
            if (function >= 0)
                sum = series_add(
                    sum, series_scale(basis_series(at, scalar, function, at->side),
                                      at->data->values[k][at->side * element->n_dofs + dof]));
        }
    }
    for (int e = 0; e < 2; ++e)
        if (at->moved[e] == node)
            sum = series_add(sum, series_times(value(at, at->along[e], component), 1 << e));
    return sum;
}

static series constant_value(const naive_point *at, const ufl_node *node, const int *component) {
    int flat = 0;
    for (int i = 0; i < node->rank; ++i)
        flat = flat * node->shape[i] + component[i];
    for (int k = 0; k < at->data->n; ++k)
        if (at->data->nodes[k] == node)
            return series_number(at->data->values[k][flat]);
    return series_number(NAN);
}

static series geometry(naive_point *at, const ufl_node *node, const int *component) {
    series x = series_number(at->x[component[0]]);
    x.c[0][1 + component[0]] = 1;
    if (node->detail == UFL_FACET_NORMAL)
        return series_number(at->normal[at->side][component[0]]);
    at->failed |= node->detail != UFL_SPATIAL_COORDINATE;
    return x;
}

/* ---- scalar functions ---- */

static series power(series a, double exponent) {
    double d[5], factor = 1;
    for (int k = 0; k < 5; ++k) {
        d[k] = factor == 0 ? 0 : factor * pow(a.c[0][0], exponent - k);
        factor *= exponent - k;
    }
    return series_apply(a, d);
}

static series exponential(series a) {
    const double e = exp(a.c[0][0]), d[5] = {e, e, e, e, e};
    return series_apply(a, d);
}

static series logarithm(series a) {
    const double x = a.c[0][0],
                 d[5] = {log(x), 1 / x, -1 / (x * x), 2 / (x * x * x), -6 / (x * x * x * x)};
    return series_apply(a, d);
}

static series math(naive_point *at, ufl_function function, series a) {
    const double x = a.c[0][0], s = sin(x), c = cos(x);
    const double sines[5] = {s, c, -s, -c, s}, cosines[5] = {c, -s, -c, s, c};
    const double q = 1 / (1 + x * x), e = 2 / sqrt(acos(-1.0)) * exp(-x * x);
    const double atans[5] = {atan(x), q, -2 * x * q * q, (6 * x * x - 2) * q * q * q,
                             24 * x * (1 - x * x) * q * q * q * q};
    const double erfs[5] = {erf(x), e, -2 * x * e, (4 * x * x - 2) * e,
                            (12 * x - 8 * x * x * x) * e};
    switch (function) {
    case UFL_SQRT:
        return power(a, 0.5);
    case UFL_EXP:
        return exponential(a);
    case UFL_LN:
        return logarithm(a);
    case UFL_SIN:
        return series_apply(a, sines);
    case UFL_COS:
        return series_apply(a, cosines);
    case UFL_TAN:
        return series_multiply(series_apply(a, sines), power(series_apply(a, cosines), -1));
    case UFL_ATAN:
        return series_apply(a, atans);
    case UFL_ERF:
        return series_apply(a, erfs);
    case UFL_TANH: { /* 1 - 2 / (exp(2a) + 1) */
        const series above = exponential(series_scale(a, 2));
        return series_add(series_number(1),
                          series_scale(power(series_add(above, series_number(1)), -1), -2));
    }
    default:
        at->failed = true;
        return a;
    }
}

static bool holds(naive_point *at, const ufl_node *node) {
    if (node->type == UFL_NOT)
        return !holds(at, ufl_operand(node, 0));
    if (node->type == UFL_AND)
        return holds(at, ufl_operand(node, 0)) && holds(at, ufl_operand(node, 1));
    if (node->type == UFL_OR)
        return holds(at, ufl_operand(node, 0)) || holds(at, ufl_operand(node, 1));
    const double a = value(at, ufl_operand(node, 0), NULL).c[0][0];
    const double b = value(at, ufl_operand(node, 1), NULL).c[0][0];
    switch ((ufl_comparison)node->detail) {
    case UFL_LT:
        return a < b;
    case UFL_GT:
        return a > b;
    case UFL_LE:
        return a <= b;
    case UFL_GE:
        return a >= b;
    case UFL_EQ:
        return a == b;
    default:
        return a != b;
    }
}

/* ---- tensors ---- */

static series minus(series a, series b) {
    return series_add(a, series_scale(b, -1));
}

static series entry(naive_point *at, const ufl_node *matrix, int i, int j) {
    const int component[2] = {i, j};
    return value(at, matrix, component);
}

/* The determinant of a matrix without the rows and columns in two bit masks. */
static series determinant(naive_point *at, const ufl_node *matrix, unsigned rows,
                          unsigned columns) {
    const int n = matrix->shape[0];
    series sum = {{{0}}};
    int row = 0, sign = 1;
    while (row < n && rows & 1u << row)
        ++row;
    if (row == n)
        return series_number(1);
    for (int j = 0; j < n; ++j) {
        if (columns & 1u << j)
            continue;
        const series minor = determinant(at, matrix, rows | 1u << row, columns | 1u << j);
        sum =
            series_add(sum, series_scale(series_multiply(entry(at, matrix, row, j), minor), sign));
        sign = -sign;
    }
    return sum;
}

/* Entry (i, j) of the matrix of cofactors: d det / d a_ij. */
static series cofactor(naive_point *at, const ufl_node *matrix, int i, int j) {
    return series_scale(determinant(at, matrix, 1u << i, 1u << j), (i + j) % 2 ? -1 : 1);
}

static series trace(naive_point *at, const ufl_node *matrix) {
    series sum = {{{0}}};
    for (int i = 0; i < matrix->shape[0]; ++i)
        sum = series_add(sum, entry(at, matrix, i, i));
    return sum;
}

static series inner(naive_point *at, const ufl_node *a, const ufl_node *b) {
    series sum = {{{0}}};
    int component[UFL_RANK_MAX] = {0}, n = 1;
    for (int i = 0; i < a->rank; ++i)
        n *= a->shape[i];
    for (int k = 0; k < n; ++k) {
        for (int i = a->rank - 1, rest = k; i >= 0; rest /= a->shape[i--])
            component[i] = rest % a->shape[i];
        sum = series_add(sum, series_multiply(value(at, a, component), value(at, b, component)));
    }
    return sum;
}

static series dot(naive_point *at, const ufl_node *a, const ufl_node *b, const int *component) {
    int left[UFL_RANK_MAX], right[UFL_RANK_MAX];
    series sum = {{{0}}};
    for (int i = 0; i < a->rank - 1; ++i)
        left[i] = component[i];
    for (int i = 1; i < b->rank; ++i)
        right[i] = component[a->rank - 2 + i];
    for (int k = 0; k < b->shape[0]; ++k) {
        left[a->rank - 1] = right[0] = k;
        sum = series_add(sum, series_multiply(value(at, a, left), value(at, b, right)));
    }
    return sum;
}

static series part_of_matrix(naive_point *at, const ufl_node *node, int i, int j) {
    const ufl_node *a = ufl_operand(node, 0);
    switch (node->type) {
    case UFL_TRANSPOSED:
        return entry(at, a, j, i);
    case UFL_SYM:
        return series_scale(series_add(entry(at, a, i, j), entry(at, a, j, i)), 0.5);
    case UFL_SKEW:
        return series_scale(minus(entry(at, a, i, j), entry(at, a, j, i)), 0.5);
    case UFL_DEVIATORIC:
        return i == j ? minus(entry(at, a, i, j), series_scale(trace(at, a), 1.0 / a->shape[0]))
                      : entry(at, a, i, j);
    case UFL_INVERSE: /* adj(A)_ij = cof(A)_ji */
        return series_multiply(cofactor(at, a, j, i), power(determinant(at, a, 0, 0), -1));
    default:
        return cofactor(at, a, i, j);
    }
}

/* grad, div, nabla_grad, nabla_div, curl of any expression */
static series spatial(naive_point *at, const ufl_node *node, const int *component) {
    const ufl_node *a = ufl_operand(node, 0);
    int inside[UFL_RANK_MAX] = {0};
    series sum = {{{0}}};
    switch (node->type) {
    case UFL_GRAD:
        return series_derivative(value(at, a, component), component[a->rank]);
    case UFL_NABLA_GRAD:
        return series_derivative(value(at, a, component + 1), component[0]);
    case UFL_DIV:
    case UFL_NABLA_DIV:
        for (int i = 0; i < a->rank - 1; ++i)
            inside[i + (node->type == UFL_NABLA_DIV)] = component[i];
        for (int k = 0; k < at->cell->mesh->gdim; ++k) {
            inside[node->type == UFL_DIV ? a->rank - 1 : 0] = k;
            sum = series_add(sum, series_derivative(value(at, a, inside), k));
        }
        return sum;
    default:
        break;
    }
    if (a->rank == 0) /* (d1, -d0) */
        return series_scale(series_derivative(value(at, a, NULL), 1 - component[0]),
                            component[0] ? -1 : 1);
    const int i = a->shape[0] == 2 ? 0 : (component[0] + 1) % 3;
    const int j = a->shape[0] == 2 ? 1 : (component[0] + 2) % 3;
    return minus(series_derivative(value(at, a, &j), i), series_derivative(value(at, a, &i), j));
}

/* ---- index notation ---- */

static series with_bound(naive_point *at, const ufl_node *node, const int *component) {
    int before[UFL_RANK_MAX];
    for (int i = 0; i < node->n_indices; ++i) {
        const int number = UFL_FREE(node->indices[i]);
        at->failed |= number >= INDICES;
        before[i] = at->bound[number % INDICES];
        at->bound[number % INDICES] = component[i];
    }
    const series result = value(at, ufl_operand(node, 0), NULL);
    for (int i = node->n_indices - 1; i >= 0; --i)
        at->bound[UFL_FREE(node->indices[i]) % INDICES] = before[i];
    return result;
}

static series index_sum(naive_point *at, const ufl_node *node) {
    const ufl_node *summand = ufl_operand(node, 0);
    const int number = UFL_FREE(node->indices[0]), before = at->bound[number % INDICES];
    series sum = {{{0}}};
    int size = 0;
    at->failed |= number >= INDICES;
    for (int i = 0; i < summand->n_free; ++i)
        if (summand->free[i].number == number)
            size = summand->free[i].dimension;
    for (int i = 0; i < size; ++i) {
        at->bound[number % INDICES] = i;
        sum = series_add(sum, value(at, summand, NULL));
    }
    at->bound[number % INDICES] = before;
    return sum;
}

/* d f / d e with w + e dw in place of w */
static series in_direction(naive_point *at, const ufl_node *node, const int *component) {
    const int e = at->moved[0] != NULL;
    at->failed |=
        node->n_operands != 3 || at->moved[e] || ufl_operand(node, 1)->type != UFL_COEFFICIENT;
    if (at->failed)
        return series_number(0);
    at->moved[e] = ufl_operand(node, 1);
    at->along[e] = ufl_operand(node, 2);
    const series result = value(at, ufl_operand(node, 0), component);
    at->moved[e] = NULL;
    return series_direction(result, 1 << e);
}

static series value(naive_point *at, const ufl_node *node, const int *component) {
    int indices[UFL_RANK_MAX] = {0};
    const ufl_node *a = node->n_operands > 0 ? ufl_operand(node, 0) : NULL;
    const ufl_node *b = node->n_operands > 1 ? ufl_operand(node, 1) : NULL;
    const int side = at->side;
    series result = {{{0}}};
    switch (node->type) {
    case UFL_ZERO:
        return result;
    case UFL_INT:
    case UFL_FLOAT:
        return series_number(ufl_number(node));
    case UFL_IDENTITY:
        return series_number(component[0] == component[1]);
    case UFL_ARGUMENT:
    case UFL_COEFFICIENT:
        return function_value(at, node, component);
    case UFL_CONSTANT:
        return constant_value(at, node, component);
    case UFL_GEOMETRY:
        return geometry(at, node, component);
    case UFL_INDEXED:
        for (int i = 0; i < node->n_indices; ++i)
            indices[i] = node->indices[i] >= 0 ? node->indices[i]
                                               : at->bound[UFL_FREE(node->indices[i]) % INDICES];
        return value(at, a, indices);
    case UFL_COMPONENT_TENSOR:
        return with_bound(at, node, component);
    case UFL_LIST_TENSOR:
        return value(at, ufl_operand(node, component[0]), component + 1);
    case UFL_INDEX_SUM:
        return index_sum(at, node);
    case UFL_SUM:
        return series_add(value(at, a, component), value(at, b, component));
    case UFL_PRODUCT:
        return series_multiply(value(at, a, NULL), value(at, b, NULL));
    case UFL_DIVISION:
        return series_multiply(value(at, a, NULL), power(value(at, b, NULL), -1));
    case UFL_POWER:
        return ufl_is_number(b) ? power(value(at, a, NULL), ufl_number(b))
                                : exponential(series_multiply(value(at, b, NULL),
                                                              logarithm(value(at, a, NULL))));
    case UFL_ABS:
        result = value(at, a, component);
        return series_scale(result, result.c[0][0] < 0 ? -1 : 1);
    case UFL_MATH:
        return math(at, (ufl_function)node->detail, value(at, a, NULL));
    case UFL_MIN:
    case UFL_MAX: {
        const series x = value(at, a, NULL), y = value(at, b, NULL);
        return (x.c[0][0] > y.c[0][0]) == (node->type == UFL_MAX) ? x : y;
    }
    case UFL_CONDITIONAL:
        return value(at, ufl_operand(node, holds(at, a) ? 1 : 2), component);
    case UFL_VARIABLE:
        return value(at, a, component);
    case UFL_RESTRICTED:
        at->side = node->detail == '-';
        result = value(at, a, component);
        at->side = side;
        return result;
    case UFL_INNER:
        return inner(at, a, b);
    case UFL_DOT:
        return dot(at, a, b, component);
    case UFL_OUTER:
        return series_multiply(value(at, a, component), value(at, b, component + a->rank));
    case UFL_PERP:
        indices[0] = 1 - component[0];
        return series_scale(value(at, a, indices), component[0] ? 1 : -1);
    case UFL_CROSS: {
        const int i = (component[0] + 1) % 3, j = (component[0] + 2) % 3;
        return minus(series_multiply(value(at, a, &i), value(at, b, &j)),
                     series_multiply(value(at, a, &j), value(at, b, &i)));
    }
    case UFL_TRACE:
        return trace(at, a);
    case UFL_DETERMINANT:
        return determinant(at, a, 0, 0);
    case UFL_TRANSPOSED:
    case UFL_SYM:
    case UFL_SKEW:
    case UFL_DEVIATORIC:
    case UFL_INVERSE:
    case UFL_COFACTOR:
        return part_of_matrix(at, node, component[0], component[1]);
    case UFL_GRAD:
    case UFL_DIV:
    case UFL_NABLA_GRAD:
    case UFL_NABLA_DIV:
    case UFL_CURL:
        return spatial(at, node, component);
    case UFL_COEFFICIENT_DERIVATIVE:
        return in_direction(at, node, component);
    default:
        at->failed = true;
        return result;
    }
}

bool naive_tensor(const ufl_form *form, const naive_cell *cell, const naive_data *data, int degree,
                  int rows, int columns, double *tensor, double *scale) {
    naive_point *at = calloc(1, sizeof *at);
    double *sizes = calloc((size_t)(rows * columns), sizeof *sizes);
    double size = 0;
    bool fine = at && sizes;
    if (fine) {
        at->cell = cell;
        at->data = data;
        fine = naive_points_make(at, degree);
    }
    for (int p = 0; fine && p < at->n_points; ++p) {
        double measure = 1;
        at->p = p;
        for (int side = 0; side < cell->n_sides; ++side) {
            measure = fabs(naive_place(at, side));
            if (cell->type != UFL_CELL)
                measure = naive_facet_frame(at, side);
        }
        size += at->weights[at->p] * measure;
        for (int k = 0; k < form->n_integrals && !at->failed; ++k)
            for (int entry = 0; entry < rows * columns && form->integrals[k].type == cell->type;
                 ++entry) {
                at->basis[0] = entry / columns;
                at->basis[1] = entry % columns;
                at->side = 0;
                const double part = at->weights[at->p] * measure *
                                    value(at, form->integrals[k].integrand, NULL).c[0][0];
                tensor[entry] += part;
                sizes[entry] += fabs(part);
            }
        fine = !at->failed;
    }
    *scale = size;
    for (int i = 0; sizes && i < rows * columns; ++i)
        *scale = fmax(*scale, sizes[i]);
    naive_point_free(at);
    free(sizes);
    return fine;
}
