/* labels: quick */
#include "core/weft_core.h"
#include "fem/sparse/csr.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static weft_device *device_make(const char *name) {
    weft_device *device = NULL;
    weft_device_options options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open(name, &options, &device, NULL), WEFT_OK);
    return device;
}

/* Each position is in its row and at its column. */
static void check_positions(const int32_t *indices, int64_t n, int width, int lanes,
                            const weft_pattern *pattern, const weft_memory *positions) {
    int64_t n_blocks = (n + lanes - 1) / lanes;
    const uint32_t *p = weft_memory_host(positions);
    assert_int_equal(weft_memory_bytes(positions), (size_t)(n_blocks * lanes * width * width) * 4);
    for (int64_t place = 0; place < n_blocks * lanes; ++place) {
        int64_t cell = place < n ? place : n - 1;
        for (int i = 0; i < width; ++i)
            for (int j = 0; j < width; ++j) {
                int64_t at =
                    (place / lanes * width * width + i * width + j) * lanes + place % lanes;
                int32_t row = indices[cell * width + i], column = indices[cell * width + j];
                assert_in_range(p[at], pattern->row_start[row], pattern->row_start[row + 1] - 1);
                assert_int_equal(pattern->columns[p[at]], column);
            }
    }
}

/* The pattern is what a dense table of couplings says. */
static void check_pattern(const int32_t *indices, int64_t n, int width, int64_t n_to,
                          const weft_pattern *pattern) {
    char *coupled = calloc((size_t)(n_to * n_to), 1);
    for (int64_t r = 0; r < n_to; ++r)
        coupled[r * n_to + r] = 1;
    for (int64_t cell = 0; cell < n; ++cell)
        for (int i = 0; i < width; ++i)
            for (int j = 0; j < width; ++j)
                coupled[indices[cell * width + i] * n_to + indices[cell * width + j]] = 1;
    assert_int_equal(pattern->n_rows, n_to);
    int64_t k = 0;
    for (int64_t r = 0; r < n_to; ++r) {
        assert_int_equal(pattern->row_start[r], k);
        for (int64_t c = 0; c < n_to; ++c)
            if (coupled[r * n_to + c])
                assert_int_equal(pattern->columns[k++], c);
    }
    assert_int_equal(pattern->row_start[n_to], k);
    assert_int_equal(pattern->n_entries, k);
    free(coupled);
}

static int32_t *count_upper(const weft_pattern *pattern) {
    int32_t *n_upper = calloc((size_t)pattern->n_rows, sizeof *n_upper);
    for (int64_t r = 0; r < pattern->n_rows; ++r)
        for (int64_t k = pattern->row_start[r]; k < pattern->row_start[r + 1]; ++k)
            n_upper[r] += pattern->columns[k] > r;
    return n_upper;
}

static void patterns_are_the_couplings(void **state) {
    (void)state;
    const int64_t sizes[][3] = {/* elements, width, targets */
                                {1, 3, 3},     {2, 3, 4},     {40, 3, 30}, {500, 4, 120},
                                {1000, 4, 60}, {300, 2, 200}, {9, 6, 20},  {3000, 3, 2500},
                                {50, 1, 60},   {100, 10, 300}};
    uint64_t seed = 42;
    for (int threads = 1; threads <= 4; threads *= 2) {
        weft_device *device = device_make(threads == 1   ? "host:1"
                                          : threads == 2 ? "host:2"
                                                         : "host:4");
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
            for (int lanes = 2; lanes <= 8; lanes *= 4) {
                int64_t n = sizes[s][0], n_to = sizes[s][2];
                int width = (int)sizes[s][1];
                int32_t *indices = malloc((size_t)(n * width) * sizeof *indices);
                for (int64_t i = 0; i < n * width; ++i)
                    indices[i] = (int32_t)(random_next(&seed) % (uint64_t)n_to);
                weft_connectivity *dofs = NULL;
                weft_pattern *pattern = NULL;
                weft_memory *positions = NULL;
                assert_int_equal(
                    weft_connectivity_make(device, indices, n, width, n_to, &dofs, NULL), WEFT_OK);
                assert_int_equal(weft_pattern_make(device, dofs, lanes, &pattern, &positions, NULL),
                                 WEFT_OK);
                check_pattern(indices, n, width, n_to, pattern);
                check_positions(indices, n, width, lanes, pattern, positions);
                weft_memory_free(&positions);
                for (int v = WEFT_VECTORS_PLAIN; v <= (int)weft_vectors_here(); ++v) {
                    int32_t *n_upper = count_upper(pattern);
                    for (int mirrored = 0; mirrored < 2; ++mirrored) {
                        const weft_pattern_search search = {.pattern = pattern,
                                                            .n_upper = mirrored ? n_upper : NULL,
                                                            .vectors = (weft_vectors)v};
                        assert_int_equal(weft_pattern_positions_by(device, &search, dofs, lanes,
                                                                   &positions, NULL),
                                         WEFT_OK);
                        check_positions(indices, n, width, lanes, pattern, positions);
                        weft_memory_free(&positions);
                    }
                    free(n_upper);
                }
                weft_pattern_free(&pattern);
                weft_connectivity_free(&dofs);
                free(indices);
            }
        weft_device_free(&device);
    }
}

/* A node of a structured triangulation has at most 6 neighbours; Euler's formula gives the rest. */
static void square_has_as_many_entries_as_edges(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    weft_mesh *mesh = NULL;
    weft_connectivity *dofs = NULL;
    weft_pattern *pattern = NULL;
    const int64_t n = 20;
    assert_int_equal(weft_mesh_make_square(n, &mesh, NULL), WEFT_OK);
    assert_int_equal(
        weft_connectivity_make(device, mesh->cells, mesh->n_cells, 3, mesh->n_nodes, &dofs, NULL),
        WEFT_OK);
    assert_int_equal(weft_pattern_make(device, dofs, 8, &pattern, NULL, NULL), WEFT_OK);
    int64_t n_edges = 2 * n * (n + 1) + n * n;
    assert_int_equal(pattern->n_entries, (n + 1) * (n + 1) + 2 * n_edges);
    weft_pattern_free(&pattern);
    weft_connectivity_free(&dofs);
    weft_mesh_free(&mesh);
    weft_device_free(&device);
}

static void facets_find_their_places(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    const int32_t cells[] = {0, 1, 2, 1, 3, 2}, facets[] = {0, 1, 1, 3, 3, 2}, none[] = {0, 3};
    weft_connectivity *dofs = NULL, *sides = NULL, *wrong = NULL;
    weft_pattern *pattern = NULL;
    weft_memory *positions = NULL;
    weft_error error;
    assert_int_equal(weft_connectivity_make(device, cells, 2, 3, 4, &dofs, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_make(device, facets, 3, 2, 4, &sides, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_make(device, none, 1, 2, 4, &wrong, NULL), WEFT_OK);
    assert_int_equal(weft_pattern_make(device, dofs, 8, &pattern, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_pattern_positions(device, pattern, sides, 8, &positions, NULL), WEFT_OK);
    check_positions(facets, 3, 2, 8, pattern, positions);
    weft_memory_free(&positions);
    assert_int_equal(weft_pattern_positions(device, pattern, wrong, 8, &positions, &error),
                     WEFT_ERROR_SHAPE);
    assert_non_null(strstr(error.message, "lacks couplings"));
    assert_null(positions);
    weft_connectivity_free(&dofs);
    weft_connectivity_free(&sides);
    weft_connectivity_free(&wrong);
    weft_pattern_free(&pattern);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_the_couplings),
        cmocka_unit_test(square_has_as_many_entries_as_edges),
        cmocka_unit_test(facets_find_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
