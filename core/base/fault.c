/* Nothing but in builds with WEFT_PLANT_BUGS. */
#include "core/base/fault.h"

#ifdef WEFT_PLANT_BUGS

#include <stdlib.h>
#include <string.h>

bool weft_planted(const char *bug) {
    const char *wanted = getenv("WEFT_PLANTED_BUG");
    return wanted != NULL && strcmp(wanted, bug) == 0;
}

#else
typedef int weft_plant_has_nothing;
#endif
