/** Smoothed aggregation by kernels of the device (kernels/setup), for matrices with one dof per node and one
 *  vector of the near-nullspace, and for nodes with up to six rows and vectors. Not installed.
 *
 *      In: a matrix, coordinates and a near-nullspace on a device on which set-up runs.
 *      Out: aggregates, a prolongation and the Galerkin matrix, which stay on the device.
 *
 *  Aggregates and columns of P are those of the host, and so are entries of P for the same lambda, bit for bit. All
 *  results are the same in every run.
 *
 *  Decision  docs/decisions/0026-set-up-on-the-device-equals-the-host.md */
#pragma once

#include "fem/sparse/on_device.h"

enum { WEFT_ROW_AGGREGATES = 4 }; /* entries of a row of P */

/** A level being coarsened; borrowed. */
typedef struct weft_device_coarsening {
    /* in double precision, with a diagonal entry in each row, positive in free ones */
    const weft_sell_matrix *A;
    int64_t n;          /* rows */
    weft_memory *fixed; /* [n] bytes, 1: constrained */
    weft_memory *modes; /* [n] double, not 0 at free rows */
    weft_memory *x;     /* [n][dimension] double, finite */
    int dimension;
    double theta, lambda;   /* see weft_coarsening */
    double aggregate_nodes; /* mean size of aggregates */
} weft_device_coarsening;

/** Aggregates of its nodes. Free with weft_device_aggregates_free. */
typedef struct weft_device_aggregates {
    int64_t n, n_points;
    weft_memory *scale; /* [nodes] 1 / sqrt(a_ii), 0: constrained */
    weft_memory *of;    /* [nodes] int32_t; -1: in none */
    weft_memory *nodes; /* [n_points] int32_t, those of aggregates, ascending: the points */
    /* int64_t [n + 1], uint32_t: points of each aggregate, ascending */
    weft_memory *start, *members;
} weft_device_aggregates;
/** Accepts {0}; leaves {0}. */
void weft_device_aggregates_free(weft_device_aggregates *aggregates);
/** A launch that makes rows of P. The kernel's first arguments are the numbers and {theta, lambda}, its last one gets the rows
 *  that are next to too many aggregates. */
typedef struct weft_device_rows_launch {
    weft_setup_kernel kernel;
    int64_t numbers[2];
    double theta, lambda;
    weft_memory *const *arguments; /* [n_arguments] those between; borrowed */
    int n_arguments;
} weft_device_rows_launch;
/** Errors  WEFT_ERROR_UNSUPPORTED: a row next to more than 64 aggregates; _MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_make_rows(weft_setup *setup, const weft_device_rows_launch *launch,
                                  weft_error *error);

/** weft_nodes_bisect and weft_nodes_connect.
 *  out     caller's; weft_device_aggregates_free; n may be 0
 *  Memory  during the call, about 100 bytes per node
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_aggregate(weft_setup *setup, const weft_device_coarsening *level,
                                  weft_device_aggregates *out, weft_error *error);

/** P, and what the next level needs. Free with weft_device_prolongation_free. */
typedef struct weft_device_prolongation {
    int64_t n_rows, n_columns;
    /* [n_rows][4] int32_t; after the entries of a row again its first column; rows without entries
     * have one of all columns */
    weft_memory *columns;
    weft_memory *weights; /* [n_rows][4] double, 0 after the entries of a row */
    weft_memory *modes;   /* [n_columns] double, the near-nullspace of the coarse level */
    weft_memory *x;       /* [n_columns][dimension] double, means of the aggregates' nodes */
} weft_device_prolongation;
/** Accepts {0}; leaves {0}. */
void weft_device_prolongation_free(weft_device_prolongation *prolongation);
/** weft_tentative_make and weft_prolongation_make.
 *  out     caller's; weft_device_prolongation_free
 *  Errors  WEFT_ERROR_UNSUPPORTED: a node next to more than 64 aggregates; _MEMORY, _COMPILER, _DEVICE; *out
 *          untouched */
weft_status weft_device_prolong(weft_setup *setup, const weft_device_coarsening *level,
                                const weft_device_aggregates *aggregates,
                                weft_device_prolongation *out, weft_error *error);

/** out = P^T A P, with a diagonal entry in each row, and the diagonals of rows that nothing fixes repaired as in
 *  weft_aggregation_make.
 *  scale     of the aggregates
 *  transfer  of P's columns; its transposed form is made
 *  out       caller's; weft_device_matrix_free
 *  Errors    WEFT_ERROR_UNSUPPORTED: a row of more than 256 entries; _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_galerkin_weighted(weft_setup *setup, const weft_device_coarsening *level,
                                          weft_memory *scale, const weft_device_prolongation *P,
                                          weft_connectivity *transfer, weft_device_matrix *out,
                                          weft_error *error);

/* ---- nodes with several rows ------------------------------------------------------------------ */

enum { WEFT_BLOCK_ROWS = 6 }; /* the most rows of a node, and modes */

/** A level being coarsened, whose nodes have consecutive rows; borrowed. */
typedef struct weft_device_blocks {
    /* in double precision, with a diagonal entry in each row, positive in free ones */
    const weft_sell_matrix *A;
    int64_t n_rows, n_nodes;
    int most_rows;           /* of a node */
    weft_memory *first, *of; /* int64_t [n_nodes + 1] rows of nodes; int32_t [n_rows] nodes */
    weft_memory *fixed;      /* [n_rows] bytes, 1: constrained */
    int n_modes, dimension;
    weft_memory *modes;   /* [n_rows][n_modes] double, the near-nullspace, 0 at constrained rows */
    weft_memory *x;       /* [n_nodes][dimension] double, finite */
    double theta, lambda; /* see weft_coarsening */
    double aggregate_nodes; /* mean size of aggregates */
} weft_device_blocks;
/** Make first, of and modes of a finest level, of which n_rows, n_nodes, fixed, dimension and x are set, and set most_rows
 *  and n_modes: nodes of `components` rows, and rigid body modes or a constant for each component.
 *  level   first, of and modes are the caller's, also after an error; weft_memory_free
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_blocks_finest(weft_setup *setup, int components, bool rigid_body_modes,
                                      weft_device_blocks *level, weft_error *error);

/** weft_node_graph without flags. Free with weft_device_node_graph_free. */
typedef struct weft_device_node_graph {
    weft_device_matrix norms; /* [n_nodes] rows with a diagonal entry each */
    weft_memory *fixed;       /* [n_nodes] bytes, 1: a node without free rows */
} weft_device_node_graph;
/** Accepts {0}; leaves {0}. */
void weft_device_node_graph_free(weft_device_node_graph *graph);
/** weft_node_graph_make.
 *  out     caller's; weft_device_node_graph_free
 *  Errors  WEFT_ERROR_UNSUPPORTED: more than 2^32 - 1 entries; _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_node_graph_make(weft_setup *setup, const weft_device_blocks *level,
                                        weft_device_node_graph *out, weft_error *error);
/** weft_device_aggregate of the nodes of a graph; scale is that of the graph. */
weft_status weft_device_aggregate_blocks(weft_setup *setup, const weft_device_blocks *level,
                                         const weft_device_node_graph *graph,
                                         weft_device_aggregates *out, weft_error *error);

/** P by aggregates, and what the next level needs. Free with weft_device_block_prolongation_free. */
typedef struct weft_device_block_prolongation {
    int64_t n_rows, n_columns, n_aggregates;
    int n_modes;
    weft_memory *scale;  /* [n_rows] double 1 / sqrt(a_ii), 0: constrained */
    weft_memory *counts; /* [n_rows] int32_t, aggregates of a row, 0 to 4 */
    weft_memory *
        aggregates; /* [n_rows][4] int32_t, ascending; after those of a row again its first; any without */
    /* [n_rows][4][n_modes] double, of the rows of the aggregate, and then 0 */
    weft_memory *weights;
    /* of the coarse level, whose nodes are the aggregates: int64_t [n_aggregates + 1] rows, int32_t [n_columns]
     * aggregates, [n_columns][n_modes] near-nullspace, [n_aggregates][dimension] coordinates */
    weft_memory *first, *of, *modes, *x;
} weft_device_block_prolongation;
/** Accepts {0}; leaves {0}. */
void weft_device_block_prolongation_free(weft_device_block_prolongation *prolongation);
/** weft_tentative_make: vectors that depend on those before are dropped, so that aggregates have up to n_modes rows.
 *  level   its modes become an orthonormal basis on each aggregate
 *  out     gets n_rows to n_modes, and those of the coarse level; caller's; weft_device_block_prolongation_free
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_block_tentative(weft_setup *setup, const weft_device_blocks *level,
                                        const weft_device_aggregates *aggregates,
                                        weft_device_block_prolongation *out, weft_error *error);
/** weft_prolongation_make.
 *  P       of weft_device_block_tentative; gets the rest, also after an error
 *  Errors  WEFT_ERROR_UNSUPPORTED: a row next to more than 64 aggregates; _MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_block_prolong(weft_setup *setup, const weft_device_blocks *level,
                                      const weft_device_node_graph *graph,
                                      const weft_device_aggregates *aggregates,
                                      weft_device_block_prolongation *P, weft_error *error);
/** P with 4 * n_modes entries in each row, of which those that there are not have weight 0 in the first column.
 *  columns, weights  [n_rows][4 * n_modes] int32_t and float; caller's, also after an error; weft_memory_free
 *  Errors            WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_block_transfer(weft_setup *setup, const weft_device_block_prolongation *P,
                                       weft_memory **columns, weft_memory **weights,
                                       weft_error *error);
/** out = P^T A P, with a diagonal entry in each row, repaired as by weft_device_galerkin_weighted.
 *  Memory  during the call A P: for each row about 20 aggregates' n_modes doubles
 *  Errors  WEFT_ERROR_UNSUPPORTED: a node that reaches more than 128 aggregates, an aggregate next to more than 256 others,
 *          more than 2^32 - 1 entries; _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_galerkin_blocks(weft_setup *setup, const weft_device_blocks *level,
                                        const weft_device_block_prolongation *P,
                                        weft_device_matrix *out, weft_error *error);
