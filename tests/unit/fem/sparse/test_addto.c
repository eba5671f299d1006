/* labels: quick */
/* The words of rows made by owners against the cells: each cell stands once at each of its
 * vertices, in ascending order, evenly renumbered, with the right entries; and matrices summed up
 * by them are those of a dense sum. Small whole numbers, so that sums are exact. */
#include "core/weft_core.h"
#include "fem/sparse/addto.h"
#include "fem/sparse/sell.h"
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

/* Cells of distinct nodes within `spread` of each other. */
static int32_t *cells_make(int64_t n_cells, int width, int64_t n, int64_t spread, uint64_t *seed) {
    int32_t *cells = weft_array_make((size_t)(n_cells * width) + 1, sizeof *cells);
    for (int64_t cell = 0; cell < n_cells; ++cell) {
        const int64_t range = spread < n ? spread : n;
        const int64_t first = (int64_t)(random_next(seed) % (uint64_t)(n - range + 1));
        for (int v = 0; v < width; ++v) {
            int32_t node = 0;
            bool repeated = true;
            while (repeated) {
                node = (int32_t)(first + (int64_t)(random_next(seed) % (uint64_t)range));
                repeated = false;
                for (int u = 0; u < v; ++u)
                    repeated |= cells[cell * width + u] == node;
            }
            cells[cell * width + v] = node;
        }
    }
    return cells;
}

/* The sign of the permutation that turns `from` into `to`. */
static int parity(const int32_t *from, const int32_t *to, int width) {
    int sign = 1, place[4];
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j)
            if (from[j] == to[i])
                place[i] = j;
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < i; ++j)
            if (place[j] > place[i])
                sign = -sign;
    return sign;
}

typedef struct layout {
    weft_pattern *pattern;
    weft_sell *sell;
    weft_addto *addto;
} layout;

static int32_t global_of(const layout *l, int64_t block, uint64_t local) {
    if (local < WEFT_SELL_ROWS)
        return (int32_t)(block * WEFT_SELL_ROWS + (int64_t)local);
    const int64_t at = l->addto->halo_start[block] + (int64_t)local - WEFT_SELL_ROWS;
    assert_true(at < l->addto->halo_start[block + 1]);
    return l->addto->halo[at];
}

/* One word: a cell of the row that comes after the last one, and what it adds. */
static void check_word(const layout *l, const int32_t *cells, int width, int64_t row, int64_t at,
                       int64_t *last, double *values) {
    const uint64_t word = l->addto->words[at];
    const int64_t cell = l->addto->cells[at], block = row / WEFT_SELL_ROWS;
    int32_t rotated[4] = {(int32_t)row, 0, 0, 0};
    assert_true(cell > *last);
    *last = cell;
    for (int v = 1; v < width; ++v) {
        const uint64_t bits = word >> 21 * (v - 1);
        const int64_t k = (int64_t)(bits >> 13 & 255);
        rotated[v] = global_of(l, block, bits & 8191);
        assert_int_equal(weft_sell_column(l->sell, row, k), rotated[v]);
        values[weft_sell_place(l->sell, row, k)] += (double)(cell % 7 + 1);
    }
    values[row] += 10.0 * (double)(cell % 7 + 1);
    for (int v = 0; v < width; ++v) {
        bool found = false;
        for (int u = 0; u < width; ++u)
            found |= cells[cell * width + u] == rotated[v];
        assert_true(found);
    }
    if (width > 2)
        assert_int_equal(parity(cells + cell * width, rotated, width), 1);
}

static void check_words(const layout *l, const int32_t *cells, int64_t n_cells, int width) {
    const int64_t n = l->pattern->n_rows;
    double *values = calloc((size_t)l->sell->n_values + 1, sizeof *values);
    double *expected = calloc((size_t)l->sell->n_values + 1, sizeof *expected);
    int64_t n_words = 0;
    for (int64_t row = 0; row < n; ++row) {
        const int slot = l->sell->slots[row];
        const int64_t slice = row / WEFT_SELL_ROWS * WEFT_SELL_SLICES + slot / WEFT_SLICE;
        int64_t last = -1;
        for (int64_t at = (int64_t)l->addto->word_start[slice] + slot % WEFT_SLICE;
             at < l->addto->word_start[slice + 1]; at += WEFT_SLICE)
            if (l->addto->words[at] != WEFT_ADDTO_NONE) {
                check_word(l, cells, width, row, at, &last, values);
                ++n_words;
            }
    }
    assert_int_equal(n_words, n_cells * width);
    for (int64_t cell = 0; cell < n_cells; ++cell)
        for (int i = 0; i < width; ++i)
            for (int j = 0; j < width; ++j) {
                const int64_t row = cells[cell * width + i];
                int64_t place = row, k = 0;
                while (i != j && weft_sell_column(l->sell, row, k) != cells[cell * width + j])
                    ++k;
                if (i != j)
                    place = weft_sell_place(l->sell, row, k);
                expected[place] += (i == j ? 10.0 : 1.0) * (double)(cell % 7 + 1);
            }
    assert_memory_equal(values, expected, (size_t)l->sell->n_values * sizeof *values);
    free(values);
    free(expected);
}

static void check_resources(const layout *l) {
    int most_local = WEFT_SELL_ROWS;
    int64_t most_values = 0;
    for (int64_t b = 0; b < l->addto->n_blocks; ++b) {
        const int local =
            WEFT_SELL_ROWS + (int)(l->addto->halo_start[b + 1] - l->addto->halo_start[b]);
        const int64_t values = (int64_t)l->sell->start[(b + 1) * WEFT_SELL_SLICES] -
                               l->sell->start[b * WEFT_SELL_SLICES];
        most_local = local > most_local ? local : most_local;
        most_values = values > most_values ? values : most_values;
    }
    assert_int_equal(l->addto->most_local, most_local);
    assert_int_equal(l->addto->most_values, most_values);
}

static void words_are_the_cells(void **state) {
    (void)state;
    static const int64_t sizes[][4] = {
        /* cells, width, nodes, spread */
        {1, 3, 3, 3},         {1, 4, 4, 4},      {1, 2, 2, 2},        {40, 3, 31, 31},
        {40, 4, 33, 33},      {900, 3, 513, 30}, {3000, 4, 1200, 40}, {3000, 3, 1500, 1500},
        {2000, 2, 1025, 100}, {0, 3, 100, 10}};
    uint64_t seed = 21;
    for (int threads = 1; threads <= 2; ++threads) {
        weft_device *device = device_make(threads == 1 ? "host:1" : "host:2");
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            const int64_t n_cells = sizes[s][0], n = sizes[s][2];
            const int width = (int)sizes[s][1];
            weft_error error = {0};
            weft_connectivity *dofs = NULL;
            layout l = {0};
            int32_t *cells = cells_make(n_cells, width, n, sizes[s][3], &seed);
            assert_int_equal(
                weft_connectivity_make(device, cells, n_cells, width, n, &dofs, &error), WEFT_OK);
            assert_int_equal(weft_pattern_make(device, dofs, 8, &l.pattern, NULL, &error), WEFT_OK);
            assert_int_equal(weft_sell_make(device, l.pattern, &l.sell, &error), WEFT_OK);
            assert_int_equal(
                weft_addto_make(device, dofs, l.pattern, l.sell, true, &l.addto, &error), WEFT_OK);
            check_words(&l, cells, n_cells, width);
            check_resources(&l);
            weft_addto_free(&l.addto);
            assert_null(l.addto);
            weft_sell_free(&l.sell);
            weft_pattern_free(&l.pattern);
            weft_connectivity_free(&dofs);
            free(cells);
        }
        weft_device_free(&device);
    }
}

/* Facets of cells: rows without any, blocks without any. */
static void facets_in_the_pattern_of_cells(void **state) {
    (void)state;
    weft_device *device = device_make("host:2");
    weft_connectivity *dofs = NULL, *facets = NULL;
    layout l = {0};
    uint64_t seed = 4;
    const int64_t n = 2000, n_cells = 6000, n_facets = 50;
    int32_t *cells = cells_make(n_cells, 4, n, 30, &seed);
    int32_t *sides = weft_array_make((size_t)n_facets * 3, sizeof *sides);
    for (int64_t i = 0; i < n_facets; ++i)
        memcpy(sides + 3 * i, cells + 4 * i, 3 * sizeof *sides);
    assert_int_equal(weft_connectivity_make(device, cells, n_cells, 4, n, &dofs, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_make(device, sides, n_facets, 3, n, &facets, NULL), WEFT_OK);
    assert_int_equal(weft_pattern_make(device, dofs, 8, &l.pattern, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sell_make(device, l.pattern, &l.sell, NULL), WEFT_OK);
    assert_int_equal(weft_addto_make(device, facets, l.pattern, l.sell, true, &l.addto, NULL),
                     WEFT_OK);
    check_words(&l, sides, n_facets, 3);
    weft_addto_free(&l.addto);
    weft_sell_free(&l.sell);
    weft_pattern_free(&l.pattern);
    weft_connectivity_free(&dofs);
    weft_connectivity_free(&facets);
    free(cells);
    free(sides);
    weft_device_free(&device);
}

static weft_status try_cells(weft_device *device, const int32_t *cells, int64_t n_cells, int width,
                             int64_t n, weft_connectivity *pattern_of, weft_error *error) {
    weft_connectivity *dofs = NULL;
    layout l = {0};
    assert_int_equal(weft_connectivity_make(device, cells, n_cells, width, n, &dofs, NULL),
                     WEFT_OK);
    assert_int_equal(
        weft_pattern_make(device, pattern_of ? pattern_of : dofs, 8, &l.pattern, NULL, NULL),
        WEFT_OK);
    assert_int_equal(weft_sell_make(device, l.pattern, &l.sell, NULL), WEFT_OK);
    const weft_status status =
        weft_addto_make(device, dofs, l.pattern, l.sell, false, &l.addto, error);
    assert_null(l.addto);
    weft_sell_free(&l.sell);
    weft_pattern_free(&l.pattern);
    weft_connectivity_free(&dofs);
    return status;
}

static void what_words_cannot_say_is_refused(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    weft_error error = {0};
    uint64_t seed = 8;
    int32_t twice[] = {0, 1, 1};
    assert_int_equal(try_cells(device, twice, 1, 3, 3, NULL, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "twice"));
    int32_t many[] = {0, 1, 2, 3, 4, 5};
    assert_int_equal(try_cells(device, many, 1, 6, 6, NULL, &error), WEFT_ERROR_UNSUPPORTED);
    int32_t patch[2 * 300];
    for (int i = 0; i < 300; ++i) {
        patch[2 * i] = 0;
        patch[2 * i + 1] = i + 1;
    }
    assert_int_equal(try_cells(device, patch, 300, 2, 301, NULL, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "256"));
    int32_t *far = cells_make(60000, 4, 100000, 100000, &seed);
    for (int i = 0; i < 20000; ++i)
        far[4 * i] = i % 512;
    assert_int_equal(try_cells(device, far, 60000, 4, 100000, NULL, &error),
                     WEFT_ERROR_UNSUPPORTED);
    free(far);
    int32_t one[] = {0, 1, 2}, other[] = {2, 3, 4};
    weft_connectivity *dofs = NULL;
    assert_int_equal(weft_connectivity_make(device, one, 1, 3, 5, &dofs, NULL), WEFT_OK);
    assert_int_equal(try_cells(device, other, 1, 3, 5, dofs, &error), WEFT_ERROR_SHAPE);
    weft_connectivity_free(&dofs);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_cells),
        cmocka_unit_test(facets_in_the_pattern_of_cells),
        cmocka_unit_test(what_words_cannot_say_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
