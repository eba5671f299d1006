/** Whether options were made for this version of the library. */
#ifndef WEFT_CORE_BASE_OPTIONS_H
#define WEFT_CORE_BASE_OPTIONS_H

#include "core/weft_base.h"

/** Check the size with which options begin.
 *  type    their type, for the message
 *  size    options->size
 *  known   sizeof *options
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_options_check(const char *type, size_t size, size_t known, weft_error *error);

#endif
