/* labels: quick */
/* Edges against the pattern they were made from: what the layout promises, and products against the
 * product by rows, whose terms are the same in another order: 1e-13 of the sum of their sizes
 * leaves room for 40 units in the last place; the sums have up to some thousand terms (the hub's
 * row). */
#include "core/weft_core.h"
#include "fem/sparse/csr.h"
#include "fem/sparse/symmetric.h"
#include "fem/weft_fem.h"
#include "symmetric_support.h"
#include "test_support.h"

static const double tolerance = 1e-13;

static weft_device *device_make(const char *name) {
    weft_device *device = NULL;
    assert_int_equal(weft_device_open(name, NULL, &device, NULL), WEFT_OK);
    return device;
}

static weft_symmetric *make(weft_device *device, const weft_pattern *pattern, int most_rounds) {
    weft_symmetric *edge = NULL;
    const weft_symmetric_options options = {.most_rounds = most_rounds};
    weft_error error = {0};
    if (weft_symmetric_make(device, pattern, &options, &edge, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return edge;
}

/* Rounds: no row target twice; columns in range; halo ascending and outside. */
static void check_patch(const weft_symmetric *edge, int64_t p) {
    const weft_symmetric_patch *patch = &edge->patches[p];
    const uint16_t *columns = edge->columns + patch->first_column;
    const int32_t *halo = edge->lists + patch->first_list;
    const int32_t *rows = halo + patch->n_halo + patch->n_overflow;
    for (int r = 0; r < patch->n_rounds; ++r) {
        bool is_target[WEFT_SYMMETRIC_NODES] = {false};
        for (int i = 0; i < WEFT_SYMMETRIC_NODES; ++i) {
            const int j = columns[r * WEFT_SYMMETRIC_NODES + i];
            assert_true(j < WEFT_SYMMETRIC_HALO + patch->n_halo && j != i);
            if (j < WEFT_SYMMETRIC_NODES) {
                assert_false(is_target[j]);
                is_target[j] = true;
            }
        }
    }
    for (int k = 0; k < patch->n_halo; ++k) {
        assert_true(halo[k] >= 0 && halo[k] < edge->n_rows && halo[k] / WEFT_SYMMETRIC_NODES != p);
        assert_true(k == 0 || halo[k - 1] < halo[k]);
    }
    for (uint32_t k = 1; k < patch->n_overflow; ++k)
        assert_true(rows[k - 1] <= rows[k]);
    assert_int_equal(patch->first_value % 4, 0); /* bulk copies start at 16 bytes */
    assert_int_equal(patch->first_column % 8, 0);
    assert_int_equal(patch->first_list % 4, 0);
}

/* Entries have places of their own, but for one of a pair inside a patch, which goes to the discard
 * slots. */
static void check_places(const weft_symmetric *edge, const weft_pattern *pattern) {
    bool *taken = calloc((size_t)edge->n_values, sizeof *taken);
    int64_t n_pairs = 0, n_dumped = 0;
    for (int64_t i = 0; i < pattern->n_rows; ++i)
        for (int64_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; ++k) {
            const uint32_t offset = edge->offsets[k];
            const int64_t j = pattern->columns[k];
            if (offset == WEFT_SYMMETRIC_DISCARD) {
                assert_true(j < i && i / WEFT_SYMMETRIC_NODES == j / WEFT_SYMMETRIC_NODES);
                ++n_dumped;
                continue;
            }
            const int64_t place = edge_place(edge, i, offset);
            assert_true(place < edge->first_discard && !taken[place]);
            taken[place] = true;
            n_pairs += j > i && i / WEFT_SYMMETRIC_NODES == j / WEFT_SYMMETRIC_NODES;
        }
    assert_true(n_dumped <= n_pairs); /* fewer where both entries are in the overflow */
    free(taken);
}

static void check_product(weft_device *device, const weft_symmetric *edge,
                          const weft_pattern *pattern) {
    const size_t n = (size_t)pattern->n_rows;
    double *values = symmetric_values(edge, pattern), *v = weft_array_make(n, sizeof *v);
    double *y = weft_array_make(n, sizeof *y), *expected = weft_array_make(n, sizeof *y);
    double *sizes = weft_array_make(n, sizeof *sizes), *first = weft_array_make(n, sizeof *first);
    uint64_t state = 7;
    for (size_t i = 0; i < n; ++i)
        v[i] = edge_number(&state);
    for (int64_t k = 0; k < edge->n_discard; ++k) /* nothing there may be read */
        values[edge->first_discard + k] = NAN;
    symmetric_reference(pattern, v, expected, sizes);
    for (int vectors = 0; vectors <= (int)weft_vectors_here(); ++vectors)
        for (int iteration = 0; iteration < 2; ++iteration) {
            memset(y, 0xFF, n * sizeof *y);
            assert_int_equal(
                weft_symmetric_product(device, edge, values, (weft_vectors)vectors, v, y, NULL),
                WEFT_OK);
            for (size_t i = 0; i < n; ++i)
                if (!(fabs(y[i] - expected[i]) <= tolerance * sizes[i]))
                    fail_msg("row %zu of %zu: %.17g, expected %.17g", i, n, y[i], expected[i]);
            if (iteration == 0)
                memcpy(first, y, n * sizeof *y);
            assert_memory_equal(first, y, n * sizeof *y);
        }
    free(values);
    free(v);
    free(y);
    free(expected);
    free(sizes);
    free(first);
}

static void check(edge_kind kind, int64_t n, bool diagonal, int most_rounds) {
    weft_device *device = device_make("host:2");
    weft_pattern *pattern = edge_pattern_of(kind, n, diagonal);
    weft_symmetric *edge = make(device, pattern, most_rounds);
    assert_int_equal(edge->n_patches, (pattern->n_rows + 511) / 512);
    for (int64_t p = 0; p < edge->n_patches; ++p) {
        check_patch(edge, p);
        assert_true(most_rounds == 0 || edge->patches[p].n_rounds <= most_rounds);
    }
    check_places(edge, pattern);
    check_product(device, edge, pattern);
    weft_symmetric_free(&edge);
    weft_pattern_free(&pattern);
    weft_device_free(&device);
}

static void kinds_and_sizes(void **state) {
    static const int64_t sizes[] = {1, 2, 3, 31, 511, 512, 513, 1100, 5000};
    (void)state;
    for (int kind = 0; kind < EDGE_KINDS; ++kind)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            check((edge_kind)kind, sizes[s], true, 0);
            check((edge_kind)kind, sizes[s], s % 2 == 0, 3);
        }
}

/* Halos beyond what is staged, and long overflow lists. */
static void large_and_shuffled(void **state) {
    (void)state;
    check(EDGE_SHUFFLED, 40000, true, 0);
    check(EDGE_HUB, 30000, true, 0);
    check(EDGE_DENSE, 4000, true, 0);
}

/* A line of 101 rows: five lines and a bit are a patch. Inside it 3 edges a row, of which two a row
 * of its last line, and as many before its first, are couplings with the halo. */
static void few_rounds_and_little_overflow(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    weft_pattern *pattern = edge_pattern_of(EDGE_TRIANGLES, 512 * 20, true);
    weft_symmetric *edge = make(device, pattern, 0);
    assert_true(edge->slots_per_row < 5); /* 3, and 0.4 more for what both owners store */
    assert_true((double)edge->n_overflow < 0.5 * (double)edge->n_rows);
    weft_symmetric_free(&edge);
    weft_pattern_free(&pattern);
    weft_device_free(&device);
}

/* The layout does not depend on the number of threads, nor do products. */
static void any_number_of_threads(void **state) {
    (void)state;
    static const char *const names[] = {"host:1", "host:2", "host:5"};
    weft_pattern *pattern = edge_pattern_of(EDGE_TETS, 40000, true);
    const size_t n = (size_t)pattern->n_rows;
    double *v = weft_array_make(n, sizeof *v), *y = weft_array_make(n, sizeof *y);
    double *first_y = weft_array_make(n, sizeof *first_y), *values = NULL;
    weft_symmetric *first = NULL;
    for (size_t i = 0; i < n; ++i)
        v[i] = sin((double)i);
    for (int k = 0; k < 3; ++k) {
        weft_device *device = device_make(names[k]);
        weft_symmetric *edge = make(device, pattern, 0);
        if (!values)
            values = symmetric_values(edge, pattern);
        assert_int_equal(
            weft_symmetric_product(device, edge, values, weft_vectors_of(device), v, y, NULL),
            WEFT_OK);
        if (first) {
            assert_int_equal(edge->n_values, first->n_values);
            assert_memory_equal(edge->columns, first->columns,
                                (size_t)edge->n_columns * sizeof *edge->columns);
            assert_memory_equal(edge->lists, first->lists,
                                (size_t)edge->n_lists * sizeof *edge->lists);
            assert_memory_equal(edge->offsets, first->offsets,
                                (size_t)pattern->n_entries * sizeof *edge->offsets);
            assert_memory_equal(first_y, y, n * sizeof *y);
            weft_symmetric_free(&edge);
        } else {
            first = edge;
            memcpy(first_y, y, n * sizeof *y);
        }
        weft_device_free(&device);
    }
    weft_symmetric_free(&first);
    weft_pattern_free(&pattern);
    free(values);
    free(v);
    free(y);
    free(first_y);
}

static void half_a_pattern_is_refused(void **state) {
    (void)state;
    static int64_t start[] = {0, 2, 3, 5, 6};
    static int32_t columns[] = {0, 1, 1, 2, 3, 3}; /* (1, 0) and (3, 2) are missing */
    static int32_t lower[] = {0, 3, 1, 0, 2, 3}; /* (0, 3) without (3, 0), (2, 0) without (0, 2) */
    weft_pattern pattern = {.n_rows = 4, .n_entries = 6, .row_start = start, .columns = columns};
    weft_device *device = device_make("host:1");
    weft_symmetric *edge = NULL;
    const weft_symmetric_options options = {0};
    weft_error error = {0};
    assert_int_equal(weft_symmetric_make(device, &pattern, &options, &edge, &error),
                     WEFT_ERROR_INPUT);
    assert_null(edge);
    assert_non_null(strstr(error.hint, "csr"));
    pattern.columns = lower;
    assert_int_equal(weft_symmetric_make(device, &pattern, &options, &edge, &error),
                     WEFT_ERROR_INPUT);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_sizes),
        cmocka_unit_test(large_and_shuffled),
        cmocka_unit_test(few_rounds_and_little_overflow),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(half_a_pattern_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
