/* Reads form files, and binds them to the mesh. */
#include "apps/solve/solve.h"

#include <stdlib.h>
#include <string.h>

void solve_parts_clear(solve *run) {
    solve_script *script = &run->script;
    const int n_parts = run->base.problem ? run->base.problem->n_parts : 0;
    if (n_parts > 0) /* before the connectivities that they read */
        weft_problem_parts_clear(run->base.problem);
    for (int i = 0; i < n_parts && script->parts; ++i) {
        solve_part *part = &script->parts[i];
        weft_ufl_dofs_free(script->problem, &part->dofs);
    }
    free(script->parts);
}

static weft_status refuse_linear(const solve *run, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the form F is a residual, which Newton's method solves");
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "add --nonlinear");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_nonlinear(const solve *run, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "with --nonlinear the file gives a residual F, and this one gives a and L");
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "leave --nonlinear out, or write F = a(u) - L with a Coefficient u");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_stationary(const solve *run, weft_error *error) {
    weft_error_set(
        error, WEFT_ERROR_INPUT,
        "with --time a form file has a mass, or names the solution of the step before, and this "
        "one has neither a bilinear form m nor '%s'",
        run->options->time.previous);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error,
                    "write m = inner(u, v)*dx for m du/dt + a u = L, or name another by --mass; or "
                    "write a step with u_old = Coefficient(element), or another by --previous, and "
                    "dt = Constant(mesh)");
    return WEFT_ERROR_INPUT;
}

/* Find the problem, which in time has a scheme of its own or a mass. */
static weft_status find_problem(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_time_options *time = &run->options->time;
    solve_script *script = &run->script;
    TRY(weft_ufl_problem_of(script->ufl, &script->problem, error));
    for (int i = 0; i < script->problem->n_parts; ++i)
        solve_time_find_scheme(run, time->mass != NULL, script->problem->parts[i].script);
    if (!time->text || run->time.is_own)
        goto done;
    TRY(weft_ufl_problem_in_time(script->ufl, time->mass, &script->problem, error));
    if (!script->problem->mass)
        TRY(refuse_stationary(run, error));
    run->base.problem->mass = "M";
done:
    return status;
}

weft_status solve_forms_read(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    const weft_ufl_options options = {.size = sizeof options,
                                      .monitor = &run->base.messages->monitor,
                                      .degrees = run->options->degrees};
    TRY(solve_is_shipped_form(run->options->script)
            ? solve_shipped_form_read(run, &options, &script->ufl, &script->is_assumed, error)
            : weft_ufl_read(run->options->script, &options, &script->ufl, error));
    TRY(find_problem(run, error));
    const weft_ufl_problem *problem = script->problem;
    if (problem->unused)
        weft_log(options.monitor, WEFT_LOG_WARNING,
                 "%s has no form L, so that the load is zero: the linear form %s is not part of "
                 "the problem; call it L if it is the load",
                 run->options->script, problem->unused);
    if (problem->nonlinear && !run->options->nonlinear)
        TRY(refuse_linear(run, error));
    if (!problem->nonlinear && run->options->nonlinear)
        TRY(refuse_nonlinear(run, error));
    run->base.takes_any_cells = run->base.problem->is_natural = true; /* as every UFL program */
    run->base.problem->matrix = "K";
    run->base.problem->mass_name = problem->mass;
    run->base.problem->input_name = weft_ufl_plain_name;
    run->base.problem->vector = !problem->vector ? NULL : problem->nonlinear ? "r" : "b";
    script->has_u = problem->nonlinear;
    script->parts = calloc((size_t)problem->n_parts + 1, sizeof *script->parts);
    if (!script->parts)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_problem_parts_make(run->base.problem, problem->n_parts, error));
    for (int i = 0; i < problem->n_parts; ++i) {
        const weft_ufl_part *ufl = &problem->parts[i];
        weft_problem_part *part = &run->base.problem->parts[i];
        script->parts[i].ufl = ufl;
        weft_ufl_part_start(ufl, part);
        weft_text_add(&part->cells, "%s", ufl->script);
        if (part->cells.failed)
            TRY(weft_out_of_memory(error, NULL));
    }
done:
    return status;
}

/* ---- on a mesh --------------------------------------------------------------------------- */

/* Forms whose geometry is of degree 1 are for straight cells, and so is all that goes with them.
 *
 * Decision  docs/decisions/0057-forms-decide-what-cells-are-like.md */
static void straighten(solve *run) {
    const weft_ufl_problem *problem = run->script.problem;
    if (!run->base.mesh->curve || !weft_ufl_is_straight(problem))
        return;
    weft_log(
        &run->base.messages->monitor, WEFT_LOG_WARNING,
        "%s: the cells of the forms are straight, and those of %s are curved: of these only the "
        "vertices are used; for curved cells write the forms on a Mesh whose coordinate element "
        "has degree 2",
        run->options->script, run->base.mesh->source);
    weft_mesh_straighten(run->base.mesh);
}

weft_status solve_spaces_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    const solve_bindings *given = &run->options->measures;
    weft_ufl_measure *measures = calloc((size_t)given->n + 1, sizeof *measures);
    if (!measures)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < given->n; ++i)
        measures[i] =
            (weft_ufl_measure){given->list[i].name, given->list[i].value, given->list[i].origin};
    const weft_ufl_bind_options options = {.size = sizeof options,
                                           .file = run->options->script,
                                           .measures = measures,
                                           .n_measures = given->n,
                                           .measure_option = "--measure"};
    TRY(weft_ufl_check_measures(script->problem, &options, error));
    if (weft_cell_of(script->problem->cell) == weft_mesh_cell(run->base.mesh))
        straighten(run);
    TRY(weft_ufl_spaces_make(script->problem, &options, &run->base.mesh_made.copies,
                             run->base.problem, error));
    run->components = script->problem->components;
    for (int i = 0; i < run->base.problem->n_parts; ++i) {
        solve_part *part = &script->parts[i];
        TRY(weft_ufl_connect(script->problem, part->ufl, run->base.problem->parts[i].compilation,
                             &options, run->base.problem, &part->dofs, error));
    }
done:
    free(measures);
    return status;
}

/* ---- what stands over nodes -------------------------------------------------------------- */

int64_t solve_nodes(const solve *run) {
    return run->base.problem->n_fields > 0 ? run->base.problem->n_dofs / run->components
                                           : run->base.mesh->n_nodes;
}
