/* Binds a form file or a script to a mesh, step by step. */
#include "forms/bind/bind.h"
#include "core/base/options.h"
#include "fem/mesh/mesh.h"
#include "fem/space/space.h"
#include "forms/compile/compile.h"

#include <stdlib.h>
#include <string.h>

static weft_binding *binding_of(const weft_problem *problem) {
    return problem->basis.user;
}

static void free_binding(void *user) {
    weft_binding *binding = user;
    for (int i = 0; binding->dofs && i < binding->ufl->n_parts; ++i) {
        weft_entity_dofs *dofs = binding->dofs[i];
        for (int k = 0; dofs && k < binding->ufl->n_sets; ++k)
            weft_entity_dofs_free(&dofs[k]);
        free(dofs);
    }
    free(binding->dofs);
    free(binding->groups);
    free(binding->values);
    free(binding->text);
    free(binding);
}

const weft_ufl_problem *weft_bind_ufl(const weft_problem *problem) {
    const weft_binding *binding = binding_of(problem);
    return binding ? binding->ufl : NULL;
}

void weft_bind_clear(weft_problem *problem) {
    weft_problem_parts_clear(problem);
    if (problem->basis.user)
        problem->basis.free(problem->basis.user);
    problem->basis = (weft_problem_basis){NULL, NULL};
    weft_stated_clear(&problem->stated);
    problem->names = (weft_problem_names){.shown = NULL};
    problem->forms.matrix = problem->forms.vector = problem->forms.mass = NULL;
    problem->forms.is_pencil = false;
    problem->forms.coarser = (weft_coarser){.make = NULL};
}

static weft_status start(const weft_bind_options *options, weft_problem *problem,
                         weft_binding **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_binding *made = NULL;
    TRY(weft_options_check("weft_bind_options", options->size, sizeof *options, error));
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a problem"));
    *made = (weft_binding){.problem = problem, .options = options};
    problem->basis = (weft_problem_basis){made, free_binding};
    problem->forms.file = options->file;
    problem->names = (weft_problem_names){.sum = options->sum,
                                          .has_time = options->has_time,
                                          .given = {.values = options->values,
                                                    .n_values = options->n_values,
                                                    .expressions = options->expressions,
                                                    .n_expressions = options->n_expressions,
                                                    .parameters = options->parameters,
                                                    .n_parameters = options->n_parameters,
                                                    .names_options = options->names_options}};
    *out = made;
done:
    return status;
}

static bool is_given(const weft_bind_options *options, const char *name) {
    for (int i = 0; i < options->n_values; ++i)
        if (strcmp(options->values[i].name, name) == 0)
            return true;
    return false;
}

/* Is the value one that functionals alone read? */
static bool is_aside(const weft_binding *binding, const char *name) {
    return !ufl_problem_reads(binding->file, name) && ufl_functionals_read(binding->file, name);
}

/* The values of the options, and those of the file for inputs that the options leave out. */
static weft_status list_values(weft_binding *binding, weft_error *error) {
    const weft_bind_options *options = binding->options;
    const weft_ufl_problem *ufl = binding->ufl;
    binding->values =
        calloc((size_t)(options->n_values + ufl->n_values) + 1, sizeof *binding->values);
    if (!binding->values)
        return weft_out_of_memory(error, "the values of inputs");
    for (int i = 0; i < options->n_values; ++i)
        if (!is_aside(binding, options->values[i].name))
            binding->values[binding->n_values++] = options->values[i];
    for (int i = 0; i < ufl->n_values; ++i)
        if (!is_given(options, ufl->values[i].name))
            binding->values[binding->n_values++] = (weft_problem_value){
                ufl->values[i].name,
                {.text = ufl->values[i].formula, .origin = ufl->values[i].origin}};
    binding->problem->names.given.values = binding->values;
    binding->problem->names.given.n_values = binding->n_values;
    return WEFT_OK;
}

weft_status weft_bind_form_file(weft_ufl *ufl, const weft_bind_options *options,
                                weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_binding *binding = NULL;
    TRY(start(options, problem, &binding, error));
    binding->file = ufl;
    TRY(weft_ufl_name_parts(ufl, binding, error));
    weft_ufl_offer_coarse(binding);
    TRY(list_values(binding, error));
    TRY(weft_bind_state(binding, error));
    TRY(weft_problem_check_given(problem, error));
done:
    return status;
}

weft_status weft_bind_script(const char *text, const weft_bind_options *options,
                             weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_binding *binding = NULL;
    TRY(start(options, problem, &binding, error));
    TRY(weft_bind_name_script(text, binding, error));
    TRY(weft_bind_state(binding, error));
    TRY(weft_problem_check_given(problem, error));
done:
    return status;
}

void weft_bind_straighten(const weft_problem *problem, weft_mesh *mesh) {
    const weft_ufl_problem *ufl = weft_bind_ufl(problem);
    if (!ufl || !mesh->curve || !weft_ufl_is_straight(ufl) ||
        weft_cell_of(ufl->cell) != weft_mesh_cell(mesh))
        return;
    weft_log(
        problem->context->monitor, WEFT_LOG_WARNING,
        "%s: the cells of the forms are straight, and those of %s are curved: of these only the "
        "vertices are used; for curved cells write the forms on a Mesh whose coordinate element "
        "has degree 2",
        problem->forms.file, mesh->source);
    weft_mesh_straighten(mesh);
}

static weft_status check_sum(const weft_problem *problem, weft_error *error) {
    const char *name = problem->names.sum;
    weft_name_info sum;
    if (!name || (weft_bind_find(problem->forms.parts[0].compilation, name, &sum) && sum.over &&
                  strcmp(sum.over, "cells") == 0 && sum.rank == 0 && !sum.sparse))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT, "'%s' is not a real over cells", name);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "a number for each cell can be summed");
    return WEFT_ERROR_INPUT;
}

weft_status weft_bind_mesh(weft_problem *problem, struct weft_mesh_copies *copies,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_binding *binding = binding_of(problem);
    TRY(weft_problem_compile_parts(problem, error));
    if (binding->ufl && binding->ufl->unused)
        weft_log(problem->context->monitor, WEFT_LOG_WARNING,
                 "%s has no form L, so that the load is zero: the linear form %s is not part of "
                 "the problem; call it L if it is the load",
                 problem->forms.file, binding->ufl->unused);
    if (binding->ufl) {
        TRY(weft_ufl_spaces_make(binding, copies, error));
        TRY(weft_ufl_connect(binding, error));
    } else {
        TRY(weft_bind_check_script(binding, error));
    }
    TRY(check_sum(problem, error));
done:
    return status;
}

/* The form of a script, over the cells. */
static void start_form(const weft_problem *problem, weft_bound_form *out) {
    weft_form_start(problem->forms.file, problem->forms.parts[0].cells.data,
                    weft_space_cells(problem->fields.space), out);
    out->form.components = problem->forms.components;
    out->form.points = weft_space_data_points(problem->fields.space);
    out->form.action = problem->names.action;
}

weft_status weft_bind_finish(weft_problem *problem, weft_error *error) {
    weft_binding *binding = binding_of(problem);
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        weft_problem_part *part = &problem->forms.parts[i];
        if (binding->ufl)
            weft_ufl_form_start(binding, i, &part->bound);
        else
            start_form(problem, &part->bound);
        weft_problem_bind_names(problem, part);
    }
    binding->options = NULL;
    problem->names.given = (weft_problem_given){.values = NULL};
    return weft_problem_list_forms(problem, error);
}

/* ---- all of them ------------------------------------------------------------------------- */

static weft_status finish(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_vectors_make(problem, error));
    TRY(weft_inputs_scale_loads(&problem->inputs, 1, error));
    TRY(weft_problem_make_inputs(problem, error));
    TRY(weft_bind_finish(problem, error));
done:
    return status;
}

weft_status weft_ufl_bind(weft_ufl *ufl, const weft_mesh *mesh, weft_library *library,
                          const weft_bind_options *options, weft_problem *problem,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_set_mesh(problem, mesh);
    if (!weft_library_claim(library, ufl))
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "the library has the functions of another form file, whose problem "
                              "would be solved with those of this one",
                              "make a library and a context for each form file"));
    TRY(weft_bind_form_file(ufl, options, problem, error));
    TRY(weft_ufl_add_functions(ufl, library, error));
    TRY(weft_bind_mesh(problem, NULL, error));
    TRY(finish(problem, error));
done:
    return status;
}

weft_status weft_script_bind(const char *text, const weft_mesh *mesh,
                             const weft_bind_options *options, weft_problem *problem,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_set_mesh(problem, mesh);
    TRY(weft_bind_script(text, options, problem, error));
    TRY(weft_mesh_need_simplices(mesh, "a script", error));
    TRY(weft_bind_mesh(problem, NULL, error));
    TRY(weft_space_make(problem->context->device, mesh, WEFT_ELEMENT_P1, problem->forms.components,
                        &problem->fields.space, error));
    weft_problem_count_fields(problem);
    TRY(finish(problem, error));
done:
    return status;
}
