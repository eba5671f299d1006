/** The shipped elementary functions, kernels/ **.kernel.c, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_KERNELS_H
#define WEFT_EMBEDDED_KERNELS_H

#include "core/embedded.h"

/** weft_embedded_kernels_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_kernels[];
extern const size_t weft_embedded_kernels_count;

#endif
