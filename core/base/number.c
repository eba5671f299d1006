/* Reads and prints numbers in the C locale.
 *
 * Decision  docs/decisions/0051-text-is-converted-in-one-file.md */
#include "core/base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* newlocale returns a constant for "C", without allocating, and freelocale leaves it alone. */
typedef struct c_numbers {
    locale_t c, before;
} c_numbers;

static c_numbers begin(void) {
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (c_numbers){c, uselocale(c)};
}

static void end(const c_numbers *numbers) {
    uselocale(numbers->before);
    freelocale(numbers->c);
}

double weft_number_read(const char *text, char **end_of_number) {
    const c_numbers numbers = begin();
    const double number = strtod(text, end_of_number);
    end(&numbers);
    return number;
}

void weft_number_print(double number, int digits, char out[32]) {
    for (int n = digits; n <= 17; ++n) {
        weft_print(out, 32, "%.*g", n, number);
        if (weft_number_read(out, NULL) == number)
            break;
    }
}

int weft_print_list(char *out, size_t size, const char *format, va_list arguments) {
    const c_numbers numbers = begin();
    const int length = vsnprintf(out, size, format, arguments);
    end(&numbers);
    return length;
}

int weft_print(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = weft_print_list(out, size, format, arguments);
    va_end(arguments);
    return length;
}
