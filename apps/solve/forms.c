/* Makes the forms of the script.
 *
 * Decision  docs/decisions/0048-form-files-are-natural.md */
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The memory of an input that is the run's own or one of the options'; NULL: it has none yet. */
static weft_memory *memory_of(const solve *run, const char *name) {
    const solve_script *script = &run->script;
    if (strcmp(name, "x") == 0)
        return script->problem ? weft_ufl_coordinates(script->problem, run->base.problem)
                               : weft_space_coordinates(run->base.problem->space);
    if (strcmp(name, "u") == 0 && run->options->nonlinear)
        return run->base.problem->u;
    if (solve_time_sets(run, name))
        return solve_time_memory(run, name);
    weft_memory *given = weft_problem_input(run->base.problem, name);
    return !given && script->has_load && strcmp(name, "load") == 0 ? run->base.problem->inputs.load
                                                                   : given;
}

void solve_form_of(solve *run, int i_part, weft_bound_form *out) {
    const solve_part *part = &run->script.parts[i_part];
    const weft_problem_part *of = &run->base.problem->parts[i_part];
    const solve_options *options = run->options;
    const solve_script *script = &run->script;
    weft_name_info info;
    if (part->ufl) {
        weft_ufl_form_start(script->problem, part->ufl, options->script, of->cells.data, part->dofs,
                            out);
    } else {
        weft_form_start(options->script, of->cells.data, weft_space_cells(run->base.problem->space),
                        out);
        out->form.components = run->components;
        out->form.points = weft_space_data_points(run->base.problem->space);
        out->form.action = script->action;
    }
    for (int i = 0; i < weft_compilation_names(of->compilation); ++i) {
        weft_compilation_name(of->compilation, i, &info);
        weft_memory *memory = info.kind == WEFT_NAME_INPUT ? memory_of(run, info.name) : NULL;
        if (memory)
            weft_form_bind_input(out, info.name, memory);
    }
    for (int i = 0; i < options->defines.n; ++i)
        weft_form_bind_expression(out, options->defines.list[i].name,
                                  options->defines.list[i].value, options->defines.list[i].origin);
    for (int i = 0; i < options->sets.n; ++i)
        weft_form_bind_parameter(out, options->sets.list[i].name, options->sets.list[i].number);
    if (script->has_d)
        weft_form_bind_parameter(out, "d", run->base.mesh->dimension);
}

weft_status solve_form_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < run->base.problem->n_parts; ++i)
        solve_form_of(run, i, &run->base.problem->parts[i].bound);
    TRY(weft_problem_list_forms(run->base.problem, error));
    run->base.problem->linear.minres_if_indefinite = true;
    TRY(weft_problem_check_symmetry(run->base.problem, error));
    if (run->script.action) /* the user's */
        TRY(weft_problem_check_action(run->base.problem, error));
done:
    return status;
}
