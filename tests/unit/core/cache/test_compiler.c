/* labels: quick */
/* The compiler: missing, refusing, odd; what it says reaches the user, and sources are kept on
 * request. */
#include "cache_support.h"
#include "core/weft_core.h"

#include <sys/wait.h>

static weft_status try_source(cache_place *place, const char *name, const char *source,
                              weft_error *error) {
    weft_device *device = NULL;
    weft_module *module = NULL;
    *error = (weft_error){0};
    assert_int_equal(weft_device_open("host:1", &place->options, &device, NULL), WEFT_OK);
    weft_status status = weft_module_make(device, name, source, &module, error);
    weft_module_free(&module);
    weft_device_free(&device);
    return status;
}

static void missing(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_error error;
    static const char *const names[] = {"/nonexistent/cc", "no-such-compiler", "./no-such", " ",
                                        "/dev/null"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        place->options.compiler = names[i];
        assert_int_equal(try_source(place, "k", "int x;", &error), WEFT_ERROR_COMPILER);
        assert_non_null(strstr(error.message, "no C compiler"));
        assert_non_null(strstr(error.hint, "install gcc"));
        assert_non_null(strstr(error.hint, "CC"));
        assert_int_equal(weft_status_exit_code(error.status), 3);
    }
    place_free(place);
}

static void missing_but_the_kernel_is_there(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_error error;
    assert_false(kernel_runs(place, 3));
    assert_int_equal(place->log.warnings, 0);
    place->options.compiler = "/nonexistent/cc";
    assert_true(kernel_runs(place, 3));
    assert_int_equal(place->log.warnings, 1);
    assert_non_null(strstr(place->log.text, "no C compiler"));
    assert_int_equal(try_source(place, "k", "int x;", &error), WEFT_ERROR_COMPILER);
    /* damaged: it is not run for want of a better one */
    size_t size = 0;
    char *path = kernel_entry(place), *bytes = test_file_read(path, &size);
    bytes[size / 2] = (char)(bytes[size / 2] ^ 1);
    test_file_write(path, bytes, size);
    double answer;
    bool cached;
    assert_int_equal(run_kernel(&place->options, 3, &answer, &cached, NULL, &error),
                     WEFT_ERROR_COMPILER);
    free(bytes);
    free(path);
    place_free(place);
}

/* A daemon has no standard streams: then the folder, the pipe and the output have low numbers. */
static void without_standard_streams(void **state) {
    (void)state;
    cache_place *place = place_make();
    place->options.monitor = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        weft_device *device = NULL;
        weft_module *module = NULL;
        for (int stream = 0; stream < 3; ++stream)
            close(stream);
        weft_status status = weft_device_open("host:1", &place->options, &device, NULL);
        if (status == WEFT_OK)
            status = weft_module_make(device, "k", "int x;", &module, NULL);
        _exit((int)status);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), WEFT_OK);
    place_free(place);
}

static void what_it_says_is_reported(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_error error;
    char text[4096];
    assert_int_equal(
        try_source(place, "poisson", "int good;\nint bad = undeclared_name;\n", &error),
        WEFT_ERROR_COMPILER);
    assert_non_null(strstr(error.message, "undeclared_name"));
    assert_string_equal(error.file, "poisson.c");
    assert_int_equal(error.line, 2);
    assert_string_equal(error.source_line, "int bad = undeclared_name;");
    weft_error_text(&error, text, sizeof text);
    assert_non_null(strstr(text, "poisson.c:2:11: error: "));
    assert_non_null(strstr(text, "WEFT_KEEP"));
    assert_null(strstr(text, place->folder)); /* no path of ours that is gone by then */
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 0);
    /* many lines of it are cut, not lost */
    char *source = calloc(1, 20000);
    for (int i = 0; i < 300; ++i)
        snprintf(source + strlen(source), 64, "int a%d = nothing_%d;\n", i, i);
    assert_int_equal(try_source(place, "many", source, &error), WEFT_ERROR_COMPILER);
    assert_non_null(strstr(error.message, "nothing_0"));
    free(source);
    place_free(place);
}

static void odd_compilers(void **state) {
    (void)state;
    cache_place *place = place_make();
    weft_error error;
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"exit 7", "does not answer"},
        {"[ \"$1\" = --version ] && echo odd 1.0 || exit 0", "no shared object"},
        {"[ \"$1\" = --version ] && echo odd 1.0 || echo junk > module.so", "not a shared object"},
        {"[ \"$1\" = --version ] && echo odd 1.0 || kill -9 $$", "137"},
        {"[ \"$1\" = --version ] && echo odd 1.0 || exit 3", "it says nothing"},
        {"[ \"$1\" = --version ] && echo odd 1.0 || { echo one; echo two; exit 3; }",
         "):\nit refused generated source (exit code 3):\none\ntwo"},
        {"[ \"$1\" = --version ] && echo odd 1.0 || ln -s /etc/passwd module.so", "symbolic link"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[512];
        snprintf(text, sizeof text, "#!/bin/sh\n%s\n", cases[i].body);
        test_text_write(place->compiler, text);
        assert_int_equal(try_source(place, "k", "int x;", &error), WEFT_ERROR_COMPILER);
        if (!strstr(error.message, cases[i].words))
            fail_msg("%s: %s", cases[i].body, error.message);
        /* junk is only found when it is loaded */
        if (i > 0 && !strstr(cases[i].body, "junk") &&
            (!strstr(error.message, "is not a C compiler (it is `odd 1.0`)") ||
             strstr(error.message, "gcc 1.0")))
            fail_msg("%s: %s", cases[i].body, error.message);
        if (strstr(error.message, "no shared object"))
            assert_non_null(strstr(error.hint, "CC names the one that is used"));
    }
    write_compiler(place);
    assert_false(kernel_runs(place, 3)); /* nothing of theirs was kept */
    assert_int_equal(n_invalid(place), 0);
    place_free(place);
}

static void sources_are_kept(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *keep = test_path(place->folder, "keep"), *path = test_path(keep, "fill.c");
    char *odd = test_path(keep, "_.._a_b.c"), expected[512];
    weft_error error;
    place->options.keep_directory = keep;
    kernel_source(3, expected, sizeof expected);
    for (int i = 0; i < 2; ++i) { /* compiled, then found in the cache */
        assert_int_equal(kernel_runs(place, 3), i == 1);
        char *kept = test_file_read(path, NULL);
        assert_non_null(kept);
        assert_string_equal(kept, expected);
        free(kept);
        assert_int_equal(unlink(path), 0);
    }
    /* a name cannot lead out of the folder, nor be an option of the compiler's */
    assert_int_equal(try_source(place, "/../a b", "int x;", &error), WEFT_OK);
    assert_int_equal(access(odd, F_OK), 0);
    assert_int_equal(try_source(place, "-o", "int y;", &error), WEFT_OK);
    assert_int_equal(try_source(place, "", "int z;", &error), WEFT_OK);
    /* a folder that cannot be made is said, and the kernel runs */
    forget_log(place);
    char *blocked = test_path(path, "below");
    test_text_write(path, "");
    place->options.keep_directory = blocked;
    assert_true(kernel_runs(place, 3));
    assert_int_equal(place->log.warnings, 1);
    assert_non_null(strstr(place->log.text, "is not kept"));
    free(blocked);
    free(odd);
    free(path);
    free(keep);
    place_free(place);
}

/* Each compiler on this machine, wide vectors and the mathematics library. */
static void every_compiler(void **state) {
    (void)state;
    static const char *const names[] = {"gcc", "clang"};
    static const char source[] =
        "#include <math.h>\n#include <stdint.h>\n"
        "typedef double vector __attribute__((vector_size(64)));\n"
        "void k(void *const *a, int64_t n, int64_t first, int64_t last)\n"
        "{ vector *x = a[0]; const vector *y = a[1]; (void)n;\n"
        "  for (int64_t i = first; i < last; ++i) { x[i] = 2 * y[i] + 1;\n"
        "    for (int k = 0; k < 8; ++k) x[i][k] = sqrt(x[i][k]) + tanh(x[i][k]) * 0; } }\n";
    cache_place *place = place_make();
    for (int c = 0; c < 2; ++c) {
        weft_device *device = NULL;
        weft_module *module = NULL;
        weft_memory *memories[2] = {NULL, NULL};
        weft_error error;
        if (!test_program_exists(names[c])) {
            print_message("%s is not installed\n", names[c]);
            continue;
        }
        place->options.compiler = names[c];
        assert_int_equal(weft_device_open("host:1", &place->options, &device, &error), WEFT_OK);
        if (weft_module_make(device, "wide", source, &module, &error) != WEFT_OK)
            fail_msg("%s: %s", names[c], error.message);
        for (int i = 0; i < 2; ++i)
            assert_int_equal(weft_memory_make(device, 16 * 8, &memories[i], &error), WEFT_OK);
        double *y = weft_memory_host(memories[1]), *x = weft_memory_host(memories[0]);
        for (int i = 0; i < 16; ++i)
            y[i] = 0.5 * (i * i - 1); /* so that 2 y + 1 = i^2 */
        weft_launch launch = {.module = module,
                              .kernel = "k",
                              .arguments = memories,
                              .n_arguments = 2,
                              .n_elements = 16,
                              .lanes = 8};
        assert_int_equal(weft_device_launch(device, &launch, &error), WEFT_OK);
        for (int i = 0; i < 16; ++i)
            assert_double_near(x[i], i, 0, 0);
        for (int i = 0; i < 2; ++i)
            weft_memory_free(&memories[i]);
        weft_module_free(&module);
        weft_device_free(&device);
    }
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing),
        cmocka_unit_test(missing_but_the_kernel_is_there),
        cmocka_unit_test(without_standard_streams),
        cmocka_unit_test(what_it_says_is_reported),
        cmocka_unit_test(odd_compilers),
        cmocka_unit_test(sources_are_kept),
        cmocka_unit_test(every_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
