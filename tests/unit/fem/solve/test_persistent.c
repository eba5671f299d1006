/* labels: quick */
/* The layout of conjugate gradients in one kernel, worked through by the host as the blocks would:
 * a product by it must be the matrix's. Tolerance: entries are small whole numbers and so is
 * everything made of them: exact. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/embedded_solvers.h"
#include "fem/operator/operator.h"
#include "fem/solve/persistent.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

/* A symmetric pattern over n numbers: near ones, and every `jump`th a far one. */
static weft_pattern pattern_make(int n, int jump) {
    weft_pattern pattern = {.n_rows = n};
    pattern.row_start = calloc((size_t)n + 1, sizeof *pattern.row_start);
    pattern.columns = malloc((size_t)n * 16 * sizeof *pattern.columns);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            int apart = i > j ? i - j : j - i;
            bool near = apart <= 1 || (apart == 3 && (i < j ? i : j) % 2 == 0);
            bool far = jump > 0 && i + j == n - 1 && i % jump == (n - 1 - i) % jump;
            if (near || far)
                pattern.columns[pattern.n_entries++] = j;
        }
        pattern.row_start[i + 1] = pattern.n_entries;
    }
    return pattern;
}

static void pattern_drop(weft_pattern *pattern) {
    free(pattern->row_start);
    free(pattern->columns);
}

static double entry(int64_t e) {
    return (double)(e * 7 % 13 - 6);
}

/* What block b reads of column c, as the kernel finds it: its own, or the owner's among what it
 * sent. */
static double read_column(const weft_persistent_layout *layout, int b, int column,
                          const double *v) {
    int rows = layout->shape.nodes * layout->shape.threads;
    if (column < rows) {
        int node = layout->node[b * rows + column];
        return node < 0 ? 0 : v[node];
    }
    int at = layout->halo_at[b * layout->halo * layout->shape.threads + column - rows];
    assert_true(at >= 0);
    assert_true(at / rows != b);
    assert_true(at % rows < layout->n_sent[at / rows]); /* else it never travels */
    assert_true(at % rows < layout->published);
    return v[layout->node[at]];
}

static void product(const weft_persistent_layout *layout, const double *v, double *y) {
    int threads = layout->shape.threads, nodes = layout->shape.nodes;
    for (int b = 0; b < layout->shape.n_blocks; ++b)
        for (int k = 0; k < nodes; ++k)
            for (int t = 0; t < threads; ++t) {
                int node = layout->node[(b * nodes + k) * threads + t];
                double sum = 0;
                for (int q = layout->starts[k]; q < layout->starts[k + 1]; ++q)
                    for (int e = 0; e < 2; ++e) {
                        int64_t at = 2 * (((int64_t)b * layout->pairs + q) * threads + t) + e;
                        double u = read_column(layout, b, layout->columns[at], v);
                        if (layout->source[at] >= 0)
                            sum += entry(layout->source[at]) * u;
                    }
                if (node >= 0)
                    y[node] = sum;
            }
}

static void expect_product(weft_device *device, const weft_pattern *pattern, int n_blocks,
                           int threads, bool has_diagonal) {
    weft_error error = {0};
    weft_persistent_layout *layout = NULL;
    int n = (int)pattern->n_rows, rows = (n + n_blocks - 1) / n_blocks;
    weft_persistent_shape shape = {n_blocks, threads, (rows + threads - 1) / threads};
    check(weft_persistent_layout_make(device, pattern, &shape, has_diagonal, &layout, &error),
          &error);
    double *v = malloc((size_t)n * sizeof *v), *y = calloc((size_t)n, sizeof *y);
    for (int i = 0; i < n; ++i)
        v[i] = i % 17 - 8;
    product(layout, v, y);
    for (int i = 0; i < n; ++i) {
        double expected = 0;
        for (int64_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; ++e)
            if (has_diagonal || pattern->columns[e] != i)
                expected += entry(e) * v[pattern->columns[e]];
        assert_true(y[i] == expected);
    }
    int seen = 0, positions = n_blocks * shape.nodes * threads;
    char *is_there = calloc((size_t)n, 1);
    for (int i = 0; i < positions; ++i)
        if (layout->node[i] >= 0) {
            seen += !is_there[layout->node[i]];
            is_there[layout->node[i]] = 1;
        }
    assert_int_equal(seen, n);
    free(is_there);
    free(v);
    free(y);
    weft_persistent_layout_free(&layout);
    assert_null(layout);
}

static weft_device *host(void) {
    weft_device *device = NULL;
    weft_error error = {0};
    check(weft_device_open("host:2", NULL, &device, &error), &error);
    return device;
}

static void a_product_by_the_layout_is_the_matrix(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 95, 96, 97, 1000, 2113};
    weft_device *device = host();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        for (int jump = 0; jump < 3; ++jump) {
            weft_pattern pattern = pattern_make(sizes[i], jump);
            int blocks = sizes[i] < 7 ? 1 : 7;
            expect_product(device, &pattern, blocks, 96, false);
            expect_product(device, &pattern, blocks, 32, true);
            expect_product(device, &pattern, 1, 128, true);
            pattern_drop(&pattern);
        }
    weft_device_free(&device);
}

/* Nothing but a diagonal: no halo, no entries. */
static void a_diagonal_matrix_has_a_layout(void **state) {
    (void)state;
    int64_t start[] = {0, 1, 2, 3};
    int32_t columns[] = {0, 1, 2};
    weft_pattern pattern = {3, 3, start, columns};
    weft_device *device = host();
    expect_product(device, &pattern, 1, 96, false);
    expect_product(device, &pattern, 3, 96, true);
    weft_device_free(&device);
}

static weft_limits h200(void) {
    return (weft_limits){.kind = WEFT_DEVICE_CUDA,
                         .execution = WEFT_EXECUTION_SIMT,
                         .multiprocessors = 132,
                         .register_bytes = 256 << 10,
                         .onchip_bytes = 227 << 10};
}

/* 132 multiprocessors of 64 Ki registers keep three vectors of a million nodes. */
static void a_million_nodes_fit_an_h200_and_two_do_not(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 100, 10000, 166464, 640000, 1000000};
    weft_limits limits = h200();
    weft_persistent_shape shape;
    char reason[200] = "";
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        assert_true(weft_persistent_fits(&limits, sizes[i], 7 * sizes[i], &shape, reason, 200));
        assert_true(shape.n_blocks >= 1 && shape.n_blocks <= 132 && shape.n_blocks <= sizes[i]);
        assert_true(shape.threads % 32 == 0 && shape.threads >= 96);
        assert_true((int64_t)shape.n_blocks * shape.nodes * shape.threads >= sizes[i]);
    }
    assert_false(weft_persistent_fits(&limits, 2000000, 14000000, &shape, reason, 200));
    assert_non_null(strstr(reason, "2000000 nodes are 15152 a multiprocessor"));
    limits.execution = WEFT_EXECUTION_SIMD;
    assert_false(weft_persistent_fits(&limits, 100, 700, &shape, reason, 200));
}

/* Everything that is said to be kept has its bytes. */
static void places_keep_within_the_limits(void **state) {
    (void)state;
    weft_limits limits = h200();
    weft_text text = {0};
    char reason[200] = "";
    for (int nodes = 1; nodes <= 20; ++nodes)
        for (int halo = 1; halo <= 2; ++halo) {
            weft_persistent_layout layout = {
                .shape = {132, 384, nodes}, .halo = halo, .published = 64, .pairs = 3 * nodes};
            weft_persistent_placement p;
            if (!weft_persistent_place(&limits, &layout, true, &p, reason, sizeof reason)) {
                assert_true(nodes > 15);
                continue;
            }
            int vectors = 6 + (p.x_shared ? 0 : 2) + (p.weights == 1 ? 2 : 0);
            assert_true(vectors * nodes + 5 * p.register_pairs + 5 * halo + 44 <= 168 ||
                        p.register_pairs == 0);
            assert_true(p.shared_bytes + 1024 <= 227 << 10);
            assert_true(p.register_pairs + p.shared_pairs <= layout.pairs);
            int left = layout.pairs - p.register_pairs - p.shared_pairs;
            double read = 132.0 * 384 * (20.0 * left + (p.weights == 2 ? 8.0 * nodes : 0));
            assert_true(p.read_bytes == read);
            weft_text_free(&text);
            weft_persistent_macros(&layout, &p, &text);
            assert_non_null(strstr(text.data, "#define THREADS 384\n"));
        }
    weft_text_free(&text);
}

static void expect_compiles(const weft_nvrtc *nvrtc, int64_t n, int halo, int pairs,
                            bool weighted) {
    weft_limits limits = h200();
    weft_persistent_shape shape;
    weft_persistent_placement places;
    weft_text text = {0};
    weft_error error = {0};
    weft_cubin cubin = {0};
    weft_kernel_resources resources = {0};
    char reason[200] = "";
    assert_true(weft_persistent_fits(&limits, n, 7 * n, &shape, reason, sizeof reason));
    weft_persistent_layout layout = {.shape = shape,
                                     .has_diagonal = !weighted,
                                     .n = n,
                                     .halo = halo,
                                     .published = 64,
                                     .pairs = pairs * shape.nodes};
    for (int k = 0; k <= shape.nodes; ++k)
        layout.starts[k] = k * pairs;
    assert_true(weft_persistent_place(&limits, &layout, weighted, &places, reason, sizeof reason));
    weft_persistent_macros(&layout, &places, &text);
    const char *source = weft_embedded_solvers[0].text;
    weft_text_add_bytes(&text, source, strlen(source));
    check(weft_nvrtc_compile(nvrtc, 90, "cg_persistent", text.data, &cubin, &error), &error);
    assert_true(weft_cubin_resources(&cubin, "cg_persistent", &resources));
    print_message("%8lld nodes: %3d threads, %2d nodes each, %d registers, %d bytes spilled\n",
                  (long long)n, shape.threads, shape.nodes, resources.registers,
                  resources.spill_store_bytes);
    assert_true(resources.spill_store_bytes <= 400);
    assert_true(resources.registers * shape.threads <= 1 << 16);
    assert_true(resources.shared_bytes <= 1024);
    weft_cubin_free(&cubin);
    weft_text_free(&text);
}

/* Registers hold what the places say: no more than a hundred words of a thread are spilled. */
static void the_kernel_compiles_for_an_h200(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    weft_error error;
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    assert_string_equal(weft_embedded_solvers[0].name, "cg_persistent.cu");
    expect_compiles(&nvrtc, 10000, 1, 4, false);
    expect_compiles(&nvrtc, 640000, 2, 4, false);
    expect_compiles(&nvrtc, 1000000, 3, 3, true);
    weft_nvrtc_close(&nvrtc);
}

/* Made, loaded and begun on a device that holds no numbers: four kernels by their names. */
static void a_program_is_made(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_error error = {0};
    weft_persistent *persistent = NULL;
    weft_memory *entries = NULL, *vector = NULL;
    char reason[200] = "";
    weft_pattern pattern = pattern_make(1000, 2);
    check(weft_device_open("null:h200", NULL, &device, &error), &error);
    weft_context context = {.device = device};
    check(
        weft_persistent_make(&context, &pattern, true, &persistent, reason, sizeof reason, &error),
        &error);
    assert_string_equal(reason, "");
    assert_non_null(persistent);
    assert_true(weft_persistent_suits(persistent, &context, 1000, pattern.n_entries, true));
    assert_false(weft_persistent_suits(persistent, &context, 1000, pattern.n_entries, false));
    size_t bytes = (size_t)pattern.n_entries * sizeof(double);
    check(weft_memory_make(device, bytes, &entries, &error), &error);
    check(weft_memory_make(device, 1000 * sizeof(double), &vector, &error), &error);
    check(weft_persistent_load(persistent, entries, vector, &error), &error);
    assert_int_equal(weft_persistent_load(persistent, vector, vector, &error), WEFT_ERROR_SHAPE);
    /* here nothing iterates, which is noticed */
    weft_persistent_run run = {.limit = 1, .iterations = 10};
    assert_int_equal(weft_persistent_iterate(persistent, vector, vector, vector, &run, &error),
                     WEFT_ERROR_INTERNAL);
    assert_null(run.history);
    weft_persistent_free(&persistent);
    assert_null(persistent);
    weft_memory_free(&entries);
    weft_memory_free(&vector);
    assert_int_equal(weft_device_bytes(device), 0);
    weft_device_free(&device);

    device = host();
    context.device = device;
    check(
        weft_persistent_make(&context, &pattern, true, &persistent, reason, sizeof reason, &error),
        &error);
    assert_null(persistent);
    assert_non_null(strstr(reason, "no multiprocessors"));
    weft_device_free(&device);
    pattern_drop(&pattern);
}

/* P3 hexahedra: few nodes, with more entries in a row than a kernel without loops should have. */
static void long_rows(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_error error = {0};
    weft_persistent_shape shape;
    char reason[200] = "";
    check(weft_device_open("null:h200", NULL, &device, &error), &error);
    const weft_limits *limits = weft_device_limits(device);
    assert_true(weft_persistent_fits(limits, 12288, 12288 * 60, &shape, reason, sizeof reason));
    assert_false(weft_persistent_fits(limits, 12288, 12288 * 900, &shape, reason, sizeof reason));
    assert_non_null(strstr(reason, "450 pairs of entries"));
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rows),
        cmocka_unit_test(a_product_by_the_layout_is_the_matrix),
        cmocka_unit_test(a_diagonal_matrix_has_a_layout),
        cmocka_unit_test(a_million_nodes_fit_an_h200_and_two_do_not),
        cmocka_unit_test(places_keep_within_the_limits),
        cmocka_unit_test(the_kernel_compiles_for_an_h200),
        cmocka_unit_test(a_program_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
