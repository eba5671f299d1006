/** Built-in meshes with shuffled nodes and reoriented cells. */
#ifndef SHUFFLED_MESH_H
#define SHUFFLED_MESH_H

#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static inline uint32_t shuffle_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/** The vertices of a cell in the order of another of its symmetries. */
static inline void reorient_cell(const weft_cell *cell, uint32_t *seed, int32_t *nodes) {
    int32_t old[8];
    const int v = cell->n_entities[0], d = cell->dimension;
    memcpy(old, nodes, (size_t)v * sizeof *old);
    const int flip = (int)(shuffle_random(seed) % 8), first = (int)(shuffle_random(seed) % 3);
    for (int i = 0; i < v; ++i) {
        int bits = 0;
        for (int axis = 0; axis < d; ++axis)
            bits |= (i >> axis & 1) << ((axis + first) % d);
        nodes[i] = cell->simplex ? old[(i + flip) % v] : old[bits ^ (flip & (v - 1))];
    }
}

static inline weft_mesh *built_in_mesh(const char *name) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    if (weft_mesh_read(name, 0, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

/** The same mesh with other node numbers and other orders of the vertices of cells. */
static inline weft_mesh *shuffled_mesh(const weft_mesh *from) {
    const weft_cell *cell = weft_mesh_cell(from);
    const int d = cell->dimension, v = cell->n_entities[0];
    const size_t n = (size_t)from->n_nodes;
    uint32_t seed = 7;
    weft_mesh_data data = {
        .dimension = d, .cell = cell->type, .n_nodes = from->n_nodes, .n_cells = from->n_cells};
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    int32_t *number = malloc(n * sizeof *number);
    data.x = weft_array_make(n, (size_t)d * sizeof *data.x);
    data.cells = weft_array_make((size_t)from->n_cells, (size_t)v * sizeof *data.cells);
    assert_true(number && data.x && data.cells);
    for (size_t i = 0; i < n; ++i) {
        const size_t k = shuffle_random(&seed) % (i + 1);
        number[i] = number[k];
        number[k] = (int32_t)i;
    }
    for (size_t i = 0; i < n; ++i)
        memcpy(data.x + (size_t)number[i] * (size_t)d, from->x + i * (size_t)d,
               (size_t)d * sizeof *data.x);
    for (int64_t c = 0; c < from->n_cells; ++c) {
        for (int i = 0; i < v; ++i)
            data.cells[c * v + i] = number[from->cells[c * v + i]];
        reorient_cell(cell, &seed, data.cells + c * v);
    }
    if (weft_mesh_make(&data, "shuffled", NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    free(number);
    return mesh;
}

#endif
