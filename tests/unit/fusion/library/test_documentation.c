/* labels: quick */
/* docs/kernel-files.md: its kernel file reads, its script compiles with it, its results are right,
 * and the code it shows is the code that is written. */
#include "core/weft_core.h"
#include "fusion/library/library.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first block that starts with ```KIND, malloc'd. */
static char *block_of(const char *page, const char *kind) {
    char fence[32];
    snprintf(fence, sizeof fence, "\n```%s\n", kind);
    const char *start = strstr(page, fence);
    assert_non_null(start);
    start += strlen(fence);
    const char *end = strstr(start, "\n```\n");
    assert_non_null(end);
    char *block = strndup(start, (size_t)(end + 1 - start));
    assert_non_null(block);
    return block;
}

static void test_example(void **state) {
    (void)state;
    enum { N = 3 };
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *memory[3] = {NULL};
    double plain[N * 9], scalars[2] = {2.0, 0.75};
    weft_device_options options = weft_device_options_default(NULL);
    char *page = test_file_read(WEFT_SOURCE_DIR "/docs/kernel-files.md", NULL);
    assert_non_null(page);
    char *kernel = block_of(page, "kernel"), *script = block_of(page, "weft");
    assert_int_equal(weft_device_open("host:1", &options, &device, &error), WEFT_OK);
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_library_add_text(library, "example.kernel.c", kernel, &error), WEFT_OK);
    weft_fragment fragment = {"example.weft", script};
    weft_compile_options compile = {.size = sizeof compile};
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &compile,
                                  &compilation, &error),
                     WEFT_OK);
    assert_int_equal(weft_program_make(device, compilation, &program, &error), WEFT_OK);
    assert_int_equal(weft_program_size(program, "cells", N, &error), WEFT_OK);
    int lanes = weft_program_lanes(program);
    size_t blocks = (size_t)((N + lanes - 1) / lanes), count = blocks * (size_t)lanes * 9;
    double *values = malloc(count * sizeof *values), results[N];
    assert_non_null(values);
    for (int i = 0; i < N * 9; ++i)
        plain[i] = sin(1.0 + i);
    weft_interleave(plain, N, 9, lanes, values);
    const char *const names[] = {"H", "lambda", "mu"};
    for (int i = 0; i < 3; ++i) {
        size_t bytes = i == 0 ? count * sizeof *values : sizeof *scalars;
        assert_int_equal(weft_memory_make(device, bytes, &memory[i], &error), WEFT_OK);
        assert_int_equal(
            weft_memory_write(memory[i], 0, i == 0 ? values : &scalars[i - 1], bytes, &error),
            WEFT_OK);
        assert_int_equal(weft_program_bind(program, names[i], memory[i], &error), WEFT_OK);
    }
    assert_int_equal(weft_program_run(program, &error), WEFT_OK);
    size_t bytes = blocks * (size_t)lanes * sizeof *values;
    assert_int_equal(weft_memory_read(weft_program_result(program, "w"), 0, values, bytes, &error),
                     WEFT_OK);
    weft_deinterleave(values, N, 1, lanes, results);
    for (int c = 0; c < N; ++c) { /* lambda/2 (tr H)^2 + mu/2 (H:H + H:H^T) */
        const double *h = plain + c * 9;
        double trace = h[0] + h[4] + h[8], squares = 0;
        for (int k = 0; k < 9; ++k)
            squares += h[k] * h[k] + h[k] * h[k % 3 * 3 + k / 3];
        assert_double_near(results[c], scalars[0] / 2 * trace * trace + scalars[1] / 2 * squares,
                           1e-12, 0);
    }
    /* The code that the page shows, up to its dots, without indentation. */
    const char *shown = strstr(page, "real trace = SPLAT");
    const char *written = strstr(weft_compilation_source(compilation), "real trace = SPLAT");
    assert_non_null(shown);
    assert_non_null(written);
    while (strncmp(shown, "...", 3) != 0) {
        assert_int_equal(*shown, *written);
        bool end = *shown == '\n';
        shown += 1 + (end ? strspn(shown + 1, " ") : 0);
        written += 1 + (end ? strspn(written + 1, " ") : 0);
    }
    weft_program_free(&program);
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&memory[i]);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
    free(values);
    free(kernel);
    free(script);
    free(page);
}

/* The message about sizes that the page shows. */
static void test_size_message(void **state) {
    (void)state;
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_specialisation *specialisation = NULL;
    weft_error error = {0};
    weft_shape shape = {2, {4, 2}};
    char *page = test_file_read(WEFT_SOURCE_DIR "/docs/kernel-files.md", NULL);
    assert_non_null(page);
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_specialisation_make(
                         arena, library,
                         &(weft_element_request){.function = weft_library_find(library, "jacobian"),
                                                 .arguments = &shape,
                                                 .n_arguments = 1},
                         &specialisation, &error),
                     WEFT_ERROR_SHAPE);
    assert_non_null(strstr(page, error.message));
    weft_library_free(&library);
    weft_arena_free(&arena);
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_size_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
