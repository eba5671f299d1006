/** Multigrid on several ranks. Not installed.
 *
 *      rows of a matrix on each rank -> the whole matrix, from which every rank makes all levels
 *      levels -> of each, the rows of this rank, and what is exchanged
 *
 *  Every rank makes the levels of the whole, so that nothing of them depends on the number of ranks. Levels of many rows are then
 *  divided: a rank keeps the rows of its own, and copies of others that these, or the transfers from and to them, need. A level of
 *  few rows, and those below it, are kept and computed by every rank.
 *
 *  Decision  docs/decisions/0071-ranks-divide-the-large-levels.md */
#pragma once

#include "fem/multigrid/multigrid.h"
#include "fem/precondition/precondition.h"
#include "fem/space/layout.h"

struct weft_cycle_source;

/** Which rows of an operator this rank owns. */
typedef struct weft_rank_rows {
    weft_comm *comm;        /* borrowed */
    struct weft_team *team; /* of GPUs; borrowed; NULL: the host has the lists */
    int64_t n, n_whole;     /* in this rank's list; in the whole */
    int64_t n_own;
    int32_t *own;     /* [n_own] its own in the list, ascending */
    int32_t *numbers; /* [n] in the whole, ascending */
    /* rows in the order of ranks, each with its own: rank r has starts[r] to starts[r + 1], and row i is order[i] of the whole;
     * NULL: i */
    int64_t *starts; /* [ranks + 1] */
    int32_t *order;  /* [n_whole] */
} weft_rank_rows;
/** All ranks call this and what follows.
 *  layout  of the rows
 *  out     caller's, also after an error; weft_rank_rows_clear
 *  Errors  WEFT_ERROR_MEMORY, those of weft_comm_exchange */
weft_status weft_rank_rows_make(weft_device *device, weft_layout *layout, weft_rank_rows *out,
                                weft_error *error);
void weft_rank_rows_clear(weft_rank_rows *rows);
/** The items of all rows of the whole, in their order.
 *  list    [n] items of this rank's list; own ones count
 *  out     [n_whole] */
weft_status weft_rank_collect(const weft_rank_rows *rows, const void *list, size_t size, void *out,
                              weft_error *error);
/** The dofs of an operator, of all ranks.
 *  Errors  those of weft_comm_sum */
weft_status weft_rank_dofs(const weft_operator *op, int64_t *out, weft_error *error);
/** The items of all ranks one after another.
 *  mine    those of this rank's own rows
 *  starts  [ranks + 1] the items of each rank
 *  out     [starts[ranks]] */
weft_status weft_rank_gather(weft_comm *comm, const void *mine, size_t size, const int64_t *starts,
                             void *out, weft_error *error);

/** Those of all ranks in a list of rows.
 *  list    [n] rows of this rank's list; own ones count
 *  out     [*n_out] ascending rows of the whole; caller's; free() */
weft_status weft_rank_entries(const weft_rank_rows *rows, const int32_t *list, int64_t n,
                              int32_t **out, int64_t *n_out, weft_error *error);

/** A problem of multigrid on the whole. */
typedef struct weft_whole {
    const weft_preconditioner_problem *part; /* borrowed, as is layout */
    weft_layout *layout;
    weft_preconditioner_problem problem; /* whose constrained dofs are those of the whole */
    weft_rank_rows rows;
    int32_t *constrained;
    double *x; /* [nodes][dimension] of the space; NULL: it has none */
} weft_whole;
/** problem  on this rank's part; borrowed
 *  layout   of its dofs; borrowed
 *  out      caller's, also after an error; weft_whole_clear */
weft_status weft_whole_make(weft_device *device, const weft_preconditioner_problem *problem,
                            weft_layout *layout, weft_whole *out, weft_error *error);
void weft_whole_clear(weft_whole *whole);
/** The whole matrix of the rows that ranks have.
 *  part     own rows are complete; its columns are those of `columns`
 *  out      caller's; weft_csr_clear */
weft_status weft_whole_matrix(const weft_rank_rows *rows, const weft_csr *part,
                              const int32_t *columns, int64_t n_columns, weft_csr *out,
                              weft_error *error);

/** The nodes of the whole mesh, with constrained dofs of linear functions. */
typedef struct weft_whole_nodes {
    int32_t *constrained; /* [n_constrained] ascending; malloc'd */
    int64_t n_constrained;
    double *x; /* [nodes][dimension]; malloc'd */
} weft_whole_nodes;
/** weft_degree_prolongation of the whole.
 *  P, coarse  caller's, also after an error */
weft_status weft_whole_prolongation(const weft_whole *whole, weft_csr *P, weft_whole_nodes *coarse,
                                    weft_error *error);

/** What this rank has of a level. */
typedef struct weft_level_part {
    int64_t n;                  /* rows in its list, in the order of the whole */
    int64_t n_whole, n_entries; /* of the whole, by which kernels are chosen */
    int32_t *numbers;           /* [n] in the whole */
    /* rows of other ranks are empty in A, whose diagonal a is -1 there; moved from here to the cycle */
    weft_csr A, P;
    double *a;
    int width; /* of the longest row of P in the whole */
    /* brought up to date: arguments of products, the residual that is restricted, the solution that is interpolated */
    weft_layout *product, *residual, *solution;
    weft_layout
        *all;     /* right-hand side of the first level that each rank computes; otherwise NULL */
    int32_t *own; /* of the finest level: [n_own] own rows in the list; otherwise NULL */
} weft_level_part;
void weft_level_part_free(weft_level_part **part);

/** Divide the levels that have many rows, [0] the finest: their sources get parts, and the next one.
 *  Errors  WEFT_ERROR_MEMORY, those of weft_comm_exchange */
weft_status weft_levels_divide(weft_device *device, const weft_whole *whole,
                               struct weft_cycle_source *sources, int n_levels, weft_error *error);
