/* labels: quick */
/* docs/compiler.md shows what each stage prints: it must be what each stage prints. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "$ weft compile poisson.weft --print ";

/* The text between the next pair of fences after *at that starts with `start`; malloc'd or NULL. */
static char *next_block(const char **at, const char *start) {
    char *block = NULL;
    while (block == NULL && (*at = strstr(*at, "```text\n")) != NULL) {
        *at += strlen("```text\n");
        const char *end = strstr(*at, "```");
        assert_non_null(end);
        if (strncmp(*at, start, strlen(start)) == 0)
            block = strndup(*at, (size_t)(end - *at));
        *at = end + 3;
    }
    return block;
}

/* A line "..." at the end of the block stands for the rest. */
static void assert_block(const char *stage, const char *block, const char *printed) {
    const size_t length = strlen(block);
    static const char rest[] = "    ...\n";
    const size_t n_rest = sizeof rest - 1;
    if (length > n_rest && strcmp(block + length - n_rest, rest) == 0) {
        assert_true(length - n_rest > 40);
        if (strncmp(block, printed, length - n_rest) != 0)
            fail_msg("%s prints\n%s", stage, printed);
    } else if (strcmp(block, printed) != 0)
        fail_msg("%s prints\n%s", stage, printed);
}

static void stages_of_poisson(void **state) {
    (void)state;
    char *page = test_file_read(WEFT_SOURCE_DIR "/docs/compiler.md", NULL);
    assert_non_null(page);
    const char *at = page;
    char *script = next_block(&at, "index  cells, nodes;\n"), *block;
    assert_non_null(script);
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"poisson.weft", script};
    int n = 0;
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(
        weft_compile(library, weft_device_limits(device), &fragment, 1, NULL, &compilation, NULL),
        WEFT_OK);
    while (at != NULL && (block = next_block(&at, command)) != NULL) {
        char stage[32];
        weft_text text = {0};
        assert_int_equal(sscanf(block + strlen(command), "%31s", stage), 1);
        assert_int_equal(weft_compilation_print(compilation, stage, "text", &text, NULL), WEFT_OK);
        assert_block(stage, strchr(block, '\n') + 1, text.data);
        weft_text_free(&text);
        free(block);
        ++n;
    }
    assert_int_equal(n, 7);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    weft_library_free(&library);
    free(script);
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_of_poisson)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
