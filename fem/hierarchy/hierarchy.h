/** Hierarchies whose finest mesh a device keeps. The interface is public: fem/weft_hierarchy.h. Not
 *  installed. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/weft_hierarchy.h"

/** weft_hierarchy_make.
 *  copies  NULL, or {0}; gets nodes and cells of the finest mesh if a device made it */
weft_status weft_hierarchy_make_keeping(weft_device *device, weft_mesh **coarse,
                                        const weft_hierarchy_options *options,
                                        const weft_monitor *monitor, weft_hierarchy **out,
                                        weft_mesh_copies *copies, weft_error *error);
