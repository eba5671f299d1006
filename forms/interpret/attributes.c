/* value.name: attributes that are values, and methods. */
#include "forms/interpret/private.h"

#include <string.h>

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
        int n = element->kind == UFL_BLOCKED ? element->block_size : element->n_sub;
        for (int i = 0; made.kind && i < n; ++i)
            if (!ufl_append(interpreter, made.list,
                            ufl_of_element(element->sub[element->kind == UFL_BLOCKED ? 0 : i])))
                return ufl_nothing();
        return property(made);
    }
    if (strcmp(name, "family") == 0 && element->kind == UFL_SIMPLE)
        return property(ufl_of_text(ufl_element_about(element)->names[0]));
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
        return ufl_measure_methods;
    case UFL_K_FORM:
        return form_methods;
    case UFL_K_LIST:
    case UFL_K_TUPLE:
        return ufl_list_methods;
    case UFL_K_DICT:
        return ufl_dict_methods;
    case UFL_K_STRING:
        return ufl_string_methods;
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
