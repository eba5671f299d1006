/* labels: quick */
/* Statements that bodies share: `use NAME;` gives the code that the statements themselves give, those of an
 * earlier file may be used, and those that no body uses leave no trace. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "//@ function energy(A: real[n,n], s: real) -> e: real\n"                                      \
    "//@ kind map\n"                                                                               \
    "//@ flops n*n\n"                                                                              \
    "//@ source none\n"                                                                            \
    "//@ threads 1\n"
#define TRACE "real trace = 0;\nfor (int i = 0; i < n; ++i)\n    trace += A(i,i);\n"
#define HALF "real half = 0.5 * s;\n"

/* The code of a script that calls the function of a library with these files after the shipped ones. */
static char *source_with(const char *first, const char *second) {
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_fragment script = {
        "script.weft", "index cells;\ninput A : real[3,3] over cells;\ninput s : real over cells;\n"
                       "e = energy(A, s);\nreturn e;\n"};
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    if (first != NULL)
        assert_int_equal(weft_library_add_text(library, "first.kernel.c", first, &error), WEFT_OK);
    if (weft_library_add_text(library, "second.kernel.c", second, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(weft_device_open("null", NULL, &device, &error), WEFT_OK);
    assert_int_equal(
        weft_compile(library, weft_device_limits(device), &script, 1, NULL, &compilation, &error),
        WEFT_OK);
    char *text = strdup(weft_compilation_source(compilation));
    assert_non_null(text);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    weft_library_free(&library);
    return text;
}

static void same_code(void **state) {
    (void)state;
    char *written_out = source_with(NULL, HEAD TRACE HALF "{\n    e = trace * half;\n}\n");
    static const char *const files[][2] = {
        {NULL, "//@ common trace\n" TRACE "\n//@ common half\n" HALF HEAD
               "use trace;\nuse half;\n{\n    e = trace * half;\n}\n"},
        /* of an earlier file; one that uses another; blanks */
        {"//@ common trace\n" TRACE "//@ common both\nuse trace;\n" HALF
         "//@ function other(A: real[n]) -> b: real\n//@ kind map\n//@ flops 1\n//@ source none\n"
         "//@ threads 1\nb = A(0);\n",
         HEAD "  use   both ;\n{\n    e = trace * half;\n}\n"},
        /* the newer one of a name; one that is not used */
        {NULL, "//@ common trace\nreal wrong = s;\n//@ common unused\nreal idle = sqrt(s);\n"
               "//@ common trace\n" TRACE HEAD "use trace;\n" HALF "{\n    e = trace * half;\n}\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        char *shared = source_with(files[i][0], files[i][1]);
        assert_string_equal(shared, written_out);
        free(shared);
    }
    assert_null(strstr(written_out, "idle"));
    free(written_out);
}

/* In the block where they are used, and gone behind it. */
static void scope(void **state) {
    (void)state;
    char *written_out =
        source_with(NULL, HEAD "{\n" HALF "e = half;\n}\nreal half = 2 * s;\ne += half;\n");
    char *shared =
        source_with(NULL, "//@ common half\n" HALF HEAD
                          "{\nuse half;\ne = half;\n}\nreal half = 2 * s;\ne += half;\n");
    assert_string_equal(shared, written_out);
    free(shared);
    free(written_out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_code), cmocka_unit_test(scope)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
