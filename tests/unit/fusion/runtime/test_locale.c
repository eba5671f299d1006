/* labels: quick */
/* A caller whose locale writes numbers with a comma gets the same source, texts and results. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "program_support.h"

#include <locale.h>

static const char *const script =
    "index n;\ninput a : real over n;\nb = 0.5*a + 1.25;\nreturn b;\n";

static char *everything_printed(const weft_compilation *compilation) {
    static const char *const prints[][2] = {
        {"script", "text"},          {"graph", "text"}, {"graph", "json"}, {"graph", "dot"},
        {"implementations", "text"}, {"cover", "text"}, {"plan", "text"},  {"plan", "json"},
        {"source", "text"}};
    weft_text text = {0};
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; ++i)
        assert_int_equal(
            weft_compilation_print(compilation, prints[i][0], prints[i][1], &text, NULL), WEFT_OK);
    assert_int_equal(weft_compilation_explain(compilation, &text, NULL), WEFT_OK);
    return text.data;
}

static char *run(double *result) {
    program_case c = case_open(NULL, "host:1", script, NULL);
    const double a = 3;
    case_size(&c, "n", 1);
    case_input(&c, "a", &a);
    case_run(&c);
    double *b = case_result(&c, "b");
    *result = b[0];
    free(b);
    char *text = everything_printed(c.compilation);
    case_close(&c);
    return text;
}

static void decimal_comma(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "de_DE.UTF-8");
    const char *const arguments[] = {"localedef", "-i", "de_DE", "-f", "UTF-8", path, NULL};
    double before = 0, after = 0;
    char *plain = run(&before), written[16];
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && test_program_exists("localedef")) {
        test_run made = test_program(arguments, NULL);
        test_run_free(&made);
        setenv("LOCPATH", folder, 1);
    }
    const bool german = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(written, sizeof written, "%.1f", 0.5);
    char *comma = run(&after);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    assert_string_equal(plain, comma);
    assert_double_near(before, 2.75, 0, 0);
    assert_double_near(after, 2.75, 0, 0);
    free(plain);
    free(comma);
    free(path);
    test_folder_remove(&folder);
    if (!german)
        skip_test("there is no locale de_DE.UTF-8, and localedef cannot make one");
    assert_string_equal(written, "0,5"); /* the caller's own locale was in force all the time */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(decimal_comma)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
