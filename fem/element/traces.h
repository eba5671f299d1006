/** Values of an element's functions on the base facet of its cell, for integrals over facets.
 *
 *      In: an element, the degree of a rule of the facet.  Out: tables of the functions that do not vanish there. */
#pragma once

#include "fem/weft_element.h"
#include "fusion/weft_library.h"

/** The functions that do not vanish on weft_cell.base.
 *  functions  [element->n_nodes], ascending; *n of them: none of bubbles
 *  Errors     those of weft_element_tabulate, WEFT_ERROR_MEMORY */
weft_status weft_trace_functions(const weft_element *element, int *functions, int *n,
                                 weft_error *error);
/** Register tables for kernel files. cell is a weft_cell_type, family a weft_family, k the degree of the element:
 *      trace_weights(cell, degree)           real[q]         of the rule of the facet; sum: its measure
 *      trace_shape(cell, family, k, degree)  real[n,q]       functions of weft_trace_functions at the points
 *      trace_slopes(cell, k, degree)         real[d-1,n,q]   of Lagrange's: derivatives along the facet; of intervals
 *                                                            real[1,n,q], by their coordinate
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_traces_register(weft_library *library, weft_error *error);
