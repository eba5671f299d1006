/* labels: quick */
/* What calibration measures when, with a clock and a device that are made up: every psi is known, a
 * measurement takes one second. And what is predicted from it. */
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "fusion/cost/cost.h"
#include "fusion/cost/measured.h"
#include "fusion/tune/calibrate.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "tuning_support.h"

#include <math.h>

static const char device[] = "00000000000000000000000000000001";
/* Exact up to rounding of logarithms. */
static const double tolerance = 1e-12;

typedef struct fake {
    double now;
    int n_measured, fail_at; /* 0: never */
    char last[200];
    weft_status failure;
    bool unordered; /* a fine point came before a coarse one */
    int64_t coarse; /* points of level 0 so far */
} fake;

/* psi = 1e-12 * elements^0.5 * iterations^-0.25, whatever the rest; compute: of elements alone.
 */
static double psi(double elements, double iterations) {
    return 1e-12 * sqrt(elements) * (iterations > 0 ? pow(iterations, -0.25) : 1);
}

static weft_status fake_measure(void *user, const weft_cost_primitive *primitive,
                                const weft_tuning_point *at, double *seconds, weft_error *error) {
    fake *f = user;
    f->now += 1;
    if (strstr(primitive->name, "unmeasurable"))
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s", primitive->name);
    if (++f->n_measured == f->fail_at)
        return weft_error_set(error, f->failure, "it fails");
    snprintf(f->last, sizeof f->last, "%s", primitive->name);
    *seconds = psi((double)at->elements, (double)at->iterations);
    return WEFT_OK;
}

static double fake_clock(void *user) {
    return ((fake *)user)->now;
}

/* A load and a compute in registers, one in shared memory, one that cannot be measured. */
static weft_cost_primitive_set make_set(weft_arena *arena) {
    weft_cost_primitive_set set = {.arena = arena};
    weft_error error = {0};
    const weft_cost_primitive primitives[] = {
        {.name = "load block 9 0 double registers", .kind = WEFT_COST_LOAD, .components = 9},
        {.name = "compute mmul 1 m=3,k=3,n=3 double registers",
         .kind = WEFT_COST_COMPUTE,
         .function = "mmul",
         .threads = 1},
        {.name = "unmeasurable", .kind = WEFT_COST_COMPUTE, .function = "none", .threads = 1},
        {.name = "load block 9 0 double shared",
         .kind = WEFT_COST_LOAD,
         .components = 9,
         .shared = true},
    };
    for (int twice = 0; twice < 2; ++twice)
        for (size_t i = 0; i < sizeof primitives / sizeof *primitives; ++i)
            tuning_ok(weft_cost_primitive_set_add(&set, &primitives[i], &error), &error);
    assert_int_equal(set.n, 4);
    return set;
}

static weft_limits h200(void) {
    weft_limits limits;
    weft_device *null = NULL;
    weft_error error = {0};
    tuning_ok(weft_device_open("null:h200", NULL, &null, &error), &error);
    limits = *weft_device_limits(null);
    weft_device_free(&null);
    return limits;
}

static weft_calibration_result run(tuning_place *place, const weft_cost_primitive_set *set, fake *f,
                                   double seconds, bool again, weft_status expected) {
    const weft_limits limits = h200();
    weft_error error = {0};
    weft_calibration_result result;
    weft_tuning *tuning = tuning_open(place);
    const weft_calibration_options options = {.size = sizeof options,
                                              .seconds = seconds,
                                              .again = again,
                                              .measure = fake_measure,
                                              .clock = fake_clock,
                                              .user = f};
    weft_status status =
        weft_calibrate_run(&limits, device, set, tuning, &options, &result, &error);
    if (status != expected)
        fail_msg("%s: %s", weft_status_name(status), error.message);
    weft_tuning_close(&tuning);
    return result;
}

/* Grids of a level are whole, each within the next. */
static void points(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    const weft_limits limits = h200();
    static weft_calibration_point list[WEFT_CALIBRATION_POINTS];
    tuning_ok(weft_arena_make(&arena, &error), &error);
    const weft_cost_primitive_set set = make_set(arena);
    /* registers: 5 blocks x 5 iterations x 6 extras; coarse 3 x 3 x 3; a compute has no iterations
     */
    const int expected[][3] = {{1, 27, 150}, {1, 9, 30}, {1, 9, 30}, {1, 18, 126}};
    for (int i = 0; i < set.n; ++i) {
        int counts[3] = {0};
        const int n = weft_calibration_points(&limits, &set.list[i], list, WEFT_CALIBRATION_POINTS);
        for (int k = 0; k < n; ++k) {
            assert_true(k == 0 || list[k].level >= list[k - 1].level);
            assert_true(list[k].at.extra <= (int64_t)limits.onchip_bytes);
            assert_true(list[k].at.threads <= 1024);
            for (int level = list[k].level; level < 3; ++level)
                ++counts[level];
            for (int m = 0; m < k; ++m)
                assert_memory_not_equal(&list[k].at, &list[m].at, sizeof list[k].at);
        }
        for (int level = 0; level < 3; ++level)
            assert_int_equal(counts[level], expected[i][level]);
    }
    weft_arena_free(&arena);
}

static void stopped_and_resumed(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    tuning_place *place = tuning_place_make();
    tuning_ok(weft_arena_make(&arena, &error), &error);
    const weft_cost_primitive_set set = make_set(arena);
    const int total = 150 + 30 + 30 + 126;
    fake f = {0};
    /* four seconds: each primitive at its first point, the one that cannot be too */
    weft_calibration_result result = run(place, &set, &f, 4, false, WEFT_OK);
    assert_int_equal(result.n_points, total);
    assert_int_equal(result.n_measured, 3);
    assert_int_equal(result.n_unsupported, 1);
    assert_int_equal(result.n_left, total - 3);
    assert_string_equal(f.last, "load block 9 0 double shared");
    /* the coarse points of all before a fine one of any: 26 + 8 + 17 and another try */
    result = run(place, &set, &f, 26 + 8 + 17 + 1, false, WEFT_OK);
    assert_int_equal(result.n_known, 3);
    assert_int_equal(result.n_measured, 26 + 8 + 17);
    /* the rest */
    result = run(place, &set, &f, 1e6, false, WEFT_OK);
    assert_int_equal(result.n_known, 27 + 9 + 18);
    assert_int_equal(result.n_measured, total - 30 - 27 - 9 - 18);
    assert_int_equal(f.n_measured, total - 30);
    result = run(place, &set, &f, 1e6, false, WEFT_OK);
    assert_int_equal(result.n_measured, 0);
    result = run(place, &set, &f, 1e6, true, WEFT_OK);
    assert_int_equal(result.n_measured, total - 30);
    weft_tuning *tuning = tuning_open(place);
    weft_tuning_time *times = NULL;
    size_t n = 0;
    tuning_ok(weft_tuning_times(tuning, device, NULL, arena, &times, &n, &error), &error);
    assert_int_equal(n, total - 30);
    weft_tuning_close(&tuning);
    weft_arena_free(&arena);
    tuning_place_free(place);
}

/* What was measured before the device failed is kept. */
static void a_failure(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    tuning_place *place = tuning_place_make();
    tuning_ok(weft_arena_make(&arena, &error), &error);
    const weft_cost_primitive_set set = make_set(arena);
    fake f = {.fail_at = 11, .failure = WEFT_ERROR_DEVICE};
    run(place, &set, &f, 1e6, false, WEFT_ERROR_DEVICE);
    f = (fake){0};
    weft_calibration_result result = run(place, &set, &f, 1e6, false, WEFT_OK);
    assert_int_equal(result.n_known, 10);
    /* a compiler that refuses a primitive costs that primitive alone */
    f = (fake){.fail_at = 1, .failure = WEFT_ERROR_COMPILER};
    result = run(place, &set, &f, 1e6, true, WEFT_OK);
    assert_int_equal(result.n_unsupported, 2);
    assert_int_equal(result.n_measured, 30 + 126);
    weft_arena_free(&arena);
    tuning_place_free(place);
}

typedef struct lookup_place {
    weft_measured_costs *costs;
    weft_cost_source source;
} lookup_place;

static lookup_place costs_of(tuning_place *place, weft_cost_primitive_set *set) {
    const weft_limits limits = h200();
    weft_error error = {0};
    lookup_place out = {0};
    weft_cost_primitive *pointers[8];
    weft_tuning *tuning = tuning_open(place);
    tuning_ok(weft_measured_costs_make(tuning, device, &limits, &out.costs, &error), &error);
    weft_tuning_close(&tuning);
    out.source = weft_measured_costs_source(out.costs);
    for (int i = 0; i < set->n; ++i)
        pointers[i] = &set->list[i];
    tuning_ok(out.source.prepare(out.source.user, pointers, set->n, &error), &error);
    return out;
}

static bool asks(const lookup_place *from, const weft_cost_primitive *primitive, int elements,
                 int iterations, int threads, size_t extra, double *seconds) {
    const weft_operating_point point = {
        .elements = elements, .iterations = iterations, .threads = threads, .extra_bytes = extra};
    return from->source.lookup(from->source.user, primitive, &point, seconds);
}

/* Powers are straight lines in logarithms: interpolation is exact. Outside nothing is said. */
static void interpolation(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    double seconds = -1;
    tuning_place *place = tuning_place_make();
    tuning_ok(weft_arena_make(&arena, &error), &error);
    weft_cost_primitive_set set = make_set(arena);
    fake f = {0};
    run(place, &set, &f, 1e6, false, WEFT_OK);
    lookup_place from = costs_of(place, &set);
    assert_int_equal(weft_measured_costs_size(from.costs), 3);
    const weft_cost_primitive *load = &set.list[0], *compute = &set.list[1];
    const int cases[][2] = {{32, 1}, {128, 4}, {96, 3}, {200, 7}, {512, 16}, {33, 15}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        for (size_t extra = 0; extra <= 200000; extra += 50000) {
            const int n = cases[i][0], iterations = cases[i][1];
            assert_true(asks(&from, load, n, iterations, n, extra, &seconds));
            assert_double_near(seconds, psi(n, iterations), tolerance, 0);
            assert_true(asks(&from, compute, n, iterations, n, extra, &seconds));
            assert_double_near(seconds, psi(n, 0), tolerance, 0);
        }
    }
    seconds = -1;
    assert_false(asks(&from, load, 31, 1, 31, 0, &seconds));
    assert_false(asks(&from, load, 513, 1, 513, 0, &seconds));
    assert_false(asks(&from, load, 128, 17, 128, 0, &seconds));
    assert_false(asks(&from, load, 128, 1, 128, 300000, &seconds));
    assert_false(asks(&from, &set.list[2], 128, 1, 128, 0, &seconds)); /* unmeasurable */
    assert_double_near(seconds, -1, 0, 0);
    /* in shared memory 32 elements per block and the threads that were measured */
    assert_true(asks(&from, &set.list[3], 32, 2, 9 * 32, 0, &seconds));
    assert_double_near(seconds, psi(32, 2), tolerance, 0);
    /* a block of 64 counts as two of 32 */
    assert_true(asks(&from, &set.list[3], 64, 2, 18 * 32, 1000, &seconds));
    assert_double_near(seconds, psi(32, 2), tolerance, 0);
    assert_false(asks(&from, &set.list[3], 64, 2, 32, 0, &seconds));
    assert_false(asks(&from, &set.list[3], 32, 2, 33 * 32, 0, &seconds));
    weft_measured_costs_free(&from.costs);
    assert_null(from.costs);
    weft_arena_free(&arena);
    tuning_place_free(place);
}

/* Part of a calibration predicts where it has measured. */
static void a_part(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    double seconds = 0;
    tuning_place *place = tuning_place_make();
    tuning_ok(weft_arena_make(&arena, &error), &error);
    weft_cost_primitive_set set = make_set(arena);
    fake f = {0};
    run(place, &set, &f, 4, false, WEFT_OK);
    lookup_place from = costs_of(place, &set);
    assert_true(asks(&from, &set.list[0], 128, 1, 128, 0, &seconds));
    assert_double_near(seconds, psi(128, 1), tolerance, 0);
    assert_false(asks(&from, &set.list[0], 129, 1, 129, 0, &seconds));
    /* a byte takes no thread away; half of the chip, where nothing was measured, does */
    assert_true(asks(&from, &set.list[0], 128, 1, 128, 1, &seconds));
    assert_false(asks(&from, &set.list[0], 128, 1, 128, 100000, &seconds));
    weft_measured_costs_free(&from.costs);
    /* in the middle of the finest grid of the first primitive: the coarse grid holds */
    run(place, &set, &f, 120, false, WEFT_OK);
    from = costs_of(place, &set);
    assert_true(asks(&from, &set.list[0], 96, 3, 96, 100000, &seconds));
    assert_double_near(seconds, psi(96, 3), tolerance, 0);
    weft_measured_costs_free(&from.costs);
    weft_arena_free(&arena);
    tuning_place_free(place);
}

/* Many registers a thread leave as few blocks at once as shared memory would. */
static void registers_count(void **state) {
    (void)state;
    weft_error error = {0};
    const weft_limits limits = h200();
    double plain = 0, registers = 0, shared = 0;
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    const char *name = "load block 9 0 double registers";
    /* a block takes 1 KB beside its own */
    const int64_t all = (int64_t)limits.onchip_bytes, quarter = (all + 1024) / 4 - 1024;
    const weft_tuning_time times[] = {{name, {128, 0, 1, 0}, 1e-12},
                                      {name, {128, 0, 1, quarter}, 2e-12},
                                      {name, {128, 0, 1, all}, 4e-12}};
    tuning_ok(weft_tuning_add_times(tuning, device, times, 3, &error), &error);
    weft_tuning_close(&tuning);
    weft_cost_primitive primitive = {.name = name, .handle = -1};
    weft_cost_primitive_set set = {.list = &primitive, .n = 1};
    lookup_place from = costs_of(place, &set);
    weft_operating_point point = {.elements = 128, .iterations = 1, .threads = 128};
    assert_true(from.source.lookup(from.source.user, &primitive, &point, &plain));
    assert_double_near(plain, 1e-12, tolerance, 0);
    /* 65,536 registers of 4 bytes: 128 a thread of 128 leave 4 blocks, a quarter of the chip each
     */
    assert_int_equal(limits.register_bytes, 262144);
    point.registers = 128;
    assert_true(from.source.lookup(from.source.user, &primitive, &point, &registers));
    point.registers = 32; /* 16 blocks: as many as there can be threads for */
    point.extra_bytes = (size_t)quarter;
    assert_true(from.source.lookup(from.source.user, &primitive, &point, &shared));
    assert_double_near(registers, 2e-12, tolerance, 0);
    assert_double_near(shared, registers, tolerance, 0);
    /* so do too few elements: threads for two blocks of a multiprocessor, between four and one */
    point =
        (weft_operating_point){.elements = 128, .iterations = 1, .threads = 128, .available = 256};
    assert_true(from.source.lookup(from.source.user, &primitive, &point, &shared));
    assert_double_near(shared, sqrt(2e-12 * 4e-12), tolerance, 0);
    weft_measured_costs_free(&from.costs);
    tuning_place_free(place);
}

/* Seconds of two kernels, with these numbers in the database (below 0: not there). */
static double seconds_with(double measured, double fitted) {
    static const char text[] = "index N;\ninput x, y : real over N;\na = 2.0*x;\nb = a + y;\n"
                               "return b;\n";
    const weft_fragment fragment = {"launch.weft", text};
    const weft_limits limits = h200();
    weft_error error = {0};
    weft_measured_costs *costs = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    if (measured >= 0)
        tuning_ok(weft_tuning_set(tuning, device, "launch seconds", measured, &error), &error);
    if (fitted >= 0)
        tuning_ok(weft_tuning_set(tuning, device, "term direct launch", fitted, &error), &error);
    tuning_ok(weft_measured_costs_make(tuning, device, &limits, &costs, &error), &error);
    weft_cost_source source = weft_measured_costs_source(costs);
    const weft_compile_options options = {
        .size = sizeof options, .plan = WEFT_PLAN_UNFUSED, .costs = &source};
    tuning_ok(weft_library_make(&library, &error), &error);
    tuning_ok(weft_compile(library, &limits, &fragment, 1, &options, &compilation, &error), &error);
    assert_int_equal(weft_compilation_kernels(compilation), 2);
    const double seconds = tuning_predicted(compilation);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_measured_costs_free(&costs);
    weft_tuning_close(&tuning);
    tuning_place_free(place);
    return seconds;
}

/* A launch costs what the fit says, 0 too; before there is one, what was measured; else what the
 * device's limits say. */
static void launches(void **state) {
    (void)state;
    const double none = seconds_with(-1, 0), nominal = 2 * h200().launch_seconds;
    assert_true(nominal > 0);
    assert_double_near(seconds_with(5e-6, 0), none, 1e-9, 0);
    assert_double_near(seconds_with(5e-6, 4e-6) - none, 8e-6, 1e-9, 0);
    assert_double_near(seconds_with(5e-6, -1) - none, 10e-6, 1e-9, 0);
    assert_double_near(seconds_with(-1, -1) - none, nominal, 1e-9, 0);
}

static void null_has_nothing(void **state) {
    (void)state;
    weft_error error = {0};
    weft_device *null = NULL;
    weft_library *library = NULL;
    weft_calibration_result result;
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    const weft_cost_primitive_set set = {0};
    const weft_calibration_options options = {.size = sizeof options};
    tuning_ok(weft_device_open("null:h200", NULL, &null, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    assert_int_equal(weft_calibrate(null, library, &set, tuning, &options, &result, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "there is nothing to measure"));
    weft_library_free(&library);
    weft_device_free(&null);
    weft_tuning_close(&tuning);
    tuning_place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points),    cmocka_unit_test(stopped_and_resumed),
        cmocka_unit_test(a_failure), cmocka_unit_test(interpolation),
        cmocka_unit_test(a_part),    cmocka_unit_test(registers_count),
        cmocka_unit_test(launches),  cmocka_unit_test(null_has_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
