/* Rules of differentiation, by space, by a variable and by coefficients. */
#include "forms/transform/private.h"

static const ufl_node *zero_of(ufl_graph *graph, const ufl_ruleset *rules, const ufl_node *o) {
    return ufl_zero_like(graph, o, rules->shape, rules->rank);
}

/* ---- terminals ---- */

/* dv/dv: 1, the identity, or a product of identities. */
static const ufl_node *unit(ufl_graph *graph, const ufl_ruleset *rules) {
    int indices[UFL_RANK_MAX];
    int n = rules->rank;
    if (n == 0)
        return ufl_float(graph, 1);
    if (n == 1)
        return ufl_identity(graph, rules->shape[0]);
    const ufl_node *product = NULL;
    for (int i = 0; i < n; ++i) {
        const int pair[2] = {UFL_FREE(ufl_new_index(graph)), UFL_FREE(ufl_new_index(graph))};
        const ufl_node *delta = ufl_index(graph, ufl_identity(graph, rules->shape[i]), pair, 2);
        product = product ? ufl_multiply(graph, product, delta) : delta;
        indices[i] = pair[0];
        indices[n + i] = pair[1];
    }
    return ufl_as_tensor(graph, product, indices, 2 * n);
}

static const ufl_node *of_geometry(ufl_graph *graph, const ufl_ruleset *rules, const ufl_node *o) {
    if (rules->kind != UFL_BY_SPACE || o->cell_constant)
        return zero_of(graph, rules, o);
    if (o->detail == UFL_SPATIAL_COORDINATE)
        return ufl_identity(graph, rules->shape[0]);
    if (o->detail == UFL_CELL_COORDINATE)
        return ufl_geometry(graph, UFL_JACOBIAN_INVERSE, o->mesh);
    ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
             "derivatives of %s on cells that are not affine are not supported",
             ufl_quantity_name((ufl_quantity)o->detail));
    return ufl_hint(graph->context, "on simplices of degree 1 they are zero");
}

/* The direction in which a coefficient varies, or NULL. */
static const ufl_node *direction_of(const ufl_ruleset *rules, const ufl_node *coefficient) {
    const ufl_node *derivative = rules->direction;
    int n = derivative->n_operands / 2;
    for (int i = 0; i < n; ++i)
        if (ufl_operand(derivative, 1 + i) == coefficient)
            return ufl_operand(derivative, 1 + n + i);
    return NULL;
}

static const ufl_node *of_function_in_space(ufl_graph *graph, const ufl_ruleset *rules,
                                            const ufl_node *o) {
    const ufl_node *direction = NULL;
    switch (rules->kind) {
    case UFL_BY_SPACE:
        return ufl_spatial(graph, UFL_GRAD, o);
    case UFL_BY_VARIABLE:
        return rules->variable == o ? unit(graph, rules) : zero_of(graph, rules, o);
    default:
        direction = o->type == UFL_COEFFICIENT ? direction_of(rules, o) : NULL;
        return direction ? direction : zero_of(graph, rules, o);
    }
}

/* ---- gradients of terminals ---- */

static const ufl_node *grads(ufl_graph *graph, const ufl_node *node, int n) {
    for (int i = 0; i < n; ++i)
        node = ufl_spatial(graph, UFL_GRAD, node);
    return node;
}

static bool is_function(const ufl_node *node) {
    return node->type == UFL_ARGUMENT || node->type == UFL_COEFFICIENT;
}

/* grad^n of one component of a direction, in its place of the tensor grad^n w. */
static const ufl_node *component_grads(ufl_graph *graph, const ufl_node *part, int n,
                                       const int *place, const ufl_node *w) {
    int indices[2 * UFL_RANK_MAX], result[2 * UFL_RANK_MAX], n_indices = 0, n_result = 0;
    const ufl_node *base = part->type == UFL_INDEXED ? ufl_operand(part, 0) : part;
    bool fixed = is_function(base);
    for (int i = 0; part->type == UFL_INDEXED && i < part->n_indices; ++i) {
        fixed = fixed && part->indices[i] >= 0;
        indices[n_indices++] = part->indices[i];
    }
    if (!fixed) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                 "a form with gradients is differentiated in the direction of an argument, a "
                 "coefficient, or components of one");
        return ufl_hint(
            graph->context,
            "replace the direction afterwards: replace(derivative(F, u, v), {v: expression})");
    }
    const ufl_node *unit_tensor = NULL;
    for (int i = 0; i < w->rank; ++i) {
        int j = UFL_FREE(ufl_new_index(graph));
        const int pair[2] = {place[i], j};
        const ufl_node *delta = ufl_indexed(graph, ufl_identity(graph, w->shape[i]), pair, 2);
        unit_tensor = unit_tensor ? ufl_multiply(graph, unit_tensor, delta) : delta;
        result[n_result++] = j;
    }
    for (int i = 0; i < n; ++i) {
        int k = UFL_FREE(ufl_new_index(graph));
        indices[n_indices++] = k;
        result[n_result++] = k;
    }
    const ufl_node *term = ufl_index(graph, grads(graph, base, n), indices, n_indices);
    if (unit_tensor)
        term = ufl_multiply(graph, unit_tensor, term);
    return ufl_as_tensor(graph, term, result, n_result);
}

/* Sum of component_grads over the components of a list tensor. */
static const ufl_node *list_grads(ufl_graph *graph, const ufl_node *part, int n, int *place,
                                  int depth, const ufl_node *w, const ufl_node *sum) {
    if (ufl_is_zero(part))
        return sum;
    if (part->type != UFL_LIST_TENSOR)
        return ufl_add(graph, sum, component_grads(graph, part, n, place, w));
    for (int i = 0; i < part->n_operands && sum; ++i) {
        place[depth] = i;
        sum = list_grads(graph, ufl_operand(part, i), n, place, depth + 1, w, sum);
    }
    return sum;
}

static const ufl_node *of_grad(ufl_graph *graph, const ufl_ruleset *rules, const ufl_node *o) {
    int n = 0, place[UFL_RANK_MAX] = {0};
    const ufl_node *terminal = o;
    if (rules->kind == UFL_BY_SPACE)
        return ufl_spatial(graph, UFL_GRAD, o);
    if (rules->kind == UFL_BY_VARIABLE)
        return zero_of(graph, rules, o);
    for (; terminal->type == UFL_GRAD; ++n)
        terminal = ufl_operand(terminal, 0);
    const ufl_node *direction =
        terminal->type == UFL_COEFFICIENT ? direction_of(rules, terminal) : NULL;
    if (!direction)
        return zero_of(graph, rules, o);
    if (is_function(direction))
        return grads(graph, direction, n);
    return list_grads(graph, direction, n, place, 0, terminal, zero_of(graph, rules, o));
}

/* ---- index notation ---- */

static const ufl_node *of_indexed(ufl_graph *graph, const ufl_ruleset *rules, const ufl_node *o,
                                  const ufl_node *dp) {
    int indices[2 * UFL_RANK_MAX], n = o->n_indices, r = dp->rank - n;
    if (ufl_is_zero(dp))
        return zero_of(graph, rules, o);
    for (int i = 0; i < n; ++i)
        indices[i] = o->indices[i];
    for (int i = 0; i < r; ++i)
        indices[n + i] = UFL_FREE(ufl_new_index(graph));
    return ufl_as_tensor(graph, ufl_indexed(graph, dp, indices, n + r), indices + n, r);
}

static const ufl_node *of_component_tensor(ufl_graph *graph, const ufl_ruleset *rules,
                                           const ufl_node *o, const ufl_node *dp) {
    int indices[2 * UFL_RANK_MAX], n = o->n_indices;
    if (ufl_is_zero(dp))
        return zero_of(graph, rules, o);
    for (int i = 0; i < n; ++i)
        indices[i] = o->indices[i];
    const ufl_node *scalar = ufl_as_scalar(graph, dp, indices + n);
    return ufl_as_tensor(graph, scalar, indices, n + dp->rank);
}

/* ---- algebra ---- */

/* da*b + a*db of scalars a and b whose derivatives may have axes. */
static const ufl_node *of_product(ufl_graph *graph, const ufl_node *o, const ufl_node *da,
                                  const ufl_node *db) {
    int indices[UFL_RANK_MAX];
    const ufl_node *first = ufl_as_scalar(graph, da, indices);
    const ufl_node *second = ufl_index(graph, db, indices, da->rank);
    const ufl_node *sum = ufl_add(graph, ufl_product(graph, first, ufl_operand(o, 1)),
                                  ufl_product(graph, ufl_operand(o, 0), second));
    return ufl_as_tensor(graph, sum, indices, da->rank);
}

/* (f' - (f/g) g') / g */
static const ufl_node *of_division(ufl_graph *graph, const ufl_node *o, const ufl_node *fp,
                                   const ufl_node *gp) {
    int indices[UFL_RANK_MAX];
    const ufl_node *scalar = ufl_as_scalar(graph, gp, indices);
    const ufl_node *product = ufl_multiply(graph, o, scalar);
    product = ufl_as_tensor(graph, product, indices, gp->rank);
    return ufl_divide(graph, ufl_subtract(graph, fp, product), ufl_operand(o, 1));
}

/* f' g f**(g-1), and where g varies f**(g-1) (g f' + f ln(f) g') */
static const ufl_node *of_power(ufl_graph *graph, const ufl_node *o, const ufl_node *fp,
                                const ufl_node *gp) {
    const ufl_node *f = ufl_operand(o, 0), *g = ufl_operand(o, 1);
    const ufl_node *lower = ufl_power(graph, f, ufl_subtract(graph, g, ufl_int(graph, 1)));
    if (ufl_is_zero(gp))
        return ufl_multiply(graph, ufl_multiply(graph, fp, g), lower);
    const ufl_node *f_ln_f = ufl_multiply(graph, f, ufl_math(graph, UFL_LN, f));
    return ufl_multiply(
        graph, lower, ufl_add(graph, ufl_multiply(graph, g, fp), ufl_multiply(graph, f_ln_f, gp)));
}

/* c f' + (1 - c) g' with c = (f > g) for max, (f < g) for min */
static const ufl_node *of_extremum(ufl_graph *graph, const ufl_node *o, const ufl_node *fp,
                                   const ufl_node *gp) {
    const ufl_node *condition = ufl_compare(graph, o->type == UFL_MAX ? UFL_GT : UFL_LT,
                                            ufl_operand(o, 0), ufl_operand(o, 1));
    const ufl_node *chosen =
        ufl_conditional(graph, condition, ufl_int(graph, 1), ufl_zero_scalar(graph));
    const ufl_node *other = ufl_subtract(graph, ufl_float(graph, 1), chosen);
    return ufl_add(graph, ufl_multiply(graph, chosen, fp), ufl_multiply(graph, other, gp));
}

static const ufl_node *of_operator(ufl_graph *graph, const ufl_ruleset *rules, const ufl_node *o,
                                   const ufl_node *const *d) {
    switch (o->type) {
    case UFL_INDEXED:
        return of_indexed(graph, rules, o, d[0]);
    case UFL_LIST_TENSOR:
        return ufl_list_tensor(graph, d, o->n_operands);
    case UFL_COMPONENT_TENSOR:
        return of_component_tensor(graph, rules, o, d[0]);
    case UFL_INDEX_SUM:
        return ufl_index_sum(graph, d[0], UFL_FREE(o->indices[0]));
    case UFL_SUM:
        return ufl_add(graph, d[0], d[1]);
    case UFL_PRODUCT:
        return of_product(graph, o, d[0], d[1]);
    case UFL_DIVISION:
        return of_division(graph, o, d[0], d[1]);
    case UFL_POWER:
        return of_power(graph, o, d[0], d[1]);
    case UFL_ABS:
        return ufl_multiply(graph, ufl_sign(graph, ufl_operand(o, 0)), d[0]);
    case UFL_MATH:
    case UFL_ATAN2:
    case UFL_BESSEL:
        return ufl_differentiate_function(graph, o, d);
    case UFL_MIN:
    case UFL_MAX:
        return of_extremum(graph, o, d[0], d[1]);
    case UFL_CONDITIONAL:
        return ufl_is_zero(d[1]) && ufl_is_zero(d[2])
                   ? d[1]
                   : ufl_conditional(graph, ufl_operand(o, 0), d[1], d[2]);
    case UFL_VARIABLE:
        return d[0];
    case UFL_RESTRICTED:
        return ufl_restrict(graph, d[0], o->detail);
    case UFL_AVERAGE:
        return rules->kind == UFL_BY_COEFFICIENT ? ufl_average(graph, d[0], o->detail)
                                                 : zero_of(graph, rules, o);
    default:
        return ufl_fail(graph->context, WEFT_ERROR_INTERNAL, "%s has no rule of differentiation",
                        ufl_type_name(o->type));
    }
}

static const ufl_node *of_node(ufl_graph *graph, ufl_ruleset *rules, const ufl_node *o) {
    switch (o->type) {
    case UFL_ARGUMENT:
    case UFL_COEFFICIENT:
        return of_function_in_space(graph, rules, o);
    case UFL_GEOMETRY:
        return of_geometry(graph, rules, o);
    case UFL_GRAD:
        return of_grad(graph, rules, o);
    case UFL_VARIABLE:
        if (rules->kind == UFL_BY_VARIABLE && rules->variable->type == UFL_VARIABLE &&
            rules->variable->detail == o->detail)
            return unit(graph, rules);
        break;
    default:
        if (ufl_is_terminal(o))
            return zero_of(graph, rules, o);
    }
    const ufl_node *few[3], **d = few;
    if (o->n_operands > 3)
        d = ufl_alloc(graph->context, (size_t)o->n_operands, sizeof *d);
    if (!d)
        return NULL;
    for (int i = 0; i < o->n_operands; ++i) {
        d[i] = i == 0 && o->type == UFL_CONDITIONAL
                   ? ufl_operand(o, 0)
                   : ufl_differentiate(graph, rules, ufl_operand(o, i));
        if (!d[i])
            return NULL;
    }
    graph->context->place = o->place;
    return of_operator(graph, rules, o, d);
}

const ufl_node *ufl_differentiate(ufl_graph *graph, ufl_ruleset *rules, const ufl_node *node) {
    if (!node)
        return NULL;
    const ufl_node *result = ufl_map_find(&rules->map, node);
    return result ? result : ufl_map_put(graph, &rules->map, node, of_node(graph, rules, node));
}
