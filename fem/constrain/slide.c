/* Sliding: the normal component is zero at the nodes of a group, symmetry planes among them. */
#include "fem/constrain/private.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/map.h"
#include "fem/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- normals at nodes ------------------------------------------------------------------------ */

/* Up to three normals of the facets around a node. */
typedef struct node_normals {
    double sums[3][3];
    int n;
} node_normals;

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Add to the normal within 30 degrees, or as another one. */
static void add_normal(node_normals *at, const double normal[3]) {
    static const double COSINE = 0.8660254;
    for (int i = 0; i < at->n; ++i) {
        const double size = sqrt(dot(at->sums[i], at->sums[i]) * dot(normal, normal));
        if (fabs(dot(at->sums[i], normal)) < COSINE * size)
            continue;
        const double sign = dot(at->sums[i], normal) < 0 ? -1 : 1;
        for (int k = 0; k < 3; ++k)
            at->sums[i][k] += sign * normal[k];
        return;
    }
    if (at->n < 3)
        memcpy(at->sums[at->n++], normal, 3 * sizeof *normal);
}

/* What normals on the base of a reoriented cell are made of: the map of the cell at the nodes of the space there. */
typedef struct base {
    weft_cell_map map;
    int n, *nodes;   /* [n] of the element that are on the base */
    double *table;   /* [1 + d][n][map.n_nodes] */
    int *reoriented; /* [map.n_nodes] */
} base;

static void base_clear(base *b) {
    weft_cell_map_clear(&b->map);
    free(b->nodes);
    free(b->table);
    free(b->reoriented);
}

static weft_status base_make(const weft_space *space, base *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    const size_t d = (size_t)weft_space_mesh(space)->dimension, n = (size_t)element->n_nodes;
    double *points = NULL;
    TRY(weft_cell_map_make(weft_space_mesh(space), &out->map, error));
    const size_t m = (size_t)out->map.n_nodes;
    points = malloc(n * d * sizeof *points);
    out->nodes = malloc(n * sizeof *out->nodes);
    out->table = malloc((1 + d) * n * m * sizeof *out->table);
    out->reoriented = malloc(m * sizeof *out->reoriented);
    if (!points || !out->nodes || !out->table || !out->reoriented)
        TRY(weft_out_of_memory(error, "constraints"));
    for (size_t k = 0; k < n; ++k)
        if (fabs(element->points[k * d + d - 1]) < 1e-9) {
            memcpy(points + (size_t)out->n * d, element->points + k * d, d * sizeof *points);
            out->nodes[out->n++] = (int)k;
        }
    TRY(weft_element_tabulate(out->map.element, 1, out->n, points, out->table, error));
done:
    free(points);
    return status;
}

/* dx/dxi along the axes of the base, at its node i */
static void tangents(const base *b, int i, const double *x, double out[2][3]) {
    const int d = b->map.d, m = b->map.n_nodes;
    for (int axis = 0; axis + 1 < d; ++axis) {
        const double *row = b->table + ((ptrdiff_t)(1 + axis) * b->n + i) * m;
        for (int k = 0; k < m; ++k)
            for (int a = 0; a < d; ++a)
                out[axis][a] += row[k] * x[b->reoriented[k] * d + a];
    }
}

/* The normals of a facet at its nodes, times the density of its measure. */
static void add_facet(base *b, int64_t cell, int local, const int32_t *nodes, node_normals *to) {
    const int d = b->map.d;
    double x[WEFT_CELL_MAP_NUMBERS];
    int vertices[8];
    weft_cell_map_nodes(&b->map, cell, x);
    weft_side_order(b->map.mesh, cell, local, vertices);
    (void)weft_element_permute(b->map.element, vertices, b->reoriented); /* Lagrange's can be */
    for (int i = 0; i < b->n; ++i) {
        double t[2][3] = {{0}}, normal[3] = {1, 0, 0};
        tangents(b, i, x, t);
        if (d == 2) {
            normal[0] = t[0][1];
            normal[1] = -t[0][0];
        }
        for (int a = 0; a < 3 && d == 3; ++a)
            normal[a] =
                t[0][(a + 1) % 3] * t[1][(a + 2) % 3] - t[0][(a + 2) % 3] * t[1][(a + 1) % 3];
        add_normal(&to[nodes[b->nodes[i]]], normal);
    }
}

/* normals  [nodes of the space] */
static weft_status find_normals(const weft_space *space, int group, node_normals *normals,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    weft_space_sides of = {0};
    base b = {0};
    TRY(weft_sides_of_group(weft_space_device(space), weft_space_mesh(space), group, &sides,
                            error));
    TRY(weft_space_one_side_make(space, group, -1, &of, error));
    TRY(base_make(space, &b, error));
    for (int64_t f = 0; f < sides.n; ++f)
        add_facet(&b, sides.cells[f], sides.local[f], of.nodes + f * of.width, normals);
done:
    weft_sides_free(&sides);
    weft_space_sides_free(&of);
    base_clear(&b);
    return status;
}

/* ---- constraints ----------------------------------------------------------------------------- */

static weft_status slide_node(weft_constraints *constraints, const weft_constraint_field *field,
                              int32_t node, const node_normals *at, const char *origin,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(field->space)->dimension;
    for (int i = 0; i < at->n; ++i) {
        const double size = sqrt(dot(at->sums[i], at->sums[i]));
        int32_t dofs[3];
        double factors[3];
        int n = 0;
        for (int k = 0; k < d; ++k)
            if (fabs(at->sums[i][k]) > 1e-12 * size) {
                dofs[n] = constraint_dof(field, node, k);
                factors[n++] = at->sums[i][k] / size;
            }
        TRY(weft_constraints_add(constraints, n, dofs, factors, 0, origin, error));
    }
done:
    return status;
}

static weft_status slide_field(weft_constraints *constraints, const weft_constraint_field *field,
                               const char *group, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = field->space;
    const weft_condition condition = {.group = group, .origin = origin};
    node_normals *normals = NULL;
    int32_t *nodes = NULL;
    int64_t n = 0;
    int number = 0;
    TRY(constraint_locate(origin, weft_mesh_group(weft_space_mesh(space), group, &number, error),
                          error));
    TRY(weft_condition_nodes(space, &condition, &nodes, &n, error));
    normals = calloc((size_t)weft_space_nodes(space), sizeof *normals);
    if (!normals)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(find_normals(space, number, normals, error));
    for (int64_t i = 0; i < n; ++i)
        TRY(slide_node(constraints, field, nodes[i], &normals[nodes[i]], origin, error));
done:
    free(nodes);
    free(normals);
    return status;
}

/* A vector that has a normal component. On intervals any scalar would be one. */
static bool is_vector(const constraint_fields *fields, const weft_constraint_field *field) {
    const int d = weft_space_mesh(field->space)->dimension;
    return constraint_field_is_shared(field) && weft_space_components(field->space) == d &&
           (fields->n == 1 || d > 1);
}

static weft_status refuse_slide(const constraint_fields *fields, const char *group,
                                const char *origin, weft_error *error) {
    if (fields->n == 1)
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "the solution has %d component%s, and no normal component on `%s`",
                       fields->n_values, fields->n_values == 1 ? "" : "s", group);
    else
        weft_error_set(
            error, WEFT_ERROR_INPUT,
            "no part of the mixed solution is a continuous vector with a normal component on `%s`",
            group);
    weft_error_hint(error, "it is for displacements%s, with as many components as dimensions",
                    fields->n == 1 ? "" : " and velocities in a VectorElement");
    return constraint_locate(origin, WEFT_ERROR_INPUT, error);
}

weft_status weft_constraints_slide(weft_constraints *constraints, const char *group,
                                   const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const constraint_fields *fields = &constraints->fields;
    bool is_found = false;
    for (int i = 0; i < fields->n; ++i) {
        if (!is_vector(fields, &fields->list[i]))
            continue;
        is_found = true;
        TRY(slide_field(constraints, &fields->list[i], group, origin, error));
    }
    if (!is_found)
        TRY(refuse_slide(fields, group, origin, error));
    constraint_source_supplies(constraints, origin);
done:
    return status;
}
