/* labels: quick */
/* Covers as text: implementations that the search has not kept are made again, and priced; impossible ones are not taken. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/plan/implementations.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 1 << 20 };

/* Compile with the words of a cover, after the hash of the script's graph. Returns the seconds of the first kernel; *out: the words of
 * the cover that was taken. */
static double recalled(const weft_library *library, const char *script, const char *words,
                       char out[200]) {
    weft_device *device = NULL;
    weft_text text = {0};
    double seconds = 0;
    char cover[200] = "";
    const weft_fragment fragment = {"recalled.weft", script};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        weft_compilation *compilation = NULL;
        const weft_compile_options options = {.size = sizeof options,
                                              .elements = ELEMENTS,
                                              .single = true,
                                              .cover = i == 0 ? NULL : cover};
        assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                      &compilation, NULL),
                         WEFT_OK);
        text.length = 0;
        assert_int_equal(weft_compilation_cover(compilation, &text, NULL), WEFT_OK);
        snprintf(cover, sizeof cover, "%.32s %s\n", text.data, words);
        seconds = weft_compilation_only(compilation)->cover->list[0]->cost;
        weft_compilation_free(&compilation);
    }
    snprintf(out, 200, "%.*s", (int)strcspn(text.data + 33, "\n"), text.data + 33);
    weft_text_free(&text);
    weft_device_free(&device);
    return seconds;
}

static const char product[] =
    "index N;\ninput A, B : real[3, 3] over N;\nC = mmul(A, B);\nreturn C;\n";

static void other_shapes_are_made_again(void **state) {
    static const char *const words[] = {"0:1@64x2w3oso", "0:1@16x1w2oso", "0:0@256x1w0rrr",
                                        "0:2@32x4w9sso"};
    char best[200], out[200];
    const double least = recalled(*state, product, "", best);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        assert_true(recalled(*state, product, words[i], out) >= least);
        assert_string_equal(out, words[i]);
    }
}

static void impossible_shapes_are_not_taken(void **state) {
    static const char *const words[] = {"0:3@64x1w3oso",   "0:1@48x1w3oso", "0:1@64x2w3sss",
                                        "0:1@1024x1w3oso", "1:1@64x1w3oso", "0:1@",
                                        "0,0:1@64x1w3oso", "0:@64x1w3oso",  "0:-1@64x1w3oso"};
    char best[200], out[200];
    recalled(*state, product, "", best);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        recalled(*state, product, words[i], out);
        assert_string_equal(out, best);
    }
}

/* One thread of eight has 24 x 24 numbers: an array in memory, of which each access of a warp takes whole sectors. */
static void arrays_of_one_thread_are_in_memory(void **state) {
    static const char script[] = "index N;\ninput x : real[24, 24] over N;\ny = madd(x, x);\n"
                                 "z = madd(y, y);\nreturn z;\n";
    const double bandwidth = 4.3e12, array = 2 * 4 * 576, moved = array;
    char out[200];
    const double apart = recalled(*state, script, "0,1:0,1@4x1w8rso", out);
    assert_string_equal(out, "0,1:0,1@4x1w8rso");
    const double together = recalled(*state, script, "0,1:1,1@4x1w8oso", out);
    assert_true(apart > ELEMENTS * (moved + 8 * array) / bandwidth * 0.9);
    assert_true(together < apart / 3);
}

/* A multiprocessor has one block of 1024 threads at once, whose loads do not overlap the computation of another. */
static void single_blocks_wait(void **state) {
    static const char script[] =
        "index N;\ninput A, B : real[5, 5] over N;\nC = mmul(A, B);\nreturn C;\n";
    char out[200];
    const double many = recalled(*state, script, "0:1@32x1w2oso", out),
                 few = recalled(*state, script, "0:1@512x1w2oso", out);
    assert_string_equal(out, "0:1@512x1w2oso");
    assert_true(few > 1.3 * many);
}

/* The threads of native bodies are neighbours. In blocks of 32 elements their components are in one bank of shared memory, and in memory
 * in sectors of their own; in blocks of 8 two are in each bank. */
static void neighbours_have_one_bank(void **state) {
    static const char kernels[] =
        "//@ function  twice(x: real[n]) -> y: real[n]\n//@ kind map\n//@ flops n\n"
        "//@ source y = 2 x\n//@ where n == 64\n//@ threads 1\n"
        "for (int i = 0; i < n; ++i)\n    y(i) = 2 * x(i);\n"
        "//@ body cuda\n//@ threads 8\n//@ compute\n"
        "for (int k = 0; k < 8; ++k)\n"
        "    for (int i = t; i < n; i += 8)\n        y(i) = 2 * x(i);\n";
    double seconds[2];
    const weft_variant_choice variant = {"twice", 1};
    weft_device *device = NULL;
    assert_int_equal(weft_library_add_text(*state, "twice.kernel.c", kernels, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        weft_compilation *compilation = NULL;
        const weft_fragment fragment = {"neighbours.weft",
                                        i == 0 ? "index N;\ninput x : real[64] over N;\n"
                                                 "fuse block 8 { y = twice(x); }\nreturn y;\n"
                                               : "index N;\ninput x : real[64] over N;\n"
                                                 "fuse block 32 { y = twice(x); }\nreturn y;\n"};
        const weft_compile_options options = {.size = sizeof options,
                                              .elements = ELEMENTS,
                                              .single = true,
                                              .variants = &variant,
                                              .n_variants = 1};
        assert_int_equal(weft_compile(*state, weft_device_limits(device), &fragment, 1, &options,
                                      &compilation, NULL),
                         WEFT_OK);
        const weft_implementation *one = weft_compilation_only(compilation)->cover->list[0];
        assert_int_equal(one->threads_per_element, 8);
        seconds[i] = one->cost;
        weft_compilation_free(&compilation);
    }
    weft_device_free(&device);
    assert_true(seconds[1] > 1.5 * seconds[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_shapes_are_made_again),
                                       cmocka_unit_test(impossible_shapes_are_not_taken),
                                       cmocka_unit_test(arrays_of_one_thread_are_in_memory),
                                       cmocka_unit_test(single_blocks_wait),
                                       cmocka_unit_test(neighbours_have_one_bank)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
