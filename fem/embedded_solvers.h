/** The shipped solvers in CUDA, kernels/solvers/ *.cu, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_SOLVERS_H
#define WEFT_EMBEDDED_SOLVERS_H

#include "core/embedded.h"

/** weft_embedded_solvers_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_solvers[];
extern const size_t weft_embedded_solvers_count;

#endif
