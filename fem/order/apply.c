/* Applies a renumbering of nodes to a mesh. */
#include "core/base/sort.h"
#include "fem/base/memory.h"
#include "fem/mesh/mesh.h"
#include "fem/order/private.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256 };

typedef struct nodes_move {
    const int32_t *old; /* new -> old */
    int32_t *new_of;
    const double *x;
    double *moved;
    int64_t n;
    int d;
} nodes_move;

static void chunk_move(void *user, int64_t chunk) {
    const nodes_move *m = user;
    int64_t last = m->n * (chunk + 1) / CHUNKS;
    for (int64_t i = m->n * chunk / CHUNKS; i < last; ++i) {
        int64_t from = m->old[i];
        m->new_of[from] = (int32_t)i;
        for (int c = 0; c < m->d; ++c)
            m->moved[i * m->d + c] = m->x[from * m->d + c];
    }
}

/* ---- what the parts of a mesh become -------------------------------------------------------- */

static bool has_group_cells(const weft_mesh *mesh) {
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->groups[g].n_cells > 0)
            return true;
    return false;
}

weft_status weft_mesh_moves_make(const weft_mesh *mesh, int32_t *cells, weft_mesh_moves *out,
                                 weft_error *error) {
    const size_t n_facets = (size_t)mesh->n_facets, w = (size_t)weft_mesh_facet_vertices(mesh);
    const size_t row = (size_t)(weft_mesh_curve_nodes(mesh) * mesh->dimension);
    const bool follows = has_group_cells(mesh) || mesh->curve;
    const size_t n_followed = follows ? (size_t)mesh->n_cells : 0;
    weft_mesh_moves made = {.facets = weft_array_make(n_facets, w * sizeof *made.facets),
                            .facet_from = malloc((n_facets + 1) * sizeof *made.facet_from),
                            .new_facet = malloc((n_facets + 1) * sizeof *made.new_facet)};
    made.own_cell_from = weft_scratch_make(cells ? 0 : n_followed, sizeof *made.own_cell_from);
    made.new_cell = weft_scratch_make(n_followed, sizeof *made.new_cell);
    made.curve = weft_array_make_unset(mesh->curve ? (uint64_t)mesh->n_cells * row * 8 : 0);
    if (!made.facets || !made.facet_from || !made.new_facet || !made.own_cell_from ||
        !made.new_cell || !made.curve) {
        weft_mesh_moves_free(&made);
        return weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to renumber %lld cells",
                              mesh->source, (long long)mesh->n_cells);
    }
    made.cell_from = cells ? cells : follows ? made.own_cell_from : NULL;
    memcpy(made.facets, mesh->facets, n_facets * w * sizeof *made.facets);
    *out = made;
    return WEFT_OK;
}

void weft_mesh_moves_free(weft_mesh_moves *moves) {
    free(moves->facets);
    free(moves->facet_from);
    free(moves->new_facet);
    free(moves->own_cell_from);
    free(moves->new_cell);
    free(moves->curve);
    *moves = (weft_mesh_moves){0};
}

/* Renumber the facets of groups, and sort them. */
static void groups_renumber(weft_mesh *mesh, const weft_mesh_moves *moves) {
    for (int part = 0; part < 2; ++part) {
        const int64_t first = part == 0 ? 0 : mesh->n_boundary_facets;
        const int64_t last = part == 0 ? mesh->n_boundary_facets : mesh->n_facets;
        for (int64_t i = first; i < last; ++i)
            moves->new_facet[first + moves->facet_from[i]] = (int32_t)i;
    }
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        int32_t *list = mesh->group_facets + group->first_facet;
        for (int64_t k = 0; k < group->n_facets; ++k)
            list[k] = moves->new_facet[list[k]];
        weft_numbers_sort((uint32_t *)list, (size_t)group->n_facets);
    }
}

static void group_cells_renumber(weft_mesh *mesh, const weft_mesh_moves *moves) {
    if (!has_group_cells(mesh))
        return;
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        moves->new_cell[moves->cell_from[c]] = (int32_t)c;
    for (int g = 0; g < mesh->n_groups; ++g)
        for (int64_t k = 0; k < mesh->groups[g].n_cells; ++k) {
            int32_t *cell = &mesh->group_cells[mesh->groups[g].first_cell + k];
            *cell = moves->new_cell[*cell];
        }
    weft_group_cells_sort(mesh);
}

void weft_mesh_moves_follow(weft_mesh *mesh, weft_mesh_moves *moves) {
    const size_t row = (size_t)(weft_mesh_curve_nodes(mesh) * mesh->dimension);
    groups_renumber(mesh, moves);
    group_cells_renumber(mesh, moves);
    for (int64_t c = 0; mesh->curve && c < mesh->n_cells; ++c)
        memcpy(moves->curve + (size_t)c * row, mesh->curve + (size_t)moves->cell_from[c] * row,
               row * sizeof *moves->curve);
    if (mesh->curve) {
        free(mesh->curve);
        mesh->curve = moves->curve;
        moves->curve = NULL;
    }
    free(mesh->facets);
    mesh->facets = moves->facets;
    moves->facets = NULL;
}

/* ---- on the host ---------------------------------------------------------------------------- */

/* Sort the boundary facets and the other facets separately. */
static weft_status facets_sort(weft_device *device, const weft_mesh *mesh, const int32_t *new_of,
                               weft_mesh_moves *moves, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t w = weft_mesh_facet_vertices(mesh), n_boundary = mesh->n_boundary_facets;
    const weft_simplices parts[] = {{moves->facets, n_boundary, (int)w, moves->facet_from},
                                    {moves->facets + n_boundary * w, mesh->n_facets - n_boundary,
                                     (int)w, moves->facet_from + n_boundary}};
    for (int i = 0; i < 2; ++i)
        if (parts[i].n > 0)
            TRY(weft_simplices_sort(device, &parts[i], new_of, mesh->n_nodes, error));
done:
    return status;
}

/* All steps that can fail precede changes of the mesh; the cells, the largest array, come last. */
weft_status weft_mesh_renumber(weft_device *device, weft_mesh *mesh,
                               const weft_renumbering *renumbering, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)mesh->dimension, n = (size_t)mesh->n_nodes;
    weft_mesh_moves moves = {0};
    nodes_move move = {
        .old = renumbering->nodes, .x = mesh->x, .n = mesh->n_nodes, .d = mesh->dimension};
    move.new_of = weft_scratch_make(n, sizeof *move.new_of);
    move.moved = weft_array_make_unset((uint64_t)n * d * sizeof *move.moved);
    if (!move.new_of || !move.moved)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to renumber %lld cells",
                           mesh->source, (long long)mesh->n_cells));
    TRY(weft_mesh_moves_make(mesh, renumbering->cells, &moves, error));
    TRY(weft_device_for(device, CHUNKS, chunk_move, &move, error));
    TRY(facets_sort(device, mesh, move.new_of, &moves, error));
    const weft_simplices cells = {mesh->cells, mesh->n_cells, weft_mesh_cell_vertices(mesh),
                                  moves.cell_from};
    TRY(weft_simplices_sort(device, &cells, move.new_of, mesh->n_nodes, error));
    weft_points_renumber(mesh, move.new_of);
    weft_mesh_moves_follow(mesh, &moves);
    free(mesh->x);
    mesh->x = move.moved;
    move.moved = NULL;
done:
    weft_mesh_moves_free(&moves);
    free(move.new_of);
    free(move.moved);
    return status;
}
