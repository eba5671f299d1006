/* A function space: the nodes that a mesh has for an element, with so many components a node.
 *
 * Decision  docs/decisions/0030-spaces-and-conditions-are-in-the-library.md */
#include "fem/space/space.h"
#include "fem/mesh/mesh.h"
#include "fem/mesh/part.h"
#include "fem/space/layout.h"
#include "fem/space/private.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Where the nodes are those of the mesh, own_cells and own_x are NULL. Where a device made them, they are read when they
 * are needed on the host, nodes of cells by the connectivity. */
struct weft_space {
    weft_device *device;
    const weft_mesh *mesh;
    weft_element *element;
    int components;
    int64_t n_nodes;
    int32_t *own_cells; /* [n_cells][element->n_nodes] */
    double *own_x;      /* [n_nodes][d] */
    double *inside;     /* [n_nodes][d] of discontinuous elements, see weft_data_points */
    weft_data_points points;
    weft_connectivity *cells;
    /* those of `cells`, once they have been read: without a lock, as callers ask for each cell */
    _Atomic(const int32_t *) read_cells;
    weft_memory *x;
    weft_share share;     /* of nodes, where the mesh is the part of a rank */
    unsigned char *marks; /* its marks */
    bool is_on_device;    /* own_x is still to be read */
    pthread_mutex_t reading;
};

/* What is read is kept, which changes nothing of what the space is. */
static weft_space *keeper_of(const weft_space *space) {
    return (weft_space *)(uintptr_t)space;
}

static weft_status number_on_host(weft_space *space, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = space->mesh;
    TRY(weft_nodes_number(space->device, mesh, space->element, &space->own_cells, &space->n_nodes,
                          error));
    TRY(weft_nodes_place(space->device, mesh, space->element->n_nodes, space->element->points,
                         space->own_cells, space->n_nodes, &space->own_x, error));
done:
    return status;
}

/* Nodes that the device has alone. */
static weft_status number_on_device(weft_space *space, const weft_mesh_copies *copies,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_nodes made = {0};
    TRY(weft_nodes_make_on_device(space->device, space->mesh, copies, space->element, &made,
                                  error));
    TRY(weft_connectivity_make_on_device(space->device, &made.cells, space->element->n_nodes,
                                         made.n, &space->cells, error));
    space->n_nodes = made.n;
    space->is_on_device = true;
    space->x = made.x;
    made.x = NULL;
done:
    weft_device_nodes_free(&made);
    return status;
}

/* The host numbers nodes for which the device has no memory. */
static weft_status number_nodes(weft_space *space, const weft_mesh_copies *copies,
                                weft_error *error) {
    weft_error why = {0};
    space->n_nodes = space->mesh->n_nodes;
    if (weft_element_is_on_vertices(space->element))
        return WEFT_OK;
    if (weft_setup_on_device(space->device) && space->element->map == WEFT_MAP_IDENTITY) {
        const weft_status status = number_on_device(space, copies, &why);
        if (status != WEFT_ERROR_MEMORY) {
            if (status != WEFT_OK && error)
                *error = why;
            return status;
        }
        weft_log(weft_device_monitor(space->device), WEFT_LOG_INFO, "the host numbers nodes: %s",
                 why.message);
    }
    return number_on_host(space, error);
}

static weft_status read_points(weft_space *space, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)space->n_nodes * (size_t)space->mesh->dimension * sizeof(double);
    double *x = weft_array_make_unset(bytes);
    if (!x)
        TRY(weft_out_of_memory(error, "the coordinates of a space"));
    TRY(weft_memory_read(space->x, 0, x, bytes, error));
    space->own_x = x;
    space->is_on_device = false;
    x = NULL;
done:
    free(x);
    return status;
}

weft_status weft_space_read_points(const weft_space *space, const double **out, weft_error *error) {
    weft_space *keeper = keeper_of(space);
    pthread_mutex_lock(&keeper->reading);
    const weft_status status = space->is_on_device ? read_points(keeper, error) : WEFT_OK;
    pthread_mutex_unlock(&keeper->reading);
    *out = status != WEFT_OK ? NULL : space->own_x ? space->own_x : space->mesh->x;
    return status;
}

weft_status weft_space_read_cells(const weft_space *space, const int32_t **out, weft_error *error) {
    weft_space *keeper = keeper_of(space);
    const int32_t *own = space->own_cells ? space->own_cells : space->mesh->cells;
    weft_status status = WEFT_OK;
    if (!space->own_cells && !weft_element_is_on_vertices(space->element)) {
        own = atomic_load_explicit(&keeper->read_cells, memory_order_acquire);
        if (own)
            goto done;
        pthread_mutex_lock(&keeper->reading);
        status = weft_connectivity_read(space->cells, error);
        own = status == WEFT_OK ? weft_connectivity_indices(space->cells) : NULL;
        atomic_store_explicit(&keeper->read_cells, own, memory_order_release);
        pthread_mutex_unlock(&keeper->reading);
    }
done:
    *out = own;
    return status;
}

weft_status weft_space_read_rows(const weft_space *space, const int32_t *cells, int64_t n,
                                 int32_t *out, weft_error *error) {
    const size_t width = (size_t)space->element->n_nodes;
    const int32_t *own =
        space->own_cells ? space->own_cells : weft_connectivity_indices(space->cells);
    if (!own)
        return weft_connectivity_rows(space->cells, cells, n, out, error);
    for (int64_t i = 0; i < n; ++i)
        memcpy(out + (size_t)i * width, own + (size_t)cells[i] * width, width * sizeof *out);
    return WEFT_OK;
}

/* The coordinates of the nodes and the nodes of the cells on the device.
 *  copies  NULL, or those of the nodes of P1 */
static weft_status send(weft_space *space, weft_mesh_copies *copies, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = space->mesh;
    double *x = space->own_x ? space->own_x : mesh->x;
    const int32_t *nodes = space->own_cells ? space->own_cells : mesh->cells;
    const int width = space->element->n_nodes;
    TRY(copies && copies->cells
            ? weft_connectivity_make_copied(space->device, nodes, &copies->cells, width,
                                            space->n_nodes, &space->cells, error)
            : weft_connectivity_make(space->device, nodes, mesh->n_cells, width, space->n_nodes,
                                     &space->cells, error));
    if (copies && copies->x) {
        space->x = copies->x;
        copies->x = NULL;
        goto done;
    }
    TRY(weft_memory_wrap(space->device, x,
                         (size_t)space->n_nodes * (size_t)mesh->dimension * sizeof *x, &space->x,
                         error));
done:
    return status;
}

/* ---- nodes as points at which formulas are evaluated ------------------------------------------ */

/* A weft_data_points.mark. */
static weft_status mark_group(const weft_data_points *points, int group, unsigned char *marks,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = points->user;
    const weft_mesh *mesh = space->mesh;
    const weft_group *g = &mesh->groups[group];
    const int width = space->element->n_nodes;
    int32_t *nodes = NULL;
    const int32_t *cells = NULL;
    int64_t n = 0;
    TRY(weft_space_read_cells(space, &cells, error));
    for (int64_t k = 0; k < g->n_cells; ++k)
        for (int v = 0; v < width; ++v)
            marks[cells[(int64_t)mesh->group_cells[g->first_cell + k] * width + v]] = 1;
    if (g->n_facets > 0)
        TRY(weft_space_group_nodes(space, group, &nodes, &n, error));
    for (int64_t i = 0; i < n; ++i)
        marks[nodes[i]] = 1;
done:
    free(nodes);
    return status;
}

/* The centre of the cell of each node of an element whose nodes belong to one cell, unless they are in its interior. */
static weft_status find_inside(weft_space *space, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = space->mesh;
    const int d = mesh->dimension, width = space->element->n_nodes,
              n_vertices = weft_mesh_cell_vertices(mesh);
    const int32_t *cells = NULL;
    if (space->inside || space->element->located_nodes[d] == width)
        goto done;
    TRY(weft_space_read_cells(space, &cells, error));
    space->inside = weft_array_make((size_t)(space->n_nodes * d), sizeof *space->inside);
    if (!space->inside)
        TRY(weft_out_of_memory(error, "a space"));
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int k = 0; k < width; ++k)
            for (int i = 0; i < n_vertices * d; ++i)
                space->inside[(int64_t)cells[c * width + k] * d + i % d] +=
                    mesh->x[(int64_t)mesh->cells[c * n_vertices + i / d] * d + i % d] / n_vertices;
done:
    return status;
}

/* A weft_data_points.read. */
static weft_status read_places(weft_data_points *points, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space *space = keeper_of(points->user);
    const bool belongs_to_cells = !weft_element_is_shared(space->element) &&
                                  !weft_family_about(space->element->family)->is_global;
    TRY(weft_space_read_points(space, &points->x, error));
    if (belongs_to_cells)
        TRY(find_inside(space, error));
    points->inside = belongs_to_cells && !space->inside ? points->x : space->inside;
done:
    return status;
}

static void make_points(weft_space *space) {
    space->points = weft_element_is_on_vertices(space->element)
                        ? weft_data_nodes(space->mesh, "nodes")
                        : (weft_data_points){.over = "nodes",
                                             .n = space->n_nodes,
                                             .mark = mark_group,
                                             .user = space,
                                             .read = read_places};
}

const weft_data_points *weft_space_data_points(const weft_space *space) {
    return &space->points;
}

/* ------------------------------------------------------------------------------------------------ */

/* Which nodes are this rank's own, and which cells. */
static weft_status share_nodes(weft_space *space, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *owners = NULL;
    unsigned char *owned = malloc((size_t)space->n_nodes + 1);
    weft_part *part = space->mesh->part;
    if (!owned)
        TRY(weft_out_of_memory(error, "a space"));
    TRY(weft_space_owners(space, &owners, error));
    for (int64_t i = 0; i < space->n_nodes; ++i)
        owned[i] = owners[i] == weft_comm_rank(part->comm);
    if (!part->team)
        TRY(weft_team_make(part->comm, space->device, &part->team, error));
    space->share.comm = part->comm;
    space->share.team = weft_team_memory(part->team);
    space->share.in_kernels = weft_team_in_kernels(part->team);
    TRY(weft_memory_make(space->device, (size_t)space->n_nodes, &space->share.owned, error));
    TRY(weft_memory_write(space->share.owned, 0, owned, (size_t)space->n_nodes, error));
    space->share.marks = space->marks = owned;
    owned = NULL;
    TRY(weft_space_share(space, space->cells, error));
done:
    free(owners);
    free(owned);
    return status;
}

weft_status weft_space_take_owners(const weft_space *space, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = space->components;
    weft_layout *layout = NULL;
    double *dofs = NULL;
    if (!space->mesh->part || !weft_family_about(space->element->family)->is_lattice ||
        !weft_element_is_shared(space->element))
        goto done;
    TRY(weft_layout_make(&space, 1, &layout, error));
    dofs = weft_array_make((size_t)(space->n_nodes * c), sizeof *dofs);
    if (!dofs)
        TRY(weft_out_of_memory(error, "the nodes of a part"));
    for (int64_t i = 0; i < space->n_nodes * c; ++i)
        dofs[i] = values[i / c];
    TRY(weft_layout_update_values(layout, dofs, error));
    for (int64_t i = 0; i < space->n_nodes; ++i)
        values[i] = dofs[i * c];
done:
    weft_layout_free(&layout);
    free(dofs);
    return status;
}

/* The last cell of a node places it, up to rounding, and a part may lack the last cell of a copy: that has its owner's place. */
static weft_status agree_on_places(weft_space *space, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = space->mesh->dimension;
    const double *x = NULL;
    double *axis = NULL;
    if (weft_element_is_on_vertices(space->element) || !weft_element_is_shared(space->element))
        goto done;
    TRY(weft_space_read_points(space, &x, error));
    axis = weft_array_make((size_t)space->n_nodes, sizeof *axis);
    if (!axis)
        TRY(weft_out_of_memory(error, "the coordinates of a space"));
    for (int k = 0; k < d; ++k) {
        for (int64_t i = 0; i < space->n_nodes; ++i)
            axis[i] = x[i * d + k];
        TRY(weft_space_take_owners(space, axis, error));
        for (int64_t i = 0; i < space->n_nodes; ++i)
            space->own_x[i * d + k] = axis[i];
    }
    TRY(weft_vector_push(space->x, space->own_x, space->n_nodes * d, error));
done:
    free(axis);
    return status;
}

weft_status weft_space_share(const weft_space *space, weft_connectivity *connectivity,
                             weft_error *error) {
    return space->mesh->part ? weft_connectivity_share(connectivity, &space->share, error)
                             : WEFT_OK;
}

weft_status weft_space_make_with(weft_device *device, const weft_mesh *mesh,
                                 weft_mesh_copies *copies, weft_element_kind kind, int components,
                                 weft_space **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space *space = NULL;
    if (components < 1)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "a space has at least one component, not %d",
                           components));
    space = calloc(1, sizeof *space);
    if (!space)
        TRY(weft_out_of_memory(error, "a space"));
    *space = (weft_space){.device = device, .mesh = mesh, .components = components};
    (void)pthread_mutex_init(&space->reading, NULL);
    TRY(weft_element_make(kind.family, weft_mesh_cell(mesh)->type, kind.degree, &space->element,
                          error));
    if (space->element->value_size > 1 && components > 1)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "a space of vectors has one component, not %d",
                           components));
    TRY(number_nodes(space, copies, error));
    make_points(space);
    if (space->n_nodes > INT32_MAX / components)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "more than 2^31 - 1 degrees of freedom"));
    if (!space->is_on_device)
        TRY(send(space, weft_element_is_on_vertices(space->element) ? copies : NULL, error));
    if (mesh->part)
        TRY(share_nodes(space, error));
    if (mesh->part)
        TRY(agree_on_places(space, error));
    *out = space;
    space = NULL;
done:
    weft_space_free(&space);
    return status;
}

weft_status weft_space_make(weft_device *device, const weft_mesh *mesh, weft_element_kind kind,
                            int components, weft_space **out, weft_error *error) {
    return weft_space_make_with(device, mesh, NULL, kind, components, out, error);
}

void weft_space_free(weft_space **space) {
    if (!space || !*space)
        return;
    weft_connectivity_free(&(*space)->cells);
    weft_memory_free(&(*space)->x);
    weft_memory_free(&(*space)->share.owned);
    free((*space)->marks);
    weft_element_free(&(*space)->element);
    free((*space)->own_cells);
    free((*space)->own_x);
    free((*space)->inside);
    (void)pthread_mutex_destroy(&(*space)->reading);
    free(*space);
    *space = NULL;
}

weft_device *weft_space_device(const weft_space *space) {
    return space->device;
}

const weft_mesh *weft_space_mesh(const weft_space *space) {
    return space->mesh;
}

const weft_element *weft_space_element(const weft_space *space) {
    return space->element;
}

int weft_space_components(const weft_space *space) {
    return space->components;
}

bool weft_space_is_barycentric(const weft_space *space) {
    return weft_element_is_on_vertices(space->element) && weft_mesh_is_affine(space->mesh) &&
           space->mesh->dimension > 1;
}

int64_t weft_space_nodes(const weft_space *space) {
    return space->n_nodes;
}

int64_t weft_space_dofs(const weft_space *space) {
    return space->n_nodes * space->components;
}

const int32_t *weft_space_cell_nodes(const weft_space *space) {
    const int32_t *nodes = NULL;
    (void)weft_space_read_cells(space, &nodes, NULL);
    return nodes;
}

weft_connectivity *weft_space_cells(const weft_space *space) {
    return space->cells;
}

weft_memory *weft_space_coordinates(const weft_space *space) {
    return space->x;
}

void weft_space_evict(weft_space *space) {
    const int64_t n = weft_connectivity_from(space->cells) * weft_connectivity_width(space->cells);
    if (weft_connectivity_ranges(weft_device_limits(space->device), (size_t)n) == 1)
        return;
    const double *points = weft_space_points(space);
    if (!points)
        return;
    weft_connectivity_release(space->cells);
    weft_memory_evict(space->x, points);
}

const double *weft_space_points(const weft_space *space) {
    const double *points = NULL;
    (void)weft_space_read_points(space, &points, NULL);
    return points;
}

weft_assembly_problem weft_space_problem(const weft_space *space, double applications) {
    return (weft_assembly_problem){.dimension = space->mesh->dimension,
                                   .width = space->element->n_nodes,
                                   .n_nodes = space->n_nodes,
                                   .n_cells = space->mesh->n_cells,
                                   .symmetric = true,
                                   .applications = applications,
                                   .components = space->components,
                                   .cell = space->mesh->cell,
                                   .degree = space->element->degree,
                                   .is_elastic = space->components > 1 &&
                                                 space->components == space->mesh->dimension};
}
