/* labels: quick */
/* What fusion spares, counted by hand: kernels, and bytes per element of the fused kernel. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <string.h>

static weft_saving saving_of(void **state, const char *script, weft_plan_kind plan) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_saving saving;
    const weft_fragment fragment = {"script.weft", script};
    const weft_compile_options options = {.size = sizeof options, .plan = plan};
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_compile(*state, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, NULL),
                     WEFT_OK);
    assert_int_equal(weft_compilation_saving(compilation, &saving, NULL), WEFT_OK);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return saving;
}

#define STIFFNESS                                                                                  \
    "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"                                \
    "input x : real[2] over nodes;\nJ = jacobian(x[dofs]);\n"                                      \
    "K = dshape_dot_dshape(tform_dshape(J), J);\nreturn K;\n"

/* Apart: J reads 12 of dofs and 48 of x and writes 32; the gradients read 32 and write 48; K reads
 * both, 80, and writes 72: 324. Together: 60 read and 72 written. */
static void stiffness(void **state) {
    const weft_saving saving = saving_of(state, STIFFNESS, WEFT_PLAN_FUSED);
    assert_int_equal(saving.n_calls, 3);
    assert_int_equal(saving.n_kernels, 1);
    assert_int_equal(saving.n_unfused, 3);
    assert_string_equal(saving.calls, "jacobian, tform_dshape and dshape_dot_dshape");
    assert_string_equal(saving.index_set, "cells");
    assert_double_near(saving.bytes, 132, 0, 0);
    assert_double_near(saving.bytes_unfused, 324, 0, 0);
}

static void unfused(void **state) {
    const weft_saving saving = saving_of(state, STIFFNESS, WEFT_PLAN_UNFUSED);
    assert_int_equal(saving.n_kernels, 3);
    assert_int_equal(saving.n_unfused, 3);
}

/* Text that `weft explain --why p q` prints. */
static void one_connectivity(void **state) {
    static const char script[] = "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                                 "input u : real over nodes;\ninput c : real[3] over cells;\n"
                                 "p = 2*u[dofs];\nq = 3*c;\nb[dofs] += q;\nreturn p, b;\n";
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_text text = {0};
    const weft_fragment fragment = {"script.weft", script};
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(
        weft_compile(*state, weft_device_limits(device), &fragment, 1, NULL, &compilation, NULL),
        WEFT_OK);
    assert_int_equal(weft_compilation_why(compilation, "p", "q", &text, NULL), WEFT_OK);
    assert_non_null(strstr(text.data, "p, q: fused: spares 12 B, loaded once for both"));
    weft_text_free(&text);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
}

/* Kernels of 10^6 elements that move bytes alone take at least the time of their bytes, that of the
 * kernels that gather included: 24 in and 24 out of c and q, then 8 + 12 + 24 in and 8 out. */
static void gathers_are_predicted(void **state) {
    static const char script[] = "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                                 "input c : real[3] over cells;\n"
                                 "q = 3*c;\nb[dofs] += q;\nreturn b;\n";
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"script.weft", script};
    const weft_compile_options options = {.size = sizeof options, .scatter = WEFT_SCATTER_GATHERED};
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    weft_limits limits = *weft_device_limits(device);
    limits.bandwidth = 1e10;
    assert_int_equal(weft_compile(*state, &limits, &fragment, 1, &options, &compilation, NULL),
                     WEFT_OK);
    const double seconds = weft_compilation_only(compilation)->cover->seconds;
    assert_true(seconds >= 1e6 * (24 + 24 + 8 + 12 + 24 + 8) / 1e10);
    assert_true(seconds <= 1.2 * 1e6 * (24 + 24 + 8 + 12 + 24 + 8) / 1e10);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
}

/* One call: nothing can be spared. */
static void one_call(void **state) {
    const weft_saving saving = saving_of(
        state, "index N;\ninput a : real over N;\nb = 2*a;\nreturn b;\n", WEFT_PLAN_FUSED);
    assert_int_equal(saving.n_calls, 1);
    assert_int_equal(saving.n_kernels, 1);
    assert_int_equal(saving.n_unfused, 1);
    assert_string_equal(saving.calls, "");
    assert_double_near(saving.bytes_unfused, 0, 0, 0);
}

/* b is written by one kernel and read through dofs by the next, so c = sqrt(..) and d = a*c alone
 * can be together: 36 in, 24 out and 48 in, 24 out apart; 60 in and 24 out together. */
static void one_name_for_two_calls(void **state) {
    const weft_saving saving =
        saving_of(state,
                  "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                  "input k : real[3] over cells;\na = k*k;\nb[dofs] += a;\nc = sqrt(b[dofs]);\n"
                  "d = a*c;\nreturn d;\n",
                  WEFT_PLAN_FUSED);
    assert_int_equal(saving.n_calls, 3);
    assert_int_equal(saving.n_kernels, 2);
    assert_int_equal(saving.n_unfused, 3);
    assert_string_equal(saving.calls, "arithmetic");
    assert_double_near(saving.bytes, 84, 0, 0);
    assert_double_near(saving.bytes_unfused, 132, 0, 0);
}

/* One part before the loop and one in it, each of two calls that are fused. */
static void loop(void **state) {
    const weft_saving saving = saving_of(
        state,
        "index N;\ninput x : real[3] over N;\ninput n : real;\na = sqrt(x);\nb = a*x;\n"
        "repeat at most 3 while (n > 0) {\n    c = sqrt(x);\n    update x = c*b;\n}\nreturn b;\n",
        WEFT_PLAN_FUSED);
    assert_int_equal(saving.n_calls, 4);
    assert_int_equal(saving.n_kernels, 2);
    assert_int_equal(saving.n_unfused, 4);
}

static int make_library(void **state) {
    weft_library *library = NULL;
    int code = weft_library_make(&library, NULL) != WEFT_OK;
    *state = library;
    return code;
}

static int free_library(void **state) {
    weft_library *library = *state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stiffness),
                                       cmocka_unit_test(unfused),
                                       cmocka_unit_test(one_connectivity),
                                       cmocka_unit_test(gathers_are_predicted),
                                       cmocka_unit_test(one_call),
                                       cmocka_unit_test(one_name_for_two_calls),
                                       cmocka_unit_test(loop)};
    return cmocka_run_group_tests(tests, make_library, free_library);
}
