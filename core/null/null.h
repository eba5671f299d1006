/** The device that captures graphs launches and runs nothing. */
#pragma once

#include "core/weft_core.h"

weft_status weft_device_null_open(weft_device *device, const char *argument, weft_error *error);
