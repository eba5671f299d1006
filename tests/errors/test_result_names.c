/* labels: quick */
/* Names of result files that would cost the user another file are refused before anything runs:
 * exit 2, one message, and what was there stays. */
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char geometry[] = "the user's geometry";

static void refuse(const char *const *arguments, const char *expected) {
    const char *command[16] = {WEFT_BINARY_DIR "/poisson"};
    for (int i = 0; arguments[i]; ++i)
        command[i + 1] = arguments[i];
    test_run run = test_program(command, NULL);
    if (run.exit_code != 2 || !strstr(run.error, expected) || !strstr(run.error, "hint: "))
        print_error("exit %d, expected '%s' in: %s\n", run.exit_code, expected, run.error);
    assert_int_equal(2, run.exit_code);
    assert_non_null(strstr(run.error, expected));
    assert_non_null(strstr(run.error, "hint: "));
    assert_string_equal("", run.output);
    test_run_free(&run);
}
#define REFUSE(expected, ...) refuse((const char *const[]){__VA_ARGS__, NULL}, (expected))

static void test_ending(void **state) {
    char *folder = test_folder_make(), *geo = test_path(folder, "plate.geo"),
         *hidden = test_path(folder, ".vtkhdf");
    (void)state;
    test_text_write(geo, geometry);
    REFUSE("its name ends in .vtkhdf", "--mesh", "square:2", "--output", geo);
    REFUSE("its name ends in .vtkhdf", "--mesh", "square:2", "--output", "-");
    REFUSE("its name ends in .vtkhdf", "--mesh", "square:2", "--output", hidden);
    char *text = test_file_read(geo, NULL);
    assert_string_equal(geometry, text);
    assert_int_not_equal(0, access(hidden, F_OK));
    assert_int_not_equal(0, access("-", F_OK));
    free(text);
    free(geo);
    free(hidden);
    test_folder_remove(&folder);
}

static void test_same_file(void **state) {
    char *folder = test_folder_make(), *mesh = test_path(folder, "mesh.vtkhdf"),
         *link_to_mesh = test_path(folder, "link.vtkhdf"), *new = test_path(folder, "new.vtkhdf");
    char line[400], detour[400];
    (void)state;
    test_text_write(mesh, geometry);
    assert_int_equal(0, symlink(mesh, link_to_mesh));
    snprintf(line, sizeof line, "0,0:1,1:3=%s", new);
    snprintf(detour, sizeof detour, "%s/./new.vtkhdf", folder);
    REFUSE("--json would write over the mesh", "--mesh", mesh, "--json", mesh);
    REFUSE("--json would write over the mesh", "--mesh", mesh, "--json", link_to_mesh);
    REFUSE("--json would write over the file of --output", "--mesh", "square:2", "--output", new,
           "--json", new);
    REFUSE("--line would write over the file of --json", "--mesh", "square:2", "--line", line,
           "--json", new);
    REFUSE("--line would write over the file of another --line", "--mesh", "square:2", "--line",
           line, "--line", line);
    REFUSE("--json would write over the file of --output", "--mesh", "square:2", "--output", new,
           "--json", detour);
    char *text = test_file_read(mesh, NULL);
    assert_string_equal(geometry, text);
    assert_int_not_equal(0, access(new, F_OK));
    free(text);
    free(mesh);
    free(link_to_mesh);
    free(new);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ending),
                                       cmocka_unit_test(test_same_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
