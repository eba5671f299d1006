/** Files. */
#ifndef CORE_BASE_FILE_H
#define CORE_BASE_FILE_H

#include "core/weft_core.h"

weft_status weft_write_all(int file, const void *bytes, size_t size);

#endif
