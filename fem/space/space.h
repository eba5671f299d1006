/** Function spaces. In: a mesh, an element, components. Out: dofs of cells and facets, forms and
 *  functions of the space. The interface is public: fem/weft_space.h. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/weft_function.h"

/** weft_space_make.
 *  copies  NULL, or the mesh's on the device, which a space of degree 1 takes over */
weft_status weft_space_make_with(weft_device *device, const weft_mesh *mesh,
                                 weft_mesh_copies *copies, weft_element_kind kind, int components,
                                 weft_space **out, weft_error *error);
