/** Kinds of cells: which of Gmsh's element types a mesh can have. */
#pragma once

#include "fem/io/stream.h"

/** Gmsh's type of the cells that a mesh can have and of their facets, with the nodes and the vertices
 * of each; the place among Gmsh's nodes of each node in Weft's order. */
typedef struct cell_kind {
    weft_cell_type cell;
    int degree, type, n_nodes, facet, n_facet_nodes, n_facet_vertices;
    int order[27];
    const char *wanted;
} cell_kind;

/** The kind of all cells, which must be of one.
 *  counts  [MSH_TYPES] cells of each of Gmsh's types
 *  Errors  WEFT_ERROR_UNSUPPORTED */
weft_status cell_kind_choose(const char *path, int dimension, const int64_t *counts,
                             const cell_kind **out, weft_error *error);
/** Reorder the nodes of cells from Gmsh's order to Weft's. tags [n] */
void cell_kind_order(const cell_kind *kind, size_t *tags, size_t n);
