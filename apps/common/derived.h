/** Options of derived quantities. In: texts of the command line. Out: quantities for
 *  weft_derive_make. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

/** One --derive, --integral or --extrema; texts malloc'd. */
typedef struct app_derivation {
    weft_derive_kind kind;
    char *name, *group, *text; /* group NULL: the whole mesh */
    char origin[200];          /* "--integral heat@left", for messages */
} app_derivation;

typedef struct app_derived_options {
    app_derivation *list;
    int n;
    weft_projection projection;
    bool reactions;
} app_derived_options;

/** Parse NAME=EXPR, or NAME@GROUP=EXPR for integrals and extrema, and append it.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status app_derivation_read(app_derived_options *derived, weft_derive_kind kind,
                                const char *text, weft_error *error);
void app_derived_options_clear(app_derived_options *derived);
