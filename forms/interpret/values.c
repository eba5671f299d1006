/* Makes, compares and describes the values of the interpreter. */
#include "core/base/number.h"
#include "forms/interpret/private.h"

#include <string.h>

ufl_value ufl_nothing(void) {
    return (ufl_value){.kind = UFL_K_UNBOUND};
}

ufl_value ufl_none(void) {
    return (ufl_value){.kind = UFL_K_NONE};
}

ufl_value ufl_of_int(int64_t integer) {
    return (ufl_value){.kind = UFL_K_INT, .integer = integer};
}

ufl_value ufl_of_float(double number) {
    return (ufl_value){.kind = UFL_K_FLOAT, .number = number};
}

ufl_value ufl_of_bool(bool is) {
    return (ufl_value){.kind = UFL_K_BOOL, .integer = is};
}

ufl_value ufl_of_text(const char *text) {
    return text ? (ufl_value){.kind = UFL_K_STRING, .text = text} : ufl_nothing();
}

ufl_value ufl_of_node(const ufl_node *node) {
    return node ? (ufl_value){.kind = UFL_K_NODE, .node = node} : ufl_nothing();
}

ufl_value ufl_of_form(const ufl_form *form) {
    return form ? (ufl_value){.kind = UFL_K_FORM, .form = form} : ufl_nothing();
}

ufl_value ufl_of_element(const ufl_element *element) {
    return element ? (ufl_value){.kind = UFL_K_ELEMENT, .element = element} : ufl_nothing();
}

ufl_value ufl_of_mesh(const ufl_mesh *mesh) {
    return mesh ? (ufl_value){.kind = UFL_K_MESH, .mesh = mesh} : ufl_nothing();
}

ufl_value ufl_of_space(const ufl_space *space) {
    return space ? (ufl_value){.kind = UFL_K_SPACE, .space = space} : ufl_nothing();
}

ufl_value ufl_of_cell(ufl_cell_type cell, int gdim) {
    return (ufl_value){.kind = UFL_K_CELL, .integer = cell, .gdim = gdim};
}

ufl_value ufl_wrong(ufl_interpreter *interpreter, weft_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ufl_fail_list(interpreter->context, status, format, arguments);
    va_end(arguments);
    return ufl_nothing();
}

bool ufl_append(ufl_interpreter *interpreter, ufl_list *list, ufl_value value) {
    if (list->n >= UFL_LIST_MAX) {
        ufl_fail(interpreter->context, WEFT_ERROR_UNSUPPORTED, "a list has more than %d elements",
                 UFL_LIST_MAX);
        return false;
    }
    list->items = ufl_grow(interpreter->context, list->items, list->n, sizeof *list->items);
    if (!list->items)
        return false;
    list->items[list->n++] = value;
    return true;
}

ufl_value ufl_of_items(ufl_interpreter *interpreter, ufl_kind kind, const ufl_value *items,
                       size_t n) {
    ufl_list *list = ufl_alloc(interpreter->context, 1, sizeof *list);
    for (size_t i = 0; list && i < n; ++i)
        if (!ufl_append(interpreter, list, items[i]))
            return ufl_nothing();
    return list ? (ufl_value){.kind = kind, .list = list} : ufl_nothing();
}

const char *ufl_kind_words(ufl_value value) {
    static const char *const words[UFL_N_KINDS] = {"nothing",
                                                   "None",
                                                   "a bool",
                                                   "an int",
                                                   "a float",
                                                   "a string",
                                                   "a tuple",
                                                   "a list",
                                                   "a dictionary",
                                                   "a slice",
                                                   "'...'",
                                                   "a function",
                                                   "a function",
                                                   "a module",
                                                   "vars()",
                                                   "an option of Basix",
                                                   "an object of Basix",
                                                   "an expression",
                                                   "an index",
                                                   "a Form",
                                                   "an Equation",
                                                   "a Cell",
                                                   "an element",
                                                   "a Mesh",
                                                   "a FunctionSpace",
                                                   "a Measure"};
    return words[value.kind];
}

static bool is_number(ufl_value value) {
    return value.kind == UFL_K_INT || value.kind == UFL_K_FLOAT || value.kind == UFL_K_BOOL;
}

static double number_of(ufl_value value) {
    return value.kind == UFL_K_FLOAT ? value.number : (double)value.integer;
}

bool ufl_truth(ufl_interpreter *interpreter, ufl_value value, bool *out) {
    switch (value.kind) {
    case UFL_K_NONE:
        *out = false;
        return true;
    case UFL_K_BOOL:
    case UFL_K_INT:
    case UFL_K_FLOAT:
        *out = number_of(value) != 0;
        return true;
    case UFL_K_STRING:
        *out = value.text[0] != '\0';
        return true;
    case UFL_K_TUPLE:
    case UFL_K_LIST:
    case UFL_K_DICT:
        *out = value.list->n > 0;
        return true;
    case UFL_K_EQUATION:
        *out = ufl_equal(value.list->items[0], value.list->items[1]);
        return true;
    case UFL_K_NODE:
        if (ufl_is_condition(value.node)) {
            ufl_fail(interpreter->context, WEFT_ERROR_TYPE,
                     "a condition of an expression is not known when the file is read");
            ufl_hint(interpreter->context, "write conditional(condition, value, other value)");
            return false;
        }
        *out = !ufl_is_zero(value.node);
        return true;
    default:
        *out = true;
        return true;
    }
}

static bool equal(ufl_value a, ufl_value b, int depth, long *budget);

/* Lists may contain themselves: what is too deep or takes too long is different. */
static bool equal_lists(const ufl_list *a, const ufl_list *b, int depth, long *budget) {
    if (a->n != b->n || depth > UFL_NESTING_MAX)
        return false;
    for (size_t i = 0; i < a->n; ++i)
        if (--*budget < 0 || !equal(a->items[i], b->items[i], depth + 1, budget))
            return false;
    return true;
}

static bool equal(ufl_value a, ufl_value b, int depth, long *budget) {
    if (is_number(a) && is_number(b))
        return number_of(a) == number_of(b);
    if (a.kind == UFL_K_NODE && is_number(b))
        return (ufl_is_number(a.node) || (ufl_is_zero(a.node) && ufl_is_true_scalar(a.node))) &&
               ufl_number(a.node) == number_of(b);
    if (b.kind == UFL_K_NODE && is_number(a))
        return equal(b, a, depth, budget);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case UFL_K_NONE:
    case UFL_K_ELLIPSIS:
        return true;
    case UFL_K_STRING:
        return strcmp(a.text, b.text) == 0;
    case UFL_K_TUPLE:
    case UFL_K_LIST:
        return a.list == b.list || equal_lists(a.list, b.list, depth, budget);
    case UFL_K_INDEX:
        return a.integer == b.integer;
    case UFL_K_CELL:
        return a.integer == b.integer && a.gdim == b.gdim;
    case UFL_K_ENUM:
        return strcmp(a.text, b.text) == 0 && a.name && b.name && strcmp(a.name, b.name) == 0;
    default:
        return a.text == b.text;
    }
}

bool ufl_equal(ufl_value a, ufl_value b) {
    long budget = UFL_LIST_MAX;
    return equal(a, b, 0, &budget);
}

bool ufl_charge(ufl_interpreter *interpreter, int64_t elements) {
    interpreter->work += elements;
    if (interpreter->work <= UFL_WORK_MAX)
        return true;
    ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "the file visits more than %d elements of lists",
              UFL_WORK_MAX);
    return false;
}

bool ufl_iterate(ufl_interpreter *interpreter, ufl_value value, const ufl_value **items,
                 size_t *n) {
    ufl_value made = ufl_nothing();
    switch (value.kind) {
    case UFL_K_TUPLE:
    case UFL_K_LIST:
        *items = value.list->items;
        *n = value.list->n;
        return ufl_charge(interpreter, (int64_t)*n);
    case UFL_K_DICT:
        if (!ufl_charge(interpreter, (int64_t)value.list->n))
            return false;
        made = ufl_of_items(interpreter, UFL_K_LIST, NULL, 0);
        for (size_t i = 0; made.kind && i < value.list->n; i += 2)
            if (!ufl_append(interpreter, made.list, value.list->items[i]))
                return false;
        break;
    case UFL_K_STRING:
        if (!ufl_charge(interpreter, (int64_t)strlen(value.text)))
            return false;
        made = ufl_of_items(interpreter, UFL_K_LIST, NULL, 0);
        for (const char *c = value.text; made.kind && *c; ++c)
            if (!ufl_append(interpreter, made.list,
                            ufl_of_text(ufl_copy(interpreter->context, c, 1))))
                return false;
        break;
    case UFL_K_NODE:
        if (value.node->rank == 0)
            break;
        made = ufl_of_items(interpreter, UFL_K_LIST, NULL, 0);
        for (int i = 0; made.kind && i < value.node->shape[0]; ++i) {
            const ufl_component at[2] = {{UFL_COMPONENT_FIXED, i}, {UFL_COMPONENT_ELLIPSIS, 0}};
            const ufl_node *part =
                ufl_getitem(interpreter->graph, value.node, at, value.node->rank > 1 ? 2 : 1);
            if (!part || !ufl_append(interpreter, made.list, ufl_of_node(part)))
                return false;
        }
        break;
    default:
        break;
    }
    if (made.kind == UFL_K_UNBOUND) {
        ufl_fail(interpreter->context, WEFT_ERROR_TYPE, "expected a list or a tuple, not %s",
                 value.kind == UFL_K_NODE ? "a scalar expression" : ufl_kind_words(value));
        return false;
    }
    *items = made.list->items;
    *n = made.list->n;
    return true;
}

static bool add_text(ufl_interpreter *interpreter, ufl_value value, bool quoted, int depth,
                     weft_text *out);

static bool add_items(ufl_interpreter *interpreter, ufl_value value, int depth, weft_text *out) {
    bool dict = value.kind == UFL_K_DICT;
    for (size_t i = 0; i < value.list->n && out->length < UFL_LIST_MAX; ++i) {
        weft_text_add(out, "%s", i == 0 ? "" : dict && i % 2 ? ": " : ", ");
        if (!add_text(interpreter, value.list->items[i], true, depth + 1, out))
            return false;
    }
    return true;
}

static bool add_text(ufl_interpreter *interpreter, ufl_value value, bool quoted, int depth,
                     weft_text *out) {
    char digits[40];
    if (depth > UFL_NESTING_MAX) {
        weft_text_add(out, "...");
        return true;
    }
    switch (value.kind) {
    case UFL_K_NONE:
        weft_text_add(out, "None");
        break;
    case UFL_K_BOOL:
        weft_text_add(out, value.integer ? "True" : "False");
        break;
    case UFL_K_INT:
        weft_text_add(out, "%lld", (long long)value.integer);
        break;
    case UFL_K_FLOAT: /* the shortest text that reads back */
        weft_number_print(value.number, 1, digits);
        weft_text_add(out, "%s%s", digits, strpbrk(digits, ".en") ? "" : ".0");
        break;
    case UFL_K_STRING:
        weft_text_add(out, quoted ? "'%s'" : "%s", value.text);
        break;
    case UFL_K_TUPLE:
        weft_text_add(out, "(");
        if (!add_items(interpreter, value, depth, out))
            return false;
        weft_text_add(out, value.list->n == 1 ? ",)" : ")");
        break;
    case UFL_K_LIST:
    case UFL_K_DICT:
        weft_text_add(out, value.kind == UFL_K_DICT ? "{" : "[");
        if (!add_items(interpreter, value, depth, out))
            return false;
        weft_text_add(out, value.kind == UFL_K_DICT ? "}" : "]");
        break;
    case UFL_K_NODE:
        ufl_expression_text(value.node, NULL, 10000, out);
        break;
    case UFL_K_CELL:
        weft_text_add(out, "%s", ufl_cell_name((ufl_cell_type)value.integer));
        break;
    case UFL_K_ENUM:
        weft_text_add(out, "%s", value.name ? value.name : value.text);
        break;
    case UFL_K_ELEMENT:
        weft_text_add(out, "%s", value.element->name);
        break;
    default:
        weft_text_add(out, "<%s>", ufl_kind_words(value));
    }
    return true;
}

const char *ufl_value_text(ufl_interpreter *interpreter, ufl_value value) {
    weft_text text = {0};
    const char *copy = NULL;
    weft_text_add(&text, "%s", "");
    if (add_text(interpreter, value, false, 0, &text) && !text.failed)
        copy = ufl_copy(interpreter->context, text.data ? text.data : "", text.length);
    else if (text.failed && interpreter->context->status == WEFT_OK)
        interpreter->context->status = weft_out_of_memory(interpreter->context->error, NULL);
    weft_text_free(&text);
    return copy;
}
