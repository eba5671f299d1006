/* labels: quick */
/* The kernels for set-up compiled beside the program, by NVRTC for a stand-in of the driver (fake_cuda.c):
 * each of them is in the cache then, and nothing was loaded, not even while a graph was captured. */
#include "core/cuda/cuda.h"
#include "fake_cuda.h"
#include "fusion/setup/setup.h"
#include "test_support.h"

#include <dlfcn.h>
#include <string.h>

static fake_cuda *control;

static weft_device *device_open(const char *folder) {
    weft_device *device = NULL;
    weft_nvrtc nvrtc;
    weft_error error = {0};
    const weft_device_options options = {
        .size = sizeof options, .cache = WEFT_CACHE_ON, .cache_directory = folder};
    void *library = dlopen(WEFT_BINARY_DIR "/tests/fake_cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(library);
    control = dlsym(library, "fake");
    *control = (fake_cuda){.version = 13000};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    weft_nvrtc_close(&nvrtc);
    if (weft_device_open("cuda", &options, &device, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return device;
}

static void stored(void **state) {
    (void)state;
    char *folder = test_folder_make(), file[64];
    weft_device *device = device_open(folder);
    weft_device_graph *graph = NULL;
    weft_error error = {0};
    weft_setup_precompile(device);
    static const char text[] =
        "extern \"C\" __global__ void one(long long n, int *p) { if (n > 0) p[0] = 1; }\n";
    weft_memory *memory = NULL;
    assert_int_equal(weft_memory_make(device, 64, &memory, NULL), WEFT_OK);
    if (weft_device_graph_begin(device, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(weft_memory_zero(memory, NULL), WEFT_OK);
    const int n_modules = control->n_modules;
    for (int i = 0; i < 2; ++i) /* the second time it is there */
        assert_int_equal(weft_module_store(device, "one", text, NULL), WEFT_OK);
    assert_int_equal(control->n_modules, n_modules);
    if (weft_device_graph_end(device, &graph, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    weft_memory_free(&memory);
    int n = 0, n_cached = 0;
    while (weft_setup_file(n, file, sizeof file))
        ++n;
    assert_true(n > 5);
    for (int i = n - 1; i >= 0; --i) { /* they are compiled from the other end */
        weft_module *module = NULL;
        weft_text source = {0};
        assert_true(weft_setup_file(i, file, sizeof file));
        assert_int_equal(weft_setup_source(file, &source, NULL), WEFT_OK);
        assert_int_equal(weft_module_make(device, file, source.data, &module, NULL), WEFT_OK);
        n_cached += weft_module_cached(module);
        weft_module_free(&module);
        weft_text_free(&source);
    }
    assert_true(n_cached > 0);
    weft_module *module = NULL;
    assert_int_equal(weft_module_make(device, "one", text, &module, NULL), WEFT_OK);
    assert_true(weft_module_cached(module));
    weft_module_free(&module);
    weft_device_graph_free(&graph);
    assert_int_equal(control->n_forbidden, 0);
    weft_device_free(&device);
    test_folder_remove(&folder);
}

/* Loaded once per device, and unloaded with it. */
static void kept(void **state) {
    (void)state;
    static const char text[] = "extern \"C\" __global__ void two(long long n, int *p) {}\n";
    char *folder = test_folder_make();
    weft_device *device = device_open(folder);
    weft_module *modules[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; ++i)
        assert_int_equal(weft_device_module(device, "two", text, &modules[i], NULL), WEFT_OK);
    assert_ptr_equal(modules[0], modules[1]);
    assert_ptr_equal(modules[0], modules[2]);
    assert_int_equal(control->n_modules, 1);
    weft_device_free(&device);
    assert_int_equal(control->n_modules, 0);
    test_folder_remove(&folder);
}

static void wrong_source(void **state) {
    (void)state;
    char *folder = test_folder_make();
    weft_device *device = device_open(folder);
    weft_error error = {0};
    assert_int_equal(weft_module_store(device, "wrong", "nothing like CUDA\n", &error),
                     WEFT_ERROR_COMPILER);
    assert_non_null(strstr(error.message, "NVRTC"));
    weft_device_free(&device);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stored), cmocka_unit_test(kept),
                                       cmocka_unit_test(wrong_source)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
