/** The null device: it checks and counts launches but computes nothing. */
#pragma once

#include "core/weft_core.h"

/** Open the null device: sets table, limits and state; device->monitor is set before.
 *  argument  the device name after "null:", "h200"; may be NULL
 *  Errors    WEFT_ERROR_USAGE: another argument */
weft_status weft_device_null_open(weft_device *device, const char *argument, weft_error *error);
