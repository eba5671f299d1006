/* What constraints need to know of a space: the functions at a point, the places and parts of nodes, products of functions. */
#include "fem/constrain/private.h"
#include "fem/mesh/map.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_locate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- points ---------------------------------------------------------------------------------- */

/* The cell at a point, -1: none; shape gets the values of its functions there. */
static weft_status find_cell(const weft_space *space, const double *point, int64_t *cell,
                             double *shape, weft_error *error) {
    weft_status status = WEFT_OK;
    double xi[3];
    TRY(weft_mesh_locate_cells(weft_space_device(space), weft_space_mesh(space), point, 1, cell, xi,
                               error));
    if (*cell >= 0)
        TRY(weft_element_tabulate(weft_space_element(space), 0, 1, xi, shape, error));
done:
    return status;
}

/* The nodes of the cell at a point and the values of their shape functions there. */
typedef struct point_nodes {
    int n;
    int32_t *nodes;
    double *shape;
} point_nodes;

static void point_nodes_clear(point_nodes *at) {
    free(at->nodes);
    free(at->shape);
    *at = (point_nodes){0};
}

static weft_status find_nodes(const weft_space *space, const double *point, const char *origin,
                              point_nodes *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_space_element(space)->n_nodes;
    int64_t cell = -1;
    char text[64];
    point_nodes made = {.n = n};
    made.nodes = calloc((size_t)n, sizeof *made.nodes);
    made.shape = calloc((size_t)n + 1, sizeof *made.shape);
    if (!made.nodes || !made.shape)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(find_cell(space, point, &cell, made.shape, error));
    if (cell < 0) {
        status = weft_error_set(error, WEFT_ERROR_INPUT, "the point %s is outside the mesh",
                                weft_point_text(point, weft_space_mesh(space)->dimension, text));
        weft_error_location(error, origin, NULL, 0, 0);
        weft_error_hint(error, "name a point of the mesh; curved boundaries are polygons");
        goto done;
    }
    for (int v = 0; v < n; ++v) {
        made.nodes[v] = weft_space_cell_nodes(space)[cell * n + v];
        made.shape[v] = fabs(made.shape[v]) < 1e-10 ? 0 : made.shape[v];
    }
    *out = made;
    made = (point_nodes){0};
done:
    point_nodes_clear(&made);
    return status;
}

/* The values of the functions of a field at the nodes of its enrichment, [nodes][functions]. */
static weft_status tabulate_at(const weft_constraint_field *field, const weft_constraint_field *of,
                               double **out, weft_error *error) {
    const weft_element *element = weft_space_element(field->space);
    const weft_element *bubbles = weft_space_element(of->space);
    *out = calloc((size_t)bubbles->n_nodes * (size_t)element->n_nodes + 1, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, "constraints");
    return weft_element_tabulate(element, 0, bubbles->n_nodes, bubbles->points, *out, error);
}

/* Dofs of an enrichment are values of u at its nodes: its functions take their values there off those of the field
 * before, whose shapes at the point change. */
static weft_status enrich(const weft_constraint_field *field, int component, const double *point,
                          const char *origin, point_nodes *at, constraint_terms *terms,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_constraint_field *bubbles = field + 1;
    point_nodes more = {0};
    double *table = NULL;
    TRY(find_nodes(bubbles->space, point, origin, &more, error));
    TRY(tabulate_at(field, bubbles, &table, error));
    for (int k = 0; k < more.n; ++k) {
        if (more.shape[k] == 0)
            continue;
        TRY(constraint_terms_add(terms, constraint_dof(bubbles, more.nodes[k], component),
                                 more.shape[k], error));
        for (int v = 0; v < at->n; ++v)
            at->shape[v] -= more.shape[k] * table[k * at->n + v];
    }
done:
    point_nodes_clear(&more);
    free(table);
    return status;
}

weft_status constraint_point_terms(const constraint_fields *fields, int value, const double *point,
                                   const char *origin, constraint_terms *terms, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_constraint_field *field = fields->list;
    point_nodes at = {0};
    while (!constraint_field_has(field, value))
        ++field;
    const int component = value - field->first_value;
    TRY(find_nodes(field->space, point, origin, &at, error));
    if (field + 1 < fields->list + fields->n && field[1].is_enrichment)
        TRY(enrich(field, component, point, origin, &at, terms, error));
    for (int v = 0; v < at.n; ++v)
        if (at.shape[v] != 0)
            TRY(constraint_terms_add(terms, constraint_dof(field, at.nodes[v], component),
                                     at.shape[v], error));
done:
    point_nodes_clear(&at);
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

weft_status constraint_parts(const weft_space *space, const weft_bc *bc, int32_t *out, int64_t *n,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const int32_t *nodes = weft_space_cell_nodes(space);
    const int width = weft_space_element(space)->n_nodes, v = weft_mesh_cell_vertices(mesh);
    int32_t *part = NULL;
    if (nodes == mesh->cells) {
        status = weft_bc_parts(bc, out, n, error);
        goto done;
    }
    part = weft_array_make((size_t)mesh->n_nodes, sizeof *part);
    if (!part)
        TRY(weft_out_of_memory(error, "free modes"));
    TRY(weft_bc_parts(bc, part, n, error));
    for (int64_t i = 0; i < mesh->n_cells * width; ++i) /* each node is in some cell */
        out[nodes[i]] = part[mesh->cells[i / width * v]];
done:
    free(part);
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Tables of the functions and of the map at the points of a rule. Where the maps are affine, M of a cell is M of the
 * reference cell times |det J|. */
typedef struct product {
    weft_cell_map map;
    weft_quadrature rule;
    double *shape;     /* [points][nodes] */
    double *corners;   /* [1 + d][points][map.n_nodes] */
    double *reference; /* [nodes][nodes], M of the reference cell; NULL: maps are not affine */
} product;

static void product_clear(product *p) {
    weft_cell_map_clear(&p->map);
    weft_quadrature_free(&p->rule);
    free(p->shape);
    free(p->corners);
    free(p->reference);
}

/* M_ij = sum over the points of weights phi_i phi_j */
static weft_status make_reference(product *p, int n, weft_error *error) {
    p->reference = calloc((size_t)n * (size_t)n, sizeof *p->reference);
    if (!p->reference)
        return weft_out_of_memory(error, "free modes");
    for (int q = 0; q < p->rule.n; ++q)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                p->reference[i * n + j] +=
                    p->rule.weights[q] * p->shape[q * n + i] * p->shape[q * n + j];
    return WEFT_OK;
}

static weft_status product_make(const weft_space *space, product *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    const int d = weft_space_mesh(space)->dimension;
    TRY(weft_cell_map_make(weft_space_mesh(space), &out->map, error));
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, 2 * element->degree + 1,
                             &out->rule, error));
    const size_t n = (size_t)out->rule.n;
    out->shape = calloc(n * (size_t)element->n_nodes, sizeof *out->shape);
    out->corners = calloc(n * (size_t)((1 + d) * out->map.n_nodes), sizeof *out->corners);
    if (!out->shape || !out->corners)
        TRY(weft_out_of_memory(error, "free modes"));
    TRY(weft_element_tabulate(element, 0, out->rule.n, out->rule.points, out->shape, error));
    TRY(weft_element_tabulate(out->map.element, 1, out->rule.n, out->rule.points, out->corners,
                              error));
    if (weft_mesh_is_affine(out->map.mesh))
        TRY(make_reference(out, element->n_nodes, error));
done:
    return status;
}

/* |det J| at a point of the rule */
static double measure_at(const product *p, int q, const double *nodes) {
    double inverse[9];
    const int m = p->map.n_nodes;
    return weft_cell_map_inverse(&p->map, p->corners + (ptrdiff_t)q * m, (int64_t)p->rule.n * m,
                                 nodes, inverse);
}

/* One component of v and y at the nodes of a cell. */
typedef struct component {
    const int32_t *nodes;
    int n, stride;
    const double *v;
    double *y;
} component;

/* y_i += factor sum_j M_ij v_j, M of the reference cell */
static void add_affine(const double *M, double factor, const component *of) {
    for (int i = 0; i < of->n; ++i) {
        double sum = 0;
        for (int j = 0; j < of->n; ++j)
            sum += M[i * of->n + j] * of->v[(int64_t)of->nodes[j] * of->stride];
        of->y[(int64_t)of->nodes[i] * of->stride] += factor * sum;
    }
}

/* y_i += factor v phi_i at a point where the functions have the values of shape */
static void add_point(const double *shape, double factor, const component *of) {
    double sum = 0;
    for (int i = 0; i < of->n; ++i)
        sum += shape[i] * of->v[(int64_t)of->nodes[i] * of->stride];
    for (int i = 0; i < of->n; ++i)
        of->y[(int64_t)of->nodes[i] * of->stride] += factor * sum * shape[i];
}

/* y += int v phi_i over one cell */
static void add_cell(const weft_space *space, const product *p, int64_t cell, const double *v,
                     double *y) {
    const int n = weft_space_element(space)->n_nodes, c = weft_space_components(space);
    double corners[WEFT_CELL_MAP_NUMBERS];
    weft_cell_map_nodes(&p->map, cell, corners);
    for (int q = 0; q < (p->reference ? 1 : p->rule.n); ++q) {
        const double det = measure_at(p, q, corners);
        for (int k = 0; k < c; ++k) {
            const component of = {weft_space_cell_nodes(space) + cell * n, n, c, v + k, y + k};
            if (p->reference)
                add_affine(p->reference, det, &of);
            else
                add_point(p->shape + (ptrdiff_t)q * n, det * p->rule.weights[q], &of);
        }
    }
}

weft_status constraint_mass_apply(const weft_space *space, const double *v, double *y,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    product p = {0};
    memset(y, 0, (size_t)weft_space_dofs(space) * sizeof *y);
    TRY(product_make(space, &p, error));
    for (int64_t cell = 0; cell < weft_space_mesh(space)->n_cells; ++cell)
        add_cell(space, &p, cell, v, y);
done:
    product_clear(&p);
    return status;
}
