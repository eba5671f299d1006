/** Weft core: errors, memory, messages, devices. Includes all public headers of core except
 *  weft_tuning.h and weft_escape.h. */
#ifndef WEFT_CORE_H
#define WEFT_CORE_H

#include "core/weft_cache.h"
#include "core/weft_comm.h"
#include "core/weft_device_graph.h"
#include "core/weft_memory_estimate.h"

#endif
