/* labels: quick */
/* What devices without device graphs say of them, copies between memories, timers by the clock,
 * grids on an H200's limits, and the resource usage of kernels that NVRTC reports where there is no
 * GPU. */
#include "core/weft_core.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "extern \"C\" __global__ void k(long long n, double *y)\n"
                             "{\n"
                             "    __shared__ double s[100];\n"
                             "    s[threadIdx.x] = y[threadIdx.x];\n"
                             "    __syncthreads();\n"
                             "    y[threadIdx.x] = s[99 - threadIdx.x];\n"
                             "}\n";

static weft_device *open_device(const char *name) {
    weft_device *device = NULL;
    weft_error error;
    if (weft_device_open(name, NULL, &device, &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
    return device;
}

static void not_captured(void **state) {
    static const char *const names[] = {"host:1", "null", "null:h200"};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        weft_device *device = open_device(names[i]);
        weft_device_graph *device_graph = NULL;
        weft_memory *flag = NULL;
        weft_error error = {0};
        assert_int_equal(weft_memory_make(device, 4, &flag, NULL), WEFT_OK);
        assert_false(weft_device_captures(device));
        assert_int_equal(weft_device_graph_begin(device, &error), WEFT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, weft_device_limits(device)->name));
        assert_int_equal(weft_device_graph_while(device, flag, &error), WEFT_ERROR_UNSUPPORTED);
        assert_int_equal(weft_device_graph_end_while(device, &error), WEFT_ERROR_UNSUPPORTED);
        assert_int_equal(weft_device_graph_end(device, &device_graph, NULL),
                         WEFT_ERROR_UNSUPPORTED);
        assert_null(device_graph);
        weft_device_graph_free(&device_graph);
        weft_device_graph_free(NULL);
        weft_memory_free(&flag);
        weft_device_free(&device);
    }
}

static void copies(void **state) {
    (void)state;
    weft_device *device = open_device("host:1"), *other = open_device("null");
    weft_memory *a = NULL, *b = NULL, *c = NULL;
    const char text[] = "threads", empty[sizeof text] = "";
    char back[sizeof text];
    weft_error error = {0};
    assert_int_equal(weft_memory_make(device, sizeof text, &a, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, 100, &b, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(other, 100, &c, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(a, 0, text, sizeof text, NULL), WEFT_OK);
    assert_int_equal(weft_memory_copy(b, a, 4, &error), WEFT_OK);
    assert_int_equal(weft_memory_read(b, 0, back, sizeof back, NULL), WEFT_OK);
    assert_memory_equal(back, "thre\0\0\0", sizeof back);
    assert_int_equal(weft_memory_copy(b, a, 0, NULL), WEFT_OK);
    assert_int_equal(weft_memory_copy(a, a, sizeof text, NULL), WEFT_OK);
    assert_int_equal(weft_memory_read(a, 0, back, sizeof back, NULL), WEFT_OK);
    assert_memory_equal(back, text, sizeof back);
    assert_int_equal(weft_memory_copy(b, a, sizeof text + 1, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_memory_copy(a, b, sizeof text + 1, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_memory_copy(c, a, 1, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_memory_copy(NULL, a, 1, NULL), WEFT_ERROR_USAGE);
    assert_int_equal(weft_memory_copy(c, c, 100, &error), WEFT_OK);
    assert_int_equal(weft_memory_copy_part(b, 2, a, 4, 3, &error), WEFT_OK);
    assert_int_equal(weft_memory_read(b, 0, back, sizeof back, NULL), WEFT_OK);
    assert_memory_equal(back, "thads\0\0", sizeof back);
    assert_int_equal(weft_memory_copy_part(b, 98, a, 0, 3, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_memory_copy_part(b, 0, a, sizeof text - 2, 3, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_memory_read(c, 0, back, sizeof back, NULL), WEFT_OK);
    assert_memory_equal(back, empty, sizeof back);
    weft_memory_free(&a);
    weft_memory_free(&b);
    weft_memory_free(&c);
    weft_device_free(&device);
    weft_device_free(&other);
}

static void timers(void **state) {
    (void)state;
    weft_device *device = open_device("host:1");
    weft_timer *timer = NULL;
    weft_error error = {0};
    double seconds = -1, start = weft_clock();
    assert_int_equal(weft_timer_make(device, &timer, &error), WEFT_OK);
    assert_int_equal(weft_timer_stop(timer, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_timer_start(timer, &error), WEFT_OK);
    assert_int_equal(weft_timer_seconds(timer, &seconds, &error), WEFT_ERROR_USAGE);
    while (weft_clock() - start < 2e-3)
        ;
    assert_int_equal(weft_timer_stop(timer, &error), WEFT_OK);
    assert_int_equal(weft_timer_seconds(timer, &seconds, &error), WEFT_OK);
    assert_true(seconds > 1e-3 && seconds <= weft_clock() - start);
    /* a new start forgets the stop */
    assert_int_equal(weft_timer_start(timer, NULL), WEFT_OK);
    assert_int_equal(weft_timer_seconds(timer, &seconds, NULL), WEFT_ERROR_USAGE);
    weft_timer_free(&timer);
    weft_timer_free(&timer);
    weft_device_free(&device);
}

/* 132 multiprocessors with 2048 threads, 32 blocks and 228 KB, 1 KB of which each block takes. */
static void grids(void **state) {
    static const struct {
        int threads, shared, each;
    } cases[] = {{0, 0, 16},           {32, 0, 32},         {33, 0, 32},
                 {256, 0, 8},          {1024, 0, 2},        {256, 227 * 1024, 1},
                 {256, 113 * 1024, 2}, {256, 75 * 1024, 3}, {256, 76 * 1024, 2},
                 {1025, 0, 0},         {256, 228 * 1024, 0}};
    (void)state;
    weft_device *device = open_device("null:h200"), *plain = open_device("null");
    weft_module *module = NULL, *other = NULL;
    weft_memory *memory = NULL;
    weft_error error = {0};
    assert_int_equal(weft_module_make(device, "grids", source, &module, NULL), WEFT_OK);
    assert_int_equal(weft_module_make(plain, "grids", source, &other, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, 800, &memory, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        assert_int_equal(
            weft_device_resident_blocks(device, module, "k", cases[i].threads, cases[i].shared),
            132 * cases[i].each);
    assert_int_equal(weft_device_resident_blocks(device, module, "no", 32, 0), 0);
    assert_int_equal(weft_device_resident_blocks(device, other, "k", 32, 0), 0);
    assert_int_equal(weft_device_resident_blocks(plain, other, "k", 32, 0), 0);
    weft_launch launch = {.module = module,
                          .kernel = "k",
                          .arguments = &memory,
                          .n_arguments = 1,
                          .n_elements = 100,
                          .lanes = 32,
                          .block_threads = 1024,
                          .n_blocks = 264,
                          .cooperative = true};
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_OK);
    launch.n_blocks = 265;
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "holds 264"));
    launch.cooperative = false;
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_OK);
    launch.module = other;
    launch.n_arguments = 0;
    launch.cooperative = true;
    assert_int_equal(weft_device_launch(plain, &launch, &error), WEFT_ERROR_UNSUPPORTED);
    weft_memory_free(&memory);
    weft_module_free(&module);
    weft_module_free(&other);
    weft_device_free(&device);
    weft_device_free(&plain);
}

static void figures_without_a_gpu(void **state) {
    (void)state;
    weft_device *device = open_device("null:h200"), *host = open_device("null");
    weft_module *module = NULL, *wrong = NULL, *plain = NULL;
    weft_kernel_resources resources = {0};
    weft_error error = {0};
    assert_int_equal(weft_module_make(device, "figures", source, &module, NULL), WEFT_OK);
    assert_int_equal(weft_module_make(device, "wrong", "no source", &wrong, NULL), WEFT_OK);
    assert_int_equal(weft_module_make(host, "figures", source, &plain, NULL), WEFT_OK);
    assert_false(weft_module_resources(module, "k", &resources));
    assert_int_equal(weft_module_kernel_resources(plain, "k", &resources, &error),
                     WEFT_ERROR_UNSUPPORTED);
    weft_status status = weft_module_kernel_resources(module, "k", &resources, &error);
    if (status == WEFT_OK) {
        assert_in_range(resources.registers, 4, 64);
        assert_int_equal(resources.shared_bytes, 800);
        assert_int_equal(resources.stack_bytes, 0);
        assert_true(weft_module_resources(module, "k", &resources));
        assert_int_equal(weft_module_kernel_resources(module, "no", &resources, &error),
                         WEFT_ERROR_DEVICE);
    } else {
        assert_non_null(strstr(error.message, "NVRTC"));
    }
    assert_int_equal(weft_module_kernel_resources(wrong, "k", &resources, &error),
                     WEFT_ERROR_COMPILER);
    weft_module_free(&module);
    weft_module_free(&wrong);
    weft_module_free(&plain);
    weft_device_free(&device);
    weft_device_free(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_captured),
        cmocka_unit_test(copies),
        cmocka_unit_test(timers),
        cmocka_unit_test(grids),
        cmocka_unit_test(figures_without_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
