/* labels: quick */
/* Tuned parameters of functions: a search whose times are a known function of the settings finds the least of those that the
 * constraints leave; what it stores is what compilations of the same call take, for the device, precision, sizes and class of
 * numbers of elements that it was found for, until the text of the function changes. */
#include "fusion/tune/tuned.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "tuning_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* %s: a comment, by which texts differ; rows times width must not exceed 64 */
static const char kernel[] = "//@ function  smooth(x: real[n]) -> y: real[n]\n"
                             "//@ kind      map\n"
                             "//@ parameter degree = 2\n"
                             "//@ tune      width = 4, 1, 2, 8 to 32 by 8\n"
                             "//@ parameter rows = 2\n"
                             "//@ tune      rows = 1 to 8\n"
                             "//@ where     width * rows <= 64\n"
                             "//@ where     rows <= 2 * n\n"
                             "//@ flops     n\n"
                             "//@ source    %s\n"
                             "//@ threads   1\n"
                             "for (int i = 0; i < n; ++i)\n"
                             "    y(i) = x(i);\n";
static const char script[] = "index cells;\n"
                             "input x : real[3] over cells;\n"
                             "input z : real[4] over cells;\n"
                             "y = smooth(x);\n"
                             "w = smooth(z, degree = 3);\n"
                             "v = smooth(z, degree = 3, rows = 1);\n"
                             "same = smooth(2*x);\n"
                             "u = smooth(z, width = 1, rows = 1);\n"
                             "return y, w, v, same, u;\n";

typedef struct rig {
    weft_device *device;
    weft_library *library;
    weft_tuning *tuning;
    weft_arena *arena;
    weft_error error;
    int n_measured;
    bool is_flat;
} rig;

static void rig_make(rig *r, const char *source) {
    char text[2000];
    const weft_device_options off = {.size = sizeof off,
                                     .cache = WEFT_CACHE_OFF}; /* the database is in memory */
    snprintf(text, sizeof text, kernel, source);
    memset(r, 0, sizeof *r);
    tuning_ok(weft_device_open("null", NULL, &r->device, &r->error), &r->error);
    tuning_ok(weft_library_make(&r->library, &r->error), &r->error);
    tuning_ok(weft_library_add_text(r->library, "smooth", text, &r->error), &r->error);
    tuning_ok(weft_tuning_open(&off, &r->tuning, &r->error), &r->error);
    tuning_ok(weft_arena_make(&r->arena, &r->error), &r->error);
}

static void rig_free(rig *r) {
    weft_arena_free(&r->arena);
    weft_tuning_close(&r->tuning);
    weft_library_free(&r->library);
    weft_device_free(&r->device);
}

/* Least at width 16, rows 7, which the constraints exclude; of what they leave (16 * rows <= 64, and for n = 3 rows <= 6) at width
 * 16 and rows 4. With `rows = 1` given, at width 16. */
static double seconds_of(int width, int rows) {
    return 1 + 0.1 * abs(width - 16) + 0.05 * abs(rows - 7);
}

static weft_status measure(void *user, const char *setting, double *seconds, weft_error *error) {
    rig *r = user;
    int width = 0, rows = 1;
    (void)error;
    assert_true(sscanf(setting, "width = %d, rows = %d", &width, &rows) >= 1);
    assert_true(width * rows <= 64);
    *seconds = r->is_flat ? 1 : seconds_of(width, rows);
    *seconds *= 1 + 1e-3 * (++r->n_measured * 7919 % 100) / 100; /* noise */
    return WEFT_OK;
}

static int tune(rig *r, bool single, int64_t elements, weft_tune_result **results) {
    int n = 0;
    const weft_fragment fragment = {"script", script};
    const weft_search_script searched = {r->library, &fragment, 1, NULL};
    weft_tune_options how = weft_tune_options_default();
    how.single = single;
    how.elements = elements;
    how.tuning = r->tuning;
    how.measure = measure;
    how.user = r;
    tuning_ok(weft_tune_script(r->device, &searched, &how, r->arena, results, &n, &r->error),
              &r->error);
    return n;
}

/* Does the explanation of the compiled script have this text? */
static bool explains(rig *r, const weft_library *library, bool single, int64_t elements,
                     const char *text) {
    const weft_fragment fragment = {"script", script};
    weft_compile_options options = weft_compile_options_default();
    weft_compilation *compilation = NULL;
    weft_tuned *tuned = NULL;
    weft_text out = {0};
    char identity[33];
    weft_device_identity(r->device, identity);
    tuning_ok(weft_tuned_make(r->tuning, identity, &tuned, &r->error), &r->error);
    options.tuned = weft_tuned_source_of(tuned);
    options.single = single;
    options.elements = elements;
    tuning_ok(weft_compile(library, weft_device_limits(r->device), &fragment, 1, &options,
                           &compilation, &r->error),
              &r->error);
    tuning_ok(weft_compilation_explain(compilation, &out, &r->error), &r->error);
    const bool found = strstr(out.data, text) != NULL;
    weft_text_free(&out);
    weft_compilation_free(&compilation);
    weft_tuned_free(&tuned);
    return found;
}

static void finds_the_least(void **state) {
    (void)state;
    rig r;
    weft_tune_result *results = NULL;
    rig_make(&r, "one");
    /* y and same are one kind of call; u leaves nothing open */
    assert_int_equal(tune(&r, false, 0, &results), 3);
    assert_string_equal(results[0].call, "smooth(real[3])");
    assert_string_equal(results[0].standard, "width = 4, rows = 2");
    assert_string_equal(results[0].setting, "width = 16, rows = 4");
    assert_int_equal(results[0].n_settings, 7 * 8);
    /* rows 1 to 6 with widths 4, 1, 2, 8; with 16 rows 1 to 4, with 24 and 32 rows 1 and 2 */
    assert_int_equal(results[0].n_allowed, 4 * 6 + 4 + 2 + 2);
    assert_true(results[0].seconds < 1.2 && results[0].standard_seconds > 2.4);
    assert_string_equal(results[1].call, "smooth(real[4], degree = 3)");
    assert_string_equal(results[1].setting, "width = 16, rows = 4");
    assert_string_equal(results[2].call, "smooth(real[4], degree = 3, rows = 1)");
    assert_string_equal(results[2].setting, "width = 16");
    assert_true(explains(&r, r.library, false, 0, "width = 16, rows = 4    found by weft tune"));
    assert_true(explains(&r, r.library, false, 900000, "found by weft tune")); /* the same class */
    rig_free(&r);
}

static void belongs_to_what_it_was_found_for(void **state) {
    (void)state;
    rig r, other;
    weft_tune_result *results = NULL;
    rig_make(&r, "one");
    rig_make(&other, "another text");
    assert_true(explains(&r, r.library, false, 0, "width = 4, rows = 2     not tuned"));
    assert_int_equal(tune(&r, false, 0, &results), 3);
    assert_false(explains(&r, r.library, false, 0, "not tuned"));
    assert_false(explains(&r, r.library, true, 0, "found by weft tune"));
    assert_false(explains(&r, r.library, false, 10000, "found by weft tune"));
    assert_false(explains(&r, other.library, false, 0, "found by weft tune"));
    assert_true(explains(&r, other.library, false, 0, "width = 4, rows = 2     not tuned"));
    assert_int_equal(tune(&r, true, 10000, &results), 3);
    assert_true(explains(&r, r.library, true, 10000, "found by weft tune"));
    rig_free(&other);
    rig_free(&r);
}

/* Where the times do not differ but by noise, the default stays. */
static void keeps_the_default(void **state) {
    (void)state;
    rig r;
    weft_tune_result *results = NULL;
    rig_make(&r, "one");
    r.is_flat = true;
    assert_int_equal(tune(&r, false, 0, &results), 3);
    assert_string_equal(results[0].setting, results[0].standard);
    assert_true(results[0].n_tied > 1);
    rig_free(&r);
}

/* A size for which the default is not allowed takes the first setting that is. */
static void takes_what_is_allowed(void **state) {
    (void)state;
    rig r;
    weft_text text = {0};
    weft_compilation *compilation = NULL;
    rig_make(&r, "one");
    const char *small = "index cells;\ninput x : real[1] over cells;\ny = smooth(x, width = 32);\n"
                        "z = smooth(x, rows = 2);\nreturn y, z;\n";
    const weft_fragment fragment = {"script", small};
    tuning_ok(weft_compile(r.library, weft_device_limits(r.device), &fragment, 1, NULL,
                           &compilation, &r.error),
              &r.error);
    tuning_ok(weft_compilation_explain(compilation, &text, &r.error), &r.error);
    assert_non_null(strstr(text.data, "rows = 2"));
    weft_compilation_free(&compilation);
    /* an explicit value is checked by the constraints as ever */
    const char *wrong = "index cells;\ninput x : real[1] over cells;\ny = smooth(x, rows = 3);\n"
                        "return y;\n";
    assert_int_equal(weft_compile(r.library, weft_device_limits(r.device),
                                  &(weft_fragment){"script", wrong}, 1, NULL, &compilation,
                                  &r.error),
                     WEFT_ERROR_SHAPE);
    assert_non_null(strstr(r.error.message, "needs rows <= 2 * n"));
    weft_text_free(&text);
    rig_free(&r);
}

static void refuses(const char *line, const char *message) {
    weft_library *library = NULL;
    weft_error error = {0};
    char text[1000];
    snprintf(text, sizeof text,
             "//@ function  f(x: real[n]) -> y: real[n]\n//@ kind map\n%s\n//@ flops 1\n"
             "//@ source none\n//@ threads 1\nfor (int i = 0; i < n; ++i)\n    y(i) = x(i);\n",
             line);
    tuning_ok(weft_library_make(&library, &error), &error);
    assert_int_not_equal(weft_library_add_text(library, "f", text, &error), WEFT_OK);
    if (!strstr(error.message, message))
        fail_msg("%s: %s", line, error.message);
    assert_true(error.line >= 3);
    weft_library_free(&library);
}

static void messages(void **state) {
    (void)state;
    refuses("//@ tune n = 1, 2", "'n' is in the shapes of the signature");
    refuses("//@ tune width", "expected '='");
    refuses("//@ tune width = ", "expected the parameter's value, an integer");
    refuses("//@ tune width = 1.5", "expected the parameter's value, an integer");
    refuses("//@ tune width = 4 to 1", "a range ascends");
    refuses("//@ tune width = 1 to 4 by 0", "a range ascends");
    refuses("//@ tune width = 1 to 1000", "more than 64 values");
    refuses("//@ tune width = 1, 2\n//@ tune width = 3", "'width' is tuned twice");
    refuses("//@ parameter width = 3\n//@ tune width = 1, 2", "the default of 'width', 3, is not");
    refuses("//@ tune x = 1, 2", "'x' is used twice");
    rig r;
    weft_tune_result *results = NULL;
    int n = 0;
    const weft_fragment fragment = {"script", script};
    const weft_tune_options how = weft_tune_options_default();
    rig_make(&r, "one");
    const weft_search_script searched = {r.library, &fragment, 1, NULL};
    assert_int_equal(weft_tune_script(r.device, &searched, &how, r.arena, &results, &n, &r.error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(r.error.message, "there is nothing to measure"));
    rig_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_least), cmocka_unit_test(belongs_to_what_it_was_found_for),
        cmocka_unit_test(keeps_the_default), cmocka_unit_test(takes_what_is_allowed),
        cmocka_unit_test(messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
