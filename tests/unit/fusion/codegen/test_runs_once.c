/* labels: quick */
/* Kernels that run once: on the host their text asks for a cheaper compilation, and on a GPU it is the same. */
#include "core/weft_core.h"
#include "fusion/weft_compilation.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <string.h>

static bool is_cheap(const char *name, bool runs_once) {
    static const char script[] =
        "index cells;\ninput x : real over cells;\ny = x*x + x;\nreturn y;\n";
    const weft_fragment fragment = {"once", script};
    const weft_compile_options options = {.size = sizeof options, .runs_once = runs_once};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *made = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open(name, NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &made, &error) !=
        WEFT_OK)
        fail_msg("%s", error.message);
    const char *source = weft_compilation_source(made);
    const bool cheap = strncmp(source, "#pragma GCC optimize", 20) == 0;
    assert_true(cheap || !strstr(source, "#pragma GCC optimize"));
    weft_compilation_free(&made);
    weft_library_free(&library);
    weft_device_free(&device);
    return cheap;
}

static void only_on_the_host(void **state) {
    (void)state;
    assert_true(is_cheap("host:1", true));
    assert_false(is_cheap("host:1", false));
    assert_false(is_cheap("null:h200", true));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_on_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
