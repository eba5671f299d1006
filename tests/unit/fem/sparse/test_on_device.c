/* labels: full */
/* Forms of connectivities, patterns, SELL layouts, the cells of rows, symmetric layouts and positions
 * that a device makes, against those of the host, bit by bit, at sizes around those of slices, blocks
 * and thread blocks. The host's are checked by test_pattern.c, test_sell.c, test_addto.c and
 * test_symmetric.c. Runs on an emulated GPU, or on the device that WEFT_TEST_DEVICE names. */
#include "fem/sparse/on_device.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/connectivity.h"
#include "setup_support.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>

typedef struct example {
    int64_t n_cells, n_nodes, spread; /* nodes of a cell are within `spread` of each other */
    int width;
    bool repeats; /* some cells have a node twice */
} example;

typedef struct both {
    weft_device *device, *host;
    int32_t *cells;
    weft_connectivity *on_device, *on_host;
} both;

static int32_t *cells_make(const example *e) {
    uint64_t seed = 99 + (uint64_t)e->n_nodes;
    int32_t *cells = weft_array_make((size_t)(e->n_cells * e->width) + 1, sizeof *cells);
    const int64_t range = e->spread < e->n_nodes ? e->spread : e->n_nodes;
    for (int64_t cell = 0; cell < e->n_cells; ++cell) {
        const int64_t first = (int64_t)(setup_random(&seed) % (uint64_t)e->n_nodes);
        const int64_t step = 1 + (int64_t)(setup_random(&seed) % (uint64_t)(range / e->width));
        for (int v = 0; v < e->width; ++v) {
            const int rotated = (v + (int)(cell % e->width)) % e->width;
            const int64_t off = e->repeats && cell % 5 == 0 && rotated == 1 ? 0 : rotated * step;
            cells[cell * e->width + v] = (int32_t)((first + off) % e->n_nodes);
        }
    }
    return cells;
}

static both both_make(const example *e) {
    both b = {.device = setup_device(), .cells = cells_make(e)};
    assert_int_equal(weft_device_open("host:1", NULL, &b.host, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_make(b.device, b.cells, e->n_cells, e->width, e->n_nodes,
                                            &b.on_device, NULL),
                     WEFT_OK);
    assert_int_equal(
        weft_connectivity_make(b.host, b.cells, e->n_cells, e->width, e->n_nodes, &b.on_host, NULL),
        WEFT_OK);
    return b;
}

static void both_free(both *b) {
    weft_connectivity_free(&b->on_device);
    weft_connectivity_free(&b->on_host);
    weft_device_free(&b->device);
    weft_device_free(&b->host);
    free(b->cells);
}

static void check_forms(const both *b, const example *e, int lanes) {
    weft_memory *made[2] = {NULL, NULL}, *start[2] = {NULL, NULL}, *places[2] = {NULL, NULL};
    weft_connectivity *of[2] = {b->on_host, b->on_device};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(weft_connectivity_interleaved(of[i], lanes, &made[i], NULL), WEFT_OK);
        assert_int_equal(weft_connectivity_transposed(of[i], lanes, &start[i], &places[i], NULL),
                         WEFT_OK);
    }
    const size_t n_padded = (size_t)((e->n_cells + lanes - 1) / lanes * lanes * e->width);
    setup_equal("interleaved", made[1], weft_memory_host(made[0]), n_padded * sizeof(int32_t));
    setup_equal("starts", start[1], weft_memory_host(start[0]),
                (size_t)(e->n_nodes + 1) * sizeof(int64_t));
    setup_equal("places", places[1], weft_memory_host(places[0]),
                (size_t)(e->n_cells * e->width) * sizeof(uint32_t));
}

static void check_pattern(const weft_device_pattern *made, const weft_pattern *expected,
                          const weft_sell_matrix *matrix, weft_setup *setup) {
    const size_t bytes = (size_t)expected->n_entries * sizeof(int32_t);
    weft_memory *again = NULL;
    weft_pattern read = {.n_rows = made->n_rows, .n_entries = made->n_entries};
    assert_int_equal(made->n_rows, expected->n_rows);
    assert_int_equal(made->n_entries, expected->n_entries);
    setup_equal("row starts", made->row_start, expected->row_start,
                (size_t)(expected->n_rows + 1) * sizeof(int64_t));
    setup_equal("columns", made->columns, expected->columns, bytes);
    assert_int_equal(weft_device_pattern_read(made, &read, NULL), WEFT_OK);
    assert_memory_equal(read.columns, expected->columns, bytes);
    assert_memory_equal(read.row_start, expected->row_start,
                        (size_t)(expected->n_rows + 1) * sizeof(int64_t));
    assert_int_equal(
        weft_sell_matrix_columns(setup, matrix, made->row_start, made->n_entries, &again, NULL),
        WEFT_OK);
    setup_equal("columns of the layout", again, expected->columns, bytes);
    weft_memory_free(&again);
    assert_int_equal(weft_sell_matrix_row_starts(setup, matrix, &again, NULL), WEFT_OK);
    setup_equal("starts of rows of the layout", again, expected->row_start,
                (size_t)(expected->n_rows + 1) * sizeof(int64_t));
    weft_memory_free(&again);
    free(read.row_start);
    free(read.columns);
}

static void check_layout(const weft_sell_matrix *matrix, const weft_sell *s) {
    /* values, start, columns, column_start, bases, rows */
    weft_memory *const *arguments = weft_sell_matrix_product_kernel(matrix)->arguments;
    const size_t n_starts = (size_t)s->n_blocks * WEFT_SELL_SLICES + 1;
    assert_true(weft_memory_bytes(arguments[0]) >= (size_t)s->n_values * sizeof(double));
    setup_equal("starts of slices", arguments[1], s->start, n_starts * sizeof *s->start);
    setup_equal("columns of slices", arguments[2], s->columns,
                (size_t)s->n_words * sizeof *s->columns);
    setup_equal("starts of columns", arguments[3], s->column_start,
                n_starts * sizeof *s->column_start);
    setup_equal("bases", arguments[4], s->bases,
                (size_t)s->n_blocks * WEFT_SELL_BASES * sizeof *s->bases);
    setup_equal("rows of slices", arguments[5], s->rows,
                (size_t)s->n_blocks * WEFT_SELL_ROWS * sizeof *s->rows);
}

static void check_words(const weft_matrix_rows *made, const weft_addto *a) {
    const size_t n_starts = (size_t)a->n_blocks * WEFT_SELL_SLICES + 1;
    assert_int_equal(made->most_local, a->most_local);
    assert_int_equal(made->most_values, a->most_values);
    setup_equal("starts of words", made->word_start, a->word_start,
                n_starts * sizeof *a->word_start);
    setup_equal("starts of halos", made->halo_start, a->halo_start,
                (size_t)(a->n_blocks + 1) * sizeof *a->halo_start);
    setup_equal("halos", made->halo, a->halo, (size_t)a->n_halo * sizeof *a->halo);
    setup_equal("words", made->words, a->words, (size_t)a->n_words * sizeof *a->words);
    setup_equal("cells", made->cells, a->cells, (size_t)a->n_words * sizeof *a->cells);
}

/* The words of the rows of a band are those of the whole, from its first slice on. */
static void check_band(const both *b, weft_setup *setup, const weft_sell_matrix *matrix,
                       const weft_device_halos *halos, const weft_target_range *band,
                       const weft_addto *a) {
    weft_row_cells cells = {0};
    weft_matrix_rows rows = {0};
    const int64_t slice = band->first / WEFT_SLICE;
    const int64_t n_slices = (band->n + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS * WEFT_SELL_SLICES;
    const uint32_t first = a->word_start[slice];
    assert_int_equal(weft_row_cells_make(setup, b->on_device, band, &cells, NULL), WEFT_OK);
    assert_int_equal(
        weft_addto_rows_on_device(setup, matrix, halos, b->on_device, &cells, true, &rows, NULL),
        WEFT_OK);
    int64_t *first_block = setup_read(rows.first, sizeof *first_block);
    uint32_t *start = setup_read(rows.word_start, (size_t)(slice + n_slices + 1) * sizeof *start);
    assert_int_equal(*first_block, band->first / WEFT_SELL_ROWS);
    assert_int_equal(rows.n_blocks, n_slices / WEFT_SELL_SLICES);
    assert_int_equal(rows.n_rows, weft_connectivity_to(b->on_device));
    assert_int_equal(rows.most_local, a->most_local);
    assert_int_equal(rows.most_values, a->most_values);
    for (int64_t i = 0; i <= n_slices; ++i)
        assert_int_equal(start[slice + i], a->word_start[slice + i] - first);
    setup_equal("words of a band", rows.words, a->words + first,
                (a->word_start[slice + n_slices] - first) * sizeof *a->words);
    setup_equal("cells of a band", rows.cells, a->cells + first,
                (a->word_start[slice + n_slices] - first) * sizeof *a->cells);
    free(first_block);
    free(start);
    rows.halo_start = rows.halo = NULL;
    weft_addto_rows_free(&rows);
    weft_row_cells_free(&cells);
}

/* The first block, and the others. */
static void check_bands(const both *b, weft_setup *setup, const weft_sell_matrix *matrix,
                        const weft_device_halos *halos, const weft_addto *a) {
    const int64_t n = weft_connectivity_to(b->on_device);
    const weft_target_range bands[] = {{0, WEFT_SELL_ROWS}, {WEFT_SELL_ROWS, n - WEFT_SELL_ROWS}};
    for (int i = 0; i < 2 && n > WEFT_SELL_ROWS; ++i)
        check_band(b, setup, matrix, halos, &bands[i], a);
}

/* Both refuse, or both make the same. */
static void check_rows(const both *b, weft_setup *setup, const weft_device_pattern *pattern,
                       const weft_row_cells *cells, const weft_sell_matrix *matrix,
                       const weft_pattern *host_pattern, const weft_sell *sell) {
    weft_error errors[2] = {0};
    weft_matrix_rows rows = {0};
    weft_device_halos halos = {0};
    weft_addto *addto = NULL;
    const weft_status expected =
        weft_addto_make(b->host, b->on_host, host_pattern, sell, true, &addto, &errors[0]);
    weft_status status = weft_device_halos_make(setup, pattern, &halos, &errors[1]);
    if (status == WEFT_OK)
        status = weft_addto_rows_on_device(setup, matrix, &halos, b->on_device, cells, true, &rows,
                                           &errors[1]);
    assert_int_equal(status, expected);
    if (expected == WEFT_OK) {
        check_words(&rows, addto);
        check_bands(b, setup, matrix, &halos, addto);
    } else {
        assert_string_equal(errors[0].message, errors[1].message);
    }
    rows.halo_start = rows.halo = NULL;
    weft_addto_rows_free(&rows);
    weft_device_halos_free(&halos);
    weft_addto_free(&addto);
}

static void check_example(const example *e) {
    both b = both_make(e);
    weft_setup *setup = NULL;
    weft_row_cells cells = {0};
    weft_device_pattern made = {0};
    weft_sell_matrix *matrix = NULL;
    weft_pattern *pattern = NULL;
    weft_sell *sell = NULL;
    weft_error error = {0};
    check_forms(&b, e, 32);
    assert_int_equal(weft_pattern_make(b.host, b.on_host, 8, &pattern, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sell_make(b.host, pattern, &sell, NULL), WEFT_OK);
    assert_int_equal(weft_setup_make(b.device, &setup, NULL), WEFT_OK);
    assert_int_equal(weft_row_cells_make(setup, b.on_device, NULL, &cells, &error), WEFT_OK);
    if (weft_device_pattern_make(setup, b.on_device, &cells, &made, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(weft_sell_matrix_from_device(setup, &made, &matrix, &error), WEFT_OK);
    assert_int_equal(weft_sell_matrix_make_values(matrix, &error), WEFT_OK);
    check_pattern(&made, pattern, matrix, setup);
    check_layout(matrix, sell);
    check_rows(&b, setup, &made, &cells, matrix, pattern, sell);
    weft_sell_matrix_free(&matrix);
    weft_device_pattern_free(&made);
    weft_row_cells_free(&cells);
    weft_setup_free(&setup);
    weft_sell_free(&sell);
    weft_pattern_free(&pattern);
    both_free(&b);
}

/* ---- symmetric layouts ---- */

/* A pattern on both, and its layout on the device, if it can be made there. */
typedef struct layouts {
    weft_setup *setup;
    weft_pattern *pattern;
    weft_device_pattern device_pattern;
    weft_symmetric *expected;
    weft_device_symmetric made;
} layouts;

static void layouts_free(layouts *l) {
    weft_device_symmetric_free(&l->made);
    weft_device_pattern_free(&l->device_pattern);
    weft_symmetric_free(&l->expected);
    weft_pattern_free(&l->pattern);
    weft_setup_free(&l->setup);
}

static weft_status layouts_make(const both *b, int most_rounds, layouts *l, weft_error *error) {
    const weft_symmetric_options options = {.few_discards = true, .most_rounds = most_rounds};
    weft_row_cells cells = {0};
    assert_int_equal(weft_setup_make(b->device, &l->setup, NULL), WEFT_OK);
    assert_int_equal(weft_pattern_make(b->host, b->on_host, 8, &l->pattern, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_symmetric_make(b->host, l->pattern, &options, &l->expected, NULL),
                     WEFT_OK);
    assert_int_equal(weft_row_cells_make(l->setup, b->on_device, NULL, &cells, NULL), WEFT_OK);
    assert_int_equal(
        weft_device_pattern_make(l->setup, b->on_device, &cells, &l->device_pattern, NULL),
        WEFT_OK);
    weft_row_cells_free(&cells);
    return weft_device_symmetric_make(l->setup, &l->device_pattern, &options, &l->made, error);
}

static void check_layouts(const layouts *l) {
    const weft_symmetric *a = l->expected, *b = l->made.sizes;
    const size_t n_patches = (size_t)a->n_patches;
    setup_equal("offsets", l->made.offsets, a->offsets,
                (size_t)l->pattern->n_entries * sizeof *a->offsets);
    assert_memory_equal(b->patches, a->patches, n_patches * sizeof *a->patches);
    setup_equal("patches", l->made.patches, a->patches, n_patches * sizeof *a->patches);
    setup_equal("columns of patches", l->made.columns, a->columns,
                (size_t)a->n_columns * sizeof *a->columns);
    setup_equal("lists of patches", l->made.lists, a->lists, (size_t)a->n_lists * sizeof *a->lists);
    assert_int_equal(b->n_values, a->n_values);
    assert_int_equal(b->first_discard, a->first_discard);
    assert_int_equal(b->n_discard, a->n_discard);
    assert_int_equal(b->n_overflow, a->n_overflow);
}

/* Of the cells, and the error for a connectivity with a coupling that the pattern lacks. */
static void check_positions(const both *b, const example *e, const layouts *l) {
    weft_memory *made[2] = {NULL, NULL}, *refused = NULL;
    weft_connectivity *other = NULL;
    const size_t n_padded = (size_t)((e->n_cells + 31) / 32 * 32);
    const int32_t far[] = {0, (int32_t)(e->n_nodes - 1)};
    assert_int_equal(
        weft_symmetric_positions(b->host, l->expected, l->pattern, b->on_host, 32, &made[0], NULL),
        WEFT_OK);
    assert_int_equal(weft_device_symmetric_positions(l->setup, &l->made, &l->device_pattern,
                                                     b->on_device, 32, &made[1], NULL),
                     WEFT_OK);
    setup_equal("positions", made[1], weft_memory_host(made[0]),
                n_padded * (size_t)(e->width * e->width) * sizeof(uint32_t));
    assert_int_equal(weft_connectivity_make(b->device, far, 1, 2, e->n_nodes, &other, NULL),
                     WEFT_OK);
    assert_int_equal(weft_device_symmetric_positions(l->setup, &l->made, &l->device_pattern, other,
                                                     32, &refused, NULL),
                     WEFT_ERROR_SHAPE);
    assert_null(refused);
    weft_connectivity_free(&other);
    weft_memory_free(&made[0]);
    weft_memory_free(&made[1]);
}

static both both_of(const int32_t *cells, const example *e) {
    both b = {.device = setup_device()};
    const size_t n = (size_t)(e->n_cells * e->width);
    b.cells = weft_array_make(n, sizeof *b.cells);
    memcpy(b.cells, cells, n * sizeof *cells);
    assert_int_equal(weft_device_open("host:1", NULL, &b.host, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_make(b.device, b.cells, e->n_cells, e->width, e->n_nodes,
                                            &b.on_device, NULL),
                     WEFT_OK);
    assert_int_equal(
        weft_connectivity_make(b.host, b.cells, e->n_cells, e->width, e->n_nodes, &b.on_host, NULL),
        WEFT_OK);
    return b;
}

/* A chain of simplices, ends of which do not couple. */
static void symmetric_positions(void **state) {
    (void)state;
    for (int width = 3; width <= 4; ++width) {
        const example e = {1100, 1100 + width - 1, 0, width, false};
        int32_t cells[1100 * 4];
        layouts l = {0};
        for (int64_t i = 0; i < e.n_cells * width; ++i)
            cells[i] = (int32_t)(i / width + i % width);
        both b = both_of(cells, &e);
        assert_int_equal(layouts_make(&b, 0, &l, NULL), WEFT_OK);
        check_layouts(&l);
        check_positions(&b, &e, &l);
        layouts_free(&l);
        both_free(&b);
    }
}

static void check_symmetric(const example *e, int most_rounds) {
    both b = both_make(e);
    layouts l = {0};
    assert_int_equal(layouts_make(&b, most_rounds, &l, NULL), WEFT_OK);
    check_layouts(&l);
    if (most_rounds == 1 && e->n_nodes > 100)
        assert_true(l.expected->n_overflow > e->n_nodes);
    layouts_free(&l);
    both_free(&b);
}

/* Cells of near nodes: sizes around those of a patch, with as many rounds as wanted or so few that
 * rows are relieved, paths are reversed in both directions and edges overflow. */
static void symmetric_near_cells(void **state) {
    (void)state;
    static const int64_t sizes[] = {4, 31, 512, 513, 1500};
    static const int rounds[] = {0, 1, 3, 6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        for (size_t k = 0; k < sizeof rounds / sizeof *rounds; ++k) {
            const example e = {sizes[i] * 5 / 2, sizes[i], 30 + 40 * (int64_t)k, 3, false};
            check_symmetric(&e, rounds[k]);
        }
}

/* Halos of more rows than are staged, and hardly any edge inside a patch. */
static void symmetric_far_cells(void **state) {
    (void)state;
    const example e = {9000, 6000, 6000, 4, false};
    check_symmetric(&e, 0);
}

/* Meshes as they come from an ordering. */
static void symmetric_meshes(void **state) {
    (void)state;
    static const char *const names[] = {"square:40", "cube:12"};
    for (int k = 0; k < 2; ++k) {
        weft_mesh *mesh = NULL;
        layouts l = {0};
        assert_int_equal(weft_mesh_read(names[k], 0, NULL, &mesh, NULL), WEFT_OK);
        assert_int_equal(weft_mesh_order(NULL, mesh, WEFT_ORDERING_BISECTION, 0, NULL, NULL, NULL),
                         WEFT_OK);
        const example e = {mesh->n_cells, mesh->n_nodes, 0, mesh->dimension + 1, false};
        both b = both_of(mesh->cells, &e);
        assert_int_equal(layouts_make(&b, 0, &l, NULL), WEFT_OK);
        check_layouts(&l);
        check_positions(&b, &e, &l);
        layouts_free(&l);
        both_free(&b);
        weft_mesh_free(&mesh);
    }
}

/* 100 rows that all couple with each other have 4950 edges: the device refuses them. */
static void symmetric_too_dense(void **state) {
    (void)state;
    int32_t cells[4950 * 2];
    const example e = {4950, 100, 0, 2, false};
    layouts l = {0};
    weft_error error = {0};
    int64_t n = 0;
    for (int32_t i = 0; i < 100; ++i)
        for (int32_t j = 0; j < i; ++j, ++n) {
            cells[2 * n] = i;
            cells[2 * n + 1] = j;
        }
    both b = both_of(cells, &e);
    assert_int_equal(layouts_make(&b, 0, &l, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "4096"));
    assert_null(l.made.sizes);
    layouts_free(&l);
    both_free(&b);
}

static void near_cells(void **state) {
    (void)state;
    static const int64_t sizes[] = {4, 31, 32, 33, 255, 257, 511, 512, 513, 1023, 1025, 3001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int width = 2 + (int)(i % 3);
        const example e = {sizes[i] * width, sizes[i], 40, width, false};
        check_example(&e);
    }
}

/* Columns in so many segments of 2048 that they are not coded; some nodes have no cell. */
static void far_cells(void **state) {
    (void)state;
    const example coded = {3000, 9000, 9000, 3, false}, plain = {2500, 150000, 150000, 4, false};
    check_example(&coded);
    check_example(&plain);
}

/* The same, so many that a block couples with more than 2^13 rows. */
static void too_many_neighbours(void **state) {
    (void)state;
    const example e = {60000, 20000, 20000, 4, false};
    check_example(&e);
}

static void repeated_nodes(void **state) {
    (void)state;
    const example e = {700, 600, 60, 3, true};
    check_example(&e);
}

/* A node of many cells: its list is sorted as a heap. With more than 256 entries in its row, the
 * device refuses. */
static void a_hub(void **state) {
    (void)state;
    static const int64_t sizes[] = {200, 300, 9000}; /* the last does not fit into shared memory */
    for (int k = 0; k < 3; ++k) {
        const int64_t n = sizes[k];
        int32_t *cells = weft_array_make((size_t)n * 3, sizeof *cells);
        for (int64_t i = 0; i < n; ++i) {
            cells[3 * i] = (int32_t)n;
            cells[3 * i + 1] = (int32_t)i;
            cells[3 * i + 2] = (int32_t)((i + 1) % n);
        }
        const example e = {n, n + 1, 0, 3, false};
        both b = {.device = setup_device(), .cells = cells};
        weft_setup *setup = NULL;
        weft_row_cells found = {0};
        weft_device_pattern made = {0};
        weft_error error = {0};
        assert_int_equal(weft_device_open("host:1", NULL, &b.host, NULL), WEFT_OK);
        assert_int_equal(weft_connectivity_make(b.device, cells, n, 3, n + 1, &b.on_device, NULL),
                         WEFT_OK);
        assert_int_equal(weft_connectivity_make(b.host, cells, n, 3, n + 1, &b.on_host, NULL),
                         WEFT_OK);
        check_forms(&b, &e, 32);
        assert_int_equal(weft_setup_make(b.device, &setup, NULL), WEFT_OK);
        assert_int_equal(weft_row_cells_make(setup, b.on_device, NULL, &found, NULL), WEFT_OK);
        const weft_status status =
            weft_device_pattern_make(setup, b.on_device, &found, &made, &error);
        assert_int_equal(status, n < 256 ? WEFT_OK : WEFT_ERROR_UNSUPPORTED);
        if (status == WEFT_OK)
            assert_int_equal(made.n_entries, n + 1 + 4 * n); /* 1 + n, n rows of 4 */
        else
            assert_non_null(strstr(error.message, "256"));
        weft_device_pattern_free(&made);
        weft_row_cells_free(&found);
        weft_setup_free(&setup);
        both_free(&b);
    }
}

/* A copy of the indices on the device that has others is not used; where the host's are wrong too, it
 * says which. */
static void wrong_copies(void **state) {
    (void)state;
    static const int32_t right[] = {0, 1, 2, 2, 1, 3}, wrong[] = {0, 1, 2, 2, 1, -1},
                         above[] = {0, 4, 2, 2, 1, 3};
    const int32_t *const copies[] = {right, wrong, above};
    weft_device *device = setup_device();
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            weft_memory *plain = NULL, *made = NULL;
            weft_connectivity *c = NULL;
            weft_error error = {0};
            assert_int_equal(weft_memory_make(device, sizeof right, &plain, NULL), WEFT_OK);
            assert_int_equal(weft_memory_write(plain, 0, copies[i], sizeof right, NULL), WEFT_OK);
            const weft_status status =
                weft_connectivity_make_copied(device, copies[k], &plain, 3, 4, &c, &error);
            assert_int_equal(status, i > 0 && k > 0 ? WEFT_ERROR_SHAPE : WEFT_OK);
            assert_true((plain == NULL) == (i == 0));
            if (status != WEFT_OK)
                assert_non_null(strstr(error.message, k == 1 ? "index -1" : "index 4"));
            else {
                assert_int_equal(weft_connectivity_from(c), 2);
                assert_int_equal(weft_connectivity_interleaved(c, 1, &made, NULL), WEFT_OK);
                setup_equal("indices", made, i > 0 ? copies[k] : right, sizeof right);
            }
            weft_memory_free(&plain);
            weft_connectivity_free(&c);
        }
    weft_device_free(&device);
}

static weft_status (*memory_make)(weft_memory *memory, weft_error *error);
static int64_t n_left; /* allocations until the one that fails; 0: none does */

static weft_status failing_memory_make(weft_memory *memory, weft_error *error) {
    if (n_left > 0 && --n_left == 0)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "no device memory, for the test");
    return memory_make(memory, error);
}

static weft_status lay_out_and_find(layouts *l, const both *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_symmetric_options options = {.few_discards = true};
    weft_device_symmetric made = {0};
    weft_memory *positions = NULL;
    TRY(weft_device_symmetric_make(l->setup, &l->device_pattern, &options, &made, error));
    TRY(weft_device_symmetric_positions(l->setup, &made, &l->device_pattern, b->on_device, 32,
                                        &positions, error));
done:
    weft_memory_free(&positions);
    weft_device_symmetric_free(&made);
    return status;
}

/* Every allocation fails once: the error is reported, and nothing stays allocated. */
static void symmetric_allocations_may_fail(void **state) {
    (void)state;
    const example e = {500, 520, 40, 3, false};
    layouts l = {0};
    weft_error error = {0};
    if (getenv("WEFT_TEST_DEVICE"))
        skip_test("the memory of a real device does not fail on request");
    both b = both_make(&e);
    assert_int_equal(layouts_make(&b, 0, &l, NULL), WEFT_OK);
    weft_device_table *table = (weft_device_table *)(uintptr_t)b.device->table;
    memory_make = table->memory_make;
    table->memory_make = failing_memory_make;
    const size_t bytes = weft_device_bytes(b.device);
    int64_t n_failed = -1;
    for (weft_status status = WEFT_ERROR_MEMORY; status != WEFT_OK; ++n_failed) {
        n_left = n_failed + 2;
        status = lay_out_and_find(&l, &b, &error);
        assert_true(status == WEFT_OK || status == WEFT_ERROR_MEMORY);
        assert_int_equal(weft_device_bytes(b.device), bytes);
    }
    assert_true(n_failed > 10);
    table->memory_make = memory_make;
    layouts_free(&l);
    both_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_cells),
                                       cmocka_unit_test(far_cells),
                                       cmocka_unit_test(too_many_neighbours),
                                       cmocka_unit_test(repeated_nodes),
                                       cmocka_unit_test(a_hub),
                                       cmocka_unit_test(wrong_copies),
                                       cmocka_unit_test(symmetric_positions),
                                       cmocka_unit_test(symmetric_near_cells),
                                       cmocka_unit_test(symmetric_far_cells),
                                       cmocka_unit_test(symmetric_meshes),
                                       cmocka_unit_test(symmetric_too_dense),
                                       cmocka_unit_test(symmetric_allocations_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
