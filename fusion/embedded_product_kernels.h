/** The shipped product kernels, kernels/ **.product.cu, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_PRODUCT_KERNELS_H
#define WEFT_EMBEDDED_PRODUCT_KERNELS_H

#include "core/embedded.h"

/** weft_embedded_product_kernels_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_product_kernels[];
extern const size_t weft_embedded_product_kernels_count;

#endif
