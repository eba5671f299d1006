/* labels: quick */
/* Growing text, arenas, padded arrays, whole files, hashes, nearest names. */
#include "core/weft_core.h"
#include "core/weft_escape.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void text_grows(void **state) {
    weft_text text = {0};
    (void)state;
    for (int i = 0; i < 5000; ++i) {
        weft_text_add(&text, "%04d", i);
        weft_text_add_bytes(&text, ",", 1);
        assert_int_equal(text.data[text.length], '\0');
    }
    assert_false(text.failed);
    assert_int_equal(text.length, 25000);
    for (int i = 0; i < 5000; ++i)
        assert_int_equal(atoi(text.data + 5 * i), i);
    weft_text_free(&text);
    assert_null(text.data);
    weft_text_add(&text, "%s", "");
    assert_string_equal(text.data, "");
    weft_text_free(&text);
    weft_text_free(NULL);
}

static void json_strings(void **state) {
    weft_text text = {0};
    (void)state;
    weft_text_add_json(&text, "a\"b\\c\n\t\r\x01\x1f \xC3\xA9/");
    assert_string_equal(text.data, "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u001f \xC3\xA9/\"");
    weft_text_add_json(&text, "");
    weft_text_add_json(&text, NULL);
    assert_string_equal(text.data + text.length - 4, "\"\"\"\"");
    weft_text_free(&text);
}

static void arena_memory_is_zero_aligned_and_apart(void **state) {
    enum { N = 3000 };
    static unsigned char *pieces[N];
    weft_arena *arena = NULL;
    (void)state;
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    for (size_t i = 0; i < N; ++i) {
        size_t size = (i * 37) % 700 + (i % 100 == 0 ? 100000 : 0);
        pieces[i] = weft_arena_alloc(arena, size, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; ++k)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i % 251) + 1, size);
    }
    for (size_t i = 0; i < N; ++i) {
        size_t size = (i * 37) % 700 + (i % 100 == 0 ? 100000 : 0);
        for (size_t k = 0; k < size; ++k)
            assert_int_equal(pieces[i][k], i % 251 + 1);
    }
    assert_null(weft_arena_alloc(arena, SIZE_MAX / 2, 3));
    assert_null(weft_arena_alloc(arena, SIZE_MAX, 1));
    assert_null(weft_arena_copy(arena, "x", SIZE_MAX));
    assert_string_equal(weft_arena_copy(arena, "abcdef", 3), "abc");
    assert_string_equal(weft_arena_print(arena, "%d-%s", 7, "x"), "7-x");
    weft_arena_free(&arena);
    assert_null(arena);
    weft_arena_free(&arena);
    weft_arena_free(NULL);
}

static void arrays_are_padded(void **state) {
    (void)state;
    const size_t counts[] = {0, 1, 7, 8, 1000, 3000000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
        size_t bytes = counts[c] * 8;
        unsigned char *array = weft_array_make(counts[c], 8);
        assert_non_null(array);
        assert_int_equal((uintptr_t)array % 64, 0);
        for (size_t i = 0; i < bytes + WEFT_PADDING; i += i < bytes ? 997 : 1)
            assert_int_equal(array[i], 0);
        free(array);
    }
    assert_null(weft_array_make(SIZE_MAX / 4, 8));
    assert_null(weft_array_make(SIZE_MAX, 1));
    assert_null(weft_array_make(SIZE_MAX - 100, 1));
}

static void whole_files(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "f"), *text = NULL;
    size_t length = 0;
    weft_error error;
    static char bytes[300000];
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (char)(i * 7);
    const size_t sizes[] = {0, 1, 4095, 4096, 4097, sizeof bytes};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        test_file_write(path, bytes, sizes[s]);
        assert_int_equal(weft_file_read(path, &text, &length, &error), WEFT_OK);
        assert_int_equal(length, sizes[s]);
        assert_memory_equal(text, bytes, length);
        assert_int_equal(text[length], '\0');
        free(text);
    }
    text = NULL;
    /* a file whose size the system does not tell */
    assert_int_equal(weft_file_read("/proc/self/status", &text, &length, &error), WEFT_OK);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(text, "Name:", 5);
    free(text);
    text = NULL;
    assert_int_equal(weft_file_read("/nonexistent/file", &text, &length, &error), WEFT_ERROR_IO);
    assert_non_null(strstr(error.message, "/nonexistent/file"));
    assert_string_equal(error.file, "/nonexistent/file");
    assert_true(error.hint[0] != '\0');
    assert_int_equal(weft_file_read(folder, &text, &length, &error), WEFT_ERROR_IO);
    assert_int_equal(weft_file_read(folder, &text, NULL, NULL), WEFT_ERROR_IO);
    assert_null(text);
    free(path);
    test_folder_remove(&folder);
}

/* The values of xxHash's own specification and of its program xxh128sum. */
static void hashes(void **state) {
    char hash[33], other[33];
    (void)state;
    weft_hash("", 0, hash);
    assert_string_equal(hash, "99aa06d3014798d86001c324468d497f");
    weft_hash("a", 1, hash);
    assert_string_equal(hash, "a96faf705af16834e6c632b61e964e1f");
    weft_hash("b", 1, other);
    assert_string_not_equal(hash, other);
}

static void nearest_names(void **state) {
    static const char *const names[] = {"jacobian", "mmul", "mvmul", "transpose", "det", "dot"};
    const size_t n = sizeof names / sizeof names[0];
    (void)state;
    assert_string_equal(weft_nearest_name("jacobain", names, n), "jacobian");
    assert_string_equal(weft_nearest_name("Jacobian", names, n), "jacobian");
    assert_string_equal(weft_nearest_name("mmull", names, n), "mmul");
    assert_string_equal(weft_nearest_name("vmmul", names, n), "mmul");
    assert_string_equal(weft_nearest_name("transpse", names, n), "transpose");
    assert_string_equal(weft_nearest_name("dett", names, n), "det");
    assert_null(weft_nearest_name("banana", names, n));
    assert_null(weft_nearest_name("x", names, n));
    assert_null(weft_nearest_name("", names, n));
    assert_null(weft_nearest_name(NULL, names, n));
    assert_null(weft_nearest_name("mmul", names, 0));
    char very_long[200];
    memset(very_long, 'm', sizeof very_long - 1);
    very_long[sizeof very_long - 1] = '\0';
    assert_null(weft_nearest_name(very_long, names, n));
}

static void words_are_found_whole(void **state) {
    (void)state;
    assert_true(weft_has_word("t", "t"));
    assert_true(weft_has_word("sin(2*t)", "t"));
    assert_true(weft_has_word("tt + t_1 + 1*t", "t")); /* behind longer names */
    assert_false(weft_has_word("sqrt(x) + t_1 + 2t", "t"));
    assert_false(weft_has_word("rz_before", "rz"));
    assert_false(weft_has_word("", "rz"));
    assert_false(weft_has_word("rz", ""));
}

static void the_clock_runs_and_memory_is_counted(void **state) {
    (void)state;
    double start = weft_clock();
    usleep(20000);
    double seconds = weft_clock() - start;
    assert_true(seconds >= 0.0199 && seconds < 5);
    size_t before = weft_memory_peak();
    enum { BYTES = 64 << 20 };
    char *array = weft_array_make(BYTES, 1);
    assert_non_null(array);
    assert_true(weft_memory_peak() >= BYTES && weft_memory_peak() >= before);
    free(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(json_strings),
        cmocka_unit_test(arena_memory_is_zero_aligned_and_apart),
        cmocka_unit_test(arrays_are_padded),
        cmocka_unit_test(whole_files),
        cmocka_unit_test(hashes),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(words_are_found_whole),
        cmocka_unit_test(the_clock_runs_and_memory_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
