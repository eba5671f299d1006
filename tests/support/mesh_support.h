/** What the tests of meshes share: facets found by sorting them all, and meshes taken apart. */
#ifndef WEFT_MESH_SUPPORT_H
#define WEFT_MESH_SUPPORT_H

#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Fails unless the call gave this status and exactly this text (weft_error_text). */
#define assert_error(call, wanted_status, wanted_text)                                             \
    do {                                                                                           \
        weft_error error_of = {0};                                                                 \
        (void)error_of;                                                                            \
        weft_error *error = &error_of;                                                             \
        char text_of[4096];                                                                        \
        assert_int_equal((call), (wanted_status));                                                 \
        weft_error_text(error, text_of, sizeof text_of);                                           \
        assert_string_equal(text_of, (wanted_text));                                               \
    } while (0)

static inline int compare_int32(const void *a, const void *b) {
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

static inline int compare_keys(const void *a, const void *b) {
    return memcmp(a, b, 3 * sizeof(int32_t));
}

/** Every facet of every cell as 3 ascending nodes (2D: the first is -1), sorted; malloc'd. */
static inline int32_t (*sorted_facets(const weft_mesh *mesh, size_t *n))[3] {
    int d = mesh->dimension;
    int32_t(*all)[3] = calloc((size_t)mesh->n_cells * (size_t)(d + 1) + 1, sizeof *all);
    assert_non_null(all);
    *n = 0;
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int k = 0; k <= d; ++k, ++*n) {
            int m = 0;
            all[*n][2] = -1;
            for (int i = 0; i <= d; ++i)
                if (i != k)
                    all[*n][m++] = mesh->cells[c * (d + 1) + i];
            qsort(all[*n], 3, sizeof(int32_t), compare_int32);
        }
    qsort(all, *n, sizeof *all, compare_keys);
    return all;
}

/** The distinct facets, and how many cells have each; counts malloc'd too. */
static inline int32_t (*distinct_facets(const weft_mesh *mesh, size_t *n, int **counts))[3] {
    size_t n_all, m = 0;
    int32_t(*all)[3] = sorted_facets(mesh, &n_all);
    *counts = calloc(n_all + 1, sizeof **counts);
    assert_non_null(*counts);
    for (size_t i = 0; i < n_all; ++i) {
        if (m > 0 && compare_keys(all[m - 1], all[i]) == 0) {
            ++(*counts)[m - 1];
            continue;
        }
        memmove(all[m], all[i], sizeof all[i]);
        (*counts)[m++] = 1;
    }
    *n = m;
    return all;
}

static inline size_t count_edges(const weft_mesh *mesh) {
    int d = mesh->dimension;
    size_t n = 0, distinct = 0;
    int32_t(*all)[3] = calloc((size_t)mesh->n_cells * 6 + 1, sizeof *all);
    assert_non_null(all);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int i = 0; i < d; ++i)
            for (int j = i + 1; j <= d; ++j, ++n) {
                int32_t a = mesh->cells[c * (d + 1) + i], b = mesh->cells[c * (d + 1) + j];
                all[n][0] = a < b ? a : b;
                all[n][1] = a < b ? b : a;
            }
    qsort(all, n, sizeof *all, compare_keys);
    for (size_t i = 0; i < n; ++i)
        distinct += i == 0 || compare_keys(all[i - 1], all[i]) != 0;
    free(all);
    return distinct;
}

/** Length or area of a facet times its normal: of (a, b) the right one, of (a, b, c) u x v / 2. */
static inline void facet_normal(const weft_mesh *mesh, const int32_t *nodes, double out[3]) {
    const double *x = mesh->x;
    if (mesh->dimension == 2) {
        out[0] = x[2 * nodes[1] + 1] - x[2 * nodes[0] + 1];
        out[1] = x[2 * nodes[0]] - x[2 * nodes[1]];
        out[2] = 0;
        return;
    }
    double u[3], v[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = x[3 * nodes[1] + k] - x[3 * nodes[0] + k];
        v[k] = x[3 * nodes[2] + k] - x[3 * nodes[0] + k];
    }
    for (int k = 0; k < 3; ++k)
        out[k] = (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]) / 2;
}

static inline void *copy_array(const void *from, size_t bytes) {
    void *copy = weft_array_make(bytes, 1);
    assert_non_null(copy);
    if (bytes)
        memcpy(copy, from, bytes);
    return copy;
}

/** The arrays of a mesh as a reader would have them; the caller's. */
static inline weft_mesh_data take_apart(const weft_mesh *mesh) {
    size_t d = (size_t)mesh->dimension;
    weft_mesh_data data = {.dimension = mesh->dimension,
                           .n_nodes = mesh->n_nodes,
                           .n_cells = mesh->n_cells,
                           .n_groups = mesh->n_groups};
    data.x = copy_array(mesh->x, (size_t)mesh->n_nodes * d * sizeof *data.x);
    data.cells = copy_array(mesh->cells, (size_t)mesh->n_cells * (d + 1) * sizeof *data.cells);
    data.groups = copy_array(mesh->groups, (size_t)mesh->n_groups * sizeof *data.groups);
    for (int g = 0; g < mesh->n_groups; ++g)
        data.n_group_facets += mesh->groups[g].n_facets;
    data.group_facet_nodes =
        weft_array_make((size_t)data.n_group_facets, d * sizeof *data.group_facet_nodes);
    assert_non_null(data.group_facet_nodes);
    for (int64_t i = 0; i < data.n_group_facets; ++i)
        memcpy(data.group_facet_nodes + (size_t)i * d,
               mesh->facets + (size_t)mesh->group_facets[i] * d, d * sizeof(int32_t));
    return data;
}

static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Each number of 0 .. n-1 once, in an order that depends on seed; malloc'd. */
static inline int32_t *random_order(int64_t n, uint64_t seed) {
    int32_t *out = malloc(((size_t)n + 1) * sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < n; ++i)
        out[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; --i) {
        int64_t j = (int64_t)(random_next(&seed) % (uint64_t)(i + 1));
        int32_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
    return out;
}

static inline weft_mesh *make_mesh(int dimension, int64_t n) {
    weft_mesh *mesh = NULL;
    assert_int_equal(dimension == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                                    : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    return mesh;
}

/** The whole boundary, found by sorting, is what the mesh says, each facet once and outward: the
 *  integral of the normal is zero, and that of x.n / d is the volume (divergence theorem). */
static inline void check_boundary(const weft_mesh *mesh) {
    size_t n, n_boundary = 0, n_found = (size_t)mesh->n_boundary_facets;
    int *counts, d = mesh->dimension;
    int32_t(*facets)[3] = distinct_facets(mesh, &n, &counts);
    int32_t(*found)[3] = calloc(n_found + 1, sizeof *found);
    assert_non_null(found);
    double flux = 0, volume = 0, sum[3] = {0, 0, 0};
    for (size_t i = 0; i < n_found; ++i) {
        const int32_t *nodes = mesh->facets + i * (size_t)d;
        double normal[3];
        facet_normal(mesh, nodes, normal);
        found[i][2] = -1;
        memcpy(found[i], nodes, (size_t)d * sizeof *nodes);
        qsort(found[i], 3, sizeof(int32_t), compare_int32);
        for (int k = 0; k < d; ++k) {
            sum[k] += normal[k];
            for (int v = 0; v < d; ++v)
                flux += normal[k] * mesh->x[(int64_t)nodes[v] * d + k] / d / d;
        }
    }
    qsort(found, n_found, sizeof *found, compare_keys);
    for (size_t i = 0; i < n; ++i) {
        assert_in_range(counts[i], 1, 2);
        if (counts[i] != 1)
            continue;
        assert_true(n_boundary < n_found);
        assert_memory_equal(found[n_boundary], facets[i], sizeof facets[i]);
        ++n_boundary;
    }
    assert_int_equal(n_boundary, n_found);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        volume += weft_cell_volume(d, mesh->x, mesh->cells + c * (d + 1));
    assert_double_near(flux, volume, 1e-12, 0);
    for (int k = 0; k < d; ++k)
        assert_double_near(sum[k], 0, 0, 1e-12);
    free(facets);
    free(counts);
    free(found);
}

#endif
