/* What connectivity.c and schedule.c share. Not installed. */
#ifndef WEFT_CONNECTIVITY_INTERNAL_H
#define WEFT_CONNECTIVITY_INTERNAL_H

#include "fusion_internal.h"

/** The order in which blocks of `lanes` instances may store through a connectivity: chunks of
 *  consecutive blocks, coloured so that two chunks of a colour share no target.
 *  Depends on the indices and on lanes only. Temporary memory: 8 bytes a target.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_schedule_make(const weft_connectivity *connectivity, int lanes,
                               weft_schedule **out, weft_error *error);

#endif
