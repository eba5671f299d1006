/* labels: quick */
#include "core/weft_core.h"
#include "fusion/script/private.h"
#include "fusion/script/script.h"
#include "fusion/script/tokens.h"
#include "test_support.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct token_case {
    weft_arena *arena;
    weft_source source;
    weft_token *tokens;
    int n;
    weft_status status;
    weft_error error;
} token_case;

/* The source must outlive the tokens, so that it stands in the caller's variable. */
static void tokens_read(token_case *read, const char *text) {
    *read = (token_case){.source = {"test", text}};
    assert_int_equal(weft_arena_make(&read->arena, NULL), WEFT_OK);
    read->status =
        weft_tokens_make(read->arena, &read->source, &read->tokens, &read->n, &read->error);
}

static void assert_token(const weft_token *token, weft_token_kind kind, const char *text, int line,
                         int column) {
    assert_int_equal(token->kind, kind);
    assert_string_equal(token->text, text);
    assert_int_equal(token->place.line, line);
    assert_int_equal(token->place.column, column);
}

static void kinds_and_places(void **state) {
    (void)state;
    token_case read;
    tokens_read(&read, "b[dofs] += K_1*2.5; # b += 1\r\n\tdofs : a->b\n");
    assert_int_equal(read.status, WEFT_OK);
    assert_int_equal(read.n, 15);
    const weft_token *t = read.tokens;
    assert_token(&t[0], TOKEN_NAME, "b", 1, 1);
    assert_token(&t[1], TOKEN_SYMBOL, "[", 1, 2);
    assert_token(&t[2], TOKEN_NAME, "dofs", 1, 3);
    assert_token(&t[3], TOKEN_SYMBOL, "]", 1, 7);
    assert_token(&t[4], TOKEN_SYMBOL, "+=", 1, 9);
    assert_token(&t[5], TOKEN_NAME, "K_1", 1, 12);
    assert_token(&t[6], TOKEN_SYMBOL, "*", 1, 15);
    assert_token(&t[7], TOKEN_NUMBER, "2.5", 1, 16);
    assert_token(&t[8], TOKEN_SYMBOL, ";", 1, 19);
    assert_token(&t[9], TOKEN_NAME, "dofs", 2, 2);
    assert_token(&t[10], TOKEN_SYMBOL, ":", 2, 7);
    assert_token(&t[11], TOKEN_NAME, "a", 2, 9);
    assert_token(&t[12], TOKEN_SYMBOL, "->", 2, 10);
    assert_token(&t[13], TOKEN_NAME, "b", 2, 12);
    assert_token(&t[14], TOKEN_END, "", 3, 1);
    assert_ptr_equal(t[0].place.source, &read.source);
    weft_arena_free(&read.arena);
}

static void nothing_but_the_end(void **state) {
    (void)state;
    const char *const empty[] = {"", "  \t\r\n", "# only a comment", "\xEF\xBB\xBF", "# \xC3\xA9"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; ++i) {
        token_case read;
        tokens_read(&read, empty[i]);
        assert_int_equal(read.status, WEFT_OK);
        assert_int_equal(read.n, 1);
        assert_int_equal(read.tokens[0].kind, TOKEN_END);
        weft_arena_free(&read.arena);
    }
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        bool integer;
    } cases[] = {
        {"0", 0.0, true},
        {"007", 7.0, true},
        {"2147483648", 2147483648.0, true},
        {"1.5", 1.5, false},
        {".5", 0.5, false},
        {"1.", 1.0, false},
        {"1e3", 1000.0, false},
        {"1E+3", 1000.0, false},
        {"2.5e-1", 0.25, false},
        {"1.e2", 100.0, false},
        {".5e1", 5.0, false},
        {"1e-400", 0.0, false},
        {"0.1", 0.1, false},
        {"4.9e-324", 4.9e-324, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        token_case read;
        tokens_read(&read, cases[i].text);
        assert_int_equal(read.status, WEFT_OK);
        assert_int_equal(read.n, 2);
        assert_int_equal(read.tokens[0].kind, TOKEN_NUMBER);
        assert_double_near(read.tokens[0].number, cases[i].value, 0.0, 0.0);
        assert_int_equal(read.tokens[0].integer, cases[i].integer);
        weft_arena_free(&read.arena);
    }
}

/* A decimal comma of the process changes nothing. Any such locale that is installed serves. */
static void numbers_in_any_locale(void **state) {
    (void)state;
    const char *const names[] = {"de_DE.UTF-8", "cs_CZ.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !set; ++i)
        set = setlocale(LC_ALL, names[i]);
    if (!set || strcmp(localeconv()->decimal_point, ",") != 0)
        skip_test("no locale with a decimal comma is installed");
    token_case read;
    tokens_read(&read, "1.5");
    setlocale(LC_ALL, "C");
    assert_int_equal(read.status, WEFT_OK);
    assert_double_near(read.tokens[0].number, 1.5, 0.0, 0.0);
    weft_arena_free(&read.arena);
}

static void assert_bad(const char *text, int line, int column, const char *message) {
    token_case read;
    tokens_read(&read, text);
    assert_int_equal(read.status, WEFT_ERROR_SYNTAX);
    assert_string_equal(read.error.message, message);
    assert_int_equal(read.error.line, line);
    assert_int_equal(read.error.column, column);
    assert_string_equal(read.error.file, "test");
    weft_arena_free(&read.arena);
}

static void bad_texts(void **state) {
    (void)state;
    assert_bad("a = 1 @ 2", 1, 7, "'@' has no meaning here");
    assert_bad("a =\n  \xC3\xA9", 2, 3, "'\xC3\xA9': outside comments only ASCII is allowed");
    assert_bad("a \xFF", 1, 3, "byte 0xFF: outside comments only ASCII is allowed");
    assert_bad("a \xC3", 1, 3, "byte 0xC3: outside comments only ASCII is allowed");
    assert_bad("a \x01", 1, 3, "control character 0x01 in the text");
    assert_bad("0x10", 1, 1, "'0x10' is not a number");
    assert_bad("1.2.3", 1, 1, "'1.2.3' is not a number");
    assert_bad("1e+", 1, 1, "'1e' is not a number");
    assert_bad("2x", 1, 1, "'2x' is not a number");
    assert_bad("1e999", 1, 1, "'1e999' is too large for a double");
    assert_bad("x**2", 1, 2, "'**' has no meaning here");
    assert_bad(".", 1, 1, "'.' has no meaning here");
}

/* A name with a line feed begins no line of its own. */
static void line_feeds_of_names(void **state) {
    (void)state;
    weft_error error = {0};
    const weft_source source = {"test", "a"};
    assert_int_equal(weft_error_at(&error, WEFT_ERROR_INPUT, (weft_location){&source, 1, 1},
                                   "no table '%s':\n%s", "b\nerror: c", "d\ne"),
                     WEFT_ERROR_INPUT);
    assert_string_equal(error.message, "no table 'b?error: c':\nd\ne");
    assert_int_equal(error.column, 1);
    assert_int_equal(weft_error_at(NULL, WEFT_ERROR_INPUT, (weft_location){0}, "no"),
                     WEFT_ERROR_INPUT);
}

static void limits(void **state) {
    (void)state;
    char name[WEFT_NAME_MAX + 2];
    memset(name, 'a', sizeof name);
    name[WEFT_NAME_MAX] = '\0';
    token_case read;
    tokens_read(&read, name);
    assert_int_equal(read.status, WEFT_OK);
    weft_arena_free(&read.arena);
    name[WEFT_NAME_MAX] = 'a';
    name[WEFT_NAME_MAX + 1] = '\0';
    assert_bad(name, 1, 1, "this name has 64 characters, and 63 are allowed");

    char *text = malloc(WEFT_TEXT_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', WEFT_TEXT_MAX + 1);
    text[WEFT_TEXT_MAX + 1] = '\0';
    tokens_read(&read, text);
    assert_int_equal(read.status, WEFT_ERROR_SYNTAX);
    assert_string_equal(read.error.message, "test: the text is longer than 256 KiB");
    weft_arena_free(&read.arena);
    text[WEFT_TEXT_MAX] = '\0';
    tokens_read(&read, text);
    assert_int_equal(read.status, WEFT_OK);
    weft_arena_free(&read.arena);
    free(text);
}

static void printed_as_a_table(void **state) {
    (void)state;
    token_case read;
    tokens_read(&read, "a = 1.5;");
    weft_text text = {0};
    weft_tokens_print(read.tokens, read.n, &text);
    assert_string_equal(text.data, "    1:1    name   a\n"
                                   "    1:3    symbol =\n"
                                   "    1:5    number 1.5\n"
                                   "    1:8    symbol ;\n"
                                   "    1:9    end    \n");
    weft_text_free(&text);
    weft_arena_free(&read.arena);
}

/* A message of any length, an error that is not wanted and a place that is not known. */
static void error_at(void **state) {
    (void)state;
    const weft_source source = {"file.weft", "one\ntwo\n"};
    weft_error error = {0};
    assert_int_equal(
        weft_error_at(&error, WEFT_ERROR_TYPE, (weft_location){&source, 2, 2}, "%s %d", "text", 3),
        WEFT_ERROR_TYPE);
    assert_string_equal(error.message, "text 3");
    assert_string_equal(error.file, "file.weft");
    assert_string_equal(error.source_line, "two");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 2);
    weft_error_at(&error, WEFT_ERROR_TYPE, (weft_location){0}, "%5000s", "long");
    assert_true(strlen(error.message) < sizeof error.message);
    assert_int_equal(error.line, 0);
    assert_int_equal(weft_error_at(NULL, WEFT_ERROR_SHAPE, (weft_location){&source, 1, 1}, "x"),
                     WEFT_ERROR_SHAPE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_places), cmocka_unit_test(nothing_but_the_end),
        cmocka_unit_test(numbers),          cmocka_unit_test(numbers_in_any_locale),
        cmocka_unit_test(bad_texts),        cmocka_unit_test(line_feeds_of_names),
        cmocka_unit_test(limits),           cmocka_unit_test(printed_as_a_table),
        cmocka_unit_test(error_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
