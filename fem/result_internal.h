/** Between result.c, which places files, and result_vtkhdf.c, which fills them. */
#ifndef WEFT_RESULT_INTERNAL_H
#define WEFT_RESULT_INTERNAL_H

#include "weft_fem.h"

/** Fill the file `temporary`, which exists. path is for messages. Errors WEFT_ERROR_IO */
weft_status weft_vtkhdf_write(const char *temporary, const char *path, const weft_mesh *mesh,
                              const weft_field *fields, int n_fields, weft_error *error);
/** Fills a file that exists, of the name `temporary`. */
typedef weft_status (*weft_result_fill)(void *user, const char *temporary, weft_error *error);
/** Fill a temporary beside path, then let it take that name, so that it is whole or not there.
 *  Errors WEFT_ERROR_IO, WEFT_ERROR_MEMORY, those of fill */
weft_status weft_result_place(const char *path, weft_result_fill fill, void *user,
                              weft_error *error);

#endif
