/* Reads form files, and makes their spaces and the connectivities of each domain of integration. */
#include "apps/solve/solve.h"
#include "fem/space/space.h"

#include <stdlib.h>
#include <string.h>

void solve_parts_clear(solve_script *script) {
    const int n_sets = script->problem ? script->problem->n_sets : 0;
    for (int i = 0; i < script->n_parts; ++i) {
        solve_part *part = &script->parts[i];
        weft_program_free(&part->vector_program);
        weft_compilation_free(&part->vector_compilation);
        weft_symmetry_free(&part->symmetry);
        weft_compilation_free(&part->compilation);
        weft_text_free(&part->cells);
        for (int k = 0; k < n_sets && part->dofs; ++k)
            weft_entity_dofs_free(&part->dofs[k]);
        free(part->dofs);
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
    script->mass = "M";
done:
    return status;
}

weft_status solve_forms_read(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    const weft_ufl_options options = {&run->base.messages->monitor, run->options->degrees};
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
    script->matrix = "K";
    script->vector = !problem->vector ? NULL : problem->nonlinear ? "r" : "b";
    script->has_u = problem->nonlinear;
    script->parts = calloc((size_t)problem->n_parts + 1, sizeof *script->parts);
    if (!script->parts)
        TRY(weft_out_of_memory(error, NULL));
    for (; script->n_parts < problem->n_parts; ++script->n_parts) {
        const weft_ufl_part *ufl = &problem->parts[script->n_parts];
        solve_part *part = &script->parts[script->n_parts];
        part->ufl = ufl;
        part->text = ufl->script;
        part->has_matrix = ufl->has_matrix;
        part->has_vector = ufl->has_vector;
        part->has_mass = ufl->has_mass;
        weft_text_add(&part->cells, "%s", ufl->script);
        if (part->cells.failed)
            TRY(weft_out_of_memory(error, NULL));
    }
done:
    return status;
}

/* ---- on a mesh --------------------------------------------------------------------------- */

static weft_status check_cells(const solve *run, weft_error *error) {
    const weft_cell *form = weft_cell_of(run->script.problem->cell);
    const weft_cell *mesh = weft_mesh_cell(run->base.mesh);
    if (form == mesh)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT, "the forms are for %s, and the mesh has %s",
                   form->plural, mesh->plural);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "give a mesh of %s, or change the cell in the form file", form->plural);
    return WEFT_ERROR_INPUT;
}

/* Forms whose geometry is of degree 1 are for straight cells, and so is all that goes with them.
 *
 * Decision  docs/decisions/0057-forms-decide-what-cells-are-like.md */
static void straighten(solve *run) {
    const weft_ufl_problem *problem = run->script.problem;
    if (!run->base.mesh->curve || problem->sets[problem->geometry].sub[0].degree > 1)
        return;
    weft_log(
        &run->base.messages->monitor, WEFT_LOG_WARNING,
        "%s: the cells of the forms are straight, and those of %s are curved: of these only the "
        "vertices are used; for curved cells write the forms on a Mesh whose coordinate element "
        "has degree 2",
        run->options->script, run->base.mesh->source);
    weft_mesh_straighten(run->base.mesh);
}

/* The spaces of a set. Those of the first are the fields of u. */
static weft_status make_set(solve *run, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *problem = run->script.problem;
    const weft_ufl_set *set = &problem->sets[i];
    weft_problem_set *made = &run->base.problem->sets[run->base.problem->n_sets++];
    made->name = set->nodes;
    made->is_flat = set->flat;
    for (int k = 0; k < set->n; ++k) {
        const weft_ufl_subspace *sub = &set->sub[k];
        TRY(weft_space_make_with(run->base.device, run->base.mesh, &run->base.mesh_made.copies,
                                 (weft_element_kind){sub->family, sub->degree},
                                 i == 0 && !set->flat ? problem->components : sub->components,
                                 &made->spaces[k], error));
        made->first_values[made->n++] = sub->first_value;
        if (i > 0)
            continue;
        run->base.problem->fields[run->base.problem->n_fields++] = (weft_problem_field){
            .space = made->spaces[k],
            .first_value = sub->first_value,
            .is_enrichment = k > 0 && sub->first_value == set->sub[k - 1].first_value};
    }
done:
    return status;
}

static weft_status make_spaces(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *problem = run->script.problem;
    run->base.problem->sets = calloc((size_t)problem->n_sets, sizeof *run->base.problem->sets);
    if (!run->base.problem->sets)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < problem->n_sets; ++i)
        TRY(make_set(run, i, error));
    weft_problem_count_fields(run->base.problem);
    if (run->base.problem->n_values <= SOLVE_VALUES_MAX && run->base.problem->n_dofs <= INT32_MAX)
        goto done;
    status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                            "%d components and %lld dofs: at most %d and 2^31 - 1 can be",
                            run->base.problem->n_values, (long long)run->base.problem->n_dofs,
                            SOLVE_VALUES_MAX);
done:
    return status;
}

static const char *const measures[] = {"dx", "ds", "dS"};

static weft_status refuse_measure(const solve *run, const char *measure, int dimension,
                                  weft_error *error) {
    const weft_mesh *mesh = run->base.mesh;
    weft_text list = {0};
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->groups[g].dimension == dimension)
            weft_text_add(&list, "%s%s (%d)", list.length > 0 ? ", " : "", mesh->groups[g].name,
                          mesh->groups[g].number);
    weft_error_set(error, WEFT_ERROR_INPUT, "the mesh %s has no group for %s", mesh->source,
                   measure);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    if (list.length > 0 && !list.failed)
        weft_error_hint(error, "add --measure '%s=GROUP', with one of %s", measure, list.data);
    else
        weft_error_hint(error, "the mesh has no groups of %s",
                        dimension == mesh->dimension ? "cells" : "facets");
    weft_text_free(&list);
    return WEFT_ERROR_INPUT;
}

/* Whether a group is the one of a measure: it has the name that the options give, or the number. */
static bool is_group(const weft_group *group, const solve_binding *given, int id) {
    char number[16];
    snprintf(number, sizeof number, "%d", id);
    if (given)
        return strcmp(group->name, given->value) == 0;
    return (id > 0 && group->number == id) || strcmp(group->name, number) == 0;
}

/* The group of a measure ds(id); -1: everywhere. */
static weft_status find_group(const solve *run, const weft_ufl_part *part, int *group,
                              weft_error *error) {
    const weft_mesh *mesh = run->base.mesh;
    const solve_bindings *bindings = &run->options->measures;
    const int dimension = mesh->dimension - (part->domain != WEFT_UFL_CELLS);
    const solve_binding *given = NULL;
    char measure[32];
    *group = -1;
    if (part->id < 0)
        return WEFT_OK;
    snprintf(measure, sizeof measure, "%s(%d)", measures[part->domain], part->id);
    for (int i = 0; i < bindings->n; ++i)
        if (strcmp(bindings->list[i].name, measure) == 0)
            given = &bindings->list[i];
    for (int g = 0; g < mesh->n_groups && *group < 0; ++g)
        if (mesh->groups[g].dimension == dimension && is_group(&mesh->groups[g], given, part->id))
            *group = g;
    return *group >= 0 ? WEFT_OK : refuse_measure(run, measure, dimension, error);
}

/* Every --measure is one of the form file. */
static weft_status check_measures(const solve *run, weft_error *error) {
    const weft_ufl_problem *problem = run->script.problem;
    for (int i = 0; i < run->options->measures.n; ++i) {
        const solve_binding *given = &run->options->measures.list[i];
        bool found = false;
        for (int p = 0; problem && p < problem->n_parts; ++p) {
            char measure[32];
            snprintf(measure, sizeof measure, "%s(%d)", measures[problem->parts[p].domain],
                     problem->parts[p].id);
            found |= problem->parts[p].id >= 0 && strcmp(measure, given->name) == 0;
        }
        if (found)
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE, "no integral has the measure %s", given->name);
        weft_error_location(error, given->origin, NULL, 0, 0);
        weft_error_hint(error, "weft ufl %s --print degrees lists the measures",
                        run->options->script);
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

/* A domain without cells or facets. */
static weft_status refuse_empty(const solve *run, const weft_ufl_part *part, int group,
                                weft_error *error) {
    const bool interior = part->domain == WEFT_UFL_INTERIOR_FACETS;
    const weft_mesh *mesh = run->base.mesh;
    weft_error_set(error, WEFT_ERROR_INPUT, "%s%s has no %s for %s",
                   group < 0 ? "the mesh" : "the group ", group < 0 ? "" : mesh->groups[group].name,
                   part->domain == WEFT_UFL_CELLS ? "cells"
                   : interior                     ? "facets between cells"
                                                  : "facets on the boundary",
                   measures[part->domain]);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    if (part->domain != WEFT_UFL_CELLS)
        weft_error_hint(error, "facets %s are integrated over by %s",
                        interior ? "on the boundary" : "between cells", interior ? "ds" : "dS");
    return WEFT_ERROR_INPUT;
}

/* Periodic sides would be facets between the cells on both, where jumps are. */
static weft_status check_periodic(const solve *run, const weft_ufl_part *part, weft_error *error) {
    const app_constraints *constraints = &run->base.options->constraints;
    const char *origin = NULL;
    for (int i = 0; i < constraints->n && !origin; ++i)
        if (constraints->list[i].kind == APP_PERIODIC)
            origin = constraints->list[i].origin;
    if (!origin || part->domain != WEFT_UFL_INTERIOR_FACETS)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s has an integral over facets between cells (dS), which would have to be over "
                   "the periodic sides too",
                   run->options->script);
    weft_error_location(error, origin, NULL, 0, 0);
    weft_error_hint(error, "leave --periodic out, or write the form for continuous elements, "
                           "without dS");
    return WEFT_ERROR_UNSUPPORTED;
}

static bool names_connectivity(const weft_compilation *compilation, const char *name) {
    weft_name_info info;
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_compilation_name(compilation, i, &info);
        if (info.kind == WEFT_NAME_CONNECTIVITY && strcmp(info.name, name) == 0)
            return true;
    }
    return false;
}

static weft_status connect_part(solve *run, solve_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    static const weft_entities_kind kinds[] = {WEFT_ENTITIES_CELLS, WEFT_ENTITIES_EXTERIOR,
                                               WEFT_ENTITIES_INTERIOR};
    const weft_ufl_problem *problem = run->script.problem;
    int group = -1;
    TRY(check_periodic(run, part->ufl, error));
    TRY(find_group(run, part->ufl, &group, error));
    part->dofs = calloc((size_t)problem->n_sets, sizeof *part->dofs);
    if (!part->dofs)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < problem->n_sets; ++i) {
        const weft_ufl_set *set = &problem->sets[i];
        if (names_connectivity(part->compilation, set->connectivity))
            TRY(weft_entity_dofs_make((const weft_space *const *)run->base.problem->sets[i].spaces,
                                      set->n, set->flat, kinds[part->ufl->domain], group,
                                      &part->dofs[i], error));
    }
    part->n_cells = weft_connectivity_from(part->dofs[0].connectivity);
    if (part->n_cells == 0)
        TRY(refuse_empty(run, part->ufl, group, error));
done:
    return status;
}

weft_status solve_spaces_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_script *script = &run->script;
    TRY(check_measures(run, error));
    TRY(check_cells(run, error));
    straighten(run);
    TRY(make_spaces(run, error));
    run->components = script->problem->components;
    for (int i = 0; i < script->n_parts; ++i)
        TRY(connect_part(run, &script->parts[i], error));
done:
    return status;
}

/* ---- what stands over nodes -------------------------------------------------------------- */

int64_t solve_nodes(const solve *run) {
    return run->base.problem->n_fields > 0 ? run->base.problem->n_dofs / run->components
                                           : run->base.mesh->n_nodes;
}
