/* labels: quick */
/* The library, its tables, specialisations and bodies, rerun with the n-th allocation failing for
 * every n. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "fusion/library/library.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static weft_status use_library(void *user, weft_error *error) {
    (void)user;
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_specialisation *specialisation = NULL;
    weft_text text = {0};
    const weft_shape shapes[] = {{1, {46}}, {2, {3, 3}}};
    const weft_accessor arguments[] = {{.base = "v_f"}, {.base = "v_J"}}, result = {.base = "v_b"};
    const weft_body_style style = {"SPLAT", "t", "    ", 0, NULL, false, NULL};
    const char *key = "degree";
    const int degree = 8;
    TRY(weft_library_make(&library, error));
    TRY(weft_tables_register(library, error));
    TRY(weft_arena_make(&arena, error));
    TRY(weft_specialisation_make(
        arena, library,
        &(weft_element_request){weft_library_find(library, "quadrature_load"),
                                shapes,
                                2,
                                &key,
                                &degree,
                                1,
                                {NULL, 0, 0}},
        &specialisation, error));
    for (int v = 0; v < specialisation->n_variants; ++v)
        TRY(weft_body_emit(specialisation, v, arguments, &result, &style, &text, error));
done:
    weft_text_free(&text);
    weft_arena_free(&arena);
    weft_library_free(&library);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    assert_true(test_every_allocation("weft_library_make to weft_body_emit", use_library, NULL) >
                20);
}

static weft_status use_directory(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    TRY(weft_library_make(&library, error));
    TRY(weft_library_add_directory(library, user, error));
done:
    weft_library_free(&library);
    return status;
}

static void directories(void **state) {
    (void)state;
    assert_true(test_every_allocation("weft_library_add_directory", use_directory,
                                      WEFT_SOURCE_DIR "/kernels") > 20);
}

static weft_status use_trials(void *user, weft_error *error) {
    (void)user;
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_test_cases test_cases;
    weft_function_info info = {.name = ""};
    size_t i = 0;
    TRY(weft_library_make(&library, error));
    TRY(weft_tables_register(library, error));
    TRY(weft_library_add_text(
        library, "trials.kernel.c",
        "//@ function  zz(a: real[n,d], b: real) -> r: real[n]\n"
        "//@ kind      map\n//@ flops     n\n//@ source    none\n"
        "//@ parameter degree\n"
        "//@ table     w: real[q] = simplex_weights(d, degree)\n"
        "//@ example   zz([[1], [2]], 3, degree = 1) = [3, 6]\n"
        "//@ threads   1\n"
        "for (int i = 0; i < n; ++i)\n    r(i) = a(i,0) * b * w(0);\n"
        "//@ body cuda\n//@ threads 32 r(t::32)\n//@ shared n reals\n"
        "//@ helpers\n#define STEP 32\nstatic __device__ int one() { return 1; }\n"
        "//@ compute\n__shared__ real copy[n];\n"
        "for (int i = t; i < n; i += STEP)\n    r(i) = one() * a(i,0) * b * w(0);\n",
        error));
    TRY(weft_arena_make(&arena, error));
    while (strcmp(info.name, "zz") != 0)
        weft_library_info(library, i++, &info);
    TRY(weft_test_cases_make(library, i - 1, arena, &test_cases, error));
    /* three choices of sizes and the example, which is of the smallest d */
    assert_int_equal(test_cases.n, 4);
    assert_string_equal(test_cases.list[0].sizes, "n = 1, d = 1, degree = 1");
    assert_string_equal(test_cases.list[0].keys, ", degree = 1");
    assert_int_equal(test_cases.list[3].line, 7);
    assert_true(test_cases.list[3].result.values[1] == 6);
done:
    weft_arena_free(&arena);
    weft_library_free(&library);
    return status;
}

static void trials_of_a_function(void **state) {
    (void)state;
    assert_true(test_every_allocation("weft_test_cases_make", use_trials, NULL) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(directories),
        cmocka_unit_test(trials_of_a_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
