/* labels: quick */
/* Several scripts compiled at once: the same programs and sums as one after another, and the first error
 * in the order of the requests, whichever thread fails first. The assembly of a matrix that takes less time than
 * its compilation asks for a cheaper one. */
#include "fem/form/form.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIPTS = 6 };

static const char *const good = "index N;\ninput a : real over N;\nb = 2*a;\nreturn b;\n";
static const char *const missing = "index N;\ninput a : real over N;\nb = nothing(a);\nreturn b;\n";
static const char *const unknown = "index N;\nreturn c;\n";

typedef struct fixture {
    weft_device *device;
    weft_library *library;
    weft_context context;
} fixture;

static fixture fixture_open(void) {
    fixture f = {0};
    const weft_device_options options = {.size = sizeof options, .cache = WEFT_CACHE_OFF};
    assert_int_equal(weft_device_open("host:2", &options, &f.device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&f.library, NULL), WEFT_OK);
    f.context = (weft_context){.device = f.device, .library = f.library};
    return f;
}

static void fixture_close(fixture *f) {
    weft_library_free(&f->library);
    weft_device_free(&f->device);
}

static void same_as_one_after_another(void **state) {
    (void)state;
    fixture f = fixture_open();
    const weft_compile_options options = {.size = sizeof options};
    const weft_fragment fragment = {"good.weft", good};
    weft_compiled made[SCRIPTS] = {0}, alone = {0};
    weft_compile_request requests[SCRIPTS];
    assert_int_equal(weft_compiled_make(&f.context, &fragment, 1, &options, &alone, NULL), WEFT_OK);
    const int n_kernels = f.context.n_kernels;
    for (int i = 0; i < SCRIPTS; ++i)
        requests[i] = (weft_compile_request){&fragment, 1, &options, &made[i]};
    assert_int_equal(weft_compiled_make_all(&f.context, requests, SCRIPTS, NULL), WEFT_OK);
    assert_int_equal(f.context.n_kernels, (1 + SCRIPTS) * n_kernels);
    for (int i = 0; i < SCRIPTS; ++i) {
        assert_non_null(made[i].program);
        assert_string_equal(weft_compilation_source(made[i].compilation),
                            weft_compilation_source(alone.compilation));
        weft_compiled_free(&made[i]);
    }
    weft_compiled_free(&alone);
    fixture_close(&f);
}

static void first_error_in_order(void **state) {
    (void)state;
    fixture f = fixture_open();
    const weft_compile_options options = {.size = sizeof options};
    const weft_fragment fragments[SCRIPTS] = {{"good.weft", good},       {"missing.weft", missing},
                                              {"unknown.weft", unknown}, {"good.weft", good},
                                              {"unknown.weft", unknown}, {"good.weft", good}};
    weft_compiled made[SCRIPTS] = {0}, alone = {0};
    weft_compile_request requests[SCRIPTS];
    weft_error expected = {0}, error = {0};
    const weft_status status =
        weft_compiled_make(&f.context, &fragments[1], 1, &options, &alone, &expected);
    assert_int_not_equal(status, WEFT_OK);
    for (int i = 0; i < SCRIPTS; ++i)
        requests[i] = (weft_compile_request){&fragments[i], 1, &options, &made[i]};
    for (int run = 0; run < 5; ++run) {
        assert_int_equal(weft_compiled_make_all(&f.context, requests, SCRIPTS, &error), status);
        assert_string_equal(error.message, expected.message);
        assert_string_equal(error.file, "missing.weft");
        for (int i = 0; i < SCRIPTS; ++i)
            assert_null(made[i].program);
    }
    fixture_close(&f);
}

/* For n triangles, all of whose corners are node 0; nothing runs. */
static bool is_compiled_cheaply(int64_t n) {
    fixture f = {0};
    weft_connectivity *dofs = NULL;
    weft_memory *x = NULL;
    weft_compiled made = {0};
    weft_error error = {0};
    int32_t *corners = calloc((size_t)n * 3, sizeof *corners);
    assert_non_null(corners);
    assert_int_equal(weft_device_open("null", NULL, &f.device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&f.library, NULL), WEFT_OK);
    f.context = (weft_context){.device = f.device, .library = f.library};
    assert_int_equal(weft_connectivity_make(f.device, corners, n, 3, 1, &dofs, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(f.device, 2 * sizeof(double), &x, NULL), WEFT_OK);
    const weft_form_input input = {"x", x};
    const weft_parameter dimension = {"d", 2};
    const weft_form form = {.name = "poisson",
                            .text = weft_fem_script("poisson"),
                            .dofs = dofs,
                            .inputs = &input,
                            .n_inputs = 1,
                            .parameters = &dimension,
                            .n_parameters = 1};
    if (weft_compiled_make_addto(&f.context, &form, dofs, true, WEFT_SCATTER_IN_PLACE, &made,
                                 &error) != WEFT_OK)
        fail_msg("%s", error.message);
    const bool cheap =
        strncmp(weft_compilation_source(made.compilation), "#pragma GCC optimize", 20) == 0;
    weft_compiled_free(&made);
    weft_memory_free(&x);
    weft_connectivity_free(&dofs);
    free(corners);
    fixture_close(&f);
    return cheap;
}

static void small_matrices_are_compiled_cheaply(void **state) {
    (void)state;
    assert_true(is_compiled_cheaply(1000000));
    assert_false(is_compiled_cheaply(1200000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_one_after_another),
                                       cmocka_unit_test(first_error_in_order),
                                       cmocka_unit_test(small_matrices_are_compiled_cheaply)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
