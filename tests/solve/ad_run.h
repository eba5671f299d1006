/** Running the app advection_diffusion from a test and looking at its JSON. */
#ifndef AD_RUN_H
#define AD_RUN_H

#include "test_support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AD_ARGUMENTS_MAX = 64, AD_PROBES = 4 };

/** Run it with these arguments, NULL at the end, and --json -; the test fails, showing stderr,
 * where the exit code is another. The caller's: json_decref. */
static inline json_t *ad_solve(int exit_code, const char *const *arguments) {
    const char *command[AD_ARGUMENTS_MAX + 4] = {WEFT_BINARY_DIR "/advection_diffusion", "--json",
                                                 "-"};
    int n = 3;
    for (int i = 0; arguments[i]; ++i) {
        assert_true(n < AD_ARGUMENTS_MAX + 3);
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
#define AD(exit_code, ...) ad_solve((exit_code), (const char *const[]){__VA_ARGS__, NULL})

/** A number; the test fails where it is missing or null. */
static inline double ad_number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        print_error("%s is no number\n", key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/** Entry i of the series, from the end where i is negative: -1 is the last. */
static inline const json_t *ad_entry(const json_t *root, int i) {
    const json_t *series = json_object_get(root, "series");
    const size_t n = json_array_size(series);
    const json_t *entry = json_array_get(series, i < 0 ? n - (size_t)-i : (size_t)i);
    assert_non_null(entry);
    return entry;
}

/** The largest difference of the last values at the probes. */
static inline double ad_apart(const json_t *a, const json_t *b) {
    const json_t *of_a = json_object_get(a, "probes"), *of_b = json_object_get(b, "probes");
    double apart = 0;
    assert_true(json_array_size(of_a) > 0);
    for (size_t i = 0; i < json_array_size(of_a); ++i)
        apart = fmax(apart, fabs(ad_number(json_array_get(of_a, i), "u") -
                                 ad_number(json_array_get(of_b, i), "u")));
    return apart;
}

#endif
