/* Part of builds with WEFT_PLANT_BUGS alone. */
#include "plant.h"

#include <stdlib.h>
#include <string.h>

bool weft_planted(const char *bug) {
    const char *wanted = getenv("WEFT_PLANTED_BUG");
    return wanted != NULL && strcmp(wanted, bug) == 0;
}
