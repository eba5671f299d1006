/* value[index]: components of expressions, elements of lists, dictionaries and strings. */
#include "forms/interpret/private.h"

#include <string.h>

int ufl_components(ufl_interpreter *interpreter, ufl_value index, ufl_component *out) {
    const ufl_value *items = &index;
    size_t n = 1;
    if (index.kind == UFL_K_TUPLE) {
        items = index.list->items;
        n = index.list->n;
    }
    if (n > UFL_RANK_MAX) {
        ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "more than %d indices", UFL_RANK_MAX);
        return -1;
    }
    for (size_t i = 0; i < n; ++i) {
        ufl_value item = items[i];
        bool full = item.kind == UFL_K_SLICE;
        for (size_t k = 0; full && k < 3; ++k)
            full = item.list->items[k].kind == UFL_K_NONE;
        switch (item.kind) {
        case UFL_K_INT:
            if (item.integer < -1000000 || item.integer > 1000000) {
                ufl_wrong(interpreter, WEFT_ERROR_SHAPE, "the index is out of range");
                return -1;
            }
            out[i] = (ufl_component){UFL_COMPONENT_FIXED, (int)item.integer};
            break;
        case UFL_K_INDEX:
            out[i] = (ufl_component){UFL_COMPONENT_FREE, (int)item.integer};
            break;
        case UFL_K_ELLIPSIS:
            out[i] = (ufl_component){UFL_COMPONENT_ELLIPSIS, 0};
            break;
        default:
            if (full) {
                out[i] = (ufl_component){UFL_COMPONENT_SLICE, 0};
                break;
            }
            ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                      "an index of an expression is an int, a free index, ':' or '...', not %s",
                      ufl_kind_words(item));
            return -1;
        }
    }
    return (int)n;
}

int ufl_free_indices(ufl_interpreter *interpreter, ufl_value value, int *out) {
    ufl_component components[UFL_RANK_MAX];
    if (value.kind == UFL_K_LIST)
        value.kind = UFL_K_TUPLE;
    int n = ufl_components(interpreter, value, components);
    for (int i = 0; i < n; ++i) {
        if (components[i].kind != UFL_COMPONENT_FREE) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE, "expected free indices, such as (i, j)");
            return -1;
        }
        out[i] = UFL_FREE(components[i].index);
    }
    return n;
}

/* The bounds of list[first:last:step]. */
static bool slice_bounds(ufl_interpreter *interpreter, ufl_value slice, int64_t n,
                         int64_t *bounds) {
    for (int k = 0; k < 3; ++k) {
        ufl_value item = slice.list->items[k];
        bounds[k] = k == 1 ? n : k == 2 ? 1 : 0;
        if (item.kind == UFL_K_NONE)
            continue;
        if (item.kind != UFL_K_INT || (k == 2 && item.integer <= 0)) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                      "the bounds of a slice are ints, its step an int above 0");
            return false;
        }
        bounds[k] = item.integer < 0 && k < 2 ? item.integer + n : item.integer;
        bounds[k] = bounds[k] < 0 ? 0 : bounds[k] > n && k < 2 ? n : bounds[k];
    }
    return true;
}

static ufl_value list_item(ufl_interpreter *interpreter, ufl_value value, ufl_value index) {
    int64_t n = (int64_t)value.list->n, bounds[3];
    if (index.kind == UFL_K_SLICE) {
        ufl_value made = ufl_of_items(interpreter, value.kind, NULL, 0);
        if (!made.kind || !slice_bounds(interpreter, index, n, bounds))
            return ufl_nothing();
        for (int64_t i = bounds[0]; i < bounds[1]; i += bounds[2])
            if (!ufl_append(interpreter, made.list, value.list->items[i]))
                return ufl_nothing();
        return made;
    }
    if (index.kind != UFL_K_INT && index.kind != UFL_K_BOOL)
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the index of a list is an int, not %s",
                         ufl_kind_words(index));
    int64_t at = index.integer < 0 ? index.integer + n : index.integer;
    if (at < 0 || at >= n)
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                         "index %lld is out of range: there are %lld elements",
                         (long long)index.integer, (long long)n);
    return value.list->items[at];
}

static ufl_value dict_item(ufl_interpreter *interpreter, ufl_value value, ufl_value key) {
    const char *names[500];
    size_t n = 0;
    ufl_value *found = NULL;
    if (!ufl_dict_find(interpreter, value.list, key, &found))
        return ufl_nothing();
    if (found)
        return *found;
    for (size_t i = 0; i < value.list->n && n < 500; i += 2)
        if (value.list->items[i].kind == UFL_K_STRING)
            names[n++] = value.list->items[i].text;
    const char *text = ufl_value_text(interpreter, key);
    const char *nearest = text ? weft_nearest_name(text, names, n) : NULL;
    ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the dictionary has no key %s%.100s%s",
              key.kind == UFL_K_STRING ? "'" : "", text ? text : "",
              key.kind == UFL_K_STRING ? "'" : "");
    if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    return ufl_nothing();
}

ufl_value ufl_subscript(ufl_interpreter *interpreter, ufl_value value, ufl_value index) {
    ufl_component components[UFL_RANK_MAX];
    int n = 0;
    switch (value.kind) {
    case UFL_K_NODE:
        n = ufl_components(interpreter, index, components);
        return n < 0 ? ufl_nothing()
                     : ufl_of_node(ufl_getitem(interpreter->graph, value.node, components, n));
    case UFL_K_TUPLE:
    case UFL_K_LIST:
        return list_item(interpreter, value, index);
    case UFL_K_DICT:
        return dict_item(interpreter, value, index);
    case UFL_K_SCOPE:
        if (index.kind == UFL_K_STRING) {
            const ufl_value *bound = ufl_scope_find(value.scope, index.text);
            return bound ? *bound
                         : ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the name '%s' is not defined",
                                     index.text);
        }
        break;
    case UFL_K_STRING: {
        ufl_value list = ufl_nothing();
        const ufl_value *items = NULL;
        size_t count = 0;
        if (!ufl_iterate(interpreter, value, &items, &count))
            return ufl_nothing();
        list = ufl_of_items(interpreter, UFL_K_LIST, items, count);
        list = list.kind ? list_item(interpreter, list, index) : list;
        if (list.kind != UFL_K_LIST)
            return list;
        const char *text = "";
        for (size_t i = 0; text && i < list.list->n; ++i)
            text = ufl_print(interpreter->context, "%s%s", text, list.list->items[i].text);
        return ufl_of_text(text);
    }
    case UFL_K_ENUM: /* basix.CellType["triangle"] */
        if (!value.name && index.kind == UFL_K_STRING)
            return ufl_attribute(interpreter, value, index.text);
        break;
    case UFL_K_ELEMENT:
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                         "restricted elements (element[\"facet\"]) are not supported");
    default:
        break;
    }
    return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s has no elements to index",
                     ufl_kind_words(value));
}
