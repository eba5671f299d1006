/* labels: quick */
/* A connectivity whose indices are on a device alone: its forms are those of one with indices on the host, an index out of
 * range is refused, and released indices are read before; patches of cells are those of the host. On an emulated GPU, or
 * the device that WEFT_TEST_DEVICE names. */
#include "fusion/connectivity/cell_patches.h"
#include "fusion/connectivity/connectivity.h"
#include "setup_support.h"
#include "test_support.h"

enum { N = 333, WIDTH = 4, TO = 70 };

static weft_memory *place(weft_device *device, const int32_t *indices) {
    weft_memory *out = NULL;
    const size_t bytes = N * WIDTH * sizeof *indices;
    assert_int_equal(weft_memory_make(device, bytes, &out, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(out, 0, indices, bytes, NULL), WEFT_OK);
    return out;
}

static void compare(weft_connectivity *found, weft_connectivity *expected, int lanes) {
    weft_memory *lists[2][3];
    weft_connectivity *const both[] = {found, expected};
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(weft_connectivity_interleaved(both[k], lanes, &lists[k][0], NULL),
                         WEFT_OK);
        assert_int_equal(
            weft_connectivity_transposed(both[k], 32, &lists[k][1], &lists[k][2], NULL), WEFT_OK);
    }
    for (int i = 0; i < 3; ++i) {
        const size_t bytes = weft_memory_bytes(lists[1][i]);
        void *copy = setup_read(lists[1][i], bytes);
        assert_int_equal(weft_memory_bytes(lists[0][i]), bytes);
        setup_equal("form", lists[0][i], copy, bytes);
        free(copy);
    }
}

static void indices_on_the_device(void **state) {
    (void)state;
    weft_device *device = setup_device();
    weft_connectivity *found = NULL, *expected = NULL;
    weft_memory *plain = NULL;
    weft_error error = {0};
    uint64_t seed = 4;
    int32_t indices[N * WIDTH];
    for (int i = 0; i < N * WIDTH; ++i)
        indices[i] = (int32_t)(setup_random(&seed) % TO);
    assert_int_equal(weft_connectivity_make(device, indices, N, WIDTH, TO, &expected, NULL),
                     WEFT_OK);
    plain = place(device, indices);
    assert_int_equal(weft_connectivity_make_copied(device, NULL, &plain, WIDTH, TO, &found, &error),
                     WEFT_OK);
    assert_null(plain);
    compare(found, expected, 32);
    compare(found, expected, 4);
    weft_connectivity_release(found);
    compare(found, expected, 2);
    assert_memory_equal(weft_connectivity_indices(found), indices, sizeof indices);
    weft_connectivity_free(&found);
    for (int k = 0; k < 2; ++k) {
        indices[N] = k ? TO : -1;
        plain = place(device, indices);
        assert_int_equal(
            weft_connectivity_make_copied(device, NULL, &plain, WIDTH, TO, &found, &error),
            WEFT_ERROR_SHAPE);
        assert_non_null(plain);
        weft_memory_free(&plain);
    }
    weft_connectivity_free(&expected);
    weft_device_free(&device);
}

/* Patches of cells, bit for bit. */
static void compare_patches(const weft_cell_patches *found, const weft_cell_patches *expected) {
    weft_memory *const lists[2][9] = {
        {found->start, found->nodes, found->places, found->row_start, found->order, found->pairs,
         found->border, found->border_start, found->border_slots},
        {expected->start, expected->nodes, expected->places, expected->row_start, expected->order,
         expected->pairs, expected->border, expected->border_start, expected->border_slots}};
    if (expected->sums)
        assert_int_equal(found->n_border, expected->n_border);
    assert_int_equal(found->n_slots, expected->n_slots);
    assert_int_equal(found->most_nodes, expected->most_nodes);
    for (int i = 0; i < (expected->sums ? 9 : 3); ++i)
        setup_equal("list of patches", lists[0][i], weft_memory_host(lists[1][i]),
                    weft_memory_bytes(lists[1][i]));
}

static void check_patches(int n_cells, int width, int to, int cells, bool sums) {
    weft_device *devices[2] = {setup_device(), NULL};
    weft_connectivity *both[2] = {NULL, NULL};
    const weft_cell_patches *patches[2] = {NULL, NULL};
    uint64_t seed = (uint64_t)(n_cells + 7 * width);
    int32_t *indices = malloc((size_t)(n_cells * width) * sizeof *indices);
    assert_non_null(indices);
    for (int i = 0; i < n_cells * width;
         ++i) /* neighbours share most nodes, and the last has none */
        indices[i] =
            (int32_t)((uint64_t)(i / width * (to - 1) / n_cells) + setup_random(&seed) % 40) %
            (to - 1);
    assert_int_equal(weft_device_open("host:2", NULL, &devices[1], NULL), WEFT_OK);
    for (int k = 0; k < 2; ++k) {
        weft_memory *plain = NULL;
        const size_t bytes = (size_t)(n_cells * width) * sizeof *indices;
        if (k == 0) { /* on the device alone */
            assert_int_equal(weft_memory_make(devices[k], bytes, &plain, NULL), WEFT_OK);
            assert_int_equal(weft_memory_write(plain, 0, indices, bytes, NULL), WEFT_OK);
            assert_int_equal(
                weft_connectivity_make_copied(devices[k], NULL, &plain, width, to, &both[k], NULL),
                WEFT_OK);
        } else
            assert_int_equal(
                weft_connectivity_make(devices[k], indices, n_cells, width, to, &both[k], NULL),
                WEFT_OK);
        assert_int_equal(weft_connectivity_cell_patches(both[k], cells, sums, &patches[k], NULL),
                         WEFT_OK);
    }
    compare_patches(patches[0], patches[1]);
    for (int k = 0; k < 2; ++k) {
        weft_connectivity_free(&both[k]);
        weft_device_free(&devices[k]);
    }
    free(indices);
}

static void patches_on_the_device(void **state) {
    (void)state;
    static const struct {
        int n_cells, width, to, cells;
    } cases[] = {{1, 1, 2, 32},       {31, 4, 50, 32},     {64, 4, 90, 32},    {65, 3, 90, 32},
                 {700, 10, 900, 256}, {300, 16, 800, 256}, {130, 35, 700, 64}, {257, 17, 99, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int sums = 0; sums < 2; ++sums)
            check_patches(cases[i].n_cells, cases[i].width, cases[i].to, cases[i].cells, sums);
}

/* Places of targets with few, some hundred and some thousand indices are in the order of cells. */
static void long_lists(void **state) {
    (void)state;
    enum { CELLS = 2000, PLACES = CELLS * WIDTH, TARGETS = 12, LANES = 32 };
    weft_device *device = setup_device();
    weft_connectivity *connectivity = NULL;
    weft_memory *memory = NULL, *listed = NULL;
    uint64_t seed = 5;
    int32_t *indices = malloc(PLACES * sizeof *indices);
    int64_t n = 0;
    for (int i = 0; i < PLACES; ++i) {
        const int drawn = (int)(setup_random(&seed) % 40);
        indices[i] = drawn < TARGETS ? drawn : 0;
    }
    for (int i = 0; i < PLACES; ++i)
        indices[i] = indices[i] == 3 && i > 100 ? 4 : indices[i];
    assert_int_equal(
        weft_connectivity_make(device, indices, CELLS, WIDTH, TARGETS, &connectivity, NULL),
        WEFT_OK);
    assert_int_equal(weft_connectivity_transposed(connectivity, LANES, &memory, &listed, NULL),
                     WEFT_OK);
    int64_t *start = setup_read(memory, (TARGETS + 1) * sizeof *start);
    uint32_t *positions = setup_read(listed, PLACES * sizeof *positions);
    assert_true(start[1] > 4096 && start[4] - start[3] < 32 && start[5] - start[4] > 256);
    for (int target = 0; target < TARGETS; ++target) {
        assert_int_equal(start[target], n);
        for (int cell = 0; cell < CELLS; ++cell)
            for (int local = 0; local < WIDTH; ++local)
                if (indices[cell * WIDTH + local] == target)
                    assert_int_equal(positions[n++],
                                     (cell / LANES * WIDTH + local) * LANES + cell % LANES);
    }
    assert_int_equal(n, PLACES);
    free(start);
    free(positions);
    free(indices);
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(indices_on_the_device),
                                       cmocka_unit_test(patches_on_the_device),
                                       cmocka_unit_test(long_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
