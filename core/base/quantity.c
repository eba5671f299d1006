/* Parses amounts of memory and time. */
#include "core/base/number.h"
#include "core/weft_core.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

weft_status weft_parse_bytes(const char *origin, const char *text, double *out, weft_error *error) {
    static const char units[] = "kMGT";
    char *end = NULL;
    double value = isdigit((unsigned char)text[0]) ? weft_number_read(text, &end) : 0;
    const char *unit = end && *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (unit) {
        value *= pow(1000, (double)(unit - units + 1));
        ++end;
    }
    if (end && strcasecmp(end, "B") == 0)
        ++end;
    if (!end || *end || !(value >= 1e6) || !isfinite(value)) {
        weft_error_set(error, WEFT_ERROR_USAGE, "`%s` is not an amount of memory of 1M or more",
                       text);
        weft_error_location(error, origin, text, 1, 1);
        weft_error_hint(error, "write it as 500M or 16G");
        return WEFT_ERROR_USAGE;
    }
    *out = value;
    return WEFT_OK;
}

weft_status weft_parse_seconds(const char *origin, const char *text, double *out,
                               weft_error *error) {
    char *end = NULL;
    double value =
        isdigit((unsigned char)text[0]) || text[0] == '.' ? weft_number_read(text, &end) : 0;
    if (!end || *end || !(value > 0) || !isfinite(value)) {
        weft_error_set(error, WEFT_ERROR_USAGE, "`%s` is not a number of seconds above 0", text);
        weft_error_location(error, origin, text, 1, 1);
        weft_error_hint(error, "write it as 7200");
        return WEFT_ERROR_USAGE;
    }
    *out = value;
    return WEFT_OK;
}
