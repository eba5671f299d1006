/* Evaluates integrals point by point. */
#include "naive.h"

#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDICES = 4096, TABLES = 16 };

/* Functions of a scalar element at all points of a side. */
typedef struct naive_table {
    const ufl_element *scalar;
    int side, n;
    double *values; /* [derivative][point][function], up to order 2 */
} naive_table;

typedef struct naive_point {
    const naive_cell *cell;
    const naive_data *data;
    naive_table tables[TABLES];
    int n_tables, n_points, p;
    double *points[2], *weights;
    double J[2][3][3], inverse[2][3][3], bend[2][3][3][3], x[3], normal[2][3], measure;
    int side, basis[2]; /* basis: function of each argument */
    int bound[INDICES];
    const ufl_node *moved[2], *along[2]; /* by e1 and e2 */
    bool failed;
} naive_point;

static series value(naive_point *at, const ufl_node *node, const int *component);

/* ---- functions ---- */

static const naive_table *table_of(naive_point *at, const ufl_element *scalar, int side) {
    for (int i = 0; i < at->n_tables; ++i)
        if (at->tables[i].scalar == scalar && at->tables[i].side == side)
            return &at->tables[i];
    weft_element *element = NULL;
    const int d = at->cell->mesh->tdim;
    if (at->n_tables == TABLES ||
        weft_element_make(ufl_weft_family(scalar), ufl_weft_cell(scalar->cell), scalar->degree,
                          &element, NULL) != WEFT_OK)
        return NULL;
    naive_table *table = &at->tables[at->n_tables++];
    *table = (naive_table){.scalar = scalar, .side = side, .n = element->n_nodes};
    table->values = calloc((size_t)(weft_derivative_count(d, 2) * at->n_points * table->n),
                           sizeof *table->values);
    if (!table->values || weft_element_tabulate(element, 2, at->n_points, at->points[side],
                                                table->values, NULL) != WEFT_OK)
        at->failed = true;
    weft_element_free(&element);
    return table;
}

/* The function of a scalar element that dof `dof` has in component `flat`; -1: none. */
static int function_of(const ufl_element *element, int dof, int flat, const ufl_element **scalar) {
    if (element->family == UFL_BLOCKED) {
        int block = flat;
        if (element->symmetric) { /* 0; 1 2; 3 4 5 */
            const int i = flat / element->shape[0], j = flat % element->shape[0];
            block = i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
        }
        return dof % element->block_size == block
                   ? function_of(element->sub[0], dof / element->block_size, 0, scalar)
                   : -1;
    }
    for (int k = 0; element->family == UFL_MIXED && k < element->n_sub; ++k) {
        const ufl_element *sub = element->sub[k];
        if (dof < sub->n_dofs)
            return flat >= 0 && flat < sub->value_size ? function_of(sub, dof, flat, scalar) : -1;
        dof -= sub->n_dofs;
        flat -= sub->value_size;
    }
    *scalar = element;
    return element->family == UFL_MIXED ? -1 : dof;
}

/* A function of a scalar element in physical coordinates: H = K^T (H_X - sum_a g_a d^2 x_a/dX^2) K. */
static series basis_series(naive_point *at, const ufl_element *scalar, int function, int side) {
    const naive_table *table = table_of(at, scalar, side);
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

/* ---- geometry ---- */

static double dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Gauss-Jordan elimination; returns the determinant. */
static double invert(int n, double J[3][3], double out[3][3]) {
    double work[3][6] = {{0}}, det = 1;
    for (int i = 0; i < n; ++i) {
        memcpy(work[i], J[i], sizeof J[i]);
        work[i][3 + i] = 1;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k; i < n; ++i)
            pivot = fabs(work[i][k]) > fabs(work[pivot][k]) ? i : pivot;
        det *= pivot == k ? work[pivot][k] : -work[pivot][k];
        for (int j = 0; j < 6; ++j) {
            const double swapped = work[k][j];
            work[k][j] = work[pivot][j];
            work[pivot][j] = swapped;
        }
        for (int j = 5; j >= 0; --j)
            work[k][j] /= work[k][k];
        for (int i = 0; i < n; ++i)
            for (int j = 5; i != k && j >= 0; --j)
                work[i][j] -= work[i][k] * work[k][j];
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            out[i][j] = work[i][3 + j];
    return det;
}

/* Jacobian, its derivatives and the point, of a side at point p. */
static double place(naive_point *at, int side) {
    const int d = at->cell->mesh->tdim;
    const naive_table *table = table_of(at, at->cell->mesh->coordinates->sub[0], side);
    double x[3] = {0};
    memset(at->J[side], 0, sizeof at->J[side]);
    memset(at->bend[side], 0, sizeof at->bend[side]);
    for (int v = 0; table && v < table->n; ++v)
        for (int a = 0; a < d; ++a) {
            const double from = at->cell->x[side][v][a];
            int powers[3] = {0};
            x[a] += from * table->values[at->p * table->n + v];
            for (int i = 0; i < d; ++i) {
                ++powers[i];
                at->J[side][a][i] +=
                    from * table->values[(weft_derivative_index(d, powers) * at->n_points + at->p) *
                                             table->n +
                                         v];
                for (int j = 0; j < d; ++j) {
                    ++powers[j];
                    at->bend[side][a][i][j] +=
                        from *
                        table->values[(weft_derivative_index(d, powers) * at->n_points + at->p) *
                                          table->n +
                                      v];
                    --powers[j];
                }
                --powers[i];
            }
        }
    if (side == 0)
        memcpy(at->x, x, sizeof x);
    return invert(d, at->J[side], at->inverse[side]);
}

/* Tangents of a facet span it; the normal is orthogonal to them and points away from the cell's other vertices. */
static double facet_frame(naive_point *at, int side) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(at->cell->mesh->cell));
    const int d = cell->dimension;
    double tangents[2][3] = {{0}}, *n = at->normal[side], outward = 0;
    int v[8];
    const int count = weft_cell_entity(cell, d - 1, at->cell->facets[side], v);
    for (int k = 0; k < d - 1; ++k)
        for (int a = 0; a < d; ++a)
            for (int i = 0; i < d; ++i)
                tangents[k][a] +=
                    at->J[side][a][i] * (cell->vertices[v[k + 1]][i] - cell->vertices[v[0]][i]);
    for (int a = 0; a < 3; ++a)
        n[a] = d == 1   ? a == 0
               : d == 2 ? (a == 0   ? tangents[0][1]
                           : a == 1 ? -tangents[0][0]
                                    : 0)
                        : tangents[0][(a + 1) % 3] * tangents[1][(a + 2) % 3] -
                              tangents[0][(a + 2) % 3] * tangents[1][(a + 1) % 3];
    const double length = sqrt(dot3(n, n));
    for (int a = 0; a < d; ++a)
        for (int i = 0; i < cell->n_entities[0]; ++i) {
            bool on = false;
            for (int k = 0; k < count; ++k)
                on = on || v[k] == i;
            outward += on ? 0 : n[a] * (at->cell->x[side][v[0]][a] - at->cell->x[side][i][a]);
        }
    for (int a = 0; a < 3; ++a)
        n[a] /= outward < 0 ? -length : length;
    return length;
}

static bool make_points(naive_point *at, int degree) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(at->cell->mesh->cell));
    const int d = cell->dimension;
    weft_quadrature rule = {0};
    if (ufl_rule_make(at->cell->type, at->cell->mesh, UFL_RULE_DEFAULT, degree, &rule, NULL) !=
        WEFT_OK)
        return false;
    at->n_points = rule.n;
    at->weights = rule.weights;
    rule.weights = NULL;
    for (int side = 0; side < at->cell->n_sides; ++side) {
        int v[8];
        at->points[side] = calloc((size_t)(rule.n * d), sizeof(double));
        if (at->cell->type != UFL_CELL)
            weft_cell_entity(cell, d - 1, at->cell->facets[side], v);
        for (int p = 0; at->points[side] && p < rule.n; ++p)
            for (int i = 0; i < d; ++i) {
                double *X = &at->points[side][p * d + i];
                *X = at->cell->type == UFL_CELL ? rule.points[p * d + i] : cell->vertices[v[0]][i];
                for (int k = 0; at->cell->type != UFL_CELL && k < d - 1; ++k)
                    *X += rule.points[p * (d - 1) + k] *
                          (cell->vertices[v[k + 1]][i] - cell->vertices[v[0]][i]);
            }
    }
    weft_quadrature_free(&rule);
    return true;
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
        fine = make_points(at, degree);
    }
    for (int p = 0; fine && p < at->n_points; ++p) {
        double measure = 1;
        at->p = p;
        for (int side = 0; side < cell->n_sides; ++side) {
            measure = fabs(place(at, side));
            if (cell->type != UFL_CELL)
                measure = facet_frame(at, side);
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
    for (int i = 0; at && i < at->n_tables; ++i)
        free(at->tables[i].values);
    for (int side = 0; at && side < 2; ++side)
        free(at->points[side]);
    if (at)
        free(at->weights);
    free(at);
    free(sizes);
    return fine;
}
