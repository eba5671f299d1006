/** What the script asks of the plan: `fuse { ... }` and `split;`. */
#pragma once

#include "fusion/plan/segment.h"

/** Blocks become candidates of c->fusions.
 *  Errors  WEFT_ERROR_TYPE at the block: its calls cannot share a kernel, and which; no kernel on
 *  this device has such a block, threads or iterations, and what they have */
weft_status weft_directives_add(weft_segment *c, weft_error *error);
/** Implementations against the script's directives are pruned, with the reason.
 *  Errors  WEFT_ERROR_TYPE: nothing is left of a fuse block with the block that it asks for */
weft_status weft_directives_prune(weft_segment *c, weft_error *error);
