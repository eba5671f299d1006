/** Deliberate bugs for mutation testing (tests/differential/test_mutations.sh lists them). They
 *  exist only in builds with the CMake option WEFT_FAULT_INJECTION, where $WEFT_FAULT enables
 *  one. */
#pragma once

#ifdef WEFT_FAULT_INJECTION
#include "core/weft_core.h"

#include <stdbool.h>
/** Is this bug enabled? */
bool weft_fault(const char *bug);
#else
#define weft_fault(bug) 0
#endif
