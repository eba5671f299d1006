/* What a file leaves behind: its forms, elements and names. */
#include "forms/interpret/private.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
    return strcmp(((const ufl_named_node *)a)->name, ((const ufl_named_node *)b)->name);
}

/* Names of functions and constants, in alphabetical order: the last one counts. */
static bool collect_names(ufl_interpreter *interpreter, ufl_module *module) {
    const ufl_scope *scope = interpreter->globals;
    ufl_named_node *names = ufl_alloc(interpreter->context, scope->n, sizeof *names);
    if (!names)
        return false;
    for (size_t i = 0; i < (size_t)1 << scope->bits; ++i) {
        ufl_value value = scope->values[i];
        if (scope->names[i] && value.kind == UFL_K_NODE && value.node->type >= UFL_ARGUMENT &&
            value.node->type <= UFL_GEOMETRY)
            names[module->n_names++] = (ufl_named_node){value.node, scope->names[i]};
    }
    qsort(names, (size_t)module->n_names, sizeof *names, by_name);
    module->names = names;
    return true;
}

const char *ufl_module_name(const ufl_module *module, const ufl_node *node) {
    for (int i = module->n_names - 1; i >= 0; --i)
        if (module->names[i].node == node)
            return module->names[i].name;
    return NULL;
}

const ufl_node *ufl_module_terminal(const ufl_module *module, const char *name) {
    for (int i = 0; i < module->n_names; ++i)
        if (strcmp(module->names[i].name, name) == 0)
            return module->names[i].node;
    return NULL;
}

int ufl_module_form(const ufl_module *module, const char *name) {
    const ufl_form *form = NULL;
    for (int i = 0; i < module->n_variables; ++i)
        if (strcmp(module->variables[i].name, name) == 0)
            form = module->variables[i].form;
    for (int i = 0; i < module->n_forms; ++i)
        if (module->forms[i].form == form || strcmp(module->forms[i].name, name) == 0)
            return i;
    return -1;
}

/* All variables that hold forms. */
static bool collect_variables(ufl_interpreter *interpreter, ufl_module *module) {
    const ufl_scope *scope = interpreter->globals;
    ufl_export *variables = ufl_alloc(interpreter->context, scope->n, sizeof *variables);
    if (!variables)
        return false;
    for (size_t i = 0; i < (size_t)1 << scope->bits; ++i)
        if (scope->names[i] && scope->values[i].kind == UFL_K_FORM)
            variables[module->n_variables++] = (ufl_export){scope->names[i], scope->values[i].form};
    module->variables = variables;
    return true;
}

/* The names of forms that UFL looks for, in the order in which it exports them. */
static const char *const roles[] = {"a", "L", "M", "F", "J", "A", "RHS"};
enum { ROLES = sizeof roles / sizeof *roles };

static const ufl_form *form_of(const ufl_scope *scope, const char *name) {
    const ufl_value *value = ufl_scope_find(scope, name);
    return value && value->kind == UFL_K_FORM ? value->form : NULL;
}

/* The variable that a form is called by: the first role that holds it, else the first in alphabetical order. */
static const char *form_name(const ufl_scope *scope, const ufl_form *form) {
    const char *name = NULL;
    for (int i = 0; i < ROLES; ++i)
        if (form_of(scope, roles[i]) == form)
            return roles[i];
    for (size_t i = 0; i < (size_t)1 << scope->bits; ++i)
        if (scope->names[i] && scope->values[i].kind == UFL_K_FORM &&
            scope->values[i].form == form && (!name || strcmp(scope->names[i], name) < 0))
            name = scope->names[i];
    return name;
}

static bool is_added(const ufl_module *module, int n, const ufl_form *form) {
    for (int i = 0; i < n; ++i)
        if (module->forms[i].form == form)
            return true;
    return false;
}

static bool add_form(ufl_interpreter *interpreter, ufl_module *module, ufl_export **forms,
                     const ufl_form *form, const char *name) {
    *forms = ufl_grow(interpreter->context, *forms, (size_t)module->n_forms, sizeof **forms);
    if (!*forms)
        return false;
    (*forms)[module->n_forms++] = (ufl_export){name, form};
    module->forms = *forms;
    return true;
}

/* forms = [...] */
static bool collect_list(ufl_interpreter *interpreter, ufl_module *module, ufl_export **forms,
                         ufl_value list) {
    const ufl_value *items = NULL;
    size_t n = 0;
    if (!ufl_iterate(interpreter, list, &items, &n))
        return false;
    for (size_t i = 0; i < n; ++i) {
        if (items[i].kind != UFL_K_FORM) {
            ufl_wrong(interpreter, WEFT_ERROR_TYPE, "forms[%zu] is %s, not a form", i,
                      ufl_kind_words(items[i]));
            return false;
        }
        const char *name = form_name(interpreter->globals, items[i].form);
        if (!name)
            name = ufl_print(interpreter->context, "forms[%zu]", i);
        if (!name || !add_form(interpreter, module, forms, items[i].form, name))
            return false;
    }
    return true;
}

/* What solve() names, whatever it is called. */
static bool collect_problem(ufl_interpreter *interpreter, ufl_module *module, ufl_export **forms) {
    const ufl_problem_of *problem = interpreter->problem;
    const ufl_form *sides[] = {problem ? problem->matrix : NULL, problem ? problem->vector : NULL};
    static const char *const nameless[] = {"solve_left", "solve_right"};
    for (int i = 0; i < 2; ++i) {
        if (!sides[i] || is_added(module, module->n_forms, sides[i]))
            continue;
        const char *name = form_name(interpreter->globals, sides[i]);
        if (!add_form(interpreter, module, forms, sides[i], name ? name : nameless[i]))
            return false;
    }
    return true;
}

/* F and J have no role beside a and L, A none beside a or F, RHS none beside L or without a or A. */
static bool has_role(const ufl_scope *scope, const char *name) {
    const bool a = form_of(scope, "a"), L = form_of(scope, "L"), F = form_of(scope, "F");
    if (strcmp(name, "F") == 0 || strcmp(name, "J") == 0)
        return !(a && L);
    if (strcmp(name, "A") == 0)
        return !a && !F;
    if (strcmp(name, "RHS") == 0)
        return !L && (a || (form_of(scope, "A") && !F));
    return true;
}

/* forms = [...], or else those that have roles; and what solve() names. */
static bool collect_forms(ufl_interpreter *interpreter, ufl_module *module) {
    const ufl_scope *scope = interpreter->globals;
    const ufl_value *list = ufl_scope_find(scope, "forms");
    const bool is_listed = list && list->kind != UFL_K_NONE;
    ufl_export *forms = NULL;
    if (is_listed && !collect_list(interpreter, module, &forms, *list))
        return false;
    if (!collect_problem(interpreter, module, &forms))
        return false;
    const int n_solved = module->n_forms;
    for (int i = 0; i < ROLES && !is_listed; ++i) {
        const ufl_form *form = form_of(scope, roles[i]);
        if (form && has_role(scope, roles[i]) && !is_added(module, n_solved, form) &&
            !add_form(interpreter, module, &forms, form, roles[i]))
            return false;
    }
    return true;
}

static bool collect_elements(ufl_interpreter *interpreter, ufl_module *module) {
    const ufl_value *list = ufl_scope_find(interpreter->globals, "elements"), *items = list;
    size_t n = 1;
    bool many = list && (list->kind == UFL_K_LIST || list->kind == UFL_K_TUPLE);
    if (!list)
        items = ufl_scope_find(interpreter->globals, "element");
    else if (many && !ufl_iterate(interpreter, *list, &items, &n))
        return false;
    if (!items)
        return true;
    const ufl_element **elements = ufl_alloc(interpreter->context, n, sizeof *elements);
    if (!elements)
        return false;
    for (size_t i = 0; i < n; ++i)
        if (items[i].kind == UFL_K_ELEMENT)
            elements[module->n_elements++] = items[i].element;
    module->elements = elements;
    return true;
}

/* expressions = [(expression, points), ...] */
static bool collect_expressions(ufl_interpreter *interpreter, ufl_module *module) {
    const ufl_value *list = ufl_scope_find(interpreter->globals, "expressions"), *items = NULL;
    size_t n = 0;
    if (!list || list->kind == UFL_K_NODE)
        return true;
    if (!ufl_iterate(interpreter, *list, &items, &n))
        return false;
    const ufl_node **nodes = ufl_alloc(interpreter->context, n, sizeof *nodes);
    if (!nodes)
        return false;
    for (size_t i = 0; i < n; ++i)
        if (items[i].kind == UFL_K_TUPLE && items[i].list->n > 0 &&
            items[i].list->items[0].kind == UFL_K_NODE)
            nodes[module->n_expressions++] = items[i].list->items[0].node;
    module->expressions = nodes;
    return true;
}

const ufl_module *ufl_collect(ufl_interpreter *interpreter) {
    ufl_module *module = ufl_alloc(interpreter->context, 1, sizeof *module);
    if (!module || !collect_names(interpreter, module) || !collect_forms(interpreter, module) ||
        !collect_variables(interpreter, module) || !collect_elements(interpreter, module) ||
        !collect_expressions(interpreter, module))
        return NULL;
    if (!ufl_check_solution(interpreter, module))
        return NULL;
    const ufl_value *unknown = ufl_scope_find(interpreter->globals, "unknown");
    module->unknown = unknown && unknown->kind == UFL_K_NODE ? unknown->node : NULL;
    module->problem = interpreter->problem;
    module->values = interpreter->values;
    module->n_values = interpreter->n_values;
    return module;
}
