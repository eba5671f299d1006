/* labels: quick */
/* Every public function of core that allocates, rerun with its n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "core/weft_escape.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "#include <stdint.h>\n"
    "void k(void *const *a, int64_t n, int64_t first, int64_t last)\n"
    "{ double *x = a[0]; (void)n; for (int64_t i = 8*first; i < 8*last; ++i) x[i] += 1; }\n";

static weft_status use_arena(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    (void)user;
    TRY(weft_arena_make(&arena, error));
    for (int i = 0; i < 40; ++i)
        if (!weft_arena_alloc(arena, (size_t)i * 200, 1) || !weft_arena_copy(arena, "abc", 3) ||
            !weft_arena_print(arena, "%d %s", i, "text")) {
            status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
            goto done;
        }
done:
    weft_arena_free(&arena);
    return status;
}

static weft_status use_text(void *user, weft_error *error) {
    weft_text text = {0};
    (void)user;
    for (int i = 0; i < 200; ++i) {
        weft_text_add(&text, "line %d of some length\n", i);
        weft_text_add_bytes(&text, "bytes", 5);
        weft_text_add_json(&text, "a \"quoted\"\n string");
    }
    bool failed = text.failed;
    weft_text_free(&text);
    return failed ? weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory") : WEFT_OK;
}

static weft_status use_array(void *user, weft_error *error) {
    (void)user;
    void *array = weft_array_make(100, 8);
    if (!array)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    free(array);
    return WEFT_OK;
}

static weft_status use_file(void *user, weft_error *error) {
    char *text = NULL;
    size_t length = 0;
    weft_status status = weft_file_read(user, &text, &length, error);
    free(text);
    return status;
}

typedef struct device_case {
    const char *name;
    weft_device_options options;
} device_case;

static weft_status use_device(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const device_case *with = user;
    weft_timer *timer = NULL;
    weft_device *device = NULL;
    weft_memory *memory = NULL, *wrapped = NULL;
    weft_module *module = NULL;
    double *array = NULL;
    double values[3] = {1, 2, 3};
    TRY(weft_device_open(with->name, &with->options, &device, error));
    array = weft_array_make(800, 8);
    if (!array) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_memory_make(device, 6400, &memory, error));
    TRY(weft_memory_wrap(device, array, 6400, &wrapped, error));
    TRY(weft_memory_write(memory, 8, values, sizeof values, error));
    TRY(weft_memory_zero(memory, error));
    TRY(weft_memory_read(memory, 8, values, sizeof values, error));
    TRY(weft_module_make(device, "alloc", source, &module, error));
    weft_memory *arguments[100];
    for (int i = 0; i < 100; ++i)
        arguments[i] = i % 2 ? memory : wrapped;
    weft_launch launch = {.module = module,
                          .kernel = "k",
                          .arguments = arguments,
                          .n_arguments = 100,
                          .n_elements = 800,
                          .lanes = 8};
    TRY(weft_device_launch(device, &launch, error));
    TRY(weft_timer_make(device, &timer, error));
done:
    weft_module_free(&module);
    weft_memory_free(&memory);
    weft_memory_free(&wrapped);
    weft_timer_free(&timer);
    weft_device_free(&device);
    free(array);
    return status;
}

static weft_status use_list(void *user, weft_error *error) {
    weft_cache_entry *entries = NULL;
    size_t n = 0;
    weft_status status = weft_cache_list(user, &entries, &n, error);
    free(entries);
    return status;
}

static weft_status use_clear_invalid(void *user, weft_error *error) {
    size_t n = 0;
    weft_status status = weft_cache_clear(user, true, &n, error);
    if (status == WEFT_OK && n != 0)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "a sound entry was removed");
    return status;
}

static void plain_functions(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "text");
    test_text_write(path, "some text\n");
    test_every_allocation("arena", use_arena, NULL);
    test_every_allocation("text", use_text, NULL);
    test_every_allocation("array", use_array, NULL);
    test_every_allocation("file", use_file, path);
    free(path);
    test_folder_remove(&folder);
}

static void devices(void **state) {
    (void)state;
    char *folder = test_folder_make(), *cache = test_path(folder, "cache");
    char *keep = test_path(folder, "keep");
    device_case with = {.name = "null", .options = {.size = sizeof with.options}};
    test_every_allocation("null", use_device, &with);
    with.name = "host:2";
    with.options.cache_directory = cache;
    with.options.keep_directory = keep;
    test_every_allocation("host:2, cached", use_device, &with);
    with.options.cache = WEFT_CACHE_OFF;
    test_every_allocation("host:2, compiled", use_device, &with);

    test_every_allocation("cache list", use_list, cache);
    test_every_allocation("cache clear invalid", use_clear_invalid, cache);
    weft_cache_entry *entries = NULL;
    size_t n = 0;
    assert_int_equal(weft_cache_list(cache, &entries, &n, NULL), WEFT_OK);
    assert_int_equal(n, 2); /* the kernel and what is known of the compiler */
    for (size_t i = 0; i < n; ++i)
        assert_true(entries[i].valid);
    free(entries);
    free(cache);
    free(keep);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_functions),
                                       cmocka_unit_test(devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
