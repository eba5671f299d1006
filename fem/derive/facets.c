/* Finds the cell inside of each facet of a list, by the facets of each lowest node. */
#include "fem/derive/private.h"

#include <stdlib.h>

void derive_facets_free(derive_facets *facets) {
    free(facets->nodes);
    free(facets->cell_nodes);
    free(facets->cells);
    *facets = (derive_facets){0};
}

static int32_t lowest(const int32_t *nodes, int n) {
    int32_t low = nodes[0];
    for (int i = 1; i < n; ++i)
        low = nodes[i] < low ? nodes[i] : low;
    return low;
}

/* The facet of a positively oriented cell that does not contain vertex v, counterclockwise as seen
 * from outside: (1,2), (2,0), (0,1); (1,2,3), (0,3,2), (0,1,3), (0,2,1). */
static void cell_facet(int d, const int32_t *cell, int v, int32_t out[3]) {
    static const int in_plane[3][2] = {{1, 2}, {2, 0}, {0, 1}};
    static const int in_space[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int i = 0; i < d; ++i)
        out[i] = cell[d == 2 ? in_plane[v][i] : in_space[v][i]];
}

/* The same nodes in the same cyclic order: the same facet seen from the same side. */
static bool is_same(int d, const int32_t *a, const int32_t *b) {
    for (int shift = 0; shift < (d == 2 ? 1 : d); ++shift) {
        int equal = 0;
        for (int i = 0; i < d; ++i)
            equal += a[i] == b[(i + shift) % d];
        if (equal == d)
            return true;
    }
    return false;
}

typedef struct finder {
    int d;
    derive_facets *facets;
    int64_t *start; /* [nodes + 1] facets by lowest node */
    int64_t *list;
} finder;

static weft_status list_facets(finder *f, int64_t n_nodes, weft_error *error) {
    const derive_facets *facets = f->facets;
    f->start = calloc((size_t)n_nodes + 2, sizeof *f->start);
    f->list = calloc((size_t)facets->n + 1, sizeof *f->list);
    if (!f->start || !f->list)
        return weft_out_of_memory(error, "facets of derived quantities");
    for (int64_t i = 0; i < facets->n; ++i)
        ++f->start[lowest(facets->nodes + i * f->d, f->d) + 2];
    for (int64_t k = 0; k < n_nodes; ++k)
        f->start[k + 2] += f->start[k + 1];
    for (int64_t i = 0; i < facets->n; ++i)
        f->list[f->start[lowest(facets->nodes + i * f->d, f->d) + 1]++] = i;
    return WEFT_OK;
}

/* Give a cell to the facets that are the one opposite its vertex v. */
static void give_cell(finder *f, const weft_mesh *mesh, int64_t c, int v) {
    const int d = f->d;
    const int32_t *cell = mesh->cells + c * (d + 1);
    int32_t nodes[3] = {0};
    cell_facet(d, cell, v, nodes);
    const int32_t low = lowest(nodes, d);
    for (int64_t k = f->start[low]; k < f->start[low + 1]; ++k) {
        const int64_t i = f->list[k];
        const int32_t *facet = f->facets->nodes + i * d;
        if (!is_same(d, facet, nodes))
            continue;
        for (int j = 0; j < d; ++j)
            f->facets->cell_nodes[i * (d + 1) + j] = facet[j];
        f->facets->cell_nodes[i * (d + 1) + d] = cell[v];
        f->facets->cells[i] = (int32_t)c;
    }
}

weft_status derive_facets_find_cells(const weft_mesh *mesh, derive_facets *facets,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    finder f = {.d = d, .facets = facets};
    facets->cell_nodes =
        weft_array_make((size_t)facets->n * (size_t)(d + 1), sizeof *facets->cell_nodes);
    facets->cells = weft_array_make((size_t)facets->n, sizeof *facets->cells);
    if (!facets->cell_nodes || !facets->cells)
        TRY(weft_out_of_memory(error, "facets of derived quantities"));
    for (int64_t i = 0; i < facets->n; ++i)
        facets->cells[i] = -1;
    TRY(list_facets(&f, mesh->n_nodes, error));
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int v = 0; v <= d; ++v)
            give_cell(&f, mesh, c, v);
    for (int64_t i = 0; i < facets->n; ++i)
        if (facets->cells[i] < 0)
            TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "facet %lld of %s has no cell",
                               (long long)i, mesh->source));
done:
    free(f.start);
    free(f.list);
    return status;
}
