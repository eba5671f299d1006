/** Data of formulas: what expressions by group read, as lists over the cells or nodes of a mesh.
 *
 *      In: a mesh, a compilation.  Out: its inputs (weft_compilation_data), filled and bound.
 *
 *  Texts of expressions, such as coefficients, sources and values of conditions, may have fields of
 *  files, and a formula for each group:
 *
 *      50; @air=0.02; @"soft rubber"=1 + x
 *
 *  Over cells, the groups are groups of cells; no cell may be in two of them, and a cell that is in
 *  none has the formula without a group. Of nodes, they are groups of cells or facets with all their
 *  nodes, and of other points groups of cells; the last one in the text that has the point
 *  holds. */
#ifndef WEFT_DATA_H
#define WEFT_DATA_H

#include "fem/weft_mesh.h"
#include "fusion/weft_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The lists that were made for a mesh. Equal ones are made once. */
typedef struct weft_data weft_data;
/** device, mesh  borrowed; must outlive it
 *  out           caller's; weft_data_free, after the programs that it is bound to
 *  Errors        WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_data_make(weft_device *device, const weft_mesh *mesh, weft_data **out,
                           weft_error *error);
void weft_data_free(weft_data **data);
/** Points at which expressions are evaluated, one for each element of an index set. */
typedef struct weft_data_points {
    const char *over; /* the index set */
    int64_t n;
    const double *x; /* [n][dimension of the mesh]; with `read`, from its call on */
    /* [n][dimension] or NULL: a point inside the cell that each belongs to. Of a field that is
     * constant in each cell, it decides on which side of a facet the value is taken */
    const double *inside;
    /** Mark the points of a group of cells or facets; NULL: those in its cells.
     *  group   its index in the mesh
     *  marks   [n] zeros before the call */
    weft_status (*mark)(const struct weft_data_points *points, int group, unsigned char *marks,
                        weft_error *error);
    const void *user; /* of mark and read */
    /** Set x and inside, which are needed; NULL: they are set. */
    weft_status (*read)(struct weft_data_points *points, weft_error *error);
} weft_data_points;
/** The nodes of a mesh; points inside its cells, one for each, x [n_cells][dimension]. All are borrowed. */
weft_data_points weft_data_nodes(const weft_mesh *mesh, const char *over);
weft_data_points weft_data_centres(const weft_mesh *mesh, const char *over, const double *x);

/** Where the expressions of a program are evaluated; all borrowed. */
typedef struct weft_data_sites {
    /* cells or facets -> nodes of the mesh, anywhere in which they are; NULL: none are */
    const weft_connectivity *elements;
    const weft_data_points *points; /* [n] of index sets with one point for each element */
    int n;
    /* elements are facets with their vertices, even if there are as many as cells */
    bool are_facets;
} weft_data_sites;

/** Bind the inputs of a compilation that its expressions need.
 *  data         NULL: only compilations without such inputs are possible
 *  Errors       WEFT_ERROR_INPUT, with the expression's origin: no such group; a group of another
 *               dimension; two groups that share a cell (names both and the cell); cells or points
 *               without a formula (names their group); elements that are facets.
 *               WEFT_ERROR_USAGE (data is NULL; an index set has no points here),
 *               WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_data_bind(weft_data *data, const weft_compilation *compilation,
                           weft_program *program, const weft_data_sites *sites, weft_error *error);
/** The list over cells of one of these inputs, for programs over some of the cells, which gather it.
 *  out         values for each cell, in the order of the cells; borrowed from data
 *  components  their number: 1, or of a field its coefficients
 *  Errors      as weft_data_bind */
weft_status weft_data_cells(weft_data *data, const weft_data_info *info, weft_memory **out,
                            int *components, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
