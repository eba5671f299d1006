/* The methods of lists, dictionaries and strings. */
#include "forms/interpret/private.h"

#include <ctype.h>
#include <string.h>

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
    if (!ufl_charge(call->interpreter, (int64_t)call->self.list->n))
        return ufl_nothing();
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

const ufl_builtin ufl_list_methods[] = {{"append", "value", list_append, 0},
                                        {"extend", "values", list_extend, 0},
                                        {"index", "value", list_index, 0},
                                        {"count", "value", list_index, 1},
                                        {0}};

/* keys, values, items */
static ufl_value dict_parts(ufl_call *call) {
    const ufl_list *list = call->self.list;
    if (!ufl_charge(call->interpreter, (int64_t)list->n))
        return ufl_nothing();
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
    ufl_value *found = NULL;
    if (!ufl_dict_find(call->interpreter, call->self.list, call->slots[0], &found))
        return ufl_nothing();
    return found ? *found : call->slots[1].kind ? call->slots[1] : ufl_none();
}

static ufl_value dict_update(ufl_call *call) {
    if (call->slots[0].kind != UFL_K_DICT)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "update expects a dictionary");
    for (size_t i = 0; i < call->slots[0].list->n; i += 2) {
        const ufl_value *pair = &call->slots[0].list->items[i];
        if (!ufl_dict_set(call->interpreter, call->self.list, pair[0], pair[1]))
            return ufl_nothing();
    }
    return ufl_none();
}

static ufl_value dict_copy(ufl_call *call) {
    if (!ufl_charge(call->interpreter, (int64_t)call->self.list->n))
        return ufl_nothing();
    return ufl_of_items(call->interpreter, UFL_K_DICT, call->self.list->items, call->self.list->n);
}

const ufl_builtin ufl_dict_methods[] = {{"keys", "", dict_parts, 0},
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

const ufl_builtin ufl_string_methods[] = {{"format", "*", string_format, 0},
                                          {"lower", "", string_case, 0},
                                          {"upper", "", string_case, 1},
                                          {"join", "strings", string_join, 0},
                                          {"startswith", "prefix", string_starts, 0},
                                          {"endswith", "suffix", string_starts, 1},
                                          {0}};
