/* Parts of a mesh that do not touch, and whether conditions fix u in each of them. */
#include "fem/base/sets.h"
#include "fem/bc/private.h"
#include "fem/mesh/part.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/setup.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, SAMPLED = 8, THREADS = 256 /* of kernels/setup */ };

typedef struct joining {
    const weft_mesh *mesh;
    int32_t *parent;
} joining;

static void join_cell(const joining *j, int64_t cell) {
    const int width = weft_mesh_cell_vertices(j->mesh);
    const int32_t *nodes = j->mesh->cells + cell * width;
    const int32_t part = __atomic_load_n(&j->parent[nodes[0]], __ATOMIC_RELAXED);
    for (int v = 1; v < width; ++v)
        if (__atomic_load_n(&j->parent[nodes[v]], __ATOMIC_RELAXED) != part)
            weft_sets_join(j->parent, nodes[0], nodes[v]);
}

static void join_sampled(void *user, int64_t chunk) {
    const joining *j = user;
    const int64_t last =
        (chunk + 1) * CHUNK < j->mesh->n_cells ? (chunk + 1) * CHUNK : j->mesh->n_cells;
    for (int64_t c = chunk * CHUNK; c < last; c += SAMPLED)
        join_cell(j, c);
}

static void join_all(void *user, int64_t chunk) {
    const joining *j = user;
    const int64_t last =
        (chunk + 1) * CHUNK < j->mesh->n_cells ? (chunk + 1) * CHUNK : j->mesh->n_cells;
    for (int64_t c = chunk * CHUNK; c < last; ++c)
        join_cell(j, c);
}

static void flatten(void *user, int64_t chunk) {
    const joining *j = user;
    const int64_t last = (chunk + 1) * CHUNK;
    for (int64_t i = chunk * CHUNK; i < last && i < j->mesh->n_nodes; ++i) {
        const int32_t root = weft_sets_root(j->parent, (int32_t)i);
        __atomic_store_n(&j->parent[i], root, __ATOMIC_RELAXED);
    }
}

/* Cells that share a vertex are of one part, whatever the element. Some of the cells connect nearly
 * all nodes; the others then find equal parents (Sutton et al. 2018). */
static weft_status join_cells(weft_device *device, joining *j, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_cells = (j->mesh->n_cells + CHUNK - 1) / CHUNK;
    const int64_t n_nodes = (j->mesh->n_nodes + CHUNK - 1) / CHUNK;
    for (int64_t i = 0; i < j->mesh->n_nodes; ++i)
        j->parent[i] = (int32_t)i;
    TRY(weft_device_for(device, n_cells, join_sampled, j, error));
    TRY(weft_device_for(device, n_nodes, flatten, j, error));
    TRY(weft_device_for(device, n_cells, join_all, j, error));
done:
    return status;
}

/* Robin with ALPHA = 0 is Neumann, and fixes nothing. */
static bool fixes(const weft_condition *condition, int component) {
    double alpha = NAN;
    return condition->kind == WEFT_ROBIN && condition->component == component &&
           !(weft_formula_constant(condition->alpha, &alpha) && alpha == 0);
}

/* A vertex of a cell that has the node, for each node of a space; NULL: the nodes are those of the mesh. */
static weft_status find_vertices(const weft_space *space, int32_t **out, weft_error *error) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const int32_t *nodes = weft_space_cell_nodes(space);
    const int width = weft_space_element(space)->n_nodes, v = weft_mesh_cell_vertices(mesh);
    *out = NULL;
    if (nodes == mesh->cells)
        return WEFT_OK;
    *out = weft_array_make((size_t)weft_space_nodes(space), sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, "the parts of a mesh");
    for (int64_t i = 0; i < mesh->n_cells * width; ++i)
        (*out)[nodes[i]] = mesh->cells[i / width * v];
    return WEFT_OK;
}

/* Mark the parts in which a Dirichlet dof or a Robin facet fixes the component. */
static void mark_fixed(const weft_bc *bc, int component, const int32_t *vertices, int32_t *parent,
                       char *fixed) {
    const int c = weft_space_components(bc->space);
    for (int64_t i = 0; i < bc->n_constrained; ++i) {
        const int32_t node = bc->constrained[i] / c;
        if (bc->constrained[i] % c == component)
            fixed[weft_sets_root(parent, vertices ? vertices[node] : node)] = 1;
    }
    for (int i = 0; i < bc->n_pieces; ++i) {
        if (!fixes(&bc->pieces[i].condition, component))
            continue;
        const weft_bc_facets *facets = &bc->facets[bc->pieces[i].facets];
        for (int64_t f = 0; f < facets->n; ++f) {
            const int32_t node = facets->nodes[f * facets->width];
            fixed[weft_sets_root(parent, vertices ? vertices[node] : node)] = 1;
        }
    }
}

static weft_status refuse_part(const weft_mesh *mesh, int64_t n_parts, int64_t node,
                               weft_error *error) {
    const int d = mesh->dimension;
    char point[64];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the mesh falls into %" PRId64
                   " parts that do not touch, and nothing fixes u on that of %s",
                   n_parts, weft_point_text(&mesh->x[node * d], d, point));
    weft_error_location(error, mesh->source, NULL, 0, 0);
    weft_error_hint(error, "add a Dirichlet or Robin condition for a group of that part, or join "
                           "the parts in the mesh");
    return WEFT_ERROR_INPUT;
}

static weft_status find_loose(const weft_bc *bc, int component, bool *is_free, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(bc->space);
    int64_t n_parts = 0, n_loose = 0, loose = 0;
    int32_t *parent = weft_array_make((size_t)mesh->n_nodes, sizeof *parent);
    char *fixed = weft_array_make((size_t)mesh->n_nodes, 1);
    int32_t *vertices = NULL;
    if (!parent || !fixed)
        TRY(weft_out_of_memory(error, "the parts of a mesh"));
    TRY(join_cells(bc->context->device, &(joining){mesh, parent}, error));
    TRY(find_vertices(bc->space, &vertices, error));
    mark_fixed(bc, component, vertices, parent, fixed);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        if (parent[i] != i)
            continue;
        ++n_parts;
        if (!fixed[i]) {
            ++n_loose;
            loose = i;
        }
    }
    if (n_loose > 0 && n_parts > 1)
        TRY(refuse_part(mesh, n_parts, loose, error));
    *is_free = n_loose > 0;
done:
    free(parent);
    free(fixed);
    free(vertices);
    return status;
}

static bool fixes_any(const weft_bc *bc, int component) {
    const int c = weft_space_components(bc->space);
    for (int64_t i = 0; i < bc->n_constrained; ++i)
        if (bc->constrained[i] % c == component)
            return true;
    for (int i = 0; i < bc->n_pieces; ++i)
        if (fixes(&bc->pieces[i].condition, component) && bc->facets[bc->pieces[i].facets].n > 0)
            return true;
    return false;
}

/* Whether the mesh is one part, on a device on which set-up runs and where the cells are needed anyway;
 * false where that is not known. */
static weft_status find_whole(const weft_bc *bc, bool *is_whole, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = bc->context->device;
    const weft_mesh *mesh = weft_space_mesh(bc->space);
    weft_connectivity *cells = weft_space_cells(bc->space);
    const int64_t lanes = weft_device_limits(device)->lanes_double;
    const int64_t n_nodes = weft_space_nodes(bc->space); /* which cells share as their vertices */
    const weft_element *element = weft_space_element(bc->space);
    uint32_t n_parts = 0;
    weft_setup *setup = NULL;
    weft_memory *indices = NULL, *sizes = NULL, *sampled = NULL, *parent = NULL, *count = NULL;
    const int64_t n_sampling = (mesh->n_cells / SAMPLED + THREADS) / THREADS; /* blocks */
    if (!weft_setup_on_device(device) || !weft_element_is_shared(element) ||
        !weft_element_has_vertices(element))
        goto done;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_connectivity_interleaved(cells, (int)lanes, &indices, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){weft_connectivity_width(cells), lanes, SAMPLED}, 3,
                           &sampled, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){weft_connectivity_width(cells), lanes, 1}, 3, &sizes,
                           error));
    TRY(weft_memory_make_unset(device, (size_t)n_nodes * sizeof(int32_t), &parent, error));
    TRY(weft_memory_make(device, sizeof n_parts, &count, error));
    const weft_setup_kernel start = {"parts", "parts_start", n_nodes, 0, 0};
    TRY(weft_setup_launch(setup, &start, &parent, 1, error));
    const weft_setup_kernel joins = {"parts", "parts_join", mesh->n_cells, n_sampling, 0};
    TRY(weft_setup_launch(setup, &joins, (weft_memory *[]){sampled, indices, parent}, 3, error));
    const weft_setup_kernel flattens = {"parts", "parts_flatten", n_nodes, 0, 0};
    TRY(weft_setup_launch(setup, &flattens, &parent, 1, error));
    const weft_setup_kernel all = {"parts", "parts_join", mesh->n_cells, 0, 0};
    TRY(weft_setup_launch(setup, &all, (weft_memory *[]){sizes, indices, parent}, 3, error));
    const weft_setup_kernel counts = {"parts", "parts_count", n_nodes, 0, 0};
    TRY(weft_setup_launch(setup, &counts, (weft_memory *[]){parent, count}, 2, error));
    TRY(weft_memory_read(count, 0, &n_parts, sizeof n_parts, error));
    *is_whole = n_parts == 1;
done:
    weft_memory_free(&sizes);
    weft_memory_free(&sampled);
    weft_memory_free(&parent);
    weft_memory_free(&count);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_bc_parts(const weft_bc *bc, int32_t *part, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(bc->space);
    bool is_whole = false;
    int32_t *parent = NULL;
    if (mesh->part) { /* of the whole mesh, however a rank's part of it falls apart */
        *n = mesh->part->n_pieces;
        if (part)
            memcpy(part, mesh->part->pieces, (size_t)mesh->n_nodes * sizeof *part);
        goto done;
    }
    TRY(find_whole(bc, &is_whole, error));
    *n = 1;
    for (int64_t i = 0; i < mesh->n_nodes && is_whole && part; ++i)
        part[i] = 0;
    if (is_whole)
        goto done;
    parent = weft_array_make((size_t)mesh->n_nodes, sizeof *parent);
    if (!parent)
        TRY(weft_out_of_memory(error, "the parts of a mesh"));
    TRY(join_cells(bc->context->device, &(joining){mesh, parent}, error));
    *n = 0;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) { /* the root of a part is its lowest node */
        const int64_t number = parent[i] == i ? (*n)++ : 0;
        if (part)
            part[i] = parent[i] == i ? (int32_t)number : part[parent[i]];
    }
done:
    free(parent);
    return status;
}

weft_status weft_bc_find_free(const weft_bc *bc, int component, bool *is_free, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_whole = false;
    TRY(find_whole(bc, &is_whole, error));
    if (is_whole)
        *is_free = !fixes_any(bc, component);
    else
        status = find_loose(bc, component, is_free, error);
done:
    return status;
}
