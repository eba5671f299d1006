#include "fem_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "square:N", with N all digits. */
static weft_status parse_n(const char *name, const char *digits, int64_t *n, weft_error *error)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(digits, &end, 10);
    if (strspn(digits, "0123456789") != strlen(digits) || end == digits || errno != 0) {
        weft_error_set(error, WEFT_ERROR_USAGE, "`%s`: `%s` is no number of cells a side", name,
                       digits);
        weft_error_hint(error, "write a whole number from 1 on, such as square:32 or cube:16");
        return WEFT_ERROR_USAGE;
    }
    *n = value;
    return WEFT_OK;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length > n && strcmp(name + length - n, ending) == 0;
}

weft_status weft_mesh_read(const char *name, double size, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error)
{
    weft_status status = WEFT_OK;
    int64_t n = 0;
    (void)size;
    (void)monitor;
    if (strncmp(name, "square:", 7) == 0) {
        TRY(parse_n(name, name + 7, &n, error));
        TRY(weft_mesh_make_square(n, out, error));
    } else if (strncmp(name, "cube:", 5) == 0) {
        TRY(parse_n(name, name + 5, &n, error));
        TRY(weft_mesh_make_cube(n, out, error));
    } else if (ends_with(name, ".geo") || ends_with(name, ".msh") || ends_with(name, ".vtkhdf")) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: cannot be read yet", name);
    } else {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "`%s` is no mesh that Weft reads", name);
        weft_error_hint(error, "give FILE.geo, FILE.msh, FILE.vtkhdf, square:N or cube:N");
    }
done:
    return status;
}
