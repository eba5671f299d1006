/* Calls of measures: dx(id, metadata). */
#include "forms/interpret/private.h"

#include <string.h>

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

const ufl_builtin ufl_measure_methods[] = {
    {"__call__", "subdomain_id=,metadata=,domain=,subdomain_data=,degree=,scheme=", measure_call,
     0},
    {"reconstruct", "subdomain_id=,metadata=,domain=,subdomain_data=,degree=,scheme=", measure_call,
     0},
    {0}};
