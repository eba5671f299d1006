/* Finds the cells or facets of quantities, and of facets between two cells the side. */
#include "fem/derive/tabulated.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

weft_status derive_append(int32_t **all, int64_t n_all, const int32_t *more, int64_t n,
                          size_t width, weft_error *error) {
    int32_t *made = weft_array_make((size_t)(n_all + n), width * sizeof *made);
    if (!made)
        return weft_out_of_memory(error, "facets of derived quantities");
    if (n_all > 0)
        memcpy(made, *all, (size_t)n_all * width * sizeof *made);
    memcpy(made + (size_t)n_all * width, more, (size_t)n * width * sizeof *made);
    free(*all);
    *all = made;
    return WEFT_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* GROUP|CELLS: the facets of a group, and the cells on whose side they are. Names of groups may have a `|`, so that the
 * last one counts, where the whole is none. */
static weft_status find_sides(const weft_mesh *mesh, derive_quantity *quantity, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *name = quantity->given.group, *bar = strrchr(name, '|');
    char *left = bar ? strndup(name, (size_t)(bar - name)) : NULL;
    if (bar && !left)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_mesh_group(mesh, bar ? left : name, &quantity->facets, error));
    if (bar)
        TRY(weft_mesh_cell_group(mesh, bar + 1, &quantity->side, error));
done:
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, quantity->given.origin, NULL, 0, 0);
    free(left);
    return status;
}

/* Every facet of the group that touches the cells has them on one side. */
static weft_status check_cells(const weft_derive *derive, const derive_quantity *quantity,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(derive->problem.space);
    const char *group = quantity->facets < 0 ? "boundary" : mesh->groups[quantity->facets].name;
    const char *cells = mesh->groups[quantity->side].name;
    weft_sides sides = {0};
    int64_t two = 0;
    TRY(weft_sides_of_cells(derive->context->device, mesh, quantity->facets, quantity->side, &sides,
                            &two, error));
    if (two == 0 && sides.n > 0)
        goto done;
    status = weft_error_set(error, WEFT_ERROR_INPUT,
                            two > 0 ? "facets of '%s' have cells of '%s' on both sides"
                                    : "no facet of '%s' has a cell of '%s' on a side",
                            group, cells);
    weft_error_location(error, quantity->given.origin, NULL, 0, 0);
    weft_error_hint(error, two > 0 ? "name a group of the cells on one of their sides"
                                   : "name a group of cells that the facets touch");
done:
    weft_sides_free(&sides);
    return status;
}

/* Append the facets of a group, with their cells. */
static weft_status add_facets(weft_derive *derive, derive_quantity *quantity, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_part *part = &derive->parts[DERIVE_FACETS];
    weft_space_sides sides = {0};
    quantity->first = part->n_elements;
    if (quantity->side >= 0)
        TRY(check_cells(derive, quantity, error));
    if (derive->tabulated) {
        TRY(derive_tabulated_add_facets(derive, quantity->facets, quantity->side, &quantity->n,
                                        error));
        part->n_elements += quantity->n;
        goto done;
    }
    TRY(weft_space_one_side_make(derive->problem.space, quantity->facets, quantity->side, &sides,
                                 error));
    TRY(derive_append(&part->cell_nodes, part->n_elements, sides.nodes, sides.n,
                      (size_t)sides.width, error));
    TRY(derive_append(&part->cells, part->n_elements, sides.cells, sides.n, 1, error));
    quantity->n = sides.n;
    part->n_elements += sides.n;
done:
    weft_space_sides_free(&sides);
    return status;
}

weft_status derive_elements_find(weft_derive *derive, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(derive->problem.space);
    derive_quantity *quantity = &derive->quantities[i];
    const char *name = quantity->given.group;
    int group = 0;
    quantity->n = mesh->n_cells;
    quantity->is_whole = true;
    quantity->side = quantity->facets = -1;
    if (!name || quantity->given.kind == WEFT_DERIVE_FIELD)
        goto done;
    quantity->is_whole = false;
    if (weft_mesh_group(mesh, name, &group, NULL) != WEFT_OK &&
        weft_mesh_cell_group(mesh, name, &group, NULL) == WEFT_OK) {
        quantity->first = mesh->groups[group].first_cell;
        quantity->n = mesh->groups[group].n_cells;
        goto done;
    }
    if (weft_mesh_group(mesh, name, &quantity->facets, NULL) != WEFT_OK)
        TRY(find_sides(mesh, quantity, error));
    quantity->elements = DERIVE_FACETS;
    for (int k = 0; k < i; ++k) /* the same group again */
        if (derive->quantities[k].elements == DERIVE_FACETS &&
            derive_is_equal(derive->quantities[k].given.group, name)) {
            quantity->first = derive->quantities[k].first;
            quantity->n = derive->quantities[k].n;
            goto done;
        }
    TRY(add_facets(derive, quantity, error));
done:
    return status;
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* The groups of cells that are on one side of facets: "q@mid|brick or q@mid|wool". */
static weft_status list_sides(const weft_mesh *mesh, const derive_quantity *quantity,
                              weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    for (int g = 0; g < mesh->n_groups; ++g) {
        int64_t two = 0;
        if (mesh->groups[g].dimension != mesh->dimension)
            continue;
        TRY(weft_sides_of_cells(NULL, mesh, quantity->facets, g, &sides, &two, error));
        if (sides.n > 0 && two == 0)
            weft_text_add(out, "%s%s@%s|%s", out->length > 0 ? " or " : "", quantity->given.name,
                          quantity->given.group, mesh->groups[g].name);
        weft_sides_free(&sides);
    }
    if (out->failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    weft_sides_free(&sides);
    return status;
}

static bool has_interior(const weft_mesh *mesh, const weft_group *facets) {
    for (int64_t i = 0; i < facets->n_facets; ++i)
        if (mesh->group_facets[facets->first_facet + i] >= mesh->n_boundary_facets)
            return true;
    return false;
}

weft_status derive_side_check(const weft_derive *derive, const derive_quantity *quantity,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(derive->problem.space);
    weft_text names = {0};
    if (quantity->elements != DERIVE_FACETS || !quantity->is_sided || quantity->side >= 0 ||
        quantity->facets < 0)
        goto done;
    if (!has_interior(mesh, &mesh->groups[quantity->facets]))
        goto done;
    TRY(list_sides(mesh, quantity, &names, error));
    status = weft_error_set(
        error, WEFT_ERROR_INPUT,
        "facets of '%s' are between two cells, and this formula has a value on each side",
        quantity->given.group);
    weft_error_location(error, quantity->given.origin, quantity->given.text, 1, 1);
    if (names.length > 0)
        weft_error_hint(error, "name the side by its cells: %s", names.data);
    else
        weft_error_hint(error,
                        "make a group of the cells on one side of them, and name it: %s@%s|CELLS",
                        quantity->given.name, quantity->given.group);
done:
    weft_text_free(&names);
    return status;
}
