/** Orderings of meshes whose nodes and cells a device keeps. The interface is public: fem/weft_order.h.
 *  Not installed. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/weft_order.h"

typedef struct weft_order_options {
    weft_ordering method;
    int64_t part_nodes;
    const weft_monitor *monitor;
} weft_order_options;
/** weft_mesh_order.
 *  copies  NULL, or {0}; gets the new nodes and cells if a device ordered the mesh */
weft_status weft_mesh_order_keeping(weft_device *device, weft_mesh *mesh,
                                    const weft_order_options *options,
                                    weft_renumbering *renumbering, weft_mesh_copies *copies,
                                    weft_error *error);
