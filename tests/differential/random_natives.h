/** Native bodies of functions that random scripts call. */
#pragma once

#include "core/weft_core.h"
#include "fusion/weft_library.h"

/** Replace functions of the library by the same ones with native bodies beside the plain ones. */
weft_status random_natives_add(weft_library *library, weft_error *error);
