/** Comparison of products that are computed in two ways. */
#pragma once

#include "core/weft_core.h"

/** Largest relative difference of equal products. Rounding causes about 2e-16; an asymmetric rule
 *  of degree 3 caused 2.4e-9 on a cube with 14 cells per side. */
#define WEFT_RELATIVE_DIFFERENCE_MAX 1e-12
/** Fill v [n] with pseudo-random numbers in [-1, 1). */
weft_status weft_write_synthetic(weft_memory *v, int64_t n, weft_error *error);
/** *difference = |a - b| / |a|, Euclidean norms; a, b [n] doubles on the device. */
weft_status weft_relative_difference(const weft_memory *a, const weft_memory *b, int64_t n,
                                     double *difference, weft_error *error);
