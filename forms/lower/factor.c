/* Factors an integrand by its arguments: a sum of terms, each a scalar times one function of each
 * argument (Kirby and Logg 2006; Homolya et al. 2018, argument factorisation). */
#include "core/base/fault.h"
#include "forms/lower/private.h"

#include <stdlib.h>
#include <string.h>

/* What was factored already: a node with the components asked for and the values of its free
 * indices. */
enum { KEY_MAX = 2 * UFL_RANK_MAX };
typedef struct memo_entry {
    const ufl_node *node;
    int n, key[KEY_MAX];
    const ufl_terms *terms;
} memo_entry;
typedef struct ufl_memo {
    memo_entry **slots;
    size_t n;
    int bits;
} ufl_memo;

static size_t memo_slot(const ufl_memo *memo, const ufl_node *node, const int *key, int n) {
    uint64_t hash = node->id * 0x9E3779B97F4A7C15u;
    const size_t mask = ((size_t)1 << memo->bits) - 1;
    for (int i = 0; i < n; ++i)
        hash = (hash ^ (uint64_t)(unsigned)key[i]) * 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 20) & mask;
    for (;; slot = (slot + 1) & mask) {
        const memo_entry *entry = memo->slots[slot];
        if (!entry || (entry->node == node && entry->n == n &&
                       memcmp(entry->key, key, (size_t)n * sizeof *key) == 0))
            return slot;
    }
}

static bool memo_grow(ufl_lowering *l) {
    ufl_memo *memo = l->memo, old = *memo;
    memo->bits = old.bits ? old.bits + 1 : 8;
    memo->slots = ufl_alloc(l->context, (size_t)1 << memo->bits, sizeof *memo->slots);
    if (!memo->slots)
        return false;
    for (size_t i = 0; old.bits && i < (size_t)1 << old.bits; ++i)
        if (old.slots[i])
            memo->slots[memo_slot(memo, old.slots[i]->node, old.slots[i]->key, old.slots[i]->n)] =
                old.slots[i];
    return true;
}

/* ---- terminals ---- */

static int number_of(ufl_lowering *l, const ufl_node ***list, int *n, const ufl_node *node) {
    for (int i = 0; i < *n; ++i)
        if ((*list)[i] == node)
            return i;
    const ufl_node **grown = ufl_grow(l->context, *list, (size_t)*n, sizeof *grown);
    if (!grown)
        return -1;
    *list = grown;
    grown[*n] = node;
    return (*n)++;
}

static int basis_of(ufl_lowering *l, const ufl_basis *basis) {
    for (int i = 0; i < l->n_bases; ++i)
        if (memcmp(&l->bases[i], basis, sizeof *basis) == 0)
            return i;
    ufl_basis *grown = ufl_grow(l->context, l->bases, (size_t)l->n_bases, sizeof *grown);
    if (!grown)
        return -1;
    l->bases = grown;
    grown[l->n_bases] = *basis;
    return l->n_bases++;
}

/* Component `flat` of an argument or coefficient on the reference cell, differentiated by its coordinates. */
static const ufl_terms *reference_terms(ufl_lowering *l, const ufl_node *function, int flat,
                                        const int *powers, int order) {
    const int d = l->mesh->tdim, derivative = weft_derivative_index(d, powers);
    ufl_part parts[UFL_PARTS_MAX];
    const int n = ufl_component_parts(l->context, function->space->element, flat, parts);
    if (n < 0)
        return NULL;
    if (order > l->order)
        l->order = order;
    for (int i = 0; i < n && order > 0; ++i)
        if (ufl_element_about(parts[i].scalar)->at_points) {
            l->context->place = function->place;
            return ufl_fail(
                l->context, WEFT_ERROR_TYPE,
                "the derivative of a function on a quadrature element, which has values at "
                "points alone");
        }
    if (function->type == UFL_COEFFICIENT || (l->acts && function->detail == 1)) {
        const int number = number_of(l, &l->coefficients, &l->n_coefficients, function);
        bool constant = true;
        for (int i = 0; i < n; ++i)
            constant = constant && parts[i].scalar->n_dofs == 1;
        return ufl_terms_scalar(l, constant && order > 0
                                       ? ufl_scalar_number(&l->scalars, 0)
                                       : ufl_scalar_leaf(&l->scalars, SCALAR_COEFFICIENT,
                                                         number < 0 ? -1 : 2 * number + l->side,
                                                         flat, derivative, constant));
    }
    const ufl_terms *sum = ufl_terms_make(l, NULL, 0);
    for (int i = 0; sum && i < n; ++i) {
        ufl_basis basis;
        memset(&basis, 0, sizeof basis);
        const int position = function->detail == l->numbers[0] ? 0 : 1;
        basis.argument = position;
        basis.part.scalar = parts[i].scalar;
        basis.part.first = parts[i].first + l->side * function->space->element->n_dofs;
        basis.side = l->side;
        basis.part.stride = parts[i].stride;
        basis.derivative = derivative;
        ufl_term term = {{-1, -1}, ufl_scalar_number(&l->scalars, 1)};
        const int number = basis_of(l, &basis);
        if (number < 0)
            return NULL;
        term.basis[position] = number;
        sum = ufl_terms_add(l, sum, ufl_terms_make(l, &term, 1));
    }
    return sum;
}

/* The factor of component k on the reference cell in component i of a function: J^-T, or J / det J. */
static int map_factor(ufl_lowering *l, weft_map map, int i, int k) {
    if (map == WEFT_MAP_COVARIANT)
        return ufl_jacobian_inverse(l, k, i);
    return weft_fault("piola_without_determinant")
               ? ufl_jacobian(l, i, k)
               : ufl_scalar_multiply(&l->scalars, ufl_jacobian_reciprocal(l),
                                     ufl_jacobian(l, i, k));
}

/* Component `flat` of an argument or coefficient, differentiated by reference coordinates. */
static const ufl_terms *function_terms(ufl_lowering *l, const ufl_node *function, int flat,
                                       const int *powers, int order) {
    int component = 0;
    const ufl_element *vector = ufl_element_vector(function->space->element, flat, &component);
    if (!vector)
        return reference_terms(l, function, flat, powers, order);
    if (order > 0 && !l->mesh->affine) {
        l->context->place = function->place;
        return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                        "derivatives of %s on cells that are not affine", vector->name);
    }
    const ufl_terms *sum = ufl_terms_make(l, NULL, 0);
    for (int k = 0; sum && k < vector->value_size; ++k) {
        const ufl_terms *factor =
            ufl_terms_scalar(l, map_factor(l, ufl_element_about(vector)->map, component, k));
        const ufl_terms *one = reference_terms(l, function, flat - component + k, powers, order);
        sum = factor && one ? ufl_terms_add(l, sum, ufl_terms_multiply(l, function, factor, one))
                            : NULL;
    }
    return sum;
}

/* The derivative by physical coordinates `directions` of a function on cells with constant Jacobian, or
 * the first derivative on any: d/dx_m = sum_r K_rm d/dX_r. */
static const ufl_terms *physical_terms(ufl_lowering *l, const ufl_node *function, int flat,
                                       const int *directions, int order, int at, int *powers) {
    if (at == order)
        return function_terms(l, function, flat, powers, order);
    if (l->keeps_gradients && order == 1 && function->type == UFL_ARGUMENT) {
        ++powers[directions[0]];
        const ufl_terms *one = function_terms(l, function, flat, powers, 1);
        --powers[directions[0]];
        const ufl_terms *scale = ufl_terms_scalar(l, ufl_jacobian_reciprocal(l));
        return one && scale ? ufl_terms_multiply(l, function, scale, one) : NULL;
    }
    const ufl_terms *sum = ufl_terms_make(l, NULL, 0);
    for (int r = 0; sum && r < l->mesh->tdim; ++r) {
        ++powers[r];
        const ufl_terms *inner =
            physical_terms(l, function, flat, directions, order, at + 1, powers);
        --powers[r];
        const ufl_terms *factor = ufl_terms_scalar(l, ufl_jacobian_inverse(l, r, directions[at]));
        sum = ufl_terms_add(l, sum, inner ? ufl_terms_multiply(l, function, factor, inner) : NULL);
    }
    return sum;
}

/* The second derivative on cells whose Jacobian is not constant: d/dx_m (K_rn f_r)
 *     = K_sm (K_rn f_rs - K_ra (dJ_ab/dX_s) K_bn f_r),  f_r = df/dX_r */
static const ufl_terms *second_terms(ufl_lowering *l, const ufl_node *function, int flat,
                                     const int *directions) {
    ufl_scalars *scalars = &l->scalars;
    const int d = l->mesh->tdim, n = directions[0], m = directions[1];
    int powers[3] = {0};
    const ufl_terms *sum = physical_terms(l, function, flat, directions, 2, 0, powers);
    for (int r = 0; sum && r < d; ++r) {
        int factor = ufl_scalar_number(scalars, 0);
        for (int k = 0; k < d * d * d; ++k) {
            const int s = k / (d * d), a = k / d % d, b = k % d;
            const int left = ufl_scalar_multiply(scalars, ufl_jacobian_inverse(l, s, m),
                                                 ufl_jacobian_inverse(l, r, a));
            const int right = ufl_scalar_multiply(scalars, ufl_jacobian_gradient(l, a, b, s),
                                                  ufl_jacobian_inverse(l, b, n));
            factor =
                ufl_scalar_subtract(scalars, factor, ufl_scalar_multiply(scalars, left, right));
        }
        ++powers[r];
        const ufl_terms *first = function_terms(l, function, flat, powers, 1);
        --powers[r];
        const ufl_terms *scale = ufl_terms_scalar(l, factor);
        sum = ufl_terms_add(l, sum,
                            first && scale ? ufl_terms_multiply(l, function, scale, first) : NULL);
    }
    return sum;
}

static int flatten(const ufl_node *node, const int *component) {
    int flat = 0;
    for (int i = 0; i < node->rank; ++i)
        flat = flat * node->shape[i] + component[i];
    return flat;
}

static const ufl_terms *terminal_terms(ufl_lowering *l, const ufl_node *node, const int *component,
                                       int order) {
    int powers[3] = {0};
    if (node->type == UFL_ARGUMENT || node->type == UFL_COEFFICIENT) {
        if (order > 1 && !l->mesh->affine && (order > 2 || l->mesh->gdim != l->mesh->tdim)) {
            l->context->place = node->place;
            return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED, "%s derivatives on %s",
                            order > 2 ? "third" : "second",
                            order > 2 ? "cells that are not affine" : "curved cells in space");
        }
        if (node->space->mesh != l->mesh) {
            l->context->place = node->place;
            return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                            "a function on another mesh than that of the integral");
        }
        const int *directions = order > 0 ? component + node->rank : NULL;
        if (order == 2 && !l->mesh->affine)
            return second_terms(l, node, flatten(node, component), directions);
        return physical_terms(l, node, flatten(node, component), directions, order, 0, powers);
    }
    if (order > 0) {
        l->context->place = node->place;
        return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED, "the gradient of %s",
                        node->type == UFL_GEOMETRY ? ufl_quantity_name((ufl_quantity)node->detail)
                                                   : ufl_type_name(node->type));
    }
    if (node->type == UFL_CONSTANT)
        return ufl_terms_scalar(l,
                                ufl_scalar_leaf(&l->scalars, SCALAR_CONSTANT,
                                                number_of(l, &l->constants, &l->n_constants, node),
                                                flatten(node, component), -1, true));
    l->context->place = node->place;
    return ufl_terms_scalar(l, ufl_quantity_scalar(l, node, component));
}

/* ---- operators ---- */

static const ufl_terms *evaluate(ufl_lowering *l, const ufl_node *node, const int *component);

static int scalar_of(ufl_lowering *l, const ufl_node *node) {
    return ufl_terms_factor(l, node, evaluate(l, node, NULL));
}

static const char *const functions[UFL_N_FUNCTIONS] = {
    [UFL_SQRT] = "sqrt", [UFL_EXP] = "exp",   [UFL_LN] = "log",    [UFL_COS] = "cos",
    [UFL_SIN] = "sin",   [UFL_TAN] = "tan",   [UFL_COSH] = "cosh", [UFL_SINH] = "sinh",
    [UFL_TANH] = "tanh", [UFL_ACOS] = "acos", [UFL_ASIN] = "asin", [UFL_ATAN] = "atan",
    [UFL_ERF] = "erf"};

static int select_scalar(ufl_lowering *l, const ufl_node *condition, int yes, int no) {
    ufl_scalars *s = &l->scalars;
    switch (condition->type) {
    case UFL_AND:
        return select_scalar(l, ufl_operand(condition, 0),
                             select_scalar(l, ufl_operand(condition, 1), yes, no), no);
    case UFL_OR:
        return select_scalar(l, ufl_operand(condition, 0), yes,
                             select_scalar(l, ufl_operand(condition, 1), yes, no));
    case UFL_NOT:
        return select_scalar(l, ufl_operand(condition, 0), no, yes);
    default:
        break;
    }
    const int a = scalar_of(l, ufl_operand(condition, 0)),
              b = scalar_of(l, ufl_operand(condition, 1));
    if (a < 0 || b < 0 || yes < 0 || no < 0)
        return -1;
    switch ((ufl_comparison)condition->detail) {
    case UFL_EQ:
        return ufl_scalar_select(s, "<=", a, b, ufl_scalar_select(s, ">=", a, b, yes, no), no);
    case UFL_NE:
        return ufl_scalar_select(s, "<=", a, b, ufl_scalar_select(s, ">=", a, b, no, yes), yes);
    case UFL_LE:
        return ufl_scalar_select(s, "<=", a, b, yes, no);
    case UFL_GE:
        return ufl_scalar_select(s, ">=", a, b, yes, no);
    case UFL_LT:
        return ufl_scalar_select(s, "<", a, b, yes, no);
    case UFL_GT:
        return ufl_scalar_select(s, ">", a, b, yes, no);
    }
    return -1;
}

/* Where arguments are in the branches, each term is selected for itself: the other branch is 0. */
static const ufl_terms *conditional_terms(ufl_lowering *l, const ufl_node *node,
                                          const int *component) {
    const ufl_terms *sum = ufl_terms_make(l, NULL, 0);
    const ufl_terms *branches[2] = {evaluate(l, ufl_operand(node, 1), component),
                                    evaluate(l, ufl_operand(node, 2), component)};
    if (!branches[0] || !branches[1])
        return NULL;
    for (int i = 0, j = 0; sum && (i < branches[0]->n || j < branches[1]->n);) {
        const ufl_term *a = i < branches[0]->n ? &branches[0]->list[i] : NULL;
        const ufl_term *b = j < branches[1]->n ? &branches[1]->list[j] : NULL;
        const int order = !a ? 1 : !b ? -1 : ufl_terms_compare(a, b);
        const int zero = ufl_scalar_number(&l->scalars, 0);
        ufl_term term = order <= 0 ? *a : *b;
        term.factor = select_scalar(l, ufl_operand(node, 0), order <= 0 ? a->factor : zero,
                                    order >= 0 ? b->factor : zero);
        i += order <= 0;
        j += order >= 0;
        if (term.factor < 0)
            return NULL;
        if (!ufl_scalar_is(&l->scalars, term.factor, 0))
            sum = ufl_terms_add(l, sum, ufl_terms_make(l, &term, 1));
    }
    return sum;
}

static int power_scalar(ufl_lowering *l, const ufl_node *node) {
    ufl_scalars *s = &l->scalars;
    const ufl_node *exponent = ufl_operand(node, 1);
    const int base = scalar_of(l, ufl_operand(node, 0));
    if (base < 0)
        return -1;
    if (ufl_is_number(exponent) || ufl_is_zero(exponent)) {
        const double e = ufl_number(exponent);
        const int whole = e >= -64 && e <= 64 ? (int)e : 0;
        if ((double)whole == e) {
            const int power = ufl_scalar_power(s, base, whole < 0 ? -whole : whole);
            return whole < 0 ? ufl_scalar_divide(s, ufl_scalar_number(s, 1), power) : power;
        }
        if (e == 0.5)
            return ufl_scalar_function(s, "sqrt", base);
    }
    const int power = scalar_of(l, exponent);
    return power < 0 ? -1 : ufl_scalar_function2(s, "pow", base, power);
}

/* J and Y of integer order, as FFCx has them. */
static int bessel_scalar(ufl_lowering *l, const ufl_node *node) {
    const ufl_node *order = ufl_operand(node, 0);
    const int a = scalar_of(l, ufl_operand(node, 1));
    const bool whole = ufl_is_zero(order) || order->type == UFL_INT;
    if ((node->detail == 'J' || node->detail == 'Y') && whole)
        return ufl_scalar_function2(&l->scalars, node->detail == 'J' ? "bessel_j" : "bessel_y",
                                    ufl_scalar_number(&l->scalars, ufl_number(order)), a);
    l->context->place = node->place;
    ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
             whole ? "the Bessel function %c"
                   : "the Bessel function %c of an order that is not a whole number",
             node->detail);
    return -1;
}

static const ufl_terms *divide_terms(ufl_lowering *l, const ufl_node *node) {
    const ufl_terms *above = evaluate(l, ufl_operand(node, 0), NULL);
    const int below = scalar_of(l, ufl_operand(node, 1));
    if (!above || below < 0)
        return NULL;
    const ufl_terms *quotient = ufl_terms_make(l, above->list, above->n);
    for (int i = 0; quotient && i < quotient->n; ++i) {
        quotient->list[i].factor = ufl_scalar_divide(&l->scalars, quotient->list[i].factor, below);
        if (quotient->list[i].factor < 0)
            return NULL;
    }
    return quotient;
}

static int function_scalar(ufl_lowering *l, const ufl_node *node) {
    ufl_scalars *s = &l->scalars;
    const int a = scalar_of(l, ufl_operand(node, 0));
    if (a < 0)
        return -1;
    if (node->type == UFL_ABS)
        return ufl_scalar_function(s, "abs", a);
    if (node->type == UFL_MATH)
        return ufl_scalar_function(s, functions[node->detail], a);
    const int b = scalar_of(l, ufl_operand(node, 1));
    if (b < 0)
        return -1;
    return ufl_scalar_function2(s,
                                node->type == UFL_ATAN2 ? "atan2"
                                : node->type == UFL_MIN ? "min"
                                                        : "max",
                                a, b);
}

static int resolve(const ufl_lowering *l, int index) {
    return index >= 0 ? index : l->bound[UFL_FREE(index)];
}

static int permutation_sign(const int *component, int n) {
    int sign = 1;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            sign *= component[i] == component[j] ? 0 : component[j] > component[i] ? -1 : 1;
    return sign;
}

static const ufl_terms *sum_over_index(ufl_lowering *l, const ufl_node *node) {
    const ufl_node *inner = ufl_operand(node, 0);
    const int number = UFL_FREE(node->indices[0]), before = l->bound[number];
    int dimension = 0;
    for (int i = 0; i < inner->n_free; ++i)
        if (inner->free[i].number == number)
            dimension = inner->free[i].dimension;
    const ufl_terms *sum = ufl_terms_make(l, NULL, 0);
    for (int k = 0; sum && k < dimension; ++k) {
        l->bound[number] = k;
        sum = ufl_terms_add(l, sum, evaluate(l, inner, NULL));
    }
    l->bound[number] = before;
    return sum;
}

static const ufl_terms *grad_terms(ufl_lowering *l, const ufl_node *node, const int *component) {
    int order = 0;
    const ufl_node *inner = node;
    for (; inner->type == UFL_GRAD; inner = ufl_operand(inner, 0))
        ++order;
    if (!ufl_is_terminal(inner))
        return ufl_fail(l->context, WEFT_ERROR_INTERNAL, "grad of an expression was left");
    return terminal_terms(l, inner, component, order);
}

static const ufl_terms *compute(ufl_lowering *l, const ufl_node *node, const int *component) {
    int indices[UFL_RANK_MAX];
    switch (node->type) {
    case UFL_ZERO:
        return ufl_terms_make(l, NULL, 0);
    case UFL_INT:
    case UFL_FLOAT:
        return ufl_terms_scalar(l, ufl_scalar_number(&l->scalars, ufl_number(node)));
    case UFL_IDENTITY:
        return ufl_terms_scalar(l, ufl_scalar_number(&l->scalars, component[0] == component[1]));
    case UFL_PERMUTATION:
        return ufl_terms_scalar(
            l, ufl_scalar_number(&l->scalars, permutation_sign(component, node->rank)));
    case UFL_ARGUMENT:
    case UFL_COEFFICIENT:
    case UFL_CONSTANT:
    case UFL_GEOMETRY:
        return terminal_terms(l, node, component, 0);
    case UFL_GRAD:
        return grad_terms(l, node, component);
    case UFL_INDEXED:
        for (int i = 0; i < node->n_indices; ++i)
            indices[i] = resolve(l, node->indices[i]);
        return evaluate(l, ufl_operand(node, 0), indices);
    case UFL_COMPONENT_TENSOR: {
        const ufl_terms *result = NULL;
        for (int i = 0; i < node->n_indices; ++i) {
            indices[i] = l->bound[UFL_FREE(node->indices[i])];
            l->bound[UFL_FREE(node->indices[i])] = component[i];
        }
        result = evaluate(l, ufl_operand(node, 0), NULL);
        for (int i = 0; i < node->n_indices; ++i)
            l->bound[UFL_FREE(node->indices[i])] = indices[i];
        return result;
    }
    case UFL_LIST_TENSOR:
        return evaluate(l, ufl_operand(node, component[0]), component + 1);
    case UFL_INDEX_SUM:
        return sum_over_index(l, node);
    case UFL_SUM:
        return ufl_terms_add(l, evaluate(l, ufl_operand(node, 0), component),
                             evaluate(l, ufl_operand(node, 1), component));
    case UFL_PRODUCT:
        return ufl_terms_multiply(l, node, evaluate(l, ufl_operand(node, 0), NULL),
                                  evaluate(l, ufl_operand(node, 1), NULL));
    case UFL_DIVISION:
        return divide_terms(l, node);
    case UFL_POWER:
        return ufl_terms_scalar(l, power_scalar(l, node));
    case UFL_ABS:
    case UFL_MATH:
    case UFL_ATAN2:
    case UFL_MIN:
    case UFL_MAX:
        return ufl_terms_scalar(l, function_scalar(l, node));
    case UFL_BESSEL:
        return ufl_terms_scalar(l, bessel_scalar(l, node));
    case UFL_CONDITIONAL:
        return conditional_terms(l, node, component);
    case UFL_VARIABLE:
        return evaluate(l, ufl_operand(node, 0), component);
    case UFL_RESTRICTED: {
        const int before = l->side;
        l->side = node->detail == '-' && l->n_sides == 2;
        const ufl_terms *result = evaluate(l, ufl_operand(node, 0), component);
        l->side = before;
        return result;
    }
    default:
        break;
    }
    l->context->place = node->place;
    return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED, "%s is not supported in kernels",
                    ufl_type_name(node->type));
}

static const ufl_terms *evaluate(ufl_lowering *l, const ufl_node *node, const int *component) {
    int key[KEY_MAX], n = 0;
    if (l->context->status != WEFT_OK)
        return NULL;
    if (node->rank + node->n_free + 1 > KEY_MAX)
        return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                        "an expression with more than %d indices", KEY_MAX);
    for (int i = 0; i < node->rank; ++i)
        key[n++] = component[i];
    for (int i = 0; i < node->n_free; ++i)
        key[n++] = l->bound[node->free[i].number];
    key[n++] = l->side;
    if ((l->memo->bits == 0 || 2 * (l->memo->n + 1) > (size_t)1 << l->memo->bits) && !memo_grow(l))
        return NULL;
    size_t slot = memo_slot(l->memo, node, key, n);
    if (l->memo->slots[slot])
        return l->memo->slots[slot]->terms;
    const ufl_terms *terms = compute(l, node, component);
    memo_entry *entry = ufl_alloc(l->context, 1, sizeof *entry);
    if (!terms || !entry)
        return NULL;
    *entry = (memo_entry){.node = node, .n = n, .terms = terms};
    memcpy(entry->key, key, (size_t)n * sizeof *key);
    if (2 * (l->memo->n + 1) > (size_t)1 << l->memo->bits && !memo_grow(l))
        return NULL;
    slot = memo_slot(l->memo, node, key, n); /* others were added meanwhile */
    l->memo->slots[slot] = entry;
    ++l->memo->n;
    return terms;
}

ufl_lowering ufl_lowering_of(ufl_graph *graph, const ufl_integral *integral, const int *facets) {
    const bool interior = integral->type == UFL_INTERIOR_FACET;
    ufl_lowering l = {.graph = graph,
                      .context = graph->context,
                      .mesh = integral->mesh,
                      .facets = {facets ? facets[0] : -1, facets && interior ? facets[1] : -1},
                      .n_sides = interior ? 2 : 1,
                      .numbers = {0, 1},
                      .scalars = {.context = graph->context},
                      .determinant = {-1, -1},
                      .scale = -1};
    memset(l.jacobian, -1, sizeof l.jacobian);
    memset(l.inverse, -1, sizeof l.inverse);
    return l;
}

const ufl_terms *ufl_factor(ufl_lowering *l, const ufl_node *node) {
    l->memo = ufl_alloc(l->context, 1, sizeof *l->memo);
    l->bound = ufl_alloc(l->context, (size_t)l->graph->n_indices + 1, sizeof *l->bound);
    return l->memo && l->bound ? evaluate(l, node, NULL) : NULL;
}
