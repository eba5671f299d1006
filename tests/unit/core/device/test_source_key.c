/* labels: quick */
/* Keys of generated sources: comments do not count, everything else does. */
#include "core/device/source.h"
#include "test_support.h"

#include <string.h>

static void key_of(const char *source, char out[33]) {
    weft_error error;
    assert_int_equal(weft_source_key("maker", source, out, &error), WEFT_OK);
}

static bool are_one(const char *a, const char *b) {
    char keys[2][33];
    key_of(a, keys[0]);
    key_of(b, keys[1]);
    return strcmp(keys[0], keys[1]) == 0;
}

static void comments_do_not_count(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"/* a.ufl:3  y = x */\nx = 1;", "/* ../b.ufl:14  y = 2*x */\nx = 1;"},
        {"x = 1; // one\ny = 2;", "x = 1; // two */ \" '\ny = 2;"},
        {"/* ' */ x = '\"'; /* \" */", "/* * / */ x = '\"'; /**/"},
        {"x = 1; // a \\\n b\ny", "x = 1; // c \\\n d\ny"},
        {"x /* not ended", "x /* not ended either"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
        if (!are_one(same[i][0], same[i][1]))
            fail_msg("%s\nand\n%s\nhave two keys", same[i][0], same[i][1]);
}

static void all_else_counts(void **state) {
    (void)state;
    static const char *const other[][2] = {
        {"x = 1;", "x = 2;"},
        {"x = 1;", "x  = 1;"},
        {"x = a / b;", "x = a / c;"},
        {"s = \"/* a */\";", "s = \"/* b */\";"},
        {"s = \"\\\"/* a */\";", "s = \"\\\"/* b */\";"},
        {"c = '\"'; s = \"/* a */\";", "c = '\"'; s = \"/* b */\";"},
        {"s = R\"(\" /* a */ \")\";", "s = R\"(\" /* b */ \")\";"},
        {"a/**/b", "a b"},
        {"#define X /* a\n */ 3\n", "#define X /* a */\n 3\n"}, /* lines count */
        {"/* a */ x /* b */", "/* a x b */"},
        {"// a \\\nx = 1;", "// a\nx = 1;"},
        {"don't /* a\n*/ x = 1;", "don't /* a\n*/ x = 2;"},
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i)
        if (are_one(other[i][0], other[i][1]))
            fail_msg("%s\nand\n%s\nhave one key", other[i][0], other[i][1]);
    weft_error error;
    char keys[2][33];
    assert_int_equal(weft_source_key("avx2", "x", keys[0], &error), WEFT_OK);
    assert_int_equal(weft_source_key("avx512", "x", keys[1], &error), WEFT_OK);
    assert_string_not_equal(keys[0], keys[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_do_not_count),
        cmocka_unit_test(all_else_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
