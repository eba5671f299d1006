/** Running the app solve from a test and looking at its JSON, with what poisson_run.h has. */
#ifndef SOLVE_RUN_H
#define SOLVE_RUN_H

#include "poisson_run.h"

#define SOLVE(exit_code, ...)                                                                      \
    app_solve("solve", (exit_code), (const char *const[]){__VA_ARGS__, NULL})

static inline void expect(double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", found, wanted, tolerance);
}

/** A number of entry i of a list: the value of a key, or component k where that is a list. */
static inline double solve_item(const json_t *root, const char *list, size_t i, const char *key,
                                size_t k) {
    const json_t *value = json_object_get(json_array_get(json_object_get(root, list), i), key);
    return json_number_value(json_is_array(value) ? json_array_get(value, k) : value);
}

#endif
