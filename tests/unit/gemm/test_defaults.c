/* labels: long */
/* The shipped kernels on an H200: each is possible, compiles (by NVRTC, without a GPU), spills at most
 * 128 bytes per thread, and as many of its blocks as it counts on fit on a multiprocessor. */
#include "gemm/kernels.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>

static weft_device *device;
static weft_gemm_kernels *kernels;
static int n_spilling;
enum { SPILLED = 128 };

static void check_default(weft_gemm_type type, weft_gemm_op op_a, weft_gemm_op op_b,
                          const weft_gemm_point *point, bool edges) {
    weft_error error;
    weft_module *module = NULL;
    weft_kernel_resources resources;
    weft_text text = {0};
    const int64_t size = edges ? 1000 : 1536;
    const weft_gemm_matrix matrix = {.ld = size};
    const weft_gemm_product product = {.type = type,
                                       .op_a = op_a,
                                       .op_b = op_b,
                                       .m = size,
                                       .n = size,
                                       .k = size,
                                       .a = matrix,
                                       .b = matrix,
                                       .c = matrix};
    weft_gemm_resources estimate = {0};
    const int resident = point->values[point->stencil == WEFT_GEMM_MMA ? MMA_MINB : FMA_MINB];
    weft_gemm_point_text(point, &text);
    if (weft_gemm_judge(&(weft_gemm_shape){.type = type}, point, &kernels->limits, NULL,
                        &estimate) != WEFT_GEMM_SURVIVES)
        fail_msg("%s is not possible", text.data);
    if (weft_gemm_module(kernels, &product, 1, point, &module, &error) != WEFT_OK ||
        weft_module_kernel_resources(module, "product", &resources, &error) != WEFT_OK)
        fail_msg("%s: %s", text.data, error.message);
    printf("type %d operands %d %d %s%s: %d registers, %d bytes spilled\n", type, op_a, op_b,
           text.data, edges ? " edges" : "", resources.registers, resources.spill_store_bytes);
    if (!edges && resources.spill_store_bytes > SPILLED)
        ++n_spilling;
    assert_true(resident * estimate.threads * ((resources.registers + 7) / 8 * 8) <= 65536);
    assert_true(resident * (estimate.shared_bytes + 1024) <= 228 * 1024);
    weft_text_free(&text);
}

static void test_defaults(void **state) {
    (void)state;
    for (int type = 0; type < WEFT_GEMM_TYPES; ++type)
        for (int order = 0; order < 4; ++order) {
            const weft_gemm_default *list = NULL;
            const weft_gemm_op a = order / 2 ? WEFT_GEMM_TRANSPOSED : WEFT_GEMM_PLAIN;
            const weft_gemm_op b = order % 2 ? WEFT_GEMM_TRANSPOSED : WEFT_GEMM_PLAIN;
            const int n = weft_gemm_defaults((weft_gemm_type)type, a, b, 16, &list);
            assert_true(n > 0);
            for (int i = 0; i < n; ++i) {
                check_default((weft_gemm_type)type, a, b, &list[i].point, false);
                if (i == 0)
                    check_default((weft_gemm_type)type, a, b, &list[i].point, true);
            }
        }
    assert_int_equal(n_spilling, 0);
}

static int open_device(void **state) {
    (void)state;
    weft_error error;
    if (weft_device_open("null:h200", NULL, &device, &error) != WEFT_OK ||
        weft_gemm_kernels_make(device, &kernels, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return 0;
}

static int close_device(void **state) {
    (void)state;
    weft_gemm_kernels_free(&kernels);
    weft_device_free(&device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
