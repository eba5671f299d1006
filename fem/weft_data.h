/** Data of formulas: what expressions by group read, as lists over the cells or nodes of a mesh.
 *
 *      In: a mesh, a compilation.  Out: its inputs (weft_compilation_data), filled and bound.
 *
 *  Texts of expressions, such as coefficients, sources and values of conditions, may have a formula
 *  for each group:
 *
 *      50; @air=0.02; @"soft rubber"=1 + x
 *
 *  Over cells, the groups are groups of cells; no cell may be in two of them, and a cell that is in
 *  none has the formula without a group. Over nodes, they are groups of cells or facets with all
 *  their nodes, of which the last one in the text holds. */
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
/** Bind the inputs of a compilation that its expressions need.
 *  data         NULL: only compilations without such inputs are possible
 *  elements     cells -> nodes of the mesh; NULL: expressions are over nodes
 *  Errors       WEFT_ERROR_INPUT, with the expression's origin: no such group; a group of another
 *               dimension; two groups that share a cell (names both and the cell); cells or nodes
 *               without a formula (names their group); elements that are facets.
 *               WEFT_ERROR_USAGE (data is NULL), WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_data_bind(weft_data *data, const weft_compilation *compilation,
                           weft_program *program, const weft_connectivity *elements,
                           weft_error *error);
/** The list over cells of one of these inputs, for programs over some of the cells, which gather it.
 *  out     a value for each cell, in the order of the cells; borrowed from data
 *  Errors  as weft_data_bind */
weft_status weft_data_cells(weft_data *data, const weft_data_info *info, weft_memory **out,
                            weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
