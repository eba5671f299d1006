/** Comparison of products that are computed in two ways. */
#pragma once

#include "core/weft_core.h"

/** Largest relative difference of equal products. Rounding causes about 2e-16; an asymmetric rule
 *  of degree 3 caused 2.4e-9 on a cube with 14 cells per side. */
#define WEFT_RELATIVE_DIFFERENCE_MAX 1e-12
/** Fill v [n] with pseudo-random numbers in [-1, 1). */
weft_status weft_write_synthetic(weft_device *device, weft_memory *v, int64_t n, weft_error *error);
/** *difference = |a - b| / |a|, Euclidean norms; a, b [n] doubles on the device. */
weft_status weft_relative_difference(weft_device *device, weft_memory *a, weft_memory *b, int64_t n,
                                     double *difference, weft_error *error);

/** y = A v, computed in the way `which`, 0 or 1. */
typedef weft_status (*weft_product_way)(void *user, int which, weft_memory *v, weft_memory *y,
                                        weft_error *error);
/** Compute a product with a synthetic vector in both ways, and compare.
 *  good    true: they agree to rounding
 *  why     if not, gets the reason: they differ, or one is WEFT_ERROR_UNSUPPORTED
 *  Errors  the other errors of `way`; WEFT_ERROR_MEMORY */
weft_status weft_products_agree(weft_device *device, int64_t n, weft_product_way way, void *user,
                                bool *good, weft_error *why, weft_error *error);
/** Whether a status is WEFT_ERROR_UNSUPPORTED, which leads to another method: returns WEFT_OK and
 *  sets *unsupported. Other errors are returned, and `why` is copied to *error. */
weft_status weft_status_supported(weft_status status, const weft_error *why, bool *unsupported,
                                  weft_error *error);
