/** The shipped scripts, fem/scripts/ *.weft, sorted by name. Written by the build. */
#ifndef WEFT_EMBEDDED_SCRIPTS_H
#define WEFT_EMBEDDED_SCRIPTS_H

#include "core/embedded.h"

/** weft_embedded_scripts_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_scripts[];
extern const size_t weft_embedded_scripts_count;

#endif
