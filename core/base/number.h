/** Numbers as the C locale has them, with a decimal point: what the library reads and prints does not depend on a locale that
 *  the process has set, which may have a decimal comma. The only place that reads or prints floating-point numbers;
 *  core/base/text.c, error.c, log.c and arena.c print with it. Also used by all other folders; not installed. */
#pragma once

#include "core/weft_base.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As strtod. */
double weft_number_read(const char *text, char **end);

/** The shortest text, of `digits` digits or more, that reads back as the number. */
void weft_number_print(double number, int digits, char out[32]);

/** As snprintf and vsnprintf. */
int weft_print(char *out, size_t size, const char *format, ...) WEFT_PRINTF(3, 4);
int weft_print_list(char *out, size_t size, const char *format, va_list arguments);

#ifdef __cplusplus
}
#endif
