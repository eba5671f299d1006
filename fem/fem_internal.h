/** What the files of fem share and users do not see. */
#ifndef WEFT_FEM_INTERNAL_H
#define WEFT_FEM_INTERNAL_H

#include "weft_fem.h"

/* ---- mesh --------------------------------------------------------------------------------------- */

/** Facet k is opposite vertex k; its vertices stand so that, seen from outside a positively
 *  oriented cell, they run counterclockwise (2D: from vertex to vertex with the cell on the left). */
extern const int weft_facet_vertices_2[3][2];
extern const int weft_facet_vertices_3[4][3];

/** A mesh with room for these counts, x and cells and facets zero. *out untouched on error.
 *  Errors WEFT_ERROR_MEMORY */
weft_status weft_mesh_alloc(int dimension, int64_t n_nodes, int64_t n_cells, int64_t n_facets,
                            int n_groups, int64_t n_group_facets, const char *source,
                            weft_mesh **out, weft_error *error);
/** Free the arrays and null them. */
void weft_mesh_data_free(weft_mesh_data *data);
/** Signed volume of one cell, positive when well oriented; nodes [d+1] of x [..][d]. */
double weft_cell_volume(int dimension, const double *x, const int32_t *nodes);

#endif
