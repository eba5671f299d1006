/* labels: quick */
/* JSON stays valid whatever the numbers, files are whole or not there, and the log keeps its level.
 */
#include "apps/common/support.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int count_files(const char *folder) {
    int n = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory))
        ++n;
    closedir(directory);
    return n - 2; /* less . and .. */
}

static void test_numbers_that_json_cannot_say_are_null(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "a.json");
    json_t *root = json_object();
    assert_true(app_json_set(root, "nan", app_json_real(NAN)));
    assert_true(app_json_set(root, "infinite", app_json_real(-INFINITY)));
    assert_true(app_json_set(root, "third", app_json_real(1.0 / 3)));
    assert_false(app_json_set(root, "none", NULL));
    weft_error error;
    assert_int_equal(WEFT_OK, app_json_write(path, root, &error));
    json_decref(root);
    root = json_load_file(path, 0, NULL);
    assert_true(json_is_null(json_object_get(root, "nan")));
    assert_true(json_is_null(json_object_get(root, "infinite")));
    assert_true(json_real_value(json_object_get(root, "third")) == 1.0 / 3);
    json_decref(root);
    free(path);
    test_folder_remove(&folder);
}

static void test_names_that_are_not_utf8(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"plate.geo", "plate.geo"},
                                           {"pl\xc3\xa4ttchen.geo", "pl\xc3\xa4ttchen.geo"},
                                           {"pl\xe4ttchen.geo", "pl?ttchen.geo"},
                                           {"cut in two \xc3", "cut in two ?"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        json_t *value = app_json_text(texts[i][0]);
        assert_non_null(value);
        assert_string_equal(texts[i][1], json_string_value(value));
        json_decref(value);
    }
}

static void test_files_are_replaced_whole(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "a.txt");
    weft_error error;
    test_text_write(path, "old");
    assert_int_equal(WEFT_OK, app_file_check(path, &error));
    char *text = test_file_read(path, NULL);
    assert_string_equal("old", text);
    free(text);
    assert_int_equal(WEFT_OK, app_file_write(path, "new\n", &error));
    text = test_file_read(path, NULL);
    assert_string_equal("new\n", text);
    free(text);
    assert_int_equal(1, count_files(folder));
    mode_t mask = umask(0);
    umask(mask);
    struct stat info;
    assert_int_equal(0, stat(path, &info));
    assert_int_equal(0666 & ~mask, info.st_mode & 0777);
    free(path);
    test_folder_remove(&folder);
}

static void test_unwritable_files_are_named(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "none/a.txt");
    weft_error error;
    assert_int_equal(WEFT_ERROR_IO, app_file_check(path, &error));
    assert_string_equal(path, error.file);
    assert_true(error.hint[0]);
    assert_int_equal(WEFT_ERROR_IO, app_file_write(path, "x", &error));
    assert_int_equal(WEFT_ERROR_IO, app_file_check(folder, &error));
    assert_non_null(strstr(error.message, "irectory"));
    assert_int_equal(0, count_files(folder));
    free(path);
    test_folder_remove(&folder);
}

static char *log_at(const char *level, app_verbosity verbosity) {
    if (level)
        setenv("WEFT_LOG", level, 1);
    else
        unsetenv("WEFT_LOG");
    char *text = NULL;
    size_t length = 0;
    FILE *stream = tmpfile();
    app_messages messages;
    weft_error error;
    assert_int_equal(WEFT_OK, app_messages_make(&messages, "program", stream, verbosity, &error));
    weft_log(&messages.monitor, WEFT_LOG_ERROR, "e%d", 1);
    weft_log(&messages.monitor, WEFT_LOG_WARNING, "w");
    weft_log(&messages.monitor, WEFT_LOG_INFO, "i");
    weft_log(&messages.monitor, WEFT_LOG_DEBUG, "d");
    weft_progress(&messages.monitor, "phase", 1, 2); /* no terminal: draws nothing */
    rewind(stream);
    FILE *copy = open_memstream(&text, &length);
    for (int c = getc(stream); c != EOF; c = getc(stream))
        putc(c, copy);
    fclose(copy);
    fclose(stream);
    return text;
}

static void test_log_levels(void **state) {
    (void)state;
    static const struct {
        const char *level;
        app_verbosity verbosity;
        const char *expected;
    } cases[] = {
        {NULL, APP_NORMAL, "program: error: e1\nprogram: warning: w\n"},
        {NULL, APP_QUIET, "program: error: e1\n"},
        {NULL, APP_VERBOSE, "program: error: e1\nprogram: warning: w\nprogram: info: i\n"},
        {"error", APP_NORMAL, "program: error: e1\n"},
        {"debug", APP_NORMAL,
         "program: error: e1\nprogram: warning: w\nprogram: info: i\nprogram: debug: d\n"},
        {"debug", APP_QUIET, "program: error: e1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char *text = log_at(cases[i].level, cases[i].verbosity);
        assert_string_equal(cases[i].expected, text);
        free(text);
    }
    setenv("WEFT_LOG", "warnings", 1);
    app_messages messages;
    weft_error error;
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_messages_make(&messages, "p", stderr, APP_NORMAL, &error));
    assert_string_equal("WEFT_LOG", error.file);
    assert_non_null(strstr(error.hint, "'warning'"));
    unsetenv("WEFT_LOG");
}

static void test_quantities_for_people(void **state) {
    (void)state;
    char out[32];
    assert_string_equal("999 B", app_print_bytes(999, out));
    assert_string_equal("1.5 kB", app_print_bytes(1500, out));
    assert_string_equal("340 MB", app_print_bytes(340e6, out));
    assert_string_equal("1.50 s", app_print_seconds(1.5, out));
    assert_string_equal("2.25 ms", app_print_seconds(2.25e-3, out));
    assert_string_equal("3.0 us", app_print_seconds(3e-6, out));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers_that_json_cannot_say_are_null),
                                       cmocka_unit_test(test_names_that_are_not_utf8),
                                       cmocka_unit_test(test_files_are_replaced_whole),
                                       cmocka_unit_test(test_unwritable_files_are_named),
                                       cmocka_unit_test(test_log_levels),
                                       cmocka_unit_test(test_quantities_for_people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
