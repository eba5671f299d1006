/* labels: quick */
/* Lists of expressions in options, split without the compiler. */
#include "apps/common/fem.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static void lists(void **state) {
    char **list = NULL;
    int n = 0;
    weft_error error = {0};
    (void)state;
    assert_int_equal(weft_formula_split("--input f", " min(x,y) , 2*x,z", &list, &n, &error),
                     WEFT_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[0], "min(x,y)");
    assert_string_equal(list[1], "2*x");
    assert_string_equal(list[2], "z");
    weft_formula_list_free(&list, n);
    assert_null(list);
    assert_int_equal(weft_formula_split("--input f", "1", &list, &n, &error), WEFT_OK);
    assert_int_equal(n, 1);
    weft_formula_list_free(&list, n);
    static const char *const wrong[] = {"", " ", "1,", ",1", "1, ,2"};
    static const int columns[] = {1, 2, 3, 1, 4};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(weft_formula_split("--input f", wrong[i], &list, &n, &error),
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists),
                                       cmocka_unit_test(shipped_and_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
