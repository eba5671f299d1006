/* Matches the arguments of a call with parameters, and converts them. */
#include "forms/interpret/private.h"

#include <stdio.h>
#include <string.h>

/* The parameter `slot` of "a,b,c=": its length; 0 where there is none. */
static size_t parameter_at(const char *parameters, int slot, const char **start) {
    *start = parameters;
    for (int i = 0; i < slot && *start; ++i) {
        *start = strchr(*start, ',');
        *start = *start ? *start + 1 : NULL;
    }
    return *start ? strcspn(*start, ",") : 0;
}

static const char *parameter_name(const ufl_builtin *builtin, int slot, char *out, size_t size) {
    const char *start = NULL;
    size_t length = parameter_at(builtin->parameters, slot, &start);
    if (length > 0 && start[length - 1] == '=')
        --length;
    snprintf(out, size, "%.*s", (int)length, length > 0 ? start : "");
    return out;
}

static const char *words_of(const ufl_builtin *builtin) {
    return strcmp(builtin->name, "__call__") == 0 ? "this call" : builtin->name;
}

static ufl_value wrong_count(ufl_interpreter *interpreter, const ufl_builtin *builtin, int n) {
    char list[200] = "", name[64];
    size_t length = 0;
    for (int i = 0; parameter_name(builtin, i, name, sizeof name)[0] && length < sizeof list; ++i)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", name);
    return ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s expects (%s), it got %d argument%s",
                     words_of(builtin), list, n, n == 1 ? "" : "s");
}

static ufl_value unknown_keyword(ufl_interpreter *interpreter, const ufl_builtin *builtin,
                                 const char *keyword) {
    char names[UFL_ARGUMENTS_MAX][64];
    const char *list[UFL_ARGUMENTS_MAX];
    size_t n = 0;
    while (n < UFL_ARGUMENTS_MAX && parameter_name(builtin, (int)n, names[n], sizeof names[n])[0]) {
        list[n] = names[n];
        ++n;
    }
    const char *nearest = weft_nearest_name(keyword, list, n);
    ufl_wrong(interpreter, WEFT_ERROR_TYPE, "%s has no argument '%s'", words_of(builtin), keyword);
    if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    return ufl_nothing();
}

/* The slot of a keyword, or -1. */
static int find_keyword(const ufl_builtin *builtin, const char *keyword) {
    char name[64];
    for (int i = 0; parameter_name(builtin, i, name, sizeof name)[0]; ++i)
        if (strcmp(name, keyword) == 0)
            return i;
    return -1;
}

ufl_value ufl_call_builtin(ufl_interpreter *interpreter, const ufl_builtin *builtin, ufl_value self,
                           const ufl_value *arguments, int n, const char *const *keywords) {
    ufl_call call = {
        .interpreter = interpreter, .graph = interpreter->graph, .builtin = builtin, .self = self};
    const char *start = NULL;
    int n_slots = 0, position = 0;
    bool rest = false;
    for (size_t length; (length = parameter_at(builtin->parameters, n_slots, &start)) > 0;) {
        if (*start == '*') {
            rest = true;
            break;
        }
        ++n_slots;
    }
    for (int i = 0; i < n; ++i) {
        int slot = keywords && keywords[i] ? find_keyword(builtin, keywords[i]) : position++;
        if (keywords && keywords[i] && (slot < 0 || slot >= n_slots))
            return unknown_keyword(interpreter, builtin, keywords[i]);
        if (slot >= n_slots && rest) {
            call.rest = call.rest ? call.rest : &arguments[i];
            ++call.n_rest;
            continue;
        }
        if (slot >= n_slots || call.slots[slot].kind != UFL_K_UNBOUND)
            return wrong_count(interpreter, builtin, n);
        call.slots[slot] = arguments[i];
    }
    for (int i = 0; i < n_slots; ++i) {
        size_t length = parameter_at(builtin->parameters, i, &start);
        if (call.slots[i].kind == UFL_K_UNBOUND && start[length - 1] != '=')
            return wrong_count(interpreter, builtin, n);
    }
    return builtin->run(&call);
}

bool ufl_given(const ufl_call *call, int slot) {
    return call->slots[slot].kind != UFL_K_UNBOUND && call->slots[slot].kind != UFL_K_NONE;
}

static void wrong_kind(ufl_interpreter *interpreter, const char *what, const char *wanted,
                       ufl_value value) {
    ufl_fail(interpreter->context, WEFT_ERROR_TYPE, "%s must be %s, not %s", what, wanted,
             ufl_kind_words(value));
}

const ufl_node *ufl_to_node(ufl_interpreter *interpreter, ufl_value value, const char *what) {
    switch (value.kind) {
    case UFL_K_NODE:
        return value.node;
    case UFL_K_INT:
    case UFL_K_BOOL:
        return ufl_int(interpreter->graph, value.integer);
    case UFL_K_FLOAT:
        return ufl_float(interpreter->graph, value.number);
    default:
        wrong_kind(interpreter, what, "an expression", value);
        if (value.kind == UFL_K_TUPLE || value.kind == UFL_K_LIST)
            ufl_hint(interpreter->context,
                     "as_vector, as_matrix and as_tensor make expressions of lists");
        if (value.kind == UFL_K_ELEMENT || value.kind == UFL_K_SPACE)
            ufl_hint(interpreter->context,
                     "Coefficient, TestFunction and TrialFunction make functions in a space");
        return NULL;
    }
}

static const char *slot_words(const ufl_call *call, int slot, char *out, size_t size) {
    char name[64];
    snprintf(out, size, "argument '%s' of %s",
             parameter_name(call->builtin, slot, name, sizeof name), call->builtin->name);
    return out;
}

const ufl_node *ufl_slot_node(ufl_call *call, int slot) {
    char what[128];
    return ufl_to_node(call->interpreter, call->slots[slot],
                       slot_words(call, slot, what, sizeof what));
}

bool ufl_slot_int(ufl_call *call, int slot, int64_t *out) {
    char what[128];
    ufl_value value = call->slots[slot];
    if (value.kind == UFL_K_INT || value.kind == UFL_K_BOOL) {
        *out = value.integer;
        return true;
    }
    wrong_kind(call->interpreter, slot_words(call, slot, what, sizeof what), "an int", value);
    return false;
}

const char *ufl_slot_text(ufl_call *call, int slot) {
    char what[128];
    ufl_value value = call->slots[slot];
    if (value.kind == UFL_K_STRING)
        return value.text;
    if (value.kind == UFL_K_ENUM && value.name)
        return value.name;
    wrong_kind(call->interpreter, slot_words(call, slot, what, sizeof what), "a string", value);
    return NULL;
}

const ufl_form *ufl_slot_form(ufl_call *call, int slot) {
    char what[128];
    ufl_value value = call->slots[slot];
    if (value.kind == UFL_K_FORM)
        return value.form;
    slot_words(call, slot, what, sizeof what);
    if (value.kind == UFL_K_EQUATION) { /* lhs(a == L) is the form a - L */
        const ufl_list *sides = value.list;
        if (sides->items[0].kind == UFL_K_FORM && sides->items[1].kind == UFL_K_FORM)
            return ufl_form_add(
                call->graph, sides->items[0].form,
                ufl_form_scale(call->graph, ufl_int(call->graph, -1), sides->items[1].form));
        if (sides->items[0].kind == UFL_K_FORM)
            return sides->items[0].form;
    }
    wrong_kind(call->interpreter, what, "a form", value);
    if (value.kind == UFL_K_NODE)
        ufl_hint(call->interpreter->context, "an expression becomes a form by a measure: f*dx");
    return NULL;
}

int ufl_slot_shape(ufl_call *call, int slot, int *shape) {
    char what[128];
    ufl_value value = call->slots[slot];
    slot_words(call, slot, what, sizeof what);
    if (value.kind == UFL_K_INT) {
        shape[0] = value.integer < 0 || value.integer > 1000000 ? -1 : (int)value.integer;
        return 1;
    }
    if ((value.kind != UFL_K_TUPLE && value.kind != UFL_K_LIST) ||
        value.list->n > UFL_RANK_MAX / 2) {
        wrong_kind(call->interpreter, what, "a tuple of sizes", value);
        return -1;
    }
    for (size_t i = 0; i < value.list->n; ++i) {
        ufl_value size = value.list->items[i];
        if (size.kind != UFL_K_INT || size.integer < 1 || size.integer > 1000000) {
            wrong_kind(call->interpreter, what, "a tuple of sizes above 0", value);
            return -1;
        }
        shape[i] = (int)size.integer;
    }
    return (int)value.list->n;
}

const ufl_mesh *ufl_to_mesh(ufl_interpreter *interpreter, ufl_value value) {
    ufl_elements *elements = interpreter->graph->elements;
    switch (value.kind) {
    case UFL_K_MESH:
        return value.mesh;
    case UFL_K_SPACE:
        return value.space->mesh;
    case UFL_K_CELL:
        return ufl_mesh_legacy(elements, (ufl_cell_type)value.integer, value.gdim);
    case UFL_K_ELEMENT:
        return ufl_mesh_legacy(elements, value.element->cell,
                               value.gdim ? value.gdim : ufl_cell_dimension(value.element->cell));
    case UFL_K_NODE:
        if (value.node->mesh)
            return value.node->mesh;
        break;
    default:
        break;
    }
    wrong_kind(interpreter, "the domain", "a mesh", value);
    return NULL;
}

const ufl_space *ufl_to_space(ufl_interpreter *interpreter, ufl_value value) {
    if (value.kind == UFL_K_SPACE)
        return value.space;
    if (value.kind == UFL_K_ELEMENT && interpreter->legacy)
        return ufl_space_make(interpreter->graph->elements, ufl_to_mesh(interpreter, value),
                              value.element);
    wrong_kind(interpreter, "the space of a function", "a FunctionSpace", value);
    if (value.kind == UFL_K_ELEMENT)
        ufl_hint(interpreter->context, "write FunctionSpace(mesh, element)");
    return NULL;
}

bool ufl_slot_cell(ufl_call *call, int slot, ufl_value *out) {
    char what[128];
    static const char *const names[] = {"interval",    "triangle",   "quadrilateral",
                                        "tetrahedron", "hexahedron", "vertex"};
    ufl_value value = call->slots[slot];
    const char *name = value.kind == UFL_K_STRING ? value.text
                       : value.kind == UFL_K_ENUM ? value.name
                                                  : NULL;
    ufl_cell_type cell = UFL_VERTEX;
    if (value.kind == UFL_K_CELL) {
        *out = value;
        return true;
    }
    if (value.kind == UFL_K_MESH) {
        *out = ufl_of_cell(value.mesh->cell, value.mesh->gdim);
        return true;
    }
    if (name && ufl_cell_find(name, &cell)) {
        *out = ufl_of_cell(cell, ufl_cell_dimension(cell));
        return true;
    }
    if (!name) {
        wrong_kind(call->interpreter, slot_words(call, slot, what, sizeof what), "a cell", value);
        return false;
    }
    const char *nearest = weft_nearest_name(name, names, 6);
    ufl_fail(call->interpreter->context, WEFT_ERROR_TYPE, "there is no cell '%.100s'", name);
    if (nearest)
        ufl_hint(call->interpreter->context, "did you mean '%s'?", nearest);
    else
        ufl_hint(call->interpreter->context,
                 "Weft has interval, triangle, quadrilateral, tetrahedron and hexahedron");
    return false;
}
