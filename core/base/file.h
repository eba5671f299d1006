/** Files. */
#pragma once

#include "core/weft_core.h"

/** Write all of it, however many calls that takes. Does not set a message.
 *  Errors  WEFT_ERROR_IO, with errno; ENOSPC where the file takes nothing more */
weft_status weft_write_all(int file, const void *bytes, size_t size);
