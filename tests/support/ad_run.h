/** Running the app advection_diffusion from a test and looking at its JSON. */
#ifndef AD_RUN_H
#define AD_RUN_H

#include "app_run.h"

#define AD(exit_code, ...)                                                                         \
    app_solve("advection_diffusion", (exit_code), (const char *const[]){__VA_ARGS__, NULL})

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
        apart = fmax(apart, fabs(app_number(json_array_get(of_a, i), "u") -
                                 app_number(json_array_get(of_b, i), "u")));
    return apart;
}

#endif
