/* labels: quick */
/* Sources that are compiled on other threads before their modules are made: what they store is loaded,
 * each is compiled once, and what does not compile is reported where its module is made. */
#include "cache_support.h"
#include "core/weft_launch.h"

#include <time.h>

enum { SOURCES = 4 };

static size_t entries(const cache_place *place) {
    weft_cache_entry *list = NULL;
    size_t n = 0;
    assert_int_equal(weft_cache_list(place->cache, &list, &n, NULL), WEFT_OK);
    free(list);
    return n;
}

/* Wait until this many are stored: modules, and what the compiler says of itself. */
static void wait_for(const cache_place *place, size_t n) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; entries(place) < n; ++i) {
        if (i > 6000)
            fail_msg("%zu of %zu entries after a minute", entries(place), n);
        nanosleep(&pause, NULL);
    }
}

static void stored(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_device *device = NULL;
    weft_error error = {0}, alone = {0};
    char source[512];
    assert_int_equal(weft_device_open("host:2", &place->options, &device, NULL), WEFT_OK);
    for (int i = 0; i < 2 * SOURCES; ++i) { /* each twice */
        kernel_source(i / 2, source, sizeof source);
        weft_module_store_later(device, "fill", source);
    }
    weft_module_store_later(device, "wrong", "no C\n");
    wait_for(place, SOURCES + 1);
    assert_false(weft_device_has_compiled(device));
    for (int i = 0; i < SOURCES; ++i) {
        weft_module *module = NULL;
        kernel_source(i, source, sizeof source);
        assert_int_equal(weft_module_make(device, "fill", source, &module, NULL), WEFT_OK);
        assert_true(weft_module_cached(module));
        weft_module_free(&module);
    }
    assert_false(weft_device_has_compiled(device));
    weft_module *module = NULL;
    assert_int_equal(weft_module_make(device, "wrong", "no C\n", &module, &error),
                     WEFT_ERROR_COMPILER);
    weft_device_free(&device);
    assert_int_equal(weft_device_open("host:2", &place->options, &device, NULL), WEFT_OK);
    assert_int_equal(weft_module_make(device, "wrong", "no C\n", &module, &alone),
                     WEFT_ERROR_COMPILER);
    assert_string_equal(error.message, alone.message);
    kernel_source(SOURCES, source, sizeof source);
    assert_int_equal(weft_module_make(device, "fill", source, &module, NULL), WEFT_OK);
    assert_true(weft_device_has_compiled(device));
    weft_module_free(&module);
    weft_device_free(&device);
    place_free(place);
}

/* The end of the device waits for what has begun and drops the rest. */
static void dropped(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_device *device = NULL;
    char source[512];
    assert_int_equal(weft_device_open("host:2", &place->options, &device, NULL), WEFT_OK);
    for (int i = 0; i < 100; ++i) {
        kernel_source(i, source, sizeof source);
        weft_module_store_later(device, "fill", source);
    }
    weft_device_free(&device);
    assert_true(entries(place) < 100);
    place_free(place);
}

/* Without a cache there is nothing to store into; null has nothing to compile. */
static void nowhere(void **state) {
    (void)state;
    static const char *const names[] = {"host:2", "null:h200"};
    cache_place *place = place_make();
    char source[512];
    kernel_source(0, source, sizeof source);
    place->options.cache = WEFT_CACHE_OFF;
    for (int i = 0; i < 2; ++i) {
        weft_device *device = NULL;
        assert_int_equal(weft_device_open(names[i], &place->options, &device, NULL), WEFT_OK);
        weft_module_store_later(device, "fill", source);
        weft_device_free(&device);
    }
    assert_int_equal(entries(place), 0);
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stored), cmocka_unit_test(dropped),
                                       cmocka_unit_test(nowhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
