/* Refines meshes uniformly on a device (kernels/setup/refine.cu). The finest level so far stays there
 * for the next step. */
#include "fem/mesh/refine.h"

#include <stdlib.h>

enum { MOST_ENDS = 1024 }; /* of a node: its thread sorts them by insertion */

/* The arrays of a mesh. */
typedef struct device_mesh {
    weft_memory *x, *cells, *facets;
} device_mesh;

typedef struct refinement {
    weft_setup *setup;
    weft_device *device;
    int width;                          /* vertices of a cell */
    weft_memory *sizes;                 /* width */
    device_mesh from, to;               /* to: of the step */
    weft_memory *start, *ends, *number; /* of the step: edges of nodes, new numbers */
    weft_memory *parents, *rotated;     /* of the step */
    int64_t n_nodes;                    /* of the refined mesh */
} refinement;

static void mesh_clear(device_mesh *mesh) {
    weft_memory_free(&mesh->x);
    weft_memory_free(&mesh->cells);
    weft_memory_free(&mesh->facets);
}

static void step_clear(refinement *r) {
    mesh_clear(&r->to);
    weft_memory_free(&r->start);
    weft_memory_free(&r->ends);
    weft_memory_free(&r->number);
    weft_memory_free(&r->parents);
    weft_memory_free(&r->rotated);
}

static weft_status make(const refinement *r, int64_t n, size_t size, weft_memory **out,
                        weft_error *error) {
    return weft_memory_make_unset(r->device, (size_t)n * size, out, error);
}

static weft_status send(const refinement *r, const void *array, int64_t n, size_t size,
                        weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make(r, n, size, out, error));
    TRY(weft_memory_write(*out, 0, array, (size_t)n * size, error));
done:
    return status;
}

static weft_status mesh_send(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t d = mesh->dimension;
    TRY(send(r, mesh->x, mesh->n_nodes * d, sizeof *mesh->x, &r->from.x, error));
    TRY(send(r, mesh->cells, mesh->n_cells * r->width, sizeof *mesh->cells, &r->from.cells, error));
    TRY(send(r, mesh->facets, mesh->n_facets * d, sizeof *mesh->facets, &r->from.facets, error));
done:
    return status;
}

/* ---- edges --------------------------------------------------------------------------------- */

/* The lists of the nodes, unsorted. */
static weft_status list_ends(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *counts = NULL, *longest = NULL;
    uint32_t most = 0;
    int64_t total = 0;
    TRY(weft_memory_make(r->device, (size_t)mesh->n_nodes * sizeof(uint32_t), &counts, error));
    TRY(weft_memory_make(r->device, sizeof most, &longest, error));
    const weft_setup_kernel count = {"refine", "count_ends", mesh->n_cells, 0, 0};
    TRY(weft_setup_launch(r->setup, &count, (weft_memory *[]){r->sizes, r->from.cells, counts}, 3,
                          error));
    const weft_setup_kernel find = {"refine", "most_ends", mesh->n_nodes, 0, 0};
    TRY(weft_setup_launch(r->setup, &find, (weft_memory *[]){counts, longest}, 2, error));
    TRY(weft_setup_sums(r->setup, counts, mesh->n_nodes, &r->start, &total, error));
    TRY(weft_memory_read(longest, 0, &most, sizeof most, error));
    if (most > MOST_ENDS)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a node has %u edges of cells to higher nodes, more than %d", most,
                           MOST_ENDS));
    TRY(make(r, total, sizeof(int32_t), &r->ends, error));
    const weft_setup_kernel list = {"refine", "list_ends", mesh->n_cells, 0, 0};
    weft_memory *const arguments[] = {r->sizes, r->from.cells, r->start, counts, r->ends};
    TRY(weft_setup_launch(r->setup, &list, arguments, 5, error));
done:
    weft_memory_free(&counts);
    weft_memory_free(&longest);
    return status;
}

static weft_status find_edges(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *own = NULL;
    TRY(list_ends(r, mesh, error));
    TRY(make(r, mesh->n_nodes, sizeof(uint32_t), &own, error));
    const weft_setup_kernel sort = {"refine", "sort_ends", mesh->n_nodes, 0, 0};
    TRY(weft_setup_launch(r->setup, &sort, (weft_memory *[]){r->start, r->ends, own}, 3, error));
    TRY(weft_setup_sums(r->setup, own, mesh->n_nodes, &r->number, &r->n_nodes, error));
done:
    weft_memory_free(&own);
    return status;
}

/* ---- nodes, cells and facets --------------------------------------------------------------- */

static weft_status put_nodes(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make(r, r->n_nodes * mesh->dimension, sizeof(double), &r->to.x, error));
    TRY(make(r, r->n_nodes * 2, sizeof(int32_t), &r->parents, error));
    const weft_setup_kernel kernel = {"refine", "refine_nodes", mesh->n_nodes, 0, 0};
    weft_memory *const arguments[] = {r->sizes,  r->from.x, r->start,  r->ends,
                                      r->number, r->to.x,   r->parents};
    TRY(weft_setup_launch(r->setup, &kernel, arguments, 7, error));
done:
    return status;
}

static weft_status put_cells(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = mesh->n_cells * r->width;
    TRY(make(r, n << mesh->dimension, sizeof(int32_t), &r->to.cells, error));
    TRY(make(r, n, sizeof(int32_t), &r->rotated, error));
    const weft_setup_kernel kernel = {"refine", "refine_cells", mesh->n_cells, 0, 0};
    weft_memory *const arguments[] = {r->sizes, r->from.x, r->from.cells, r->start,
                                      r->ends,  r->number, r->to.cells,   r->rotated};
    TRY(weft_setup_launch(r->setup, &kernel, arguments, 8, error));
done:
    return status;
}

static weft_status put_facets(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    TRY(make(r, mesh->n_facets * d << (d - 1), sizeof(int32_t), &r->to.facets, error));
    const weft_setup_kernel kernel = {"refine", "refine_facets", mesh->n_facets, 0, 0};
    weft_memory *const arguments[] = {r->sizes, r->from.facets, r->start,
                                      r->ends,  r->number,      r->to.facets};
    TRY(weft_setup_launch(r->setup, &kernel, arguments, 6, error));
done:
    return status;
}

/* ---- one step ------------------------------------------------------------------------------ */

static weft_status read_all(const weft_memory *memory, void *out, weft_error *error) {
    return weft_memory_read(memory, 0, out, weft_memory_bytes(memory), error);
}

/* What the host needs of the refined mesh as a level, but for its cells, which may still be rotated;
 * the cells of the mesh that was refined. */
static weft_status read_level(const refinement *r, weft_mesh *mesh, weft_hierarchy_level *level,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    level->parents = weft_array_make_unset(weft_memory_bytes(r->parents));
    if (!level->parents)
        TRY(weft_refine_no_memory(mesh, error));
    TRY(weft_refine_alloc(mesh, r->n_nodes, &level->mesh, error));
    TRY(read_all(r->parents, level->parents, error));
    TRY(read_all(r->to.x, level->mesh->x, error));
    TRY(read_all(r->to.facets, level->mesh->facets, error));
    TRY(read_all(r->rotated, mesh->cells, error));
    weft_refine_groups(mesh, level->mesh);
done:
    if (status != WEFT_OK) {
        free(level->parents);
        level->parents = NULL;
        weft_mesh_free(&level->mesh);
    }
    return status;
}

/* The refined mesh on the device. */
static weft_status make_step(refinement *r, const weft_mesh *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(find_edges(r, mesh, error));
    TRY(put_nodes(r, mesh, error));
    TRY(put_cells(r, mesh, error));
    TRY(put_facets(r, mesh, error));
done:
    return status;
}

/* The refined mesh is the next to be refined. */
static void advance(refinement *r) {
    mesh_clear(&r->from);
    r->from = r->to;
    r->to = (device_mesh){0};
}

static weft_status refine_level(refinement *r, weft_mesh *mesh, weft_hierarchy_level *level,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make_step(r, mesh, error));
    TRY(read_level(r, mesh, level, error));
    advance(r);
done:
    step_clear(r);
    return status;
}

/* out  gets sizes and groups; no page of its other arrays is used */
static weft_status refine_alone(refinement *r, const weft_mesh *mesh, weft_mesh **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make_step(r, mesh, error));
    TRY(weft_refine_alloc(mesh, r->n_nodes, out, error));
    weft_refine_groups(mesh, *out);
    advance(r);
done:
    step_clear(r);
    return status;
}

static bool is_refused(const weft_mesh *mesh, weft_error *error) {
    if (mesh->points.n_nodes == 0 && mesh->points.n_pairs == 0)
        return false;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "it has groups of points or periodic sides");
    return true;
}

weft_status weft_refine_on_device(weft_device *device, const weft_mesh *mesh, int times,
                                  weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    refinement r = {.device = device, .width = weft_mesh_cell_vertices(mesh)};
    weft_mesh *made = NULL, *next = NULL;
    if (is_refused(mesh, error))
        TRY(WEFT_ERROR_UNSUPPORTED);
    TRY(weft_setup_make(device, &r.setup, error));
    TRY(weft_setup_numbers(r.setup, (int64_t[]){r.width}, 1, &r.sizes, error));
    TRY(mesh_send(&r, mesh, error));
    for (int i = 0; i < times; ++i) {
        TRY(refine_alone(&r, made ? made : mesh, &next, error));
        weft_mesh_free(&made);
        made = next;
        next = NULL;
    }
    TRY(read_all(r.from.x, made->x, error));
    TRY(read_all(r.from.cells, made->cells, error));
    TRY(read_all(r.from.facets, made->facets, error));
    *out = made;
    made = NULL;
done:
    weft_mesh_free(&made);
    weft_mesh_free(&next);
    mesh_clear(&r.from);
    weft_memory_free(&r.sizes);
    weft_setup_free(&r.setup);
    return status;
}

weft_status weft_refine_levels_on_device(weft_device *device, weft_hierarchy *hierarchy,
                                         int *n_made, weft_mesh_copies *copies, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy_level *levels = hierarchy->levels;
    weft_mesh *coarse = levels[0].mesh;
    refinement r = {.device = device, .width = weft_mesh_cell_vertices(coarse)};
    *n_made = 1;
    if (is_refused(coarse, error))
        TRY(WEFT_ERROR_UNSUPPORTED);
    TRY(weft_setup_make(device, &r.setup, error));
    TRY(weft_setup_numbers(r.setup, (int64_t[]){r.width}, 1, &r.sizes, error));
    TRY(mesh_send(&r, coarse, error));
    for (; status == WEFT_OK && *n_made < hierarchy->n_levels; *n_made += status == WEFT_OK)
        status = refine_level(&r, levels[*n_made - 1].mesh, &levels[*n_made], error);
    if (*n_made > 1) {
        weft_error why;
        const weft_status read = read_all(r.from.cells, levels[*n_made - 1].mesh->cells, &why);
        if (read != WEFT_OK && error)
            *error = why;
        status = read != WEFT_OK ? read : status;
    }
    if (status == WEFT_OK && copies) {
        *copies = (weft_mesh_copies){r.from.x, r.from.cells};
        r.from.x = r.from.cells = NULL;
    }
done:
    mesh_clear(&r.from);
    weft_memory_free(&r.sizes);
    weft_setup_free(&r.setup);
    return status;
}
