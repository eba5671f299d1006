/* labels: quick */
/* docs/language.md: every script in it reads, prints and compiles; its error texts are real. */
#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "script_support.h"

#include <stdio.h>

typedef void (*script_task)(const char *text, void *user);

static char *language_read(void) {
    char *page = test_file_read(WEFT_SOURCE_DIR "/docs/language.md", NULL);
    assert_non_null(page);
    return page;
}

/* Run a task on every block that starts with ```weft; returns how many there are. */
static int for_each_script(script_task task, void *user) {
    static const char fence[] = "\n```weft\n";
    char *page = language_read();
    int n = 0;
    for (char *block = strstr(page, fence); block; block = strstr(block, fence), ++n) {
        block += strlen(fence);
        char *end = strstr(block, "\n```\n");
        assert_non_null(end);
        end[1] = '\0';
        task(block, user);
        block = end + 2;
    }
    free(page);
    return n;
}

static void print_and_read(const char *text, void *user) {
    (void)user;
    script_case read = script_read_good(text);
    char *first = script_printed(read.script);
    script_case again = script_read_good(first);
    char *second = script_printed(again.script);
    assert_string_equal(first, second);
    bool updates = false;
    for (int s = 0; s < read.script->n_statements; ++s)
        updates = updates || read.script->statements[s].update;
    assert_true(read.script->n_returns > 0 || updates);
    free(second);
    free(first);
    script_case_free(&again);
    script_case_free(&read);
}

static void scripts_read(void **state) {
    (void)state;
    assert_true(for_each_script(print_and_read, NULL) >= 10);
}

typedef struct compiler {
    weft_device *device;
    weft_library *library;
} compiler;

static void compile(const char *text, void *user) {
    const compiler *c = user;
    const weft_fragment fragment = {"docs/language.md", text};
    for (int plan = 0; plan < 2; ++plan) {
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = plan ? WEFT_PLAN_UNFUSED : WEFT_PLAN_FUSED};
        weft_compilation *compilation = NULL;
        weft_error error = {0};
        weft_status status = weft_compile(c->library, weft_device_limits(c->device), &fragment, 1,
                                          &options, &compilation, &error);
        if (status != WEFT_OK) {
            char message[2048];
            weft_error_text(&error, message, sizeof message);
            fail_msg("%s\n%s", message, text);
        }
        /* without lists there are uniform values alone, which the host computes */
        assert_true(weft_compilation_kernels(compilation) >= (strstr(text, " over ") != NULL));
        weft_compilation_free(&compilation);
    }
}

static void scripts_compile(void **state) {
    (void)state;
    compiler c = {0};
    weft_device_options options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open("null", &options, &c.device, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&c.library, NULL), WEFT_OK);
    assert_int_equal(weft_tables_register(c.library, NULL), WEFT_OK);
    for_each_script(compile, &c);
    weft_library_free(&c.library);
    weft_device_free(&c.device);
}

static void assert_documented(const char *name, const char *text,
                              const weft_compile_options *options) {
    const weft_fragment fragment = {name, text};
    script_case read = script_read_fragments(&fragment, 1, options);
    char message[2048];
    weft_error_text(&read.error, message, sizeof message);
    char *page = language_read();
    if (!strstr(page, message))
        fail_msg("not in docs/language.md:\n%s", message);
    free(page);
    script_case_free(&read);
}

static void error_texts(void **state) {
    (void)state;
    assert_documented("poisson.weft", "\n\n\nindex cells, nodes;\ninput f : real over cell;\n",
                      NULL);
    const weft_expression expression = {"source", "2*pi^2*sin(pi*X)", "--source"};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = &expression, .n_expressions = 1};
    assert_documented("poisson.weft", "expression source(x, y, z) = 1;", &options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_read),
        cmocka_unit_test(scripts_compile),
        cmocka_unit_test(error_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
