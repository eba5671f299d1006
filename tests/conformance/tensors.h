/** Compares the tensors of compiled integrals with those that FFCx computed for random cells. */
#pragma once

#include "forms/weft_ufl.h"

#include <jansson.h>

typedef enum tensor_outcome {
    TENSOR_MATCHED,
    TENSOR_UNSUPPORTED, /* not compiled */
    TENSOR_WRONG,
    TENSOR_UNKNOWN /* no samples, or samples whose quadrature points only FFCx has */
} tensor_outcome;

/** Compile all integrals of a form that have the type and id of one of the oracle's, and compare.
 *  what  why they differ, or what is not supported */
tensor_outcome tensors_compare(weft_device *device, weft_ufl *ufl, int form, const json_t *expected,
                               char *what, size_t size);
