/* The criterion of Newton's method for each function of a mixed space. In: -R(u), the terms |diag K| u. Out: whether R is small
 * in all of them. Functions may have units of their own, so that the norm over all says nothing of those with small numbers. */
#include "fem/solve/newton_fields.h"
#include "fem/base/memory.h"
#include "fem/weft_space.h"

#include <math.h>
#include <stdlib.h>

/* The norm of entries first .. last - 1, or of those of them where is_free is not 0. */
static double norm(const double *x, const double *is_free, int64_t first, int64_t last) {
    double most = 0, sum = 0;
    for (int64_t i = first; i < last; ++i)
        if (!is_free || is_free[i] != 0)
            most = fmax(most, fabs(x[i]));
    for (int64_t i = first; i < last && most > 0; ++i)
        if (!is_free || is_free[i] != 0)
            sum += x[i] / most * (x[i] / most);
    return most * sqrt(sum);
}

/* Multipliers have no diagonal, so that the scale of all functions is theirs. */
static bool are_small(const weft_newton_fields *fields, double *const lists[4]) {
    for (int f = 0; f < fields->n; ++f) {
        const int64_t first = fields->first[f], last = fields->first[f + 1];
        const double own = norm(lists[2], NULL, first, last);
        const double scale = own > 0 ? fmax(own, norm(lists[0], NULL, first, last)) : fields->scale;
        if (!(norm(lists[1], lists[3], first, last) <= fields->tolerance * scale))
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
