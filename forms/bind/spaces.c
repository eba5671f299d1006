/* Makes the functions of u and the spaces of coefficients of a UFL problem. */
#include "fem/mesh/sorted.h"
#include "fem/problem/balance.h"
#include "fem/space/space.h"
#include "forms/bind/bind.h"

#include <stdlib.h>

bool weft_ufl_is_straight(const weft_ufl_problem *ufl) {
    return ufl->sets[ufl->geometry].sub[0].degree == 1;
}

static weft_status check_cells(const weft_binding *binding, weft_error *error) {
    const weft_ufl_problem *ufl = binding->ufl;
    const weft_problem *problem = binding->problem;
    const weft_mesh *mesh = problem->mesh;
    const weft_cell *of_form = weft_cell_of(ufl->cell), *of_mesh = weft_mesh_cell(mesh);
    if (of_form != of_mesh) {
        weft_error_set(error, WEFT_ERROR_INPUT, "the forms are for %s, and the mesh has %s",
                       of_form->plural, of_mesh->plural);
        weft_error_location(error, problem->forms.file, NULL, 0, 0);
        weft_error_hint(error, "give a mesh of %s, or change the cell in the form file",
                        of_form->plural);
        return WEFT_ERROR_INPUT;
    }
    if (mesh->curve && weft_ufl_is_straight(ufl)) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "the cells of the forms are straight, and those of %s are curved",
                       mesh->source);
        weft_error_location(error, problem->forms.file, NULL, 0, 0);
        weft_error_hint(error, "call weft_mesh_straighten, or write the forms on a Mesh whose "
                               "coordinate element has degree 2");
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

static bool needs_sorted_cells(const weft_ufl_problem *ufl) {
    bool needs = false;
    for (int i = 0; i < ufl->n_sets; ++i)
        for (int k = 0; k < ufl->sets[i].n; ++k)
            needs =
                needs || weft_family_about(ufl->sets[i].sub[k].family)->map != WEFT_MAP_IDENTITY;
    return needs;
}

/* The spaces of a set. Those of the first are the fields of u. */
static weft_status make_set(const weft_binding *binding, int i, struct weft_mesh_copies *copies,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *ufl = binding->ufl;
    weft_problem *problem = binding->problem;
    const weft_ufl_set *set = &ufl->sets[i];
    weft_problem_set *made = &problem->inputs.sets[problem->inputs.n_sets++];
    made->name = set->nodes;
    made->is_flat = set->flat;
    for (int k = 0; k < set->n; ++k) {
        const weft_ufl_subspace *sub = &set->sub[k];
        TRY(weft_space_make_with(problem->context->device, problem->mesh, copies,
                                 (weft_element_kind){sub->family, sub->degree},
                                 i == 0 && !set->flat ? ufl->components : sub->components,
                                 &made->spaces[k], error));
        made->first_values[made->n++] = sub->first_value;
        if (i > 0)
            continue;
        problem->fields.list[problem->fields.n++] = (weft_problem_field){
            .space = made->spaces[k],
            .first_value = sub->first_value,
            .is_enrichment = k > 0 && sub->first_value == set->sub[k - 1].first_value};
    }
done:
    return status;
}

weft_status weft_ufl_spaces_make(const weft_binding *binding, struct weft_mesh_copies *copies,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *ufl = binding->ufl;
    weft_problem *problem = binding->problem;
    TRY(check_cells(binding, error));
    if (needs_sorted_cells(ufl) && !problem->mesh->is_sorted) {
        weft_mesh_sorted_free(&problem->sorted);
        TRY(weft_mesh_sort(problem->mesh, &problem->sorted, error));
        weft_problem_set_mesh(problem, problem->sorted);
        copies = NULL;
    }
    problem->inputs.sets = calloc((size_t)ufl->n_sets + 1, sizeof *problem->inputs.sets);
    if (!problem->inputs.sets)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < ufl->n_sets; ++i)
        TRY(make_set(binding, i, copies, error));
    weft_problem_count_fields(problem);
    problem->inputs.geometry = ufl->geometry;
    problem->forms.components = ufl->components;
    if (problem->fields.n_values > WEFT_VALUES_MAX || problem->fields.n_dofs > INT32_MAX)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "%d components and %lld dofs: at most %d and 2^31 - 1 can be",
                                problem->fields.n_values, (long long)problem->fields.n_dofs,
                                WEFT_VALUES_MAX);
done:
    return status;
}
