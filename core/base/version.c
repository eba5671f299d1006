/* The version of the library. */
#include "core/weft_base.h"

const char *weft_version(void) {
    return WEFT_VERSION;
}
