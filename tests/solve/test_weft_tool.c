/* labels: quick */
/* The tool weft: every command does what --help says, and bad usage ends with exit 2 and one
 * message. */
#include "test_support.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 16 };

static test_run run_with(const char *const *environment, const char *const *arguments) {
    const char *command[ARGUMENTS_MAX + 2] = {WEFT_BINARY_DIR "/weft"};
    for (int i = 0; arguments[i]; ++i)
        command[i + 1] = arguments[i];
    return test_program(command, environment);
}
#define RUN(...) run_with(NULL, (const char *const[]){__VA_ARGS__, NULL})

static void check(test_run run, int exit_code, const char *out, const char *err) {
    bool fine = run.exit_code == exit_code && strstr(run.output, out) && strstr(run.error, err);
    if (!fine)
        print_error("exit %d, expected %d\nexpected \"%s\" and \"%s\"\n%s\n%s\n", run.exit_code,
                    exit_code, out, err, run.output, run.error);
    assert_true(fine);
    test_run_free(&run);
}

static void test_help_and_version(void **state) {
    static const char *const commands[] = {"compile", "explain", "library", "cache",
                                           "devices", "new",     "test"};
    (void)state;
    check(RUN("--help"), 0, "Examples:", "");
    check(RUN("--version"), 0, "weft (Weft) " WEFT_VERSION "\n", "");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i)
        check(RUN(commands[i], "--help"), 0, "Examples:", "");
}

static void test_stages(void **state) {
    static const struct {
        const char *stage, *expected;
    } cases[] = {{"tokens", "jacobian"},         {"script", "connectivity"},
                 {"graph", "jacobian"},          {"fusions", "tform_dshape_1"},
                 {"implementations", "on chip"}, {"cover", "J"},
                 {"plan", "1 kernel"},           {"source", "void k0_"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check(RUN("compile", "poisson.weft", "--print", cases[i].stage), 0, cases[i].expected, "");
    check(RUN("compile", "poisson.weft", "--plan", "unfused"), 0, "3 kernels", "");
    check(RUN("compile", "poisson.weft", "--print=graph", "--format=dot"), 0, "digraph", "");
    /* several pieces are one script: the matrix-free product is one kernel */
    check(RUN("compile", "poisson.weft", "product.weft", "--param", "d=3"), 0, "1 kernel", "");
    check(RUN("compile", "load.weft", "--define", "source=sin(x)", "--print=source"), 0, "sin(",
          "");
    check(RUN("compile", "poisson.weft", "--precision=single", "--print=source"), 0, "float", "");
    check(RUN("compile", "poisson.weft", "--device", "null:h200"), 0, "32 elements per block", "");
    check(RUN("explain", "poisson.weft"), 0, "unfused", "");
}

/* What the values of --scatter lead to, and what is logged where that is something else. */
static void test_scatters(void **state) {
    static const struct {
        const char *name, *device, *used, *logged;
    } cases[] = {{"auto", "host", "chunk-colored", ""},
                 {"auto", "null:h200", "edge-patch", ""},
                 {"atomic", "null:h200", "atomic", ""},
                 {"atomic", "host", "chunk-colored", "cannot be used"},
                 {"chunk-colored", "host", "chunk-colored", ""},
                 {"chunk-colored", "null:h200", "atomic", "cannot be used"},
                 {"cell-colored", "null:h200", "cell-colored", ""},
                 {"cell-colored", "host", "chunk-colored", "it uses chunk-colored"},
                 {"gather", "host", "written", ""},
                 {"gather", "null:h200", "written", ""},
                 {"vertex-patch", "null:h200", "vertex-patch", ""},
                 {"edge-patch", "null:h200", "edge-patch", ""},
                 {"edge-patch", "host", "chunk-colored", "cannot be used"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        test_run run = RUN("compile", "poisson.weft", "product.weft", "--param=d=3", "--scatter",
                           cases[i].name, "--device", cases[i].device);
        char *used = NULL;
        assert_true(asprintf(&used, ", %s\n", cases[i].used) > 0);
        assert_true(cases[i].logged[0] || !run.error[0]);
        check(run, 0, used, cases[i].logged);
        free(used);
    }
    check(RUN("compile", "poisson.weft", "product.weft", "--scatter", "edge-patch", "--device",
              "null:h200"),
          0, ", vertex-patch\n", "it uses vertex-patch");
    check(RUN("explain", "poisson.weft", "product.weft", "--scatter", "cell-colored"), 0,
          "scatter cell-colored", "");
    check(
        RUN("compile", "poisson.weft", "product.weft", "--scatter", "gathr"), 2, "",
        "did you mean 'gather'? the values are auto, atomic, chunk-colored, cell-colored, gather, "
        "vertex-patch, edge-patch or cell-patch");
    check(RUN("compile", "poisson.weft", "--scatter=atomic"), 0, "plan", "");
}

static void same(test_run old, test_run now) {
    assert_int_equal(0, old.exit_code);
    assert_string_equal(now.output, old.output);
    test_run_free(&old);
    test_run_free(&now);
}

/* The names of the previous release still work, and --help does not show them. */
static void test_earlier_names(void **state) {
    static const struct {
        const char *old[2], *now[2];
    } cases[] = {{{"--set", "d=3"}, {"--param", "d=3"}},
                 {{"--single", "--print=source"}, {"--precision=single", "--print=source"}},
                 {{"--n", "1000"}, {"--size", "1000"}},
                 {{"--turns", "1"}, {"--trip-count", "1"}},
                 {{"--store=always", "--store=auto"}, {"--rematerialize=auto", NULL}},
                 {{"--scatter=coloured", NULL}, {"--scatter=auto", NULL}},
                 {{"--scatter=gathered", NULL}, {"--scatter=gather", NULL}},
                 {{"--scatter=cells", "--device=null:h200"},
                  {"--scatter=cell-colored", "--device=null:h200"}}};
    char *folder = test_folder_make(), *path = test_path(folder, "plan.json"), *loop = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        same(RUN("fuse", "load.weft", cases[i].old[0], cases[i].old[1]),
             RUN("compile", "load.weft", cases[i].now[0], cases[i].now[1]));
    test_run plan = RUN("compile", "load.weft", "--plan=unfused", "--format=json");
    test_text_write(path, plan.output);
    same(RUN("compile", "load.weft", "--force", path),
         RUN("compile", "load.weft", "--plan-file", path));
    test_run_free(&plan);
    loop = test_path(folder, "loop.weft");
    test_text_write(loop,
                    "index nodes;\ninput p : real over nodes;\nA = 2*p;\nx = p;\n"
                    "repeat at most 8 while (1 > 0) {\n    update x = x + A;\n}\nreturn x;\n");
    same(RUN("compile", loop, "--store=always"), RUN("compile", loop, "--rematerialize=never"));
    same(RUN("compile", loop, "--store=never"), RUN("compile", loop, "--rematerialize=always"));
    check(RUN("compile", loop, "--rematerialize=never"), 0, "loads    x real, A real", "");
    check(RUN("compile", loop, "--rematerialize=always"), 0, "loads    p real, x real", "");
    same(RUN("compile", "cg.weft", "--device=null:h200", "--routine=A=csr"),
         RUN("compile", "cg.weft", "--device=null:h200", "--product-kernel=A=csr"));
    for (int i = 0; i < 2; ++i) {
        test_run help = RUN(i ? "calibrate" : "compile", "--help");
        static const char *const hidden[] = {"--set",   "--single", "--n=",      "--turns",
                                             "--store", "--force",  "--routine", "--seconds",
                                             "--again", "--check",  "--draw",    "fuse "};
        for (size_t k = 0; k < sizeof hidden / sizeof hidden[0]; ++k)
            assert_null(strstr(help.output, hidden[k]));
        test_run_free(&help);
    }
    check(RUN("compile", "load.weft", "--trip-cout=1"), 2, "", "did you mean '--trip-count'?");
    check(RUN("compile", "load.weft", "--tuns=1"), 2, "", "did you mean '--tune'?");
    free(loop);
    free(path);
    test_folder_remove(&folder);
}

static void test_json(void **state) {
    (void)state;
    static const char *const stages[] = {"graph", "plan"};
    for (int i = 0; i < 2; ++i) {
        test_run run = RUN("compile", "poisson.weft", "--format=json", "--print", stages[i]);
        json_t *root = json_loads(run.output, 0, NULL);
        assert_non_null(root);
        json_decref(root);
        test_run_free(&run);
    }
}

static void test_script_files(void **state) {
    static const char text[] =
        "index cells;\ninput A : real[2,2] over cells;\nB = transpose(A);\nreturn B;\n";
    char *folder = test_folder_make(), *path = test_path(folder, "my.weft");
    (void)state;
    test_text_write(path, text);
    check(RUN("compile", path), 0, "transpose", "");
    test_text_write(path,
                    "index cells;\ninput A : real[2,2] over cells;\nB = transpos(A);\nreturn B;\n");
    check(RUN("compile", path), 2, "", "my.weft:3:5: error: ");
    check(RUN("compile", path), 2, "", "B = transpos(A);\n        ^");
    test_text_write(path,
                    "index cells;\ninput A : real[2,3] over cells;\nB = mmul(A, A);\nreturn B;\n");
    check(RUN("compile", path), 2, "", "my.weft:3:");
    test_text_write(path, "index cells\ninput A : real over cells;\nreturn A;\n");
    check(RUN("compile", path), 2, "", "my.weft:1:12: error: ");
    free(path);
    test_folder_remove(&folder);
}

static void test_library(void **state) {
    char *folder = test_folder_make(), *path = test_path(folder, "mine.kernel.c");
    (void)state;
    check(RUN("library"), 0, "mmul(A: real[m,k], B: real[k,n]) -> C: real[m,n]", "");
    check(RUN("library", "list"), 0, "jacobian", "");
    check(RUN("library", "show", "mmul"), 0, "//@ function  mmul", "");
    check(RUN("library", "show", "mmull"), 2, "", "did you mean 'mmul'?");
    check(RUN("library", "mmul"), 0, "//@ function  mmul", "");
    check(RUN("library", "mmull"), 2, "", "did you mean 'mmul'?");
    check(RUN("library", "mmul", "dot"), 2, "", "unknown action 'mmul'");
    check(RUN("library", "show"), 2, "", "show needs the name of a function");
    check(RUN("library", "lst"), 2, "", "did you mean 'list'?");
    test_text_write(
        path, "//@ function  twice(x: real[n]) -> y: real[n]\n//@ kind      map\n//@ flops     n\n"
              "//@ source    a test\n//@ threads   1\nfor (int i = 0; i < n; ++i)\n    y(i) = 2 * "
              "x(i);\n");
    check(RUN("library", "show", "twice", "--kernels", folder), 0, "y(i) = 2 * x(i);", "");
    check(RUN("library", "--kernels", "/nowhere/at/all"), 2, "", "/nowhere/at/all");
    free(path);
    test_folder_remove(&folder);
}

static void test_cache(void **state) {
    char *folder = test_folder_make(), *cache = NULL;
    (void)state;
    assert_true(asprintf(&cache, "XDG_CACHE_HOME=%s", folder) > 0);
    const char *const environment[] = {cache, NULL};
#define RUN_HERE(...) run_with(environment, (const char *const[]){__VA_ARGS__, NULL})
    check(RUN_HERE("cache", "list"), 0, "0 entries", "");
    check(RUN_HERE("cache", "verify"), 0, "0 invalid", "");
    const char *solve[] = {WEFT_BINARY_DIR "/poisson", "--mesh", "square:2", "--quiet", NULL};
    check(test_program(solve, environment), 0, "", "");
    check(RUN_HERE("cache", "verify"), 0, " 0 invalid", "");
    test_run run = RUN_HERE("cache", "list");
    assert_non_null(strstr(run.output, "  valid  "));
    assert_non_null(strstr(run.output, folder));
    test_run_free(&run);
    check(RUN_HERE("cache", "clear"), 0, " removed", "");
    check(RUN_HERE("cache", "list"), 0, "0 entries", "");
    check(RUN_HERE("cache"), 2, "", "what should be done");
    check(RUN_HERE("cache", "lsit"), 2, "", "did you mean 'list'?");
    free(cache);
    test_folder_remove(&folder);
}

static void test_bad_usage(void **state) {
    (void)state;
    const char *alone[] = {WEFT_BINARY_DIR "/weft", NULL};
    check(test_program(alone, NULL), 2, "", "no command is given");
    check(RUN("compil"), 2, "", "did you mean 'compile'?");
    check(RUN("compile"), 2, "", "no script is given");
    check(RUN("compile", "poison.weft"), 2, "", "did you mean poisson.weft?");
    check(RUN("compile", "poisson.weft", "--prnt=plan"), 2, "", "did you mean '--print'?");
    check(RUN("compile", "poisson.weft", "--print=plna"), 2, "", "plan");
    check(RUN("compile", "poisson.weft", "--format=xml"), 2, "", "json");
    check(RUN("compile", "poisson.weft", "--param", "e=3"), 2, "", "e");
    check(RUN("compile", "poisson.weft", "--param", "d=x"), 2, "", "--param:1:1");
    check(RUN("compile", "load.weft", "--define", "source=1+"), 2, "", "--define:1:3");
    check(RUN("compile", "poisson.weft", "--device=cud"), 2, "", "host");
    check(RUN("devices", "extra"), 2, "", "unexpected argument 'extra'");
}

static void test_devices(void **state) {
    (void)state;
    check(RUN("devices"), 0, "null:h200", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_help_and_version),
                                       cmocka_unit_test(test_stages),
                                       cmocka_unit_test(test_scatters),
                                       cmocka_unit_test(test_earlier_names),
                                       cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_script_files),
                                       cmocka_unit_test(test_library),
                                       cmocka_unit_test(test_cache),
                                       cmocka_unit_test(test_bad_usage),
                                       cmocka_unit_test(test_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
