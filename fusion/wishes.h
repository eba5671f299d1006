/** What the script asks of the plan: `fuse { ... }` and `split;`. */
#ifndef WISHES_H
#define WISHES_H

#include "fusion_internal.h"

/** Blocks become candidates of c->fusions.
 *  Errors  WEFT_ERROR_TYPE at the block: its calls cannot share a kernel, and which */
weft_status weft_wishes_add(weft_compilation *c, weft_error *error);
/** Implementations against the script's wishes are pruned, with the reason. */
void weft_wishes_prune(weft_compilation *c);

#endif
