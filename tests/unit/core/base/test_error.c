/* labels: quick */
/* The text of an error: place, line, caret, hint; at any length and in any script of UTF-8. */
#include "core/weft_core.h"
#include "test_support.h"

#include <string.h>

static char text[4096];

static const char *text_of(const weft_error *error) {
    size_t length = weft_error_text(error, text, sizeof text);
    assert_int_equal(length, strlen(text));
    return text;
}

static void whole_form(void **state) {
    weft_error error;
    (void)state;
    assert_int_equal(weft_error_set(&error, WEFT_ERROR_SYNTAX, "expected '%c'", ';'),
                     WEFT_ERROR_SYNTAX);
    assert_string_equal(text_of(&error), "error: expected ';'");
    weft_error_location(&error, "a.weft", "index N;\nM = f(A)\nreturn M;\n", 2, 9);
    weft_error_hint(&error, "end the statement with %s", "';'");
    assert_string_equal(text_of(&error), "a.weft:2:9: error: expected ';'\n"
                                         "    M = f(A)\n"
                                         "            ^\n"
                                         "hint: end the statement with ';'");
    assert_int_equal(error.status, WEFT_ERROR_SYNTAX);
    /* A new message forgets the place and hint of the old one, and may quote it. */
    weft_error_set(&error, WEFT_ERROR_TYPE, "inside: %s", error.message);
    assert_string_equal(text_of(&error), "error: inside: expected ';'");
}

static void parts_that_are_missing(void **state) {
    weft_error error;
    (void)state;
    weft_error_set(&error, WEFT_ERROR_INPUT, "m");
    weft_error_location(&error, "f", NULL, 0, 0);
    assert_string_equal(text_of(&error), "f: error: m");
    weft_error_location(&error, "f", NULL, 3, 0);
    assert_string_equal(text_of(&error), "f:3: error: m");
    weft_error_location(&error, "f", "one\ntwo", 2, 0);
    assert_string_equal(text_of(&error), "f:2: error: m\n    two");
    weft_error_location(&error, "f", "one\ntwo", 3, 1);
    assert_string_equal(text_of(&error), "f:3:1: error: m");
    weft_error_location(&error, NULL, "x +", 1, 4);
    assert_string_equal(text_of(&error), "input:1:4: error: m\n    x +\n       ^");
    /* No error wanted: no crash. */
    assert_int_equal(weft_error_set(NULL, WEFT_ERROR_IO, "m"), WEFT_ERROR_IO);
    weft_error_location(NULL, "f", "t", 1, 1);
    weft_error_hint(NULL, "h");
    assert_int_equal(weft_error_text(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void tabs_stay_tabs(void **state) {
    weft_error error;
    (void)state;
    weft_error_set(&error, WEFT_ERROR_SYNTAX, "m");
    weft_error_location(&error, "f", "\ta\t= b;\r\n", 1, 6);
    assert_string_equal(text_of(&error), "f:1:6: error: m\n    \ta\t= b;\n    \t \t  ^");
}

static void a_character_of_several_bytes_is_one_blank(void **state) {
    weft_error error;
    (void)state;
    weft_error_set(&error, WEFT_ERROR_SYNTAX, "m");
    /* "µ = Δt·k;" : 'k' is byte 11 and character 8 */
    weft_error_location(&error, "f", "\xC2\xB5 = \xCE\x94t\xC2\xB7k;", 1, 10);
    assert_string_equal(text_of(&error),
                        "f:1:10: error: m\n    \xC2\xB5 = \xCE\x94t\xC2\xB7k;\n           ^");
}

/* Is it text in UTF-8, as far as lead and continuation bytes go? */
static bool is_utf8(const char *s) {
    while (*s) {
        unsigned char c = (unsigned char)*s++;
        int more = c < 0x80 ? 0 : c < 0xC0 ? -1 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
        if (more < 0)
            return false;
        for (; more > 0; --more)
            if (((unsigned char)*s++ & 0xC0) != 0x80)
                return false;
    }
    return true;
}

/* The character that stands above the caret. */
static char above_caret(const weft_error *error) {
    const char *whole = text_of(error), *line = strchr(whole, '\n') + 1;
    const char *caret = strchr(line, '\n') + 1;
    size_t characters = strlen(caret) - 1;
    assert_int_equal(caret[characters], '^');
    while (characters > 0) {
        ++line;
        if (((unsigned char)*line & 0xC0) != 0x80)
            --characters;
    }
    return *line;
}

static void the_caret_is_right_in_long_lines(void **state) {
    char line[2000];
    weft_error error;
    (void)state;
    for (int column = 1; column < 1500; ++column) {
        memset(line, '.', sizeof line);
        line[column - 1] = '#';
        line[1600] = '\0';
        weft_error_set(&error, WEFT_ERROR_SYNTAX, "m");
        weft_error_location(&error, "f", line, 1, column);
        assert_int_equal(above_caret(&error), '#');
    }
    /* with two-byte characters, whose halves fall on every cut */
    for (int column = 1; column < 1200; ++column) {
        for (int i = 0; i < 1998; ++i)
            line[i] = (i - column + 1) % 2 != 0 ? '\xA9' : '\xC3';
        if (column % 2 == 0)
            line[0] = 'x';
        line[column - 1] = '#';
        line[column] = '#';
        line[1990 - column % 2] = '\0';
        weft_error_set(&error, WEFT_ERROR_SYNTAX, "m");
        weft_error_location(&error, "f", line, 1, column);
        assert_int_equal(above_caret(&error), '#');
        assert_true(is_utf8(error.source_line));
    }
}

static void what_is_too_long_is_cut_and_marked(void **state) {
    weft_error error;
    char longer[5000];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof longer; ++i)
        longer[i] = i % 2 ? '\xA9' : '\xC3';
    longer[sizeof longer - 1] = '\0';
    longer[sizeof longer - 2] = '\0';
    for (int shift = 0; shift < 2; ++shift) {
        weft_error_set(&error, WEFT_ERROR_IO, "%s%s", shift ? "x" : "", longer);
        weft_error_hint(&error, "%s", longer);
        weft_error_location(&error, longer, NULL, 0, 0);
        assert_true(is_utf8(error.message) && is_utf8(error.hint) && is_utf8(error.file));
        assert_true(strlen(error.message) >= sizeof error.message - 3);
        assert_string_equal(error.message + strlen(error.message) - 3, "...");
    }
}

static void a_small_buffer_gets_a_terminated_part(void **state) {
    weft_error error;
    char small[32];
    (void)state;
    weft_error_set(&error, WEFT_ERROR_IO, "a message");
    size_t whole = strlen("error: a message");
    for (size_t size = 1; size < sizeof small; ++size) {
        memset(small, '?', sizeof small);
        assert_int_equal(weft_error_text(&error, small, size), whole);
        assert_int_equal(strlen(small), whole < size ? whole : size - 1);
        assert_memory_equal(small, "error: a message", strlen(small));
        assert_int_equal(small[size], '?');
    }
    assert_int_equal(weft_error_text(&error, NULL, 0), whole);
}

/* A group's name, or what Gmsh quotes of a file, may hold anything. */
static void nothing_steers_the_terminal(void **state) {
    weft_error error;
    (void)state;
    weft_error_set(&error, WEFT_ERROR_INPUT, "no group \033[31mred\r\n\tand \xc3\xa9");
    weft_error_location(&error, "a\033.msh", NULL, 0, 0);
    weft_error_hint(&error, "try \x7f");
    assert_string_equal(text_of(&error),
                        "a?.msh: error: no group ?[31mred?\n\tand \xc3\xa9\nhint: try ?");
}

static void exit_codes(void **state) {
    (void)state;
    assert_int_equal(weft_status_exit_code(WEFT_OK), 0);
    for (int status = WEFT_ERROR_USAGE; status <= WEFT_ERROR_UNSUPPORTED; ++status)
        assert_int_equal(weft_status_exit_code((weft_status)status), 2);
    for (int status = WEFT_ERROR_MEMORY; status <= WEFT_ERROR_INTERNAL; ++status)
        assert_int_equal(weft_status_exit_code((weft_status)status), 3);
    assert_string_equal(weft_status_name(WEFT_ERROR_COMPILER), "compiler");
}

/* A name with a line feed begins no line of its own; what follows a line feed of the format may. */
static void line_feeds_of_names(void **state) {
    (void)state;
    weft_error error = {0};
    static const char name[] = "a\nerror: \x1b[31mb\rc\x7f";
    weft_error_set(&error, WEFT_ERROR_INPUT, "no group `%s`", name);
    weft_error_location(&error, "f\nerror: g", NULL, 0, 0);
    weft_error_hint(&error, "it has %s,\tc", name);
    assert_string_equal(text_of(&error), "f?error: g: error: no group `a?error: ?[31mb?c?`\n"
                                         "hint: it has a?error: ?[31mb?c?,\tc");
    weft_error_set(&error, WEFT_ERROR_COMPILER, "%s", name);
    assert_string_equal(error.message, "a?error: ?[31mb?c?");
    weft_error_set(&error, WEFT_ERROR_COMPILER, "%s refused %d%%:\n%s", name, 3,
                   "line 1\nline 2\a");
    assert_string_equal(text_of(&error), "error: a?error: ?[31mb?c? refused 3%:\nline 1\nline 2?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_feeds_of_names),
        cmocka_unit_test(whole_form),
        cmocka_unit_test(parts_that_are_missing),
        cmocka_unit_test(tabs_stay_tabs),
        cmocka_unit_test(a_character_of_several_bytes_is_one_blank),
        cmocka_unit_test(the_caret_is_right_in_long_lines),
        cmocka_unit_test(what_is_too_long_is_cut_and_marked),
        cmocka_unit_test(a_small_buffer_gets_a_terminated_part),
        cmocka_unit_test(nothing_steers_the_terminal),
        cmocka_unit_test(exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
