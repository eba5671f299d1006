/* labels: quick */
/* Coarsened kernels as CUDA text run thread by thread: factors and strides, sizes that leave
 * remainders of threads, blocks and factors. All numbers are small integers, so results are exact. */
#include "emulated_gpu.h"
#include "fusion/plan/implementation.h"
#include "program_support.h"

enum { MOST = 2100, NODES = 40 };

static const char *const text =
    "index E, V plain;\nconnectivity ends : E -> V[2];\n"
    "input a, b : real[2] over E;\ninput v : real over V;\ninput s : real;\n"
    "parameter size = 0, factor = 0, step = 0;\n"
    "fuse block size iterations factor stride step {\n"
    "    p = s*a - b;\n    r[ends] += v[ends] + a;\n}\n"
    "update b = a + s;\nreturn p, r;\n";

typedef struct shape {
    int block, factor, stride;
    bool predicated;
} shape;

static program_case open_shape(const shape *how) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_parameter asked[] = {
        {"size", how->block}, {"factor", how->factor}, {"step", how->stride}};
    const weft_compile_options options = {.size = sizeof options,
                                          .parameters = asked,
                                          .n_parameters = 3,
                                          .predicated = how->predicated};
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    emulated_gpu_make(device);
    program_case c = case_open_on(NULL, device, text, &options);
    const weft_implementation *one = case_segment(&c)->cover->list[0];
    assert_int_equal(one->elements_per_block, how->block);
    assert_int_equal(one->serial_iterations, how->factor);
    assert_int_equal(one->stride, how->stride > 0 ? how->stride : how->block);
    return c;
}

static void check(program_case *c, int64_t n) {
    double *a = calloc(2 * MOST, sizeof *a), *b = calloc(2 * MOST, sizeof *b), s = 3;
    double v[NODES], r[NODES] = {0};
    int32_t *ends = calloc(2 * MOST, sizeof *ends);
    assert_true(a && b && ends);
    for (int64_t i = 0; i < NODES; ++i)
        v[i] = (double)(i % 7);
    for (int64_t i = 0; i < 2 * n; ++i) {
        a[i] = (double)(i * 7 % 11) - 5;
        b[i] = (double)(i * 5 % 13) - 6;
        ends[i] = (int32_t)((i * 3 + i % 2) % NODES);
        r[ends[i]] += v[ends[i]] + a[i];
    }
    if (c->n_connectivities > 0)
        weft_connectivity_free(&c->connectivities[--c->n_connectivities]);
    case_map(c, "ends", ends, n, 2, NODES);
    case_input(c, "a", a);
    case_input(c, "b", b);
    case_input(c, "v", v);
    case_input(c, "s", &s);
    case_run(c);
    double *p = case_result(c, "p"), *found = case_result(c, "r"), *next = case_result(c, "b");
    for (int64_t i = 0; i < 2 * n; ++i)
        if (p[i] != s * a[i] - b[i] || next[i] != a[i] + s)
            fail_msg("element %lld of %lld: %g, %g", (long long)i / 2, (long long)n, p[i], next[i]);
    for (int64_t i = 0; i < NODES; ++i)
        assert_true(found[i] == r[i]);
    free(a);
    free(b);
    free(ends);
    free(p);
    free(found);
    free(next);
}

static void factors_and_strides(void **state) {
    static const shape shapes[] = {{128, 1, 0, false}, {128, 2, 0, true},   {128, 4, 32, false},
                                   {96, 3, 32, true},  {256, 2, 64, false}, {64, 16, 32, false}};
    static const int64_t sizes[] = {0, 1, 31, 64, 127, 128, 129, 255, 257, 511, 513, 1025, 2049};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        program_case c = open_shape(&shapes[i]);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
            check(&c, sizes[k]);
        case_close(&c);
    }
}

/* All loads of a thread are written before its first store, unless they take too many registers. */
static void loads_first(void **state) {
    (void)state;
    program_case c = open_shape(&(shape){128, 4, 32, false});
    assert_non_null(strstr(weft_compilation_source(c.compilation), "real prefetched_a[4][2];"));
    case_close(&c);
    c = open_shape(&(shape){64, 16, 32, false});
    assert_null(strstr(weft_compilation_source(c.compilation), "real prefetched_a["));
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_and_strides),
        cmocka_unit_test(loads_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
