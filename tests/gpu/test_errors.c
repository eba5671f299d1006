/* labels: gpu */
/* Modules and what goes wrong on a GPU: cache, wrong sources and launches, no memory left, and an
 * error after which nothing is done any more. */
#include "core/weft_core.h"
#include "gpu_support.h"

#include <dirent.h>
#include <unistd.h>

static char self[4096];

static void cached_modules(void **state) {
    (void)state;
    char *folder = test_folder_make();
    weft_device_options options = {
        .size = sizeof options, .cache = WEFT_CACHE_ON, .cache_directory = folder};
    for (int round = 0; round < 3; ++round) {
        weft_device *device = gpu_open(&options);
        weft_module *module = gpu_module(device);
        weft_kernel_resources resources = {0};
        assert_int_equal(weft_module_cached(module), round == 1);
        assert_true(round == 1 ? !(weft_module_seconds(module) > 0)
                               : weft_module_seconds(module) > 0);
        assert_true(weft_module_resources(module, "axpy", &resources));
        assert_in_range(resources.registers, 4, 64);
        assert_int_equal(resources.stack_bytes, 0);
        assert_int_equal(resources.spill_store_bytes, 0);
        assert_false(weft_module_resources(module, "nothing", &resources));
        weft_module_free(&module);
        weft_device_free(&device);
        DIR *list = opendir(folder);
        for (struct dirent *item; round == 1 && (item = readdir(list));) {
            if (!strstr(item->d_name, ".weft"))
                continue;
            char *path = test_path(folder, item->d_name);
            assert_int_equal(truncate(path, 700), 0);
            free(path);
        }
        closedir(list);
    }
    test_folder_remove(&folder);
}

static void wrong_sources(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_module *module = NULL;
    weft_error error = {0};
    assert_int_equal(weft_module_make(device, "bad", "extern \"C\" __global__ void k() { no }\n",
                                      &module, &error),
                     WEFT_ERROR_COMPILER);
    assert_null(module);
    assert_int_equal(error.line, 1);
    assert_int_equal(weft_status_exit_code(error.status), 3);
    weft_device_free(&device);
}

static void wrong_launches(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_module *module = gpu_module(device);
    weft_memory *memory = gpu_memory(device, NULL, 80);
    weft_error error = {0};
    weft_launch launch = gpu_launch(module, "nothing", &memory, 1, 10);
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_ERROR_DEVICE);
    assert_string_equal(error.message, "module gpu_test has no kernel nothing");
    launch.kernel = "mirror";
    launch.block_threads = 1025;
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_ERROR_USAGE);
    launch.block_threads = 0;
    launch.shared_bytes = 1 << 24;
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_ERROR_USAGE);
    launch.shared_bytes = 0;
    int64_t starts[] = {0, 1}, range[1][2] = {{0, 1}};
    weft_schedule schedule = {1, starts, range};
    launch.schedule = &schedule;
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "schedule"));
    gpu_check(weft_device_wait(device, &error), &error); /* it still works */
    weft_memory_free(&memory);
    weft_module_free(&module);
    weft_device_free(&device);
}

static void no_memory_left(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_error error = {0};
    size_t most = weft_device_limits(device)->memory_bytes;
    weft_memory *large = gpu_memory(device, NULL, most / 8 * 5), *small = NULL, *more = NULL;
    small = gpu_memory(device, NULL, 3000000);
    /* more than there is by Weft's own count, and by the driver's */
    const size_t sizes[] = {most / 8 * 5, most - most / 8 * 5 - 4000000};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(weft_memory_make(device, sizes[i], &more, &error), WEFT_ERROR_MEMORY);
        assert_null(more);
        assert_non_null(strstr(error.message, "out of memory on cuda:0"));
        assert_non_null(strstr(error.message, "the largest arrays: "));
        assert_non_null(strstr(error.message, ", 3 MB"));
        assert_non_null(strstr(error.hint, "matrix-free"));
        print_message("%s\n", error.message);
    }
    weft_memory_free(&large);
    /* what was freed is there again, in another size */
    more = gpu_memory(device, NULL, most / 8 * 6);
    weft_memory_free(&more);
    weft_memory_free(&small);
    weft_device_free(&device);
}

/* In a process of its own, for nothing works there afterwards. */
static int fail_for_good(void) {
    weft_device *device = NULL;
    weft_module *module = NULL;
    weft_memory *memory = NULL, *more = NULL;
    weft_error first = {0}, error = {0};
    double value = 7;
    if (weft_device_open("cuda", NULL, &device, &error) != WEFT_OK ||
        weft_module_make(device, "gpu_test", gpu_source, &module, &error) != WEFT_OK ||
        weft_memory_make(device, 80, &memory, &error) != WEFT_OK)
        return 100;
    weft_launch launch = gpu_launch(module, "far_away", &memory, 1, 1);
    if (weft_device_launch(device, &launch, &error) != WEFT_OK)
        return 101;
    if (weft_memory_read(memory, 0, &value, 8, &first) != WEFT_ERROR_DEVICE || value < 7)
        return 102;
    printf("%s\n", first.message);
    weft_status ends[] = {weft_device_wait(device, &error),
                          weft_memory_make(device, 8, &more, &error),
                          weft_memory_write(memory, 0, &value, 8, &error),
                          weft_memory_zero(memory, &error),
                          weft_device_launch(device, &launch, &error),
                          weft_memory_read(memory, 0, &value, 8, &error)};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i)
        if (ends[i] != WEFT_ERROR_DEVICE || strcmp(error.message, first.message) != 0)
            return 103 + (int)i;
    weft_memory_free(&memory);
    weft_module_free(&module);
    weft_device_free(&device);
    return weft_status_exit_code(first.status);
}

static void errors_that_stay(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_device_free(&device);
    const char *arguments[] = {self, "--fail-for-good", NULL};
    test_run run = test_program(arguments, NULL);
    print_message("%s", run.output);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(strstr(run.output, "cuda:0 failed and does no more work"));
    assert_non_null(strstr(run.output, "after the launch of far_away"));
    assert_non_null(strstr(run.output, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    test_run_free(&run);
}

static void numbers_of_gpus(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL), *none = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open("cuda:1000", NULL, &none, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "cuda:1000: there "));
    assert_null(none);
    weft_device_free(&device);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--fail-for-good") == 0)
        return fail_for_good();
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_modules),   cmocka_unit_test(wrong_sources),
        cmocka_unit_test(wrong_launches),   cmocka_unit_test(no_memory_left),
        cmocka_unit_test(errors_that_stay), cmocka_unit_test(numbers_of_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
