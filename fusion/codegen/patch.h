/** What the text of vertex patches (fusion/codegen/vertex_patch.c) and of edges
 *  (fusion/codegen/edge_patch.c) share. */
#pragma once

#include "fusion/codegen/private.h"

/** One staged number of a node. */
typedef struct staged {
    const weft_operand *load;
    int component;
    bool difference; /* registers hold what it is more than at local vertex 0 */
} staged;

typedef struct patch_writer {
    const source_writer *w;
    const weft_patch_computation *patch;
    int width, n_results;
    staged *parts;
    int n_parts;
} patch_writer;

/** Are there fewer nodes than threads? Then rows of the block end at last_row, not at n_rows. */
bool weft_patch_spares_threads(const weft_patch_computation *patch);
/** Does a predicated kernel ask at its start and return in weft_patch_write_staging? */
bool weft_patch_predicates_late(const weft_patch_computation *patch);
/** Own nodes and the halo into s0, s1, ...; own[k] too; then a barrier. */
void weft_patch_write_staging(const patch_writer *s);
/** "real v_x_at_dofs[12];" for every list loaded through the connectivity. */
void weft_patch_write_arrays(const patch_writer *s, const char *indent);
/** Local vertex v of these arrays from shared memory, 0 before the others; local NULL: from
 *  variables next_s0, next_s1 ..., where the vertex' numbers have been read to. */
void weft_patch_write_vertex(const patch_writer *s, int v, const char *local, const char *indent);
/** Lists over the cells, of the cell at a place in patch_cells: C text, in rows of lanes. */
void weft_patch_write_cell_loads(const patch_writer *s, const char *place);

/** fusion/codegen/edge_patch.c: the rest of the body of a block (see weft_source_patch_body). */
weft_status weft_source_edge_patches(const patch_writer *s, weft_error *error);
