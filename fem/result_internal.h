/** Between result.c, which places files, and result_vtkhdf.c, which fills them. */
#ifndef WEFT_RESULT_INTERNAL_H
#define WEFT_RESULT_INTERNAL_H

#include "weft_fem.h"

/** Fill the file `temporary`, which exists. path is for messages. Errors WEFT_ERROR_IO */
weft_status weft_vtkhdf_write(const char *temporary, const char *path, const weft_mesh *mesh,
                              const weft_field *fields, int n_fields, weft_error *error);

#endif
