/* labels: quick */
/* The spaces of kernels: the paper's, whose counts were made by an independent program of its
 * constraints for Fermi's limits; and today's, whose counts were made by an independent program for
 * an H200's. Counts are exact. What is chosen without tuning for some products of an H200: the fastest points that were
 * measured on one (docs/measurements.md). */
#include "gemm/kernels.h"
#include "test_support.h"

#include <string.h>

static const weft_gemm_limits hopper = {.threads_block = 1024,
                                        .warps = 64,
                                        .blocks = 32,
                                        .registers_thread = 255,
                                        .registers = 65536,
                                        .shared_block = 227 * 1024,
                                        .shared = 227 * 1024,
                                        .shared_reserved = 1024,
                                        .matrix_depth = 16};

static void test_paper(void **state) {
    (void)state;
    const struct {
        weft_gemm_type type;
        int64_t all, guided;
    } cases[] = {{WEFT_GEMM_SINGLE, 1136490, 86},
                 {WEFT_GEMM_DOUBLE, 380193, 66},
                 {WEFT_GEMM_SINGLE_COMPLEX, 380193, 0},
                 {WEFT_GEMM_DOUBLE_COMPLEX, 100307, 60}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int order = 0; order < 4; ++order) {
            const weft_gemm_op ops[] = {(weft_gemm_op)(order / 2), (weft_gemm_op)(order % 2)};
            const weft_gemm_fermi_guidelines guidelines =
                weft_gemm_fermi_guidelines_of(cases[i].type);
            assert_int_equal(
                weft_gemm_fermi_count(cases[i].type, ops, &weft_gemm_fermi_limits, NULL).kernels,
                cases[i].all);
            assert_int_equal(
                weft_gemm_fermi_count(cases[i].type, ops, &weft_gemm_fermi_limits, &guidelines)
                    .kernels,
                cases[i].guided);
        }
}

static void test_counts(void **state) {
    (void)state;
    const struct {
        weft_gemm_type type;
        int stencil;
        double reuse;
        int64_t all, possible, survivors;
        int shapes;
    } cases[] = {{WEFT_GEMM_DOUBLE, WEFT_GEMM_MMA, 16, 317520, 14624, 2041, 61},
                 {WEFT_GEMM_DOUBLE, WEFT_GEMM_MMA, 20, 317520, 14624, 618, 23},
                 {WEFT_GEMM_DOUBLE_COMPLEX, WEFT_GEMM_MMA, 21, 317520, 5302, 1918, 65},
                 {WEFT_GEMM_DOUBLE_COMPLEX, WEFT_GEMM_MMA, 32, 317520, 5302, 260, 9},
                 {WEFT_GEMM_SINGLE, WEFT_GEMM_FMA, 16, 64800, 3240, 1416, 56},
                 {WEFT_GEMM_SINGLE, WEFT_GEMM_FMA, 20, 64800, 3240, 654, 26},
                 {WEFT_GEMM_SINGLE_COMPLEX, WEFT_GEMM_FMA, 32, 64800, 4254, 168, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_gemm_guidelines guidelines = weft_gemm_guidelines_of(cases[i].type);
        int64_t counts[WEFT_GEMM_VERDICTS], all = 0;
        int shapes = 0;
        guidelines.reuse = cases[i].reuse;
        weft_gemm_count(&(weft_gemm_shape){.type = cases[i].type}, cases[i].stencil, &hopper,
                        &guidelines, counts, &shapes);
        for (int v = 0; v < WEFT_GEMM_VERDICTS; ++v)
            all += counts[v];
        assert_int_equal(all, cases[i].all);
        assert_int_equal(all - counts[WEFT_GEMM_INDIVISIBLE] - counts[WEFT_GEMM_NOT_ON_DEVICE] -
                             counts[WEFT_GEMM_REGISTERS],
                         cases[i].possible);
        assert_int_equal(counts[WEFT_GEMM_SURVIVES], cases[i].survivors);
        assert_int_equal(shapes, cases[i].shapes);
    }
}

/* What is used without tuning runs without estimated spills on GPUs with FP64 tensor cores (of compute
 * capability 9.0, 8.0) and without. */
static void test_defaults(void **state) {
    (void)state;
    static const struct {
        int depth, shared;
    } gpus[] = {{16, 227 * 1024}, {4, 163 * 1024}, {0, 99 * 1024}};
    for (int g = 0; g < 3; ++g)
        for (int type = 0; type < WEFT_GEMM_TYPES; ++type)
            for (int order = 0; order < 4; ++order) {
                weft_gemm_limits limits = hopper;
                const weft_gemm_default *list = NULL;
                const weft_gemm_shape shape = {.type = (weft_gemm_type)type};
                const int n = weft_gemm_defaults((weft_gemm_type)type, (weft_gemm_op)(order % 2),
                                                 (weft_gemm_op)(order / 2), gpus[g].depth, &list);
                limits.matrix_depth = gpus[g].depth;
                limits.shared_block = limits.shared = gpus[g].shared;
                assert_true(n > 0);
                for (int i = 0; i < n; ++i)
                    assert_true(weft_gemm_judge(&shape, &list[i].point, &limits, NULL, NULL) ==
                                WEFT_GEMM_SURVIVES);
            }
}

static void test_text(void **state) {
    (void)state;
    static const char *const good[] = {
        "mma 128,64,1,64,32,4,2,8,2,2,8,0", "fma 128,128,16,8,8,8,2,3,2,8,0",
        "mma 128,64,1,64,32,4,2,8,2,2,8,0+A", "fma 128,128,16,8,8,8,2,3,2,8,0+AB"};
    static const char *const bad[] = {"",
                                      "mma",
                                      "fma 128,128,16,8,8,8,2,3,2,8",
                                      "fma 128,128,16,8,8,8,2,3,2,8,0,1",
                                      "fma 128,128,16,8,8,8,2,3,2,8,-1",
                                      "fma 128,128,16,8,8,8,2,3,2,8,0+C",
                                      "small 3,2,64+A",
                                      "mmx 128,64,1,64,32,4,2,8,2,2,8,0"};
    weft_gemm_point point;
    weft_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        weft_text text = {0};
        assert_int_equal(weft_gemm_point_read(good[i], &point, &error), WEFT_OK);
        weft_gemm_point_text(&point, &text);
        assert_string_equal(text.data, good[i]);
        weft_text_free(&text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        assert_int_equal(weft_gemm_point_read(bad[i], &point, &error), WEFT_ERROR_INPUT);
}

static void test_choice(void **state) {
    (void)state;
    static const struct {
        weft_gemm_type type;
        weft_gemm_op a, b;
        int m, n, k, batch;
        const char *point;
    } list[] = {
        {WEFT_GEMM_DOUBLE, 0, 1, 8192, 8192, 64, 1, "mma 64,64,1,32,32,4,2,8,2,3,8,0"},
        {WEFT_GEMM_DOUBLE, 0, 0, 1024, 1024, 1024, 1, "mma 64,64,1,32,32,4,2,8,2,3,8,0"},
        {WEFT_GEMM_DOUBLE, 1, 1, 1024, 1024, 1024, 1, "mma 64,64,1,32,32,4,2,8,2,3,8,1"},
        {WEFT_GEMM_SINGLE, 1, 0, 1024, 1024, 1024, 1, "fma 64,64,16,8,8,8,2,3,4,8,1"},
        {WEFT_GEMM_SINGLE, 1, 0, 8448, 8192, 8192, 1, "fma 128,256,8,8,16,8,1,4,1,4,0+AB"},
        {WEFT_GEMM_SINGLE, 1, 1, 8448, 8192, 8192, 1, "fma 128,256,8,8,16,8,1,4,1,4,0+A"},
        {WEFT_GEMM_SINGLE, 0, 0, 8448, 8192, 8192, 1, "fma 128,256,8,8,16,8,1,4,1,4,0+B"},
        {WEFT_GEMM_SINGLE, 1, 0, 8192, 8192, 64, 1, "fma 64,128,8,8,16,4,4,4,4,16,1"},
        {WEFT_GEMM_SINGLE_COMPLEX, 0, 0, 1024, 1024, 1024, 1, "fma 64,32,8,4,8,8,2,4,4,8,1"},
        {WEFT_GEMM_SINGLE_COMPLEX, 0, 0, 4224, 4096, 8192, 1, "fma 128,128,8,8,8,4,1,4,1,8,1"},
        {WEFT_GEMM_SINGLE, 0, 0, 6, 6, 6, 100000, "small 4,4,128"},
        {WEFT_GEMM_SINGLE, 0, 0, 8, 8, 8, 100000, "batch 4,4,2,8,1,1"},
        {WEFT_GEMM_SINGLE, 0, 0, 18, 18, 18, 100000, "batch 2,9,9,7,1,1"},
        {WEFT_GEMM_SINGLE, 1, 0, 16, 16, 16, 100000, "batch 4,8,4,4,1,1"},
        {WEFT_GEMM_SINGLE, 0, 0, 40, 40, 40, 100000, "batch 10,5,4,4,1,1"},
        {WEFT_GEMM_SINGLE, 1, 0, 64, 64, 64, 10000, "batch 4,8,16,1,2,1"},
        {WEFT_GEMM_SINGLE, 0, 0, 12, 20, 16, 1000, "direct 1,3,64,1,1"},
        {WEFT_GEMM_SINGLE_COMPLEX, 0, 0, 8, 8, 8, 100000, "batch 2,4,4,4,1,1"},
        {WEFT_GEMM_SINGLE_COMPLEX, 0, 0, 32, 32, 32, 100000, "batch 4,4,8,1,2,1"},
        {WEFT_GEMM_DOUBLE_COMPLEX, 0, 0, 24, 24, 24, 100000, "direct 1,3,64,1,1"},
        {WEFT_GEMM_DOUBLE_COMPLEX, 0, 0, 44, 44, 44, 10000, "direct 3,1,192,3,3"},
        {WEFT_GEMM_DOUBLE_COMPLEX, 0, 0, 64, 64, 64, 10000, "mma 64,64,1,32,32,4,1,4,1,2,8,0"},
        {WEFT_GEMM_DOUBLE, 0, 0, 32, 32, 32, 100000, "direct 2,4,64,1,1"}};
    weft_error error;
    weft_device *device = NULL;
    weft_gemm_kernels *kernels = NULL;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_gemm_kernels_make(device, &kernels, &error), WEFT_OK);
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        weft_text text = {0};
        const weft_gemm_product product = {.type = list[i].type,
                                           .op_a = list[i].a,
                                           .op_b = list[i].b,
                                           .m = list[i].m,
                                           .n = list[i].n,
                                           .k = list[i].k,
                                           .alpha = {1, 0}};
        const weft_gemm_point point = weft_gemm_choose(kernels, &product, list[i].batch);
        weft_gemm_point_text(&point, &text);
        assert_string_equal(text.data, list[i].point);
        weft_text_free(&text);
    }
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
}

/* Without memory for a transposed factor the kernel is used that needs none. */
static void test_no_memory(void **state) {
    (void)state;
    const int64_t m = 1310720, n = 1024, k = 16384;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_gemm_kernels *kernels = NULL;
    weft_gemm_product p = {.type = WEFT_GEMM_SINGLE,
                           .op_a = WEFT_GEMM_TRANSPOSED,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = {1, 0},
                           .a = {.ld = k},
                           .b = {.ld = k},
                           .c = {.ld = m}};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_gemm_kernels_make(device, &kernels, &error), WEFT_OK);
    const weft_gemm_point point = weft_gemm_choose(kernels, &p, 1);
    assert_true(point.transposed & 1);
    assert_int_equal(weft_memory_make_unset(device, (size_t)(4 * m * k), &p.a.memory, &error),
                     WEFT_OK);
    assert_int_equal(weft_memory_make_unset(device, (size_t)(4 * n * k), &p.b.memory, &error),
                     WEFT_OK);
    assert_int_equal(weft_memory_make_unset(device, (size_t)(4 * m * n), &p.c.memory, &error),
                     WEFT_OK);
    assert_int_equal(weft_gemm_run(kernels, &p, 1, &point, &error), WEFT_ERROR_MEMORY);
    assert_int_equal(weft_gemm(kernels, &p, &error), WEFT_OK);
    weft_memory_free(&p.a.memory);
    weft_memory_free(&p.b.memory);
    weft_memory_free(&p.c.memory);
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper),    cmocka_unit_test(test_counts),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_text),
        cmocka_unit_test(test_choice),   cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
