/** A device whose modules are compiled many at once, when the first of them is launched: so that
 *  thousands of small programs can be tried. Two kinds:
 *
 *      batch      the host's text, its blocks one after the other, on this thread; compiled fast
 *      optimised  the same, compiled as the host's device compiles it: ten times longer
 *      emulated   a GPU's text, run on the host thread by thread (kernels/prelude/cuda_on_host.h)
 *
 *  Modules are made first, then launched, then all freed, then others may be made. With
 *  `backwards` blocks, ranges of a colour and threads run in reverse order: what is right
 *  does not depend on it. */
#ifndef DEVICE_BATCH_H
#define DEVICE_BATCH_H

#include "core/weft_core.h"

#include <stdbool.h>

/** Is this the name of one of the three? */
bool device_batch_is(const char *name);
/** Errors WEFT_ERROR_COMPILER: there is no compiler */
weft_status device_batch_open(const char *name, weft_device **out, weft_error *error);
/** Nothing where the device is another of Weft's. */
void device_batch_iteration(weft_device *device, bool backwards);

#endif
