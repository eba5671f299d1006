/* Expands derivatives, groups integrals and attaches degrees. */
#include "forms/degree/degree.h"

#include "core/base/fault.h"

#include "forms/operators/operators.h"

#include <stdlib.h>
#include <string.h>

/* Sum integrals of equal type, mesh, id and metadata. Returns how many are left. */
static int group(ufl_graph *graph, ufl_integral *integrals, int n) {
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int at = 0;
        while (at < count &&
               !(integrals[at].type == integrals[i].type &&
                 integrals[at].mesh == integrals[i].mesh && integrals[at].id == integrals[i].id &&
                 (ufl_metadata_equal(&integrals[at].metadata, &integrals[i].metadata) ||
                  weft_fault("metadata_merged"))))
            ++at;
        if (at == count) {
            integrals[count++] = integrals[i];
            continue;
        }
        graph->context->place = integrals[at].place;
        integrals[at].integrand = ufl_add(graph, integrals[at].integrand, integrals[i].integrand);
        if (!integrals[at].integrand)
            return -1;
    }
    return count;
}

static int by_type_and_id(const void *a, const void *b) {
    const ufl_integral *first = a, *second = b;
    if (first->type != second->type)
        return first->type < second->type ? -1 : 1;
    if (first->id != second->id)
        return first->id < second->id ? -1 : 1;
    return first->integrand->id < second->integrand->id   ? -1
           : first->integrand->id > second->integrand->id ? 1
                                                          : 0;
}

/* The quadrature element among the functions of an integrand, for its points are the rule. */
static bool find_points(ufl_graph *graph, const ufl_integral *integral, const ufl_element **out) {
    const ufl_node **coefficients = NULL;
    int n = ufl_terminals(graph, &integral->integrand, 1, UFL_COEFFICIENT, &coefficients);
    *out = NULL;
    for (int i = 0; i < n; ++i) {
        const ufl_element *found = ufl_element_find_quadrature(coefficients[i]->space->element);
        if (found && *out && *out != found) {
            graph->context->place = integral->place;
            ufl_fail(graph->context, WEFT_ERROR_TYPE,
                     "an integral with two quadrature elements of different points: %s and %s",
                     (*out)->name, found->name);
            return false;
        }
        *out = found ? found : *out;
    }
    return n >= 0;
}

static bool attach_degrees(ufl_graph *graph, ufl_prepared *prepared, ufl_integral *integrals) {
    int n = prepared->form.n_integrals;
    prepared->degrees = ufl_alloc(graph->context, (size_t)n, sizeof *prepared->degrees);
    prepared->points = ufl_alloc(graph->context, (size_t)n, sizeof *prepared->points);
    if (!prepared->degrees || !prepared->points)
        return false;
    for (int i = 0; i < n; ++i) {
        ufl_integral *integral = &integrals[i];
        integral->estimated_degree = ufl_estimate_degree(graph, integral->integrand) +
                                     ufl_scaling_degree(integral->type, integral->mesh);
        bool given = integral->metadata.has_degree && integral->metadata.degree >= 0;
        prepared->degrees[i] = given ? integral->metadata.degree : integral->estimated_degree;
        prepared->degrees[i] -= prepared->degrees[i] > 0 && weft_fault("degree_lowered");
        if (!find_points(graph, integral, &prepared->points[i]))
            return false;
        if (prepared->points[i] && !given)
            prepared->degrees[i] = -1;
    }
    return graph->context->status == WEFT_OK;
}

const ufl_prepared *ufl_prepare(ufl_graph *graph, const ufl_form *form, const ufl_names *names) {
    ufl_prepared *prepared = ufl_alloc(graph->context, 1, sizeof *prepared);
    const ufl_form *expanded = form ? ufl_expand_derivatives(graph, form) : NULL;
    if (!prepared || !expanded || !ufl_check_arity(graph, expanded, names) ||
        !ufl_check_sides(graph, expanded, names))
        return NULL;
    int n = expanded->n_integrals;
    ufl_integral *integrals = ufl_alloc(graph->context, (size_t)n, sizeof *integrals);
    if (!integrals)
        return NULL;
    if (n > 0)
        memcpy(integrals, expanded->integrals, (size_t)n * sizeof *integrals);
    n = group(graph, integrals, n);
    if (n < 0)
        return NULL;
    qsort(integrals, (size_t)n, sizeof *integrals, by_type_and_id);
    prepared->form = (ufl_form){n, integrals, form->place};
    prepared->n_arguments =
        ufl_form_terminals(graph, &prepared->form, UFL_ARGUMENT, &prepared->arguments);
    prepared->n_coefficients =
        ufl_form_terminals(graph, &prepared->form, UFL_COEFFICIENT, &prepared->coefficients);
    prepared->n_constants = ufl_form_terminals(graph, form, UFL_CONSTANT, &prepared->constants);
    if (prepared->n_arguments < 0 || prepared->n_coefficients < 0 || prepared->n_constants < 0)
        return NULL;
    return attach_degrees(graph, prepared, integrals) ? prepared : NULL;
}
