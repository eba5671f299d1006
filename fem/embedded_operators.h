/** CUDA text of the operators, kernels/operators/ *.cu, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_OPERATORS_H
#define WEFT_EMBEDDED_OPERATORS_H

#include "core/embedded.h"

/** weft_embedded_operators_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_operators[];
extern const size_t weft_embedded_operators_count;

#endif
