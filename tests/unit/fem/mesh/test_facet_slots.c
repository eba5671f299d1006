/* labels: quick */
/* The two lowest slots of some facets, inside and on the boundary, on shuffled meshes of all cells: those of a search
 * through all facets of all cells by their vertices. */
#include "fem/mesh/entities.h"
#include "shuffled_mesh.h"

static const char *const names[] = {"interval:5", "square:3", "quads:3", "cube:2", "hexes:2"};
enum { N_MESHES = 5, SLOTS = 1000 };

static bool has_all(int n, const int32_t *nodes, const int32_t *others) {
    int found = 0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            found += nodes[i] == others[k];
    return found == n;
}

/* Every second facet of all cells, which names most of those inside twice; its vertices in another order. */
static void check_mesh(weft_device *device, const weft_mesh *mesh) {
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int d = mesh->dimension, per_cell = cell->n_entities[d - 1];
    const int64_t n_slots = mesh->n_cells * per_cell;
    int32_t wanted[SLOTS * 4], nodes[8];
    int64_t slots[2 * SLOTS], n = 0;
    int w = 0;
    assert_true(n_slots <= SLOTS);
    for (int64_t slot = 0; slot < n_slots; slot += 2, ++n) {
        w = weft_entity_nodes(mesh, slot / per_cell, d - 1, (int)(slot % per_cell), nodes);
        for (int k = 0; k < w; ++k)
            wanted[n * w + k] = nodes[(k + (int)slot) % w];
    }
    assert_int_equal(weft_facet_slots(device, mesh, n, wanted, slots, NULL), WEFT_OK);
    for (int64_t i = 0; i < n; ++i) {
        int64_t expected[2] = {-1, -1};
        for (int64_t slot = 0, found = 0; slot < n_slots && found < 2; ++slot) {
            weft_entity_nodes(mesh, slot / per_cell, d - 1, (int)(slot % per_cell), nodes);
            if (has_all(w, nodes, wanted + i * w))
                expected[found++] = slot;
        }
        assert_memory_equal(slots + 2 * i, expected, sizeof expected);
    }
}

static void lowest_slots(void **state) {
    (void)state;
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    for (int i = 0; i < N_MESHES; ++i) {
        weft_mesh *straight = built_in_mesh(names[i]), *mesh = shuffled_mesh(straight);
        check_mesh(device, mesh);
        check_mesh(NULL, mesh);
        weft_mesh_free(&straight);
        weft_mesh_free(&mesh);
    }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lowest_slots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
