/* The criterion of Newton's method for each function of a mixed space. In: -R(u), the terms |diag K| u. Out: whether R is small
 * in all of them. Functions may have units of their own, so that the norm over all says nothing of those with small numbers. */
#include "fem/solve/newton_fields.h"
#include "fem/base/memory.h"
#include "fem/weft_space.h"

#include <math.h>
#include <stdlib.h>

/* Multipliers have no diagonal, so that the scale of all functions is theirs. */
static bool are_small(const weft_newton_fields *fields, double *const lists[4]) {
    for (int f = 0; f < fields->n; ++f) {
        const int64_t first = fields->first[f], n = fields->first[f + 1] - first;
        const double own = weft_norm(lists[2] + first, NULL, n);
        const double scale =
            own > 0 ? fmax(own, weft_norm(lists[0] + first, NULL, n)) : fields->scale;
        if (!(weft_norm(lists[1] + first, lists[3] ? lists[3] + first : NULL, n) <=
              fields->tolerance * scale))
            return false;
    }
    return true;
}

weft_status weft_newton_fields_small(const weft_newton_fields *fields, bool *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const memories[4] = {fields->r, fields->restricted, fields->terms,
                                      fields->is_free};
    const int64_t n = fields->first[fields->n];
    double *lists[4] = {NULL, NULL, NULL, NULL};
    for (int i = 0; i < 4; ++i) {
        lists[i] = weft_array_make((size_t)n, sizeof *lists[i]);
        if (!lists[i])
            TRY(weft_out_of_memory(error, "Newton's method"));
        TRY(weft_vector_pull(memories[i], lists[i], n, error));
    }
    *out = are_small(fields, lists);
done:
    for (int i = 0; i < 4; ++i)
        free(lists[i]);
    return status;
}
