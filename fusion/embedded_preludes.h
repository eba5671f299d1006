/** Preludes of generated kernels, kernels/prelude/ *.h, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_PRELUDES_H
#define WEFT_EMBEDDED_PRELUDES_H

#include "core/embedded.h"

/** weft_embedded_preludes_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_preludes[];
extern const size_t weft_embedded_preludes_count;

#endif
