/* The nodes of one space, or the dofs of several, of the cells on the sides of cells and facets. */
#include "fem/mesh/part.h"
#include "fem/space/private.h"
#include "fem/space/space.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_share.h"

#include <stdlib.h>

static weft_status sides_make(const weft_space *space, const weft_entities_of *of,
                              weft_space_sides *out, weft_error *error) {
    if (of->kind != WEFT_ENTITIES_CELLS && of->facets && of->facets[0] >= 0)
        return weft_space_sides_at(space, of, out, error);
    switch (of->kind) {
    case WEFT_ENTITIES_EXTERIOR:
        return weft_space_exterior_make(space, of->group, out, error);
    case WEFT_ENTITIES_INTERIOR:
        return weft_space_interior_make(space, of->group, out, error);
    default:
        return weft_space_group_cells_make(space, of->group, out, error);
    }
}

static int dofs_of_cell(const weft_space *space) {
    return weft_space_element(space)->n_nodes * weft_space_components(space);
}

static weft_status check_count(int64_t n_dofs, weft_error *error) {
    return n_dofs > INT32_MAX ? weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                               "more than 2^31 - 1 degrees of freedom")
                              : WEFT_OK;
}

/* Write the dofs of one space to the rows of all: first + node * components + k.
 *  nodes  [n][n_sides][nodes of a cell];  out  [n][n_sides][width], at the space's place of a side */
static void put_dofs(const weft_space *space, const int32_t *nodes, int64_t n_sides, int64_t first,
                     int width, int32_t *out) {
    const int c = weft_space_components(space), per_cell = weft_space_element(space)->n_nodes;
    for (int64_t side = 0; side < n_sides; ++side)
        for (int k = 0; k < per_cell * c; ++k)
            out[side * width + k] =
                (int32_t)(first + (int64_t)nodes[side * per_cell + k / c] * c + k % c);
}

/* Of all cells, on a device on which set-up runs. */
static weft_status flatten_on_device(const weft_space *const *spaces, int n, int width,
                                     weft_entity_dofs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_space_device(spaces[0]);
    const int64_t n_cells = weft_space_mesh(spaces[0])->n_cells;
    weft_memory *made = NULL;
    weft_index_map map = {.width = width};
    TRY(weft_memory_make_unset(device, (size_t)(n_cells * width) * sizeof(int32_t), &made, error));
    for (int i = 0; i < n; ++i) {
        map.components = weft_space_components(spaces[i]);
        TRY(weft_connectivity_map(weft_space_cells(spaces[i]), &map, made, error));
        map.at += dofs_of_cell(spaces[i]);
        map.first += weft_space_dofs(spaces[i]);
    }
    TRY(check_count(map.first, error));
    TRY(weft_connectivity_make_on_device(device, &made, width, map.first, &out->connectivity,
                                         error));
    out->is_own = true;
done:
    weft_memory_free(&made);
    return status;
}

/* Which dofs are this rank's own, for the connectivity; nothing where the mesh is whole. */
static weft_status share_dofs(const weft_space *const *spaces, int n, int64_t n_dofs,
                              weft_entity_dofs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_part *part = weft_space_mesh(spaces[0])->part;
    weft_device *device = weft_space_device(spaces[0]);
    unsigned char *all = part ? malloc((size_t)n_dofs + 1) : NULL, *nodes = NULL;
    int64_t at = 0;
    if (!part)
        goto done;
    out->share = calloc(1, sizeof *out->share);
    if (!all || !out->share)
        TRY(weft_out_of_memory(error, "the dofs of several spaces"));
    for (int s = 0; s < n; ++s) {
        const weft_share *own = weft_connectivity_to_share(weft_space_cells(spaces[s]));
        const int64_t n_nodes = weft_space_nodes(spaces[s]);
        free(nodes);
        nodes = malloc((size_t)n_nodes + 1);
        if (!nodes)
            TRY(weft_out_of_memory(error, "the dofs of several spaces"));
        TRY(weft_memory_read(own->owned, 0, nodes, (size_t)n_nodes, error));
        for (int64_t i = 0; i < n_nodes * weft_space_components(spaces[s]); ++i)
            all[at++] = nodes[i / weft_space_components(spaces[s])];
    }
    out->share->comm = part->comm;
    TRY(weft_memory_make(device, (size_t)n_dofs, &out->share->owned, error));
    TRY(weft_memory_write(out->share->owned, 0, all, (size_t)n_dofs, error));
    out->share->marks = out->marks = all;
    all = NULL;
    TRY(weft_connectivity_share(out->connectivity, out->share, error));
done:
    free(all);
    free(nodes);
    return status;
}

static weft_status flatten(const weft_space *const *spaces, int n, const weft_entities_of *of,
                           weft_entity_dofs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space_sides sides = {0};
    int64_t n_dofs = 0, n_entities = 0;
    int width = 0, at = 0, n_sides = 1;
    for (int i = 0; i < n; ++i) {
        width += dofs_of_cell(spaces[i]);
        if (weft_space_mesh(spaces[i]) != weft_space_mesh(spaces[0]))
            TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                               "part %d of a mixed space is on another mesh", i + 1));
    }
    const bool is_whole = of->kind == WEFT_ENTITIES_CELLS && of->group < 0;
    if (is_whole && weft_setup_on_device(weft_space_device(spaces[0]))) {
        status = flatten_on_device(spaces, n, width, out, error);
        goto done;
    }
    for (int i = 0; i < n; ++i) {
        const int32_t *nodes = weft_space_cell_nodes(spaces[i]);
        n_entities = weft_space_mesh(spaces[i])->n_cells;
        if (!is_whole) {
            TRY(sides_make(spaces[i], of, &sides, error));
            nodes = sides.nodes;
            n_entities = sides.n;
            n_sides = sides.n_sides;
        }
        const size_t n_indices = (size_t)n_entities * (size_t)(n_sides * width);
        if (!out->indices)
            out->indices = weft_array_make(n_indices, sizeof *out->indices);
        if (!out->indices)
            TRY(weft_out_of_memory(error, "the dofs of several spaces"));
        put_dofs(spaces[i], nodes, n_entities * n_sides, n_dofs, width, out->indices + at);
        at += dofs_of_cell(spaces[i]);
        n_dofs += weft_space_dofs(spaces[i]);
        weft_space_sides_free(&sides);
    }
    TRY(check_count(n_dofs, error));
    TRY(weft_connectivity_make(weft_space_device(spaces[0]), out->indices, n_entities,
                               n_sides * width, n_dofs, &out->connectivity, error));
    out->is_own = true;
    TRY(share_dofs(spaces, n, n_dofs, out, error));
done:
    weft_space_sides_free(&sides);
    return status;
}

weft_status weft_entity_dofs_make_of(const weft_space *const *spaces, int n, bool flat,
                                     const weft_entities_of *of, weft_entity_dofs *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space_sides sides = {0};
    if (n > 1 || flat) {
        status = flatten(spaces, n, of, out, error);
        goto done;
    }
    if (of->kind == WEFT_ENTITIES_CELLS && of->group < 0) {
        out->connectivity = weft_space_cells(spaces[0]);
        goto done;
    }
    TRY(sides_make(spaces[0], of, &sides, error));
    out->indices = sides.nodes;
    out->connectivity = sides.dofs;
    out->is_own = true;
    sides.nodes = NULL;
    sides.dofs = NULL;
done:
    weft_space_sides_free(&sides);
    return status;
}

weft_status weft_entity_dofs_make(const weft_space *const *spaces, int n, bool flat,
                                  weft_entities_kind kind, int group, weft_entity_dofs *out,
                                  weft_error *error) {
    const weft_entities_of of = {kind, group, NULL};
    return weft_entity_dofs_make_of(spaces, n, flat, &of, out, error);
}

void weft_entity_dofs_free(weft_entity_dofs *dofs) {
    if (dofs->is_own)
        weft_connectivity_free(&dofs->connectivity);
    free(dofs->indices);
    if (dofs->share)
        weft_memory_free(&dofs->share->owned);
    free(dofs->share);
    free(dofs->marks);
    *dofs = (weft_entity_dofs){0};
}
