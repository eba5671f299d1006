/* labels: quick */
/* Patches of cells against the connectivity they are made from: places lead to the cell's nodes, inner nodes are
 * those of one patch, every contribution is in the row of its node once, and the slots of a border node are those of
 * its patches in ascending order; for every remainder of a patch. */
#include "core/weft_core.h"
#include "fusion/connectivity/cell_patches.h"
#include "fusion/weft_program.h"
#include "program_support.h"

enum { LANES = WEFT_CELL_PATCH_LANES };

typedef struct patch_case {
    const int32_t *dofs;
    int64_t n_cells, n_nodes;
    int width, cells;
    const weft_cell_patches *patches;
    int *n_touching; /* [n_nodes] patches that name a node */
} patch_case;

static const void *host(const weft_memory *memory) {
    return weft_memory_host(memory);
}

static int64_t start(const patch_case *c, int64_t patch, int k) {
    return ((const int64_t *)host(c->patches->start))[3 * patch + k];
}

static int32_t global(const patch_case *c, int64_t patch, int local) {
    assert_true(start(c, patch, 0) + local < start(c, patch + 1, 0));
    return ((const int32_t *)host(c->patches->nodes))[start(c, patch, 0) + local];
}

static int place(const patch_case *c, int64_t patch, int cell, int k) {
    const uint32_t *places = host(c->patches->places);
    const uint32_t pair = places[(patch * ((c->width + 1) / 2) + k / 2) * c->cells + cell];
    return (int)(k % 2 ? pair >> 16 : pair & 65535);
}

static int patch_cells(const patch_case *c, int64_t patch) {
    const int64_t left = c->n_cells - patch * c->cells;
    return (int)(left < c->cells ? left : c->cells);
}

static void count_touching(patch_case *c) {
    int64_t *last = malloc((size_t)(c->n_nodes + 1) * sizeof *last);
    c->n_touching = calloc((size_t)c->n_nodes + 1, sizeof *c->n_touching);
    assert_non_null(last);
    assert_non_null(c->n_touching);
    for (int64_t i = 0; i < c->n_nodes; ++i)
        last[i] = -1;
    for (int64_t i = 0; i < c->n_cells * c->width; ++i)
        if (last[c->dofs[i]] != i / c->width / c->cells) {
            last[c->dofs[i]] = i / c->width / c->cells;
            ++c->n_touching[c->dofs[i]];
        }
    free(last);
}

static void check_nodes(const patch_case *c, int64_t patch) {
    const int n = (int)(start(c, patch + 1, 0) - start(c, patch, 0));
    const int n_border = (int)(start(c, patch + 1, 1) - start(c, patch, 1));
    assert_true(n <= c->patches->most_nodes);
    assert_int_equal(start(c, patch + 1, 2) - start(c, patch, 2), (n + LANES - 1) / LANES);
    for (int i = 0; i < n; ++i) {
        assert_int_equal(c->n_touching[global(c, patch, i)] > 1, i >= n - n_border);
        if (i > 0 && i != n - n_border)
            assert_true(global(c, patch, i - 1) < global(c, patch, i));
    }
    for (int cell = 0; cell < patch_cells(c, patch); ++cell)
        for (int k = 0; k < c->width; ++k)
            assert_int_equal(global(c, patch, place(c, patch, cell, k)),
                             c->dofs[(patch * c->cells + cell) * c->width + k]);
}

/* Each contribution once, in the row of its node, in ascending order of cells; others are `none`. */
static void check_rows(const patch_case *c, int64_t patch) {
    const uint32_t *row_start = host(c->patches->row_start), *pairs = host(c->patches->pairs);
    const uint16_t *order = host(c->patches->order);
    const int none = c->width * c->cells, n_places = patch_cells(c, patch) * c->width;
    int n_seen = 0, longest = INT32_MAX;
    for (int64_t row = start(c, patch, 2); row < start(c, patch + 1, 2); ++row)
        for (int lane = 0; lane < LANES; ++lane) {
            const int node = order[row * LANES + lane];
            int before = -1, count = 0;
            for (uint32_t i = 2 * row_start[row]; i < 2 * row_start[row + 1]; ++i) {
                const uint32_t pair = pairs[(size_t)(i / 2) * LANES + (size_t)lane];
                const int one = (int)(i % 2 ? pair >> 16 : pair & 65535);
                if (one == none)
                    continue;
                assert_int_not_equal(node, WEFT_CELL_PATCH_NONE);
                assert_true(one % c->cells >= before);
                before = one % c->cells;
                assert_int_equal(place(c, patch, one % c->cells, one / c->cells), node);
                ++count;
            }
            assert_true(count <= longest);
            longest = count;
            n_seen += count;
        }
    assert_int_equal(n_seen, n_places);
}

static void check_border(const patch_case *c) {
    const int32_t *border = host(c->patches->border);
    const uint32_t *first = host(c->patches->border_start), *slots = host(c->patches->border_slots);
    int64_t n = 0;
    for (int64_t i = 0; i < c->patches->n_border; ++i) {
        assert_true(i == 0 || border[i - 1] < border[i]);
        assert_int_not_equal(c->n_touching[border[i]], 1);
        assert_int_equal(first[i + 1] - first[i], c->n_touching[border[i]]);
        int64_t patch = 0;
        for (uint32_t k = first[i]; k < first[i + 1]; ++k) {
            assert_true(k == first[i] || slots[k - 1] < slots[k]);
            while (start(c, patch + 1, 1) <= slots[k])
                ++patch;
            const int64_t n_nodes = start(c, patch + 1, 0) - start(c, patch, 0),
                          n_border = start(c, patch + 1, 1) - start(c, patch, 1);
            assert_int_equal(
                global(c, patch, (int)(n_nodes - n_border + slots[k] - start(c, patch, 1))),
                border[i]);
        }
    }
    for (int64_t i = 0; i < c->n_nodes; ++i)
        n += c->n_touching[i] != 1;
    assert_int_equal(c->patches->n_border, n);
}

static void check(int64_t n_cells, int width, int cells) {
    weft_device *device = NULL;
    weft_connectivity *connectivity = NULL;
    const weft_cell_patches *again = NULL, *other = NULL;
    weft_error error = {0};
    mesh m = mesh_make(n_cells, width);
    patch_case c = {
        .dofs = m.dofs, .n_cells = n_cells, .n_nodes = m.n_nodes, .width = width, .cells = cells};
    case_check(weft_device_open("host:2", NULL, &device, &error), &error);
    case_check(
        weft_connectivity_make(device, m.dofs, n_cells, width, m.n_nodes, &connectivity, &error),
        &error);
    case_check(weft_connectivity_cell_patches(connectivity, cells, true, &c.patches, &error),
               &error);
    case_check(weft_connectivity_cell_patches(connectivity, cells, false, &again, &error), &error);
    assert_ptr_equal(c.patches, again);
    case_check(weft_connectivity_cell_patches(connectivity, 2 * cells, false, &other, &error),
               &error);
    assert_null(other->pairs);
    assert_int_equal(c.patches->n_patches, (n_cells + cells - 1) / cells);
    count_touching(&c);
    for (int64_t patch = 0; patch < c.patches->n_patches; ++patch) {
        check_nodes(&c, patch);
        check_rows(&c, patch);
    }
    check_border(&c);
    free(c.n_touching);
    free(m.dofs);
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
}

static void patches(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 63, 64, 65, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        check(sizes[i], 1, 32);
        check(sizes[i], 4, 64);
        check(sizes[i], 10, 32);
        check(sizes[i], 35, 64);
    }
}

static void other_sizes_are_refused(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_connectivity *connectivity = NULL;
    const weft_cell_patches *none = NULL;
    weft_error error = {0};
    mesh m = mesh_make(100, 300);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    case_check(weft_connectivity_make(device, m.dofs, 100, 300, m.n_nodes, &connectivity, &error),
               &error);
    assert_int_equal(weft_connectivity_cell_patches(connectivity, 256, true, &none, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message,
                        "patches of 256 cells with 300 nodes each: multiples of 32 cells with less "
                        "than 65535 nodes in all are supported");
    assert_int_equal(weft_connectivity_cell_patches(connectivity, 40, true, &none, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_null(none);
    free(m.dofs);
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patches),
                                       cmocka_unit_test(other_sizes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
