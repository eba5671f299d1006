/* labels: quick */
/* Programs that are started with standard streams closed, as daemons do: nothing that is printed
 * lands in a file that got the stream's number, and what needs no stream works. */
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_in_shell(const char *folder, const char *line) {
    char *cache = NULL;
    assert_true(asprintf(&cache, "XDG_CACHE_HOME=%s/cache", folder) > 0);
    const char *const environment[] = {cache, NULL};
    const char *command[] = {"sh", "-c", line, NULL};
    test_run run = test_program(command, environment);
    int code = run.exit_code;
    test_run_free(&run);
    free(cache);
    return code;
}

/* The cache is cold, so that folders, pipes and the compiler get the low numbers too. */
static void test_poisson(void **state) {
    static const char *const closed[] = {"<&-",      ">&-",      "2>&-",        "<&- >&-",
                                         "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"};
    (void)state;
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; ++i) {
        char *folder = test_folder_make(), *line = NULL;
        assert_true(asprintf(&line,
                             "'" WEFT_BINARY_DIR
                             "/poisson' --quiet --mesh square:2 --json %s/u.json "
                             "--output %s/u.vtkhdf %s",
                             folder, folder, closed[i]) > 0);
        int code = run_in_shell(folder, line);
        if (code != 0)
            print_error("exit %d: %s\n", code, line);
        assert_int_equal(0, code);
        free(line);
        assert_true(asprintf(&line, "'" WEFT_BINARY_DIR "/poisson' --mesh %s/u.vtkhdf", folder) >
                    0);
        assert_int_equal(0, run_in_shell(folder, line));
        free(line);
        assert_int_equal(0, run_in_shell(folder, "'" WEFT_BINARY_DIR "/weft' cache verify"));
        test_folder_remove(&folder);
    }
}

/* What was to be printed and could not be is an error, but the file is whole. */
static void test_lost_report(void **state) {
    char *folder = test_folder_make(), *line = NULL;
    (void)state;
    assert_true(asprintf(&line,
                         "'" WEFT_BINARY_DIR "/poisson' --mesh square:2 --output %s/u.vtkhdf >&-",
                         folder) > 0);
    assert_int_equal(2, run_in_shell(folder, line));
    free(line);
    assert_true(asprintf(&line, "'" WEFT_BINARY_DIR "/poisson' --mesh %s/u.vtkhdf", folder) > 0);
    assert_int_equal(0, run_in_shell(folder, line));
    free(line);
    assert_int_equal(2, run_in_shell(folder, "'" WEFT_BINARY_DIR "/weft' devices >&-"));
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_poisson),
                                       cmocka_unit_test(test_lost_report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
