/** Function spaces. In: a mesh, an element, components. Out: dofs of cells and facets, forms and
 *  functions of the space. The interface is public: fem/weft_space.h. */
#pragma once

#include "fem/weft_function.h"
