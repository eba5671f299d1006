/* labels: quick */
/* The host's instruction sets: names, refusals, what kernels are compiled for, and which versions
 * of compilers are given other options or refused. */
#include "cache_support.h"
#include "core/base/threads.h"
#include "core/host/compiler.h"
#include "core/weft_core.h"
#include "fem/sparse/csr.h"

static const char *const names[] = {"sse2", "avx2", "avx512", "neon"};
enum { N_NAMES = sizeof names / sizeof names[0] };

/* The options that the compiler got, as its macros show: 64, 32 or 16 bytes, and 1 where it may fuse
 * a multiplication with an addition. */
static const char source[] =
    "#include <stdint.h>\n"
    "void k(void *const *a, int64_t n, int64_t first, int64_t last)\n"
    "{ double *x = a[0]; (void)n; (void)first; (void)last;\n"
    "#if defined(__AVX512F__)\n x[0] = 64;\n#elif defined(__AVX__)\n x[0] = 32;\n"
    "#else\n x[0] = 16;\n#endif\n"
    "#if defined(__FMA__) || defined(__aarch64__)\n x[1] = 1;\n#else\n x[1] = 0;\n#endif\n}\n";

static void given_to_kernels(const weft_device_options *options, const char *device_name,
                             double reported[2], bool *cached) {
    weft_device *device = NULL;
    weft_module *module = NULL;
    weft_memory *memory = NULL;
    weft_error error = {0};
    weft_launch launch = {.kernel = "k", .arguments = &memory, .n_arguments = 1, .n_elements = 1};
    if (weft_device_open(device_name, options, &device, &error) != WEFT_OK ||
        weft_module_make(device, "told", source, &module, &error) != WEFT_OK ||
        weft_memory_make(device, 2 * sizeof(double), &memory, &error) != WEFT_OK)
        fail_msg("%s: %s", device_name, error.message);
    launch.module = module;
    launch.lanes = weft_device_limits(device)->lanes_double;
    assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_OK);
    memcpy(reported, weft_memory_host(memory), 2 * sizeof(double));
    assert_true(8 * weft_device_limits(device)->lanes_double == (int)reported[0]);
    *cached = weft_module_cached(module);
    weft_memory_free(&memory);
    weft_module_free(&module);
    weft_device_free(&device);
}

static bool has(const char *name) {
    weft_processor processor;
    return weft_processor_read(name, &processor, NULL) == WEFT_OK;
}

/* Each set has kernels of its own in the cache. */
static void kernels_follow(void **state) {
    static const double bytes[N_NAMES] = {16, 32, 64, 16};
    (void)state;
    cache_place *place = place_make();
    int n = 0;
    for (int again = 0; again < 2; ++again)
        for (int i = 0; i < N_NAMES; ++i) {
            char device[32];
            double reported[2];
            bool cached;
            if (!has(names[i]))
                continue;
            ++n;
            snprintf(device, sizeof device, "host:1:%s", names[i]);
            given_to_kernels(&place->options, device, reported, &cached);
            assert_int_equal(cached, again);
            assert_true(reported[0] == bytes[i]);
            assert_true(reported[1] == (i > 0));
        }
    assert_true(n >= 2); /* every processor has at least one */
    place_free(place);
}

/* The device's name, then the options, then the environment. */
static void where_it_is_reported(void **state) {
    (void)state;
    const char *least = has("neon") ? "neon" : "sse2";
    weft_device_options options = weft_device_options_default(NULL);
    weft_device *device = NULL;
    weft_error error = {0};
    char name[32];
    snprintf(name, sizeof name, "host:3:%s", least);
    assert_int_equal(weft_device_open(name, &options, &device, &error), WEFT_OK);
    assert_int_equal(weft_device_limits(device)->threads, 3);
    assert_int_equal(weft_device_limits(device)->lanes_double, 2);
    assert_int_equal(weft_device_limits(device)->lanes_float, 4);
    assert_non_null(strstr(weft_device_limits(device)->name, least));
    assert_int_equal(weft_vectors_of(device), WEFT_VECTORS_PLAIN);
    assert_int_equal(weft_vectors_of(NULL), weft_vectors_here());
    weft_device_free(&device);
    snprintf(name, sizeof name, "host:%s", least);
    assert_int_equal(weft_device_open(name, &options, &device, &error), WEFT_OK);
    assert_int_equal(weft_device_limits(device)->threads, weft_threads_available());
    weft_device_free(&device);
    setenv("WEFT_INSTRUCTIONS", least, 1);
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_device_limits(device)->lanes_double, 2);
    weft_device_free(&device);
    setenv("WEFT_INSTRUCTIONS", "sse3", 1);
    options.instructions = least;
    assert_int_equal(weft_device_open("host", &options, &device, &error), WEFT_OK);
    weft_device_free(&device);
    assert_int_equal(weft_device_open(name, NULL, &device, &error), WEFT_OK);
    weft_device_free(&device);
    assert_int_equal(weft_device_open("host", NULL, &device, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.hint, "WEFT_INSTRUCTIONS"));
    unsetenv("WEFT_INSTRUCTIONS");
}

static void what_is_refused(void **state) {
    (void)state;
    const char *wrong[] = {"host:sse3", "host:2:avx", "host:2:", "host:2:avx2:1", "host:avx2:2"};
    weft_device *device = NULL;
    weft_error error = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(weft_device_open(wrong[i], NULL, &device, &error), WEFT_ERROR_USAGE);
        assert_null(device);
        assert_non_null(strstr(error.message, "no instruction set is called"));
        for (int k = 0; k < N_NAMES; ++k)
            assert_int_equal(strstr(strstr(error.message, "processor has"), names[k]) != NULL,
                             has(names[k]));
    }
    /* no processor has the sets of both families */
    const char *foreign = has("neon") ? "host:2:avx512" : "host:2:neon";
    assert_int_equal(weft_device_open(foreign, NULL, &device, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, has("neon") ? "avx512" : "neon"));
}

static bool is_given(const char *const *options, const char *wanted) {
    for (; *options; ++options)
        if (strcmp(*options, wanted) == 0)
            return true;
    return false;
}

static void versions_of_compilers(void **state) {
    static const struct {
        const char *line, *label;
        bool refused;
    } cases[] = {
        {"gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc 12.2.0", false},
        {"cc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", "gcc 13.3.0", false},
        {"Debian clang version 14.0.6", "clang 14.0.6", false},
        {"odd 1.0", "gcc 1.0", false},
        {"gcc (GCC) 4.8.5 20150623 (Red Hat 4.8.5-44)", "gcc 4.8.5", true},
        {"gcc (Debian 10.2.1-6) 10.2.1 20210110", "gcc 10.2.1", true},
        {"clang version 9.0.1-16", "clang 9.0.1", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const weft_processor processor = {.option = "-march=x86-64-v4", .vector_bytes = 64};
        const char *options[WEFT_COMPILER_OPTIONS + 1] = {NULL};
        char label[64];
        weft_error error = {0};
        weft_status status =
            weft_compiler_options(cases[i].line, &processor, label, sizeof label, options, &error);
        assert_int_equal(status, cases[i].refused ? WEFT_ERROR_COMPILER : WEFT_OK);
        assert_memory_equal(label, cases[i].label, strlen(cases[i].label));
        if (cases[i].refused) {
            assert_non_null(strstr(error.message, "is not used"));
            assert_non_null(strstr(error.hint, "CC"));
            continue;
        }
        assert_true(is_given(options, "-march=x86-64-v4"));
        /* gcc's vectorizers make permutations that it then translates wrongly */
        assert_int_equal(is_given(options, "-fno-tree-slp-vectorize"),
                         strstr(cases[i].line, "clang") == NULL);
        assert_int_equal(is_given(options, "-mprefer-vector-width=512"),
                         strstr(cases[i].line, "clang") != NULL);
    }
}

/* A compiler of a refused version is not used, and the message names it. */
static void a_refused_compiler(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_device *device = NULL;
    weft_module *module = NULL;
    weft_error error = {0};
    test_text_write(place->compiler, "#!/bin/sh\necho 'gcc (Debian 8.3.0-6) 8.3.0'\n");
    assert_int_equal(weft_device_open("host:1", &place->options, &device, &error), WEFT_OK);
    assert_int_equal(weft_module_make(device, "k", source, &module, &error), WEFT_ERROR_COMPILER);
    assert_non_null(strstr(error.message, "gcc 8.3.0 is not used"));
    assert_null(module);
    weft_device_free(&device);
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_follow),     cmocka_unit_test(where_it_is_reported),
        cmocka_unit_test(what_is_refused),    cmocka_unit_test(versions_of_compilers),
        cmocka_unit_test(a_refused_compiler),
    };
    unsetenv("WEFT_INSTRUCTIONS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
