/** Numbers are written as C does, whatever the locale. */
#pragma once

#include "core/weft_core.h"

#include <locale.h>

/** Between begin and end this thread writes numbers as C does. Start from {0}; end what was not
 * begun is harmless. */
typedef struct weft_numbers {
    locale_t c, before;
} weft_numbers;
weft_status weft_numbers_begin(weft_numbers *numbers, weft_error *error);
void weft_numbers_end(weft_numbers *numbers);
