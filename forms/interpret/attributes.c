/* value.name, methods, and value[index]. */
#include "forms/interpret/private.h"

#include <ctype.h>
#include <string.h>

/* ---- indices ---- */

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
    for (size_t i = 0; i < value.list->n; i += 2) {
        if (ufl_equal(value.list->items[i], key))
            return value.list->items[i + 1];
        if (value.list->items[i].kind == UFL_K_STRING && n < 500)
            names[n++] = value.list->items[i].text;
    }
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

/* ---- methods ---- */

static ufl_value expression_dx(ufl_call *call) {
    ufl_component components[UFL_RANK_MAX];
    ufl_value directions =
        ufl_of_items(call->interpreter, UFL_K_TUPLE, call->rest, (size_t)call->n_rest);
    if (call->n_rest == 1 && call->rest[0].kind == UFL_K_TUPLE)
        directions = call->rest[0];
    int n = directions.kind ? ufl_components(call->interpreter, directions, components) : -1;
    return n < 0 ? ufl_nothing() : ufl_of_node(ufl_dx(call->graph, call->self.node, components, n));
}

/* f("+"), f("-") */
static ufl_value expression_call(ufl_call *call) {
    const char *side = call->slots[0].kind == UFL_K_STRING ? call->slots[0].text : "";
    if (strcmp(side, "+") != 0 && strcmp(side, "-") != 0) {
        ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                  "an expression is called with the side of a facet, \"+\" or \"-\"");
        ufl_hint(call->interpreter->context, "a product is written with *");
        return ufl_nothing();
    }
    return ufl_of_node(ufl_restrict(call->graph, call->self.node, side[0]));
}

static ufl_value expression_mesh(ufl_call *call) {
    return ufl_of_mesh(ufl_to_mesh(call->interpreter, call->self));
}

static ufl_value expression_space(ufl_call *call) {
    const ufl_node *node = call->self.node;
    if (!node->space)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "only arguments and coefficients have a function space");
    ufl_value element = ufl_of_element(node->space->element);
    element.gdim = node->mesh->gdim;
    return call->builtin->detail ? element : ufl_of_space(node->space);
}

static ufl_value expression_number(ufl_call *call) {
    return ufl_of_int(call->self.node->detail);
}

static ufl_value expression_gdim(ufl_call *call) {
    const ufl_mesh *mesh = ufl_to_mesh(call->interpreter, call->self);
    return mesh ? ufl_of_int(mesh->gdim) : ufl_nothing();
}

static const ufl_builtin expression_methods[] = {{"dx", "*", expression_dx, 0},
                                                 {"__call__", "side", expression_call, 0},
                                                 {"ufl_domain", "", expression_mesh, 0},
                                                 {"ufl_function_space", "", expression_space, 0},
                                                 {"function_space", "", expression_space, 0},
                                                 {"ufl_element", "", expression_space, 1},
                                                 {"number", "", expression_number, 0},
                                                 {"count", "", expression_number, 0},
                                                 {"geometric_dimension", "", expression_gdim, 0},
                                                 {0}};

static bool read_ids(ufl_interpreter *interpreter, ufl_value value, ufl_measure *measure) {
    const ufl_value *items = &value;
    size_t n = 1;
    if (value.kind == UFL_K_STRING && strcmp(value.text, "everywhere") == 0) {
        measure->n_ids = 0;
        return true;
    }
    if (value.kind == UFL_K_TUPLE || value.kind == UFL_K_LIST) {
        items = value.list->items;
        n = value.list->n;
    }
    int *ids = ufl_alloc(interpreter->context, n, sizeof *ids);
    if (!ids)
        return false;
    for (size_t i = 0; i < n; ++i) {
        if (items[i].kind != UFL_K_INT || items[i].integer < 0 || items[i].integer > INT32_MAX) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                      "the id of a subdomain is an int from 0 or a tuple of ints, not %s",
                      ufl_kind_words(items[i]));
            return false;
        }
        ids[i] = (int)items[i].integer;
    }
    measure->n_ids = (int)n;
    measure->ids = ids;
    return true;
}

static bool read_degree(ufl_interpreter *interpreter, ufl_value value, ufl_metadata *metadata) {
    if (value.kind != UFL_K_INT || value.integer < -1 || value.integer > 1000) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                  "a quadrature degree is an int from 0 to 1000, or -1 for an estimate");
        return false;
    }
    metadata->degree = (int)value.integer;
    metadata->has_degree = true;
    return true;
}

static bool read_rule(ufl_interpreter *interpreter, ufl_value value, ufl_metadata *metadata) {
    static const struct {
        const char *name;
        ufl_rule rule;
    } rules[] = {{"default", UFL_RULE_DEFAULT},
                 {"canonical", UFL_RULE_DEFAULT},
                 {"auto", UFL_RULE_DEFAULT},
                 {"Gauss-Jacobi", UFL_RULE_GAUSS_JACOBI},
                 {"GJ", UFL_RULE_GAUSS_JACOBI},
                 {"gauss_jacobi", UFL_RULE_GAUSS_JACOBI},
                 {"GLL", UFL_RULE_GLL},
                 {"gll", UFL_RULE_GLL},
                 {"gauss_lobatto_legendre", UFL_RULE_GLL},
                 {"vertex", UFL_RULE_VERTEX}};
    enum { N_RULES = sizeof rules / sizeof rules[0] };
    const char *names[N_RULES];
    const char *name = value.kind == UFL_K_STRING ? value.text : "";
    for (int i = 0; i < N_RULES; ++i) {
        names[i] = rules[i].name;
        if (strcmp(rules[i].name, name) == 0) {
            metadata->rule = rules[i].rule;
            metadata->has_rule = true;
            return true;
        }
    }
    const char *nearest = weft_nearest_name(name, names, N_RULES);
    ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "there is no quadrature rule '%.100s'", name);
    if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    else
        ufl_hint(interpreter->context, "Weft has default, GJ (Gauss-Jacobi), GLL and vertex");
    return false;
}

static bool read_metadata(ufl_interpreter *interpreter, ufl_value value, ufl_metadata *metadata) {
    if (value.kind != UFL_K_DICT) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                  "the metadata of a measure are a dictionary, not %s", ufl_kind_words(value));
        return false;
    }
    *metadata = (ufl_metadata){.degree = -1, .others = ""};
    for (size_t i = 0; i < value.list->n; i += 2) {
        ufl_value key = value.list->items[i], item = value.list->items[i + 1];
        const char *name = key.kind == UFL_K_STRING ? key.text : "";
        bool fine = true;
        if (strcmp(name, "quadrature_degree") == 0) {
            fine = read_degree(interpreter, item, metadata);
        } else if (strcmp(name, "quadrature_rule") == 0 || strcmp(name, "quadrature_scheme") == 0) {
            fine = item.kind == UFL_K_NONE || read_rule(interpreter, item, metadata);
        } else {
            const char *text = ufl_value_text(interpreter, item);
            metadata->others =
                text ? ufl_print(interpreter->context, "%s%s=%s;", metadata->others, name, text)
                     : NULL;
            fine = metadata->others != NULL;
        }
        if (!fine)
            return false;
    }
    return true;
}

/* dx(id, metadata, domain, subdomain_data, degree, scheme) */
static ufl_value measure_call(ufl_call *call) {
    ufl_interpreter *interpreter = call->interpreter;
    ufl_measure *made = ufl_alloc(interpreter->context, 1, sizeof *made);
    ufl_value first = call->slots[0];
    bool given = false;
    if (!made)
        return ufl_nothing();
    *made = *call->self.measure;
    if (made->next)
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "a sum of measures cannot be called");
    for (int i = 0; i < 6; ++i)
        given = given || ufl_given(call, i);
    if (!given)
        made->n_ids = 0;
    if (first.kind == UFL_K_MESH || first.kind == UFL_K_SPACE || first.kind == UFL_K_NODE ||
        first.kind == UFL_K_CELL) {
        made->mesh = ufl_to_mesh(interpreter, first);
        made->n_ids = 0;
        if (!made->mesh)
            return ufl_nothing();
    } else if (ufl_given(call, 0) && !read_ids(interpreter, first, made)) {
        return ufl_nothing();
    }
    if (ufl_given(call, 1) && !read_metadata(interpreter, call->slots[1], &made->metadata))
        return ufl_nothing();
    if (ufl_given(call, 2)) {
        made->mesh = ufl_to_mesh(interpreter, call->slots[2]);
        if (!made->mesh)
            return ufl_nothing();
    }
    if ((ufl_given(call, 4) || ufl_given(call, 5)) && !ufl_given(call, 1))
        made->metadata = (ufl_metadata){.degree = -1, .others = ""};
    if ((ufl_given(call, 4) && !read_degree(interpreter, call->slots[4], &made->metadata)) ||
        (ufl_given(call, 5) && !read_rule(interpreter, call->slots[5], &made->metadata)))
        return ufl_nothing();
    return (ufl_value){.kind = UFL_K_MEASURE, .measure = made};
}

static const ufl_builtin measure_methods[] = {
    {"__call__", "subdomain_id=,metadata=,domain=,subdomain_data=,degree=,scheme=", measure_call,
     0},
    {"reconstruct", "subdomain_id=,metadata=,domain=,subdomain_data=,degree=,scheme=", measure_call,
     0},
    {0}};

static ufl_value form_terminals(ufl_call *call) {
    const ufl_node **nodes = NULL;
    int n =
        ufl_form_terminals(call->graph, call->self.form, (ufl_type)call->builtin->detail, &nodes);
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_TUPLE, NULL, 0);
    for (int i = 0; made.kind && i < n; ++i)
        if (!ufl_append(call->interpreter, made.list, ufl_of_node(nodes[i])))
            return ufl_nothing();
    return n < 0 ? ufl_nothing() : made;
}

static ufl_value form_empty(ufl_call *call) {
    return ufl_of_bool(call->self.form->n_integrals == 0);
}

static const ufl_builtin form_methods[] = {{"arguments", "", form_terminals, UFL_ARGUMENT},
                                           {"coefficients", "", form_terminals, UFL_COEFFICIENT},
                                           {"constants", "", form_terminals, UFL_CONSTANT},
                                           {"empty", "", form_empty, 0},
                                           {0}};

static ufl_value list_append(ufl_call *call) {
    return ufl_append(call->interpreter, call->self.list, call->slots[0]) ? ufl_none()
                                                                          : ufl_nothing();
}

static ufl_value list_extend(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    for (size_t i = 0; i < n; ++i)
        if (!ufl_append(call->interpreter, call->self.list, items[i]))
            return ufl_nothing();
    return ufl_none();
}

static ufl_value list_index(ufl_call *call) {
    int64_t count = 0;
    for (size_t i = 0; i < call->self.list->n; ++i)
        if (ufl_equal(call->self.list->items[i], call->slots[0])) {
            if (!call->builtin->detail)
                return ufl_of_int((int64_t)i);
            ++count;
        }
    return call->builtin->detail
               ? ufl_of_int(count)
               : ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "the value is not in the list");
}

static const ufl_builtin list_methods[] = {{"append", "value", list_append, 0},
                                           {"extend", "values", list_extend, 0},
                                           {"index", "value", list_index, 0},
                                           {"count", "value", list_index, 1},
                                           {0}};

/* keys, values, items */
static ufl_value dict_parts(ufl_call *call) {
    const ufl_list *list = call->self.list;
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_LIST, NULL, 0);
    for (size_t i = 0; made.kind && i < list->n; i += 2) {
        ufl_value item = call->builtin->detail < 2
                             ? list->items[i + (size_t)call->builtin->detail]
                             : ufl_of_items(call->interpreter, UFL_K_TUPLE, &list->items[i], 2);
        if (!item.kind || !ufl_append(call->interpreter, made.list, item))
            return ufl_nothing();
    }
    return made;
}

static ufl_value dict_get(ufl_call *call) {
    for (size_t i = 0; i < call->self.list->n; i += 2)
        if (ufl_equal(call->self.list->items[i], call->slots[0]))
            return call->self.list->items[i + 1];
    return call->slots[1].kind ? call->slots[1] : ufl_none();
}

static ufl_value dict_update(ufl_call *call) {
    if (call->slots[0].kind != UFL_K_DICT)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "update expects a dictionary");
    for (size_t i = 0; i < call->slots[0].list->n; i += 2) {
        const ufl_value *pair = &call->slots[0].list->items[i];
        size_t at = 0;
        while (at < call->self.list->n && !ufl_equal(call->self.list->items[at], pair[0]))
            at += 2;
        if (at < call->self.list->n)
            call->self.list->items[at + 1] = pair[1];
        else if (!ufl_append(call->interpreter, call->self.list, pair[0]) ||
                 !ufl_append(call->interpreter, call->self.list, pair[1]))
            return ufl_nothing();
    }
    return ufl_none();
}

static ufl_value dict_copy(ufl_call *call) {
    return ufl_of_items(call->interpreter, UFL_K_DICT, call->self.list->items, call->self.list->n);
}

static const ufl_builtin dict_methods[] = {{"keys", "", dict_parts, 0},
                                           {"values", "", dict_parts, 1},
                                           {"items", "", dict_parts, 2},
                                           {"get", "key,default=", dict_get, 0},
                                           {"update", "other", dict_update, 0},
                                           {"copy", "", dict_copy, 0},
                                           {0}};

/* "{} {}".format(a, b), without format specifications */
static ufl_value string_format(ufl_call *call) {
    const char *text = "";
    int next = 0;
    for (const char *at = call->self.text; text && *at; ++at) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        if (!close) {
            text = ufl_print(call->interpreter->context, "%s%c", text, *at);
            continue;
        }
        int k = isdigit((unsigned char)at[1]) ? at[1] - '0' : next++;
        if (k >= call->n_rest || close - at > 2)
            return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                             "format has places '{}' for its arguments in order, or '{0}'");
        const char *part = ufl_value_text(call->interpreter, call->rest[k]);
        text = part ? ufl_print(call->interpreter->context, "%s%s", text, part) : NULL;
        at = close;
    }
    return ufl_of_text(text);
}

static ufl_value string_case(ufl_call *call) {
    char *copy = ufl_copy(call->interpreter->context, call->self.text, strlen(call->self.text));
    for (char *c = copy; c && *c; ++c)
        *c =
            (char)(call->builtin->detail ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    return ufl_of_text(copy);
}

static ufl_value string_join(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    const char *text = "";
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    for (size_t i = 0; text && i < n; ++i) {
        if (items[i].kind != UFL_K_STRING)
            return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "join expects strings, not %s",
                             ufl_kind_words(items[i]));
        text = ufl_print(call->interpreter->context, "%s%s%s", text, i ? call->self.text : "",
                         items[i].text);
    }
    return ufl_of_text(text);
}

static ufl_value string_starts(ufl_call *call) {
    const char *part = ufl_slot_text(call, 0), *text = call->self.text;
    if (!part)
        return ufl_nothing();
    size_t n = strlen(part), length = strlen(text);
    bool fits = n <= length;
    return ufl_of_bool(fits &&
                       strncmp(call->builtin->detail ? text + length - n : text, part, n) == 0);
}

static const ufl_builtin string_methods[] = {{"format", "*", string_format, 0},
                                             {"lower", "", string_case, 0},
                                             {"upper", "", string_case, 1},
                                             {"join", "strings", string_join, 0},
                                             {"startswith", "prefix", string_starts, 0},
                                             {"endswith", "suffix", string_starts, 1},
                                             {0}};

static ufl_value enum_call(ufl_call *call) {
    const char *name = ufl_slot_text(call, 0);
    return name ? ufl_attribute(call->interpreter, call->self, name) : ufl_nothing();
}

static const ufl_builtin enum_methods[] = {{"__call__", "name", enum_call, 0}, {0}};

/* ---- attributes that are values ---- */

static ufl_value property(ufl_value value) {
    value.property = true;
    return value;
}

static ufl_value shape_value(ufl_interpreter *interpreter, const int *shape, int rank) {
    ufl_value made = ufl_of_items(interpreter, UFL_K_TUPLE, NULL, 0);
    for (int i = 0; made.kind && i < rank; ++i)
        if (!ufl_append(interpreter, made.list, ufl_of_int(shape[i])))
            return ufl_nothing();
    return made;
}

static ufl_value node_attribute(ufl_interpreter *interpreter, ufl_value value, const char *name) {
    const ufl_node *node = value.node;
    if (strcmp(name, "T") == 0)
        return ufl_of_node(ufl_tensor_unary(interpreter->graph, UFL_TRANSPOSED, node));
    if (strcmp(name, "ufl_shape") == 0)
        return shape_value(interpreter, node->shape, node->rank);
    return ufl_nothing();
}

/* What a cell, and so a mesh, has by itself. */
static ufl_value cell_attribute(ufl_interpreter *interpreter, ufl_value value, const char *name) {
    static const struct {
        const char *name;
        ufl_quantity quantity;
    } quantities[] = {{"n", UFL_FACET_NORMAL},         {"x", UFL_SPATIAL_COORDINATE},
                      {"volume", UFL_CELL_VOLUME},     {"circumradius", UFL_CIRCUMRADIUS},
                      {"diameter", UFL_CELL_DIAMETER}, {"facet_area", UFL_FACET_AREA},
                      {"surface_area", UFL_FACET_AREA}};
    bool mesh = value.kind == UFL_K_MESH;
    ufl_cell_type cell = mesh ? value.mesh->cell : (ufl_cell_type)value.integer;
    if (strcmp(name, "cellname") == 0 && !mesh)
        return property(ufl_of_text(ufl_cell_name(cell)));
    if (strcmp(name, "geometric_dimension") == 0)
        return property(ufl_of_int(mesh ? value.mesh->gdim : value.gdim));
    if (strcmp(name, "topological_dimension") == 0)
        return property(ufl_of_int(ufl_cell_dimension(cell)));
    if (strcmp(name, "is_simplex") == 0 && !mesh)
        return property(ufl_of_bool(ufl_cell_is_simplex(cell)));
    if (strcmp(name, "ufl_cell") == 0 && mesh)
        return property(ufl_of_cell(cell, value.mesh->gdim));
    if (strcmp(name, "ufl_coordinate_element") == 0 && mesh)
        return property(ufl_of_element(value.mesh->coordinates));
    if (strcmp(name, "ufl_id") == 0 && mesh)
        return property(ufl_of_int(value.mesh->number));
    for (size_t i = 0; !mesh && i < sizeof quantities / sizeof quantities[0]; ++i)
        if (strcmp(quantities[i].name, name) == 0)
            return ufl_of_node(ufl_geometry(interpreter->graph, quantities[i].quantity,
                                            ufl_to_mesh(interpreter, value)));
    return ufl_nothing();
}

static ufl_value element_attribute(ufl_interpreter *interpreter, ufl_value value,
                                   const char *name) {
    const ufl_element *element = value.element;
    int gdim = value.gdim ? value.gdim : ufl_cell_dimension(element->cell);
    if (strcmp(name, "cell") == 0 || strcmp(name, "cell_type") == 0)
        return property(ufl_of_cell(element->cell, gdim));
    if (strcmp(name, "degree") == 0 || strcmp(name, "embedded_superdegree") == 0)
        return property(ufl_of_int(element->superdegree));
    if (strcmp(name, "value_shape") == 0 || strcmp(name, "reference_value_shape") == 0)
        return property(shape_value(interpreter, element->shape, element->rank));
    if (strcmp(name, "sub_elements") == 0) {
        ufl_value made = ufl_of_items(interpreter, UFL_K_TUPLE, NULL, 0);
        int n = element->family == UFL_BLOCKED ? element->block_size : element->n_sub;
        for (int i = 0; made.kind && i < n; ++i)
            if (!ufl_append(interpreter, made.list,
                            ufl_of_element(element->sub[element->family == UFL_BLOCKED ? 0 : i])))
                return ufl_nothing();
        return property(made);
    }
    if (strcmp(name, "family") == 0 && element->n_sub == 0)
        return property(ufl_of_text(element->family == UFL_LAGRANGE ? "Lagrange"
                                    : element->family == UFL_REAL   ? "Real"
                                    : element->family == UFL_BUBBLE ? "Bubble"
                                                                    : "Quadrature"));
    return ufl_nothing();
}

static ufl_value space_attribute(ufl_value value, const char *name) {
    ufl_value element = ufl_of_element(value.space->element);
    element.gdim = value.space->mesh->gdim;
    if (strcmp(name, "ufl_element") == 0)
        return property(element);
    if (strcmp(name, "ufl_domain") == 0 || strcmp(name, "mesh") == 0)
        return property(ufl_of_mesh(value.space->mesh));
    if (strcmp(name, "ufl_cell") == 0)
        return property(ufl_of_cell(value.space->mesh->cell, value.space->mesh->gdim));
    return ufl_nothing();
}

static ufl_value enum_attribute(ufl_interpreter *interpreter, ufl_value value, const char *name) {
    ufl_cell_type cell = UFL_VERTEX;
    if (value.name)
        return strcmp(name, "name") == 0 ? ufl_of_text(value.name) : ufl_nothing();
    if (strcmp(value.text, "CellType") == 0 && !ufl_cell_find(name, &cell) &&
        strcmp(name, "prism") != 0 && strcmp(name, "pyramid") != 0)
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "there is no cell '%.100s'", name);
    value.name = name;
    return value;
}

static ufl_value own_attribute(ufl_interpreter *interpreter, ufl_value value, const char *name) {
    switch (value.kind) {
    case UFL_K_NODE:
        return node_attribute(interpreter, value, name);
    case UFL_K_CELL:
    case UFL_K_MESH:
        return cell_attribute(interpreter, value, name);
    case UFL_K_ELEMENT:
        return element_attribute(interpreter, value, name);
    case UFL_K_SPACE:
        return space_attribute(value, name);
    case UFL_K_ENUM:
        return enum_attribute(interpreter, value, name);
    case UFL_K_EQUATION:
        return strcmp(name, "lhs") == 0   ? value.list->items[0]
               : strcmp(name, "rhs") == 0 ? value.list->items[1]
                                          : ufl_nothing();
    case UFL_K_OPAQUE: /* points of a Basix element */
        return strcmp(name, "points") == 0 ? value : ufl_nothing();
    case UFL_K_MODULE:
        return ufl_module_get(interpreter, value.module, name);
    default:
        return ufl_nothing();
    }
}

static const ufl_builtin *methods_of(ufl_value value) {
    switch (value.kind) {
    case UFL_K_NODE:
        return expression_methods;
    case UFL_K_MEASURE:
        return measure_methods;
    case UFL_K_FORM:
        return form_methods;
    case UFL_K_LIST:
    case UFL_K_TUPLE:
        return list_methods;
    case UFL_K_DICT:
        return dict_methods;
    case UFL_K_STRING:
        return string_methods;
    case UFL_K_ENUM:
        return enum_methods;
    default:
        return NULL;
    }
}

ufl_value ufl_attribute(ufl_interpreter *interpreter, ufl_value value, const char *name) {
    const char *names[32];
    size_t n = 0;
    const ufl_builtin *methods = methods_of(value);
    bool method = value.kind == UFL_K_ENUM && !value.name && strcmp(name, "__call__") == 0;
    ufl_value found = method ? ufl_nothing() : own_attribute(interpreter, value, name);
    if (found.kind || interpreter->context->status != WEFT_OK)
        return found;
    for (; methods && methods->name; ++methods) {
        if (strcmp(methods->name, name) == 0) {
            ufl_list *bound = ufl_alloc(interpreter->context, 1, sizeof *bound);
            if (!bound || !ufl_append(interpreter, bound, value))
                return ufl_nothing();
            return (ufl_value){.kind = UFL_K_BUILTIN, .builtin = methods, .bound = bound};
        }
        if (methods->name[0] != '_' && n < 32)
            names[n++] = methods->name;
    }
    if (value.kind == UFL_K_MODULE) {
        const char *path = ufl_print(interpreter->context, "%s.%s", value.module->name, name);
        const ufl_module_table *inner = path ? ufl_module_find(path) : NULL;
        if (inner)
            return (ufl_value){.kind = UFL_K_MODULE, .module = inner};
        return ufl_module_miss(interpreter, value.module, name);
    }
    const char *nearest = weft_nearest_name(name, names, n);
    ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s has no attribute '%s'", ufl_kind_words(value),
              name);
    if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    return ufl_nothing();
}
