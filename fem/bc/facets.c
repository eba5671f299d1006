/* The facets of conditions, and forms over them: closed formulas for linear functions on straight simplices, and tables of
 * the space's element for all others. */
#include "fem/base/memory.h"
#include "fem/bc/private.h"
#include "fem/element/traces.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/map.h"
#include "fem/space/layout.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ------------------------------------------------------------------------------- */

static weft_status refuse_functions(const char *what, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "conditions on the flux are not for %s", what);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_UNSUPPORTED;
}

/* Some functions have no value on a facet, or one from each side. */
static weft_status check_functions(const weft_space *space, int group, int64_t n, int width,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides exterior = {0};
    if (width == 0)
        TRY(refuse_functions("functions that are zero on all facets, such as bubbles",
                             "leave the condition out", error));
    if (weft_family_about(weft_space_element(space)->family)->is_continuous)
        goto done;
    TRY(weft_sides_exterior(weft_space_device(space), weft_space_mesh(space), group, &exterior,
                            error));
    if (exterior.n != n)
        TRY(refuse_functions(
            "discontinuous functions on facets between two cells, where they have two values",
            "write the term into the form, with dS", error));
done:
    weft_sides_free(&exterior);
    return status;
}

/* The nodes of the functions that do not vanish on the facets. */
static weft_status list_nodes(const weft_space *space, int group, weft_bc_facets *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    weft_space_sides sides = {0};
    int *functions = calloc((size_t)element->n_nodes, sizeof *functions);
    if (!functions)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    if (weft_family_about(element->family)->at_points)
        TRY(refuse_functions("functions of a quadrature element, which have no values on facets",
                             "use a discontinuous element", error));
    TRY(weft_trace_functions(element, functions, &out->width, error));
    TRY(weft_space_one_side_make(space, group, -1, &sides, error));
    out->n = sides.n;
    out->nodes = weft_array_make((size_t)out->n * (size_t)out->width, sizeof *out->nodes);
    if (!out->nodes)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    for (int64_t i = 0; i < out->n; ++i)
        for (int k = 0; k < out->width; ++k)
            out->nodes[i * out->width + k] = sides.nodes[i * sides.width + functions[k]];
    TRY(check_functions(space, group, out->n, out->width, error));
done:
    free(functions);
    weft_space_sides_free(&sides);
    return status;
}

/* Of a mixed space: the dofs of one component among those of all functions. */
static weft_status connect(const weft_bc *bc, weft_bc_facets *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = out->n * out->width, c = weft_space_components(bc->space);
    const bool is_mixed = bc->place.n_dofs > 0;
    if (is_mixed) {
        out->indices = weft_array_make((size_t)n, sizeof *out->indices);
        if (!out->indices)
            TRY(weft_out_of_memory(error, "the nodes of facets"));
        for (int64_t i = 0; i < n; ++i)
            out->indices[i] = (int32_t)(bc->place.first_dof + out->nodes[i] * c + out->component);
    }
    TRY(weft_connectivity_make(
        bc->context->device, is_mixed ? out->indices : out->nodes, out->n, out->width,
        is_mixed ? bc->place.n_dofs : weft_space_nodes(bc->space), &out->dofs, error));
    if (!is_mixed)
        TRY(weft_space_share(bc->space, out->dofs, error));
done:
    return status;
}

/* ---- geometry -------------------------------------------------------------------------------- */

/* The nodes of the map that are on the facets, in the reoriented cells. */
static weft_status place_nodes(const weft_cell_map *map, const weft_sides *sides,
                               const int *functions, int n, double *x, weft_error *error) {
    weft_status status = WEFT_OK;
    int *reoriented = calloc((size_t)map->n_nodes, sizeof *reoriented);
    if (!reoriented)
        TRY(weft_out_of_memory(error, "the places of facets"));
    for (int64_t i = 0; i < sides->n; ++i) {
        double nodes[WEFT_CELL_MAP_NUMBERS];
        int vertices[8];
        weft_cell_map_nodes(map, sides->cells[i], nodes);
        weft_side_order(map->mesh, sides->cells[i], sides->local[i], vertices);
        (void)weft_element_permute(map->element, vertices, reoriented); /* Lagrange's can be */
        for (int k = 0; k < n; ++k)
            memcpy(x + (i * n + k) * map->d, nodes + reoriented[functions[k]] * map->d,
                   (size_t)map->d * sizeof *x);
    }
done:
    free(reoriented);
    return status;
}

static weft_status send(weft_device *device, const double *x, int64_t n, int numbers,
                        weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(device)->lanes_double;
    const size_t n_padded = (size_t)((n + lanes - 1) / lanes * lanes) * (size_t)numbers;
    double *blocks = weft_array_make(n_padded, sizeof *blocks);
    if (!blocks)
        TRY(weft_out_of_memory(error, "the places of facets"));
    weft_interleave(x, n, numbers, lanes, blocks);
    TRY(weft_memory_place(device, blocks, n_padded, sizeof *blocks, out, error));
done:
    free(blocks);
    return status;
}

static weft_status make_geometry(const weft_bc *bc, int group, weft_bc_facets *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(bc->space);
    weft_cell_map map = {0};
    weft_sides sides = {0};
    int *functions = NULL;
    double *x = NULL;
    int64_t n = 0;
    TRY(weft_cell_map_make(mesh, &map, error));
    TRY(weft_sides_of_group(bc->context->device, mesh, group, &sides, error));
    functions = calloc((size_t)map.n_nodes, sizeof *functions);
    if (!functions)
        TRY(weft_out_of_memory(error, "the places of facets"));
    TRY(weft_trace_functions(map.element, functions, &out->map_nodes, error));
    out->map_degree = map.element->degree;
    const int numbers = out->map_nodes * map.d;
    x = weft_array_make((size_t)sides.n * (size_t)numbers, sizeof *x);
    if (!x)
        TRY(weft_out_of_memory(error, "the places of facets"));
    TRY(place_nodes(&map, &sides, functions, out->map_nodes, x, error));
    TRY(send(bc->context->device, x, sides.n, numbers, &out->X, error));
    TRY(weft_mesh_group_facets(mesh, group, &out->vertices, &n, error));
    TRY(weft_connectivity_make(bc->context->device, out->vertices, n,
                               weft_mesh_facet_vertices(mesh), mesh->n_nodes, &out->to_vertices,
                               error));
done:
    weft_cell_map_clear(&map);
    weft_sides_free(&sides);
    free(functions);
    free(x);
    return status;
}

static weft_status make_barycentric(const weft_bc *bc, int group, weft_bc_facets *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space_facets facets = {0};
    TRY(weft_space_facets_make(bc->space, group, &facets, error));
    out->n = facets.n;
    out->width = facets.width;
    out->nodes = facets.nodes;
    out->dofs = facets.dofs;
    facets = (weft_space_facets){0};
done:
    weft_space_facets_free(&facets);
    return status;
}

weft_status weft_bc_facets_make(const weft_bc *bc, int group, int component, weft_bc_facets *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_bc_facets){.group = group, .component = component};
    if (bc->is_barycentric) {
        status = make_barycentric(bc, group, out, error);
        goto done;
    }
    TRY(list_nodes(bc->space, group, out, error));
    TRY(connect(bc, out, error));
    TRY(make_geometry(bc, group, out, error));
done:
    return status;
}

void weft_bc_facets_free(weft_bc_facets *facets) {
    weft_connectivity_free(&facets->dofs);
    weft_connectivity_free(&facets->to_vertices);
    weft_memory_free(&facets->X);
    free(facets->nodes);
    free(facets->indices);
    free(facets->vertices);
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* Quadrature of the degree for linear functions is exact for products with others of degree k if it grows with both. */
static void bind_tables(const weft_bc *bc, const weft_bc_facets *facets, int degree,
                        weft_bound_form *out) {
    const weft_element *element = weft_space_element(bc->space);
    const int above = element->degree - 1, most = degree + (above > 0 ? 2 * above : 0);
    weft_form_bind_parameter(out, "cell", (int)element->cell);
    weft_form_bind_parameter(out, "family", (int)element->family);
    weft_form_bind_parameter(out, "k", element->degree);
    weft_form_bind_parameter(out, "m", facets->map_degree);
    weft_form_bind_parameter(out, "degree",
                             most < WEFT_QUADRATURE_DEGREE_MAX ? most : WEFT_QUADRATURE_DEGREE_MAX);
    weft_form_bind_parameter(out, "n", facets->width);
    weft_form_bind_parameter(out, "g", facets->map_nodes);
    weft_form_bind_parameter(out, "d", weft_space_mesh(bc->space)->dimension);
    weft_form_bind_input(out, "X", facets->X);
}

weft_status weft_bc_form(const weft_bc *bc, const weft_bc_piece *piece, bool is_load, int degree,
                         weft_bound_form *out, weft_error *error) {
    static const char *const barycentric[2][2] = {{"robin.weft", "robin_component.weft"},
                                                  {"neumann.weft", "neumann_component.weft"}};
    static const char *const others[2][2] = {{"trace_matrix.weft", "trace_matrix_component.weft"},
                                             {"trace_load.weft", "trace_load_component.weft"}};
    weft_status status = WEFT_OK;
    const weft_bc_facets *facets = &bc->facets[piece->facets];
    const int c = bc->place.n_dofs > 0 ? 1 : weft_space_components(bc->space);
    if (bc->is_barycentric) {
        TRY(weft_form_ship(bc->space, barycentric[is_load][c > 1], facets->dofs, out, error));
        weft_form_bind_parameter(out, "degree", degree);
    } else {
        const char *script = others[is_load][c > 1];
        weft_form_start(script, weft_fem_script(script), facets->dofs, out);
        out->form.facets = facets->to_vertices;
        bind_tables(bc, facets, degree, out);
    }
    weft_form_bind_input(out, "when", bc->when);
    out->form.components = c;
    if (c > 1) {
        weft_form_bind_parameter(out, "c", c);
        weft_form_bind_parameter(out, bc->is_barycentric ? "k" : "j", piece->condition.component);
    }
done:
    return status;
}
