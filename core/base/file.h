/** Output to files. In: an open file descriptor and bytes. Out: the bytes, all written. */
#pragma once

#include "core/weft_core.h"

/** Write all bytes, by repeated calls of write if necessary. Sets no message.
 *  Errors  WEFT_ERROR_IO with errno set; ENOSPC if the file accepts no more bytes */
weft_status weft_write_all(int file, const void *bytes, size_t size);
