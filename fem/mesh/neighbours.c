/* Finds the cells behind the facets of those that ranks have. */
#include "core/base/fault.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/part.h"

#include <stdlib.h>

typedef struct search {
    const weft_mesh *mesh;
    const int64_t *starts;
    int n_ranks, n_vertices; /* of a cell */
    /* ranks that have cells of which no node is theirs: those of cell c are ranks[first[c]] to ranks[first[c + 1]] */
    int64_t *first;
    int32_t *ranks;
    weft_part_cells *found;
} search;

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "the part of a mesh");
}

/* List by cells what is given by ranks. */
static weft_status list_ranks(search *s, weft_error *error) {
    const int64_t n = s->mesh->n_cells;
    s->first = calloc((size_t)n + 2, sizeof *s->first);
    s->ranks = malloc((size_t)s->found->n * sizeof *s->ranks + 1);
    if (!s->first || !s->ranks)
        return no_memory(error);
    for (int64_t i = 0; i < s->found->n; ++i)
        ++s->first[s->found->list[i].cell + 2];
    for (int64_t c = 0; c <= n; ++c)
        s->first[c + 1] += s->first[c];
    for (int64_t i = 0; i < s->found->n; ++i)
        s->ranks[s->first[s->found->list[i].cell + 1]++] = s->found->list[i].rank;
    return WEFT_OK;
}

static int owner_of_corner(const search *s, int32_t cell, int corner) {
    const int32_t node = s->mesh->cells[(int64_t)cell * s->n_vertices + corner];
    return weft_part_owner_of(s->starts, s->n_ranks, node);
}

/* A rank that has the cell before a facet gets the one behind it. */
static weft_status give(search *s, int rank, int32_t behind, weft_error *error) {
    for (int k = 0; k < s->n_vertices; ++k)
        if (owner_of_corner(s, behind, k) == rank)
            return WEFT_OK;
    return weft_fault("cell_behind_missing") ? WEFT_OK
                                             : weft_part_cells_add(s->found, rank, behind, error);
}

static weft_status visit(search *s, int32_t before, int32_t behind, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < s->n_vertices; ++k)
        TRY(give(s, owner_of_corner(s, before, k), behind, error));
    for (int64_t i = s->first[before]; i < s->first[before + 1]; ++i)
        TRY(give(s, s->ranks[i], behind, error));
done:
    return status;
}

weft_status weft_part_cells_behind(weft_device *device, const weft_mesh *whole,
                                   const int64_t *starts, int n_ranks, weft_part_cells *cells,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    search s = {.mesh = whole,
                .starts = starts,
                .n_ranks = n_ranks,
                .n_vertices = weft_mesh_cell_vertices(whole),
                .found = cells};
    TRY(list_ranks(&s, error));
    TRY(weft_sides_interior(device, whole, -1, &sides, error));
    for (int64_t i = 0; i < 2 * sides.n; ++i)
        TRY(visit(&s, sides.cells[i], sides.cells[i ^ 1], error));
    weft_part_cells_sort(cells);
done:
    weft_sides_free(&sides);
    free(s.first);
    free(s.ranks);
    return status;
}
