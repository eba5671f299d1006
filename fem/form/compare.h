/** Comparing two ways to compute the same product. */
#pragma once

#include "core/weft_core.h"

/** Rounding apart (some 2e-16), products computed in two ways give the same; against the product's
 * norm. A rule of degree 3 that is not symmetric was 2.4e-9 apart on a cube of 14 cells a side. */
#define WEFT_RELATIVE_DIFFERENCE_MAX 1e-12
/** Numbers between -1 and 1 that look random; v [n]. */
weft_status weft_write_synthetic(weft_memory *v, int64_t n, weft_error *error);
/** How far two vectors on the device are apart, against the first. */
weft_status weft_relative_difference(const weft_memory *a, const weft_memory *b, int64_t n,
                                     double *difference, weft_error *error);
