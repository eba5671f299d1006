/* labels: quick */
/* Names of result files that would cost the user another file are refused before anything runs:
 * exit 2, one message, and what was there stays. */
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char geometry[] = "# the user's geometry";

static void refuse_by(const char *program, const char *const *arguments, const char *expected) {
    const char *command[24] = {program};
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
#define REFUSE(expected, ...)                                                                      \
    refuse_by(WEFT_BINARY_DIR "/poisson", (const char *const[]){__VA_ARGS__, NULL}, (expected))

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
    refuse_by(WEFT_BINARY_DIR "/solve",
              (const char *const[]){"diffusion.weft", "--mesh", "square:2", "--line",
                                    "0,0:1,1:3=./diffusion.weft", NULL},
              "--line would write over the script");
    char *text = test_file_read(mesh, NULL);
    assert_string_equal(geometry, text);
    assert_int_not_equal(0, access(new, F_OK));
    free(text);
    free(mesh);
    free(link_to_mesh);
    free(new);
    test_folder_remove(&folder);
}

/* A program in time, and its options that name files: those that are read, then those that are written. */
typedef struct program {
    const char *path, *run[8]; /* a run of two steps on square:2 */
    const char *read[4], *written[6];
    const char *resume;
} program;
static const program programs[] = {
    {.path = WEFT_BINARY_DIR "/solve",
     .run = {"heat.weft", "--time=0.1,0.2", "--dirichlet=left=1"},
     .read = {"--mesh", "--problem"},
     .written = {"--checkpoint", "--output", "--json", "--history", "--line"},
     .resume = "--resume"},
    {.path = WEFT_BINARY_DIR "/advection_diffusion",
     .run = {"--dt=0.1", "--steps=2", "--diffusivity=1", "--dirichlet=left=1"},
     .read = {"--mesh", "--problem"},
     .written = {"--checkpoint", "--output", "--json", "--history"},
     .resume = "--restart"}};

/* `written` and `other` name the same file. */
static void refuse_pair(const program *p, const char *written, const char *other,
                        const char *path) {
    const bool is_mesh = strcmp(other, "--mesh") == 0;
    char expected[200], values[2][400];
    const char *const options[] = {other, written}, *command[16] = {0};
    int n = 0;
    for (int i = 0; p->run[i]; ++i)
        command[n++] = p->run[i];
    if (!is_mesh)
        command[n++] = "--mesh=square:2";
    for (int i = 0; i < 2; ++i) {
        const bool is_line = strcmp(options[i], "--line") == 0;
        snprintf(values[i], sizeof values[i], "%s=%s%s", options[i], is_line ? "0,0:1,1:3=" : "",
                 path);
        command[n++] = values[i];
    }
    snprintf(expected, sizeof expected, "%s would write over the %s%s", written,
             is_mesh                           ? "mesh"
             : strcmp(other, "--problem") == 0 ? "problem file"
                                               : "file of ",
             is_mesh || strcmp(other, "--problem") == 0 ? "" : other);
    refuse_by(p->path, command, expected);
}

/* Every file that is written, against every other one, but a checkpoint against the one that the run continues. */
static void test_pairs_in_time(void **state) {
    (void)state;
    char *folder = test_folder_make(), *same = test_path(folder, "same.vtkhdf"), option[400];
    for (size_t k = 0; k < sizeof programs / sizeof *programs; ++k) {
        const program *p = &programs[k];
        const char *command[16] = {p->path, "--mesh=square:2", "--quiet", option};
        test_text_write(same, "tolerance: 1e-9\n");
        for (int i = 0; p->written[i]; ++i) {
            for (int r = 0; p->read[r]; ++r)
                refuse_pair(p, p->written[i], p->read[r], same);
            for (int r = 0; r < i; ++r)
                refuse_pair(p, p->written[i], p->written[r], same);
        }
        char *text = test_file_read(same, NULL);
        assert_string_equal("tolerance: 1e-9\n", text);
        free(text);
        assert_int_equal(0, unlink(same));
        snprintf(option, sizeof option, "--checkpoint=%s", same);
        for (int i = 0; p->run[i]; ++i)
            command[4 + i] = p->run[i];
        test_run run = test_program(command, NULL);
        assert_int_equal(0, run.exit_code);
        test_run_free(&run);
        for (int i = 1; p->written[i]; ++i)
            refuse_pair(p, p->written[i], p->resume, same);
    }
    free(same);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ending),
                                       cmocka_unit_test(test_same_file),
                                       cmocka_unit_test(test_pairs_in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
