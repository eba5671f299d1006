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

/** Component k of the value of a key of entry i of a list. */
static inline double solve_item(const json_t *root, const char *list, size_t i, const char *key,
                                size_t k) {
    return app_component(json_array_get(json_object_get(root, list), i), key, k);
}

#endif
