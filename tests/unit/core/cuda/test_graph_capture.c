/* labels: quick */
/* The cuda device on a stand-in for the driver (fake_cuda.c), which runs device graphs as lists:
 * what is captured, what is refused, and what every failing function of the driver leads to.
 * Kernels are compiled by NVRTC, and the stand-in knows them by name. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fake_cuda.h"
#include "test_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "extern \"C\" __global__ void step(long long n, unsigned *count, unsigned *flag,\n"
    "                                const unsigned *most)\n"
    "{ *count += 1; *flag = *count < *most; }\n"
    "extern \"C\" __global__ void decide(long long n, unsigned *count, unsigned *flag,\n"
    "                                  const unsigned *most)\n"
    "{ *flag = *count < *most; }\n";

enum { ITERATIONS = 1000, WORDS = 3 }; /* count, flag, most */

typedef struct fixture {
    weft_device *device;
    weft_module *module;
    weft_memory *words[WORDS];
    weft_error error;
} fixture;

static fake_cuda *control;
static char *cache;
static char heard[2000];

static void hear(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_INFO)
        snprintf(heard, sizeof heard, "%s", message);
}
static const weft_monitor monitor = {.log = hear};

static int load(void **state) {
    (void)state;
    void *library = dlopen(WEFT_BINARY_DIR "/tests/fake_cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return 1;
    control = dlsym(library, "fake");
    cache = test_folder_make();
    return control ? 0 : 1;
}

static int clean(void **state) {
    (void)state;
    test_folder_remove(&cache);
    return 0;
}

static void skip_without_nvrtc(void) {
    weft_nvrtc nvrtc;
    weft_error error;
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    weft_nvrtc_close(&nvrtc);
}

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static weft_status fixture_open(fixture *f) {
    weft_status status = WEFT_OK;
    weft_device_options options = {.size = sizeof options,
                                   .monitor = &monitor,
                                   .cache = WEFT_CACHE_ON,
                                   .cache_directory = cache};
    const uint32_t most = ITERATIONS;
    TRY(weft_device_open("cuda", &options, &f->device, &f->error));
    TRY(weft_module_make(f->device, "record", source, &f->module, &f->error));
    for (int i = 0; i < WORDS; ++i)
        TRY(weft_memory_make(f->device, sizeof most, &f->words[i], &f->error));
    TRY(weft_memory_write(f->words[2], 0, &most, sizeof most, &f->error));
done:
    return status;
}

static void fixture_close(fixture *f) {
    for (int i = 0; i < WORDS; ++i)
        weft_memory_free(&f->words[i]);
    weft_module_free(&f->module);
    weft_device_free(&f->device);
}

/* Everything is given back, and nothing was asked for that a capture forbids. */
static void finish(fixture *f) {
    fixture_close(f);
    assert_int_equal(control->n_arrays, 0);
    assert_int_equal(control->n_modules, 0);
    assert_int_equal(control->n_executables, 0);
    assert_int_equal(control->n_forbidden, 0);
}

static fixture fixture_make(void) {
    fixture f = {0};
    *control = (fake_cuda){.version = 13000};
    skip_without_nvrtc();
    check(fixture_open(&f), &f.error);
    return f;
}

static weft_status launch(fixture *f, const char *kernel, weft_memory *const *words) {
    weft_launch launch = {.module = f->module,
                          .kernel = kernel,
                          .arguments = words,
                          .n_arguments = WORDS,
                          .n_elements = 1,
                          .lanes = 32};
    return weft_device_launch(f->device, &launch, &f->error);
}

static uint32_t word(fixture *f, const weft_memory *memory) {
    uint32_t value = 0;
    check(weft_memory_read(memory, 0, &value, sizeof value, &f->error), &f->error);
    return value;
}

/* count = 0, decide, while (flag) step, step */
static weft_status record(fixture *f, weft_device_graph **out) {
    weft_status status = WEFT_OK;
    TRY(weft_device_graph_begin(f->device, &f->error));
    TRY(weft_memory_zero(f->words[0], &f->error));
    TRY(launch(f, "decide", f->words));
    TRY(weft_device_graph_while(f->device, f->words[1], &f->error));
    TRY(launch(f, "step", f->words));
    TRY(weft_device_graph_end_while(f->device, &f->error));
    TRY(launch(f, "step", f->words));
    return weft_device_graph_end(f->device, out, &f->error);
done:
    (void)weft_device_graph_end(f->device, NULL, NULL);
    return status;
}

static void counts(void **state) {
    (void)state;
    fixture f = fixture_make();
    weft_device_graph *device_graph = NULL;
    assert_true(weft_device_captures(f.device));
    check(record(&f, &device_graph), &f.error);
    assert_int_equal(control->n_kernels, 0);
    int64_t launches = weft_device_launches(f.device);
    assert_int_equal(launches, 0);
    for (int i = 1; i <= 2; ++i) {
        check(weft_device_graph_run(device_graph, &f.error), &f.error);
        assert_int_equal(word(&f, f.words[0]), ITERATIONS + 1);
        assert_int_equal(word(&f, f.words[1]), 0);
        /* decide, the condition, then a step and the condition an iteration, and the last step */
        assert_int_equal(control->n_kernels, i * (2 * ITERATIONS + 3));
        assert_int_equal(weft_device_launches(f.device), i);
    }
    weft_device_graph_free(&device_graph);
    finish(&f);
}

/* 5 iterations of 7 iterations: the inner count is copied out and zeroed again in each. */
static void nested(void **state) {
    (void)state;
    fixture f = fixture_make();
    weft_memory *outer[WORDS] = {NULL}, *last = NULL;
    weft_device_graph *device_graph = NULL;
    weft_error *error = &f.error;
    for (int i = 0; i < WORDS; ++i)
        check(weft_memory_make(f.device, 4, &outer[i], error), error);
    check(weft_memory_make(f.device, 4, &last, error), error);
    check(weft_memory_write(outer[2], 0, &(uint32_t){5}, 4, error), error);
    check(weft_memory_write(f.words[2], 0, &(uint32_t){7}, 4, error), error);
    check(weft_device_graph_begin(f.device, error), error);
    check(launch(&f, "decide", outer), error);
    check(weft_device_graph_while(f.device, outer[1], error), error);
    check(weft_memory_zero(f.words[0], error), error);
    check(launch(&f, "decide", f.words), error);
    check(weft_device_graph_while(f.device, f.words[1], error), error);
    check(launch(&f, "step", f.words), error);
    check(weft_device_graph_end_while(f.device, error), error);
    check(weft_memory_copy(last, f.words[0], 4, error), error);
    check(launch(&f, "step", outer), error);
    check(weft_device_graph_end_while(f.device, error), error);
    check(weft_memory_zero(f.words[0], error), error);
    check(weft_device_graph_end(f.device, &device_graph, error), error);
    check(weft_device_graph_run(device_graph, error), error);
    assert_int_equal(word(&f, outer[0]), 5);
    assert_int_equal(word(&f, last), 7);
    assert_int_equal(word(&f, f.words[0]), 0);
    weft_device_graph_free(&device_graph);
    for (int i = 0; i < WORDS; ++i)
        weft_memory_free(&outer[i]);
    weft_memory_free(&last);
    finish(&f);
}

static void refused(const fixture *f, weft_status status, weft_status want, const char *text) {
    assert_int_equal(status, want);
    if (!strstr(f->error.message, text))
        fail_msg("no \"%s\" in: %s", text, f->error.message);
}

static void mistakes(void **state) {
    (void)state;
    fixture f = fixture_make();
    weft_device_graph *device_graph = NULL, *second = NULL;
    weft_memory *other = NULL;
    weft_module *module = NULL;
    weft_timer *timer = NULL;
    weft_error *error = &f.error;
    const weft_status usage = WEFT_ERROR_USAGE;
    uint32_t value = 0;
    check(weft_timer_make(f.device, &timer, error), error);
    refused(&f, weft_device_graph_end(f.device, &device_graph, error), usage, "begin");
    refused(&f, weft_device_graph_while(f.device, f.words[1], error), usage, "begin");
    refused(&f, weft_device_graph_end_while(f.device, error), usage, "begin");
    check(record(&f, &second), error);
    check(weft_device_graph_begin(f.device, error), error);
    refused(&f, weft_device_graph_begin(f.device, error), usage, "already");
    refused(&f, weft_device_graph_end_while(f.device, error), usage,
            "without weft_device_graph_while");
    refused(&f, weft_device_graph_while(f.device, NULL, error), usage, "flag");
    refused(&f, weft_memory_make(f.device, 8, &other, error), usage, "making an array");
    refused(&f, weft_memory_read(f.words[0], 0, &value, 4, error), usage, "reading an array");
    refused(&f, weft_memory_write(f.words[0], 0, &value, 4, error), usage, "writing an array");
    refused(&f, weft_device_wait(f.device, error), usage, "waiting");
    refused(&f, weft_timer_start(timer, error), usage, "timer");
    refused(&f, weft_device_graph_run(second, error), usage, "running");
    check(weft_module_make(f.device, "again", source, &module, error), error); /* is allowed */
    weft_module_free(&module);
    weft_device_graph_free(&second);
    for (int i = 0; i < WEFT_CUDA_LOOPS; ++i)
        check(weft_device_graph_while(f.device, f.words[1], error), error);
    refused(&f, weft_device_graph_while(f.device, f.words[1], error), WEFT_ERROR_UNSUPPORTED,
            "8 deep");
    refused(&f, weft_device_graph_end(f.device, &device_graph, error), usage, "8 loops are");
    assert_null(device_graph);
    /* what is used and freed meanwhile; what is not used may be freed */
    check(weft_memory_make(f.device, 4, &other, error), error);
    check(weft_device_graph_begin(f.device, error), error);
    check(launch(&f, "step", f.words), error);
    weft_memory_free(&other);
    check(weft_device_graph_end(f.device, &device_graph, error), error);
    check(weft_device_graph_begin(f.device, error), error);
    check(launch(&f, "step", f.words), error);
    weft_memory_free(&f.words[2]);
    refused(&f, weft_device_graph_end(f.device, &second, error), usage, "an array");
    assert_null(second);
    refused(&f, weft_device_graph_run(device_graph, error), usage, "freed");
    weft_device_graph_free(&device_graph);
    /* a device that is closed while it records */
    check(weft_device_graph_begin(f.device, error), error);
    check(weft_device_graph_while(f.device, f.words[1], error), error);
    weft_timer_free(&timer);
    finish(&f);
}

static void old_driver(void **state) {
    (void)state;
    fixture f = {0};
    *control = (fake_cuda){.version = 12020};
    skip_without_nvrtc();
    check(fixture_open(&f), &f.error);
    heard[0] = '\0';
    assert_false(weft_device_captures(f.device));
    assert_non_null(strstr(heard, "CUDA 12.2"));
    refused(&f, weft_device_graph_begin(f.device, &f.error), WEFT_ERROR_UNSUPPORTED, "stand-in");
    heard[0] = '\0';
    assert_false(weft_device_captures(f.device)); /* said once */
    assert_string_equal(heard, "");
    check(launch(&f, "step", f.words), &f.error);
    assert_int_equal(word(&f, f.words[0]), 1);
    finish(&f);
}

/* For profilers: the same GPU, but nothing is captured. */
static void traced(void **state) {
    static const char *const names[] = {"cuda:traced", "cuda:0:traced", "cuda:0", "cuda"};
    weft_error error = {0};
    *control = (fake_cuda){.version = 13000};
    for (int i = 0; i < 4; ++i) {
        weft_device *device = NULL;
        (void)state;
        check(weft_device_open(names[i], NULL, &device, &error), &error);
        assert_int_equal(weft_device_captures(device), i >= 2);
        weft_device_free(&device);
    }
}

/* The stand-in has 4 multiprocessors of 1024 threads. */
static void launches(void **state) {
    (void)state;
    fixture f = fixture_make();
    assert_int_equal(weft_device_resident_blocks(f.device, f.module, "step", 256, 0), 16);
    assert_int_equal(weft_device_resident_blocks(f.device, f.module, "step", 0, 0), 32);
    assert_int_equal(weft_device_resident_blocks(f.device, f.module, "step", 256, 40000), 4);
    assert_int_equal(weft_device_resident_blocks(f.device, f.module, "step", 256, 65537), 0);
    assert_int_equal(weft_device_resident_blocks(f.device, f.module, "no", 256, 0), 0);
    assert_int_equal(weft_device_resident_blocks(f.device, f.module, "step", 1025, 0), 0);
    weft_launch launch = {.module = f.module,
                          .kernel = "step",
                          .arguments = f.words,
                          .n_arguments = WORDS,
                          .n_elements = 1000,
                          .lanes = 32,
                          .block_threads = 256,
                          .shared_bytes = 60000,
                          .n_blocks = 4,
                          .cooperative = true};
    check(weft_device_launch(f.device, &launch, &f.error), &f.error);
    const weft_cu_configuration *last = (const void *)control->last_configuration;
    assert_int_equal(last->grid[0], 4);
    assert_int_equal(last->block[0], 256);
    assert_int_equal(last->shared_bytes, 60000);
    assert_int_equal(last->n_attributes, 1);
    launch.n_blocks = 5;
    refused(&f, weft_device_launch(f.device, &launch, &f.error), WEFT_ERROR_USAGE, "5 blocks");
    assert_non_null(strstr(f.error.message, "holds 4"));
    launch.cooperative = false;
    check(weft_device_launch(f.device, &launch, &f.error), &f.error);
    assert_int_equal(last->grid[0], 5);
    assert_int_equal(last->n_attributes, 0);
    weft_device_graph *graph = NULL;
    launch.waits = true; /* not while a graph is captured, whose edges have no attributes */
    check(weft_device_launch(f.device, &launch, &f.error), &f.error);
    assert_int_equal(last->n_attributes, 1);
    check(weft_device_graph_begin(f.device, &f.error), &f.error);
    check(weft_device_launch(f.device, &launch, &f.error), &f.error);
    assert_int_equal(last->n_attributes, 0);
    check(weft_device_graph_end(f.device, &graph, &f.error), &f.error);
    weft_device_graph_free(&graph);
    launch.waits = false;
    launch.n_blocks = 0;
    check(weft_device_launch(f.device, &launch, &f.error), &f.error);
    assert_int_equal(last->grid[0], 4); /* ceil(1000 / 256) */
    launch.n_blocks = -1;
    refused(&f, weft_device_launch(f.device, &launch, &f.error), WEFT_ERROR_USAGE, "negative");
    finish(&f);
}

/* An event a millisecond; 3 MB free on the stand-in and 1 MB in its pool. */
static void times_and_capacity(void **state) {
    (void)state;
    fixture f = fixture_make();
    weft_timer *timer = NULL;
    double seconds = 0;
    control->clock = 0;
    check(weft_timer_make(f.device, &timer, &f.error), &f.error);
    refused(&f, weft_timer_stop(timer, &f.error), WEFT_ERROR_USAGE, "not started");
    check(weft_timer_start(timer, &f.error), &f.error);
    refused(&f, weft_timer_seconds(timer, &seconds, &f.error), WEFT_ERROR_USAGE, "stopped");
    check(weft_timer_stop(timer, &f.error), &f.error);
    check(weft_timer_seconds(timer, &seconds, &f.error), &f.error);
    assert_double_near(seconds, 1e-3, 1e-6, 0);
    weft_timer_free(&timer);
    assert_int_equal(weft_device_bytes_free(f.device), 4 << 20);
    finish(&f);
}

/* Record and run, count, with one function failing at its first, second or third call: an error
 * with the code's name, exit code 3, nothing left behind; after a sticky code every call gives the
 * same. */
static void every_failure(void **state) {
    static const char *const names[] = {
#define NAME(name, parameters) #name,
        WEFT_CU_FUNCTIONS(NAME) WEFT_CU_GRAPH_FUNCTIONS(NAME)
#undef NAME
    };
    int n_failed = 0;
    (void)state;
    skip_without_nvrtc();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        for (int k = 0; k < 6; ++k) {
            const int code = k % 2 ? 700 : 801;
            fixture f = {0};
            weft_device_graph *device_graph = NULL;
            *control = (fake_cuda){.version = 13000, .fail_skip = k / 2, .fail_code = code};
            snprintf(control->fail_name, sizeof control->fail_name, "%s", names[i]);
            weft_status status = fixture_open(&f);
            if (status == WEFT_OK)
                status = record(&f, &device_graph);
            if (status == WEFT_OK)
                status = weft_device_graph_run(device_graph, &f.error);
            uint32_t count = 0;
            if (status == WEFT_OK)
                status = weft_memory_read(f.words[0], 0, &count, 4, &f.error);
            n_failed += status != WEFT_OK;
            if (status == WEFT_OK && count != ITERATIONS + 1)
                fail_msg("%s, code %d, call %d: %u", names[i], code, k / 2 + 1, count);
            const bool named = strstr(f.error.message, "CUDA_ERROR_") || status == WEFT_OK ||
                               status == WEFT_ERROR_UNSUPPORTED;
            if (!named || (status != WEFT_OK && status != WEFT_ERROR_UNSUPPORTED &&
                           weft_status_exit_code(status) != 3))
                fail_msg("%s, code %d: %s", names[i], code, f.error.message);
            if (control->dead && f.device && status != WEFT_OK) {
                char first[sizeof f.error.message];
                memcpy(first, f.error.message, sizeof first);
                assert_int_equal(weft_device_wait(f.device, &f.error), WEFT_ERROR_DEVICE);
                if (status == WEFT_ERROR_DEVICE)
                    assert_string_equal(first, f.error.message);
            }
            weft_device_graph_free(&device_graph);
            fixture_close(&f);
            assert_int_equal(control->n_forbidden, 0);
        }
    assert_true(n_failed > 90); /* a transfer of few bytes uses one pinned buffer */
}

/* A driver whose cuMemFree fails keeps the memory: for the address sanitizer that is a leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(nested),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(old_driver),
        cmocka_unit_test(traced),
        cmocka_unit_test(launches),
        cmocka_unit_test(times_and_capacity),
        cmocka_unit_test(every_failure),
    };
    return cmocka_run_group_tests(tests, load, clean);
}
