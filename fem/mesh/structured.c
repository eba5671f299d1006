/* Makes structured meshes of the unit square and the unit cube, layer by layer in parallel. */
#include "fem/base/text.h"
#include "fem/mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>

/* The largest n with (n + 1)^2 < 2^31, and with (n + 1)^3 < 2^31. */
enum { SQUARE_LIMIT = 46339, CUBE_LIMIT = 1289 };

static weft_status check_n(const char *shape, int64_t n, int64_t limit, const char *count,
                           weft_error *error) {
    if (n >= 1 && n <= limit)
        return WEFT_OK;
    if (n < 1)
        weft_error_set(error, WEFT_ERROR_USAGE, "%s:%lld: at least 1 cell a side is needed", shape,
                       (long long)n);
    else
        weft_error_set(error, WEFT_ERROR_USAGE, "%s:%lld has 2^31 nodes or more", shape,
                       (long long)n);
    weft_error_hint(error, "N of %s:N (%s) is from 1 to %lld", shape, count, (long long)limit);
    return WEFT_ERROR_USAGE;
}

static weft_status no_memory(int64_t n_nodes, int64_t n_cells, const char *source,
                             weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY,
                   "%s: out of memory for a mesh of %lld nodes and %lld cells", source,
                   (long long)n_nodes, (long long)n_cells);
    weft_error_hint(error, "use a coarser mesh or a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

/* Allocate a mesh whose facets are the boundary, each in one of 2 d groups. Its layers are first
 * touched by the threads that make them (NUMA). */
static weft_status mesh_alloc(int dimension, int64_t n_nodes, int64_t n_cells, int64_t n_facets,
                              const char *source, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t d = (size_t)dimension;
    weft_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        TRY(no_memory(n_nodes, n_cells, source, error));
    mesh->dimension = dimension;
    mesh->n_nodes = n_nodes;
    mesh->n_cells = n_cells;
    mesh->n_facets = n_facets;
    mesh->n_groups = 2 * dimension;
    weft_copy_cut(mesh->source, sizeof mesh->source, source);
    mesh->x = weft_array_make_unset((uint64_t)n_nodes * d * sizeof *mesh->x);
    mesh->cells = weft_array_make_unset((uint64_t)n_cells * (d + 1) * sizeof *mesh->cells);
    mesh->facets = weft_array_make((size_t)n_facets, d * sizeof *mesh->facets);
    mesh->groups = weft_array_make(2 * d, sizeof *mesh->groups);
    mesh->group_facets = weft_array_make((size_t)n_facets, sizeof *mesh->group_facets);
    mesh->group_cells = weft_array_make(0, sizeof *mesh->group_cells);
    if (!mesh->x || !mesh->cells || !mesh->facets || !mesh->groups || !mesh->group_facets ||
        !mesh->group_cells)
        TRY(no_memory(n_nodes, n_cells, source, error));
    *out = mesh;
    mesh = NULL;
done:
    weft_mesh_free(&mesh);
    return status;
}

static void name_groups(weft_mesh *mesh, const char *const *names, int64_t facets_a_group) {
    for (int g = 0; g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        snprintf(group->name, sizeof group->name, "%s", names[g]);
        group->dimension = mesh->dimension - 1;
        group->number = g + 1;
        group->first_facet = g * facets_a_group;
        group->n_facets = facets_a_group;
    }
    mesh->n_boundary_facets = mesh->n_facets;
    for (int64_t f = 0; f < mesh->n_facets; ++f)
        mesh->group_facets[f] = (int32_t)f;
}

typedef struct grid {
    weft_mesh *mesh;
    int64_t n;
} grid;

/* Node (i, j, k) is i + (n + 1) j + (n + 1)^2 k; a layer has those of one k, in the plane of one j. */
static void put_nodes(const grid *g, int64_t layer) {
    const int d = g->mesh->dimension;
    const int64_t row = g->n + 1, n_rows = d == 2 ? 1 : row;
    double *x = g->mesh->x + layer * n_rows * row * d;
    for (int64_t j = 0; j < n_rows; ++j)
        for (int64_t i = 0; i < row; ++i) {
            const int64_t at[3] = {i, d == 2 ? layer : j, layer};
            for (int a = 0; a < d; ++a)
                *x++ = (double)at[a] / (double)g->n;
        }
}

/* Kuhn simplices: for each permutation of the axes, the path from the lowest to the highest corner
 * of a square or cube. Odd permutations have their last two corners exchanged, so that all volumes
 * are positive. Bit a of a corner number is set if the corner is on the high side of axis a. */
static const int kuhn_2[2][3] = {{0, 1, 3}, {0, 3, 2}};
static const int kuhn_3[6][4] = {{0, 1, 3, 7}, {0, 1, 7, 5}, {0, 2, 7, 3},
                                 {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 7, 6}};

/* The cells between a layer of nodes and the next one. */
static void put_cells(const grid *g, int64_t layer) {
    const int d = g->mesh->dimension, n_vertices = d == 2 ? 6 : 24;
    const int *kuhn = d == 2 ? *kuhn_2 : *kuhn_3;
    const int64_t row = g->n + 1, n_rows = d == 2 ? 1 : g->n;
    const int64_t first = layer * (d == 2 ? row : row * row);
    int32_t *cell = g->mesh->cells + layer * n_rows * g->n * n_vertices;
    int64_t corner[24];
    for (int v = 0; v < n_vertices; ++v)
        corner[v] = (kuhn[v] & 1) + row * (kuhn[v] >> 1 & 1) + row * row * (kuhn[v] >> 2);
    for (int64_t j = 0; j < n_rows; ++j)
        for (int64_t i = 0; i < g->n; ++i)
            for (int v = 0; v < n_vertices; ++v)
                *cell++ = (int32_t)(first + i + row * j + corner[v]);
}

static void put_layer(void *user, int64_t layer) {
    const grid *g = user;
    put_nodes(g, layer);
    if (layer < g->n)
        put_cells(g, layer);
}

/* Side `high` of axis a of the square: edges with the cell on the left. */
static void square_side(int32_t *edge, int64_t n, int axis, bool high) {
    const int64_t steps[2] = {1, n + 1}, start = high ? n * steps[axis] : 0;
    const int64_t step = steps[1 - axis];
    const bool ascends = high == (axis == 0);
    for (int64_t i = 0; i < n; ++i) {
        *edge++ = (int32_t)(start + (i + !ascends) * step);
        *edge++ = (int32_t)(start + (i + ascends) * step);
    }
}

/* Side `high` of axis a of the cube: squares divided from lowest to highest corner, as by the
 * cells. */
static void cube_side(int32_t *facet, int64_t n, int axis, bool high) {
    const int64_t steps[3] = {1, n + 1, (n + 1) * (n + 1)};
    const int64_t b = steps[(axis + 1) % 3], c = steps[(axis + 2) % 3];
    const int64_t corners[6] = {0, high ? b : c, b + c, 0, b + c, high ? c : b};
    const int64_t start = high ? n * steps[axis] : 0;
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i)
            for (int v = 0; v < 6; ++v)
                *facet++ = (int32_t)(start + i * b + j * c + corners[v]);
}

/* Each square is divided from its lowest to its highest corner:
 *      c - d
 *      | / |
 *      a - b                                                                                     */
weft_status weft_mesh_make_grid(weft_device *device, int dimension, int64_t n, weft_mesh **out,
                                weft_error *error) {
    static const char *const names[2][6] = {{"left", "right", "bottom", "top"},
                                            {"left", "right", "front", "back", "bottom", "top"}};
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    char source[32];
    const bool flat = dimension == 2;
    const char *shape = flat ? "square" : "cube";
    const int64_t row = n + 1, a_side = flat ? n : 2 * n * n;
    TRY(check_n(shape, n, flat ? SQUARE_LIMIT : CUBE_LIMIT,
                flat ? "2 N^2 triangles" : "6 N^3 tetrahedra", error));
    snprintf(source, sizeof source, "%s:%lld", shape, (long long)n);
    TRY(mesh_alloc(dimension, flat ? row * row : row * row * row, flat ? 2 * n * n : 6 * n * n * n,
                   2 * dimension * a_side, source, &mesh, error));
    TRY(weft_device_for(device, row, put_layer, &(grid){mesh, n}, error));
    for (int side = 0; side < 2 * dimension; ++side) {
        int32_t *facets = mesh->facets + dimension * a_side * side;
        flat ? square_side(facets, n, side / 2, side % 2)
             : cube_side(facets, n, side / 2, side % 2);
    }
    name_groups(mesh, names[!flat], a_side);
    *out = mesh;
    mesh = NULL;
done:
    weft_mesh_free(&mesh);
    return status;
}

weft_status weft_mesh_make_square(int64_t n, weft_mesh **out, weft_error *error) {
    return weft_mesh_make_grid(NULL, 2, n, out, error);
}

weft_status weft_mesh_make_cube(int64_t n, weft_mesh **out, weft_error *error) {
    return weft_mesh_make_grid(NULL, 3, n, out, error);
}
