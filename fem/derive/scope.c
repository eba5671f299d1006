/* Finds the names of a form that formulas of derived quantities may use. */
#include "fem/derive/tabulated.h"

#include <stdlib.h>
#include <string.h>

bool derive_scope_find(const derive_scope *scope, const char *name, weft_name_info *out) {
    weft_name_info info;
    for (int i = 0; i < weft_compilation_names(scope->names); ++i) {
        weft_compilation_name(scope->names, i, &info);
        if (strcmp(info.name, name) != 0 || strncmp(name, "derived_", 8) == 0)
            continue;
        *out = info;
        return true;
    }
    return false;
}

bool derive_scope_is_input(const derive_scope *scope, const weft_name_info *info,
                           const char *over) {
    return info->kind == WEFT_NAME_INPUT && info->over && strcmp(info->over, over) == 0 &&
           strcmp(info->name, scope->coordinates) != 0 && strncmp(info->name, "derived_", 8) != 0;
}

static bool is_of_cells(const derive_scope *scope, const char *name) {
    weft_name_info info;
    return derive_scope_find(scope, name, &info) && info.kind == WEFT_NAME_VALUE &&
           info.rank == 0 && (!info.over || strcmp(info.over, "cells") == 0);
}

int derive_scope_function(const derive_scope *scope, const char *name) {
    for (int i = 1; scope->tabulated && i < scope->tabulated->n_lists; ++i)
        if (strcmp(scope->tabulated->lists[i].name, name) == 0)
            return i;
    return -1;
}

/* The form of functions in any elements: the constants, over points that take the place of cells. */
static weft_status make_form(const weft_derive_problem *problem, struct derive_tabulated *t,
                             weft_error *error) {
    t->inputs = calloc((size_t)problem->n_constants + 1, sizeof *t->inputs);
    weft_text_add(&t->text, "index cells plain;\n");
    for (int i = 0; i < problem->n_constants; ++i) {
        const weft_derive_constant *constant = &problem->constants[i];
        weft_text_add(&t->text, "input %s : real", constant->name);
        for (int k = 0; k < constant->rank; ++k)
            weft_text_add(&t->text, "%s%d%s", k ? "," : "[", constant->sizes[k],
                          k + 1 == constant->rank ? "]" : "");
        weft_text_add(&t->text, ";\n");
    }
    if (!t->inputs || t->text.failed)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < problem->n_constants; ++i)
        t->inputs[i] = (weft_form_input){problem->constants[i].name, problem->constants[i].memory};
    t->form = (weft_form){.name = "the functions",
                          .text = t->text.data,
                          .inputs = t->inputs,
                          .n_inputs = problem->n_constants};
    return WEFT_OK;
}

weft_status derive_scope_make(weft_context *context, const weft_derive_problem *problem,
                              struct derive_tabulated *tabulated, derive_scope *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(problem->space)->dimension;
    weft_text probe = {0};
    if (tabulated)
        TRY(make_form(problem, tabulated, error));
    const weft_form *form = tabulated ? &tabulated->form : problem->cells;
    derive_scope made = {.problem = problem,
                         .form = form,
                         .tabulated = tabulated,
                         .dimension = d,
                         .components = tabulated ? tabulated->lists[0].components
                                                 : weft_space_components(problem->space),
                         .coordinates = "derived_coordinates"};
    for (int i = 0; i < form->n_inputs && !tabulated; ++i)
        if (form->inputs[i].memory == weft_space_coordinates(problem->space))
            made.coordinates = form->inputs[i].name;
    weft_text_add(&probe, tabulated
                              ? "input derived_probe : real over cells;\n"
                                "derived_scope = 1*derived_probe;\nreturn derived_scope;\n"
                              : "input derived_probe : real over nodes;\n"
                                "derived_scope = derived_probe[dofs];\nreturn derived_scope;\n");
    if (probe.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragments[] = {{form->name, form->text},
                                       {"derived quantities", probe.data}};
    weft_compile_options options = weft_form_options(form);
    TRY(weft_context_compile(context, fragments, 2, &options, &made.names, error));
    made.has_elasticity = is_of_cells(&made, "lambda") && is_of_cells(&made, "mu");
    *out = made;
done:
    weft_text_free(&probe);
    return status;
}

void derive_scope_free(derive_scope *scope) {
    weft_compilation_free(&scope->names);
}
