/* labels: quick */
/* Kernels over whole rows for GPUs with clusters, whose text depends on the sizes: they compile for
 * an H200 without spilling registers, and their shapes fit. */
#include "core/weft_core.h"
#include "fusion/codegen/codegen.h"
#include "fusion/runtime/runtime.h"
#include "nvrtc_support.h"
#include "program_support.h"

static const char *const scripts[] = {
    "index rows, cols;\ninput A : real over rows, cols;\ninput x : real over cols;\n"
    "y = gemtv(A, gemv(A, x));\nreturn y;\n",
    "index rows, cols;\ninput A : real over rows, cols;\ninput p : real over cols;\n"
    "input r : real over rows;\nq = gemv(A, p);\ns = gemtv(A, r);\nreturn q, s;\n",
    "index rows, cols;\ninput A, B : real over rows, cols;\ninput x : real over cols;\n"
    "input y : real over rows;\ninput alpha, beta : real;\n"
    "z = alpha*gemv(A, x) + beta*gemv(B, x) + y;\nC = A + B*z;\nreturn z, C;\n",
};

static void check(const weft_nvrtc *nvrtc, const char *script, int64_t n, bool single) {
    const weft_compile_options options = {.size = sizeof options, .single = single};
    program_case c = case_open(NULL, "null:h200", script, &options);
    const weft_segment *segment = case_segment(&c);
    const weft_plan_kernel *kernel = &segment->plan->kernels[0];
    weft_nested_shape shape = {0};
    weft_error error = {0};
    weft_text text = {0};
    weft_cubin cubin = {0};
    assert_int_equal(kernel->kind, KERNEL_NESTED);
    if (!weft_nested_shape_make(segment, kernel, n, n, &shape))
        fail_msg("there is no shape for %lld columns", (long long)n);
    assert_true((size_t)shape.shared_bytes <= segment->limits.onchip_bytes);
    assert_true((int64_t)shape.threads * shape.steps * shape.cluster >= n);
    assert_true((int64_t)shape.full * shape.threads * shape.cluster <= n);
    case_check(weft_source_nested_sized(segment, kernel, &shape, &text, &error), &error);
    nvrtc_expect_compiles(nvrtc, "rows", text.data);
    case_size(&c, "rows", n);
    case_size(&c, "cols", n);
    weft_text_free(&text);
    weft_cubin_free(&cubin);
    case_close(&c);
}

static void compiles(void **state) {
    weft_nvrtc nvrtc = {0};
    (void)state;
    nvrtc_open_or_skip(&nvrtc);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i) {
        check(&nvrtc, scripts[i], 4096 + 3, true);
        check(&nvrtc, scripts[i], 16384, i == 1);
        check(&nvrtc, scripts[i], 32768, true);
    }
    weft_nvrtc_close(&nvrtc);
}

/* Sizes that the kernels of the program serve: short rows, rows that fit no cluster. */
static void no_shape(void **state) {
    (void)state;
    const weft_compile_options options = {.size = sizeof options};
    program_case c = case_open(NULL, "null:h200", scripts[0], &options);
    const weft_segment *segment = case_segment(&c);
    weft_nested_shape shape;
    assert_false(weft_nested_shape_make(segment, &segment->plan->kernels[0], 10000, 100, &shape));
    assert_false(
        weft_nested_shape_make(segment, &segment->plan->kernels[0], 100, 10000000, &shape));
    assert_false(weft_nested_shape_make(segment, &segment->plan->kernels[0], 0, 4096, &shape));
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compiles), cmocka_unit_test(no_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
