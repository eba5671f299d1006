/* The functions of a mixed space: their dofs and conditions. */
#include "fem/problem/problem.h"

#include <stdlib.h>
#include <string.h>

void weft_problem_count_fields(weft_problem *problem) {
    if (problem->n_fields == 0)
        problem->fields[problem->n_fields++] = (weft_problem_field){.space = problem->space};
    problem->space = problem->fields[0].space;
    problem->n_dofs = 0;
    problem->n_values = 0;
    for (int i = 0; i < problem->n_fields; ++i) {
        weft_problem_field *field = &problem->fields[i];
        const int last = field->first_value + weft_space_components(field->space);
        field->first_dof = problem->n_dofs;
        problem->spaces[i] = field->space;
        problem->n_dofs += weft_space_dofs(field->space);
        problem->n_values = last > problem->n_values ? last : problem->n_values;
    }
    weft_problem_describe(problem);
}

const weft_problem_field *weft_problem_field_of_dof(const weft_problem *problem, int64_t dof) {
    int i = problem->n_fields - 1;
    while (i > 0 && dof < problem->fields[i].first_dof)
        --i;
    return &problem->fields[i];
}

weft_solution weft_problem_solution(const weft_problem *problem) {
    return (weft_solution){.context = problem->context,
                           .mesh = problem->mesh,
                           .fields = problem->fields,
                           .n_fields = problem->n_fields,
                           .n_values = problem->n_values,
                           .is_linear = weft_problem_is_linear(problem),
                           .values = problem->u_values};
}

/* ---- conditions -------------------------------------------------------------------------- */

static const weft_condition natural = {
    .kind = WEFT_NEUMANN, .group = "boundary", .value = "0", .origin = "--neumann"};

/* The conditions on one field, of its own components. Where there are none, its flux is zero. */
static weft_status make_field(weft_problem *problem, weft_problem_field *field, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(field->space);
    const weft_bc_place place = {field->first_dof, problem->n_dofs};
    int n = 0;
    weft_condition *list = calloc((size_t)problem->n_conditions + 1, sizeof *list);
    if (!list)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < problem->n_conditions && !field->is_enrichment; ++i) {
        const int k = problem->conditions[i].component - field->first_value;
        if (k < 0 || k >= c)
            continue;
        list[n] = problem->conditions[i];
        list[n++].component = k;
    }
    if (n == 0)
        list[n++] = natural;
    TRY(weft_bc_make_in(problem->context, field->space, &place, list, n, &field->bc, error));
done:
    free(list);
    return status;
}

static weft_status join_constrained(weft_problem *problem, weft_error *error) {
    int64_t all = 0;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1)
            problem->own_constrained =
                weft_array_make((size_t)all, sizeof *problem->own_constrained);
        if (pass == 1 && !problem->own_constrained)
            return weft_out_of_memory(error, NULL);
        all = 0;
        for (int i = 0; i < problem->n_fields; ++i) {
            int64_t n = 0;
            const int32_t *dofs = weft_bc_constrained(problem->fields[i].bc, &n);
            for (int64_t k = 0; k < n && pass == 1; ++k)
                problem->own_constrained[all + k] =
                    (int32_t)(problem->fields[i].first_dof + dofs[k]);
            all += n;
        }
    }
    problem->constrained = problem->own_constrained;
    problem->n_constrained = all;
    return WEFT_OK;
}

bool weft_problem_is_natural(const weft_problem *problem) {
    return problem->n_conditions == 0 && (problem->is_natural || problem->declared.n > 0);
}

weft_status weft_problem_conditions_make(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    if (problem->n_fields > 1) {
        for (int i = 0; i < problem->n_fields; ++i)
            TRY(make_field(problem, &problem->fields[i], error));
        for (int i = 1; i < problem->n_fields; ++i)
            TRY(weft_bc_join(problem->fields[0].bc, problem->fields[i].bc, error));
        TRY(join_constrained(problem, error));
    } else {
        const bool is_natural = weft_problem_is_natural(problem);
        TRY(weft_bc_make(problem->context, problem->space,
                         is_natural ? &natural : problem->conditions,
                         is_natural ? 1 : problem->n_conditions, &problem->fields[0].bc, error));
        problem->constrained = weft_bc_constrained(problem->fields[0].bc, &problem->n_constrained);
    }
    problem->bc = problem->fields[0].bc;
done:
    return status;
}

void weft_problem_set_conditions(const weft_problem *problem, double factor, double *u) {
    for (int i = 0; i < problem->n_fields; ++i)
        weft_bc_set(problem->fields[i].bc, factor, u + problem->fields[i].first_dof);
}

bool weft_problem_is_linear(const weft_problem *problem) {
    const weft_cell_type cell = weft_mesh_cell(problem->mesh)->type;
    const weft_element *element = problem->space ? weft_space_element(problem->space) : NULL;
    return problem->n_fields <= 1 && (!element || weft_element_is_on_vertices(element)) &&
           (cell == WEFT_TRIANGLE || cell == WEFT_TETRAHEDRON) && !problem->mesh->curve;
}

void weft_problem_describe(weft_problem *problem) {
    weft_linear *linear = &problem->linear;
    linear->mesh = problem->mesh;
    linear->hierarchy = problem->hierarchy;
    linear->spaces = problem->spaces;
    linear->n_spaces = problem->n_fields;
    linear->is_p1 = problem->mesh && weft_problem_is_linear(problem);
    linear->needs_matrix = problem->declared.n > 0;
}
