/* Numbers the edges, faces and cells of a mesh by their lowest vertex. An entity of a mesh is known
 * by its three lowest vertices: two quadrilaterals that share three are one. */
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

/* An entity of a cell, at its lowest vertex: its second and third lowest, and where it is. */
typedef struct entry {
    uint32_t second, third, slot;
} entry;

typedef struct numbering {
    const weft_mesh *mesh;
    const weft_cell *cell;
    int dimension, per_cell;
    uint32_t *start; /* [n_nodes + 2], of the entries of each vertex */
    entry *entries;
} numbering;

int weft_entity_nodes(const weft_mesh *mesh, int64_t cell, int dimension, int local,
                      int32_t nodes[8]) {
    const weft_cell *reference = weft_mesh_cell(mesh);
    const int32_t *vertices = mesh->cells + cell * reference->n_entities[0];
    int own[8];
    const int n = weft_cell_entity(reference, dimension, local, own);
    for (int i = 0; i < n; ++i)
        nodes[i] = vertices[own[i]];
    return n;
}

void weft_entity_lowest(int n, int32_t *nodes, uint32_t out[3]) {
    for (int k = 0; k < 3; ++k) {
        int least = k;
        for (int i = k + 1; i < n; ++i)
            if (nodes[i] < nodes[least])
                least = i;
        if (k < n) {
            const int32_t swapped = nodes[k];
            nodes[k] = nodes[least];
            nodes[least] = swapped;
        }
        out[k] = k < n ? (uint32_t)nodes[k] : 0;
    }
}

/* Count each entity of each cell at its lowest vertex, or put it there. */
static void visit(numbering *s, bool put) {
    for (int64_t c = 0; c < s->mesh->n_cells; ++c)
        for (int local = 0; local < s->per_cell; ++local) {
            int32_t nodes[8];
            uint32_t low[3];
            weft_entity_lowest(weft_entity_nodes(s->mesh, c, s->dimension, local, nodes), nodes,
                               low);
            if (!put) {
                ++s->start[low[0] + 2];
                continue;
            }
            const uint32_t slot = (uint32_t)(c * s->per_cell + local);
            const bool whole = s->dimension == s->cell->dimension; /* cells differ by themselves */
            s->entries[s->start[low[0] + 1]++] =
                (entry){whole ? slot : low[1], whole ? 0 : low[2], slot};
        }
}

static int compare(const void *a, const void *b) {
    const entry *p = a, *q = b;
    if (p->second != q->second)
        return p->second < q->second ? -1 : 1;
    if (p->third != q->third)
        return p->third < q->third ? -1 : 1;
    return (p->slot > q->slot) - (p->slot < q->slot);
}

static void sort_entries(entry *entries, size_t n) {
    if (n > 64) {
        qsort(entries, n, sizeof *entries, compare);
        return;
    }
    for (size_t i = 1; i < n; ++i) {
        const entry moved = entries[i];
        size_t k = i;
        for (; k > 0 && compare(&entries[k - 1], &moved) > 0; --k)
            entries[k] = entries[k - 1];
        entries[k] = moved;
    }
}

static void assign(const numbering *s, weft_entities *out) {
    int32_t n = 0;
    for (int64_t v = 0; v < s->mesh->n_nodes; ++v) {
        entry *entries = s->entries + s->start[v];
        const size_t count = s->start[v + 1] - s->start[v];
        out->first[v] = n;
        sort_entries(entries, count);
        for (size_t i = 0; i < count; ++i) {
            n += i == 0 || entries[i].second != entries[i - 1].second ||
                 entries[i].third != entries[i - 1].third;
            out->number[entries[i].slot] = n - 1;
        }
    }
    out->first[s->mesh->n_nodes] = n;
    out->n = n;
}

weft_status weft_entities_make(const weft_mesh *mesh, int dimension, weft_entities *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int per_cell = cell->n_entities[dimension];
    const int64_t n_slots = mesh->n_cells * per_cell;
    numbering s = {mesh, cell, dimension, per_cell, NULL, NULL};
    weft_entities made = {.dimension = dimension, .per_cell = per_cell};
    if (n_slots > UINT32_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%s: the %lld cells have 2^32 edges or faces or more", mesh->source,
                           (long long)mesh->n_cells));
    s.start = calloc((size_t)mesh->n_nodes + 2, sizeof *s.start);
    s.entries = malloc(((size_t)n_slots + 1) * sizeof *s.entries);
    made.number = malloc(((size_t)n_slots + 1) * sizeof *made.number);
    made.first = malloc(((size_t)mesh->n_nodes + 1) * sizeof *made.first);
    if (!s.start || !s.entries || !made.number || !made.first)
        TRY(weft_out_of_memory(error, "the edges and faces of a mesh"));
    visit(&s, false);
    for (int64_t v = 0; v <= mesh->n_nodes; ++v)
        s.start[v + 1] += s.start[v];
    visit(&s, true);
    assign(&s, &made);
    *out = made;
    made = (weft_entities){0};
done:
    free(s.start);
    free(s.entries);
    weft_entities_free(&made);
    return status;
}

void weft_entities_free(weft_entities *entities) {
    free(entities->number);
    free(entities->first);
    *entities = (weft_entities){0};
}

void weft_entity_slots(const weft_mesh *mesh, const weft_entities *entities, int64_t *slots,
                       int32_t *counts) {
    const int64_t n_slots = mesh->n_cells * entities->per_cell;
    for (int64_t i = 0; i < 2 * entities->n; ++i)
        slots[i] = -1;
    for (int64_t i = 0; counts && i < entities->n; ++i)
        counts[i] = 0;
    for (int64_t slot = 0; slot < n_slots; ++slot) {
        const int64_t entity = entities->number[slot];
        if (slots[2 * entity + 1] < 0)
            slots[2 * entity + (slots[2 * entity] >= 0)] = slot;
        if (counts)
            ++counts[entity];
    }
}

/* Whether the n nodes are those of the entity in this slot. */
static bool has_nodes(const weft_mesh *mesh, const weft_entities *entities, int64_t slot, int n,
                      const int32_t *nodes) {
    int32_t own[8];
    if (weft_entity_nodes(mesh, slot / entities->per_cell, entities->dimension,
                          (int)(slot % entities->per_cell), own) != n)
        return false;
    for (int i = 0; i < n; ++i) {
        bool found = false;
        for (int k = 0; k < n; ++k)
            found |= own[k] == nodes[i];
        if (!found)
            return false;
    }
    return true;
}

int64_t weft_entity_find(const weft_mesh *mesh, const weft_entities *entities, const int64_t *slots,
                         int n, const int32_t *nodes) {
    int32_t least = nodes[0];
    for (int i = 1; i < n; ++i)
        least = nodes[i] < least ? nodes[i] : least;
    for (int64_t e = entities->first[least]; e < entities->first[least + 1]; ++e)
        if (has_nodes(mesh, entities, slots[2 * e], n, nodes))
            return e;
    return -1;
}
