/* labels: quick */
/* Kernels over whole columns for GPUs with clusters, whose text depends on the sizes: they compile
 * for an H200 without spilling registers, and their shapes fit. */
#include "core/weft_core.h"
#include "fusion/codegen/codegen.h"
#include "fusion/runtime/runtime.h"
#include "nvrtc_support.h"
#include "program_support.h"

static const char sgemvt[] = "index rows, cols;\ninput A : real over rows, cols;\n"
                             "input y : real over rows;\ninput z : real over cols;\n"
                             "input alpha, beta : real;\nx = beta*gemtv(A, y) + z;\n"
                             "w = alpha*gemv(A, x);\nreturn x, w;\n";
static const char gemver[] =
    "index rows, cols;\ninput A : real over rows, cols;\ninput u1, u2, y : real over rows;\n"
    "input v1, v2, z : real over cols;\ninput alpha, beta : real;\nB = A + u1*v1 + u2*v2;\n"
    "x = beta*gemtv(B, y) + z;\nw = alpha*gemv(B, x);\nreturn B, x, w;\n";

static void check(const weft_nvrtc *nvrtc, const char *script, int64_t n, bool single,
                  int most_spilled) {
    const weft_compile_options options = {.size = sizeof options, .single = single};
    program_case c = case_open(NULL, "null:h200", script, &options);
    const weft_segment *segment = case_segment(&c);
    const weft_plan_kernel *kernel = &segment->plan->kernels[0];
    weft_nested_shape shape = {0};
    weft_kernel_resources used = {0};
    weft_error error = {0};
    weft_text text = {0};
    weft_cubin cubin = {0};
    assert_int_equal(kernel->kind, KERNEL_NESTED);
    assert_int_equal(kernel->slice, SLICE_COLUMNS);
    if (!weft_nested_shape_make(segment, kernel, n, n, &shape))
        fail_msg("there is no shape for %lld columns", (long long)n);
    case_check(weft_source_nested_sized(segment, kernel, &shape, &text, &error), &error);
    if (weft_nvrtc_compile(nvrtc, 90, "columns", text.data, &cubin, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(weft_cubin_resources(&cubin, kernel->name, &used));
    assert_true((int64_t)shape.cluster * shape.steps * shape.threads * 16 / 128 >= n);
    if (used.spill_store_bytes > most_spilled)
        fail_msg("%lld columns of %s: a thread spills %d B", (long long)n,
                 single ? "float" : "double", used.spill_store_bytes);
    assert_true((size_t)(shape.shared_bytes + used.shared_bytes) <= segment->limits.onchip_bytes);
    weft_text_free(&text);
    weft_cubin_free(&cubin);
    case_close(&c);
}

static void compiles(void **state) {
    static const int64_t sizes[] = {4096, 8192, 16384};
    weft_nvrtc nvrtc = {0};
    (void)state;
    nvrtc_open_or_skip(&nvrtc);
    for (int single = 0; single < 2; ++single)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
            check(&nvrtc, sgemvt, sizes[i], single, 0);
            check(&nvrtc, gemver, sizes[i], single, 0);
        }
    /* half of the panel is in shared memory, and a few registers spill */
    check(&nvrtc, sgemvt, 32768, true, 64);
    check(&nvrtc, gemver, 32768, true, 64);
    check(&nvrtc, sgemvt, 32768, false, 64);
    weft_nvrtc_close(&nvrtc);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
