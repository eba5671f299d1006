/* Names the parts of the problem of a form file. */
#include "core/weft_core.h"
#include "fem/derive/derive.h"
#include "forms/bind/bind.h"
#include "forms/file/file.h"

#include <stdlib.h>
#include <string.h>

/* A name as the file has it: in scripts some have a prefix. */
static const char *plain_name(const char *name) {
    static const char prefix[] = "coefficient_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

static weft_status refuse_stationary(const weft_binding *binding, const char *previous,
                                     weft_error *error) {
    const weft_problem *problem = binding->problem;
    const bool names_options = problem->names.given.names_options;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%s a form file has a mass, or names the solution of the step before, and this "
                   "one has neither a bilinear form m nor '%s'",
                   names_options ? "with --time" : "in time", previous);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error,
                    "write m = inner(u, v)*dx for m du/dt + a u = L, or name another%s; or "
                    "write a step with u_old = Coefficient(element), or another%s, and "
                    "dt = Constant(mesh)",
                    names_options ? " by --mass" : "", names_options ? " by --previous" : "");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_massless(const weft_binding *binding, weft_error *error) {
    const weft_problem *problem = binding->problem;
    const bool names_options = problem->names.given.names_options;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%s a form file has a mass, and this one has no bilinear form m",
                   names_options ? "with --eigenvalues" : "for eigenvalues");
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "write m = inner(u, v)*dx for a u = l m u, or rho*inner(u, v)*dx%s",
                    names_options ? ", or name another by --mass NAME" : ", or name another");
    return WEFT_ERROR_INPUT;
}

/* Does a part name the u at the start of a step, so that it is a scheme? */
static bool is_scheme(const weft_ufl_problem *ufl, const char *previous) {
    for (int i = 0; i < ufl->n_parts; ++i)
        if (weft_has_word(ufl->parts[i].script, previous))
            return true;
    return false;
}

/* Find the problem, which in time has a scheme of its own or a mass, and for eigenvalues a mass. */
static weft_status find_problem(weft_ufl *ufl, weft_binding *binding, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_bind_options *options = binding->options;
    weft_problem *problem = binding->problem;
    const char *previous = options->previous ? options->previous : "u_old";
    TRY(weft_ufl_problem_of(ufl, &binding->ufl, error));
    if (!options->in_time && !options->has_mass)
        goto done;
    if (options->in_time && !options->mass && is_scheme(binding->ufl, previous)) {
        problem->names.previous = previous;
        goto done;
    }
    TRY(weft_ufl_problem_in_time(ufl, options->mass, &binding->ufl, error));
    if (!binding->ufl->mass)
        TRY(options->in_time ? refuse_stationary(binding, previous, error)
                             : refuse_massless(binding, error));
    problem->forms.is_pencil = !options->in_time;
    problem->forms.mass = "M";
    problem->forms.mass_name = binding->ufl->mass;
done:
    return status;
}

static weft_status make_part(const weft_ufl_part *ufl, weft_problem_part *part, weft_error *error) {
    static const weft_part_domain domains[] = {WEFT_PART_CELLS, WEFT_PART_BOUNDARY,
                                               WEFT_PART_BETWEEN_CELLS};
    part->text = ufl->script;
    part->domain = domains[ufl->domain];
    part->id = ufl->id;
    part->has_matrix = ufl->has_matrix;
    part->has_vector = ufl->has_vector;
    part->has_mass = ufl->has_mass;
    weft_text_add(&part->cells, "%s", ufl->script);
    return part->cells.failed ? weft_out_of_memory(error, NULL) : WEFT_OK;
}

weft_status weft_ufl_name_parts(weft_ufl *ufl, weft_binding *binding, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = binding->problem;
    if (!problem->forms.file)
        problem->forms.file = ufl->file;
    TRY(find_problem(ufl, binding, error));
    const weft_ufl_problem *found = binding->ufl;
    binding->dofs = calloc((size_t)found->n_parts + 1, sizeof *binding->dofs);
    if (!binding->dofs)
        TRY(weft_out_of_memory(error, NULL));
    problem->forms.is_nonlinear = found->nonlinear;
    problem->fields.is_natural = true; /* as every UFL program */
    problem->forms.matrix = "K";
    problem->forms.vector = !found->vector ? NULL : found->nonlinear ? "r" : "b";
    problem->names.shown = plain_name;
    problem->fields.name = weft_derive_reserves(found->solution) ? NULL : found->solution;
    TRY(weft_problem_parts_make(problem, found->n_parts, error));
    for (int i = 0; i < found->n_parts; ++i)
        TRY(make_part(&found->parts[i], &problem->forms.parts[i], error));
done:
    return status;
}
