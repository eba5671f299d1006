/** Helpers for messages. */
#pragma once

#include "core/weft_core.h"

/** Append to the message of an error that is already set. */
void weft_error_append(weft_error *error, const char *format, ...) WEFT_PRINTF(2, 3);
/** Copy text to out [size], truncated if necessary, and terminated. */
void weft_copy_cut(char *out, size_t size, const char *text);
