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

enum { CHUNKS = 256 };

typedef struct numbering {
    const weft_mesh *mesh;
    const weft_cell *cell;
    int dimension, per_cell, n_vertices; /* of an entity */
    int vertices[12][8];                 /* of the entities of the reference cell */
    uint32_t *start;                     /* [n_nodes + 2], of the entries of each vertex */
    entry *entries;
    int32_t of_chunk[CHUNKS + 1]; /* entities of the vertices of each chunk, then of those before */
    weft_entities *out;
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

/* An entity of a cell: the three lowest vertices. */
static void lowest_of(const numbering *s, int64_t cell, int local, uint32_t low[3]) {
    const int32_t *vertices = s->mesh->cells + cell * s->cell->n_entities[0];
    int32_t nodes[8];
    for (int i = 0; i < s->n_vertices; ++i)
        nodes[i] = vertices[s->vertices[local][i]];
    weft_entity_lowest(s->n_vertices, nodes, low);
}

/* Count each entity of each cell at its lowest vertex. */
static void count_chunk(void *user, int64_t chunk) {
    const numbering *s = user;
    const int64_t n = s->mesh->n_cells, end = n * (chunk + 1) / CHUNKS;
    uint32_t low[3];
    for (int64_t c = n * chunk / CHUNKS; c < end; ++c)
        for (int local = 0; local < s->per_cell; ++local) {
            lowest_of(s, c, local, low);
            __atomic_fetch_add(&s->start[low[0] + 2], 1, __ATOMIC_RELAXED);
        }
}

/* Put it there, in any order. */
static void put_chunk(void *user, int64_t chunk) {
    const numbering *s = user;
    const int64_t n = s->mesh->n_cells, end = n * (chunk + 1) / CHUNKS;
    const bool whole = s->dimension == s->cell->dimension; /* cells differ by themselves */
    uint32_t low[3];
    for (int64_t c = n * chunk / CHUNKS; c < end; ++c)
        for (int local = 0; local < s->per_cell; ++local) {
            lowest_of(s, c, local, low);
            const uint32_t slot = (uint32_t)(c * s->per_cell + local);
            s->entries[__atomic_fetch_add(&s->start[low[0] + 1], 1, __ATOMIC_RELAXED)] =
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

static bool is_another(const entry *entries, size_t i) {
    return i == 0 || entries[i].second != entries[i - 1].second ||
           entries[i].third != entries[i - 1].third;
}

/* Sort the entries of the vertices of a chunk, and count their entities. */
static void sort_chunk(void *user, int64_t chunk) {
    numbering *s = user;
    const int64_t n = s->mesh->n_nodes, end = n * (chunk + 1) / CHUNKS;
    int32_t found = 0;
    for (int64_t v = n * chunk / CHUNKS; v < end; ++v) {
        entry *entries = s->entries + s->start[v];
        const size_t count = s->start[v + 1] - s->start[v];
        sort_entries(entries, count);
        for (size_t i = 0; i < count; ++i)
            found += is_another(entries, i);
    }
    s->of_chunk[chunk + 1] = found;
}

static void assign_chunk(void *user, int64_t chunk) {
    const numbering *s = user;
    const int64_t n = s->mesh->n_nodes, end = n * (chunk + 1) / CHUNKS;
    int32_t next = s->of_chunk[chunk];
    for (int64_t v = n * chunk / CHUNKS; v < end; ++v) {
        const entry *entries = s->entries + s->start[v];
        s->out->first[v] = next;
        for (size_t i = 0; i < s->start[v + 1] - s->start[v]; ++i) {
            next += is_another(entries, i);
            s->out->number[entries[i].slot] = next - 1;
        }
    }
}

/* List, sort and number the entities. */
static weft_status number(weft_device *device, numbering *s, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < s->per_cell; ++i)
        s->n_vertices = weft_cell_entity(s->cell, s->dimension, i, s->vertices[i]);
    TRY(weft_device_for(device, CHUNKS, count_chunk, s, error));
    for (int64_t v = 0; v <= s->mesh->n_nodes; ++v)
        s->start[v + 1] += s->start[v];
    TRY(weft_device_for(device, CHUNKS, put_chunk, s, error));
    TRY(weft_device_for(device, CHUNKS, sort_chunk, s, error));
    for (int chunk = 0; chunk < CHUNKS; ++chunk)
        s->of_chunk[chunk + 1] += s->of_chunk[chunk];
    TRY(weft_device_for(device, CHUNKS, assign_chunk, s, error));
    s->out->n = s->out->first[s->mesh->n_nodes] = s->of_chunk[CHUNKS];
done:
    return status;
}

weft_status weft_entities_make(weft_device *device, const weft_mesh *mesh, int dimension,
                               weft_entities *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int per_cell = cell->n_entities[dimension];
    const int64_t n_slots = mesh->n_cells * per_cell;
    weft_entities made = {.dimension = dimension, .per_cell = per_cell};
    numbering s = {
        .mesh = mesh, .cell = cell, .dimension = dimension, .per_cell = per_cell, .out = &made};
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
    TRY(number(device, &s, error));
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
