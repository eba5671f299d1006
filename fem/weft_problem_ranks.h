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

/** What a prediction knows of a solve that ranks share. */
typedef struct weft_ranks_work {
    int degree, components; /* of u; 0 means 1 */
    int assembly;           /* a weft_assembly, or WEFT_AUTO */
} weft_ranks_work;
/** What a rank has of a mesh, and why. */
typedef struct weft_rank_share {
    char device[128]; /* weft_limits.name */
    double share;     /* of the nodes */
    double seconds;   /* predicted, of an iteration of conjugate gradients with this share */
    double alone;     /* the same of this device with the whole mesh and without ranks */
} weft_rank_share;
/** Choose the shares of ranks whose devices differ, unless weft_comm_share_out has set them: those with which an iteration takes equally
 *  long on each, as predicted from bandwidths, or from measured speeds in the tuning database, with the time of exchanges. All ranks call it, before the mesh is
 *  divided.
 *  context  of this rank, with its comm
 *  mesh     the whole mesh, the same on all ranks
 *  work     that of the first rank counts
 *  out      [ranks], caller's; free; NULL: all have equal shares
 *  Errors   those of weft_comm_gather and of the tuning database; WEFT_ERROR_MEMORY
 *  Decision docs/decisions/0083-host-and-gpu-share-by-prediction.md */
weft_status weft_ranks_share_out(weft_context *context, const weft_mesh *mesh,
                                 const weft_ranks_work *work, weft_rank_share **out,
                                 weft_error *error);
/** The rank whose device alone is predicted to be faster than all together; -1: there is none. */
int weft_ranks_faster_alone(const weft_rank_share *shares, int n);
/** A line for each rank, and one for a device that is faster alone. */
void weft_ranks_shares_print(const weft_rank_share *shares, int n, weft_text *out);
/** What ranks had, for reports: the least and the most of a rank; seconds of assembly and solve. */
typedef struct weft_ranks_report {
    int n; /* 0: the mesh was not divided */
    const char *kind;
    int64_t own_nodes[2], nodes[2], cells[2];
    double assembly[2], solve[2];
    double divide,
        join; /* seconds in which the first one takes its part, and has the whole solution */
    weft_rank_share *shares; /* [n]; NULL: equal ones; the owner's of the report */
} weft_ranks_report;
/** All ranks call it.
 *  part             the part of this rank
 *  assembly, solve  its seconds
 *  out              divide, join and shares are unchanged
 *  Errors           those of weft_comm_gather; WEFT_ERROR_MEMORY */
weft_status weft_ranks_compare(weft_comm *comm, const weft_mesh *part, double assembly,
                               double solve, weft_ranks_report *out, weft_error *error);
/** A line, and those of weft_ranks_shares_print; nothing without ranks. */
void weft_ranks_report_print(const weft_ranks_report *report, weft_text *out);
/** weft_ranks_share_out with what the problem on the whole mesh says.
 *  whole   on the first rank, with its functions; NULL on others */
weft_status weft_problem_share_out(weft_context *context, const weft_problem *whole,
                                   const weft_mesh *mesh, weft_rank_share **out, weft_error *error);
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
