/* labels: quick */
/* Blocks of vectors on an emulated GPU, or the device that WEFT_TEST_DEVICE names, against the host's. Entries are small integers, so that
 * sums are exact in any order, and all operations but those with a root have the same bits. Eigenvalues of grids then agree with the known
 * ones as on the host, to 1e-11, in the same bits when they are computed again, and with the same number of launches in each iteration. */
#include "core/embedded.h"
#include "eigen_support.h"
#include "fem/eigen/private.h"
#include "fem/embedded_solvers.h"
#include "nvrtc_support.h"
#include "setup_support.h"

/* Launches of an iteration with the diagonal as preconditioner, as columns_device.c counts them. */
enum { CHUNK = 1024, LAUNCHES = 42, N_WANTED = 6 };
static const int widths[] = {1, 3, 4, 5, 14, 33};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

/* Columns of integers from -8 to 8. */
static columns block_make(const weft_pencil *pencil, int most, int m, int seed) {
    weft_error error = {0};
    columns block = {.n = 0};
    const int64_t n = pencil->K.n_rows;
    double *column = malloc((size_t)n * sizeof *column);
    check(columns_make(pencil, most, &block, &error), &error);
    for (int k = 0; k < m; ++k) {
        for (int64_t i = 0; i < n; ++i)
            column[i] = floor(8.5 * weft_random_entry(i * 64 + k + 4096 * seed) + 0.5);
        check(columns_set(pencil, &block, k, column, &error), &error);
    }
    block.m = m;
    free(column);
    return block;
}

/* The first `most` columns are the same. */
static void assert_same(const char *what, const weft_pencil *a, const columns *x,
                        const weft_pencil *b, const columns *y) {
    weft_error error = {0};
    const int64_t n = x->n;
    double *of[2] = {malloc((size_t)n * sizeof(double)), malloc((size_t)n * sizeof(double))};
    assert_int_equal(x->m, y->m);
    for (int k = 0; k < x->m; ++k) {
        check(columns_get(a, x, k, of[0], &error), &error);
        check(columns_get(b, y, k, of[1], &error), &error);
        for (int64_t i = 0; i < n; ++i)
            if (of[0][i] != of[1][i])
                fail_msg("%s: row %lld of column %d of %d: %.17g, on the device %.17g", what,
                         (long long)i, k, x->m, of[0][i], of[1][i]);
    }
    free(of[0]);
    free(of[1]);
}

static void assert_equal(const char *what, const double *a, const double *b, int n) {
    for (int i = 0; i < n; ++i)
        if (a[i] != b[i])
            fail_msg("%s: entry %d of %d: %.17g, on the device %.17g", what, i, n, a[i], b[i]);
}

static void fill_integers(int n, double *out) {
    for (int i = 0; i < n; ++i)
        out[i] = floor(3 * weft_random_entry(i + 77));
}

/* A line of n points, with every seventh row dropped. */
typedef struct both {
    grid g;
    int32_t *dropped;
    double *d;
    weft_pencil pencils[2]; /* on the host, on the device */
} both;

static both both_make(int n, weft_device *device) {
    weft_error error = {0};
    both b = {.g = grid_make(n, 1, 1, false, 1, 2)};
    b.dropped = malloc((size_t)(n / 7 + 1) * sizeof *b.dropped);
    b.d = malloc((size_t)n * sizeof *b.d);
    b.pencils[0] = (weft_pencil){.K = b.g.K, .M = b.g.M, .dropped = b.dropped};
    for (int i = 3; i < n; i += 7)
        b.dropped[b.pencils[0].n_dropped++] = i;
    for (int i = 0; i < n; ++i)
        b.d[i] = i % 7 == 3 ? 0 : i % 2 == 0 ? 0.5 : 2;
    b.pencils[1] = b.pencils[0];
    b.pencils[1].device = device;
    check(columns_device_make(&b.pencils[1], b.d, &b.pencils[1].blocks, &error), &error);
    return b;
}

static void both_clear(both *b) {
    columns_device_free(&b->pencils[1].blocks);
    free(b->dropped);
    free(b->d);
    grid_clear(&b->g);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void check_rows(const both *b, int m) {
    weft_error error = {0};
    columns x[2], y[2] = {{.n = 0}, {.n = 0}};
    double *r = calloc(2 * (size_t)b->g.K.n_rows, sizeof *r), *z = r + b->g.K.n_rows;
    int list[64], n_list = 0;
    for (int k = 0; k < m; ++k)
        if (k % 3 != 1 || m == 1)
            list[n_list++] = k;
    for (int w = 0; w < 2; ++w) {
        const weft_pencil *p = &b->pencils[w];
        x[w] = block_make(p, m + 5, m, 1);
        check(columns_make(p, m, &y[w], &error), &error);
        check(columns_product(p, &p->K, &x[w], &y[w], &error), &error);
    }
    assert_same("K x", &b->pencils[0], &y[0], &b->pencils[1], &y[1]);
    for (int w = 0; w < 2; ++w)
        check(columns_product(&b->pencils[w], &b->pencils[w].M, &x[w], &y[w], &error), &error);
    assert_same("M x", &b->pencils[0], &y[0], &b->pencils[1], &y[1]);
    for (int w = 0; w < 2; ++w)
        check(columns_precondition(&b->pencils[w], b->d, &x[w], r, z, &error), &error);
    assert_same("D x", &b->pencils[0], &x[0], &b->pencils[1], &x[1]);
    for (int w = 0; w < 2; ++w)
        check(columns_take(&b->pencils[w], list, n_list, &x[w], &error), &error);
    assert_same("columns taken", &b->pencils[0], &x[0], &b->pencils[1], &x[1]);
    for (int w = 0; w < 2; ++w)
        check(columns_random(&b->pencils[w], 0, m, 19, &y[w], &error), &error);
    assert_same("random columns", &b->pencils[0], &y[0], &b->pencils[1], &y[1]);
    for (int w = 0; w < 2; ++w) {
        columns_free(&x[w]);
        columns_free(&y[w]);
    }
    free(r);
}

static void check_sums(const both *b, int m, int other) {
    weft_error error = {0};
    const int size = m * other;
    double *G = malloc((2 * (size_t)size + 3 * (size_t)m) * sizeof *G);
    double *c = G + 2 * size, *sums = c + m;
    fill_integers(m, c);
    for (int w = 0; w < 2; ++w) {
        const weft_pencil *p = &b->pencils[w];
        columns x = block_make(p, m + 2, m, 2), y = block_make(p, other + 9, other, 3);
        columns z = block_make(p, m, m, 4);
        check(columns_gram(p, &x, &y, G + w * size, &error), &error);
        check(columns_residuals(p, &x, c, &z, b->d, sums + w * m, &error), &error);
        columns_free(&x);
        columns_free(&y);
        columns_free(&z);
    }
    assert_equal("a Gram matrix", G, G + size, size);
    assert_equal("residuals", sums, sums + m, m);
    free(G);
}

/* x = x C + z, y = x C + y D + z, in place and not. */
static void check_combinations(const both *b, int m, int other) {
    weft_error error = {0};
    columns x[2], y[2], z[2];
    double *C = malloc((size_t)(m * other + other * other) * sizeof *C), *D = C + m * other;
    fill_integers(m * other + other * other, C);
    for (int w = 0; w < 2; ++w) {
        const weft_pencil *p = &b->pencils[w];
        x[w] = block_make(p, m > other ? m : other, m, 5);
        y[w] = block_make(p, other + 4, other, 6);
        z[w] = block_make(p, other, other, 7);
        const columns_term three[] = {{&x[w], C}, {&y[w], D}, {&z[w], NULL}};
        check(columns_combine(p, three, 3, other, &y[w], &error), &error);
        check(columns_combine(p, (columns_term[]){{&x[w], C}, {&z[w], NULL}}, 2, other, &x[w],
                              &error),
              &error);
        check(columns_combine(p, &(columns_term){&z[w], D}, 1, other, &z[w], &error), &error);
    }
    assert_same("three terms", &b->pencils[0], &y[0], &b->pencils[1], &y[1]);
    assert_same("a combination in place, and a term", &b->pencils[0], &x[0], &b->pencils[1], &x[1]);
    assert_same("a combination in place", &b->pencils[0], &z[0], &b->pencils[1], &z[1]);
    for (int w = 0; w < 2; ++w) {
        columns_free(&x[w]);
        columns_free(&y[w]);
        columns_free(&z[w]);
    }
    free(C);
}

static void operations(void **state) {
    static const int rows[] = {1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 517};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        both b = both_make(rows[k], *state);
        for (int i = 0; i < N_WIDTHS; ++i) {
            const int other = widths[(i + (int)k + 1) % N_WIDTHS];
            if (rows[k] > CHUNK + 1 && i % 2 == 0)
                continue;
            check_rows(&b, widths[i]);
            check_sums(&b, widths[i], other);
            check_combinations(&b, widths[i], other);
        }
        both_clear(&b);
    }
}

/* More columns than a thread block has threads. */
static void wide_blocks(void **state) {
    both b = both_make(9, *state);
    check_combinations(&b, 5, 520);
    check_combinations(&b, 520, 5);
    check_sums(&b, 33, 270);
    both_clear(&b);
}

/* ---- eigenvalues ----------------------------------------------------------------------------- */

/* Of grids, of which the last one is free; the largest too; the same bits again. */
static void eigenvalues(void **state) {
    static const int sizes[][3] = {{9, 8, 5}, {7, 6, 7}};
    for (int s = 0; s < 2; ++s)
        for (int largest = 0; largest < (s == 0 ? 2 : 1); ++largest) {
            const bool is_free = s == 1;
            grid g = grid_make(sizes[s][0], sizes[s][1], sizes[s][2], is_free, 1, 3);
            const size_t n = (size_t)g.K.n_rows;
            double *one = malloc(n * sizeof *one);
            for (size_t i = 0; i < n; ++i)
                one[i] = 2;
            const weft_pencil pencil = {.device = *state,
                                        .K = g.K,
                                        .M = g.M,
                                        .null = one,
                                        .n_null = is_free,
                                        .rows_on_device = 1};
            weft_eigenpairs pairs = find_of(&pencil, N_WANTED, 1e-8, largest),
                            again = find_of(&pencil, N_WANTED, 1e-8, largest);
            for (int k = 0; k < N_WANTED; ++k) {
                const double expected =
                    largest ? g.greatest[N_WANTED - 1 - k] : g.values[k + is_free];
                assert_true(fabs(pairs.values[k] / expected - 1) < TOLERANCE);
            }
            check_vectors(&pencil, &pairs, 1e-8);
            assert_memory_equal(pairs.values, again.values, N_WANTED * sizeof *pairs.values);
            assert_memory_equal(pairs.vectors, again.vectors, N_WANTED * n * sizeof *pairs.vectors);
            weft_eigenpairs_clear(&pairs);
            weft_eigenpairs_clear(&again);
            free(one);
            grid_clear(&g);
        }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Launches of some iterations. */
static int64_t launches_of(const weft_pencil *pencil, int n, int iterations) {
    const weft_eigen_settings settings = {.n = n, .tolerance = 1e-14, .max_iterations = iterations};
    const int64_t before = weft_device_launches(pencil->device);
    weft_eigenpairs pairs = {.n = 0};
    weft_error error = {0};
    check(weft_eigen_smallest(pencil, &settings, &pairs, &error), &error);
    assert_int_equal(pairs.iterations, iterations);
    weft_eigenpairs_clear(&pairs);
    return weft_device_launches(pencil->device) - before;
}

static void launches(void **state) {
    grid g = grid_make(9, 8, 5, false, 1, 1);
    const weft_pencil pencil = {.device = *state, .K = g.K, .M = g.M, .rows_on_device = 1};
    for (int n = 2; n <= 12; n += 10)
        assert_int_equal(launches_of(&pencil, n, 6) - launches_of(&pencil, n, 3), 3 * LAUNCHES);
    grid_clear(&g);
}

/* The most that is allocated is what was estimated; the marks of dropped rows, and numbers of kernels, are the rest. */
static void memory(void **state) {
    static const double REST = 0.05;
    grid g = grid_make(13, 12, 11, false, 1, 1);
    const int64_t n = g.K.n_rows;
    const weft_pencil pencil = {.device = *state, .K = g.K, .M = g.M, .rows_on_device = 1};
    assert_int_equal(weft_device_bytes(*state), 0);
    (void)launches_of(&pencil, 7, 1);
    const double entries = 0.5 * (double)(g.K.row_start[n] + g.M.row_start[n]),
                 estimated = (double)weft_eigen_bytes_on_device(n, entries, 7),
                 most = (double)weft_device_bytes_peak(*state);
    assert_int_equal(weft_device_bytes(*state), 0);
    if (!(most > estimated && most < (1 + REST) * estimated))
        fail_msg("%.0f bytes at most, %.0f were estimated", most, estimated);
    grid_clear(&g);
}

/* The text compiles for a GPU. */
static void compiles(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    nvrtc_open_or_skip(&nvrtc);
    for (const weft_embedded_file *file = weft_embedded_solvers; file->name; ++file)
        if (strcmp(file->name, "columns.cu") == 0)
            nvrtc_expect_compiles(&nvrtc, file->name, file->text);
    weft_nvrtc_close(&nvrtc);
}

int main(void) {
    weft_device *device = setup_device();
    struct CMUnitTest tests[] = {cmocka_unit_test(memory),      cmocka_unit_test(compiles),
                                 cmocka_unit_test(operations),  cmocka_unit_test(wide_blocks),
                                 cmocka_unit_test(eigenvalues), cmocka_unit_test(launches)};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i)
        tests[i].initial_state = device;
    const int code = cmocka_run_group_tests(tests, NULL, NULL);
    weft_device_free(&device);
    return code;
}
