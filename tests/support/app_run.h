/** Running an app from a test and looking at its JSON. */
#ifndef APP_RUN_H
#define APP_RUN_H

#include "test_support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APP_ARGUMENTS_MAX = 64 };

/** Run a program of the build with these arguments, NULL at the end, and --json -; the test fails,
 * showing stderr, where the exit code is another. The caller's: json_decref. */
static inline json_t *app_solve(const char *program, int exit_code, const char *const *arguments) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", WEFT_BINARY_DIR, program);
    const char *command[APP_ARGUMENTS_MAX + 4] = {path, "--json", "-"};
    int n = 3;
    for (int i = 0; arguments[i]; ++i) {
        assert_true(n < APP_ARGUMENTS_MAX + 3);
        command[n++] = arguments[i];
    }
    test_run run = test_program(command, NULL);
    if (run.exit_code != exit_code) {
        print_error("exit %d, expected %d:", run.exit_code, exit_code);
        for (int i = 0; i < n; ++i)
            print_error(" %s", command[i]);
        print_error("\n%s\n", run.error);
        fail();
    }
    json_error_t error;
    json_t *root = json_loads(run.output, 0, &error);
    if (!root)
        print_error("%s at line %d of\n%s\n", error.text, error.line, run.output);
    assert_non_null(root);
    test_run_free(&run);
    return root;
}

/** A number of an object; the test fails where it is missing or null. */
static inline double app_number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        print_error("%s is not a number\n", key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/** Component k of a number or a list of numbers; the test fails where it is missing or null. */
static inline double app_component(const json_t *object, const char *key, size_t k) {
    const json_t *value = json_object_get(object, key);
    value = json_is_array(value) ? json_array_get(value, k) : value;
    if (!json_is_number(value))
        fail_msg("%s has no component %zu that is a number", key, k);
    return json_number_value(value);
}

/** The value at probe i. */
static inline double app_probe_value(const json_t *root, size_t i) {
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "probes"), i), "u");
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static inline const char *app_text(const json_t *root, const char *key) {
    const char *text = json_string_value(json_object_get(root, key));
    assert_non_null(text);
    return text;
}

#endif
