/** Bugs on purpose, one at a time, for the test that shows that tests find them
 *  (tests/differential/test_mutations.sh, which has the list). Only a build with the CMake option
 *  WEFT_FAULT_INJECTION has them, and there $WEFT_PLANTED_BUG names one. */
#pragma once

#ifdef WEFT_FAULT_INJECTION
#include "core/weft_core.h"

#include <stdbool.h>
bool weft_fault(const char *bug);
#else
#define weft_fault(bug) 0
#endif
