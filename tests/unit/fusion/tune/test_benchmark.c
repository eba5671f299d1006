/* labels: quick */
/* Kernels of one primitive do what they stand for: on the host stores write what is said, loads and
 * computes give the sum that mathematics says (the sink is written to when it is met); for cuda
 * every primitive of the library compiles. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "fusion/cost/cost.h"
#include "fusion/cost/measured.h"
#include "fusion/tune/benchmark.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "nvrtc_support.h"
#include "tuning_support.h"

enum { N = 64 };

typedef struct place {
    weft_device *device;
    weft_library *library;
    weft_memory *memory[BENCHMARK_ARGUMENTS];
    weft_benchmark benchmark;
    double *data;
    int32_t *connectivity;
    double seed[4], sink;
    int lanes;
} place;

static void bench_make(place *p, size_t reals) {
    weft_error error = {0};
    *p = (place){.seed = {-1, 0, 0.5, 0}};
    tuning_ok(weft_device_open("host:1", NULL, &p->device, &error), &error);
    tuning_ok(weft_library_make(&p->library, &error), &error);
    p->lanes = weft_device_limits(p->device)->lanes_double;
    const size_t bytes[BENCHMARK_ARGUMENTS] = {reals * 8, N * 16 * 4, 32, 8};
    for (int i = 0; i < BENCHMARK_ARGUMENTS; ++i)
        tuning_ok(weft_memory_make(p->device, bytes[i], &p->memory[i], &error), &error);
    p->data = weft_memory_host(p->memory[BENCHMARK_DATA]);
    p->connectivity = weft_memory_host(p->memory[BENCHMARK_CONNECTIVITY]);
}

static void bench_free(place *p) {
    for (int i = 0; i < BENCHMARK_ARGUMENTS; ++i)
        weft_memory_free(&p->memory[i]);
    weft_library_free(&p->library);
    weft_device_free(&p->device);
}

/* Run N elements; the sink is 0 before. */
static void run(place *p, const weft_cost_primitive *primitive) {
    weft_error error = {0};
    weft_text text = {0};
    weft_module *module = NULL;
    const double zero = 0;
    weft_benchmark_prelude(weft_device_limits(p->device), false, &text);
    tuning_ok(weft_benchmark_print(p->library, weft_device_limits(p->device), primitive, 0, &text,
                                   &p->benchmark, &error),
              &error);
    tuning_ok(weft_module_make(p->device, "probe", text.data, &module, &error), &error);
    tuning_ok(weft_memory_write(p->memory[BENCHMARK_SEED], 0, p->seed, sizeof p->seed, &error),
              &error);
    tuning_ok(weft_memory_write(p->memory[BENCHMARK_SINK], 0, &zero, sizeof zero, &error), &error);
    const weft_launch launch = {.module = module,
                                .kernel = "probe_0",
                                .arguments = p->memory,
                                .n_arguments = BENCHMARK_ARGUMENTS,
                                .n_elements = N,
                                .lanes = p->lanes};
    tuning_ok(weft_device_launch(p->device, &launch, &error), &error);
    tuning_ok(weft_memory_read(p->memory[BENCHMARK_SINK], 0, &p->sink, sizeof p->sink, &error),
              &error);
    weft_module_free(&module);
    weft_text_free(&text);
}

/* Sums of small whole numbers and halves are exact. */
static void expect_sum(place *p, const weft_cost_primitive *primitive, double sum) {
    p->seed[0] = sum;
    run(p, primitive);
    assert_double_near(p->sink, sum, 0, 0);
    p->seed[0] = sum + 0.5;
    run(p, primitive);
    assert_double_near(p->sink, 0, 0, 0);
}

static void loads(void **state) {
    (void)state;
    place p;
    bench_make(&p, N * 16);
    for (int i = 0; i < N * 16; ++i)
        p.data[i] = 1;
    for (int i = 0; i < N * 16; ++i)
        p.connectivity[i] = i % 50;
    weft_cost_primitive primitive = {.name = "load block 9 0 double registers",
                                     .kind = WEFT_COST_LOAD,
                                     .form = WEFT_COST_BLOCK,
                                     .components = 9,
                                     .real_bytes = 8};
    /* a lane's sum: 9 ones for each of its N / lanes elements */
    expect_sum(&p, &primitive, 9.0 * N / p.lanes);
    primitive.form = WEFT_COST_AOS;
    expect_sum(&p, &primitive, 9.0 * N / p.lanes);
    primitive = (weft_cost_primitive){.name = "load indirect 2 3 double registers",
                                      .kind = WEFT_COST_LOAD,
                                      .form = WEFT_COST_INDIRECT,
                                      .components = 2,
                                      .width = 3,
                                      .real_bytes = 8};
    expect_sum(&p, &primitive, 6.0 * N / p.lanes);
    /* extra bytes on chip change nothing */
    p.seed[3] = 512;
    expect_sum(&p, &primitive, 6.0 * N / p.lanes);
    bench_free(&p);
}

static void stores(void **state) {
    (void)state;
    place p;
    bench_make(&p, N * 16);
    weft_cost_primitive primitive = {.name = "store plain 5 0 double registers",
                                     .kind = WEFT_COST_STORE,
                                     .form = WEFT_COST_AOS,
                                     .components = 5,
                                     .real_bytes = 8};
    run(&p, &primitive); /* component c gets seed * (c + 1) */
    for (int i = 0; i < N; ++i)
        for (int c = 0; c < 5; ++c)
            assert_double_near(p.data[i * 5 + c], 0.5 * (c + 1), 0, 0);
    memset(p.data, 0, N * 16 * sizeof *p.data);
    primitive.form = WEFT_COST_BLOCK;
    run(&p, &primitive);
    for (int i = 0; i < N; ++i)
        for (int c = 0; c < 5; ++c)
            assert_double_near(p.data[(i / p.lanes * 5 + c) * p.lanes + i % p.lanes], 0.5 * (c + 1),
                               0, 0);
    /* every element adds to targets 0 (vertex 0) and 1 (vertex 1) */
    memset(p.data, 0, N * 16 * sizeof *p.data);
    for (int i = 0; i < N * 2; ++i)
        p.connectivity[i] = i / p.lanes % 2;
    primitive = (weft_cost_primitive){.name = "store add 1 2 double registers",
                                      .kind = WEFT_COST_STORE,
                                      .form = WEFT_COST_ADD,
                                      .components = 1,
                                      .width = 2,
                                      .real_bytes = 8};
    run(&p, &primitive);
    assert_double_near(p.data[0], 0.5 * N, 0, 0);
    assert_double_near(p.data[1], 1.0 * N, 0, 0);
    assert_double_near(p.data[2], 0, 0, 0);
    bench_free(&p);
}

static void computes(void **state) {
    (void)state;
    place p;
    bench_make(&p, N);
    weft_cost_primitive primitive = {.name = "compute dot 1 n=2 double registers",
                                     .kind = WEFT_COST_COMPUTE,
                                     .function = "dot",
                                     .threads = 1,
                                     .flops = 3,
                                     .real_bytes = 8};
    /* x[c] = 1 + (c^2 + 3c) % 17, y[c] = 1 + (c^2 + 5c) % 17, times 1/2: (1, 5), (1, 7); their
     * product is 36 / 4 */
    expect_sum(&p, &primitive, 9.0 * N / p.lanes);
    /* 3 operations of an arithmetic of one result, e = x; e *= x; e += x; e *= x, of x = 1/2 */
    primitive = (weft_cost_primitive){.name = "compute arithmetic 1 n=1,flops=3 double registers",
                                      .kind = WEFT_COST_COMPUTE,
                                      .function = "arithmetic",
                                      .threads = 1,
                                      .flops = 3,
                                      .real_bytes = 8};
    expect_sum(&p, &primitive, 0.375 * N / p.lanes);
    bench_free(&p);
}

/* What is not of the library cannot be measured, and what it has begun is not in the text. */
/* A function of formulas: the greater of one half and one half. */
static void functions_of_formulas(void **state) {
    (void)state;
    place p;
    bench_make(&p, N);
    expect_sum(&p,
               &(weft_cost_primitive){.name = "compute max 1 intrinsic double registers",
                                      .kind = WEFT_COST_COMPUTE,
                                      .function = "max",
                                      .intrinsic = true,
                                      .threads = 1,
                                      .flops = 2,
                                      .real_bytes = 8},
               0.5 * N / p.lanes);
    bench_free(&p);
}

static void unknown(void **state) {
    (void)state;
    place p;
    weft_error error = {0};
    weft_text text = {0};
    bench_make(&p, N);
    const weft_cost_primitive primitive = {.name = "compute apply 1 n=1,flops=3 double registers",
                                           .kind = WEFT_COST_COMPUTE,
                                           .function = "apply",
                                           .threads = 1,
                                           .real_bytes = 8};
    assert_int_equal(weft_benchmark_print(p.library, weft_device_limits(p.device), &primitive, 0,
                                          &text, &p.benchmark, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cannot be measured alone"));
    weft_text_free(&text);
    bench_free(&p);
}

/* Of every function of the library, in registers and in shared memory, gathers and accumulating
 * stores: NVRTC takes them for an H200. One of each in a module of its own would take minutes. */
static void cuda_compiles(void **state) {
    (void)state;
    weft_nvrtc nvrtc = {0};
    weft_error error = {0};
    weft_arena *arena = NULL;
    weft_device *null = NULL;
    weft_library *library = NULL;
    weft_text text = {0};
    static const char *const functions[] = {"mmul", "jacobian", "dshape_dot_dshape", "dot"};
    nvrtc_open_or_skip(&nvrtc);
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_device_open("null:h200", NULL, &null, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    const weft_limits *limits = weft_device_limits(null);
    weft_cost_primitive_set set = {.arena = arena}, all = {.arena = arena};
    tuning_ok(weft_cost_primitive_set_library(&set, library, limits, false, functions, 4, &error),
              &error);
    tuning_ok(weft_cost_primitive_set_library(&all, library, limits, false, NULL, 0, &error),
              &error);
    assert_true(all.n > 300);
    for (int i = 0; i < all.n; ++i)
        if (all.list[i].width == 3 || all.list[i].intrinsic)
            tuning_ok(weft_cost_primitive_set_add(&set, &all.list[i], &error), &error);
    weft_benchmark_prelude(limits, false, &text);
    for (int i = 0; i < set.n; ++i) {
        weft_benchmark benchmark;
        tuning_ok(weft_benchmark_print(library, limits, &set.list[i], i, &text, &benchmark, &error),
                  &error);
        assert_true(benchmark.n > 0 && benchmark.reals > 0 && benchmark.share > 0 &&
                    benchmark.share <= 1);
        assert_int_equal(benchmark.shared > 0, set.list[i].shared);
    }
    nvrtc_expect_compiles(&nvrtc, "probes", text.data);
    /* the text of all of them is made */
    for (int i = 0; i < all.n; ++i) {
        weft_benchmark benchmark;
        tuning_ok(weft_benchmark_print(library, limits, &all.list[i], i, &text, &benchmark, &error),
                  &error);
    }
    weft_text_free(&text);
    weft_library_free(&library);
    weft_device_free(&null);
    weft_arena_free(&arena);
    weft_nvrtc_close(&nvrtc);
}

/* A real one, of one function: times are positive, and predictions come from them. */
static void on_the_host(void **state) {
    (void)state;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_measured_costs *costs = NULL;
    weft_calibration_result result;
    char identity[33];
    const char *const functions[] = {"trace"};
    const weft_calibration_options options = {.size = sizeof options, .seconds = 1};
    tuning_place *where = tuning_place_make();
    weft_tuning *tuning = tuning_open(where);
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_device_open("host:1", NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    const weft_limits *limits = weft_device_limits(device);
    weft_cost_primitive_set set = {.arena = arena};
    tuning_ok(weft_cost_primitive_set_library(&set, library, limits, false, functions, 1, &error),
              &error);
    tuning_ok(weft_calibrate(device, library, &set, tuning, &options, &result, &error), &error);
    assert_true(result.n_measured > 0);
    assert_int_equal(result.n_points, result.n_measured + result.n_left);
    assert_int_equal(result.n_unsupported, 0);
    weft_device_identity(device, identity);
    tuning_ok(weft_measured_costs_make(tuning, identity, limits, &costs, &error), &error);
    assert_true(weft_measured_costs_size(costs) > 0);
    weft_cost_source source = weft_measured_costs_source(costs);
    weft_cost_primitive *first = &set.list[0];
    const weft_operating_point point = {.elements = limits->lanes_double, .iterations = 1};
    double seconds = 0;
    tuning_ok(source.prepare(source.user, &first, 1, &error), &error);
    assert_true(source.lookup(source.user, first, &point, &seconds));
    assert_true(seconds > 0 && seconds < 1e-3);
    weft_measured_costs_free(&costs);
    weft_library_free(&library);
    weft_device_free(&device);
    weft_arena_free(&arena);
    weft_tuning_close(&tuning);
    tuning_place_free(where);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),       cmocka_unit_test(stores),
        cmocka_unit_test(computes),    cmocka_unit_test(functions_of_formulas),
        cmocka_unit_test(unknown),     cmocka_unit_test(cuda_compiles),
        cmocka_unit_test(on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
