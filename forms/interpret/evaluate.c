/* Evaluates expressions. */
#include "forms/interpret/private.h"

#include <string.h>

static ufl_value unknown_name(ufl_interpreter *interpreter, const char *name) {
    const char *names[2000];
    size_t n = 0;
    for (const ufl_scope *scope = interpreter->locals; scope; scope = scope->parent)
        for (size_t i = 0; i < (size_t)1 << scope->bits && n < 1500; ++i)
            if (scope->names[i] && scope->values[i].kind)
                names[n++] = scope->names[i];
    for (const ufl_builtin *row = ufl_python_builtins; row->name && n < 1900; ++row)
        names[n++] = row->name;
    for (const ufl_builtin *row = ufl_problem_builtins; row->name && n < 2000; ++row)
        names[n++] = row->name;
    const char *nearest = weft_nearest_name(name, names, n);
    if (ufl_refuse_name(interpreter, name))
        return ufl_nothing();
    if (ufl_refused_words(name))
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "%s (%s) are not supported",
                         ufl_refused_words(name), name);
    ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the name '%s' is not defined", name);
    ufl_value known = ufl_module_get(interpreter, ufl_module_find("ufl"), name);
    if (known.kind)
        ufl_hint(interpreter->context, "write 'from ufl import %s'", name);
    else if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    return ufl_nothing();
}

static ufl_value look_up(ufl_interpreter *interpreter, const char *name) {
    for (const ufl_scope *scope = interpreter->locals; scope; scope = scope->parent) {
        const ufl_value *value = ufl_scope_find(scope, name);
        if (value)
            return *value;
    }
    for (const ufl_builtin *row = ufl_python_builtins; row->name; ++row)
        if (strcmp(row->name, name) == 0)
            return (ufl_value){.kind = UFL_K_BUILTIN, .builtin = row};
    for (const ufl_builtin *row = ufl_problem_builtins; row->name; ++row)
        if (strcmp(row->name, name) == 0)
            return (ufl_value){.kind = UFL_K_BUILTIN, .builtin = row};
    const ufl_value x =
        strcmp(name, "x") == 0 ? ufl_spatial_coordinate(interpreter) : ufl_nothing();
    if (x.kind || interpreter->context->status != WEFT_OK)
        return x;
    const ufl_value *file = strcmp(name, "__name__") == 0
                                ? &(ufl_value){.kind = UFL_K_STRING, .text = "form_file"}
                                : NULL;
    return file ? *file : unknown_name(interpreter, name);
}

static ufl_value sequence(ufl_interpreter *interpreter, const ufl_syntax *syntax, ufl_kind kind) {
    ufl_value made = ufl_of_items(interpreter, kind, NULL, 0);
    for (int i = 0; made.kind && i < syntax->n_items; ++i) {
        ufl_value item =
            syntax->items[i] ? ufl_evaluate(interpreter, syntax->items[i]) : ufl_none();
        if (!item.kind || !ufl_append(interpreter, made.list, item))
            return ufl_nothing();
    }
    return made;
}

/* {key: value, ...}: the last value of a key counts. */
static ufl_value dictionary(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    ufl_value made = ufl_of_items(interpreter, UFL_K_DICT, NULL, 0);
    for (int i = 0; made.kind && i + 1 < syntax->n_items; i += 2) {
        const ufl_value key = ufl_evaluate(interpreter, syntax->items[i]);
        const ufl_value value = key.kind ? ufl_evaluate(interpreter, syntax->items[i + 1]) : key;
        if (!value.kind || !ufl_dict_set(interpreter, made.list, key, value))
            return ufl_nothing();
    }
    return made;
}

static ufl_value format(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    const char *text = "";
    for (int i = 0; text && i < syntax->n_items; ++i) {
        ufl_value part = ufl_evaluate(interpreter, syntax->items[i]);
        const char *added = part.kind ? ufl_value_text(interpreter, part) : NULL;
        if (added && strlen(text) + strlen(added) > UFL_LIST_MAX)
            return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                             "a string has more than %d characters", UFL_LIST_MAX);
        text = added ? ufl_print(interpreter->context, "%s%s", text, added) : NULL;
    }
    return ufl_of_text(text);
}

static ufl_value comparison(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    ufl_value left = ufl_evaluate(interpreter, syntax->items[0]), result = left;
    for (int i = 1; left.kind && i < syntax->n_items; ++i) {
        bool truth = false;
        ufl_value right = ufl_evaluate(interpreter, syntax->items[i]);
        if (!right.kind)
            return right;
        interpreter->context->place = syntax->place;
        result = ufl_relation(interpreter, syntax->operators[i - 1], left, right);
        if (!result.kind || i + 1 == syntax->n_items)
            return result;
        if (!ufl_truth(interpreter, result, &truth))
            return ufl_nothing();
        if (!truth)
            return result;
        left = right;
    }
    return result;
}

static ufl_value logical(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    bool truth = false, is_or = strcmp(syntax->text, "or") == 0;
    ufl_value left = ufl_evaluate(interpreter, syntax->items[0]);
    interpreter->context->place = syntax->place;
    if (!left.kind || !ufl_truth(interpreter, left, &truth))
        return ufl_nothing();
    return truth == is_or ? left : ufl_evaluate(interpreter, syntax->items[1]);
}

/* Loops of a comprehension from clause `at` on. */
static bool comprehend(ufl_interpreter *interpreter, const ufl_syntax *syntax, int at,
                       ufl_list *out) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (at == syntax->n_items) {
        ufl_value item = ufl_evaluate(interpreter, syntax->items[0]);
        return item.kind && ufl_append(interpreter, out, item);
    }
    ufl_value source = ufl_evaluate(interpreter, syntax->items[at + 1]);
    if (!source.kind || !ufl_iterate(interpreter, source, &items, &n))
        return false;
    for (size_t i = 0; i < n; ++i) {
        bool truth = false;
        if (++interpreter->statements > UFL_STATEMENTS_MAX) {
            ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                      "the file executes more than %d statements", UFL_STATEMENTS_MAX);
            return false;
        }
        if (!ufl_assign(interpreter, syntax->items[at], items[i]))
            return false;
        ufl_value condition = ufl_evaluate(interpreter, syntax->items[at + 2]);
        if (!condition.kind || !ufl_truth(interpreter, condition, &truth) ||
            (truth && !comprehend(interpreter, syntax, at + 3, out)))
            return false;
    }
    return true;
}

static ufl_value comprehension(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    ufl_value made = ufl_of_items(interpreter, UFL_K_LIST, NULL, 0);
    ufl_scope *before = interpreter->locals;
    interpreter->locals = ufl_scope_make(interpreter, before);
    bool fine = made.kind && interpreter->locals && comprehend(interpreter, syntax, 1, made.list);
    interpreter->locals = before;
    return fine ? made : ufl_nothing();
}

static ufl_value make_function(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    ufl_closure *function = ufl_alloc(interpreter->context, 1, sizeof *function);
    ufl_value *defaults =
        ufl_alloc(interpreter->context, (size_t)syntax->n_items, sizeof *defaults);
    if (!function || !defaults)
        return ufl_nothing();
    for (int i = 1; i < syntax->n_items; ++i)
        if (syntax->items[i]->n_items > 0) {
            defaults[i - 1] = ufl_evaluate(interpreter, syntax->items[i]->items[0]);
            if (!defaults[i - 1].kind)
                return ufl_nothing();
        }
    *function = (ufl_closure){syntax, interpreter->locals, defaults};
    return (ufl_value){.kind = UFL_K_FUNCTION, .function = function};
}

/* ---- calls ---- */

/* A measure that is called: dx(1), dx(degree=2). */
static ufl_value call_value(ufl_interpreter *interpreter, ufl_value function,
                            const ufl_value *arguments, int n, const char *const *keywords) {
    if (function.property && n == 0) {
        function.property = false;
        return function;
    }
    const char *method =
        function.kind == UFL_K_MEASURE || function.kind == UFL_K_NODE || function.kind == UFL_K_ENUM
            ? "__call__"
            : NULL;
    ufl_value callable = method ? ufl_attribute(interpreter, function, method) : ufl_nothing();
    if (method)
        return callable.kind ? ufl_apply(interpreter, callable, arguments, n, keywords) : callable;
    return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s cannot be called", ufl_kind_words(function));
}

ufl_value ufl_apply(ufl_interpreter *interpreter, ufl_value function, const ufl_value *arguments,
                    int n, const char *const *keywords) {
    if (function.kind == UFL_K_FUNCTION)
        return ufl_apply_closure(interpreter, function.function, arguments, n, keywords);
    if (function.kind == UFL_K_BUILTIN)
        return ufl_call_builtin(interpreter, function.builtin,
                                function.bound ? function.bound->items[0] : ufl_none(), arguments,
                                n, keywords);
    return call_value(interpreter, function, arguments, n, keywords);
}

static ufl_value call(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    ufl_list list = {0};
    const char **keywords = NULL;
    ufl_value function = ufl_evaluate(interpreter, syntax->items[0]);
    if (!function.kind)
        return function;
    for (int i = 1; i < syntax->n_items; ++i) {
        const ufl_syntax *item = syntax->items[i];
        bool wrapped = item->kind == UFL_KEYWORD || item->kind == UFL_STARRED;
        ufl_value value = ufl_evaluate(interpreter, wrapped ? item->items[0] : item);
        const ufl_value *items = &value;
        size_t n = 1;
        if (!value.kind ||
            (item->kind == UFL_STARRED && !ufl_iterate(interpreter, value, &items, &n)))
            return ufl_nothing();
        for (size_t k = 0; k < n; ++k) {
            keywords = ufl_grow(interpreter->context, keywords, list.n, sizeof *keywords);
            if (!keywords)
                return ufl_nothing();
            keywords[list.n] = item->kind == UFL_KEYWORD ? item->text : NULL;
            value = items[k];
            value.property = false;
            if (!ufl_append(interpreter, &list, value))
                return ufl_nothing();
        }
    }
    interpreter->context->place = syntax->place;
    return ufl_apply(interpreter, function, list.items, (int)list.n, keywords);
}

/* Literals and names. */
static ufl_value atom(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    switch (syntax->kind) {
    case UFL_INTEGER:
        return ufl_of_int(syntax->integer);
    case UFL_REAL_NUMBER:
        return ufl_of_float(syntax->number);
    case UFL_STRING:
        return ufl_of_text(syntax->text);
    case UFL_FORMAT:
        return format(interpreter, syntax);
    case UFL_NAME:
        interpreter->context->place = syntax->place;
        return look_up(interpreter, syntax->text);
    case UFL_TRUE:
    case UFL_FALSE:
        return ufl_of_bool(syntax->kind == UFL_TRUE);
    case UFL_NONE:
        return ufl_none();
    case UFL_ELLIPSIS:
        return (ufl_value){.kind = UFL_K_ELLIPSIS};
    default:
        return ufl_wrong(interpreter, WEFT_ERROR_INTERNAL,
                         "an expression that cannot be evaluated");
    }
}

static ufl_value evaluate(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    ufl_value a = ufl_none(), b = a;
    bool truth = false;
    switch (syntax->kind) {
    case UFL_TUPLE:
        return sequence(interpreter, syntax, UFL_K_TUPLE);
    case UFL_LIST:
        return sequence(interpreter, syntax, UFL_K_LIST);
    case UFL_DICT:
        return dictionary(interpreter, syntax);
    case UFL_SLICE:
        return sequence(interpreter, syntax, UFL_K_SLICE);
    case UFL_CALL:
        return call(interpreter, syntax);
    case UFL_COMPARISON:
        return comparison(interpreter, syntax);
    case UFL_LOGICAL:
        return logical(interpreter, syntax);
    case UFL_COMPREHENSION:
        return comprehension(interpreter, syntax);
    case UFL_LAMBDA:
    case UFL_DEF:
        return make_function(interpreter, syntax);
    case UFL_CHOICE:
        a = ufl_evaluate(interpreter, syntax->items[0]);
        if (!a.kind || !ufl_truth(interpreter, a, &truth))
            return ufl_nothing();
        return ufl_evaluate(interpreter, syntax->items[truth ? 1 : 2]);
    case UFL_ATTRIBUTE:
        a = ufl_evaluate(interpreter, syntax->items[0]);
        interpreter->context->place = syntax->place;
        return a.kind ? ufl_attribute(interpreter, a, syntax->text) : a;
    case UFL_UNARY:
        a = ufl_evaluate(interpreter, syntax->items[0]);
        interpreter->context->place = syntax->place;
        return a.kind ? ufl_unary(interpreter, syntax->text, a) : a;
    case UFL_BINARY:
    case UFL_SUBSCRIPT:
        a = ufl_evaluate(interpreter, syntax->items[0]);
        b = a.kind ? ufl_evaluate(interpreter, syntax->items[1]) : a;
        interpreter->context->place = syntax->place;
        if (!b.kind)
            return b;
        return syntax->kind == UFL_BINARY ? ufl_binary(interpreter, syntax->text, a, b)
                                          : ufl_subscript(interpreter, a, b);
    default:
        return atom(interpreter, syntax);
    }
}

ufl_value ufl_evaluate(ufl_interpreter *interpreter, const ufl_syntax *syntax) {
    if (interpreter->context->status != WEFT_OK)
        return ufl_nothing();
    if (++interpreter->frames > UFL_FRAMES_MAX) {
        interpreter->context->place = syntax->place;
        ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                  "calls and expressions are nested more than %d deep", UFL_FRAMES_MAX);
        return ufl_nothing();
    }
    ufl_value value = evaluate(interpreter, syntax);
    --interpreter->frames;
    return value;
}
