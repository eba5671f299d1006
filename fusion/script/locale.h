/** Writing numbers in the C locale, whatever the caller's locale. */
#pragma once

#include "core/weft_core.h"

#include <locale.h>

/** Between begin and end this thread writes numbers in the C locale. Initialise with {0}; end
 *  without begin has no effect. */
typedef struct weft_numbers {
    locale_t c, before;
} weft_numbers;
weft_status weft_numbers_begin(weft_numbers *numbers, weft_error *error);
void weft_numbers_end(weft_numbers *numbers);
