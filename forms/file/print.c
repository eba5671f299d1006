/* Prints forms and degrees. */
#include "forms/file/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTEGRAND_MAX = 4000 };

/* Print each form, or the one of a name. */
static weft_status for_each(const weft_ufl *ufl, const char *name,
                            void (*print)(const weft_ufl *, int, weft_text *), weft_text *out,
                            weft_error *error) {
    const int n = ufl->module->n_forms, found = name ? ufl_module_form(ufl->module, name) : -1;
    for (int i = 0; i < n; ++i)
        if (!name || i == found)
            print(ufl, i, out);
    if (!name && n == 0)
        weft_text_add(out, "no forms\n");
    if (!name || found >= 0)
        return out->failed ? weft_out_of_memory(error, NULL) : WEFT_OK;
    const char **names = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < n; ++i)
        names[i] = ufl->module->forms[i].name;
    const char *nearest = weft_nearest_name(name, names, (size_t)n);
    weft_error_set(error, WEFT_ERROR_USAGE, "%s has no form '%.100s'", ufl->file, name);
    weft_text list = {0};
    for (int i = 0; i < n; ++i)
        weft_text_add(&list, "%s%s", i ? ", " : "", names[i]);
    if (n > 0 && !list.failed)
        weft_error_hint(error, "%s%s%sit has %s", nearest ? "did you mean '" : "",
                        nearest ? nearest : "", nearest ? "'? " : "", list.data);
    weft_text_free(&list);
    free(names);
    return WEFT_ERROR_USAGE;
}

static const char *rank_words(int rank) {
    return rank == 0   ? "functional"
           : rank == 1 ? "linear form"
           : rank == 2 ? "bilinear form"
                       : "form";
}

static const char *value_of(const weft_ufl *ufl, const ufl_node *function) {
    for (int i = 0; i < ufl->module->n_values; ++i)
        if (ufl->module->values[i].function == function)
            return ufl->module->values[i].formula;
    return NULL;
}

static void print_terminals(const weft_ufl *ufl, const ufl_prepared *form, const char *title,
                            const ufl_node *const *nodes, int n, weft_text *out) {
    char shape[160];
    for (int i = 0; i < n; ++i) {
        const char *name = ufl_terminal_name(ufl, form, nodes[i]);
        weft_text_add(out, "  %-12s %s: ", i == 0 ? title : "", name);
        if (nodes[i]->space)
            weft_text_add(out, "%s", nodes[i]->space->element->name);
        else if (nodes[i]->rank > 0)
            weft_text_add(out, "constant of shape %s",
                          ufl_shape_text(nodes[i]->shape, nodes[i]->rank, shape, sizeof shape));
        else
            weft_text_add(out, "constant");
        if (value_of(ufl, nodes[i]))
            weft_text_add(out, " = %s", value_of(ufl, nodes[i]));
        weft_text_add(out, "\n");
    }
}

/* "dx", "ds(2)", "dx(degree=4)" */
static void print_measure(const ufl_integral *integral, weft_text *out) {
    weft_text_add(out, "%s", ufl_measure_name(integral->type));
    const char *before = "(", *after = "";
    if (integral->id != UFL_ID_EVERYWHERE) {
        weft_text_add(out, "(%d", integral->id);
        before = ", ";
        after = ")";
    }
    if (integral->metadata.has_degree) {
        weft_text_add(out, "%sdegree=%d", before, integral->metadata.degree);
        before = ", ";
        after = ")";
    }
    if (integral->metadata.has_rule && integral->metadata.rule != UFL_RULE_DEFAULT) {
        weft_text_add(out, "%sscheme=\"%s\"", before, ufl_rule_name(integral->metadata.rule));
        after = ")";
    }
    weft_text_add(out, "%s", after);
}

static void print_form(const weft_ufl *ufl, int k, weft_text *out) {
    const ufl_prepared *prepared = ufl->prepared[k];
    const ufl_export *form = &ufl->module->forms[k];
    weft_text_add(out, "%s: %s\n", form->name, rank_words(prepared->n_arguments));
    print_terminals(ufl, prepared, "arguments", prepared->arguments, prepared->n_arguments, out);
    print_terminals(ufl, prepared, "coefficients", prepared->coefficients, prepared->n_coefficients,
                    out);
    print_terminals(ufl, prepared, "constants", prepared->constants, prepared->n_constants, out);
    for (int i = 0; i < form->form->n_integrals; ++i) {
        const ufl_integral *integral = &form->form->integrals[i];
        weft_text_add(out, "  %-12s (", i == 0 ? "integrals" : "");
        ufl_expression_text(integral->integrand, &ufl->names, INTEGRAND_MAX, out);
        weft_text_add(out, ")*");
        print_measure(integral, out);
        weft_text_add(out, "\n");
    }
    weft_text_add(out, "\n");
}

static void print_degrees_of(const weft_ufl *ufl, int k, weft_text *out) {
    const ufl_prepared *prepared = ufl->prepared[k];
    for (int i = 0; i < prepared->form.n_integrals; ++i) {
        const ufl_integral *integral = &prepared->form.integrals[i];
        char id[24] = "everywhere", degree[24] = "-", points[24] = "-";
        bool custom = prepared->points[i] != NULL;
        if (integral->id != UFL_ID_EVERYWHERE)
            snprintf(id, sizeof id, "%d", integral->id);
        if (!custom) {
            snprintf(degree, sizeof degree, "%d", prepared->degrees[i]);
            int n = ufl_rule_points(integral->type, integral->mesh, integral->metadata.rule,
                                    prepared->degrees[i]);
            if (n > 0)
                snprintf(points, sizeof points, "%d", n);
        }
        const char *why = custom ? prepared->points[i]->name
                          : prepared->degrees[i] == integral->estimated_degree ? "estimated"
                                                                               : "given";
        weft_text_add(out, "%-12s %d  %-14s %-13s %-10s %6s %6s  %-7s %s\n",
                      ufl->module->forms[k].name, prepared->n_arguments,
                      ufl_integral_type_name(integral->type), ufl_cell_name(integral->mesh->cell),
                      id, degree, points,
                      custom ? "custom" : ufl_rule_name(integral->metadata.rule), why);
    }
}

weft_status weft_ufl_print_forms(const weft_ufl *ufl, const char *form, weft_text *out,
                                 weft_error *error) {
    return for_each(ufl, form, print_form, out, error);
}

weft_status weft_ufl_print_degrees(const weft_ufl *ufl, const char *form, weft_text *out,
                                   weft_error *error) {
    weft_text_add(out, "%-12s %s  %-14s %-13s %-10s %6s %6s  %-7s %s\n", "form", "r", "integral",
                  "cell", "id", "degree", "points", "rule", "degree is");
    return for_each(ufl, form, print_degrees_of, out, error);
}
