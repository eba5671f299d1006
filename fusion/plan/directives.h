/** Scheduling directives of a script: `fuse { ... }` and `split;`. */
#pragma once

#include "fusion/plan/segment.h"

/** Add the calls of each `fuse` block as a candidate to c->fusions.
 *  Errors  WEFT_ERROR_TYPE at the block: two of its calls cannot share a kernel; the device has no
 *          such block size, threads or iterations; WEFT_ERROR_MEMORY */
weft_status weft_directives_add(weft_segment *c, weft_error *error);
/** Prune implementations that contradict the directives, recording the reason in each.
 *  Errors  WEFT_ERROR_TYPE at the block: no implementation has the block shape that it requests */
weft_status weft_directives_prune(weft_segment *c, weft_error *error);
