/** The shipped procedures of scripts, kernels/procedures/ *.weft, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_PROCEDURES_H
#define WEFT_EMBEDDED_PROCEDURES_H

#include "core/embedded.h"

/** weft_embedded_procedures_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_procedures[];
extern const size_t weft_embedded_procedures_count;

#endif
