/** The validation scripts apps/check/ *.weft, sorted by name, embedded by the build. */
#pragma once

#include "core/embedded.h"

/** weft_embedded_check_count entries, then one with NULL name and text. */
extern const weft_embedded_file weft_embedded_check[];
extern const size_t weft_embedded_check_count;
