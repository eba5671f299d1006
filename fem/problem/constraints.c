/* What holds u besides conditions: u = C v + g (fem/weft_constraint.h), and modes that nothing fixes. */
#include "fem/constrain/ranks.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"
#include "fem/space/vectors.h"

#include <stdlib.h>

static void list_fields(const weft_problem *problem, weft_constraint_field out[WEFT_FIELDS_MAX]) {
    for (int i = 0; i < problem->fields.n; ++i) {
        const weft_problem_field *field = &problem->fields.list[i];
        out[i] = (weft_constraint_field){field->space, field->bc, field->first_dof,
                                         field->first_value, field->is_enrichment};
    }
}

/* Between the functions of u, of which there are none yet. */
static weft_status make_constraints(weft_problem *problem, weft_error *error) {
    weft_constraint_field fields[WEFT_FIELDS_MAX];
    list_fields(problem, fields);
    return weft_constraints_make_in(problem->context, fields, problem->fields.n,
                                    &problem->system.constraints, error);
}

/* ---- what the problem was given -------------------------------------------------------------- */

weft_status weft_problem_constraint(weft_problem *problem, const weft_constraint *constraint,
                                    weft_error *error) {
    const weft_status status = weft_declared_add(&problem->declared, constraint, error);
    problem->fields.has_constraints = problem->declared.n > 0;
    return status;
}

weft_status weft_problem_point_load(weft_problem *problem, const weft_point_load *load,
                                    weft_error *error) {
    return weft_declared_add_load(&problem->declared, load, error);
}

static bool has_facets(const weft_problem *problem) {
    bool found = false;
    for (int i = 0; i < problem->forms.n_parts; ++i)
        found |= problem->forms.parts[i].domain == WEFT_PART_BETWEEN_CELLS;
    return found;
}

/* Periodic sides would be facets between the cells on both, where jumps are. */
static weft_status check_facets(const weft_problem *problem, weft_error *error) {
    return has_facets(problem)
               ? weft_declared_refuse_periodic(&problem->declared, problem->forms.file, error)
               : WEFT_OK;
}

static weft_declared_target target(const weft_problem *problem) {
    return (weft_declared_target){problem->mesh, problem->fields.n_values,
                                  problem->system.constraints, problem->point_loads};
}

/* ---- of the parts of ranks -------------------------------------------------------------------- */

/* fields  [WEFT_FIELDS_MAX], of the part */
static weft_constraint_division division_of(const weft_problem *problem, const weft_problem *whole,
                                            weft_constraint_field *fields) {
    list_fields(problem, fields);
    return (weft_constraint_division){.context = problem->context,
                                      .fields = fields,
                                      .n_fields = problem->fields.n,
                                      .layout = problem->fields.layout,
                                      .spaces = problem->fields.spaces,
                                      .whole = whole ? whole->fields.spaces : NULL};
}

static weft_status divide_constraints(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraint_field fields[WEFT_FIELDS_MAX];
    weft_problem *whole = NULL;
    TRY(weft_problem_find_whole(problem, &whole, error));
    if (whole)
        TRY(weft_problem_constraints_make(whole, error));
    const weft_constraint_division by = division_of(problem, whole, fields);
    TRY(weft_constraints_divide(whole ? whole->system.constraints : NULL, &by,
                                &problem->system.constraints, error));
done:
    return status;
}

static weft_status divide_loads(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraint_field fields[WEFT_FIELDS_MAX];
    weft_problem *whole = NULL;
    TRY(weft_problem_find_whole(problem, &whole, error));
    if (whole)
        TRY(weft_problem_point_loads_make(whole, error));
    const weft_constraint_division by = division_of(problem, whole, fields);
    TRY(weft_point_loads_divide(whole ? whole->point_loads : NULL, &by, &problem->point_loads,
                                error));
done:
    return status;
}

static weft_status find_reach(weft_problem *whole, const int64_t *starts, int n,
                              weft_part_cells *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_constraints_make(whole, error));
    if (whole->system.constraints)
        TRY(weft_constraints_reach(whole->system.constraints, starts, n, has_facets(whole), out,
                                   error));
    else if (has_facets(whole))
        TRY(weft_part_cells_behind(whole->context->device, whole->mesh, starts, n, out, error));
done:
    return status;
}

weft_status weft_problem_reach(weft_problem *whole, weft_comm *comm, const weft_mesh *mesh,
                               weft_part_cells *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_comm_size(comm);
    weft_part_cells made = {NULL};
    int64_t *starts = calloc((size_t)n + 1, sizeof *starts);
    if (!starts)
        TRY(weft_out_of_memory(error, "the part of a mesh"));
    weft_part_starts(comm, mesh->n_nodes, starts);
    if (whole)
        status = find_reach(whole, starts, n, &made, error);
    TRY(weft_comm_agree(comm, status, error));
    TRY(weft_comm_broadcast(comm, &made.n, sizeof made.n, 0, error));
    if (!made.list)
        made.list = calloc((size_t)made.n + 1, sizeof *made.list);
    if (!made.list)
        TRY(weft_out_of_memory(error, "the part of a mesh"));
    TRY(weft_comm_broadcast(comm, made.list, (size_t)made.n * sizeof *made.list, 0, error));
    *out = made;
    made.list = NULL;
done:
    free(made.list);
    free(starts);
    return status;
}

weft_status weft_problem_reach_behind(const weft_problem *problem, weft_comm *comm,
                                      const weft_mesh *mesh, weft_part_cells *out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_comm_size(comm);
    int64_t *starts = calloc((size_t)n + 1, sizeof *starts);
    if (!starts)
        TRY(weft_out_of_memory(error, "the part of a mesh"));
    weft_part_starts(comm, mesh->n_nodes, starts);
    if (has_facets(problem))
        TRY(weft_part_cells_behind(problem->context->device, mesh, starts, n, out, error));
done:
    free(starts);
    return status;
}

/* Constants that a linear solve leaves to pins, besides the constraints that the problem was given. */
static weft_status pin_whole(weft_problem *whole, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool held_too = !whole->forms.is_nonlinear;
    if (!whole->system.constraints)
        goto done;
    TRY(weft_constraints_pin_whole(whole->system.constraints, &whole->system.modes, held_too,
                                   error));
    whole->system.modes_are_pinned = held_too;
done:
    return status;
}

weft_status weft_problem_take_modes(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraint_field fields[WEFT_FIELDS_MAX];
    weft_problem *whole = NULL;
    TRY(weft_problem_find_whole(problem, &whole, error));
    if (whole)
        TRY(pin_whole(whole, error));
    const weft_constraint_division by = division_of(problem, whole, fields);
    int64_t projects = whole && whole->system.linear.project_mean;
    TRY(weft_comm_broadcast(problem->context->comm, &projects, sizeof projects, 0, error));
    problem->system.linear.project_mean = projects != 0;
    TRY(weft_constraints_divide(whole ? whole->system.constraints : NULL, &by,
                                &problem->system.constraints, error));
    if (problem->system.constraints)
        TRY(weft_free_modes_divide(whole ? &whole->system.modes : NULL, &by, &problem->system.modes,
                                   error));
done:
    return status;
}

/* ---- constraints and loads -------------------------------------------------------------------- */

weft_status weft_problem_constraints_make(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    if (problem->declared.n == 0 || problem->system.constraints)
        goto done;
    if (problem->mesh->part) {
        status = divide_constraints(problem, error);
        goto done;
    }
    TRY(check_facets(problem, error));
    TRY(make_constraints(problem, error));
    const weft_declared_target to = target(problem);
    TRY(weft_declared_make(&problem->declared, &to, error));
done:
    return status;
}

weft_status weft_problem_point_loads_make(weft_problem *problem, weft_error *error) {
    weft_constraint_field fields[WEFT_FIELDS_MAX];
    weft_status status = WEFT_OK;
    if (problem->declared.n_loads == 0 || problem->point_loads)
        goto done;
    if (problem->mesh->part) {
        status = divide_loads(problem, error);
        goto done;
    }
    for (int i = 0; i < problem->fields.n; ++i)
        if (weft_space_is_mapped(problem->fields.list[i].space))
            TRY(weft_mapped_refuse("loads at points", error));
    list_fields(problem, fields);
    TRY(weft_point_loads_make_in(problem->context, fields, problem->fields.n, &problem->point_loads,
                                 error));
    const weft_declared_target to = target(problem);
    TRY(weft_declared_make_loads(&problem->declared, &to, error));
done:
    return status;
}

weft_status weft_problem_point_loads_apply(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!problem->point_loads)
        goto done;
    TRY(weft_point_loads_apply(problem->point_loads, problem->system.b, error));
    TRY(weft_vector_pull(problem->system.b, problem->system.b_values, problem->fields.n_dofs,
                         error));
done:
    return status;
}

/* ---- modes ----------------------------------------------------------------------------------- */

bool weft_problem_may_float(const weft_problem *problem) {
    return problem->fields.n == 1 &&
           (problem->system.constraints || (problem->point_loads && !problem->forms.is_nonlinear));
}

weft_status weft_problem_forms_alone(const weft_problem *problem, weft_form **out, int *n,
                                     weft_error *error) {
    const weft_form *robin = NULL;
    const int n_robin = weft_bc_forms(problem->fields.bc, &robin);
    *n = problem->forms.n_more + n_robin;
    *out = calloc((size_t)*n + 1, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < *n; ++i)
        (*out)[i] =
            i < problem->forms.n_more ? problem->forms.more[i] : robin[i - problem->forms.n_more];
    return WEFT_OK;
}

weft_status weft_problem_find_modes(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_form *alone = NULL;
    int n = 0;
    if (!problem->system.constraints) /* a body may float because of loads at points alone */
        TRY(make_constraints(problem, error));
    TRY(weft_problem_forms_alone(problem, &alone, &n, error));
    if (!weft_records_only(problem->context))
        TRY(weft_free_modes_find(problem->system.constraints, problem->system.op, alone, n,
                                 &problem->system.modes, error));
    if (problem->system.modes.n > 0)
        weft_log(problem->context->monitor, WEFT_LOG_INFO,
                 "nothing fixes %d mode%s of u: the solution without them is computed",
                 problem->system.modes.n, problem->system.modes.n == 1 ? "" : "s");
    if (problem->system.modes.held.n > 0)
        weft_log(
            problem->context->monitor, WEFT_LOG_INFO,
            "terms that are far below the others hold %d mode%s of u, which are computed apart",
            problem->system.modes.held.n, problem->system.modes.held.n == 1 ? "" : "s");
done:
    free(alone);
    return status;
}

void weft_problem_clear_constraints(weft_problem *problem) {
    weft_reduction_free(&problem->system.reduction);
    weft_constraints_free(&problem->system.constraints);
    weft_free_modes_clear(&problem->system.modes);
}

weft_status weft_problem_find_floating(weft_problem *problem, bool all_fixed, int64_t *n_parts,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_bc_parts(problem->fields.bc, NULL, n_parts, error));
    if (*n_parts == 1 && all_fixed)
        goto done;
    TRY(weft_problem_find_modes(problem, error));
    if (problem->system.modes.n == 0 && problem->system.modes.held.n == 0)
        weft_problem_clear_constraints(problem);
done:
    return status;
}

weft_status weft_problem_reduce(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!problem->system.constraints || weft_constraints_empty(problem->system.constraints))
        goto done;
    if (!weft_assembly_about(problem->system.linear.choice.assembly)
             ->stores_matrix) { /* what was chosen before it was known */
        weft_operator_free(&problem->system.op);
        problem->system.linear.choice.assembly = WEFT_ASSEMBLY_CSR;
        TRY(weft_problem_operator_make(problem, error));
    }
    TRY(weft_reduction_make(problem->system.constraints, &problem->system.reduction, error));
done:
    return status;
}

weft_status weft_problem_constrain(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = problem->fields.n_dofs;
    if (problem->system.constraints) {
        TRY(weft_constraints_pin(problem->system.constraints, &problem->system.modes,
                                 problem->system.b_values, error));
        problem->system.modes_are_pinned = true;
        TRY(weft_vector_push(problem->system.b, problem->system.b_values, n, error));
        TRY(weft_problem_reduce(problem, error));
    }
    if (problem->system.reduction) {
        TRY(weft_reduction_update(problem->system.reduction, problem->system.op, error));
        TRY(weft_reduction_fill(problem->system.reduction, 1, problem->system.u, error));
        TRY(weft_vector_pull(problem->system.u, problem->system.u_values, n, error));
    }
done:
    return status;
}

weft_status weft_problem_release(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = problem->fields.n_dofs;
    if (problem->fields.layout)
        TRY(weft_layout_update(problem->fields.layout, problem->system.u, error));
    TRY(weft_vector_pull(problem->system.u, problem->system.u_values, n, error));
    if (!problem->system.reduction)
        goto done;
    TRY(weft_free_modes_remove(&problem->system.modes, n, problem->system.u_values, error));
    TRY(weft_vector_push(problem->system.u, problem->system.u_values, n, error));
done:
    return status;
}

int64_t weft_problem_dependent(const weft_problem *problem) {
    const weft_free_modes *modes = &problem->system.modes;
    if (!problem->system.constraints)
        return 0;
    const int n_pins = modes->n + (problem->system.modes_are_pinned ? modes->held.n : 0);
    return weft_constraints_count(problem->system.constraints) - n_pins;
}

int weft_problem_free_modes(const weft_problem *problem, int *held) {
    if (held)
        *held = problem->system.modes.held.n;
    return problem->system.modes.n;
}

weft_status weft_problem_hold(weft_problem *problem, const weft_problem *from, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < from->fields.n_conditions; ++i) {
        weft_condition one = from->fields.conditions[i];
        one.value = "0";
        if (one.kind != WEFT_NEUMANN)
            TRY(weft_problem_condition(problem, &one, error));
    }
    for (int i = 0; i < from->declared.n; ++i) {
        weft_constraint one = from->declared.list[i];
        if (one.kind == WEFT_CONSTRAINT_POINT)
            one.value = "0";
        TRY(weft_problem_constraint(problem, &one, error));
    }
    weft_problem_set_hierarchy(problem, from->hierarchy);
done:
    return status;
}
