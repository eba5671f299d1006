/** Meshes under construction. In: nodes, cells, facets as read or made. Out: a checked mesh. */
#pragma once

#include "fem/weft_fem.h"

/** Facet k is opposite vertex k; its vertices stand so that, seen from outside a positively
 *  oriented cell, they run counterclockwise (2D: from vertex to vertex with the cell on the left).
 */
extern const int weft_facet_vertices_2[3][2];
extern const int weft_facet_vertices_3[4][3];

/** weft_mesh_make for a reader that left out n_left_nodes unused nodes of the file already. */
weft_status weft_mesh_make_from(weft_mesh_data *data, const char *source, int64_t n_left_nodes,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** Bring the cells of each group into ascending order, each once. */
void weft_group_cells_sort(weft_mesh *mesh);
/** A hash of nodes and cells, 32 digits. */
void weft_mesh_hash(const weft_mesh *mesh, char out[33]);
/** Free the arrays and null them. */
void weft_mesh_data_free(weft_mesh_data *data);
/** Signed volume of one cell, positive when well oriented; nodes [d+1] of x [..][d]. */
double weft_cell_volume(int dimension, const double *x, const int32_t *nodes);

/** The facets of positively oriented cells. Free nodes and number with free(). */
typedef struct weft_facets {
    int64_t n_facets, n_boundary_facets;
    int32_t *nodes;  /* [n_facets][d], from weft_array_make; the boundary first, by lowest node */
    int32_t *number; /* [n_group_facets]: facet of each group facet, -1 where no cell has it */
} weft_facets;
/** What weft_facets_find saw and must not be. Cells and nodes count from 0. */
typedef struct weft_facet_faults {
    int64_t n_doubled, doubled,
        original;            /* cells with the nodes of another: the first, and that other */
    int64_t n_non_manifold;  /* facets of three cells or more */
    int32_t non_manifold[3]; /* nodes of the first */
} weft_facet_faults;
/** Find the boundary and the facets of groups. data is borrowed; node numbers are in range, nodes
 * of a cell distinct, n_cells < 2^31. Memory while it runs: 8 bytes a cell and 4 to 8 a node.
 *  Errors WEFT_ERROR_MEMORY; *out untouched. Faults are no errors here. */
weft_status weft_facets_find(const weft_mesh_data *data, weft_facets *out,
                             weft_facet_faults *faults, weft_error *error);
