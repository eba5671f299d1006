/** Product kernels (kernels/operators/NAME.product.cu) as kernels of their own, with nothing fused
 *  to them. Not installed. */
#pragma once

#include "fem/weft_fem.h"

typedef struct weft_standalone {
    const char *name;   /* NAME */
    int threads, nodes; /* of a block */
    int blocks;         /* resident on a multiprocessor; 0: any number */
} weft_standalone;

/** Append the source of NAME.product.cu and NAME.support.cu, with the body of the product in place
 *  of the latter's line `//@ body`.
 *  multiprocessors  of the device
 *  Errors           WEFT_ERROR_INTERNAL (no such kernel), WEFT_ERROR_MEMORY */
weft_status weft_standalone_source(const weft_standalone *kernel, int multiprocessors,
                                   weft_text *text, weft_error *error);
