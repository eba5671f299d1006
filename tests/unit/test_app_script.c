/* labels: quick */
/* What apps read out of a script's text, and lists of expressions, without the compiler. */
#include "app_fem.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static void stripped(const char *text, const char *expected) {
    char *copy = strdup(text);
    app_script_strip(copy);
    assert_string_equal(copy, expected);
    free(copy);
}

/* Blanks take the place, so that lines and columns of the rest stay. */
static void returns_go(void **state) {
    (void)state;
    stripped("K = 1;\nreturn K, b;\nL = 2;", "K = 1;\n            \nL = 2;");
    stripped("return K;", "         ");
    stripped("return\n K;x = 1;", "      \n   x = 1;");
    stripped("# return K;\nreturned = 1;", "# return K;\nreturned = 1;");
    stripped("a = 1; return a # why\n; b = 2;", "a = 1;          # why\n  b = 2;");
    stripped("return K", "        ");
    stripped("", "");
}

static void declarations(void **state) {
    static const char text[] = "parameter d = 2, degree = 4;\n"
                               "# input u : real;\n"
                               "input x, y : real[d] over nodes;\n"
                               "input load : real;\n"
                               "u = x + d;";
    (void)state;
    assert_true(app_script_declares(text, "parameter", "d"));
    assert_true(app_script_declares(text, "parameter", "degree"));
    assert_true(app_script_declares(text, "input", "y"));
    assert_true(app_script_declares(text, "input", "load"));
    assert_false(app_script_declares(text, "input", "u"));
    assert_false(app_script_declares(text, "input", "d")); /* behind the colon */
    assert_false(app_script_declares(text, "parameter", "deg"));
    assert_false(app_script_declares("", "input", "u"));
}

static void values(void **state) {
    static const char text[] = "J = f(K);  # K = 1;\nb[dofs] += g(J);\nL=J; A[dofs, dofs] += L;\n";
    (void)state;
    assert_true(app_script_makes(text, "J"));
    assert_true(app_script_makes(text, "b"));
    assert_true(app_script_makes(text, "L"));
    assert_true(app_script_makes(text, "A"));
    assert_false(app_script_makes(text, "K"));
    assert_false(app_script_makes(text, "dofs"));
    assert_false(app_script_makes(text, "f"));
}

static void lists(void **state) {
    char **list = NULL;
    int n = 0;
    weft_error error = {0};
    (void)state;
    assert_int_equal(app_split_list("--input f", " min(x,y) , 2*x,z", &list, &n, &error), WEFT_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[0], "min(x,y)");
    assert_string_equal(list[1], "2*x");
    assert_string_equal(list[2], "z");
    app_free_list(&list, n);
    assert_null(list);
    assert_int_equal(app_split_list("--input f", "1", &list, &n, &error), WEFT_OK);
    assert_int_equal(n, 1);
    app_free_list(&list, n);
    static const char *const wrong[] = {"", " ", "1,", ",1", "1, ,2"};
    static const int columns[] = {1, 2, 3, 1, 4};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(app_split_list("--input f", wrong[i], &list, &n, &error),
                         WEFT_ERROR_USAGE);
        assert_int_equal(error.column, columns[i]);
        assert_null(list);
    }
}

static void shipped_and_files(void **state) {
    char *text = NULL, *folder = test_folder_make(), *path = test_path(folder, "own.weft");
    weft_error error = {0};
    (void)state;
    assert_int_equal(app_script_read("elasticity", &text, &error), WEFT_OK);
    assert_string_equal(text, weft_fem_script("elasticity.weft"));
    free(text);
    test_text_write(path, "K = 1;\n");
    assert_int_equal(app_script_read(path, &text, &error), WEFT_OK);
    assert_string_equal(text, "K = 1;\n");
    free(text);
    assert_int_equal(app_script_read("elastcity.weft", &text, &error), WEFT_ERROR_IO);
    assert_non_null(strstr(error.hint, "did you mean elasticity.weft?"));
    test_file_write(path, "K = 1;\0K = 2;", 13);
    assert_int_equal(app_script_read(path, &text, &error), WEFT_ERROR_INPUT);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(returns_go), cmocka_unit_test(declarations),
                                       cmocka_unit_test(values), cmocka_unit_test(lists),
                                       cmocka_unit_test(shipped_and_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
