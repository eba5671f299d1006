/** The device that records launches and runs nothing. */
#ifndef CORE_NULL_NULL_H
#define CORE_NULL_NULL_H

#include "core/weft_core.h"

weft_status weft_device_null_open(weft_device *device, const char *argument, weft_error *error);

#endif
