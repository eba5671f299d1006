/* The built-in functions of Python and of its module math that form files use. */
#include "core/base/number.h"
#include "forms/interpret/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(ufl_value value) {
    return value.kind == UFL_K_INT || value.kind == UFL_K_FLOAT || value.kind == UFL_K_BOOL;
}

static double number_of(ufl_value value) {
    return value.kind == UFL_K_FLOAT ? value.number : (double)value.integer;
}

static ufl_value python_len(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (call->slots[0].kind == UFL_K_DICT)
        return ufl_of_int((int64_t)call->slots[0].list->n / 2);
    return ufl_iterate(call->interpreter, call->slots[0], &items, &n) ? ufl_of_int((int64_t)n)
                                                                      : ufl_nothing();
}

static ufl_value python_range(ufl_call *call) {
    int64_t first = 0, last = 0, step = 1;
    bool one = !ufl_given(call, 1);
    if (!ufl_slot_int(call, 0, one ? &last : &first) || (!one && !ufl_slot_int(call, 1, &last)) ||
        (ufl_given(call, 2) && !ufl_slot_int(call, 2, &step)))
        return ufl_nothing();
    if (step == 0 || step > UFL_LIST_MAX || step < -UFL_LIST_MAX)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "the step of range is an int below %d, and not 0", UFL_LIST_MAX);
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_LIST, NULL, 0);
    for (int64_t i = first; made.kind && (step > 0 ? i < last : i > last); i += step)
        if (!ufl_append(call->interpreter, made.list, ufl_of_int(i)))
            return ufl_nothing();
    return made;
}

static ufl_value python_abs(ufl_call *call) {
    ufl_value value = call->slots[0];
    if (value.kind == UFL_K_INT && value.integer > INT64_MIN)
        return ufl_of_int(value.integer < 0 ? -value.integer : value.integer);
    if (value.kind == UFL_K_FLOAT)
        return ufl_of_float(fabs(value.number));
    return ufl_of_node(ufl_abs(call->graph, ufl_slot_node(call, 0)));
}

static ufl_value python_sum(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    ufl_value sum = ufl_given(call, 1) ? call->slots[1] : ufl_of_int(0);
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    for (size_t i = 0; sum.kind && i < n; ++i)
        sum = ufl_binary(call->interpreter, "+", sum, items[i]);
    return sum;
}

/* tuple, list */
static ufl_value python_list(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (ufl_given(call, 0) && !ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    return ufl_of_items(call->interpreter, (ufl_kind)call->builtin->detail, items, n);
}

static ufl_value python_dict(ufl_call *call) {
    if (ufl_given(call, 0) && call->slots[0].kind == UFL_K_DICT &&
        !ufl_charge(call->interpreter, (int64_t)call->slots[0].list->n))
        return ufl_nothing();
    if (ufl_given(call, 0) && call->slots[0].kind == UFL_K_DICT)
        return ufl_of_items(call->interpreter, UFL_K_DICT, call->slots[0].list->items,
                            call->slots[0].list->n);
    return ufl_given(call, 0)
               ? ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED, "dict copies a dictionary")
               : ufl_of_items(call->interpreter, UFL_K_DICT, NULL, 0);
}

static ufl_value python_str(ufl_call *call) {
    return ufl_given(call, 0) ? ufl_of_text(ufl_value_text(call->interpreter, call->slots[0]))
                              : ufl_of_text("");
}

static ufl_value python_float(ufl_call *call) {
    ufl_value value = call->slots[0];
    char *end = NULL;
    if (value.kind == UFL_K_NODE && ufl_is_number(value.node))
        value = ufl_of_float(ufl_number(value.node));
    if (value.kind == UFL_K_STRING)
        value = ufl_of_float(weft_number_read(value.text, &end));
    if (!is_number(value) || (end && *end))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "float expects a number, not %s",
                         ufl_kind_words(call->slots[0]));
    return ufl_of_float(number_of(value));
}

static ufl_value python_int(ufl_call *call) {
    ufl_value value = call->slots[0];
    char *end = NULL;
    errno = 0;
    if (value.kind == UFL_K_STRING)
        value = ufl_of_int(strtoll(value.text, &end, 10));
    if (!is_number(value) || errno || (end && *end) ||
        (value.kind == UFL_K_FLOAT && !(fabs(value.number) < 9e18)))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "int expects a number, not %s",
                         ufl_kind_words(call->slots[0]));
    return value.kind == UFL_K_FLOAT ? ufl_of_int((int64_t)value.number)
                                     : ufl_of_int(value.integer);
}

static ufl_value python_bool(ufl_call *call) {
    bool truth = false;
    return ufl_truth(call->interpreter, call->slots[0], &truth) ? ufl_of_bool(truth)
                                                                : ufl_nothing();
}

/* min, max of numbers */
static ufl_value python_extremum(ufl_call *call) {
    const ufl_value *items = call->rest;
    size_t n = (size_t)call->n_rest;
    if (n == 1 && !ufl_iterate(call->interpreter, items[0], &items, &n))
        return ufl_nothing();
    ufl_value best = ufl_nothing();
    for (size_t i = 0; i < n; ++i) {
        if (!is_number(items[i])) {
            ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "%s expects numbers, not %s",
                      call->builtin->name, ufl_kind_words(items[i]));
            ufl_hint(call->interpreter->context, "for expressions write %s_value(a, b)",
                     call->builtin->name);
            return ufl_nothing();
        }
        bool better = !best.kind || (call->builtin->detail ? number_of(items[i]) > number_of(best)
                                                           : number_of(items[i]) < number_of(best));
        best = better ? items[i] : best;
    }
    return best.kind ? best
                     : ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "%s of nothing",
                                 call->builtin->name);
}

static ufl_value python_enumerate(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    int64_t start = 0;
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n) ||
        (ufl_given(call, 1) && !ufl_slot_int(call, 1, &start)))
        return ufl_nothing();
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_LIST, NULL, 0);
    for (size_t i = 0; made.kind && i < n; ++i) {
        const ufl_value pair[2] = {ufl_of_int(start + (int64_t)i), items[i]};
        ufl_value tuple = ufl_of_items(call->interpreter, UFL_K_TUPLE, pair, 2);
        if (!tuple.kind || !ufl_append(call->interpreter, made.list, tuple))
            return ufl_nothing();
    }
    return made;
}

static ufl_value python_zip(ufl_call *call) {
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_LIST, NULL, 0);
    const ufl_value *items[UFL_ARGUMENTS_MAX] = {NULL};
    size_t n[UFL_ARGUMENTS_MAX] = {0}, shortest = SIZE_MAX;
    if (call->n_rest > UFL_ARGUMENTS_MAX)
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED, "zip of more than %d lists",
                         UFL_ARGUMENTS_MAX);
    for (int k = 0; k < call->n_rest; ++k) {
        if (!ufl_iterate(call->interpreter, call->rest[k], &items[k], &n[k]))
            return ufl_nothing();
        shortest = shortest < n[k] ? shortest : n[k];
    }
    for (size_t i = 0; made.kind && call->n_rest > 0 && i < shortest; ++i) {
        ufl_value tuple = ufl_of_items(call->interpreter, UFL_K_TUPLE, NULL, 0);
        for (int k = 0; tuple.kind && k < call->n_rest; ++k)
            if (!ufl_append(call->interpreter, tuple.list, items[k][i]))
                return ufl_nothing();
        if (!tuple.kind || !ufl_append(call->interpreter, made.list, tuple))
            return ufl_nothing();
    }
    return made;
}

static ufl_value python_reversed(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_LIST, NULL, 0);
    for (size_t i = n; made.kind && i > 0; --i)
        if (!ufl_append(call->interpreter, made.list, items[i - 1]))
            return ufl_nothing();
    return made;
}

static ufl_value python_nothing(ufl_call *call) {
    (void)call;
    return ufl_none();
}

static ufl_value python_vars(ufl_call *call) {
    ufl_interpreter *interpreter = call->interpreter;
    if (interpreter->locals != interpreter->globals && call->builtin->detail == 0)
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                         "%s() is supported at the top level alone", call->builtin->name);
    return (ufl_value){.kind = UFL_K_SCOPE, .scope = interpreter->globals};
}

static ufl_value python_refused(ufl_call *call) {
    return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                     "%s() is not supported in form files", call->builtin->name);
}

static ufl_value python_pow(ufl_call *call) {
    return ufl_binary(call->interpreter, "**", call->slots[0], call->slots[1]);
}

static ufl_value python_round(ufl_call *call) {
    ufl_value value = call->slots[0];
    if (!is_number(value))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "round expects a number, not %s",
                         ufl_kind_words(value));
    return fabs(number_of(value)) < 9e18 ? ufl_of_int((int64_t)nearbyint(number_of(value))) : value;
}

const ufl_builtin ufl_python_builtins[] = {{"len", "value", python_len, 0},
                                           {"range", "start,stop=,step=", python_range, 0},
                                           {"abs", "value", python_abs, 0},
                                           {"sum", "values,start=", python_sum, 0},
                                           {"tuple", "values=", python_list, UFL_K_TUPLE},
                                           {"list", "values=", python_list, UFL_K_LIST},
                                           {"dict", "values=", python_dict, 0},
                                           {"str", "value=", python_str, 0},
                                           {"repr", "value=", python_str, 0},
                                           {"float", "value", python_float, 0},
                                           {"int", "value", python_int, 0},
                                           {"bool", "value", python_bool, 0},
                                           {"min", "*", python_extremum, 0},
                                           {"max", "*", python_extremum, 1},
                                           {"enumerate", "values,start=", python_enumerate, 0},
                                           {"zip", "*", python_zip, 0},
                                           {"reversed", "values", python_reversed, 0},
                                           {"pow", "base,exponent", python_pow, 0},
                                           {"round", "value", python_round, 0},
                                           {"print", "*", python_nothing, 0},
                                           {"vars", "", python_vars, 0},
                                           {"locals", "", python_vars, 0},
                                           {"globals", "", python_vars, 1},
                                           {"exec", "*", python_refused, 0},
                                           {"eval", "*", python_refused, 0},
                                           {"open", "*", python_refused, 0},
                                           {"compile", "*", python_refused, 0},
                                           {"input", "*", python_refused, 0},
                                           {"getattr", "*", python_refused, 0},
                                           {"setattr", "*", python_refused, 0},
                                           {"isinstance", "*", python_refused, 0},
                                           {"type", "*", python_refused, 0},
                                           {"map", "*", python_refused, 0},
                                           {"filter", "*", python_refused, 0},
                                           {"sorted", "*", python_refused, 0},
                                           {"set", "*", python_refused, 0},
                                           {"complex", "*", python_refused, 0},
                                           {"__import__", "*", python_refused, 0},
                                           {0}};

/* ---- math ---- */

static double (*const math_functions[])(double) = {sqrt,  exp,  log,  log10, log2,  sin,  cos,
                                                   tan,   asin, acos, atan,  sinh,  cosh, tanh,
                                                   floor, ceil, fabs, erf,   tgamma};

static ufl_value math_one(ufl_call *call) {
    double result = 0;
    if (!is_number(call->slots[0])) {
        ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "math.%s expects a number, not %s",
                  call->builtin->name, ufl_kind_words(call->slots[0]));
        ufl_hint(call->interpreter->context, "for expressions take the function of ufl");
        return ufl_nothing();
    }
    result = math_functions[call->builtin->detail](number_of(call->slots[0]));
    if (!isfinite(result))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "math.%s(%g) is not a finite number",
                         call->builtin->name, number_of(call->slots[0]));
    bool integer = call->builtin->detail == 14 || call->builtin->detail == 15;
    return integer && fabs(result) < 9e18 ? ufl_of_int((int64_t)result) : ufl_of_float(result);
}

static ufl_value math_two(ufl_call *call) {
    if (!is_number(call->slots[0]) || !is_number(call->slots[1]))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "math.%s expects numbers",
                         call->builtin->name);
    double x = number_of(call->slots[0]), y = number_of(call->slots[1]);
    double result = call->builtin->detail == 0   ? pow(x, y)
                    : call->builtin->detail == 1 ? atan2(x, y)
                                                 : hypot(x, y);
    return isfinite(result)
               ? ufl_of_float(result)
               : ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                           "math.%s(%g, %g) is not a finite number", call->builtin->name, x, y);
}

const ufl_builtin ufl_math_builtins[] = {{"sqrt", "x", math_one, 0},
                                         {"exp", "x", math_one, 1},
                                         {"log", "x", math_one, 2},
                                         {"log10", "x", math_one, 3},
                                         {"log2", "x", math_one, 4},
                                         {"sin", "x", math_one, 5},
                                         {"cos", "x", math_one, 6},
                                         {"tan", "x", math_one, 7},
                                         {"asin", "x", math_one, 8},
                                         {"acos", "x", math_one, 9},
                                         {"atan", "x", math_one, 10},
                                         {"sinh", "x", math_one, 11},
                                         {"cosh", "x", math_one, 12},
                                         {"tanh", "x", math_one, 13},
                                         {"floor", "x", math_one, 14},
                                         {"ceil", "x", math_one, 15},
                                         {"fabs", "x", math_one, 16},
                                         {"erf", "x", math_one, 17},
                                         {"gamma", "x", math_one, 18},
                                         {"pow", "x,y", math_two, 0},
                                         {"atan2", "x,y", math_two, 1},
                                         {"hypot", "x,y", math_two, 2},
                                         {0}};
