/* labels: quick */
/* Predictions from a cost source that knows some primitives only, as after a short calibration. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/cost/cost.h"
#include "fusion/plan/implementations.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>

static const char script[] = "index N;\ninput x : real[3] over N;\ny = 2*x;\nreturn y;\n";

/* A device that is ten times as slow as its nominal bandwidth says; only loads were measured. */
static bool loads_alone(void *user, const weft_cost_primitive *primitive,
                        const weft_operating_point *point, double *seconds) {
    (void)point;
    if (primitive->kind != WEFT_COST_LOAD)
        return false;
    *seconds = 10 * primitive->bytes / *(const double *)user;
    return true;
}

/* Seconds of loads and stores per element. */
static double transfer_seconds(const weft_library *library, const weft_cost_source *costs) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"predict.weft", script};
    const weft_compile_options options = {.size = sizeof options, .costs = costs};
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    weft_limits limits = *weft_device_limits(device);
    limits.bandwidth = 1e10;
    assert_int_equal(weft_compile(library, &limits, &fragment, 1, &options, &compilation, NULL),
                     WEFT_OK);
    const weft_cover *cover = weft_compilation_only(compilation)->cover;
    assert_int_equal(cover->n, 1);
    assert_int_equal(cover->list[0]->measured, 0);
    const double seconds = cover->list[0]->transfer_seconds;
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return seconds;
}

/* 24 bytes are loaded and 24 stored. What is not known is scaled like what is, so that a list that
 * is stored does not look ten times as cheap as one that is loaded. */
static void unknown_primitives_are_scaled(void **state) {
    double bandwidth = 1e10;
    const weft_cost_source costs = {.name = "loads", .user = &bandwidth, .lookup = loads_alone};
    assert_double_near(transfer_seconds(*state, NULL), 48 / bandwidth, 1e-9, 0);
    assert_double_near(transfer_seconds(*state, &costs), 480 / bandwidth, 1e-9, 0);
}

/* As after the first second of a calibration: one point of loads and stores is known, and stores are slow there. */
static bool one_point(void *user, const weft_cost_primitive *primitive,
                      const weft_operating_point *point, double *seconds) {
    (void)user;
    if (primitive->kind == WEFT_COST_COMPUTE || point->elements != 128 || point->iterations != 1)
        return false;
    *seconds = primitive->bytes / 4e12 * (primitive->kind == WEFT_COST_STORE ? 20 : 1);
    return true;
}

/* On a GPU a plan with that point is not compared by it with plans without: the plan is that of the model. */
static void one_measured_point_chooses_nothing(void **state) {
    weft_device *device = NULL;
    weft_text covers[2] = {{0}, {0}};
    const weft_cost_source source = {.name = "one point", .lookup = one_point};
    const weft_fragment fragment = {"sum.weft", "index N;\ninput x, z : real over N;\n"
                                                "y = 2*x + z;\nreturn y;\n"};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        weft_compilation *compilation = NULL;
        const weft_compile_options options = {
            .size = sizeof options, .elements = 1 << 27, .costs = i ? &source : NULL};
        assert_int_equal(weft_compile(*state, weft_device_limits(device), &fragment, 1, &options,
                                      &compilation, NULL),
                         WEFT_OK);
        assert_int_equal(weft_compilation_cover(compilation, &covers[i], NULL), WEFT_OK);
        weft_compilation_free(&compilation);
    }
    assert_string_equal(covers[0].data, covers[1].data);
    weft_text_free(&covers[0]);
    weft_text_free(&covers[1]);
    weft_device_free(&device);
}

/* Blocks of 16 elements with 16 threads each: with 200 registers a thread a multiprocessor has one of them, with 40 six, which
 * hide each other's waits. */
static void registers_limit_resident_blocks(void **state) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"cholesky.weft",
                                    "index N plain;\ninput A : real[16,16] over N;\n"
                                    "input b : real[16] over N;\n"
                                    "F = cholesky(A);\nx = cholesky_solve(F, b);\nreturn x;\n"};
    const weft_compile_options options = {
        .size = sizeof options, .single = true, .elements = 100000};
    int n_slower = 0;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_compile(*state, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, NULL),
                     WEFT_OK);
    const weft_segment *segment = weft_compilation_only(compilation);
    for (int i = 0; i < segment->implementations->n; ++i) {
        weft_implementation few = segment->implementations->list[i], many = few;
        weft_implementation_compiled(40, 0, &few);
        weft_implementation_compiled(200, 0, &many);
        assert_true(many.seconds >= few.seconds);
        if (few.threads_per_element == 16 && few.elements_per_block == 16)
            n_slower += many.seconds > 1.3 * few.seconds;
    }
    assert_true(n_slower > 0);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
}

/* Bytes loaded per entry of A: its own, and a part of x that depends on the number of columns. */
static double loaded_bytes(const weft_library *library, int64_t elements) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"gemv.weft",
                                    "index rows, cols;\ninput A : real over rows, cols;\n"
                                    "input x : real over cols;\ny = gemv(A, x);\nreturn y;\n"};
    const weft_compile_options options = {.size = sizeof options, .elements = elements};
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, NULL),
                     WEFT_OK);
    const double bytes = weft_compilation_only(compilation)->cover->list[0]->bytes_loaded;
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return bytes;
}

static void matrices_have_the_expected_size(void **state) {
    assert_double_near(loaded_bytes(*state, 0), 8 + 8.0 / 4096, 1e-9, 0);
    assert_double_near(loaded_bytes(*state, 100 * 100), 8 + 8.0 / 100, 1e-9, 0);
    assert_double_near(loaded_bytes(*state, 1), 16, 1e-9, 0);
}

/* Launches of the plan of y = A x + B x on an H200 for matrices of n rows and columns. */
static int launches_of_two_products(const weft_library *library, int64_t n) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"gesummv.weft",
                                    "index rows, cols;\ninput A, B : real over rows, cols;\n"
                                    "input x : real over cols;\ny = gemv(A, x) + gemv(B, x);\n"
                                    "return y;\n"};
    const weft_compile_options options = {
        .size = sizeof options, .single = true, .elements = n * n};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, NULL),
                     WEFT_OK);
    const int n_kernels = weft_compilation_kernels(compilation);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return n_kernels;
}

/* Alternating between two matrices costs 3 % of the bandwidth, which is more than a launch if they are
 * large. */
static void large_matrices_are_read_one_after_another(void **state) {
    assert_int_equal(launches_of_two_products(*state, 1024), 1);
    assert_int_equal(launches_of_two_products(*state, 16384), 2);
}

/* Rows of 60 doubles take 120 registers of a thread. Of several threads per element each spills: an estimate
 * has the time of all their bytes beside that of the lists, a third of what the same bytes take if the
 * compiler has counted them, and nothing if it has counted none. The prediction has exactly these parts where no list is copied to shared memory, which has
 * fewer loads in flight; the tolerance is for its latencies. */
static void every_thread_spills(void **state) {
    enum { AVAILABLE = 255 - 24, SHARE = 3 };
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {
        "rows.weft", "index N;\ninput A, B, C, D : real[60,60] over N;\n"
                     "E = madd(A, B);\nF = madd(C, D);\nG = madd(E, F);\nreturn E, F, G;\n"};
    const weft_compile_options options = {.size = sizeof options};
    int n_spilling = 0;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    const weft_limits *limits = weft_device_limits(device);
    assert_int_equal(weft_compile(*state, limits, &fragment, 1, &options, &compilation, NULL),
                     WEFT_OK);
    const weft_segment *segment = weft_compilation_only(compilation);
    for (int i = 0; i < segment->implementations->n; ++i) {
        const weft_implementation *one = &segment->implementations->list[i];
        const double words = 2.0 * one->register_components - AVAILABLE;
        if (one->threads_per_element < 2 || one->shared_components > 0 || words <= 0)
            continue;
        const double lists = (one->bytes_loaded + one->bytes_stored) / limits->bandwidth;
        weft_implementation again = *one;
        weft_implementation_compiled(0, (int)(8 * words), &again);
        ++n_spilling;
        assert_double_near(SHARE * (one->equation_seconds - lists), again.equation_seconds - lists,
                           0.1, 0);
        weft_implementation_compiled(0, 0, &again);
        assert_double_near(lists, again.equation_seconds, 0.1, 0);
    }
    assert_true(n_spilling > 0);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
}

/* Elimination passes once a step over an array that the registers of a thread do not hold, if it has 16 x 16 doubles (512 words)
 * and not if it has 10 x 10: one thread is predicted to take more than its lists and its array once, or as much. As compiled
 * for an H200, spills are 24,272 bytes and none. */
static void elimination_passes_over_its_array(void **state) {
    static const struct {
        int n;
        bool passes;
    } cases[] = {{10, false}, {16, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[200];
        weft_device *device = NULL;
        weft_compilation *compilation = NULL;
        const weft_variant_choice one_thread = {"solve", 0};
        const weft_compile_options options = {
            .size = sizeof options, .variants = &one_thread, .n_variants = 1};
        snprintf(text, sizeof text,
                 "index N;\ninput A : real[%d,%d] over N;\ninput b : real[%d] over N;\n"
                 "x = solve(A, b);\nreturn x;\n",
                 cases[k].n, cases[k].n, cases[k].n);
        const weft_fragment fragment = {"solve.weft", text};
        assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
        const weft_limits *limits = weft_device_limits(device);
        assert_int_equal(weft_compile(*state, limits, &fragment, 1, &options, &compilation, NULL),
                         WEFT_OK);
        const weft_implementation *one =
            &weft_compilation_only(compilation)->implementations->list[0];
        const double lists = (one->bytes_loaded + one->bytes_stored) / limits->bandwidth;
        assert_int_equal(one->equation_seconds > 3 * lists, cases[k].passes);
        weft_compilation_free(&compilation);
        weft_device_free(&device);
    }
}

/* 576 doubles exceed the registers. A body that only assigns them writes them to the list at once, so that the
 * time is that of the lists (the tolerance is for latencies); one that adds to them keeps an array in local
 * memory, beside the row: more than a third in addition. */
static void results_in_place_do_not_spill(void **state) {
    static const char functions[] =
        "//@ function  outer(x: real[m]) -> A: real[m,n]\n//@ kind      map\n//@ parameter n\n"
        "//@ flops     2*m*n\n//@ source    A(i,j) = x_i (j + 2)\n//@ threads   1\n"
        "for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j)\n"
        "        A(i,j) = x(i) * (j + 2);\n"
        "//@ function  sums(x: real[m]) -> A: real[m,n]\n//@ kind      map\n//@ parameter n\n"
        "//@ flops     2*m*n\n//@ source    A(i,j) = x_i (j + 2)\n//@ threads   1\n"
        "for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j) {\n"
        "        A(i,j) = 0;\n        A(i,j) += x(i) * (j + 2);\n    }\n";
    static const char *const names[] = {"outer", "sums"};
    double times[2];
    weft_device *device = NULL;
    weft_library *library = NULL;
    (void)state;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_library_add_text(library, "in_place.kernel.c", functions, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        char text[128];
        weft_compilation *compilation = NULL;
        snprintf(text, sizeof text,
                 "index N;\ninput x : real[24] over N;\nA = %s(x, n = 24);\nreturn A;\n", names[i]);
        const weft_fragment fragment = {"in_place.weft", text};
        assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1,
                                      &(weft_compile_options){.size = sizeof(weft_compile_options)},
                                      &compilation, NULL),
                         WEFT_OK);
        times[i] = weft_compilation_only(compilation)->cover->list[0]->equation_seconds *
                   weft_device_limits(device)->bandwidth / (8 * (24 + 24 * 24));
        weft_compilation_free(&compilation);
    }
    assert_double_near(times[0], 1, 0.1, 0);
    assert_true(times[1] > 1.33);
    weft_library_free(&library);
    weft_device_free(&device);
}

/* A gather that evaluates the contributions of a list of scalars is one launch; those of vectors are written by another. */
static void evaluated_contributions_take_one_launch(void **state) {
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    const weft_limits *limits = weft_device_limits(device);
    for (int is_vector = 0; is_vector < 2; ++is_vector) {
        weft_compilation *compilation = NULL;
        const weft_fragment fragment = {
            "gather.weft", is_vector
                               ? "index fine, coarse;\nconnectivity parents : fine -> coarse[2];\n"
                                 "input w : real[2, 3] over fine;\ninput r : real over fine;\n"
                                 "rc[parents] += w*r;\nreturn rc;\n"
                               : "index fine, coarse;\nconnectivity parents : fine -> coarse[2];\n"
                                 "input w : real[2] over fine;\ninput r : real over fine;\n"
                                 "rc[parents] += w*r;\nreturn rc;\n"};
        const weft_compile_options options = {
            .size = sizeof options, .elements = 1000, .scatter = WEFT_SCATTER_GATHERED};
        assert_int_equal(weft_compile(*state, limits, &fragment, 1, &options, &compilation, NULL),
                         WEFT_OK);
        const weft_segment *segment = weft_compilation_only(compilation);
        double seconds = 0;
        for (int i = 0; i < segment->cover->n; ++i)
            seconds += segment->cover->list[i]->cost;
        assert_int_equal(segment->plan->n_kernels, 1 + is_vector);
        assert_true(seconds >= (1 + is_vector) * limits->launch_seconds);
        assert_true(seconds < (1.5 + is_vector) * limits->launch_seconds);
        weft_compilation_free(&compilation);
    }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elimination_passes_over_its_array),
                                       cmocka_unit_test(every_thread_spills),
                                       cmocka_unit_test(evaluated_contributions_take_one_launch),
                                       cmocka_unit_test(results_in_place_do_not_spill),
                                       cmocka_unit_test(unknown_primitives_are_scaled),
                                       cmocka_unit_test(one_measured_point_chooses_nothing),
                                       cmocka_unit_test(registers_limit_resident_blocks),
                                       cmocka_unit_test(matrices_have_the_expected_size),
                                       cmocka_unit_test(large_matrices_are_read_one_after_another)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
