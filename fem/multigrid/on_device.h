/** Smoothed aggregation by kernels of the device (kernels/setup), for matrices with one dof per node and one
 *  vector of the near-nullspace. Not installed.
 *
 *      In: a matrix, coordinates and a vector on a device on which set-up runs.
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
