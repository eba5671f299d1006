/* labels: quick */
/* The SELL layout against the pattern it was made from: every entry once and where the layout
 * says, products by the walk that kernels/operators/sell.product.cu does. Sums of the same terms in
 * another order differ by a few units in the last place. */
#include "core/weft_core.h"
#include "fem/sparse/sell.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
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

static int ascending(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

typedef enum rows_kind {
    ROWS_NEAR, /* columns within 40 of the row */
    ROWS_FAR,  /* anywhere */
    ROWS_GAPS, /* every third row empty, others with or without a diagonal */
    ROWS_LONG, /* one row with every column */
    ROWS_NONE, /* no entries at all */
    ROWS_KINDS
} rows_kind;

/* A row's columns, ascending, into out; gives their number. */
static int64_t row_make(rows_kind kind, int64_t row, int64_t n, int32_t *out, uint64_t *seed) {
    int64_t count = 0;
    if (kind == ROWS_NONE || (kind == ROWS_GAPS && row % 3 == 1))
        return 0;
    if (kind == ROWS_LONG && row == n / 2) {
        for (int64_t c = 0; c < n; ++c)
            out[c] = (int32_t)c;
        return n;
    }
    const int64_t wanted = 1 + (int64_t)(random_next(seed) % 20);
    for (int64_t k = 0; k < wanted; ++k) {
        int64_t c = (int64_t)(random_next(seed) % (uint64_t)n);
        if (kind == ROWS_NEAR)
            c = row + (int64_t)(random_next(seed) % 81) - 40;
        if (c >= 0 && c < n && (kind == ROWS_GAPS || c != row))
            out[count++] = (int32_t)c;
    }
    if (kind != ROWS_GAPS)
        out[count++] = (int32_t)row;
    qsort(out, (size_t)count, sizeof *out, ascending);
    int64_t kept = 0;
    for (int64_t k = 0; k < count; ++k)
        if (k == 0 || out[k] != out[k - 1])
            out[kept++] = out[k];
    return kept;
}

static weft_pattern pattern_make(rows_kind kind, int64_t n, uint64_t *seed) {
    weft_pattern p = {.n_rows = n};
    p.row_start = weft_array_make((size_t)n + 1, sizeof *p.row_start);
    p.columns = weft_array_make((size_t)(n * 22 + n), sizeof *p.columns);
    for (int64_t r = 0; r < n; ++r) {
        p.n_entries += row_make(kind, r, n, p.columns + p.n_entries, seed);
        p.row_start[r + 1] = p.n_entries;
    }
    return p;
}

/* Values of the layout from values of the pattern; every entry has a place of its own. */
static double *values_place(const weft_pattern *p, const weft_sell *s, const double *a) {
    double *values = calloc((size_t)s->n_values + 1, sizeof *values);
    char *taken = calloc((size_t)s->n_values + 1, 1);
    for (int64_t r = 0; r < p->n_rows; ++r) {
        int64_t k = 0;
        for (int64_t e = p->row_start[r]; e < p->row_start[r + 1]; ++e) {
            const bool diagonal = p->columns[e] == r;
            const int64_t place = diagonal ? r : weft_sell_place(s, r, k);
            if (!diagonal)
                assert_int_equal(weft_sell_column(s, r, k++), p->columns[e]);
            assert_in_range(place, 0, s->n_values - 1);
            assert_int_equal(taken[place]++, 0);
            values[place] = a[e];
        }
        const int64_t slice = r / WEFT_SELL_ROWS * WEFT_SELL_SLICES + s->slots[r] / WEFT_SLICE;
        assert_in_range(k, 0, weft_sell_length(s, slice));
        for (; k < weft_sell_length(s, slice); ++k)
            assert_int_equal(weft_sell_column(s, r, k), r);
    }
    free(taken);
    return values;
}

/* As the kernel: block by block, slice by slice, lane by lane, sums put back by rows. */
static void product(const weft_sell *s, const double *values, const double *v, double *y) {
    for (int64_t block = 0; block < s->n_blocks; ++block) {
        double sums[WEFT_SELL_ROWS];
        const int32_t *bases = s->bases + block * WEFT_SELL_BASES;
        for (int place = 0; place < WEFT_SELL_ROWS; ++place) {
            const int lane = place % WEFT_SLICE;
            const int64_t slice = block * WEFT_SELL_SLICES + place / WEFT_SLICE;
            const double *a = values + s->start[slice] + lane;
            const uint32_t *c = s->columns + s->column_start[slice] + lane;
            double sum = 0;
            for (int64_t j = 0; j < weft_sell_length(s, slice); ++j) {
                const uint32_t word = bases[0] < 0 ? c[j * WEFT_SLICE] : c[j / 2 * WEFT_SLICE];
                const uint32_t code = j % 2 ? word >> 16 : word & 0xffff;
                const int32_t column =
                    bases[0] < 0 ? (int32_t)word : bases[code >> 11] + (int32_t)(code & 2047);
                assert_in_range(column, 0, s->n_rows - 1);
                sum += a[j * WEFT_SLICE] * v[column];
            }
            sums[s->rows[block * WEFT_SELL_ROWS + place]] = sum;
        }
        for (int i = 0; i < WEFT_SELL_ROWS; ++i) {
            const int64_t row = block * WEFT_SELL_ROWS + i;
            if (row < s->n_rows)
                y[row] = sums[i] + values[row] * v[row];
        }
    }
}

static void check_order(const weft_sell *s) {
    for (int64_t block = 0; block < s->n_blocks; ++block) {
        for (int i = 0; i < WEFT_SELL_ROWS; ++i) {
            const uint16_t row = s->rows[block * WEFT_SELL_ROWS + i];
            assert_in_range(row, 0, WEFT_SELL_ROWS - 1);
            assert_int_equal(s->slots[block * WEFT_SELL_ROWS + row], i);
        }
        for (int64_t i = 1; i < WEFT_SELL_SLICES; ++i)
            assert_true(weft_sell_length(s, block * WEFT_SELL_SLICES + i) <=
                        weft_sell_length(s, block * WEFT_SELL_SLICES + i - 1));
    }
}

static void check_pattern(weft_device *device, rows_kind kind, int64_t n, uint64_t *seed) {
    weft_error error = {0};
    weft_sell *s = NULL;
    weft_pattern p = pattern_make(kind, n, seed);
    double *a = malloc(((size_t)p.n_entries + 1) * sizeof *a);
    double *v = malloc((size_t)n * sizeof *v), *y = malloc((size_t)n * sizeof *y);
    for (int64_t k = 0; k < p.n_entries; ++k)
        a[k] = (double)(random_next(seed) % 2000) / 1000 - 1;
    for (int64_t r = 0; r < n; ++r)
        v[r] = (double)(random_next(seed) % 2000) / 1000 - 1;
    assert_int_equal(weft_sell_make(device, &p, &s, &error), WEFT_OK);
    assert_int_equal(s->n_blocks, (n + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS);
    check_order(s);
    double *values = values_place(&p, s, a);
    product(s, values, v, y);
    for (int64_t r = 0; r < n; ++r) {
        double expected = 0;
        for (int64_t k = p.row_start[r]; k < p.row_start[r + 1]; ++k)
            expected += a[k] * v[p.columns[k]];
        assert_double_near(y[r], expected, 0,
                           1e-14 * (double)(p.row_start[r + 1] - p.row_start[r] + 2));
    }
    free(values);
    free(a);
    free(v);
    free(y);
    free(p.row_start);
    free(p.columns);
    weft_sell_free(&s);
    assert_null(s);
}

static void entries_are_where_the_layout_says(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 31, 32, 33, 511, 512, 513, 1500, 2049};
    uint64_t seed = 11;
    for (int threads = 1; threads <= 2; ++threads) {
        weft_device *device = device_make(threads == 1 ? "host:1" : "host:2");
        for (int kind = 0; kind < ROWS_KINDS; ++kind)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
                check_pattern(device, (rows_kind)kind, sizes[i], &seed);
        weft_device_free(&device);
    }
}

/* Columns anywhere in more than 32 * 2048: the blocks have no codes; near ones have. */
static void codes_where_they_suffice(void **state) {
    (void)state;
    weft_device *device = device_make("host:2");
    uint64_t seed = 5;
    for (int kind = ROWS_NEAR; kind <= ROWS_FAR; ++kind) {
        const int64_t n = 100000;
        weft_sell *s = NULL;
        weft_pattern p = pattern_make((rows_kind)kind, n, &seed);
        assert_int_equal(weft_sell_make(device, &p, &s, NULL), WEFT_OK);
        for (int64_t block = 0; block < s->n_blocks; ++block)
            assert_true((s->bases[block * WEFT_SELL_BASES] < 0) == (kind == ROWS_FAR));
        weft_sell_free(&s);
        free(p.row_start);
        free(p.columns);
        check_pattern(device, (rows_kind)kind, 70001, &seed);
    }
    weft_device_free(&device);
}

/* Rows of equal length need no filling up; sorting leaves little of it elsewhere. */
static void little_is_filled_up(void **state) {
    (void)state;
    weft_device *device = device_make("host:2");
    uint64_t seed = 9;
    const int64_t n = 51200;
    weft_sell *s = NULL;
    weft_pattern p = pattern_make(ROWS_NEAR, n, &seed);
    assert_int_equal(weft_sell_make(device, &p, &s, NULL), WEFT_OK);
    assert_true((double)s->n_values < 1.1 * (double)p.n_entries);
    weft_sell_free(&s);
    free(p.row_start);
    free(p.columns);
    weft_device_free(&device);
}

static void many_threads_make_the_same(void **state) {
    (void)state;
    weft_device *one = device_make("host:1"), *four = device_make("host:4");
    uint64_t seed = 3;
    weft_sell *a = NULL, *b = NULL;
    weft_pattern p = pattern_make(ROWS_NEAR, 20000, &seed);
    assert_int_equal(weft_sell_make(one, &p, &a, NULL), WEFT_OK);
    assert_int_equal(weft_sell_make(four, &p, &b, NULL), WEFT_OK);
    assert_int_equal(a->n_values, b->n_values);
    assert_int_equal(a->n_words, b->n_words);
    assert_memory_equal(a->columns, b->columns, (size_t)a->n_words * sizeof *a->columns);
    assert_memory_equal(a->rows, b->rows, (size_t)a->n_blocks * WEFT_SELL_ROWS * 2);
    weft_sell_free(&a);
    weft_sell_free(&b);
    free(p.row_start);
    free(p.columns);
    weft_device_free(&one);
    weft_device_free(&four);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_where_the_layout_says),
        cmocka_unit_test(codes_where_they_suffice),
        cmocka_unit_test(little_is_filled_up),
        cmocka_unit_test(many_threads_make_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
