/* Applies a renumbering of nodes to a mesh. */
#include "core/base/sort.h"
#include "fem/base/memory.h"
#include "fem/mesh/mesh.h"
#include "fem/order/private.h"

#include <stdlib.h>
#include <string.h>

enum { SHARES = 256 };

typedef struct nodes_move {
    const int32_t *old; /* new -> old */
    int32_t *new_of;
    const double *x;
    double *moved;
    int64_t n;
    int d;
} nodes_move;

static void share_move(void *user, int64_t share) {
    const nodes_move *m = user;
    int64_t last = m->n * (share + 1) / SHARES;
    for (int64_t i = m->n * share / SHARES; i < last; ++i) {
        int64_t from = m->old[i];
        m->new_of[from] = (int32_t)i;
        for (int c = 0; c < m->d; ++c)
            m->moved[i * m->d + c] = m->x[from * m->d + c];
    }
}

/* Renumber the facets of groups, and sort them. new_facet [n_facets] */
static void groups_renumber(weft_mesh *mesh, const int32_t *new_facet) {
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        int32_t *list = mesh->group_facets + group->first_facet;
        for (int64_t k = 0; k < group->n_facets; ++k)
            list[k] = new_facet[list[k]];
        weft_numbers_sort((uint32_t *)list, (size_t)group->n_facets);
    }
}

/* Renumber the cells of groups. from [n_cells]: new -> old; new_cell [n_cells]: work space */
static void group_cells_renumber(weft_mesh *mesh, const int32_t *from, int32_t *new_cell) {
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        new_cell[from[c]] = (int32_t)c;
    for (int g = 0; g < mesh->n_groups; ++g)
        for (int64_t k = 0; k < mesh->groups[g].n_cells; ++k) {
            int32_t *cell = &mesh->group_cells[mesh->groups[g].first_cell + k];
            *cell = new_cell[*cell];
        }
    weft_group_cells_sort(mesh);
}

static bool has_group_cells(const weft_mesh *mesh) {
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->groups[g].n_cells > 0)
            return true;
    return false;
}

/* Sort the boundary facets and the other facets separately. from, new_facet [n_facets] */
static weft_status facets_renumber(weft_device *device, weft_mesh *mesh, int32_t *facets,
                                   const int32_t *new_of, int32_t *from, int32_t *new_facet,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t w = weft_mesh_facet_vertices(mesh), n_boundary = mesh->n_boundary_facets;
    const int64_t ranges[2][2] = {{0, n_boundary}, {n_boundary, mesh->n_facets - n_boundary}};
    for (int r = 0; r < 2; ++r) {
        int64_t first = ranges[r][0], n = ranges[r][1];
        if (n == 0)
            continue;
        const weft_simplices simplices = {facets + first * w, n, (int)w, from + first};
        TRY(weft_simplices_sort(device, &simplices, new_of, mesh->n_nodes, error));
        for (int64_t i = first; i < first + n; ++i)
            new_facet[first + from[i]] = (int32_t)i;
    }
done:
    return status;
}

/* All steps that can fail precede changes of the mesh; the cells, the largest array, come last. */
weft_status weft_mesh_renumber(weft_device *device, weft_mesh *mesh,
                               const weft_renumbering *renumbering, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)mesh->dimension, n = (size_t)mesh->n_nodes,
                 n_facets = (size_t)mesh->n_facets, w = (size_t)weft_mesh_facet_vertices(mesh);
    nodes_move move = {
        .old = renumbering->nodes, .x = mesh->x, .n = mesh->n_nodes, .d = mesh->dimension};
    int32_t *from = malloc((n_facets + 1) * sizeof *from);
    int32_t *new_facet = malloc((n_facets + 1) * sizeof *new_facet);
    int32_t *facets = weft_array_make(n_facets, w * sizeof *facets);
    const bool grouped = has_group_cells(mesh) || mesh->curve;
    const size_t row = (size_t)weft_mesh_curve_nodes(mesh) * d;
    double *curve = weft_array_make_unset(mesh->curve ? (uint64_t)mesh->n_cells * row * 8 : 0);
    const size_t n_grouped = grouped ? (size_t)mesh->n_cells : 0;
    int32_t *own_from = weft_scratch_make(renumbering->cells ? 0 : n_grouped, sizeof *own_from);
    int32_t *cell_from = renumbering->cells ? renumbering->cells : own_from;
    int32_t *new_cell = weft_scratch_make(n_grouped, sizeof *new_cell);
    move.new_of = weft_scratch_make(n, sizeof *move.new_of);
    move.moved = weft_array_make_unset((uint64_t)n * d * sizeof *move.moved);
    if (!from || !new_facet || !facets || !own_from || !new_cell || !move.new_of || !move.moved ||
        !curve)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to renumber %lld cells",
                           mesh->source, (long long)mesh->n_cells));
    memcpy(facets, mesh->facets, n_facets * w * sizeof *facets);
    TRY(weft_device_for(device, SHARES, share_move, &move, error));
    TRY(facets_renumber(device, mesh, facets, move.new_of, from, new_facet, error));
    const weft_simplices cells = {mesh->cells, mesh->n_cells, weft_mesh_cell_vertices(mesh),
                                  grouped || renumbering->cells ? cell_from : NULL};
    TRY(weft_simplices_sort(device, &cells, move.new_of, mesh->n_nodes, error));
    groups_renumber(mesh, new_facet);
    weft_points_renumber(mesh, move.new_of);
    if (grouped)
        group_cells_renumber(mesh, cell_from, new_cell);
    for (int64_t c = 0; mesh->curve && c < mesh->n_cells; ++c)
        memcpy(curve + (size_t)c * row, mesh->curve + (size_t)cell_from[c] * row,
               row * sizeof *curve);
    if (mesh->curve) {
        free(mesh->curve);
        mesh->curve = curve;
        curve = NULL;
    }
    free(mesh->x);
    free(mesh->facets);
    mesh->x = move.moved;
    mesh->facets = facets;
    move.moved = NULL;
    facets = NULL;
done:
    free(from);
    free(new_facet);
    free(facets);
    free(own_from);
    free(new_cell);
    free(move.new_of);
    free(move.moved);
    free(curve);
    return status;
}
