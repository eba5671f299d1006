/* labels: quick */
/* Preludes: every value of kernels/prelude/ is filled in, no line for the expander is left, and a table
 * is written once for each of its rows. */
#include "core/device/device.h"
#include "core/weft_core.h"
#include "fusion/base/prelude.h"
#include "fusion/codegen/private.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>

static int count(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        ++n;
    return n;
}

static void check(const weft_backend *backend, int lanes, bool single) {
    weft_text text = {0};
    const weft_limits limits = {
        .lanes_double = lanes, .lanes_float = lanes, .target = WEFT_TARGET_WARPS_OF_32};
    backend->prelude(&text, &limits, single);
    assert_false(text.failed);
    assert_int_equal(count(text.data, "@"), 0);
    assert_int_equal(
        count(text.data, single ? "typedef float scalar;\n" : "typedef double scalar;\n"), 1);
    static const char *const reductions[] = {"add", "multiply", "min", "max"};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; ++i) {
        char head[64];
        snprintf(head, sizeof head, "INLINE scalar both_%s(scalar a, scalar b)", reductions[i]);
        assert_int_equal(count(text.data, head), 1);
    }
    assert_int_equal(count(text.data, "INLINE scalar both_"), 4);
    weft_text_free(&text);
}

static void test_values(void **state) {
    (void)state;
    for (int single = 0; single < 2; ++single) {
        check(&weft_backend_cuda, 32, single != 0);
        for (int lanes = 2; lanes <= 16; lanes *= 2)
            check(&weft_backend_host, lanes, single != 0);
    }
}

static void test_lanes(void **state) {
    (void)state;
    weft_text text = {0};
    const weft_limits limits = {.lanes_double = 4, .lanes_float = 8};
    weft_backend_host.prelude(&text, &limits, false);
    assert_int_equal(count(text.data, "#define LANES 4\n"), 1);
    assert_int_equal(count(text.data, "#define EACH_LANE(M) M(0), M(1), M(2), M(3)\n"), 1);
    assert_int_equal(count(text.data, "#define VECTOR_BYTES 32\n#define LANES_TEXT \"4\"\n"), 1);
    assert_int_equal(count(text.data, "#elif defined(__AVX__)\n#define ROOTS(x) "), 1);
    weft_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
