/** Operators from dense matrices, and right-hand sides and solutions on a host device, for tests of
 *  solvers. */
#pragma once

#include "fem/operator/operator.h"
#include "fem/weft_fem.h"

/** A matrix, row by row. diagonal: what the operator reports as its diagonal; NULL: that of A. */
typedef struct dense {
    const double *A;
    const double *diagonal;
    int64_t n;
} dense;
/** The operator of a matrix, which is borrowed. */
weft_operator dense_operator(const dense *matrix);

/** A context on a device, with b and x of n zeros. */
typedef struct setting {
    weft_device *device;
    weft_context context;
    weft_memory *b, *x;
    double *b_values, *x_values;
} setting;
setting setting_make(const char *device, weft_library *library, int64_t n);
void setting_free(setting *s);
