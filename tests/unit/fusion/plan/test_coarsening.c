/* labels: quick */
/* The factor by which the planner coarsens kernels, on an H200's limits: 64 K registers for 2048
 * threads of a multiprocessor, 32 each, of which 24 are assumed for addresses. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

static void expect_factor(const char *text, bool single, int64_t elements, int factor) {
    weft_error error = {0};
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_compile_options options = {
        .size = sizeof options, .single = single, .elements = elements};
    const weft_fragment fragment = {"test.weft", text};
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, &error),
                     WEFT_OK);
    const weft_implementation *one = weft_compilation_only(compilation)->cover->list[0];
    assert_int_equal(one->serial_iterations, factor);
    assert_int_equal(one->stride, one->elements_per_block);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    weft_library_free(&library);
}

static void factors(void **state) {
    static const char scale[] = "index N;\ninput x : real over N;\ny = 2*x;\nreturn y;\n";
    static const char add[] = "index N;\ninput x, y, z : real over N;\nw = x + y + z;\nreturn w;\n";
    (void)state;
    /* 2 words live: 24 + 2 + 4 of 32, and 24 + 2 + 8 with factor 8 */
    expect_factor(scale, true, 100000000, 4);
    /* 4 words live: 24 + 4 + 2*2 */
    expect_factor(scale, false, 100000000, 2);
    /* 48 KB are in flight on a multiprocessor already, more than bandwidth times latency */
    expect_factor(add, false, 100000000, 1);
    /* fewer elements than threads: each has its own thread */
    expect_factor(scale, true, 100000, 1);
    /* the script's factor goes first */
    expect_factor("index N;\ninput x : real over N;\nfuse iterations 1 { y = 2*x; }\nreturn y;\n",
                  true, 100000000, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(factors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
