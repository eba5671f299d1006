/* Switches a thread to the C locale, because generated source, scripts and JSON need decimal
 * points. */
#include "fusion/script/locale.h"

#include <locale.h>

weft_status weft_numbers_begin(weft_numbers *numbers, weft_error *error) {
    numbers->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (numbers->c == (locale_t)0)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a locale");
    numbers->before = uselocale(numbers->c);
    return WEFT_OK;
}

void weft_numbers_end(weft_numbers *numbers) {
    if (numbers->c == (locale_t)0)
        return;
    uselocale(numbers->before);
    freelocale(numbers->c);
    numbers->c = (locale_t)0;
}
