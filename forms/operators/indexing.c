/* Index notation: components, tensors from components, sums over indices. */
#include "forms/operators/private.h"

#include <string.h>

/* The free indices of a and those of the indices, in order and each once. -1 and an error where one
   number has two dimensions. */
static int indexed_free(ufl_graph *graph, const ufl_node *a, const int *indices, int n,
                        ufl_free_index *out) {
    int count = 0;
    if (a->n_free + n > UFL_FREE_MAX) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                 "an expression has more than %d free indices", UFL_FREE_MAX);
        return -1;
    }
    for (int i = 0; i < a->n_free; ++i)
        out[count++] = a->free[i];
    for (int i = 0; i < n; ++i) {
        if (indices[i] >= 0)
            continue;
        const ufl_free_index added = {UFL_FREE(indices[i]), a->shape[i]};
        int at = 0;
        while (at < count && out[at].number < added.number)
            ++at;
        if (at < count && out[at].number == added.number) {
            if (out[at].dimension != added.dimension) {
                ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                         "one index runs over an axis of %d components and over one of %d",
                         out[at].dimension, added.dimension);
                return -1;
            }
            continue;
        }
        memmove(out + at + 1, out + at, (size_t)(count - at) * sizeof *out);
        out[at] = added;
        ++count;
    }
    return count;
}

/* as_tensor(C[kk], jj)[indices] -> C[kk with jj replaced], where that is possible. */
static const ufl_node *untangle(ufl_graph *graph, const ufl_node *a, const int *indices) {
    const ufl_node *inner = ufl_operand(a, 0);
    int jj[UFL_RANK_MAX], ii[UFL_RANK_MAX], kk[UFL_RANK_MAX], n = a->n_indices;
    for (int i = 0; i < n; ++i) {
        jj[i] = a->indices[i];
        ii[i] = indices[i];
    }
    if (inner->type != UFL_INDEXED)
        return NULL;
    const ufl_node *c = ufl_operand(inner, 0);
    if (c->type == UFL_LIST_TENSOR && inner->n_indices == 1) {
        int at = 0;
        while (at < n && jj[at] != inner->indices[0])
            ++at;
        if (at < n && ii[at] >= 0 && ii[at] < c->n_operands) {
            inner = ufl_operand(c, ii[at]);
            for (int i = at; i + 1 < n; ++i) {
                jj[i] = jj[i + 1];
                ii[i] = ii[i + 1];
            }
            --n;
            if (n == 0)
                return inner;
            if (inner->type != UFL_INDEXED)
                return NULL;
            c = ufl_operand(inner, 0);
        }
    }
    int found = 0;
    for (int k = 0; k < inner->n_indices; ++k) {
        kk[k] = inner->indices[k];
        for (int i = 0; i < n; ++i)
            if (jj[i] == inner->indices[k]) {
                kk[k] = ii[i];
                found |= 1 << i;
            }
    }
    return found == (1 << n) - 1 ? ufl_indexed(graph, c, kk, inner->n_indices) : NULL;
}

const ufl_node *ufl_indexed(ufl_graph *graph, const ufl_node *a, const int *indices, int n) {
    ufl_free_index free[UFL_FREE_MAX];
    char words[256];
    if (!a || n == 0)
        return a;
    if (a->rank != n)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "%d %s for %s", n,
                        n == 1 ? "index" : "indices", ufl_describe(a, words, sizeof words));
    for (int i = 0; i < n; ++i)
        if (indices[i] >= a->shape[i])
            return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                            "index %d is out of range for %s: expected 0 to %d", indices[i],
                            ufl_describe(a, words, sizeof words), a->shape[i] - 1);
    int n_free = indexed_free(graph, a, indices, n, free);
    if (n_free < 0)
        return NULL;
    const ufl_node *simple = NULL;
    switch (a->type) {
    case UFL_ZERO:
        return ufl_zero(graph, NULL, 0, free, n_free);
    case UFL_SUM:
        return ufl_add(graph, ufl_indexed(graph, ufl_operand(a, 0), indices, n),
                       ufl_indexed(graph, ufl_operand(a, 1), indices, n));
    case UFL_INDEX_SUM:
        return ufl_index_sum(graph, ufl_indexed(graph, ufl_operand(a, 0), indices, n),
                             UFL_FREE(a->indices[0]));
    case UFL_LIST_TENSOR:
        if (indices[0] >= 0)
            return ufl_indexed(graph, ufl_operand(a, indices[0]), indices + 1, n - 1);
        break;
    case UFL_COMPONENT_TENSOR:
        simple = untangle(graph, a, indices);
        if (simple || graph->context->status != WEFT_OK)
            return simple;
        break;
    default:
        break;
    }
    const ufl_node made = {.type = UFL_INDEXED,
                           .operands = &a,
                           .n_operands = 1,
                           .indices = indices,
                           .n_indices = n,
                           .free = free,
                           .n_free = n_free};
    return ufl_node_make(graph, &made);
}

static bool has_free(const ufl_node *a, int number) {
    for (int i = 0; i < a->n_free; ++i)
        if (a->free[i].number == number)
            return true;
    return false;
}

const ufl_node *ufl_index_sum(ufl_graph *graph, const ufl_node *a, int number) {
    ufl_free_index free[UFL_FREE_MAX];
    int n_free = 0, index = UFL_FREE(number);
    if (!a)
        return NULL;
    if (!has_free(a, number))
        return ufl_fail(graph->context, WEFT_ERROR_INTERNAL,
                        "a sum over an index that is not free");
    for (int i = 0; i < a->n_free; ++i)
        if (a->free[i].number != number)
            free[n_free++] = a->free[i];
    if (ufl_is_zero(a))
        return ufl_zero(graph, a->shape, a->rank, free, n_free);
    if (a->type == UFL_PRODUCT)
        for (int k = 0; k < 2; ++k)
            if (!has_free(ufl_operand(a, k), number))
                return ufl_product(graph, ufl_operand(a, k),
                                   ufl_index_sum(graph, ufl_operand(a, 1 - k), number));
    const ufl_node made = {.type = UFL_INDEX_SUM,
                           .operands = &a,
                           .n_operands = 1,
                           .indices = &index,
                           .n_indices = 1,
                           .rank = a->rank,
                           .shape = a->shape,
                           .free = free,
                           .n_free = n_free};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_as_tensor(ufl_graph *graph, const ufl_node *a, const int *indices, int n) {
    int shape[UFL_RANK_MAX], n_free = 0;
    ufl_free_index free[UFL_FREE_MAX];
    char words[256];
    if (!a || n == 0)
        return a;
    if (n > UFL_RANK_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                        UFL_RANK_MAX);
    if (a->rank > 0)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "a tensor is made from a scalar with free indices, not from %s",
                        ufl_describe(a, words, sizeof words));
    for (int i = 0; i < n; ++i) {
        int at = 0;
        while (at < a->n_free && UFL_FREE(a->free[at].number) != indices[i])
            ++at;
        if (at == a->n_free)
            return ufl_fail(
                graph->context, WEFT_ERROR_SHAPE,
                "index %d of the tensor is not a free index of its expression, which is %s", i + 1,
                ufl_describe(a, words, sizeof words));
        for (int j = 0; j < i; ++j)
            if (indices[j] == indices[i])
                return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                                "one index is used for two axes of a tensor");
        shape[i] = a->free[at].dimension;
    }
    for (int i = 0; i < a->n_free; ++i) {
        bool used = false;
        for (int j = 0; j < n; ++j)
            used = used || UFL_FREE(a->free[i].number) == indices[j];
        if (!used)
            free[n_free++] = a->free[i];
    }
    if (ufl_is_zero(a))
        return ufl_zero(graph, shape, n, free, n_free);
    if (a->type == UFL_INDEXED && a->n_indices == n &&
        memcmp(a->indices, indices, (size_t)n * sizeof *indices) == 0)
        return ufl_operand(a, 0);
    const ufl_node made = {.type = UFL_COMPONENT_TENSOR,
                           .operands = &a,
                           .n_operands = 1,
                           .indices = indices,
                           .n_indices = n,
                           .rank = n,
                           .shape = shape,
                           .free = free,
                           .n_free = n_free};
    return ufl_node_make(graph, &made);
}

/* [v[j,0], v[j,1], ..., v[j,n-1]] -> v[j,:], or NULL. */
static const ufl_node *gather_last(ufl_graph *graph, const ufl_node *const *parts, int n) {
    const ufl_node *first = parts[0];
    if (first->type != UFL_INDEXED)
        return NULL;
    const ufl_node *base = ufl_operand(first, 0);
    int rank = base->rank;
    if (base->shape[rank - 1] != n)
        return NULL;
    for (int k = 0; k < n; ++k)
        if (parts[k]->type != UFL_INDEXED || ufl_operand(parts[k], 0) != base ||
            memcmp(parts[k]->indices, first->indices, (size_t)(rank - 1) * sizeof(int)) != 0 ||
            parts[k]->indices[rank - 1] != k)
            return NULL;
    ufl_component components[UFL_RANK_MAX];
    for (int i = 0; i + 1 < rank; ++i) {
        bool is_free = first->indices[i] < 0;
        components[i].kind = is_free ? UFL_COMPONENT_FREE : UFL_COMPONENT_FIXED;
        components[i].index = is_free ? UFL_FREE(first->indices[i]) : first->indices[i];
    }
    components[rank - 1].kind = UFL_COMPONENT_SLICE;
    return rank == 1 ? base : ufl_getitem(graph, base, components, rank);
}

/* [v[0,:], v[1,:], ..., v[n-1,:]] -> v, or NULL. */
static const ufl_node *gather_first(const ufl_node *const *parts, int n) {
    const ufl_node *base = NULL;
    for (int k = 0; k < n; ++k) {
        if (parts[k]->type != UFL_COMPONENT_TENSOR || ufl_operand(parts[k], 0)->type != UFL_INDEXED)
            return NULL;
        const ufl_node *inner = ufl_operand(parts[k], 0);
        base = k == 0 ? ufl_operand(inner, 0) : base;
        if (ufl_operand(inner, 0) != base || base->shape[0] != n || inner->indices[0] != k ||
            inner->n_indices != parts[k]->n_indices + 1 ||
            memcmp(inner->indices + 1, parts[k]->indices,
                   (size_t)parts[k]->n_indices * sizeof(int)) != 0)
            return NULL;
    }
    return base;
}

const ufl_node *ufl_list_tensor(ufl_graph *graph, const ufl_node *const *parts, int n) {
    int shape[UFL_RANK_MAX] = {n};
    char words[2][256];
    bool all_zero = true;
    if (n < 1)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "a vector has at least one component");
    for (int i = 0; i < n; ++i)
        if (!parts[i])
            return NULL;
    for (int i = 0; i < n; ++i) {
        if (!ufl_same_shape(parts[i], parts[0]) || ufl_is_condition(parts[i]))
            return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                            "component 0 of the list is %s, component %d is %s",
                            ufl_describe(parts[0], words[0], sizeof words[0]), i,
                            ufl_describe(parts[i], words[1], sizeof words[1]));
        if (!ufl_same_free(parts[i], parts[0]))
            return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                            "the components 0 and %d of the list have different free indices", i);
        all_zero = all_zero && ufl_is_zero(parts[i]);
    }
    if (parts[0]->rank + 1 > UFL_RANK_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                        UFL_RANK_MAX);
    for (int i = 0; i < parts[0]->rank; ++i)
        shape[i + 1] = parts[0]->shape[i];
    if (all_zero)
        return ufl_zero(graph, shape, parts[0]->rank + 1, parts[0]->free, parts[0]->n_free);
    const ufl_node *simple = gather_last(graph, parts, n);
    simple = simple ? simple : gather_first(parts, n);
    if (simple || graph->context->status != WEFT_OK)
        return simple;
    const ufl_node made = {.type = UFL_LIST_TENSOR,
                           .operands = parts,
                           .n_operands = n,
                           .rank = parts[0]->rank + 1,
                           .shape = shape,
                           .free = parts[0]->free,
                           .n_free = parts[0]->n_free};
    return ufl_node_make(graph, &made);
}

/* Each component of a[components] as an index, new ones for slices, which go to slices as well.
   Returns the number of indices, or -1 and an error. */
static int expand_components(ufl_graph *graph, const ufl_node *a, const ufl_component *components,
                             int n, int *indices, int *slices, int *n_slices) {
    char words[256];
    int count = 0, n_ellipses = 0;
    *n_slices = 0;
    for (int i = 0; i < n; ++i)
        n_ellipses += components[i].kind == UFL_COMPONENT_ELLIPSIS;
    if (n - n_ellipses > a->rank || (n != a->rank && n_ellipses == 0) || n_ellipses > 1) {
        ufl_fail(graph->context, WEFT_ERROR_SHAPE, "%d %s for %s: expected %d", n - n_ellipses,
                 n - n_ellipses == 1 ? "index" : "indices", ufl_describe(a, words, sizeof words),
                 a->rank);
        return -1;
    }
    for (int i = 0; i < n; ++i) {
        int repeat = components[i].kind == UFL_COMPONENT_ELLIPSIS ? a->rank - (n - 1) : 1;
        for (int r = 0; r < repeat; ++r) {
            switch (components[i].kind) {
            case UFL_COMPONENT_FIXED:
                indices[count] = components[i].index;
                if (indices[count] < 0) {
                    ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                             "index %d is out of range for %s: expected 0 to %d", indices[count],
                             ufl_describe(a, words, sizeof words), a->shape[count] - 1);
                    return -1;
                }
                break;
            case UFL_COMPONENT_FREE:
                indices[count] = UFL_FREE(components[i].index);
                break;
            default:
                indices[count] = UFL_FREE(ufl_new_index(graph));
                slices[(*n_slices)++] = indices[count];
            }
            ++count;
        }
    }
    return count;
}

const ufl_node *ufl_getitem(ufl_graph *graph, const ufl_node *a, const ufl_component *components,
                            int n) {
    int indices[UFL_RANK_MAX], slices[UFL_RANK_MAX], n_slices = 0;
    if (!a || (n == 0 && a->rank == 0))
        return a;
    if (a->type == UFL_LIST_TENSOR && n > 0 && components[0].kind == UFL_COMPONENT_FIXED) {
        int k = components[0].index < 0 ? components[0].index + a->n_operands : components[0].index;
        if (k >= 0 && k < a->n_operands)
            return n == 1 ? ufl_operand(a, k)
                          : ufl_getitem(graph, ufl_operand(a, k), components + 1, n - 1);
    }
    int count = expand_components(graph, a, components, n, indices, slices, &n_slices);
    if (count < 0)
        return NULL;
    if (n_slices == count)
        return a;
    if (a->type == UFL_COMPONENT_TENSOR &&
        memcmp(indices, a->indices, (size_t)count * sizeof *indices) == 0)
        return ufl_operand(a, 0);
    if (a->type == UFL_IDENTITY && indices[0] >= 0 && indices[1] >= 0 && indices[0] < a->detail &&
        indices[1] < a->detail)
        return ufl_int(graph, indices[0] == indices[1]);
    const ufl_node *result = ufl_indexed(graph, a, indices, count);
    for (int i = 0; i < count && result; ++i) {
        bool repeated = indices[i] < 0 && has_free(a, UFL_FREE(indices[i]));
        for (int j = 0; j < i && indices[i] < 0; ++j)
            repeated = repeated || indices[j] == indices[i];
        if (repeated && !has_free(result, UFL_FREE(indices[i])))
            return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "an index occurs three times");
        if (repeated)
            result = ufl_index_sum(graph, result, UFL_FREE(indices[i]));
    }
    return ufl_as_tensor(graph, result, slices, n_slices);
}

const ufl_node *ufl_index(ufl_graph *graph, const ufl_node *a, const int *indices, int n) {
    ufl_component components[UFL_RANK_MAX];
    if (n > UFL_RANK_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                        UFL_RANK_MAX);
    for (int i = 0; i < n; ++i) {
        components[i].kind = indices[i] < 0 ? UFL_COMPONENT_FREE : UFL_COMPONENT_FIXED;
        components[i].index = indices[i] < 0 ? UFL_FREE(indices[i]) : indices[i];
    }
    return ufl_getitem(graph, a, components, n);
}

const ufl_node *ufl_as_scalar(ufl_graph *graph, const ufl_node *a, int *indices) {
    if (!a)
        return NULL;
    for (int i = 0; i < a->rank; ++i)
        indices[i] = UFL_FREE(ufl_new_index(graph));
    return ufl_index(graph, a, indices, a->rank);
}
