/* labels: quick */
/* Compilers that hang, print without end or write half an object, and objects that are damaged in
 * the cache with a right hash: a message, never a crash, and nothing of it is kept. */
#include "cache_support.h"
#include "core/cache/cache.h"
#include "core/host/module.h"
#include "core/weft_core.h"

#include <elf.h>

/* A compiler that does `text` in place of its work, or after it. */
static void become(const cache_place *place, const char *text) {
    char script[2048];
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", text);
    test_text_write(place->compiler, script);
    assert_int_equal(chmod(place->compiler, 0755), 0);
}

/* It fails with these words in its message and in its hint, and leaves nothing. */
static void check_fails(cache_place *place, const char *words, const char *hint) {
    weft_error error = {0};
    double answer;
    bool cached;
    assert_int_equal(run_kernel(&place->options, 3, &answer, &cached, NULL, &error),
                     WEFT_ERROR_COMPILER);
    if (!strstr(error.message, words) || !strstr(error.hint, hint))
        fail_msg("wanted \"%s\" and \"%s\", got: %s (%s)", words, hint, error.message, error.hint);
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 0);
    assert_int_equal(n_invalid(place), 0);
}

static void hanging(void **state) {
    (void)state;
    cache_place *place = place_make();
    const double start = weft_clock();
    setenv("WEFT_COMPILER_SECONDS", "0.5", 1);
    become(place, "sleep 1000");
    check_fails(place, "was stopped after 0.5 s", "WEFT_COMPILER_SECONDS");
    become(place, "[ \"$1\" = --version ] && echo odd 1.0 || sleep 1000");
    check_fails(place, "was stopped after 0.5 s on the generated source fill.c",
                "WEFT_COMPILER_SECONDS");
    become(place, "[ \"$1\" = --version ] && echo odd 1.0 || { : > module.so; exec sleep 1000; }");
    check_fails(place, "was stopped after 0.5 s", "CC names another compiler");
    assert_true(weft_clock() - start < 100);
    setenv("WEFT_COMPILER_SECONDS", "ever", 1);
    weft_error error = {0};
    double answer;
    bool cached;
    assert_int_equal(run_kernel(&place->options, 3, &answer, &cached, NULL, &error),
                     WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "WEFT_COMPILER_SECONDS is 'ever'"));
    unsetenv("WEFT_COMPILER_SECONDS");
    become(place, "[ \"$1\" = --version ] && echo odd 1.0 || exec yes");
    check_fails(place, "printed more than 64 MB", "WEFT_COMPILER_SECONDS");
    become(place, "[ \"$1\" = --version ] && echo odd 1.0 || "
                  "exec truncate -s 2000000000 module.so");
    check_fails(place, "wrote a file of more than 256 MB", "WEFT_COMPILER_MEGABYTES");
    write_compiler(place);
    assert_false(kernel_runs(place, 3));
    place_free(place);
}

/* The compiler of `place`, with a command that changes its object. */
static void damage(cache_place *place, const char *command, const char *words) {
    char text[1024];
    snprintf(text, sizeof text, "%s \"$@\" || exit 1\n[ \"$1\" = --version ] || { %s; }",
             real_compiler(), command);
    become(place, text);
    check_fails(place, words, "");
}

static void truncating(void **state) {
    (void)state;
    cache_place *place = place_make();
    damage(place, ": > module.so", "not a shared object");
    damage(place, "truncate -s 63 module.so", "not a shared object");
    damage(place, "truncate -s 64 module.so", "cut off");
    damage(place, "truncate -s 1000 module.so", "cut off");
    damage(place, "truncate -s 4096 module.so", "cut off");
    damage(place, "truncate -s -1 module.so", "cut off");
    damage(place, "truncate -s -2000 module.so", "cut off");
    damage(place, "printf '\\377\\001' | dd of=module.so bs=1 seek=18 conv=notrunc 2>/dev/null",
           "another machine");
    damage(place, "printf '\\001' | dd of=module.so bs=1 seek=4 conv=notrunc 2>/dev/null",
           sizeof(void *) == 8 ? "another machine" : "");
    damage(place, "printf '\\001' | dd of=module.so bs=1 seek=16 conv=notrunc 2>/dev/null",
           "not a shared object");
    write_compiler(place);
    assert_false(kernel_runs(place, 3));
    place_free(place);
}

/* As a program would leave it that writes an entry itself: every hash is right, the object is not
 * whole. It is refused by name and made again. */
static void damaged_with_right_hashes(void **state) {
    (void)state;
    cache_place *place = place_make();
    assert_false(kernel_runs(place, 3));
    size_t size = 0;
    char *path = kernel_entry(place), *bytes = test_file_read(path, &size);
    weft_entry entry;
    assert_null(weft_entry_check((unsigned char *)bytes, size, NULL, &entry));
    const size_t object = size - WEFT_ENTRY_HEADER, kept[] = {8, 64, object / 3, object - 1};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        entry.payload_bytes = kept[i];
        weft_hash(bytes + WEFT_ENTRY_HEADER, kept[i], entry.payload_hash);
        weft_entry_encode(&entry, (unsigned char *)bytes);
        test_file_write(path, bytes, WEFT_ENTRY_HEADER + kept[i]);
        assert_int_equal(n_invalid(place), 0);
        forget_log(place);
        assert_false(kernel_runs(place, 3));
        assert_int_equal(place->log.warnings, 1);
        if (!strstr(place->log.text, "is not used: a compiled kernel cannot be loaded"))
            fail_msg("%zu bytes: %s", kept[i], place->log.text);
        assert_true(kernel_runs(place, 3));
    }
    free(bytes);
    free(path);
    place_free(place);
}

/* No beginning of an object passes for one, and neither does one whose tables point out of it. */
static void every_length(void **state) {
    (void)state;
    cache_place *place = place_make();
    char why[160];
    assert_false(kernel_runs(place, 3));
    size_t size = 0;
    char *path = kernel_entry(place), *bytes = test_file_read(path, &size);
    unsigned char *object = (unsigned char *)bytes + WEFT_ENTRY_HEADER;
    size -= WEFT_ENTRY_HEADER;
    assert_true(weft_object_check(object, size, why, sizeof why));
    for (size_t length = 0; length < size; ++length) {
        unsigned char *part = malloc(length + 1); /* so that a sanitizer sees what is read */
        memcpy(part, object, length);
        part = realloc(part, length > 0 ? length : 1);
        why[0] = '\0';
        if (weft_object_check(part, length, why, sizeof why) || !why[0])
            fail_msg("%zu of %zu bytes pass for an object", length, size);
        free(part);
    }
    /* 64-bit offsets of the header that lie at the end of what can be counted */
    static const size_t fields[] = {offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_shoff)};
    for (size_t i = 0; i < 2 && sizeof(void *) == 8; ++i) {
        const uint64_t far = UINT64_MAX - 8;
        uint64_t before;
        memcpy(&before, object + fields[i], sizeof before);
        memcpy(object + fields[i], &far, sizeof far);
        assert_false(weft_object_check(object, size, why, sizeof why));
        memcpy(object + fields[i], &before, sizeof before);
    }
    free(bytes);
    free(path);
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hanging),
        cmocka_unit_test(truncating),
        cmocka_unit_test(damaged_with_right_hashes),
        cmocka_unit_test(every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
