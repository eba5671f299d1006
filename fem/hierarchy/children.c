/* Says how the vertices of children lie in the cells that were refined. */
#include "fem/mesh/mesh.h"

#include <stdlib.h>

enum { CHUNKS = 256 };

void weft_hierarchy_child_weights(int dimension, int kind, double *out) {
    const int width = dimension + 1;
    for (int vertex = 0; vertex < width; ++vertex) {
        int ends[2];
        weft_mesh_refined_ends(dimension, kind, vertex, ends);
        for (int k = 0; k < width; ++k)
            out[vertex * width + k] = 0.5 * (ends[0] == k) + 0.5 * (ends[1] == k);
    }
}

typedef struct kinds_work {
    const weft_hierarchy_level *coarse, *fine;
    int32_t *kinds;
} kinds_work;

/* Whether the node has these parents, in any order. */
static bool has_parents(const int32_t *parents, int32_t a, int32_t b) {
    return (parents[0] == a && parents[1] == b) || (parents[0] == b && parents[1] == a);
}

/* The first vertex is never moved, so the second one decides. */
static int kind_of(const kinds_work *w, const int32_t *cell, int64_t child, int k) {
    const int d = w->fine->mesh->dimension,
              n_kinds = d == 2 ? WEFT_CHILD_KINDS_2 : WEFT_CHILD_KINDS_3;
    const int32_t node = w->fine->mesh->cells[child * (d + 1) + 1];
    int ends[2], kind = k;
    for (; kind + (1 << d) < n_kinds; kind += 1 << d) {
        weft_mesh_refined_ends(d, kind, 1, ends);
        if (has_parents(w->fine->parents + 2 * (int64_t)node, cell[ends[0]], cell[ends[1]]))
            break;
    }
    return kind;
}

static void find_kinds(void *user, int64_t chunk) {
    const kinds_work *w = user;
    const weft_mesh *mesh = w->coarse->mesh;
    const int d = mesh->dimension, n_children = 1 << d;
    for (int64_t c = mesh->n_cells * chunk / CHUNKS; c < mesh->n_cells * (chunk + 1) / CHUNKS; ++c)
        for (int k = 0; k < n_children; ++k)
            w->kinds[c * n_children + k] =
                kind_of(w, mesh->cells + c * (d + 1), c * n_children + k, k);
}

weft_status weft_hierarchy_child_kinds(weft_device *device, const weft_hierarchy *hierarchy,
                                       int level, int32_t **out, weft_error *error) {
    const weft_hierarchy_level *fine = &hierarchy->levels[level];
    kinds_work work = {.coarse = fine - 1, .fine = fine};
    weft_status status = WEFT_OK;
    work.kinds = weft_array_make_unset((uint64_t)fine->mesh->n_cells * sizeof *work.kinds);
    if (!work.kinds)
        TRY(weft_out_of_memory(error, "the kinds of children"));
    TRY(weft_device_for(device, CHUNKS, find_kinds, &work, error));
    *out = work.kinds;
    work.kinds = NULL;
done:
    free(work.kinds);
    return status;
}
