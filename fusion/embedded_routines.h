/** The shipped rows routines, kernels/ **.rows.cu, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_ROUTINES_H
#define WEFT_EMBEDDED_ROUTINES_H

#include "core/embedded.h"

/** weft_embedded_routines_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_routines[];
extern const size_t weft_embedded_routines_count;

#endif
