/* Finds the cells on the sides of facets, and the order of their vertices that is the same from
 * both sides. */
#include "core/base/fault.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

static weft_status allocate(int64_t n, int n_sides, weft_sides *out, weft_error *error) {
    const size_t size = (size_t)n * (size_t)n_sides;
    *out = (weft_sides){.n = n, .n_sides = n_sides};
    out->cells = weft_array_make(size, sizeof *out->cells);
    out->local = calloc(size + 1, sizeof *out->local);
    return out->cells && out->local ? WEFT_OK
                                    : weft_out_of_memory(error, "the sides of the facets");
}

void weft_sides_free(weft_sides *sides) {
    free(sides->cells);
    free(sides->local);
    *sides = (weft_sides){0};
}

static int facets_of_cell(const weft_mesh *mesh) {
    return weft_mesh_cell(mesh)->n_entities[mesh->dimension - 1];
}

static void set_side(const weft_mesh *mesh, weft_sides *out, int64_t i, int64_t slot) {
    out->cells[i] = (int32_t)(slot / facets_of_cell(mesh));
    out->local[i] = (unsigned char)(slot % facets_of_cell(mesh));
}

/* Facets of dimension 0 are numbered as vertices. */
static weft_status make_facets(weft_device *device, const weft_mesh *mesh, weft_entities *facets,
                               int64_t **slots, weft_error *error) {
    weft_status status = weft_entities_make(device, mesh, mesh->dimension - 1, facets, error);
    if (status != WEFT_OK)
        return status;
    *slots = malloc(((size_t)facets->n * 2 + 1) * sizeof **slots);
    if (!*slots)
        return weft_out_of_memory(error, "the sides of the facets");
    weft_entity_slots(mesh, facets, *slots, NULL);
    return WEFT_OK;
}

typedef enum wanted { ANY, EXTERIOR, INTERIOR } wanted;

/* Which of the two sides is in the marked cells; -1: none, 2: both. */
static int side_in(const unsigned char *marks, int per_cell, const int64_t found[2]) {
    bool is_in[2];
    for (int side = 0; side < 2; ++side)
        is_in[side] = found[side] >= 0 && marks[found[side] / per_cell];
    return is_in[0] && is_in[1] ? 2 : is_in[0] ? 0 : is_in[1] ? 1 : -1;
}

/* Is facet i of a group wanted? In the part of a rank an interior facet can have one cell, and then has no use. */
static bool is_wanted(const weft_mesh *mesh, int group, int64_t i, wanted kind,
                      const int64_t found[2]) {
    const int64_t number = group < 0 ? i : mesh->group_facets[mesh->groups[group].first_facet + i];
    const bool is_exterior = number < mesh->n_boundary_facets;
    return kind == ANY || (kind == EXTERIOR ? is_exterior : !is_exterior && found[1] >= 0);
}

/* With marks [n_cells]: of ANY facets, those that have a side in the marked cells, with that side.
 * two  the number of facets with both sides there, which are left out; may be NULL */
static weft_status sides_of_group(weft_device *device, const weft_mesh *mesh, int group,
                                  wanted kind, const unsigned char *marks, weft_sides *out,
                                  int64_t *two, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    int64_t *slots = NULL, n = 0, kept = 0;
    int32_t *nodes = NULL;
    const int n_sides = kind == INTERIOR ? 2 : 1;
    TRY(weft_mesh_group_facets(mesh, group, &nodes, &n, error));
    TRY(allocate(n, n_sides, &sides, error));
    slots = malloc(((size_t)n * 2 + 1) * sizeof *slots);
    if (!slots)
        TRY(weft_out_of_memory(error, "the sides of the facets"));
    if (n > 0)
        TRY(weft_facet_slots(device, mesh, n, nodes, slots, error));
    for (int64_t i = 0; i < n; ++i) {
        const int64_t *found = slots + 2 * i;
        if (!is_wanted(mesh, group, i, kind, found))
            continue;
        const int only = marks ? side_in(marks, facets_of_cell(mesh), found) : 0;
        if (only == 2)
            ++*two;
        if (only < 0 || only > 1)
            continue;
        if (marks) {
            set_side(mesh, &sides, kept++, found[only]);
            continue;
        }
        for (int side = 0; side < n_sides; ++side)
            set_side(mesh, &sides, kept++, found[side]);
    }
    sides.n = kept / n_sides;
    *out = sides;
    sides = (weft_sides){0};
done:
    weft_sides_free(&sides);
    free(slots);
    free(nodes);
    return status;
}

weft_status weft_sides_of_group(weft_device *device, const weft_mesh *mesh, int group,
                                weft_sides *out, weft_error *error) {
    return sides_of_group(device, mesh, group, ANY, NULL, out, NULL, error);
}

weft_status weft_sides_of_cells(weft_device *device, const weft_mesh *mesh, int group, int cells,
                                weft_sides *out, int64_t *two, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_group *from = &mesh->groups[cells];
    unsigned char *marks = weft_array_make((size_t)mesh->n_cells, 1);
    *two = 0;
    if (!marks)
        TRY(weft_out_of_memory(error, "the sides of the facets"));
    for (int64_t i = 0; i < from->n_cells; ++i)
        marks[mesh->group_cells[from->first_cell + i]] = 1;
    TRY(sides_of_group(device, mesh, group, ANY, marks, out, two, error));
done:
    free(marks);
    return status;
}

weft_status weft_sides_exterior(weft_device *device, const weft_mesh *mesh, int group,
                                weft_sides *out, weft_error *error) {
    return sides_of_group(device, mesh, group, EXTERIOR, NULL, out, NULL, error);
}

weft_status weft_sides_interior(weft_device *device, const weft_mesh *mesh, int group,
                                weft_sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_entities facets = {0};
    weft_sides sides = {0};
    int64_t *slots = NULL, n = 0;
    if (group >= 0) {
        status = sides_of_group(device, mesh, group, INTERIOR, NULL, out, NULL, error);
        goto done;
    }
    TRY(make_facets(device, mesh, &facets, &slots, error));
    for (int64_t f = 0; f < facets.n; ++f)
        n += slots[2 * f + 1] >= 0;
    const int times = mesh->part && weft_fault("facet_counted_twice") ? 2 : 1;
    TRY(allocate(n * times, 2, &sides, error));
    n = 0;
    for (int64_t f = 0; f < facets.n; ++f)
        for (int side = 0; side < 2 * times && slots[2 * f + 1] >= 0; ++side)
            set_side(mesh, &sides, n++, slots[2 * f + side % 2]);
    *out = sides;
    sides = (weft_sides){0};
done:
    weft_entities_free(&facets);
    weft_sides_free(&sides);
    free(slots);
    return status;
}

/* Complete the order of a quadrilateral's or hexahedron's vertices from those at the ends of its
 * first axes: vertices are numbered by bits, one an axis. */
static void complete(int d, int vertices[8]) {
    const int origin = vertices[0];
    for (int v = 1; v < 1 << d; ++v) {
        int bits = 0;
        for (int axis = 0; axis < d; ++axis)
            if (v >> axis & 1)
                bits ^= vertices[1 << axis] ^ origin;
        if ((v & (v - 1)) != 0)
            vertices[v] = origin ^ bits;
    }
}

static void order_cube(const weft_cell *cell, const int32_t *nodes, const int *facet, int n,
                       int vertices[8]) {
    const int d = cell->dimension;
    int least = 0;
    for (int i = 1; i < n; ++i)
        if (nodes[facet[i]] < nodes[facet[least]])
            least = i;
    const int origin = facet[least];
    int fixed = 0; /* bits of the axis across the facet */
    for (int axis = 0; axis < d; ++axis) {
        bool differs = false;
        for (int i = 1; i < n; ++i)
            differs |= ((facet[i] ^ facet[0]) >> axis & 1) != 0;
        fixed |= !differs << axis;
    }
    int along[2] = {0, 0}, n_along = 0;
    for (int axis = 0; axis < d; ++axis)
        if (!(fixed >> axis & 1))
            along[n_along++] = origin ^ 1 << axis;
    if (n_along == 2 && nodes[along[1]] < nodes[along[0]] && !weft_fault("facet_unsorted")) {
        const int swapped = along[0];
        along[0] = along[1];
        along[1] = swapped;
    }
    vertices[0] = origin;
    for (int k = 0; k < n_along; ++k)
        vertices[1 << k] = along[k];
    vertices[1 << n_along] = origin ^ fixed;
    complete(d, vertices);
}

void weft_side_order(const weft_mesh *mesh, int64_t cell, int local, int vertices[8]) {
    const weft_cell *reference = weft_mesh_cell(mesh);
    const int d = reference->dimension, v = reference->n_entities[0];
    const int32_t *nodes = mesh->cells + cell * v;
    int facet[8];
    const int n = weft_cell_entity(reference, d - 1, local, facet);
    if (d == 1 || !reference->simplex) {
        order_cube(reference, nodes, facet, n, vertices);
        return;
    }
    for (int i = 1; i < n && !weft_fault("facet_unsorted"); ++i) /* ascending */
        for (int k = i; k > 0 && nodes[facet[k]] < nodes[facet[k - 1]]; --k) {
            const int swapped = facet[k];
            facet[k] = facet[k - 1];
            facet[k - 1] = swapped;
        }
    memcpy(vertices, facet, (size_t)n * sizeof *vertices);
    vertices[n] = local; /* facet k of a simplex is opposite vertex k */
}
