/* Looks up the fault that mutation testing enables; empty in builds without WEFT_FAULT_INJECTION. */
#include "core/base/fault.h"

#ifdef WEFT_FAULT_INJECTION

#include <stdlib.h>
#include <string.h>

bool weft_fault(const char *bug) {
    const char *wanted = getenv("WEFT_FAULT");
    return wanted && strcmp(wanted, bug) == 0;
}

#else
typedef int weft_fault_has_nothing;
#endif
