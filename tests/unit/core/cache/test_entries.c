/* labels: quick */
/* Entries: found warm without a process; and truncated, damaged, foreign ones are seen, named and
 * made again, never run. */
#include "cache_support.h"
#include "core/weft_core.h"

static void a_warm_start_spawns_nothing(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_false(kernel_runs(place, 3));
    assert_int_equal(compiler_runs(place), 2); /* its version, the kernel */
    double best = 1;
    for (int i = 0; i < 20; ++i) {
        weft_error error;
        double answer = 0, seconds = 0;
        bool cached = false;
        assert_int_equal(run_kernel(&place->options, 3, &answer, &cached, &seconds, &error),
                         WEFT_OK);
        assert_true(cached);
        assert_double_near(answer, 3, 0, 0);
        best = seconds < best ? seconds : best;
    }
    assert_int_equal(compiler_runs(place), 2);
    assert_false(kernel_runs(place, 4)); /* another source is another entry */
    assert_int_equal(compiler_runs(place), 3);
    assert_true(kernel_runs(place, 3));
    assert_int_equal(place->log.warnings, 0);
    printf("warm weft_module_make: %.3f ms\n", best * 1e3);
    assert_true(best < 2e-3);
    place_free(place);
}

static void a_changed_compiler_is_another_key(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_false(kernel_runs(place, 3));
    char *text = test_file_read(place->compiler, NULL), longer[4096];
    snprintf(longer, sizeof longer, "%s# a new release\n", text);
    test_text_write(place->compiler, longer);
    free(text);
    assert_false(kernel_runs(place, 3));
    assert_int_equal(compiler_runs(place), 4); /* asked and run again */
    snprintf(longer, sizeof longer, "%s -O1", place->compiler);
    place->options.compiler = longer;
    assert_false(kernel_runs(place, 3)); /* options of the user's count too */
    place->options.compiler = place->compiler;
    assert_true(kernel_runs(place, 3));
    place_free(place);
}

/* Put a changed entry in place of the sound one: it must be refused, and a sound one made. */
static void check_refused(cache_place *place, const char *path, const char *bytes, size_t size,
                          const char *what) {
    test_file_write(path, bytes, size);
    if (n_invalid(place) != 1)
        fail_msg("%s: the list says that the entry is sound", what);
    forget_log(place);
    if (kernel_runs(place, 3))
        fail_msg("%s: the entry was used", what);
    if (place->log.warnings != 1 || !strstr(place->log.text, "is not used"))
        fail_msg("%s: logged %d warnings:\n%s", what, place->log.warnings, place->log.text);
    if (n_invalid(place) != 0 || !kernel_runs(place, 3))
        fail_msg("%s: it was not made again", what);
}

static void truncated_entries(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_false(kernel_runs(place, 3));
    size_t size = 0;
    char *path = kernel_entry(place), *bytes = test_file_read(path, &size);
    const size_t lengths[] = {0, 1, 7, 8, 100, 511, 512, 513, 4096, size / 2, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        char what[64];
        snprintf(what, sizeof what, "cut to %zu bytes", lengths[i]);
        check_refused(place, path, bytes, lengths[i], what);
    }
    char *longer = calloc(size + 1, 1);
    memcpy(longer, bytes, size);
    check_refused(place, path, longer, size + 1, "a byte more");
    free(longer);
    free(bytes);
    free(path);
    place_free(place);
}

/* A compiler that copies a finished object, so that hundreds of rebuilds take no time. */
static void make_compiler_quick(cache_place *place, const char *entry, size_t size) {
    char *object = test_path(place->folder, "object.so"), text[1024];
    test_file_write(object, entry + 512, size - 512);
    snprintf(text, sizeof text,
             "#!/bin/sh\n[ \"$1\" = --version ] && { echo quick 1.0; exit 0; }\n"
             "exec cp '%s' module.so\n",
             object);
    test_text_write(place->compiler, text);
    free(object);
}

static void damaged_entries(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_false(kernel_runs(place, 3));
    size_t size = 0;
    char *path = kernel_entry(place), *bytes = test_file_read(path, &size);
    make_compiler_quick(place, bytes, size);
    assert_int_equal(weft_cache_clear(place->cache, false, NULL, NULL), WEFT_OK);
    assert_false(kernel_runs(place, 3));
    free(path);
    free(bytes);
    path = kernel_entry(place);
    bytes = test_file_read(path, &size);
    /* every byte of the header, and bytes all over the payload */
    for (size_t i = 0; i < size; i += i < 512 ? 3 : 397) {
        char what[64];
        snprintf(what, sizeof what, "byte %zu flipped", i);
        bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
        check_refused(place, path, bytes, size, what);
        bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
    }
    free(bytes);
    free(path);
    place_free(place);
}

static void foreign_entries(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_false(kernel_runs(place, 3));
    size_t size = 0, other_size = 0;
    char *path = kernel_entry(place), *bytes = test_file_read(path, &size);
    check_refused(place, path, "#!/bin/sh\necho\n", 15, "a script");
    check_refused(place, path, bytes + 512, size - 512, "a bare shared object");
    /* a sound entry of another source under this key */
    assert_int_equal(unlink(path), 0);
    assert_false(kernel_runs(place, 4));
    char *other_path = kernel_entry(place), *other = test_file_read(other_path, &other_size);
    assert_int_equal(unlink(other_path), 0);
    check_refused(place, path, other, other_size, "the entry of another source");
    /* links, folders and pipes in the place of an entry; what a link points to stays as it is */
    char *victim = test_path(place->folder, "victim"), *after = NULL;
    test_file_write(victim, bytes, size);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(n_invalid(place), 1);
    assert_false(kernel_runs(place, 3));
    assert_true(kernel_runs(place, 3));
    size_t after_size = 0;
    after = test_file_read(victim, &after_size);
    assert_int_equal(after_size, size);
    assert_memory_equal(after, bytes, size);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(kernel_runs(place, 3));
    assert_true(kernel_runs(place, 3));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(kernel_runs(place, 3)); /* in memory: a folder is not ours to remove */
    assert_int_equal(rmdir(path), 0);
    free(after);
    free(victim);
    free(other);
    free(other_path);
    free(bytes);
    free(path);
    place_free(place);
}

static void list_and_clear(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_cache_entry *entries = NULL;
    size_t n = 9, removed = 9;
    weft_error error;
    /* no folder yet: nothing there, and nothing is made */
    assert_int_equal(weft_cache_list(place->cache, &entries, &n, &error), WEFT_OK);
    assert_int_equal(n, 0);
    free(entries);
    assert_int_equal(weft_cache_clear(place->cache, false, &removed, &error), WEFT_OK);
    assert_int_equal(removed, 0);
    assert_int_not_equal(access(place->cache, F_OK), 0);

    assert_false(kernel_runs(place, 3));
    char *note = test_path(place->cache, "note.txt"), *path = kernel_entry(place);
    test_text_write(note, "mine");
    assert_int_equal(weft_cache_list(place->cache, &entries, &n, &error), WEFT_OK);
    assert_int_equal(n, 2);
    int kernels = 0;
    for (size_t i = 0; i < n; ++i) {
        assert_true(entries[i].valid && entries[i].age_seconds < 3600);
        assert_int_equal(strlen(entries[i].key), 32);
        kernels += strncmp(entries[i].description, "fill, ", 6) == 0;
    }
    assert_int_equal(kernels, 1);
    free(entries);
    assert_int_equal(weft_cache_clear(place->cache, true, &removed, &error), WEFT_OK);
    assert_int_equal(removed, 0);
    test_text_write(path, "damaged");
    assert_int_equal(weft_cache_clear(place->cache, true, &removed, &error), WEFT_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(weft_cache_clear(place->cache, false, &removed, &error), WEFT_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(access(note, F_OK), 0);
    free(note);
    free(path);
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_start_spawns_nothing),
        cmocka_unit_test(a_changed_compiler_is_another_key),
        cmocka_unit_test(truncated_entries),
        cmocka_unit_test(damaged_entries),
        cmocka_unit_test(foreign_entries),
        cmocka_unit_test(list_and_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
