/** Shared by the writers of vertex patches (fusion/codegen/vertex_patch.c) and of edge patches
 *  (fusion/codegen/edge_patch.c). */
#pragma once

#include "fusion/codegen/private.h"

/** One component of nodal data that is staged in shared memory. */
typedef struct staged {
    const weft_operand *load;
    int component;
    bool difference; /* registers hold its difference from local vertex 0 */
} staged;

typedef struct patch_writer {
    const source_writer *w;
    const weft_patch_computation *patch;
    int width, n_results;
    staged *parts;
    int n_parts;
} patch_writer;

/** Are there fewer nodes than threads in a block? Then its rows end at last_row, not n_rows. */
bool weft_patch_spares_threads(const weft_patch_computation *patch);
/** Does a predicated kernel load its flag at the start, and test it in weft_patch_write_staging? */
bool weft_patch_predicates_late(const weft_patch_computation *patch);
/** Write the staging of own nodes and halo into s0, s1, ... (and own[k]), followed by a barrier. */
void weft_patch_write_staging(const patch_writer *s);
/** Declare "real v_x_at_dofs[12];" for every list that is loaded through the connectivity. */
void weft_patch_write_arrays(const patch_writer *s, const char *indent);
/** Fill local vertex v of these arrays from shared memory. Vertex 0 must be written first.
 *  local  C text of the vertex's number in the patch; NULL: take its values from the variables
 *         next_s0, next_s1, ... */
void weft_patch_write_vertex(const patch_writer *s, int v, const char *local, const char *indent);
/** Load lists over cells.
 *  index  C text of the cell's index in patch_cells */
void weft_patch_write_cell_loads(const source_writer *w, const weft_patch_computation *patch,
                                 const char *index);

/** fusion/codegen/edge_patch.c: the rest of weft_source_patch_body for edge patches. */
weft_status weft_source_edge_patches(const patch_writer *s, weft_error *error);
