/* Finds the cells and facets of the measures of a UFL problem, and connects them with the dofs. */
#include "core/base/options.h"
#include "fem/space/space.h"
#include "forms/bind/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const measures[] = {"dx", "ds", "dS"};

static weft_status refuse_measure(const weft_bind_options *options, const weft_mesh *mesh,
                                  const char *measure, int dimension, weft_error *error) {
    weft_text list = {0};
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->groups[g].dimension == dimension)
            weft_text_add(&list, "%s%s (%d)", list.length > 0 ? ", " : "", mesh->groups[g].name,
                          mesh->groups[g].number);
    weft_error_set(error, WEFT_ERROR_INPUT, "the mesh %s has no group for %s", mesh->source,
                   measure);
    weft_error_location(error, options->file, NULL, 0, 0);
    if (list.length > 0 && !list.failed)
        weft_error_hint(error,
                        options->names_options ? "add --measure '%s=GROUP', with one of %s"
                                               : "name the group of '%s', one of %s",
                        measure, list.data);
    else
        weft_error_hint(error, "the mesh has no groups of %s",
                        dimension == mesh->dimension ? "cells" : "facets");
    weft_text_free(&list);
    return WEFT_ERROR_INPUT;
}

/* Whether a group is the one of a measure: it has the name that is given, or the number. */
static bool is_group(const weft_group *group, const weft_bind_measure *given, int id) {
    char number[16];
    snprintf(number, sizeof number, "%d", id);
    if (given)
        return strcmp(group->name, given->group) == 0;
    return (id > 0 && group->number == id) || strcmp(group->name, number) == 0;
}

/* The group of a measure ds(id); -1: everywhere. */
static weft_status find_group(const weft_bind_options *options, const weft_mesh *mesh,
                              const weft_ufl_part *part, int *group, weft_error *error) {
    const int dimension = mesh->dimension - (part->domain != WEFT_UFL_CELLS);
    const weft_bind_measure *given = NULL;
    char measure[32];
    *group = -1;
    if (part->id < 0)
        return WEFT_OK;
    snprintf(measure, sizeof measure, "%s(%d)", measures[part->domain], part->id);
    for (int i = 0; i < options->n_measures; ++i)
        if (strcmp(options->measures[i].name, measure) == 0)
            given = &options->measures[i];
    for (int g = 0; g < mesh->n_groups && *group < 0; ++g)
        if (mesh->groups[g].dimension == dimension && is_group(&mesh->groups[g], given, part->id))
            *group = g;
    return *group >= 0 ? WEFT_OK : refuse_measure(options, mesh, measure, dimension, error);
}

bool weft_ufl_has_measure(const weft_ufl_problem *ufl, const char *measure) {
    for (int p = 0; p < ufl->n_parts; ++p) {
        char name[32];
        snprintf(name, sizeof name, "%s(%d)", measures[ufl->parts[p].domain], ufl->parts[p].id);
        if (ufl->parts[p].id >= 0 && strcmp(name, measure) == 0)
            return true;
    }
    return false;
}

/* Refuse a measure of the options that no integral has. */
static weft_status check_measures(const weft_ufl_problem *problem, const weft_bind_options *options,
                                  weft_error *error) {
    for (int i = 0; i < options->n_measures; ++i) {
        const weft_bind_measure *given = &options->measures[i];
        if (weft_ufl_has_measure(problem, given->name))
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE, "no integral has the measure %s", given->name);
        weft_error_location(error, given->origin, NULL, 0, 0);
        weft_error_hint(error, "weft ufl %s --print degrees lists the measures", options->file);
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

weft_status weft_ufl_find_groups(const weft_ufl_problem *ufl, const weft_mesh *mesh,
                                 const weft_bind_options *options, int *groups, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_bind_options", options->size, sizeof *options, error));
    TRY(check_measures(ufl, options, error));
    for (int i = 0; i < ufl->n_parts; ++i)
        TRY(find_group(options, mesh, &ufl->parts[i], &groups[i], error));
done:
    return status;
}

/* A domain without cells or facets. */
static weft_status refuse_empty(const weft_binding *binding, const weft_ufl_part *part, int group,
                                weft_error *error) {
    const weft_problem *problem = binding->problem;
    const weft_mesh *mesh = problem->mesh;
    const bool interior = part->domain == WEFT_UFL_INTERIOR_FACETS;
    weft_error_set(error, WEFT_ERROR_INPUT, "%s%s has no %s for %s",
                   group < 0 ? "the mesh" : "the group ", group < 0 ? "" : mesh->groups[group].name,
                   part->domain == WEFT_UFL_CELLS ? "cells"
                   : interior                     ? "facets between cells"
                                                  : "facets on the boundary",
                   measures[part->domain]);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    if (part->domain != WEFT_UFL_CELLS)
        weft_error_hint(error, "facets %s are integrated over by %s",
                        interior ? "on the boundary" : "between cells", interior ? "ds" : "dS");
    return WEFT_ERROR_INPUT;
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

/* Make the connectivities of a part over a group.
 *  size  gets the number of its cells or facets, of all ranks */
static weft_status connect_part(weft_binding *binding, int i_part, int group, int64_t *size,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    static const weft_entities_kind kinds[] = {WEFT_ENTITIES_CELLS, WEFT_ENTITIES_EXTERIOR,
                                               WEFT_ENTITIES_INTERIOR};
    const weft_ufl_problem *ufl = binding->ufl;
    const weft_problem *problem = binding->problem;
    weft_problem_part *part = &problem->forms.parts[i_part];
    const weft_entities_of of = {kinds[part->domain], group, ufl->parts[i_part].facets};
    weft_entity_dofs *dofs = binding->dofs[i_part] = calloc((size_t)ufl->n_sets, sizeof *dofs);
    if (!dofs)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < ufl->n_sets; ++i) {
        const weft_problem_set *set = &problem->inputs.sets[i];
        if (names_connectivity(part->compilation, ufl->sets[i].connectivity))
            TRY(weft_entity_dofs_make_of((const weft_space *const *)set->spaces, set->n,
                                         set->is_flat, &of, &dofs[i], error));
    }
    part->dofs = dofs[0].connectivity;
    int64_t n = weft_connectivity_from(part->dofs); /* of several ranks some may have none */
    TRY(weft_comm_sum(problem->context->comm, &n, error));
    *size = n;
done:
    return status;
}

/* A measure has a part, or one for each number of its facets in their cells. */
static bool is_same_measure(const weft_ufl_part *a, const weft_ufl_part *b) {
    return a->domain == b->domain && a->id == b->id;
}

static weft_status check_sizes(const weft_binding *binding, const int *groups, const int64_t *sizes,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *ufl = binding->ufl;
    for (int i = 0; i < ufl->n_parts; ++i) {
        int64_t n = 0;
        for (int k = 0; k < ufl->n_parts; ++k)
            n += is_same_measure(&ufl->parts[i], &ufl->parts[k]) ? sizes[k] : 0;
        if (n == 0)
            TRY(refuse_empty(binding, &ufl->parts[i], groups[i], error));
    }
done:
    return status;
}

weft_status weft_ufl_connect(weft_binding *binding, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem *problem = binding->problem;
    weft_bind_options options = *binding->options;
    int64_t *sizes = NULL;
    int *groups = binding->groups = calloc((size_t)problem->forms.n_parts + 1, sizeof *groups);
    if (!groups)
        TRY(weft_out_of_memory(error, NULL));
    options.file = problem->forms.file;
    TRY(weft_ufl_find_groups(binding->ufl, problem->mesh, &options, groups, error));
    sizes = calloc((size_t)problem->forms.n_parts + 1, sizeof *sizes);
    if (!sizes)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < problem->forms.n_parts; ++i)
        TRY(connect_part(binding, i, groups[i], &sizes[i], error));
    TRY(check_sizes(binding, groups, sizes, error));
done:
    free(sizes);
    return status;
}

/* Facets of the boundary have the couplings of their cells, if these are integrated over first. */
static bool adds_couplings(const weft_ufl_problem *ufl, const weft_ufl_part *part) {
    const weft_ufl_part *first = ufl->parts;
    while (!first->has_matrix)
        ++first;
    const bool everywhere = first->domain == WEFT_UFL_CELLS && first->id < 0;
    return part != first && (!everywhere || part->domain == WEFT_UFL_INTERIOR_FACETS);
}

void weft_ufl_form_start(const weft_binding *binding, int i_part, weft_bound_form *out) {
    const weft_ufl_problem *ufl = binding->ufl;
    const weft_ufl_part *part = &ufl->parts[i_part];
    const weft_entity_dofs *dofs = binding->dofs[i_part];
    weft_form_start(binding->problem->forms.file, binding->problem->forms.parts[i_part].cells.data,
                    dofs[0].connectivity, out);
    out->form.components = ufl->components;
    out->form.action = part->has_action ? "Kv" : NULL;
    out->form.diagonal = part->has_diagonal ? "Kd" : NULL;
    out->form.kernels = part->kernels;
    out->form.is_symmetric = part->is_symmetric;
    out->form.adds_couplings = adds_couplings(ufl, part);
    for (int i = 1; i < ufl->n_sets; ++i)
        if (dofs[i].connectivity)
            weft_form_bind_connectivity(out, ufl->sets[i].connectivity, dofs[i].connectivity);
}
