#include "fem_internal.h"

weft_status weft_mesh_read_vtkhdf(const char *path, const weft_monitor *monitor, weft_mesh **out,
                                  weft_error *error)
{
    (void)monitor;
    (void)out;
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: cannot be read yet", path);
}
