/* labels: quick */
/* Copies between host and device by pieces and threads, on a stand-in for the driver (fake_cuda.c): what is
 * written is read, at sizes about those of pieces and of all buffers, at any offset; and where a piece
 * fails, the copy does, with the driver's code, and the next one works. */
#include "core/cuda/cuda.h"
#include "fake_cuda.h"
#include "test_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fake_cuda *control;

static weft_device *device_open(void) {
    weft_device *device = NULL;
    weft_nvrtc nvrtc;
    weft_error error = {0};
    void *library = dlopen(WEFT_BINARY_DIR "/tests/fake_cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(library);
    control = dlsym(library, "fake");
    *control = (fake_cuda){.version = 13000};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    weft_nvrtc_close(&nvrtc);
    if (weft_device_open("cuda", NULL, &device, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return device;
}

static void round_trip(weft_device *device, size_t n, size_t offset) {
    unsigned char *a = malloc(n), *b = calloc(n + 1, 1);
    weft_memory *memory = NULL;
    weft_error error = {0};
    for (size_t i = 0; i < n; ++i)
        a[i] = (unsigned char)((i * 2654435761u + n) >> 11);
    b[n] = 77;
    assert_int_equal(weft_memory_make(device, n + offset, &memory, &error), WEFT_OK);
    assert_int_equal(weft_memory_write(memory, offset, a, n, &error), WEFT_OK);
    assert_int_equal(weft_memory_read(memory, offset, b, n, &error), WEFT_OK);
    assert_memory_equal(a, b, n);
    assert_int_equal(b[n], 77);
    weft_memory_free(&memory);
    free(a);
    free(b);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    const size_t piece = 1 << 20;
    const size_t sizes[] = {1,
                            1023,
                            piece - 1,
                            piece,
                            piece + 1,
                            5 * piece + 3,
                            16 * piece - 1,
                            16 * piece + 1,
                            37 * piece + 12345};
    weft_device *device = device_open();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        round_trip(device, sizes[i], i % 5);
    weft_device_free(&device);
}

static void pieces_fail(void **state) {
    (void)state;
    static const char *const names[] = {"cuMemcpyHtoDAsync",  "cuMemcpyDtoHAsync", "cuEventRecord",
                                        "cuEventSynchronize", "cuMemHostAlloc",    "cuEventCreate"};
    const size_t n = 40 << 20;
    char *array = calloc(n, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        for (int skip = 0; skip < 12; skip += 3) {
            weft_device *device = device_open();
            weft_memory *memory = NULL;
            weft_error error = {0};
            assert_int_equal(weft_memory_make(device, n, &memory, NULL), WEFT_OK);
            control->fail_skip = skip;
            control->fail_code = 801;
            snprintf(control->fail_name, sizeof control->fail_name, "%s", names[i]);
            weft_status status = weft_memory_write(memory, 0, array, n, &error);
            if (status == WEFT_OK)
                status = weft_memory_read(memory, 0, array, n, &error);
            assert_int_equal(weft_status_exit_code(status), 3);
            assert_non_null(strstr(error.message, "CUDA_ERROR_"));
            control->fail_name[0] = 0;
            assert_int_equal(weft_memory_write(memory, 0, array, n, &error), WEFT_OK);
            assert_int_equal(weft_memory_read(memory, 0, array, n, &error), WEFT_OK);
            weft_memory_free(&memory);
            weft_device_free(&device);
        }
    free(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(pieces_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
