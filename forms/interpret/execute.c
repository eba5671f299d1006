/* Executes statements; functions of the file. */
#include "forms/interpret/private.h"

#include <string.h>

/* ---- assignment ---- */

static bool unpack(ufl_interpreter *interpreter, const ufl_syntax *target, ufl_value value) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (!ufl_iterate(interpreter, value, &items, &n))
        return false;
    if (n != (size_t)target->n_items) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%zu value%s for %d names", n, n == 1 ? "" : "s",
                  target->n_items);
        return false;
    }
    for (size_t i = 0; i < n; ++i)
        if (!ufl_assign(interpreter, target->items[i], items[i]))
            return false;
    return true;
}

/* The address of list[index], or NULL and an error. */
static ufl_value *element_of(ufl_interpreter *interpreter, ufl_value list, ufl_value index) {
    int64_t at = index.integer;
    if (index.kind != UFL_K_INT) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the index of a list is an int, not %s",
                  ufl_kind_words(index));
        return NULL;
    }
    at = at < 0 ? at + (int64_t)list.list->n : at;
    if (at < 0 || at >= (int64_t)list.list->n) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE,
                  "index %lld is out of range: the list has %zu elements", (long long)index.integer,
                  list.list->n);
        return NULL;
    }
    return &list.list->items[at];
}

static bool assign_item(ufl_interpreter *interpreter, const ufl_syntax *target, ufl_value value) {
    ufl_value object = ufl_evaluate(interpreter, target->items[0]);
    ufl_value index = object.kind ? ufl_evaluate(interpreter, target->items[1]) : object;
    if (!index.kind)
        return false;
    interpreter->context->place = target->place;
    if (object.kind == UFL_K_SCOPE && index.kind == UFL_K_STRING)
        return ufl_scope_bind(interpreter, object.scope, index.text, value);
    if (object.kind == UFL_K_DICT)
        return ufl_dict_set(interpreter, object.list, index, value);
    if (object.kind != UFL_K_LIST) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE, "elements of %s cannot be assigned",
                  ufl_kind_words(object));
        return false;
    }
    ufl_value *at = element_of(interpreter, object, index);
    if (at)
        *at = value;
    return at != NULL;
}

bool ufl_assign(ufl_interpreter *interpreter, const ufl_syntax *target, ufl_value value) {
    interpreter->context->place = target->place;
    value.property = false;
    switch (target->kind) {
    case UFL_NAME:
        return ufl_scope_bind(interpreter, interpreter->locals, target->text, value);
    case UFL_TUPLE:
    case UFL_LIST:
        return unpack(interpreter, target, value);
    case UFL_SUBSCRIPT:
        return assign_item(interpreter, target, value);
    default:
        ufl_wrong(interpreter, WEFT_ERROR_SYNTAX, "expected a name to assign to");
        return false;
    }
}

static bool augment(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    const ufl_syntax *target = statement->items[0];
    ufl_value old = ufl_evaluate(interpreter, target);
    ufl_value added = old.kind ? ufl_evaluate(interpreter, statement->items[1]) : old;
    if (!added.kind)
        return false;
    interpreter->context->place = statement->place;
    bool list = old.kind == UFL_K_LIST && strcmp(statement->text, "+") == 0;
    if (list && (added.kind == UFL_K_LIST || added.kind == UFL_K_TUPLE)) {
        size_t n = added.list->n; /* in place, as Python does; the list may be added to itself */
        for (size_t i = 0; i < n; ++i)
            if (!ufl_append(interpreter, old.list, added.list->items[i]))
                return false;
        return true;
    }
    ufl_value result = ufl_binary(interpreter, statement->text, old, added);
    return result.kind && ufl_assign(interpreter, target, result);
}

static bool delete_target(ufl_interpreter *interpreter, const ufl_syntax *target) {
    interpreter->context->place = target->place;
    if (target->kind == UFL_TUPLE || target->kind == UFL_LIST) {
        for (int i = 0; i < target->n_items; ++i)
            if (!delete_target(interpreter, target->items[i]))
                return false;
        return true;
    }
    if (target->kind == UFL_SUBSCRIPT) {
        ufl_value object = ufl_evaluate(interpreter, target->items[0]);
        ufl_value index = object.kind ? ufl_evaluate(interpreter, target->items[1]) : object;
        ufl_value *bound = object.kind == UFL_K_SCOPE && index.kind == UFL_K_STRING
                               ? ufl_scope_find(object.scope, index.text)
                               : NULL;
        if (bound) {
            *bound = ufl_nothing();
            return true;
        }
        ufl_value *at = object.kind == UFL_K_LIST ? element_of(interpreter, object, index) : NULL;
        if (!at) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE, "an element of %s cannot be deleted",
                      ufl_kind_words(object));
            return false;
        }
        memmove(at, at + 1, (size_t)(object.list->items + object.list->n - at - 1) * sizeof *at);
        --object.list->n;
        return true;
    }
    ufl_value *value = ufl_scope_find(interpreter->locals, target->text);
    if (!value) {
        ufl_wrong(interpreter, WEFT_ERROR_TYPE, "there is no variable '%s' to delete",
                  target->text);
        return false;
    }
    *value = ufl_nothing();
    return true;
}

/* ---- import ---- */

static const ufl_module_table *find_module(ufl_interpreter *interpreter, const char *name) {
    bool legacy = interpreter->legacy && strcmp(name, "ufl") == 0;
    const ufl_module_table *module = ufl_module_find(legacy ? "ufl_legacy" : name);
    if (module)
        return module;
    const char *const *names = ufl_module_names();
    size_t n = 0;
    while (names[n])
        ++n;
    const char *nearest = weft_nearest_name(name, names, n);
    ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "the module '%s' is not available in form files",
              name);
    if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    else
        ufl_hint(interpreter->context, "form files import from ufl, basix, basix.ufl and math");
    return NULL;
}

static bool import(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    const ufl_module_table *module = find_module(interpreter, statement->text);
    if (!module)
        return false;
    ufl_value value = {.kind = UFL_K_MODULE, .module = module};
    if (statement->name)
        return ufl_scope_bind(interpreter, interpreter->locals, statement->name, value);
    const char *dot = strchr(statement->text, '.'); /* import a.b binds a */
    if (dot) {
        const char *first =
            ufl_copy(interpreter->context, statement->text, (size_t)(dot - statement->text));
        value.module = first ? find_module(interpreter, first) : NULL;
        return value.module && ufl_scope_bind(interpreter, interpreter->locals, first, value);
    }
    return ufl_scope_bind(interpreter, interpreter->locals, statement->text, value);
}

static bool import_from(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    const ufl_module_table *module = find_module(interpreter, statement->text);
    if (!module)
        return false;
    if (statement->n_items == 0)
        return ufl_module_import_all(interpreter, module);
    for (int i = 0; i < statement->n_items; ++i) {
        const ufl_syntax *item = statement->items[i];
        interpreter->context->place = item->place;
        ufl_value value = ufl_module_get(interpreter, module, item->text);
        if (!value.kind) {
            const char *path =
                ufl_print(interpreter->context, "%s.%s", statement->text, item->text);
            const ufl_module_table *inner = path ? ufl_module_find(path) : NULL;
            if (!inner) {
                ufl_module_miss(interpreter, module, item->text);
                return false;
            }
            value = (ufl_value){.kind = UFL_K_MODULE, .module = inner};
        }
        if (!ufl_scope_bind(interpreter, interpreter->locals, item->name, value))
            return false;
    }
    return true;
}

/* ---- statements ---- */

static bool execute_block(ufl_interpreter *interpreter, const ufl_syntax *block);

static bool define(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    ufl_value made = ufl_evaluate(interpreter, statement);
    return made.kind && ufl_scope_bind(interpreter, interpreter->locals, statement->text, made);
}

static bool loop(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    const ufl_value *items = NULL;
    size_t n = 0;
    ufl_value sequence = ufl_evaluate(interpreter, statement->items[1]);
    if (!sequence.kind)
        return false;
    interpreter->context->place = statement->items[1]->place;
    if (!ufl_iterate(interpreter, sequence, &items, &n))
        return false;
    for (size_t i = 0; i < n; ++i) {
        bool is_list = sequence.kind == UFL_K_LIST; /* the body may change the list */
        if (is_list && i >= sequence.list->n)
            break;
        if (!ufl_assign(interpreter, statement->items[0],
                        is_list ? sequence.list->items[i] : items[i]) ||
            !execute_block(interpreter, statement->items[2]))
            return false;
        if (interpreter->flow == UFL_BROKEN) {
            interpreter->flow = UFL_GO_ON;
            break;
        }
        if (interpreter->flow == UFL_RETURNED)
            break;
        interpreter->flow = UFL_GO_ON;
    }
    return true;
}

static bool choose(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    bool truth = false;
    ufl_value condition = ufl_evaluate(interpreter, statement->items[0]);
    interpreter->context->place = statement->items[0]->place;
    if (!condition.kind || !ufl_truth(interpreter, condition, &truth))
        return false;
    if (truth)
        return execute_block(interpreter, statement->items[1]);
    return statement->n_items < 3 || execute_block(interpreter, statement->items[2]);
}

static bool execute_one(ufl_interpreter *interpreter, const ufl_syntax *statement) {
    ufl_value value = ufl_none();
    switch (statement->kind) {
    case UFL_BLOCK:
        return execute_block(interpreter, statement);
    case UFL_EXPRESSION:
        return ufl_evaluate(interpreter, statement->items[0]).kind != UFL_K_UNBOUND;
    case UFL_ASSIGN:
        value = ufl_evaluate(interpreter, statement->items[0]);
        for (int i = 1; value.kind && i < statement->n_items; ++i)
            if (!ufl_assign(interpreter, statement->items[i], value))
                return false;
        return value.kind != UFL_K_UNBOUND;
    case UFL_AUGMENT:
        return augment(interpreter, statement);
    case UFL_DEF:
        return define(interpreter, statement);
    case UFL_RETURN:
        if (statement->n_items > 0)
            value = ufl_evaluate(interpreter, statement->items[0]);
        interpreter->result = value;
        interpreter->flow = UFL_RETURNED;
        return value.kind != UFL_K_UNBOUND;
    case UFL_FOR:
        return loop(interpreter, statement);
    case UFL_IF:
        return choose(interpreter, statement);
    case UFL_BREAK:
        interpreter->flow = UFL_BROKEN;
        return true;
    case UFL_CONTINUE:
        interpreter->flow = UFL_CONTINUED;
        return true;
    case UFL_DEL:
        return delete_target(interpreter, statement->items[0]);
    case UFL_IMPORT:
        return import(interpreter, statement);
    case UFL_FROM:
        return import_from(interpreter, statement);
    default:
        return true;
    }
}

static bool execute_block(ufl_interpreter *interpreter, const ufl_syntax *block) {
    if (block->kind != UFL_BLOCK) /* the if of an elif */
        return execute_one(interpreter, block);
    for (int i = 0; i < block->n_items && interpreter->flow == UFL_GO_ON; ++i) {
        interpreter->context->place = block->items[i]->place;
        if (++interpreter->statements > UFL_STATEMENTS_MAX) {
            ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED,
                      "the file executes more than %d statements", UFL_STATEMENTS_MAX);
            return false;
        }
        if (!execute_one(interpreter, block->items[i]))
            return false;
    }
    return true;
}

/* ---- functions of the file ---- */

/* Bind the arguments of a call to the parameters. */
static bool bind_parameters(ufl_interpreter *interpreter, const ufl_closure *function,
                            ufl_scope *scope, const ufl_value *arguments, int n,
                            const char *const *keywords) {
    const ufl_syntax *syntax = function->syntax;
    const char *name = syntax->text ? syntax->text : "lambda";
    int n_parameters = syntax->n_items - 1, position = 0;
    for (int i = 0; i < n; ++i) {
        int slot = position;
        if (keywords && keywords[i]) {
            for (slot = 0; slot < n_parameters; ++slot)
                if (strcmp(syntax->items[slot + 1]->text, keywords[i]) == 0)
                    break;
        } else {
            ++position;
        }
        if (slot >= n_parameters && keywords && keywords[i]) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s has no argument '%s'", name, keywords[i]);
            return false;
        }
        if (slot >= n_parameters || ufl_scope_find(scope, syntax->items[slot + 1]->text)) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s has %d argument%s, it got %d", name,
                      n_parameters, n_parameters == 1 ? "" : "s", n);
            return false;
        }
        if (!ufl_scope_bind(interpreter, scope, syntax->items[slot + 1]->text, arguments[i]))
            return false;
    }
    for (int i = 0; i < n_parameters; ++i) {
        const char *parameter = syntax->items[i + 1]->text;
        if (ufl_scope_find(scope, parameter))
            continue;
        if (!function->defaults[i].kind) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s expects the argument '%s'", name,
                      parameter);
            return false;
        }
        if (!ufl_scope_bind(interpreter, scope, parameter, function->defaults[i]))
            return false;
    }
    return true;
}

ufl_value ufl_apply_closure(ufl_interpreter *interpreter, const ufl_closure *function,
                            const ufl_value *arguments, int n, const char *const *keywords) {
    ufl_scope *scope = ufl_scope_make(interpreter, function->scope);
    if (!scope || !bind_parameters(interpreter, function, scope, arguments, n, keywords))
        return ufl_nothing();
    if (interpreter->calls >= UFL_NESTING_MAX)
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "calls are nested more than %d deep",
                         UFL_NESTING_MAX);
    ufl_scope *before = interpreter->locals;
    ufl_place place = interpreter->context->place;
    interpreter->locals = scope;
    ++interpreter->calls;
    interpreter->result = ufl_none();
    ufl_value result = ufl_nothing();
    if (function->syntax->kind == UFL_LAMBDA)
        result = ufl_evaluate(interpreter, function->syntax->items[0]);
    else if (execute_block(interpreter, function->syntax->items[0]))
        result = interpreter->flow == UFL_RETURNED ? interpreter->result : ufl_none();
    --interpreter->calls;
    interpreter->flow = UFL_GO_ON;
    interpreter->locals = before;
    if (result.kind)
        interpreter->context->place = place;
    return result;
}

/* ---- whole files ---- */

static bool start(ufl_interpreter *interpreter, ufl_graph *graph, bool all_names) {
    *interpreter =
        (ufl_interpreter){.graph = graph, .context = graph->context, .legacy = all_names};
    interpreter->globals = interpreter->locals = ufl_scope_make(interpreter, NULL);
    graph->n_indices = graph->n_indices < 8 ? 8 : graph->n_indices; /* i, j, k, l, p, q, r, s */
    return interpreter->globals &&
           (!all_names || ufl_module_import_all(interpreter, ufl_module_find("ufl_legacy")));
}

const ufl_module *ufl_execute(ufl_graph *graph, const ufl_syntax *program, bool legacy) {
    ufl_interpreter interpreter;
    if (!program || !start(&interpreter, graph, legacy) || !execute_block(&interpreter, program))
        return NULL;
    return ufl_collect(&interpreter);
}

const ufl_module *ufl_execute_repr(ufl_graph *graph, const ufl_syntax *expression) {
    ufl_interpreter interpreter;
    if (!expression || !start(&interpreter, graph, true) ||
        !ufl_module_import_all(&interpreter, &ufl_repr_module))
        return NULL;
    interpreter.legacy = false;
    ufl_value value = ufl_evaluate(&interpreter, expression);
    if (!value.kind)
        return NULL;
    if (value.kind != UFL_K_FORM) {
        ufl_wrong(&interpreter, WEFT_ERROR_TYPE, "the text describes %s, not a form",
                  ufl_kind_words(value));
        return NULL;
    }
    return ufl_scope_bind(&interpreter, interpreter.globals, "a", value) ? ufl_collect(&interpreter)
                                                                         : NULL;
}
