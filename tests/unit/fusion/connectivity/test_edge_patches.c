/* labels: quick */
/* Edge rings against the connectivity they are made from: in every patch each cell that touches it
 * is evaluated once, with its own four vertices, and no two lanes of a row give to the same own
 * node at the same time. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = WEFT_PATCH_LANES };

static uint64_t random_next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

typedef struct walked {
    int64_t n_cells, n_rows, n_lanes, n_steps; /* cells evaluated; rings; cells of the longest */
} walked;

typedef struct walker {
    const weft_patches *patches;
    const int32_t *cells; /* [n_cells][4] */
    int64_t n_cells, patch;
    uint8_t *seen; /* [n_cells] in this patch */
    walked out;
} walker;

static const void *host(const weft_memory *memory) {
    return weft_memory_host(memory);
}

static int32_t global(const walker *w, int local) {
    const weft_patches *patches = w->patches;
    const int64_t *start = host(patches->halo_start);
    if (local < patches->options.nodes) {
        assert_true(w->patch * patches->options.nodes + local < patches->n_nodes);
        return (int32_t)(w->patch * patches->options.nodes + local);
    }
    assert_true(start[w->patch] + local - patches->options.nodes < start[w->patch + 1]);
    return ((const int32_t *)host(patches->halo))[start[w->patch] + local - patches->options.nodes];
}

static int word_of(const walker *w, int64_t pair, int lane, int i) {
    const uint16_t *words = host(w->patches->words);
    return words[((pair + i / 2) * LANES + lane) * 2 + i % 2];
}

/* The cell has these vertices, in any order, and has not been seen. */
static void see_cell(walker *w, int64_t cell, const int32_t v[4]) {
    assert_in_range(cell, 0, w->n_cells - 1);
    for (int k = 0; k < 4; ++k) {
        int n = 0;
        for (int m = 0; m < 4; ++m)
            n += w->cells[4 * cell + m] == v[k];
        assert_int_equal(n, 1);
    }
    assert_int_equal(w->seen[cell], 0);
    w->seen[cell] = 1;
    ++w->out.n_cells;
}

static void walk_lane(walker *w, int64_t pair, int lane, int n_cells) {
    const int32_t *numbers = host(w->patches->cells);
    int32_t v[4];
    if (word_of(w, pair, lane, 0) & EDGE_SKIP)
        return;
    ++w->out.n_lanes;
    for (int i = 0; i < 3; ++i)
        v[i] = global(w, word_of(w, pair, lane, i) & EDGE_LOCAL);
    for (int i = 3; i < n_cells + 3; ++i) {
        const int word = word_of(w, pair, lane, i);
        assert_int_equal((word & EDGE_LAST) != 0, i == n_cells + 2);
        if (word & EDGE_SKIP)
            continue;
        v[i % 2 ? 3 : 2] = global(w, word & EDGE_LOCAL);
        see_cell(w, numbers[((pair + i / 2) * 2 + i % 2) * LANES + lane], v);
    }
}

/* What the lanes give at one time: words [first, last) of the row. */
static void check_gives(const walker *w, int64_t pair, int first, int last) {
    uint8_t given[4096] = {0};
    for (int i = first; i < last; ++i)
        for (int lane = 0; lane < LANES; ++lane) {
            const int word = word_of(w, pair, lane, i);
            const int local = word & EDGE_LOCAL;
            if ((word & EDGE_SKIP) || local >= w->patches->options.nodes)
                continue;
            assert_int_equal(given[local], 0);
            given[local] = 1;
        }
}

/* Gives where the next row begins. */
static int64_t walk_row(walker *w, int64_t pair) {
    int n_cells = 0;
    while (!(word_of(w, pair, 0, n_cells + 3) & EDGE_LAST))
        ++n_cells;
    ++n_cells;
    for (int lane = 0; lane < LANES; ++lane)
        walk_lane(w, pair, lane, n_cells);
    check_gives(w, pair, 0, 2);
    for (int i = 2; i <= n_cells + 2; i += 2)
        check_gives(w, pair, i, i + 2 < n_cells + 3 ? i + 2 : n_cells + 3);
    ++w->out.n_rows;
    w->out.n_steps += n_cells;
    return pair + (n_cells + 4) / 2;
}

static void walk_patch(walker *w) {
    const weft_patches *patches = w->patches;
    const uint32_t *warps = host(patches->rows);
    int64_t n_seen = w->out.n_cells, n_touching = 0;
    memset(w->seen, 0, (size_t)w->n_cells);
    for (int i = 0; i < patches->options.n_warps; ++i) {
        const uint32_t *warp = warps + 2 * (w->patch * patches->options.n_warps + i);
        int64_t pair = warp[0];
        for (uint32_t row = 0; row < warp[1]; ++row)
            pair = walk_row(w, pair);
        assert_true(pair <= patches->n_units);
    }
    for (int64_t cell = 0; cell < w->n_cells; ++cell) {
        bool touches = false;
        for (int k = 0; k < 4; ++k)
            touches |= w->cells[4 * cell + k] / patches->options.nodes == w->patch;
        n_touching += touches;
        assert_true(!touches || w->seen[cell]);
    }
    assert_int_equal(w->out.n_cells - n_seen, n_touching);
}

static walked check(const int32_t *cells, int64_t n_cells, int64_t n_nodes, int nodes,
                    int n_warps) {
    weft_device *device = NULL;
    weft_connectivity *connectivity = NULL;
    const weft_patches *patches = NULL, *again = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open("host:2", NULL, &device, &error), WEFT_OK);
    assert_int_equal(
        weft_connectivity_make(device, cells, n_cells, 4, n_nodes, &connectivity, &error), WEFT_OK);
    assert_int_equal(weft_connectivity_patches(
                         connectivity, &(weft_patch_options){PATCH_EDGE, nodes, n_warps, true},
                         &patches, &error),
                     WEFT_OK);
    assert_int_equal(
        weft_connectivity_patches(
            connectivity, &(weft_patch_options){PATCH_EDGE, nodes, n_warps, false}, &again, &error),
        WEFT_OK);
    assert_ptr_equal(patches, again);
    walker w = {.patches = patches,
                .cells = cells,
                .n_cells = n_cells,
                .seen = malloc((size_t)n_cells + 1)};
    assert_non_null(w.seen);
    assert_int_equal(patches->n_patches, (n_nodes + nodes - 1) / nodes);
    for (w.patch = 0; w.patch < patches->n_patches; ++w.patch)
        walk_patch(&w);
    const walked out = w.out;
    free(w.seen);
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
    return out;
}

static void meshes(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int64_t side = 1; side <= 13; side += 4)
        for (int shuffled = 0; shuffled < 2; ++shuffled) {
            weft_mesh *mesh = NULL;
            weft_error error = {0};
            assert_int_equal(weft_mesh_make_cube(side, &mesh, &error), WEFT_OK);
            int32_t *number = malloc((size_t)mesh->n_nodes * sizeof *number);
            assert_non_null(number);
            for (int64_t i = 0; i < mesh->n_nodes; ++i)
                number[i] = (int32_t)i;
            for (int64_t i = mesh->n_nodes - 1; shuffled && i > 0; --i) {
                const int64_t j = (int64_t)(random_next(&random) % (uint64_t)(i + 1));
                const int32_t kept = number[i];
                number[i] = number[j];
                number[j] = kept;
            }
            for (int64_t i = 0; i < 4 * mesh->n_cells; ++i)
                mesh->cells[i] = number[mesh->cells[i]];
            (void)check(mesh->cells, mesh->n_cells, mesh->n_nodes, 128, 4);
            (void)check(mesh->cells, mesh->n_cells, mesh->n_nodes, 512, 8);
            free(number);
            weft_mesh_free(&mesh);
        }
}

/* In a lattice of cubes of six tetrahedra the six round a cube's diagonal share it: a cover by
 * diagonals has six cells a ring. What is cut off at the patch's border has fewer. Rows are full
 * and of equal lengths but for a few. */
static void lengths(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    assert_int_equal(weft_mesh_make_cube(15, &mesh, &error), WEFT_OK);
    const walked w = check(mesh->cells, mesh->n_cells, mesh->n_nodes, 512, 8);
    assert_true((double)w.n_cells > 3.5 * (double)w.n_lanes);
    assert_true((double)w.n_cells > 0.75 * LANES * (double)w.n_steps);
    weft_mesh_free(&mesh);
}

/* n tetrahedra round the edge (0, 1), closed or open: only one lane at a time may give to it. */
static void hubs(void **state) {
    (void)state;
    enum { N = 500 };
    int32_t cells[4 * N];
    for (int closed = 0; closed < 2; ++closed) {
        for (int i = 0; i < N; ++i) {
            cells[4 * i] = 0;
            cells[4 * i + 1] = 1;
            cells[4 * i + 2] = 2 + i;
            cells[4 * i + 3] = 2 + (i + 1) % (N + !closed);
        }
        (void)check(cells, N, N + 3, 256, 4);
    }
}

static void by_hand(void **state) {
    (void)state;
    static const int32_t none[4] = {0};
    (void)check(none, 0, 100, 128, 4);
    static const int32_t one[] = {3, 1, 0, 2};
    const walked w = check(one, 1, 4, 128, 4);
    assert_int_equal(w.n_cells, 1);
    assert_int_equal(w.n_lanes, 1);
    /* twice the same cell, a facet that three cells share */
    static const int32_t solid[] = {0, 1, 2, 3, 0, 2, 1, 3, 0, 2, 1, 4, 0, 2, 1, 5, 0, 6, 7, 8};
    (void)check(solid, 5, 9, 128, 4);
}

/* Any cells whatever of four vertices, of few nodes, so that much is shared that should not be. */
static void anything(void **state) {
    (void)state;
    uint64_t random = 99;
    int32_t cells[400 * 4];
    for (int times = 0; times < 60; ++times) {
        const int n_cells = 1 + (int)(random_next(&random) % 400);
        const int n_nodes = 8 + (int)(random_next(&random) % 400);
        for (int i = 0; i < n_cells; ++i)
            for (int k = 0; k < 4; ++k) {
                bool is_new = false;
                while (!is_new) {
                    cells[4 * i + k] = (int32_t)(random_next(&random) % (uint64_t)n_nodes);
                    is_new = true;
                    for (int m = 0; m < k; ++m)
                        is_new &= cells[4 * i + m] != cells[4 * i + k];
                }
            }
        (void)check(cells, n_cells, n_nodes, times % 3 ? 128 : 256, 1 + times % 8);
    }
}

static void refuse(weft_device *device, const int32_t *cells, int64_t n, int width, int nodes,
                   const char *message) {
    weft_connectivity *connectivity = NULL;
    const weft_patches *patches = NULL;
    weft_error error = {0};
    assert_int_equal(weft_connectivity_make(device, cells, n, width, 20010, &connectivity, &error),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_patches(connectivity,
                                               &(weft_patch_options){PATCH_EDGE, nodes, 8, false},
                                               &patches, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, message));
    assert_null(patches);
    weft_connectivity_free(&connectivity);
}

static void refused(void **state) {
    (void)state;
    enum { N = 20000 };
    weft_device *device = NULL;
    weft_error error = {0};
    int32_t *cells = calloc(4 * N, sizeof *cells);
    assert_non_null(cells);
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    for (int i = 0; i < N; ++i) /* a hub with more neighbours than local numbers */
        for (int k = 1; k < 4; ++k)
            cells[4 * i + k] = k + i;
    refuse(device, cells, N, 4, 512, "nodes touch a patch of 512");
    refuse(device, cells, N, 4, 5000, "patches of 5000");
    refuse(device, cells, N, 3, 512, "20000 cells of 3");
    const int32_t folded[] = {0, 1, 2, 3, 4, 5, 4, 6};
    refuse(device, folded, 2, 4, 512, "twice");
    weft_device_free(&device);
    free(cells);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(meshes),   cmocka_unit_test(lengths),
                                       cmocka_unit_test(hubs),     cmocka_unit_test(by_hand),
                                       cmocka_unit_test(anything), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
