/** A problem that several ranks solve together, each on its part of a mesh.
 *
 *      on the first rank the problem on the whole mesh -> weft_problem_take_part    the part of the mesh that a rank has
 *      a problem on the part, with the same forms      -> weft_problem_join      solves of the part are those of the whole
 *      weft_problem_solve, weft_problem_in_time        -> weft_problem_collect   u of the whole, on the first rank
 *
 *  All ranks make these calls, in the same order, with contexts whose `comm` is theirs; that of the whole problem has none. The
 *  solution has the same bits for any number of ranks.
 *
 *  Decision  docs/decisions/0069-ranks-keep-the-order-of-the-whole.md */
#ifndef WEFT_PROBLEM_RANKS_H
#define WEFT_PROBLEM_RANKS_H

#include "core/weft_comm.h"
#include "fem/weft_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The part of a mesh that this rank has, with the cells that constraints and integrals between cells need.
 *  whole   on the first rank, with conditions and constraints; NULL on others
 *  mesh    the whole mesh, the same on all ranks
 *  out     caller's; weft_mesh_free
 *  Errors  WEFT_ERROR_INPUT: there are fewer nodes than ranks; those of constraints, on all ranks; WEFT_ERROR_MEMORY */
weft_status weft_problem_take_part(weft_comm *comm, weft_problem *whole, const weft_mesh *mesh,
                                   weft_mesh **out, weft_error *error);
/** The numbers in the whole mesh of the cells of a part, or of its nodes: [n_cells] or [n_nodes], ascending; borrowed. */
const int32_t *weft_part_numbers(const weft_mesh *part, bool of_cells);
/** Let a problem on a part be one of the whole, whose solves and steps then have the results of the whole for reports.
 *  whole  on the first rank; borrowed, must outlive `part`; NULL on others */
void weft_problem_join(weft_problem *part, weft_problem *whole);
/** Collect u of the parts in the problem on the whole mesh, as solves do by themselves: after a step in time.
 *  Errors  those of weft_comm_exchange; WEFT_ERROR_MEMORY */
weft_status weft_problem_collect(weft_problem *part, weft_problem *whole, weft_error *error);
/** The reverse for the start of Newton's method or of steps: give the parts the values of weft_problem_set_values.
 *  Errors  as above */
weft_status weft_problem_spread(weft_problem *part, weft_problem *whole, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
