/** What the tests share, on top of cmocka: doubles, temporary folders, programs. */
#ifndef WEFT_TEST_SUPPORT_H
#define WEFT_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** a is b, or both are finite and |a - b| <= absolute + relative * max(|a|, |b|); else the test
 * fails and prints both with 17 digits. */
#define assert_double_near(a, b, relative, absolute)                                               \
    test_double_near((a), (b), (relative), (absolute), #a, __FILE__, __LINE__)
void test_double_near(double a, double b, double relative, double absolute, const char *what,
                      const char *file, int line);

/** ./test --full runs this: nothing is left out. (It sets WEFT_TEST_FULL.) */
bool test_is_full(void);

/** A fresh folder below $TMPDIR or /tmp. Free with test_folder_remove. */
char *test_folder_make(void);
/** Remove the folder and all in it, free the name, leave NULL. Does not follow links. */
void test_folder_remove(char **folder);
/** "folder/name", malloc'd. */
char *test_path(const char *folder, const char *name);
/** A whole file, terminated, malloc'd; NULL where there is none. length may be NULL. */
char *test_file_read(const char *path, size_t *length);
/** Write a file; the test fails where that fails. */
void test_file_write(const char *path, const void *bytes, size_t length);
void test_text_write(const char *path, const char *text);

/** How a program ended and what it wrote. Free with test_run_free. */
typedef struct test_run {
    int exit_code; /* 128 + the signal's number where one ended it */
    char *output;  /* stdout, terminated */
    char *error;   /* stderr, terminated */
    double seconds;
} test_run;
/** Run arguments[0] (found in PATH where it has no '/') with arguments, NULL at the end, stdin
 *  empty, and wait. environment: NULL, or "NAME=value" entries, NULL at the end, that are added to
 *  this process's. */
test_run test_program(const char *const *arguments, const char *const *environment);
void test_run_free(test_run *run);

/** Is there a program of this name in PATH? */
int test_program_exists(const char *name);

/** Print why, then skip: the test counts as skipped, never as passed. */
#define skip_test(reason)                                                                          \
    do {                                                                                           \
        test_note_skip(reason);                                                                    \
        skip();                                                                                    \
    } while (0)
void test_note_skip(const char *reason);
/** What main returns: cmocka's number of failures, but 77 where all tests were skipped, so that
 * ctest shows that. They run with the numbers of the locale that WEFT_TEST_LOCALE names, as in a program that has set it. */
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, set_up, tear_down)                                           \
    test_exit_code(test_locale_is_missing()                                                        \
                       ? 1                                                                         \
                       : cmocka_run_group_tests_name(#tests, tests, set_up, tear_down),            \
                   sizeof(tests) / sizeof((tests)[0]))
int test_exit_code(int result, size_t n_tests);
bool test_locale_is_missing(void); /* that WEFT_TEST_LOCALE names; otherwise it is set */

#endif
