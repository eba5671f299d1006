/* Finds the cells of some facets of a mesh: each cell looks for its facets among those that have the same lowest vertex.
 * Few cells have a vertex that is the lowest of one. */
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"

#include <stdlib.h>

enum { CHUNKS = 256 };
static const int64_t NO_SLOT = INT64_MAX; /* while the lowest ones are looked for */

typedef struct key {
    uint32_t vertices[3]; /* the three lowest */
} key;

typedef struct search {
    const weft_mesh *mesh;
    const weft_cell *cell;
    key *keys;
    int32_t *start; /* [n_nodes + 1], of the facets whose lowest vertex each is */
    int32_t *list;
    int64_t *slots; /* [n][2], ascending */
} search;

/* Put a slot among the two lowest ones: each place takes the lower of two, and hands on the other. */
static void put_slot(int64_t *slots, int64_t slot) {
    for (int k = 0; k < 2; ++k) {
        int64_t found = __atomic_load_n(&slots[k], __ATOMIC_RELAXED);
        while (slot < found && !__atomic_compare_exchange_n(&slots[k], &found, slot, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        slot = slot < found ? found : slot;
    }
}

static void visit_cell(const search *s, int64_t c) {
    const int d = s->cell->dimension, v = s->cell->n_entities[0], n = s->cell->n_entities[d - 1];
    const int32_t *vertices = s->mesh->cells + c * v;
    bool is_near = false;
    for (int k = 0; k < v; ++k)
        is_near |= s->start[vertices[k] + 1] > s->start[vertices[k]];
    for (int local = 0; is_near && local < n; ++local) {
        int32_t nodes[8];
        key own;
        weft_entity_lowest(weft_entity_nodes(s->mesh, c, d - 1, local, nodes), nodes, own.vertices);
        const int32_t last = s->start[own.vertices[0] + 1];
        for (int32_t i = s->start[own.vertices[0]]; i < last; ++i) {
            const key *other = &s->keys[s->list[i]];
            if (other->vertices[1] == own.vertices[1] && other->vertices[2] == own.vertices[2])
                put_slot(s->slots + 2 * (int64_t)s->list[i], c * n + local);
        }
    }
}

static void visit_chunk(void *user, int64_t chunk) {
    const search *s = user;
    const int64_t n = s->mesh->n_cells, end = n * (chunk + 1) / CHUNKS;
    for (int64_t c = n * chunk / CHUNKS; c < end; ++c)
        visit_cell(s, c);
}

/* List the facets by their lowest vertices. */
static void list_facets(search *s, int64_t n, const int32_t *nodes) {
    const int w = weft_mesh_facet_vertices(s->mesh);
    for (int64_t i = 0; i < n; ++i) {
        int32_t own[8];
        for (int k = 0; k < w; ++k)
            own[k] = nodes[i * w + k];
        weft_entity_lowest(w, own, s->keys[i].vertices);
        ++s->start[s->keys[i].vertices[0] + 2];
    }
    for (int64_t v = 0; v <= s->mesh->n_nodes; ++v)
        s->start[v + 1] += s->start[v];
    for (int64_t i = 0; i < n; ++i)
        s->list[s->start[s->keys[i].vertices[0] + 1]++] = (int32_t)i;
}

weft_status weft_facet_slots(weft_device *device, const weft_mesh *mesh, int64_t n,
                             const int32_t *nodes, int64_t *slots, weft_error *error) {
    weft_status status = WEFT_OK;
    search s = {.mesh = mesh, .cell = weft_mesh_cell(mesh), .slots = slots};
    s.keys = malloc(((size_t)n + 1) * sizeof *s.keys);
    s.list = malloc(((size_t)n + 1) * sizeof *s.list);
    s.start = calloc((size_t)mesh->n_nodes + 2, sizeof *s.start);
    if (!s.keys || !s.list || !s.start)
        TRY(weft_out_of_memory(error, "the sides of the facets"));
    for (int64_t i = 0; i < 2 * n; ++i)
        slots[i] = NO_SLOT;
    list_facets(&s, n, nodes);
    TRY(weft_device_for(device, CHUNKS, visit_chunk, &s, error));
    for (int64_t i = 0; i < 2 * n; ++i)
        slots[i] = slots[i] == NO_SLOT ? -1 : slots[i];
done:
    free(s.keys);
    free(s.list);
    free(s.start);
    return status;
}
