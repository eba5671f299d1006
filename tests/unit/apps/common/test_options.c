/* labels: quick */
/* Options: what argp would refuse is refused in one message with the nearest name, and values are
 * read strictly with the place of the mistake. */
#include "apps/common/option_table.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {{NULL, 0, NULL, 0, "Group:", 1},
                                             {"mesh", 'm', "FILE", 0, "", 0},
                                             {"max-iterations", 1, "N", 0, "", 0},
                                             {"verbose", 'v', NULL, 0, "", 0},
                                             {"plan-file", 'p', "FILE", 0, "", 0},
                                             APP_HIDDEN_ALIAS("force"),
                                             {"strict", 's', NULL, OPTION_HIDDEN, NULL, 0},
                                             {0}};

static weft_status check(weft_error *error, int argc, ...) {
    char *argv[16] = {"program"};
    va_list list;
    va_start(list, argc);
    for (int i = 1; i <= argc; ++i)
        argv[i] = va_arg(list, char *);
    va_end(list);
    return app_options_check(options, argc + 1, argv, error);
}

static void test_known_options_pass(void **state) {
    (void)state;
    weft_error error;
    assert_int_equal(WEFT_OK, check(&error, 4, "--mesh", "--mehs", "--verbose", "-vmfile"));
    assert_int_equal(WEFT_OK, check(&error, 3, "--mesh=x", "--max", "4"));
    assert_int_equal(WEFT_OK, check(&error, 4, "-m", "-1", "--help", "file"));
    assert_int_equal(WEFT_OK, check(&error, 3, "-", "--", "--unknown"));
    assert_int_equal(WEFT_OK, check(&error, 1, "-?"));
}

static void test_unknown_options_suggest_the_nearest(void **state) {
    (void)state;
    weft_error error;
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--mehs=x"));
    assert_string_equal("unknown option '--mehs'", error.message);
    assert_non_null(strstr(error.hint, "'--mesh'"));
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--zzzzzzzzzz"));
    assert_null(strstr(error.hint, "did you mean"));
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "-x"));
    assert_string_equal("unknown option '-x'", error.message);
    /* a beginning that two options share is not an option */
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 2, "--ve", "x"));
}

/* An alias takes what its entry takes, and is not suggested. */
static void test_hidden_names(void **state) {
    (void)state;
    weft_error error;
    assert_int_equal(WEFT_OK, check(&error, 4, "--force", "--mehs", "--force=x", "--strict"));
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--force"));
    assert_string_equal("write --force FILE", error.hint);
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--strict=1"));
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--forc1"));
    assert_null(strstr(error.hint, "did you mean"));
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--stric1"));
    assert_null(strstr(error.hint, "did you mean"));
}

static void test_missing_and_unwanted_values(void **state) {
    (void)state;
    weft_error error;
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--mesh"));
    assert_string_equal("write --mesh FILE", error.hint);
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "-vm"));
    assert_string_equal("write -m FILE", error.hint);
    assert_int_equal(WEFT_ERROR_USAGE, check(&error, 1, "--verbose=2"));
    assert_string_equal("option '--verbose' takes no value", error.message);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column; /* 0: accepted */
    } cases[] = {{"1e-3", 0}, {" .5 ", 0}, {"1", 0},   {"", 1},    {"abc", 1},
                 {"1x", 2},   {"nan", 1},  {"inf", 1}, {"0x1", 2}, {"1e999", 1},
                 {"2", 1},    {"-1", 1},   {"1 2", 3}, {"0,5", 2}, {"1e-3 m", 6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        weft_error error = {0};
        double value = -7;
        weft_status status = app_parse_number("--number", cases[i].text, 0, 1, &value, &error);
        assert_int_equal(cases[i].column ? WEFT_ERROR_USAGE : WEFT_OK, status);
        assert_int_equal(cases[i].column, error.column);
        if (cases[i].column) {
            assert_string_equal("--number", error.file);
            assert_true(value == -7);
        }
    }
    double value = 0;
    assert_int_equal(WEFT_OK, app_parse_number("--number", "1e-3", 0, 1, &value, NULL));
    assert_true(value == 1e-3);
}

static void test_integers(void **state) {
    (void)state;
    int value = 0;
    weft_error error;
    assert_int_equal(WEFT_OK, app_parse_integer("--size", "1e3", 0, 5000, &value, &error));
    assert_int_equal(1000, value);
    assert_int_equal(WEFT_ERROR_USAGE, app_parse_integer("--size", "1.5", 0, 5000, &value, &error));
    assert_string_equal("expected a whole number", error.message);
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_parse_integer("--size", "5001", 0, 5000, &value, &error));
    assert_int_equal(1000, value);
}

static void test_choices(void **state) {
    (void)state;
    static const char *const names[] = {"lma", "csr", "matrix-free"};
    int value = 0;
    weft_error error;
    assert_int_equal(WEFT_OK, app_parse_choice("--a", "matrix-free", names, 3, &value, &error));
    assert_int_equal(2, value);
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_parse_choice("--a", "matrix_free", names, 3, &value, &error));
    assert_string_equal("did you mean 'matrix-free'? the values are lma, csr or matrix-free",
                        error.hint);
}

static void test_points(void **state) {
    (void)state;
    double point[3];
    int n = 0;
    weft_error error = {0};
    assert_int_equal(WEFT_OK, app_parse_point("--probe", "-0.5, 2", point, &n, &error));
    assert_int_equal(2, n);
    assert_true(point[0] == -0.5 && point[1] == 2);
    assert_int_equal(WEFT_OK, app_parse_point("--probe", "1,2,3", point, &n, &error));
    assert_int_equal(3, n);
    assert_int_equal(
        WEFT_OK, app_parse_point("--probe", "1", point, &n, &error)); /* of a mesh of intervals */
    assert_int_equal(1, n);
    static const char *const bad[] = {"", "1,", "1,2,3,4", "1;2", "a,b", "1,2 3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        error.column = 0;
        assert_int_equal(WEFT_ERROR_USAGE, app_parse_point("--probe", bad[i], point, &n, &error));
        assert_true(error.column > 0);
        assert_string_equal("--probe", error.file);
    }
}

static void test_splitting(void **state) {
    (void)state;
    char *left = NULL, *right = NULL;
    weft_error error;
    assert_int_equal(
        WEFT_OK, app_split_assignment("--o", "left wall=x=y", "GROUP=EXPR", &left, &right, &error));
    assert_string_equal("left wall", left);
    assert_string_equal("x=y", right);
    free(left);
    free(right);
    assert_int_equal(WEFT_OK,
                     app_split_comma("--o", "min(x,y),max(1,(2))", "A,B", &left, &right, &error));
    assert_string_equal("min(x,y)", left);
    assert_string_equal("max(1,(2))", right);
    free(left);
    free(right);
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_split_assignment("--o", "left", "GROUP=EXPR", &left, &right, &error));
    assert_int_equal(5, error.column);
    assert_non_null(strstr(error.hint, "physical group"));
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_split_assignment("--o", "left", "NAME=EXPR", &left, &right, &error));
    assert_string_equal("write --o NAME=EXPR", error.hint);
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_split_assignment("--o", "=1", "GROUP=EXPR", &left, &right, &error));
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_split_assignment("--o", "a= ", "GROUP=EXPR", &left, &right, &error));
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_split_comma("--o", "min(1,2)", "A,B", &left, &right, &error));
}

/* "m=file v =word", in the order of the reader's calls; an empty name refuses. */
static weft_status take(void *user, int key, const char *text, weft_error *error) {
    weft_text *taken = user;
    if (text && !text[0])
        return weft_error_set(error, WEFT_ERROR_INPUT, "refused");
    weft_text_add(taken, "%s%.*s%s%s", taken->length ? " " : "", key != ARGP_KEY_ARG, (char *)&key,
                  text ? "=" : "", text ? text : "");
    return WEFT_OK;
}

static void test_reading(void **state) {
    (void)state;
    weft_error error;
    weft_text taken = {0};
    char *good[] = {"program", "-v", "--mesh", "a", "word", "-mb", "--force", "c", "-s", NULL};
    char *refused[] = {"program", "--mesh=", "-v", NULL};
    char *unknown[] = {"program", "-v", "--mehs=a", NULL};
    assert_int_equal(WEFT_OK, app_options_parse(
                                  &(struct argp){.options = options, .args_doc = "WORD", .doc = ""},
                                  9, good, take, &taken, &error));
    assert_string_equal("v m=a m=b p=c s =word", taken.data); /* argp takes arguments last */
    taken.length = 0;
    assert_int_equal(WEFT_ERROR_INPUT,
                     app_options_parse(&(struct argp){.options = options, .doc = ""}, 3, refused,
                                       take, &taken, &error));
    assert_string_equal("refused", error.message);
    assert_int_equal(WEFT_ERROR_USAGE,
                     app_options_parse(&(struct argp){.options = options, .doc = ""}, 3, unknown,
                                       take, &taken, &error));
    assert_string_equal("unknown option '--mehs'", error.message);
    assert_int_equal(0, taken.length); /* nothing was read before that was said */
    assert_int_equal(WEFT_ERROR_USAGE, app_argument_refuse(NULL, "x", &error));
    assert_string_equal("unexpected argument 'x'", error.message);
    weft_text_free(&taken);
}

/* Each kind of row stores into its member: of the struct of its table, in the width of the member. */
static void test_tables(void **state) {
    (void)state;
    static const char *const colours[] = {"red", "green", NULL};
    typedef struct values {
        const char *text;
        double number;
        int integer, choice, flag;
        bool small_choice, small_flag, beyond;
    } values;
    static const app_option first[] = {
        {.help = "Title:"},
        {"text", "TEXT", "", 't', APP_TEXT(values, text)},
        {"number", "X", "", .former = "real", APP_NUMBER(values, number, 0, 1)},
        {"integer", "N", "", APP_INTEGER(values, integer, 1, 9)},
        {0}};
    static const app_option second[] = {
        {"choice", "NAME", "", APP_CHOICE(values, choice, colours)},
        {"small-choice", "NAME", "", APP_CHOICE(values, small_choice, colours)},
        {"flag", NULL, "", APP_FLAG(values, flag, -3)},
        {"small-flag", NULL, NULL, APP_FLAG(values, small_flag, true)},
        {0}};
    weft_error error;
    values a = {0}, b = {0};
    const app_command_line line = {
        .doc = "", .tables = {{first, &a}, {second, &b}}, .argument = app_argument_refuse};
    char *good[] = {"program",        "-t",    "word",     "--real=0.5",
                    "--integer",      "7",     "--choice", "green",
                    "--small-choice", "green", "--flag",   "--small-flag"};
    assert_int_equal(WEFT_OK, app_command_line_read(&line, 12, good, &error));
    assert_string_equal("word", a.text);
    assert_true(a.number == 0.5 && a.integer == 7 && b.choice == 1 && b.small_choice);
    assert_true(b.flag == -3 && b.small_flag && !b.beyond && !b.text && a.choice == 0);
    char *bad[] = {"program", "--integer", "10"}, *argument[] = {"program", "x"};
    assert_int_equal(WEFT_ERROR_USAGE, app_command_line_read(&line, 3, bad, &error));
    assert_string_equal("--integer", error.file);
    assert_int_equal(WEFT_ERROR_USAGE, app_command_line_read(&line, 2, argument, &error));
    assert_string_equal("unexpected argument 'x'", error.message);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_options_pass),
                                       cmocka_unit_test(test_unknown_options_suggest_the_nearest),
                                       cmocka_unit_test(test_hidden_names),
                                       cmocka_unit_test(test_missing_and_unwanted_values),
                                       cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_choices),
                                       cmocka_unit_test(test_points),
                                       cmocka_unit_test(test_splitting),
                                       cmocka_unit_test(test_reading),
                                       cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
