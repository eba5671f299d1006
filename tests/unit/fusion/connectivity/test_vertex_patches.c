/* labels: quick */
/* Rings against brute force: walked as a kernel walks them, every cell comes once a corner, evenly
 * renumbered; a product of integers is exact. Meshes: squares and cubes in order and shuffled, and
 * by hand hubs, isolated nodes, facets that three cells share, a cell twice, reversed cells. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH_MOST = 4 };

/* One evaluation: node, the other vertices, the cell. */
typedef struct visit {
    int32_t v[WIDTH_MOST], cell;
} visit;

typedef struct walked {
    visit *visits;
    int64_t n, n_words, n_skips;
    int64_t *seen; /* how often each node was walked */
} walked;

static const void *host(const weft_memory *memory) {
    return weft_memory_host(memory);
}

/* Rotations that keep the first vertex are even: the least of the three. */
static void canonical(visit *a, int width) {
    int32_t least[3];
    for (int iteration = 0; width == 4 && iteration < 3; ++iteration) {
        const int32_t rotated[3] = {a->v[1 + iteration], a->v[1 + (iteration + 1) % 3],
                                    a->v[1 + (iteration + 2) % 3]};
        if (iteration == 0 || memcmp(rotated, least, sizeof least) < 0)
            memcpy(least, rotated, sizeof least);
    }
    if (width == 4)
        memcpy(a->v + 1, least, sizeof least);
}

static int compare_visits(const void *a, const void *b) {
    return memcmp(a, b, sizeof(visit));
}

static int32_t global(const weft_patches *patches, int64_t patch, int local) {
    const int64_t *start = host(patches->halo_start);
    const int32_t *halo = host(patches->halo);
    if (local < patches->options.nodes) {
        assert_true(patch * patches->options.nodes + local < patches->n_nodes);
        return (int32_t)(patch * patches->options.nodes + local);
    }
    assert_true(local - patches->options.nodes < start[patch + 1] - start[patch]);
    return halo[start[patch] + local - patches->options.nodes];
}

/* The words of one slot, as the head of fusion/connectivity/vertex_patches.h says. */
static void walk_slot(const weft_patches *patches, int64_t patch, int slot, walked *out) {
    const int iterations = weft_patch_walks(patches->options.nodes),
              n_warps = weft_patch_warps(patches->options.nodes);
    const int iteration = slot % iterations, thread = slot / iterations;
    const uint32_t *row =
        (const uint32_t *)host(patches->rows) + 4 * (patch * n_warps + thread / WEFT_PATCH_LANES);
    const uint16_t *words = host(patches->words);
    const int32_t *cells = host(patches->cells);
    const int node =
        ((const uint16_t *)host(patches->order))[patch * patches->options.nodes + slot];
    const int lane = thread % WEFT_PATCH_LANES, width = patches->width;
    uint32_t start = row[0], length = 0;
    for (int t = 0; t <= iteration; ++t) {
        start += t > 0 ? (length > WEFT_PATCH_GROUP ? (length + 3) / WEFT_PATCH_GROUP : 1) : 0;
        length = row[1 + t / 2] >> 16 * (t % 2) & 65535;
    }
    int32_t p = 0, q = 0, r = 0;
    if (patch * patches->options.nodes + node < patches->n_nodes)
        ++out->seen[patch * patches->options.nodes + node];
    for (uint32_t i = 0; i < length; ++i) {
        const uint32_t group = start + i / WEFT_PATCH_GROUP, j = i % WEFT_PATCH_GROUP;
        const int word = words[(group * WEFT_PATCH_LANES + (uint32_t)lane) * WEFT_PATCH_GROUP + j];
        const int32_t e = word & WORD_LOCAL;
        ++out->n_words;
        if (word & WORD_ROTATED || width == 3) {
            q = r;
        } else {
            p = r;
        }
        r = e;
        if (word & WORD_SKIP) {
            ++out->n_skips;
            continue;
        }
        assert_true(i + 2 >= (uint32_t)width);
        visit *made = &out->visits[out->n++];
        *made = (visit){
            .cell = cells[(group * WEFT_PATCH_GROUP + j) * WEFT_PATCH_LANES + (uint32_t)lane]};
        const int32_t local[2][4] = {{node, q, r, 0}, {node, p, q, r}};
        for (int v = 0; v < width; ++v)
            made->v[v] = global(patches, patch, local[width - 3][v]);
        canonical(made, width);
    }
}

/* Each corner of each cell, by itself. */
static visit *brute_force(const int32_t *indices, int64_t n_cells, int width) {
    visit *all = calloc((size_t)(n_cells * width) + 1, sizeof *all);
    for (int64_t c = 0; c < n_cells; ++c)
        for (int l = 0; l < width; ++l) {
            visit *a = &all[c * width + l];
            const int32_t *v = indices + c * width;
            a->cell = (int32_t)c;
            if (width == 3) {
                for (int i = 0; i < 3; ++i)
                    a->v[i] = v[(l + i) % 3];
            } else { /* an odd exchange with the front, undone by one of two others */
                memcpy(a->v, v, 4 * sizeof *v);
                if (l > 0) {
                    a->v[0] = v[l];
                    a->v[l] = v[0];
                    const int other = l == 1 ? 2 : 1, another = l == 3 ? 2 : 3;
                    const int32_t kept = a->v[other];
                    a->v[other] = a->v[another];
                    a->v[another] = kept;
                }
            }
            canonical(a, width);
        }
    return all;
}

/* Whole numbers for a node: coordinates and a value. */
static int64_t whole(int32_t node, int component) {
    return (int64_t)((uint32_t)node * 2654435761u >> (5 + 7 * component) & 63) - 31;
}

/* det J of a cell: changes sign with the orientation. */
static int64_t determinant(const int32_t *v, int width) {
    int64_t e[3][3];
    for (int i = 0; i < width - 1; ++i)
        for (int c = 0; c < width - 1; ++c)
            e[i][c] = whole(v[i + 1], c) - whole(v[0], c);
    if (width == 3)
        return e[0][0] * e[1][1] - e[0][1] * e[1][0];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
           e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Row i of K v with K = det J (1 + [i = j]), a mass matrix but for a factor. */
static int64_t row(const int32_t *v, int width, int i) {
    int64_t sum = whole(v[i], 3);
    for (int j = 0; j < width; ++j)
        sum += whole(v[j], 3);
    return determinant(v, width) * sum;
}

/* By rings only row 0, of renumbered cells; cell by cell every row: the same whole numbers. */
static void check_product(const walked *w, const int32_t *indices, int64_t n_cells, int width,
                          int64_t n_nodes) {
    int64_t *y = calloc((size_t)n_nodes + 1, sizeof *y);
    assert_non_null(y);
    for (int64_t i = 0; i < w->n; ++i)
        y[w->visits[i].v[0]] += row(w->visits[i].v, width, 0);
    for (int64_t c = 0; c < n_cells; ++c)
        for (int i = 0; i < width; ++i)
            y[indices[c * width + i]] -= row(indices + c * width, width, i);
    for (int64_t i = 0; i < n_nodes; ++i)
        assert_int_equal(y[i], 0);
    free(y);
}

static void check_halo(const weft_patches *patches) {
    const int64_t *start = host(patches->halo_start);
    const int32_t *halo = host(patches->halo);
    for (int64_t p = 0; p < patches->n_patches; ++p)
        for (int64_t i = start[p]; i < start[p + 1]; ++i) {
            assert_true(halo[i] >= 0 && halo[i] < patches->n_nodes);
            assert_true(halo[i] / patches->options.nodes != p);
            assert_true(i == start[p] || halo[i - 1] < halo[i]);
            assert_true(start[p + 1] - start[p] + patches->options.nodes <= patches->most_local);
        }
    assert_int_equal(start[patches->n_patches], patches->n_halo);
}

/* Words and skips of the whole, for what the caller wants to say of them. */
static walked check(const int32_t *indices, int64_t n_cells, int width, int64_t n_nodes,
                    int nodes) {
    weft_device *device = NULL;
    weft_connectivity *connectivity = NULL;
    const weft_patches *patches = NULL, *again = NULL;
    weft_error error = {0};
    walked w = {0};
    assert_int_equal(weft_device_open("host:2", NULL, &device, &error), WEFT_OK);
    assert_int_equal(
        weft_connectivity_make(device, indices, n_cells, width, n_nodes, &connectivity, &error),
        WEFT_OK);
    assert_int_equal(weft_connectivity_patches(connectivity,
                                               &(weft_patch_options){PATCH_VERTEX, nodes, 0, true},
                                               &patches, &error),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_patches(connectivity,
                                               &(weft_patch_options){PATCH_VERTEX, nodes, 0, false},
                                               &again, &error),
                     WEFT_OK);
    assert_ptr_equal(patches, again);
    check_halo(patches);
    w.visits = calloc((size_t)(n_cells * width) + 1, sizeof *w.visits);
    w.seen = calloc((size_t)n_nodes + 1, sizeof *w.seen);
    for (int64_t p = 0; p < patches->n_patches; ++p)
        for (int slot = 0; slot < nodes; ++slot) {
            walk_slot(patches, p, slot, &w);
            assert_true(w.n <= n_cells * width);
        }
    assert_int_equal(w.n, n_cells * width);
    for (int64_t i = 0; i < n_nodes; ++i)
        assert_int_equal(w.seen[i], 1);
    check_product(&w, indices, n_cells, width, n_nodes);
    visit *all = brute_force(indices, n_cells, width);
    qsort(all, (size_t)w.n, sizeof *all, compare_visits);
    qsort(w.visits, (size_t)w.n, sizeof *w.visits, compare_visits);
    assert_memory_equal(w.visits, all, (size_t)w.n * sizeof *all);
    free(all);
    free(w.visits);
    free(w.seen);
    w.visits = NULL;
    w.seen = NULL;
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
    return w;
}

static uint64_t random_next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void shuffle(int32_t *list, int64_t n, uint64_t *state) {
    for (int64_t i = n - 1; i > 0; --i) {
        const int64_t j = (int64_t)(random_next(state) % (uint64_t)(i + 1));
        const int32_t kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

static void check_mesh(int d, int64_t cells_a_side, int nodes, bool shuffled) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    uint64_t state = 7;
    const weft_status status = d == 2 ? weft_mesh_make_square(cells_a_side, &mesh, &error)
                                      : weft_mesh_make_cube(cells_a_side, &mesh, &error);
    assert_int_equal(status, WEFT_OK);
    int32_t *number = calloc((size_t)mesh->n_nodes, sizeof *number);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        number[i] = (int32_t)i;
    if (shuffled)
        shuffle(number, mesh->n_nodes, &state);
    for (int64_t i = 0; i < mesh->n_cells * (d + 1); ++i)
        mesh->cells[i] = number[mesh->cells[i]];
    (void)check(mesh->cells, mesh->n_cells, d + 1, mesh->n_nodes, nodes);
    free(number);
    weft_mesh_free(&mesh);
}

static void meshes(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (int shuffled = 0; shuffled < 2; ++shuffled) {
            check_mesh(d, 1, 128, shuffled);
            check_mesh(d, 9, 128, shuffled);
            check_mesh(d, 12, 256, shuffled);
            check_mesh(d, 13, 512, shuffled);
        }
}

/* A closed ring is one start and a word a cell; an open one the same: words = cells + 1. In a cube
 * a path visits almost every ring whole: two starts a ring and few more. */
static void lengths(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    assert_int_equal(weft_mesh_make_square(31, &mesh, &error), WEFT_OK);
    walked w = check(mesh->cells, mesh->n_cells, 3, mesh->n_nodes, 128);
    assert_true(w.n_skips - mesh->n_nodes < w.n_words - w.n); /* skips: starts, and padding */
    assert_true(w.n_words <= mesh->n_nodes * 7);
    weft_mesh_free(&mesh);
    assert_int_equal(weft_mesh_make_cube(15, &mesh, &error), WEFT_OK);
    w = check(mesh->cells, mesh->n_cells, 4, mesh->n_nodes, 512);
    assert_true((double)w.n_words < 1.25 * (double)w.n);
    weft_mesh_free(&mesh);
}

/* A fan of n triangles round node 0, closed or open, and n tetrahedra round the edge (0, 1). */
static void hubs(void **state) {
    (void)state;
    enum { N = 3000 };
    int32_t *cells = calloc(N * 4, sizeof *cells);
    for (int closed = 0; closed < 2; ++closed) {
        for (int i = 0; i < N; ++i) {
            cells[3 * i] = 1 + (i + 1) % (N + !closed);
            cells[3 * i + 1] = 0;
            cells[3 * i + 2] = 1 + i;
        }
        (void)check(cells, N, 3, N + 2, 256);
        for (int i = 0; i < N; ++i) {
            cells[4 * i] = 0;
            cells[4 * i + 1] = 1;
            cells[4 * i + 2] = 2 + i;
            cells[4 * i + 3] = 2 + (i + 1) % (N + !closed);
        }
        (void)check(cells, N, 4, N + 3, 256);
    }
    free(cells);
}

static void by_hand(void **state) {
    (void)state;
    static const int32_t none[3] = {0};
    (void)check(none, 0, 3, 0, 128);
    (void)check(none, 0, 4, 100, 128); /* nodes without cells */
    static const int32_t three_at_an_edge[] = {0, 1, 2, 1, 0, 3, 0, 1, 4, 0, 1, 4};
    (void)check(three_at_an_edge, 4, 3, 6, 128);
    static const int32_t reversed_triangles[] = {0, 1, 2, 0, 2, 3, 0, 4, 3, 0, 4, 1};
    (void)check(reversed_triangles, 4, 3, 5, 128);
    static const int32_t two_rings[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 0, 4, 5, 0, 5, 6, 0, 6, 4};
    (void)check(two_rings, 6, 3, 7, 128);
    static const int32_t solid[] = {0, 1, 2, 3, 0, 2, 1, 4, 0, 2, 1,  5, 0, 1,
                                    2, 3, 0, 6, 7, 8, 1, 0, 3, 9, 40, 2, 9, 33};
    (void)check(solid, 7, 4, 41, 128);
    static const int32_t folded[] = {0, 0, 1, 2, 1, 2, 1, 3, 4, 4, 4, 4};
    (void)check(folded, 3, 4, 5, 128);
}

/* Any cells whatever, of few nodes, so that much is shared that should not be. */
static void anything(void **state) {
    (void)state;
    uint64_t random = 99;
    int32_t cells[400 * 4];
    for (int times = 0; times < 60; ++times) {
        const int width = 3 + times % 2, n_cells = 1 + (int)(random_next(&random) % 400);
        const int n_nodes = 4 + (int)(random_next(&random) % 400);
        for (int i = 0; i < n_cells * width; ++i)
            cells[i] = (int32_t)(random_next(&random) % (uint64_t)n_nodes);
        (void)check(cells, n_cells, width, n_nodes, times % 3 ? 128 : 256);
    }
}

static void refused(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_connectivity *connectivity = NULL;
    const weft_patches *patches = NULL;
    weft_error error = {0};
    enum { N = 20000 };
    int32_t *cells = calloc(3 * N, sizeof *cells);
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    for (int i = 0; i < N; ++i)
        cells[2 * i + 1] = 1;
    assert_int_equal(weft_connectivity_make(device, cells, N, 2, N, &connectivity, &error),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_patches(connectivity,
                                               &(weft_patch_options){PATCH_VERTEX, 512, 0, false},
                                               &patches, &error),
                     WEFT_ERROR_UNSUPPORTED);
    weft_connectivity_free(&connectivity);
    /* a hub with more neighbours than local numbers */
    for (int i = 0; i < N; ++i) {
        cells[3 * i] = 0;
        cells[3 * i + 1] = 1 + i;
        cells[3 * i + 2] = 2 + i;
    }
    assert_int_equal(weft_connectivity_make(device, cells, N, 3, N + 2, &connectivity, &error),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_patches(connectivity,
                                               &(weft_patch_options){PATCH_VERTEX, 512, 0, false},
                                               &patches, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "nodes touch a patch of 512"));
    assert_int_equal(weft_connectivity_patches(connectivity,
                                               &(weft_patch_options){PATCH_VERTEX, 500, 0, false},
                                               &patches, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_null(patches);
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
    free(cells);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(meshes),   cmocka_unit_test(lengths),
                                       cmocka_unit_test(hubs),     cmocka_unit_test(by_hand),
                                       cmocka_unit_test(anything), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
