/* Makes forms from integrands and measures, adds and scales them. */
#include "forms/form/form.h"

#include "forms/operators/operators.h"

#include <stdio.h>
#include <string.h>

const char *ufl_integral_type_name(ufl_integral_type type) {
    static const char *const names[] = {"cell", "exterior_facet", "interior_facet", "vertex",
                                        "ridge"};
    return names[type];
}

const char *ufl_measure_name(ufl_integral_type type) {
    static const char *const names[] = {"dx", "ds", "dS", "dP", "dr"};
    return names[type];
}

const char *ufl_rule_name(ufl_rule rule) {
    static const char *const names[] = {"default", "GJ", "GLL", "vertex"};
    return names[rule];
}

bool ufl_metadata_equal(const ufl_metadata *a, const ufl_metadata *b) {
    return a->degree == b->degree && a->has_degree == b->has_degree && a->rule == b->rule &&
           a->has_rule == b->has_rule && strcmp(a->others, b->others) == 0;
}

const ufl_form *ufl_form_make(ufl_graph *graph, const ufl_integral *integrals, int n) {
    ufl_form *form = ufl_alloc(graph->context, 1, sizeof *form);
    ufl_integral *copy = ufl_alloc(graph->context, (size_t)n, sizeof *copy);
    if (!form || !copy)
        return NULL;
    if (n > 0)
        memcpy(copy, integrals, (size_t)n * sizeof *copy);
    form->n_integrals = n;
    form->integrals = copy;
    form->place = graph->context->place;
    return form;
}

/* The mesh that an integral runs over. */
static const ufl_mesh *find_mesh(ufl_graph *graph, const ufl_node *integrand,
                                 const ufl_measure *measure) {
    const ufl_mesh *mesh = measure->mesh ? measure->mesh : integrand->mesh;
    if (!mesh) {
        ufl_fail(graph->context, WEFT_ERROR_TYPE,
                 "the integral has no mesh: its integrand has none, and %s is not given one",
                 ufl_measure_name(measure->type));
        return ufl_hint(graph->context, "write %s(mesh), or %s(domain=mesh)",
                        ufl_measure_name(measure->type), ufl_measure_name(measure->type));
    }
    if (integrand->several_meshes || (integrand->mesh && integrand->mesh != mesh)) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                 "an integral over several meshes is not supported");
        return ufl_hint(graph->context, "make one Mesh and use it for every function space");
    }
    return mesh;
}

const ufl_form *ufl_form_integrate(ufl_graph *graph, const ufl_node *integrand,
                                   const ufl_measure *measure) {
    char shape[160];
    if (!integrand || !measure)
        return NULL;
    if (ufl_is_condition(integrand))
        return ufl_fail(graph->context, WEFT_ERROR_TYPE,
                        "an integrand must be an expression, not a condition");
    if (!ufl_is_true_scalar(integrand)) {
        if (integrand->rank > 0)
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "an integrand must be a scalar, this one has shape %s",
                     ufl_shape_text(integrand->shape, integrand->rank, shape, sizeof shape));
        else
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "an integrand must be a scalar without free indices, this one has %d",
                     integrand->n_free);
        return ufl_hint(graph->context,
                        integrand->rank > 0
                            ? "write inner(a, b) of two tensors"
                            : "an index is summed where it occurs twice in a product");
    }
    ufl_integral *integrals = NULL;
    int n = 0;
    for (const ufl_measure *part = measure; part; part = part->next) {
        const ufl_mesh *mesh = find_mesh(graph, integrand, part);
        if (!mesh)
            return NULL;
        for (int k = 0; k < (part->n_ids > 0 ? part->n_ids : 1); ++k) {
            integrals = ufl_grow(graph->context, integrals, (size_t)n, sizeof *integrals);
            if (!integrals)
                return NULL;
            integrals[n++] =
                (ufl_integral){.type = part->type,
                               .mesh = mesh,
                               .id = part->n_ids > 0 ? part->ids[k] : UFL_ID_EVERYWHERE,
                               .metadata = part->metadata,
                               .integrand = integrand,
                               .place = graph->context->place,
                               .estimated_degree = -1};
        }
    }
    return ufl_form_make(graph, integrals, n);
}

const ufl_form *ufl_form_add(ufl_graph *graph, const ufl_form *a, const ufl_form *b) {
    if (!a || !b)
        return NULL;
    int n = a->n_integrals + b->n_integrals;
    if (n > UFL_LIST_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a form has more than %d integrals",
                        UFL_LIST_MAX);
    ufl_integral *integrals = ufl_alloc(graph->context, (size_t)n, sizeof *integrals);
    ufl_form *form = ufl_alloc(graph->context, 1, sizeof *form);
    if (!integrals || !form)
        return NULL;
    if (a->n_integrals > 0)
        memcpy(integrals, a->integrals, (size_t)a->n_integrals * sizeof *integrals);
    if (b->n_integrals > 0)
        memcpy(integrals + a->n_integrals, b->integrals,
               (size_t)b->n_integrals * sizeof *integrals);
    form->n_integrals = n;
    form->integrals = integrals;
    form->place = graph->context->place;
    return form;
}

const ufl_form *ufl_form_scale(ufl_graph *graph, const ufl_node *scalar, const ufl_form *form) {
    if (!scalar || !form)
        return NULL;
    if (!ufl_is_true_scalar(scalar))
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "a form can be multiplied by a scalar without free indices alone");
    const ufl_form *made = ufl_form_make(graph, form->integrals, form->n_integrals);
    ufl_integral *integrals = made ? (ufl_integral *)made->integrals : NULL;
    for (int i = 0; made && i < made->n_integrals; ++i) {
        integrals[i].integrand = ufl_multiply(graph, scalar, integrals[i].integrand);
        if (!integrals[i].integrand)
            return NULL;
    }
    return made;
}
