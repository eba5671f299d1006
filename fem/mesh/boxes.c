/* Intervals, quadrilaterals and hexahedra: orientation, facets, and structured meshes. */
#include "fem/base/text.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- orientation ----------------------------------------------------------------------------- */

/* det J at a vertex over the product of the lengths of its edges, from -1 to 1; 0: an edge has
 * none. */
static double corner_volume(int d, const double *x, const int32_t *nodes, int vertex) {
    double edges[3][3] = {{0}}, lengths = 1;
    for (int a = 0; a < d; ++a) {
        double square = 0;
        const int32_t from = nodes[vertex & ~(1 << a)], to = nodes[vertex | 1 << a];
        for (int k = 0; k < d; ++k) {
            edges[a][k] = x[(int64_t)to * d + k] - x[(int64_t)from * d + k];
            square += edges[a][k] * edges[a][k];
        }
        lengths *= sqrt(square);
    }
    return lengths > 0 ? weft_determinant(d, edges) / lengths : 0;
}

weft_status weft_boxes_orient(weft_mesh_data *data, const char *source, int64_t *n_flipped,
                              weft_error *error) {
    const weft_cell *cell = weft_mesh_data_cell(data);
    const int d = cell->dimension, v = cell->n_entities[0];
    int64_t n_bad = 0, first = -1;
    for (int64_t c = 0; c < data->n_cells; ++c) {
        int32_t *nodes = data->cells + c * v;
        double least = INFINITY, greatest = -INFINITY;
        for (int vertex = 0; vertex < v; ++vertex) {
            const double volume = corner_volume(d, data->x, nodes, vertex);
            least = fmin(least, volume);
            greatest = fmax(greatest, volume);
        }
        if (greatest < -1e-14) {
            for (int i = 0; i < v; i += 2) {
                const int32_t swapped = nodes[i];
                nodes[i] = nodes[i + 1];
                nodes[i + 1] = swapped;
            }
            ++*n_flipped;
        } else if (!(least > 1e-14) && n_bad++ == 0) {
            first = c;
        }
    }
    if (n_bad == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%s: the determinant of %lld %s vanishes or changes its sign (first: ", source,
                   (long long)n_bad, n_bad == 1 ? cell->name : cell->plural);
    weft_error_append_cell(error, data, first);
    weft_error_append(error, ")");
    weft_error_hint(error,
                    "its angles must be between 0 and 180 degrees, and vertices 0, 1, 2 and 4 are "
                    "the origin and the ends of the axes: mesh again, or correct the order");
    return WEFT_ERROR_INPUT;
}

/* ---- facets ---------------------------------------------------------------------------------- */

/* The vertices of a facet as seen from outside: an edge has the cell on its left; the axes of a
 * quadrilateral have their normal outside. */
static void outward(const weft_cell *cell, int local, int vertices[8]) {
    const int d = cell->dimension;
    const int n = weft_cell_entity(cell, d - 1, local, vertices);
    double axes[3][3] = {{0}};
    if (d == 1)
        return;
    for (int k = 0; k < d; ++k) {
        for (int a = 1; a < d; ++a)
            axes[a - 1][k] = cell->vertices[vertices[a]][k] - cell->vertices[vertices[0]][k];
        axes[d - 1][k] = -cell->vertices[vertices[0]][k];
        for (int i = 0; i < cell->n_entities[0]; ++i) /* to the centre: inside */
            axes[d - 1][k] += cell->vertices[i][k] / cell->n_entities[0];
    }
    const bool swap = (weft_determinant(d, axes) > 0) == (d == 3);
    if (swap) {
        const int swapped = vertices[n / 2 == 1 ? 0 : 1];
        vertices[n / 2 == 1 ? 0 : 1] = vertices[n / 2];
        vertices[n / 2] = swapped;
    }
}

static void put_facet(const weft_mesh *mesh, const weft_entities *facets, int64_t slot,
                      int32_t *out) {
    const weft_cell *cell = weft_mesh_cell(mesh);
    int vertices[8];
    const int32_t *nodes = mesh->cells + slot / facets->per_cell * cell->n_entities[0];
    outward(cell, (int)(slot % facets->per_cell), vertices);
    for (int i = 0; i < weft_mesh_facet_vertices(mesh); ++i)
        out[i] = nodes[vertices[i]];
}

static bool same_nodes(const weft_mesh *mesh, int64_t a, int64_t b) {
    const int v = weft_mesh_cell_vertices(mesh);
    for (int i = 0; i < v; ++i) {
        bool found = false;
        for (int k = 0; k < v; ++k)
            found |= mesh->cells[a * v + i] == mesh->cells[b * v + k];
        if (!found)
            return false;
    }
    return true;
}

static void find_faults(const weft_mesh *mesh, const weft_entities *facets, const int64_t *slots,
                        const int32_t *counts, weft_facet_faults *faults) {
    for (int64_t f = 0; f < facets->n; ++f) {
        if (counts[f] < 2)
            continue;
        const int64_t a = slots[2 * f] / facets->per_cell, b = slots[2 * f + 1] / facets->per_cell;
        const bool same = same_nodes(mesh, a, b);
        if (same && slots[2 * f] % facets->per_cell == 0) { /* counted once, at its first facet */
            if (faults->n_doubled++ == 0 || b < faults->doubled) {
                faults->doubled = b;
                faults->original = a;
            }
        }
        if (counts[f] > 2 && !same && faults->n_non_manifold++ == 0) {
            int32_t nodes[8];
            const int n = weft_entity_nodes(mesh, a, facets->dimension,
                                            (int)(slots[2 * f] % facets->per_cell), nodes);
            for (int k = 0; k < 3; ++k)
                faults->non_manifold[k] = k < n ? nodes[k] : -1;
        }
    }
}

/* Number the boundary facets, then those of groups inside; new_number [facets->n], -1: not listed.
 */
static void list_facets(const weft_mesh_data *data, const weft_mesh *mesh,
                        const weft_entities *facets, const int64_t *slots, const int32_t *counts,
                        int64_t *new_number, weft_facets *out) {
    const int w = weft_mesh_facet_vertices(mesh);
    for (int64_t f = 0; f < facets->n; ++f)
        new_number[f] = counts[f] == 1 ? out->n_boundary_facets++ : -1;
    out->n_facets = out->n_boundary_facets;
    for (int64_t i = 0; i < data->n_group_facets; ++i) {
        const int64_t f = weft_entity_find(mesh, facets, slots, w, data->group_facet_nodes + i * w);
        if (f >= 0 && new_number[f] < 0)
            new_number[f] = out->n_facets++;
        out->number[i] = f < 0 ? -1 : (int32_t)new_number[f];
    }
}

weft_status weft_facets_find_any(const weft_mesh_data *data, weft_facets *out,
                                 weft_facet_faults *faults, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh mesh = {.dimension = data->dimension,
                            .cell = weft_mesh_data_cell(data)->type,
                            .n_nodes = data->n_nodes,
                            .n_cells = data->n_cells,
                            .x = data->x,
                            .cells = data->cells,
                            .source = "this mesh"};
    weft_entities entities = {0};
    weft_facets made = {0};
    int64_t *slots = NULL, *new_number = NULL;
    int32_t *counts = NULL;
    *faults = (weft_facet_faults){0};
    TRY(weft_entities_make(NULL, &mesh, data->dimension - 1, &entities, error));
    const size_t n = (size_t)entities.n + 1, w = (size_t)weft_mesh_facet_vertices(&mesh);
    slots = malloc(2 * n * sizeof *slots);
    counts = malloc(n * sizeof *counts);
    new_number = malloc(n * sizeof *new_number);
    made.number = malloc(((size_t)data->n_group_facets + 1) * sizeof *made.number);
    if (!slots || !counts || !new_number || !made.number)
        TRY(weft_out_of_memory(error, "the facets of a mesh"));
    weft_entity_slots(&mesh, &entities, slots, counts);
    find_faults(&mesh, &entities, slots, counts, faults);
    list_facets(data, &mesh, &entities, slots, counts, new_number, &made);
    made.nodes = weft_array_make((size_t)made.n_facets, w * sizeof *made.nodes);
    if (!made.nodes)
        TRY(weft_out_of_memory(error, "the facets of a mesh"));
    for (int64_t f = 0; f < entities.n; ++f)
        if (new_number[f] >= 0)
            put_facet(&mesh, &entities, slots[2 * f], made.nodes + (size_t)new_number[f] * w);
    *out = made;
    made = (weft_facets){0};
done:
    weft_entities_free(&entities);
    free(slots);
    free(counts);
    free(new_number);
    free(made.nodes);
    free(made.number);
    return status;
}

/* ---- structured meshes ----------------------------------------------------------------------- */

typedef struct grid {
    int d;
    int64_t n;
    int64_t steps[3]; /* of node numbers along the axes */
} grid;

static int64_t power(int64_t n, int d) {
    return d == 0 ? 1 : n * power(n, d - 1);
}

static weft_status check_n(const weft_cell *cell, const char *name, int64_t n, weft_error *error) {
    static const int64_t limits[3] = {INT32_MAX - 1, 46339, 1289};
    const int64_t limit = limits[cell->dimension - 1];
    if (n >= 1 && n <= limit)
        return WEFT_OK;
    if (n < 1)
        weft_error_set(error, WEFT_ERROR_USAGE, "%s:%lld: at least 1 cell a side is needed", name,
                       (long long)n);
    else
        weft_error_set(error, WEFT_ERROR_USAGE, "%s:%lld has 2^31 nodes or more", name,
                       (long long)n);
    weft_error_hint(error, "N of %s:N (N%s %s) is from 1 to %lld", name,
                    cell->dimension == 1   ? ""
                    : cell->dimension == 2 ? "^2"
                                           : "^3",
                    cell->plural, (long long)limit);
    return WEFT_ERROR_USAGE;
}

/* The node at the vertex of the box with this number, along `d` axes in the order given. */
static int32_t box_node(const grid *g, int d, const int *axes, int64_t box, int64_t start,
                        int vertex) {
    int64_t node = start;
    for (int k = 0; k < d; ++k, box /= g->n)
        node += (box % g->n + (vertex >> k & 1)) * g->steps[axes[k]];
    return (int32_t)node;
}

static void fill_cells(const grid *g, weft_mesh_data *data) {
    static const int axes[3] = {0, 1, 2};
    const int v = 1 << g->d;
    for (int64_t i = 0; i < data->n_nodes; ++i)
        for (int axis = 0; axis < g->d; ++axis)
            data->x[i * g->d + axis] = (double)(i / g->steps[axis] % (g->n + 1)) / (double)g->n;
    for (int64_t c = 0; c < data->n_cells; ++c)
        for (int vertex = 0; vertex < v; ++vertex)
            data->cells[c * v + vertex] = box_node(g, g->d, axes, c, 0, vertex);
}

static void fill_sides(const grid *g, weft_mesh_data *data) {
    static const char *const names[2][6] = {{"left", "right", "bottom", "top"},
                                            {"left", "right", "front", "back", "bottom", "top"}};
    const int w = 1 << (g->d - 1);
    const int64_t a_side = power(g->n, g->d - 1);
    int32_t *out = data->group_facet_nodes;
    for (int side = 0; side < 2 * g->d; ++side) {
        int axes[3], n_axes = 0;
        weft_group *group = &data->groups[side];
        snprintf(group->name, sizeof group->name, "%s", names[g->d == 3][side]);
        group->dimension = g->d - 1;
        group->number = side + 1;
        group->first_facet = side * a_side;
        group->n_facets = a_side;
        for (int axis = 0; axis < g->d; ++axis)
            if (axis != side / 2)
                axes[n_axes++] = axis;
        for (int64_t f = 0; f < a_side; ++f)
            for (int vertex = 0; vertex < w; ++vertex)
                *out++ =
                    box_node(g, n_axes, axes, f, side % 2 ? g->n * g->steps[side / 2] : 0, vertex);
    }
}

weft_status weft_mesh_make_boxes(weft_cell_type type, int64_t n, weft_mesh **out,
                                 weft_error *error) {
    static const char *const names[3] = {"interval", "quads", "hexes"};
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(type);
    const int d = cell->dimension;
    const grid g = {d, n, {1, n + 1, (n + 1) * (n + 1)}};
    weft_mesh_data data = {.dimension = d, .cell = type};
    char source[32];
    if (d < 1 || (cell->simplex && d > 1))
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%s are not boxes", cell->plural));
    TRY(check_n(cell, names[d - 1], n, error));
    snprintf(source, sizeof source, "%s:%lld", names[d - 1], (long long)n);
    data.n_nodes = power(n + 1, d);
    data.n_cells = power(n, d);
    data.n_groups = 2 * d;
    data.n_group_facets = 2 * d * power(n, d - 1);
    data.x = weft_array_make((size_t)data.n_nodes, (size_t)d * sizeof *data.x);
    data.cells = weft_array_make((size_t)data.n_cells, sizeof *data.cells << d);
    data.groups = weft_array_make((size_t)data.n_groups, sizeof *data.groups);
    data.group_facet_nodes =
        weft_array_make((size_t)data.n_group_facets, sizeof *data.group_facet_nodes << (d - 1));
    if (!data.x || !data.cells || !data.groups || !data.group_facet_nodes)
        TRY(weft_out_of_memory(error, source));
    fill_cells(&g, &data);
    fill_sides(&g, &data);
    TRY(weft_mesh_make(&data, source, NULL, out, error));
done:
    weft_mesh_data_free(&data);
    return status;
}
