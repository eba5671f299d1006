/** Sums and products of vectors, by kernels. In: vectors on a device. Out: another, or a number. */
#pragma once

#include "fem/form/form.h"
#include "fusion/weft_share.h"

enum { WEFT_TERMS_MAX = 8 }; /* those of a stage, fem/time/scheme.h */
/** Terms of a sum of vectors. Start from {0}. */
typedef struct weft_terms {
    double factor[WEFT_TERMS_MAX];
    weft_memory *vector[WEFT_TERMS_MAX];
    int n;
} weft_terms;
/** Append factor * vector; nothing if the factor is 0. */
void weft_terms_add(weft_terms *terms, double factor, weft_memory *vector);

/** Programs for vectors of one length, each compiled at first use. Start from {0} with context, n and share. */
typedef struct weft_vector_programs {
    weft_context *context;
    int64_t n;
    const weft_share *share; /* whose entries products and norms count; borrowed; NULL: all */
    weft_compiled sums[WEFT_TERMS_MAX];
    weft_memory *factors[WEFT_TERMS_MAX]; /* [i + 1] numbers */
    weft_compiled product, addition, norms, scaled, along, masked;
} weft_vector_programs;
void weft_vectors_clear(weft_vector_programs *vectors);
/** out = the sum of at least one term; out is none of the vectors. */
weft_status weft_vectors_sum(weft_vector_programs *vectors, const weft_terms *terms,
                             weft_memory *out, weft_error *error);
/** y = y + x */
weft_status weft_vectors_add(weft_vector_programs *vectors, weft_memory *y, weft_memory *x,
                             weft_error *error);
/** y = mask*x, entry by entry */
weft_status weft_vectors_mask(weft_vector_programs *vectors, weft_memory *x, weft_memory *mask,
                              weft_memory *y, weft_error *error);
/** norms[0] = |r|, norms[1] the norm of the part where is_free is 1, elsewhere 0. No square overflows or
 *  underflows, here and in the two that follow; an entry that is not finite gives NaN. */
weft_status weft_vectors_norms(weft_vector_programs *vectors, weft_memory *r, weft_memory *is_free,
                               double norms[2], weft_error *error);
/** norms[0] = sqrt(sum of r^2/|d|) where is_free is 1 and d is not 0, norms[1] = sqrt(sum of |d| u^2), norms[2] = |r|
 *  where is_free is 1 and d is 0 */
weft_status weft_vectors_scaled(weft_vector_programs *vectors, weft_memory *r, weft_memory *u,
                                weft_memory *d, weft_memory *is_free, double norms[3],
                                weft_error *error);
/** *out = a.b/max |b|, or 0 for b = 0 */
weft_status weft_vectors_along(weft_vector_programs *vectors, weft_memory *a, weft_memory *b,
                               double *out, weft_error *error);
/** *out = a.b */
weft_status weft_vectors_product(weft_vector_programs *vectors, weft_memory *a, weft_memory *b,
                                 double *out, weft_error *error);
