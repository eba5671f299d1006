/** Constraints, modes and loads at points of a problem that is divided among ranks. Not installed.
 *
 *      those of the whole mesh, on the first rank -> which cells each rank must have, and what it needs of them
 *
 *  The first rank finds all of them on the whole mesh, as without ranks, so that they do not depend on parts. A rank that owns a dof to
 *  which others are tied has the rows of these, too: C^T A C needs no other communication than products do.
 *
 *  Decision  docs/decisions/0074-the-first-rank-finds-constraints.md */
#pragma once

#include "fem/constrain/constrain.h"
#include "fem/mesh/part.h"
#include "fem/space/layout.h"

/** Cells that ranks need besides those that touch a node of their own: those round a dof that depends on one of theirs, and one of each
 *  dof on which a dof of their cells depends.
 *  whole   on the whole mesh
 *  starts  [n_ranks + 1] weft_part_starts
 *  behind  with those of weft_part_cells_behind
 *  out     caller's: free(list)
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_constraints_reach(weft_constraints *whole, const int64_t *starts, int n_ranks,
                                   bool behind, weft_part_cells *out, weft_error *error);

/** What a rank divides: functions on its part, and on the whole mesh. */
typedef struct weft_constraint_division {
    weft_context *context;
    const weft_constraint_field *fields; /* [n_fields] on the part */
    int n_fields;
    weft_layout *layout;             /* of their dofs; borrowed, as all are */
    const weft_space *const *spaces; /* [n_fields] on the part, */
    const weft_space *const *whole;  /* and on the whole mesh; NULL on ranks besides the first */
} weft_constraint_division;
/** The constraints of each rank's part. All ranks call these.
 *  whole   NULL on ranks besides the first, or there are none
 *  out     caller's; weft_constraints_free, before `whole`; NULL where there are none
 *  Errors  WEFT_ERROR_MEMORY; those of weft_comm_exchange; *out untouched */
weft_status weft_constraints_divide(weft_constraints *whole, const weft_constraint_division *by,
                                    weft_constraints **out, weft_error *error);
/** The same of loads at points. */
weft_status weft_point_loads_divide(const weft_point_loads *whole,
                                    const weft_constraint_division *by, weft_point_loads **out,
                                    weft_error *error);
/** The same of modes, which are values at the dofs of a part.
 *  whole  NULL on ranks besides the first */
weft_status weft_free_modes_divide(const weft_free_modes *whole, const weft_constraint_division *by,
                                   weft_free_modes *out, weft_error *error);
/** Pin modes of the whole, before they are divided: weft_constraints_pin without a load. */
weft_status weft_constraints_pin_whole(weft_constraints *whole, const weft_free_modes *modes,
                                       bool held_too, weft_error *error);
