/* labels: quick */
/* Mesh files that would do more than make a mesh: run programs, write files, take all memory, never
 * end. What Gmsh does with each was tried with Gmsh 4.8 itself: with --trust-geo the tricks with
 * strings and comments run their command. */
#include "apps/gmsh/weft_gmsh.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIANGLE                                                                                   \
    "Point(1) = {0, 0, 0, 1}; Point(2) = {1, 0, 0, 1}; Point(3) = {0, 1, 0, 1};\n"                 \
    "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 1};\n"                                      \
    "Curve Loop(1) = {1, 2, 3}; Plane Surface(1) = {1};\n"

typedef struct refused_text {
    const char *text;
    int line;
    const char *word; /* in the message */
} refused_text;

static const refused_text refused[] = {
    {"SystemCall \"touch x\";\n", 1, "SystemCall runs a program"},
    {"\n\nNonBlockingSystemCall \"touch x\";\n", 3, "NonBlockingSystemCall runs a program"},
    {"System \"touch x\";\n", 1, "System runs a program"},
    {"a = 1;\r\nSystemCall\n Sprintf(\"touch %g\", a);\n", 2, "SystemCall runs a program"},
    {"OnelabRun(\"a\", \"touch x\");\n", 1, "OnelabRun runs a program"},
    {"a = Str(\"touch x\");\nSystem a;\n", 2, "System runs a program"},
    {"Macro run\nSystemCall \"touch x\";\nReturn\nCall run;\n", 2, "SystemCall"},
    {"StringToName[StrCat(\"System\", \"Call\")] \"touch x\";\n", 1, "StringToName"},
    {"S2N[\"SystemCall\"] \"touch x\";\n", 1, "S2N"},
    {"Printf(\"a (b\") > \"x\";\n", 1, "Printf writes a file"},
    {"Printf(\"%g %g\", (1 + 2), 3) /* to */\n >> Str(\"x\");\n", 1, "Printf writes a file"},
    {"If(0)\nPrint \"x.png\";\nEndIf\n", 2, "Print writes a file"},
    {"Save \"x.msh\";\n", 1, "Save writes a file"},
    {"Save View[0] \"x.pos\";\n", 1, "Save writes a file"},
    {"CreateDir \"x\";\n", 1, "CreateDir makes a folder"},
    {"Merge StrCat(\"x\", \".geo\");\n", 1, "computed"},
    {"x = \"y\"; Include Str(x);\n", 1, "computed"},
    {"Merge \"x.msh.gz\";\n", 1, "gunzip"},
    {"Merge \"/dev/zero\";\n", 1, "regular file"},
    /* Gmsh sees no strings in what an If leaves out */
    {"If(0)\nx = \"EndIf SystemCall 'touch x'; If(0) \";\nEndIf\n", 2, "string or comment"},
    {"If(0)\nx = \"/*\"; // */ EndIf SystemCall \"touch x\"; If(0)\nEndIf\n", 2,
     "string or comment"},
    /* and it loses the character behind an I there */
    {"If(0)\nI/* EndIf SystemCall \"touch x\"; If(0) */\nEndIf\n", 2, "string or comment"},
    /* it returns to the line behind the For, here inside a comment or a string */
    {"For i In {1:2} /*\nSystemCall \"touch x\"; */\nEndFor\n", 2, "string or comment"},
    {"For i In {1:2} x = \"\nSystemCall 'touch x'; y = \";\nEndFor\n", 2, "string or comment"},
    {"For i In {1:2} //\rSystemCall \"touch x\";\nEndFor\n", 1, "string or comment"},
};

static bool has_gmsh(void) {
    const char *program = getenv("WEFT_GMSH");
    return program && access(program, X_OK) == 0;
}

#define need_gmsh()                                                                                \
    if (!has_gmsh())                                                                               \
    skip_test("weft-gmsh is not built (libgmsh-dev is missing)")

static weft_status read_file(const char *path, const weft_mesh_options *options,
                             weft_error *error) {
    weft_mesh *mesh = NULL;
    weft_status status = weft_mesh_read_with(path, options, NULL, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status read_text(const char *folder, const char *name, const char *text,
                             weft_error *error) {
    char *path = test_path(folder, name);
    test_text_write(path, text);
    weft_status status = read_file(path, NULL, error);
    free(path);
    return status;
}

/* By the check alone, without Gmsh. */
static weft_status check_text(const char *folder, const char *name, const char *text, size_t n,
                              weft_error *error) {
    char *path = test_path(folder, name);
    test_file_write(path, text, n);
    weft_status status = geo_check(path, error);
    free(path);
    return status;
}

static void check_refused(const char *folder, const refused_text *bad) {
    weft_error error = {0};
    weft_status status = check_text(folder, "bad.geo", bad->text, strlen(bad->text), &error);
    bool right = status == WEFT_ERROR_UNSUPPORTED && error.line == bad->line &&
                 strstr(error.file, "bad.geo") && strstr(error.message, bad->word) &&
                 strstr(error.hint, "--trust-geo");
    if (!right)
        fail_msg("%s\n: %s, line %d: %s", bad->text, weft_status_name(status), error.line,
                 error.message);
}

static void test_refused(void **state) {
    (void)state;
    char *folder = test_folder_make();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        check_refused(folder, &refused[i]);
    test_folder_remove(&folder);
}

static void test_not_text(void **state) {
    static const char zero[] = "a = 1; // \0 SystemCall \"touch x\";\n";
    (void)state;
    char *folder = test_folder_make(), text[1200];
    weft_error error = {0};
    assert_int_equal(check_text(folder, "zero.geo", zero, sizeof zero - 1, &error),
                     WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "contains a zero byte"));
    memset(text, 'a', sizeof text);
    memcpy(text, "x = \"", 5);
    memcpy(text + sizeof text - 4, "\";\n", 4);
    assert_int_equal(check_text(folder, "long.geo", text, sizeof text - 1, &error),
                     WEFT_ERROR_INPUT);
    assert_string_equal(error.message, "a string has more than 1023 characters");
    assert_int_equal(check_text(folder, "open.geo", "\nx = \"a;\n", 9, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.message, "a string is not closed");
    assert_int_equal(error.line, 2);
    test_folder_remove(&folder);
}

/* Words that only look like commands. */
static void test_harmless(void **state) {
    static const char text[] =
        "/* SystemCall \"touch x\";\n   Save \"x\"; */\n"
        "// SystemCall \"touch x\"; it's only \"a comment\"\n"
        "Printf(\"SystemCall %g\", 1 > 0); Printf(\"Save 'x'\");\n"
        "System = 1; Save~{1} = 2; MySystemCall = 3; saveMerge = 4; SYSTEMCALL = 5;\n"
        "Print.X3dPrecision = 1e-8; Mesh.SaveAll = 0; General.Terminal = 0;\n"
        "DefineConstant[ lc = {1, Name \"Print it\"}, s = {\"Merge\", Name \"Save\", Choices "
        "{\"Save\"}} ];\n"
        "If(lc > 2)\n Printf(\"no\");\nElse\n Printf(\"yes\");\nEndIf\n"
        "Macro nothing\n Return\nCall nothing;\nInclude \"more.geo\";\n";
    (void)state;
    need_gmsh();
    char *folder = test_folder_make(), *more = test_path(folder, "more.geo");
    weft_error error = {0};
    test_text_write(more, TRIANGLE);
    if (read_text(folder, "good.geo", text, &error) != WEFT_OK)
        fail_msg("line %d: %s", error.line, error.message);
    free(more);
    test_folder_remove(&folder);
}

/* Included, merged, or read by Gmsh because of its name. */
static weft_status check_geo(const char *folder, const char *name, const char *text,
                             weft_error *error) {
    return check_text(folder, name, text, strlen(text), error);
}

static void test_other_files(void **state) {
    (void)state;
    char *folder = test_folder_make(), *bad = test_path(folder, "part.dat");
    char *options = test_path(folder, "with.geo.opt"), *self = test_path(folder, "self.geo");
    weft_error error = {0};
    test_text_write(bad, "a = 1;\nSystemCall \"touch x\";\n");
    assert_int_equal(check_geo(folder, "main.geo", TRIANGLE "Include 'part.dat';\n", &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.file, bad);
    assert_int_equal(error.line, 2);
    assert_int_equal(check_geo(folder, "main.geo", TRIANGLE "Merge \"part.dat\";\n", &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.file, bad);
    test_text_write(options, "SystemCall \"touch x\";\n");
    assert_int_equal(check_geo(folder, "with.geo", TRIANGLE, &error), WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.file, options);
    assert_int_equal(check_geo(folder, "self.geo", "Include \"self.geo\";\n", &error),
                     WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "include one another"));
    free(bad);
    free(options);
    free(self);
    test_folder_remove(&folder);
}

static void test_not_opened(void **state) {
    weft_error error = {0};
    (void)state;
    need_gmsh();
    char *folder = test_folder_make();
    assert_int_equal(read_text(folder, "missing.geo", "Include \"nowhere.geo\";\n", &error),
                     WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "nowhere.geo"));
    /* Gmsh takes what does not start with $ for a geometry, whatever its name */
    assert_int_equal(read_text(folder, "bad.msh", "SystemCall \"touch x\";\n$MeshFormat\n", &error),
                     WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "does not start with $MeshFormat"));
    test_folder_remove(&folder);
}

static bool exists(const char *folder, const char *name) {
    char *path = test_path(folder, name);
    bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

static void test_trusted(void **state) {
    (void)state;
    need_gmsh();
    char *folder = test_folder_make(), *path = test_path(folder, "run.geo"), text[2000];
    weft_error error = {0};
    snprintf(text, sizeof text, TRIANGLE "SystemCall \"touch %s/called\";\n", folder);
    test_text_write(path, text);
    assert_int_equal(read_file(path, NULL, &error), WEFT_ERROR_UNSUPPORTED);
    assert_false(exists(folder, "called"));
    if (read_file(path, &(weft_mesh_options){.size = sizeof(weft_mesh_options), .trust_geo = true},
                  &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(exists(folder, "called"));
    free(path);
    test_folder_remove(&folder);
}

static bool has_filters(void) {
    char *text = test_file_read("/proc/self/status", NULL);
    bool found = text && strstr(text, "Seccomp_filters:");
    free(text);
    return found;
}

/* A plugin that writes a file, which the check of the text does not know. */
static void test_confined(void **state) {
    (void)state;
    need_gmsh();
    if (!has_filters())
        skip_test("this system has no filters of system calls (seccomp)");
    char *folder = test_folder_make(), *path = test_path(folder, "run.geo"), text[2000];
    weft_error error = {0};
    snprintf(text, sizeof text,
             TRIANGLE "Mesh 2;\nPlugin(Bubbles).OutputFile = \"%s/written\";\n"
                      "Plugin(Bubbles).Run;\n",
             folder);
    test_text_write(path, text);
    read_file(path, NULL, &error);
    assert_false(exists(folder, "written"));
    if (read_file(path, &(weft_mesh_options){.size = sizeof(weft_mesh_options), .trust_geo = true},
                  &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(exists(folder, "written"));
    free(path);
    test_folder_remove(&folder);
}

static void test_limits(void **state) {
    (void)state;
    need_gmsh();
    char *folder = test_folder_make(), *path = test_path(folder, "loop.geo");
    weft_error error = {0};
    test_text_write(path, "For i In {0:1e12}\nEndFor\n");
    assert_int_equal(
        read_file(path, &(weft_mesh_options){.size = sizeof(weft_mesh_options), .seconds = 0.5},
                  &error),
        WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "after 0.5 seconds"));
    assert_non_null(strstr(error.hint, "--mesh-time"));
    setenv("WEFT_MESH_TIME", "0.25", 1);
    assert_int_equal(read_file(path, NULL, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "after 0.25 seconds"));
    unsetenv("WEFT_MESH_TIME");
    test_text_write(path, "x[] = {0:3e9};\n");
    assert_int_equal(
        read_file(path, &(weft_mesh_options){.size = sizeof(weft_mesh_options), .memory = 5e8},
                  &error),
        WEFT_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "more than 500 MB of memory"));
    assert_non_null(strstr(error.hint, "--mesh-memory"));
    setenv("WEFT_MESH_MEMORY", "half", 1);
    assert_int_equal(read_file(path, NULL, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.file, "WEFT_MESH_MEMORY");
    unsetenv("WEFT_MESH_MEMORY");
    free(path);
    test_folder_remove(&folder);
}

/* The options of every program that reads meshes. */
static void test_options(void **state) {
    static const char *const programs[] = {"poisson", "solve", "advection_diffusion", "scaling"};
    static const char *const options[] = {"--mesh-memory=lots", "--mesh-time=-1"};
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
        for (size_t k = 0; k < sizeof options / sizeof *options; ++k) {
            char *program = test_path(WEFT_BINARY_DIR, programs[i]);
            const char *command[] = {program, "--trust-geo", options[k], NULL};
            const char *named = k == 0 ? "--mesh-memory:1:1: error: `lots` is not an amount"
                                       : "--mesh-time:1:1: error: `-1` is not a number of seconds";
            test_run run = test_program(command, NULL);
            if (run.exit_code != 2 || !strstr(run.error, named))
                fail_msg("%s %s: %d: %s", programs[i], options[k], run.exit_code, run.error);
            test_run_free(&run);
            free(program);
        }
}

/* A surface with 2^31 physical groups, in a file of 2152 bytes. */
static void test_huge_count(void **state) {
    struct rusage used;
    weft_error error = {0};
    (void)state;
    need_gmsh();
    assert_int_equal(read_file(WEFT_SOURCE_DIR "/tests/errors/data/huge_count.msh", NULL, &error),
                     WEFT_ERROR_INPUT);
    assert_string_equal(error.message, "the file ends inside $Entities");
    getrusage(RUSAGE_CHILDREN, &used);
    assert_true(used.ru_maxrss < 1000000); /* kB; the limits above allow 500 MB and some */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_not_text),
        cmocka_unit_test(test_harmless),   cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_not_opened), cmocka_unit_test(test_trusted),
        cmocka_unit_test(test_confined),   cmocka_unit_test(test_huge_count),
        cmocka_unit_test(test_options),    cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
