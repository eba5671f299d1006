/** Texts of messages. */
#pragma once

#include "core/weft_core.h"

/** Add to the message of an error that is set already. */
void weft_error_append(weft_error *error, const char *format, ...) WEFT_PRINTF(2, 3);
/** Copy as much as fits, terminated. */
void weft_copy_cut(char *out, size_t size, const char *text);
