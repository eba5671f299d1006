/* What the files around operators share: patterns, products, conjugate gradients. Not installed. */
#ifndef WEFT_OPERATOR_INTERNAL_H
#define WEFT_OPERATOR_INTERNAL_H

#include "fem_internal.h"

/** count * size bytes for the time of one computation, not zeroed, on huge pages where the system has them;
 *  pages never written cost nothing. NULL on overflow or no memory. Free with free(). */
void *weft_scratch_make(size_t count, size_t size);

#endif
