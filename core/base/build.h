/** Which build of Weft's code runs. In: nothing. Out: a hash that another build does not have. */
#pragma once

#include "core/weft_core.h"

/** Hash of the build ID of the program or shared library that contains this function: it changes with any byte of its code
 *  and constants, at the same version of Weft too.
 *  Returns  false: the linker has written none (-Wl,--build-id=none) */
bool weft_build_identity(char out[33]);
