/* Python's operators on all kinds of values. */
#include "forms/interpret/private.h"

#include <math.h>
#include <string.h>

static bool is_number(ufl_value value) {
    return value.kind == UFL_K_INT || value.kind == UFL_K_FLOAT || value.kind == UFL_K_BOOL;
}

static double number_of(ufl_value value) {
    return value.kind == UFL_K_FLOAT ? value.number : (double)value.integer;
}

static bool is_list(ufl_value value) {
    return value.kind == UFL_K_LIST || value.kind == UFL_K_TUPLE;
}

static ufl_value refuse(ufl_interpreter *interpreter, const char *symbol, ufl_value a,
                        ufl_value b) {
    return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "'%s' of %s and %s is not defined", symbol,
                     ufl_kind_words(a), ufl_kind_words(b));
}

/* ---- numbers ---- */

static ufl_value overflow(ufl_interpreter *interpreter) {
    return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                     "an integer of the file is larger than 2**63 - 1");
}

/* Quotient rounded down, and the remainder that belongs to it. */
static ufl_value divide_integers(ufl_interpreter *interpreter, int64_t a, int64_t b,
                                 bool quotient) {
    if (b == 0)
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "division by zero");
    if (a == INT64_MIN && b == -1)
        return overflow(interpreter);
    int64_t q = a / b, r = a % b;
    bool adjust = r != 0 && (r < 0) != (b < 0);
    return ufl_of_int(quotient ? q - adjust : r + (adjust ? b : 0));
}

static ufl_value integer_power(ufl_interpreter *interpreter, int64_t base, int64_t exponent) {
    int64_t result = 1;
    if (exponent < 0)
        return base == 0 ? ufl_wrong(interpreter, WEFT_ERROR_TYPE, "0 to a negative power")
                         : ufl_of_float(pow((double)base, (double)exponent));
    if (base == 0 || base == 1 || base == -1)
        return ufl_of_int(exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base);
    for (int64_t i = 0; i < exponent; ++i)
        if (__builtin_mul_overflow(result, base, &result))
            return overflow(interpreter);
    return ufl_of_int(result);
}

static ufl_value integers(ufl_interpreter *interpreter, const char *symbol, int64_t a, int64_t b) {
    int64_t result = 0;
    if (strcmp(symbol, "**") == 0)
        return integer_power(interpreter, a, b);
    if (strcmp(symbol, "//") == 0 || *symbol == '%')
        return divide_integers(interpreter, a, b, *symbol == '/');
    bool failed = *symbol == '+'   ? __builtin_add_overflow(a, b, &result)
                  : *symbol == '-' ? __builtin_sub_overflow(a, b, &result)
                                   : __builtin_mul_overflow(a, b, &result);
    return failed ? overflow(interpreter) : ufl_of_int(result);
}

static ufl_value numbers(ufl_interpreter *interpreter, const char *symbol, ufl_value a,
                         ufl_value b) {
    bool exact = a.kind != UFL_K_FLOAT && b.kind != UFL_K_FLOAT && strcmp(symbol, "/") != 0;
    double x = number_of(a), y = number_of(b);
    if (strchr("|^&@<>", *symbol))
        return refuse(interpreter, symbol, a, b);
    if (exact)
        return integers(interpreter, symbol, a.integer, b.integer);
    if ((*symbol == '/' || *symbol == '%') && y == 0)
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "division by zero");
    if (strcmp(symbol, "**") == 0) {
        if (x < 0 && y != floor(y))
            return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                             "%g ** %g is a complex number, which Weft does not have", x, y);
        return ufl_of_float(pow(x, y));
    }
    if (strcmp(symbol, "//") == 0)
        return ufl_of_float(floor(x / y));
    switch (*symbol) {
    case '+':
        return ufl_of_float(x + y);
    case '-':
        return ufl_of_float(x - y);
    case '*':
        return ufl_of_float(x * y);
    case '/':
        return ufl_of_float(x / y);
    default:
        return ufl_of_float(x - floor(x / y) * y);
    }
}

/* ---- sequences ---- */

static ufl_value repeat(ufl_interpreter *interpreter, ufl_value list, int64_t times) {
    ufl_value made = ufl_of_items(interpreter, list.kind, NULL, 0);
    for (int64_t k = 0; made.kind && list.list->n > 0 && k < times; ++k)
        for (size_t i = 0; i < list.list->n; ++i)
            if (!ufl_append(interpreter, made.list, list.list->items[i]))
                return ufl_nothing();
    return made;
}

static ufl_value join(ufl_interpreter *interpreter, ufl_value a, ufl_value b) {
    ufl_value made = ufl_of_items(interpreter, a.kind, a.list->items, a.list->n);
    for (size_t i = 0; made.kind && i < b.list->n; ++i)
        if (!ufl_append(interpreter, made.list, b.list->items[i]))
            return ufl_nothing();
    return made;
}

static ufl_value strings(ufl_interpreter *interpreter, const char *symbol, ufl_value a,
                         ufl_value b) {
    if (*symbol != '+' || b.kind != UFL_K_STRING)
        return refuse(interpreter, symbol, a, b);
    if (strlen(a.text) + strlen(b.text) > UFL_LIST_MAX)
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                         "a string has more than %d characters", UFL_LIST_MAX);
    return ufl_of_text(ufl_print(interpreter->context, "%s%s", a.text, b.text));
}

/* ---- expressions, forms, elements, measures ---- */

static ufl_value expressions(ufl_interpreter *interpreter, const char *symbol, ufl_value a,
                             ufl_value b) {
    ufl_graph *graph = interpreter->graph;
    if (strcmp(symbol, "+") == 0 && (a.kind == UFL_K_INT || b.kind == UFL_K_INT)) {
        ufl_value number = a.kind == UFL_K_INT ? a : b; /* sum() of tensors starts from 0 */
        if (number.integer == 0)
            return a.kind == UFL_K_INT ? b : a;
    }
    const ufl_node *x = ufl_to_node(interpreter, a, "an operand");
    const ufl_node *y = ufl_to_node(interpreter, b, "an operand");
    if (strcmp(symbol, "**") == 0)
        return ufl_of_node(ufl_power(graph, x, y));
    if (strcmp(symbol, "//") == 0 || strchr("|^&@<>%", *symbol))
        return refuse(interpreter, symbol, a, b);
    switch (*symbol) {
    case '+':
        return ufl_of_node(ufl_add(graph, x, y));
    case '-':
        return ufl_of_node(ufl_subtract(graph, x, y));
    case '*':
        return ufl_of_node(ufl_multiply(graph, x, y));
    default:
        return ufl_of_node(ufl_divide(graph, x, y));
    }
}

/* a^(i, j) = as_tensor(a, (i, j)) */
static ufl_value as_tensor(ufl_interpreter *interpreter, ufl_value a, ufl_value b) {
    int indices[UFL_RANK_MAX];
    int n = ufl_free_indices(interpreter, b, indices);
    return n < 0 ? ufl_nothing()
                 : ufl_of_node(ufl_as_tensor(interpreter->graph, a.node, indices, n));
}

/* Does a scalar have one value for the whole mesh? Only such a scalar can multiply a form. */
static bool is_global(const ufl_node *node) {
    if (node->type == UFL_ARGUMENT || node->type == UFL_GEOMETRY)
        return false;
    if (node->type == UFL_COEFFICIENT)
        return ufl_element_about(node->space->element)->is_global;
    for (int i = 0; i < node->n_operands; ++i)
        if (!is_global(ufl_operand(node, i)))
            return false;
    return true;
}

static ufl_value scaled_form(ufl_interpreter *interpreter, ufl_value scalar, const ufl_form *form) {
    const ufl_node *node = ufl_to_node(interpreter, scalar, "the factor of a form");
    if (node && !is_global(node)) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                  "a form can be multiplied by a number or a Constant alone");
        ufl_hint(interpreter->context, "multiply the integrand: f*v*dx");
        return ufl_nothing();
    }
    return ufl_of_form(ufl_form_scale(interpreter->graph, node, form));
}

static ufl_value forms(ufl_interpreter *interpreter, const char *symbol, ufl_value a, ufl_value b) {
    ufl_graph *graph = interpreter->graph;
    bool both = a.kind == UFL_K_FORM && b.kind == UFL_K_FORM;
    if (strcmp(symbol, "*") == 0 && !both) {
        if (a.kind == UFL_K_FORM && b.kind == UFL_K_NODE && b.node->type == UFL_COEFFICIENT)
            return ufl_of_form(ufl_action(graph, a.form, b.node));
        ufl_value factor = a.kind == UFL_K_FORM ? b : a;
        if (is_number(factor) || factor.kind == UFL_K_NODE)
            return scaled_form(interpreter, factor, a.kind == UFL_K_FORM ? a.form : b.form);
    }
    bool sum = strcmp(symbol, "+") == 0, difference = strcmp(symbol, "-") == 0;
    if (!sum && !difference)
        return refuse(interpreter, symbol, a, b);
    const ufl_node *minus = ufl_int(graph, -1);
    if (both)
        return ufl_of_form(
            ufl_form_add(graph, a.form, sum ? b.form : ufl_form_scale(graph, minus, b.form)));
    ufl_value other = a.kind == UFL_K_FORM ? b : a, form = a.kind == UFL_K_FORM ? a : b;
    bool zero = (is_number(other) && number_of(other) == 0) ||
                (other.kind == UFL_K_NODE && ufl_is_zero(other.node));
    if (zero)
        return sum || a.kind == UFL_K_FORM ? form
                                           : ufl_of_form(ufl_form_scale(graph, minus, form.form));
    refuse(interpreter, symbol, a, b);
    ufl_hint(interpreter->context, "every term of a form ends with a measure, such as *dx");
    return ufl_nothing();
}

static ufl_value elements(ufl_interpreter *interpreter, const char *symbol, ufl_value a,
                          ufl_value b) {
    const ufl_element *both[2] = {a.element, b.element};
    ufl_elements *all = interpreter->graph->elements;
    if (a.kind != b.kind || (strcmp(symbol, "*") != 0 && strcmp(symbol, "+") != 0))
        return refuse(interpreter, symbol, a, b);
    ufl_value made = ufl_of_element(*symbol == '*' ? ufl_element_mixed(all, both, 2)
                                                   : ufl_element_enriched(all, both, 2));
    made.gdim = a.gdim;
    return made;
}

static ufl_value measures(ufl_interpreter *interpreter, const char *symbol, ufl_value a,
                          ufl_value b) {
    if (strcmp(symbol, "+") == 0 && a.kind == UFL_K_MEASURE && b.kind == UFL_K_MEASURE) {
        ufl_measure *first = ufl_alloc(interpreter->context, 1, sizeof *first), *last = first;
        if (!first)
            return ufl_nothing();
        *first = *a.measure;
        while (last->next) {
            ufl_measure *copy = ufl_alloc(interpreter->context, 1, sizeof *copy);
            if (!copy)
                return ufl_nothing();
            *copy = *last->next;
            last->next = copy;
            last = copy;
        }
        last->next = b.measure;
        return (ufl_value){.kind = UFL_K_MEASURE, .measure = first};
    }
    if (strcmp(symbol, "*") == 0 && a.kind == UFL_K_MEASURE && b.kind == UFL_K_MEASURE)
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                         "products of measures are not supported");
    if (strcmp(symbol, "*") != 0 || b.kind != UFL_K_MEASURE) {
        refuse(interpreter, symbol, a, b);
        ufl_hint(interpreter->context, "the measure comes last: f*v*dx");
        return ufl_nothing();
    }
    if (a.kind == UFL_K_FORM) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE, "a form is multiplied by a second measure");
        return ufl_nothing();
    }
    return ufl_of_form(ufl_form_integrate(interpreter->graph,
                                          ufl_to_node(interpreter, a, "an integrand"), b.measure));
}

ufl_value ufl_binary(ufl_interpreter *interpreter, const char *symbol, ufl_value a, ufl_value b) {
    if (is_number(a) && is_number(b))
        return numbers(interpreter, symbol, a, b);
    if (a.kind == UFL_K_MEASURE || b.kind == UFL_K_MEASURE)
        return measures(interpreter, symbol, a, b);
    if (a.kind == UFL_K_FORM || b.kind == UFL_K_FORM)
        return forms(interpreter, symbol, a, b);
    if (a.kind == UFL_K_NODE && strcmp(symbol, "^") == 0)
        return as_tensor(interpreter, a, b);
    if ((a.kind == UFL_K_NODE && (b.kind == UFL_K_NODE || is_number(b))) ||
        (b.kind == UFL_K_NODE && is_number(a)))
        return expressions(interpreter, symbol, a, b);
    if (a.kind == UFL_K_ELEMENT)
        return elements(interpreter, symbol, a, b);
    if (is_list(a) && a.kind == b.kind && strcmp(symbol, "+") == 0)
        return join(interpreter, a, b);
    if (strcmp(symbol, "*") == 0 && is_list(a) && b.kind == UFL_K_INT)
        return repeat(interpreter, a, b.integer);
    if (strcmp(symbol, "*") == 0 && is_list(b) && a.kind == UFL_K_INT)
        return repeat(interpreter, b, a.integer);
    if (a.kind == UFL_K_STRING)
        return strings(interpreter, symbol, a, b);
    return refuse(interpreter, symbol, a, b);
}

ufl_value ufl_unary(ufl_interpreter *interpreter, const char *symbol, ufl_value a) {
    bool truth = false;
    if (strcmp(symbol, "not") == 0)
        return ufl_truth(interpreter, a, &truth) ? ufl_of_bool(!truth) : ufl_nothing();
    bool minus = *symbol == '-';
    switch (a.kind) {
    case UFL_K_INT:
    case UFL_K_BOOL:
        if (minus && a.integer == INT64_MIN)
            return overflow(interpreter);
        return ufl_of_int(minus ? -a.integer : a.integer);
    case UFL_K_FLOAT:
        return ufl_of_float(minus ? -a.number : a.number);
    case UFL_K_NODE:
        return minus ? ufl_of_node(ufl_negate(interpreter->graph, a.node)) : a;
    case UFL_K_FORM:
        return minus ? scaled_form(interpreter, ufl_of_int(-1), a.form) : a;
    default:
        return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "'%s' of %s is not defined", symbol,
                         ufl_kind_words(a));
    }
}

/* ---- comparisons ---- */

static ufl_value contains(ufl_interpreter *interpreter, ufl_value item, ufl_value list, bool want) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (list.kind == UFL_K_SCOPE && item.kind == UFL_K_STRING)
        return ufl_of_bool((ufl_scope_find(list.scope, item.text) != NULL) == want);
    if (list.kind == UFL_K_STRING && item.kind == UFL_K_STRING)
        return ufl_of_bool((strstr(list.text, item.text) != NULL) == want);
    if (list.kind == UFL_K_DICT) {
        ufl_value *found = NULL;
        return ufl_dict_find(interpreter, list.list, item, &found)
                   ? ufl_of_bool((found != NULL) == want)
                   : ufl_nothing();
    }
    if (!ufl_iterate(interpreter, list, &items, &n))
        return ufl_nothing();
    for (size_t i = 0; i < n; ++i)
        if (ufl_equal(items[i], item))
            return ufl_of_bool(want);
    return ufl_of_bool(!want);
}

ufl_value ufl_relation(ufl_interpreter *interpreter, const char *symbol, ufl_value a, ufl_value b) {
    static const char *const symbols[] = {"==", "!=", "<=", ">=", "<", ">"};
    int row = 0;
    if (strcmp(symbol, "in") == 0 || strcmp(symbol, "not in") == 0)
        return contains(interpreter, a, b, *symbol == 'i');
    if (strncmp(symbol, "is", 2) == 0)
        return ufl_of_bool(ufl_equal(a, b) == (symbol[2] == '\0'));
    if (is_list(a) && is_list(b) && !ufl_charge(interpreter, 2000 + (int64_t)a.list->n))
        return ufl_nothing();
    while (strcmp(symbols[row], symbol) != 0)
        ++row;
    if (row < 2) {
        if (row == 0 && a.kind == UFL_K_FORM && (b.kind == UFL_K_FORM || is_number(b))) {
            const ufl_value sides[2] = {a, b};
            return ufl_of_items(interpreter, UFL_K_EQUATION, sides, 2);
        }
        return ufl_of_bool(ufl_equal(a, b) == (row == 0));
    }
    if (a.kind == UFL_K_NODE || b.kind == UFL_K_NODE) {
        static const ufl_comparison comparisons[] = {UFL_EQ, UFL_NE, UFL_LE,
                                                     UFL_GE, UFL_LT, UFL_GT};
        return ufl_of_node(ufl_compare(interpreter->graph, comparisons[row],
                                       ufl_to_node(interpreter, a, "the left side"),
                                       ufl_to_node(interpreter, b, "the right side")));
    }
    bool texts = a.kind == UFL_K_STRING && b.kind == UFL_K_STRING;
    if (!texts && !(is_number(a) && is_number(b)))
        return refuse(interpreter, symbol, a, b);
    double difference = texts ? (double)strcmp(a.text, b.text) : number_of(a) - number_of(b);
    bool is = row == 2   ? difference <= 0
              : row == 3 ? difference >= 0
              : row == 4 ? difference < 0
                         : difference > 0;
    return ufl_of_bool(is);
}
