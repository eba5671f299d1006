/* The criterion of Newton's method for each function of a mixed space. In: -R(u), the terms |diag K| u. Out: whether R is small
 * in all of them. Functions may have units of their own, so that the norm over all says nothing of those with small numbers. */
#include "fem/solve/newton_fields.h"
#include "fem/base/memory.h"
#include "fem/base/share.h"
#include "fem/weft_space.h"

#include <math.h>
#include <stdlib.h>

/* |list| over the dofs of a function that are this rank's own, on all ranks. */
static weft_status norm_of(const weft_newton_fields *fields, int f, const double *list,
                           const double *is_free, double *out, weft_error *error) {
    const int64_t first = fields->first[f], n = fields->first[f + 1] - first;
    const unsigned char *owned = weft_share_owned(fields->share);
    return weft_owned_norm(weft_share_comm(fields->share), owned ? owned + first : NULL,
                           list + first, is_free ? is_free + first : NULL, n, out, error);
}

/* Multipliers have no diagonal, so that the scale of all functions is theirs. */
static weft_status are_small(const weft_newton_fields *fields, double *const lists[4], bool *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *out = true;
    for (int f = 0; f < fields->n && *out; ++f) {
        double own = 0, all = 0, loose = 0;
        TRY(norm_of(fields, f, lists[2], NULL, &own, error));
        TRY(norm_of(fields, f, lists[0], NULL, &all, error));
        TRY(norm_of(fields, f, lists[1], lists[3], &loose, error));
        *out = loose <= fields->tolerance * (own > 0 ? fmax(own, all) : fields->scale);
    }
done:
    return status;
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
    TRY(are_small(fields, lists, out, error));
done:
    for (int i = 0; i < 4; ++i)
        free(lists[i]);
    return status;
}
