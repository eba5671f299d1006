/* Finds the names of a form that formulas of derived quantities may use. */
#include "fem/derive/private.h"

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

weft_status derive_scope_make(weft_context *context, const weft_derive_problem *problem,
                              derive_scope *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *form = problem->cells;
    const int d = weft_space_mesh(problem->space)->dimension;
    weft_text probe = {0};
    derive_scope made = {.problem = problem,
                         .dimension = d,
                         .components = weft_space_components(problem->space),
                         .coordinates = "derived_coordinates"};
    for (int i = 0; i < form->n_inputs; ++i)
        if (form->inputs[i].memory == weft_space_coordinates(problem->space))
            made.coordinates = form->inputs[i].name;
    weft_text_add(&probe,
                  "input derived_probe : real over nodes;\nderived_scope = derived_probe[dofs];\n"
                  "return derived_scope;\n");
    if (probe.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragments[] = {{form->name, form->text},
                                       {"derived quantities", probe.data}};
    weft_compile_options options = weft_form_options(form);
    options.plan = context->plan;
    TRY(weft_compile(context->library, weft_device_limits(context->device), fragments, 2, &options,
                     &made.names, error));
    made.has_elasticity = is_of_cells(&made, "lambda") && is_of_cells(&made, "mu");
    *out = made;
    made.names = NULL;
done:
    weft_text_free(&probe);
    weft_compilation_free(&made.names);
    return status;
}

void derive_scope_free(derive_scope *scope) {
    weft_compilation_free(&scope->names);
}
