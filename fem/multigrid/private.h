/* Steps of smoothed aggregation and builders of matrices, shared by the files of this folder. Not
 * installed.
 *
 *      matrix -> node graph -> aggregates -> tentative prolongation -> prolongation -> matrix */
#pragma once

#include "fem/multigrid/multigrid.h"

/* ---- building matrices by rows -------------------------------------------------------------- */

/** Rows first .. last of a matrix, before they are joined. */
typedef struct weft_csr_chunk {
    int64_t first, last;
    int64_t *lengths; /* [last - first] of the rows */
    int32_t *columns;
    double *values;
    int64_t n, capacity;
    bool failed;
} weft_csr_chunk;
/** Reserve n more entries. Returns false without memory. */
bool weft_csr_chunk_reserve(weft_csr_chunk *chunk, int64_t n);
/** Append the rows of a chunk; false without memory. */
typedef bool (*weft_csr_fill)(const void *user, weft_csr_chunk *chunk);
/** A matrix in chunks. */
typedef struct weft_csr_chunks {
    int64_t n_rows, n_chunks;
    int64_t *row_start; /* [n_rows + 1] */
    weft_csr_chunk *chunks;
} weft_csr_chunks;
enum { WEFT_CSR_CHUNK = 4096 }; /* rows of a chunk, except for the last */
/** Fill the chunks of a matrix of n_rows rows, in parallel.
 *  out     caller's, also after an error; weft_csr_chunks_clear
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_csr_chunks_make(weft_device *device, weft_csr_fill fill, const void *user,
                                 int64_t n_rows, weft_csr_chunks *out, weft_error *error);
void weft_csr_chunks_clear(weft_csr_chunks *chunks);
/** Make a matrix by chunks of rows, in parallel.
 *  out     n_rows and n_columns are set; gets the arrays
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_csr_build(weft_device *device, weft_csr_fill fill, const void *user, weft_csr *out,
                           weft_error *error);

/** A sparse row as a hash table of column -> sum. */
typedef struct weft_row_sum {
    int shift;     /* there are 2^(32 - shift) slots */
    int32_t *keys; /* -1: empty slot */
    double *sums;
    uint32_t *used; /* slots in order of their first addition */
    int64_t n_used;
} weft_row_sum;
/** Make a table for at most `most` columns; false without memory. */
bool weft_row_sum_make(weft_row_sum *row, int64_t most);
void weft_row_sum_free(weft_row_sum *row);
static inline size_t weft_row_sum_slots(const weft_row_sum *row) {
    return (size_t)1 << (32 - row->shift);
}
/** The slot of a column that is not in its first one; a new slot has the sum 0. */
uint32_t weft_row_sum_probe(weft_row_sum *row, int32_t column);
static inline uint32_t weft_row_sum_hash(int32_t column, int shift) {
    return (uint32_t)column * UINT32_C(2654435769) >> shift;
}
static inline uint32_t weft_row_sum_slot(weft_row_sum *row, int32_t column) {
    const uint32_t slot = weft_row_sum_hash(column, row->shift);
    return __builtin_expect(row->keys[slot] == column, 1) ? slot : weft_row_sum_probe(row, column);
}
static inline void weft_row_sum_add(weft_row_sum *row, int32_t column, double value) {
    row->sums[weft_row_sum_slot(row, column)] += value;
}
/** Append the row to a chunk that has capacity for it, and empty the table.
 *  sorted  by columns; otherwise in the order of their first addition */
void weft_row_sum_append(weft_row_sum *row, bool sorted, weft_csr_chunk *chunk);

/** weft_galerkin with R = P^T. */
weft_status weft_galerkin_with(weft_device *device, const weft_csr *A, const weft_csr *P,
                               const weft_csr *R, weft_csr *out, weft_error *error);

/* ---- rows of a level ------------------------------------------------------------------------ */

/** Split n items into chunks for tasks. */
static inline int64_t weft_chunk_start(int64_t n, int64_t chunk, int64_t n_chunks) {
    return n / n_chunks * chunk + n % n_chunks * chunk / n_chunks;
}

/** Check a matrix and its constrained rows.
 *  out     [n_rows] 0 for constrained rows, 1 for others; caller's; free()
 *  Errors  WEFT_ERROR_SHAPE, WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_free_rows(const weft_csr *A, const int32_t *constrained, int64_t n_constrained,
                           double **out, weft_error *error);
/** Check a matrix, find its diagonal, and bound the eigenvalues as weft_csr_eigenvalue.
 *  scale   [n_rows] 0 for constrained rows, 1 for others, which get 1 / sqrt(a_ii)
 *  lambda  gets the bound
 *  Errors  as weft_csr_eigenvalue */
weft_status weft_csr_scale(weft_device *device, const weft_csr *A, double *scale, double *lambda,
                           weft_error *error);

/** A level being coarsened. */
typedef struct weft_coarsening {
    weft_device *device;
    const weft_csr *A;
    double *scale;          /* [n_rows] 1 / sqrt(a_ii); 0: constrained */
    double lambda;          /* of D^-1 A */
    double theta;           /* of strong couplings */
    double aggregate_nodes; /* mean size of aggregates */
    int row_aggregates;     /* most aggregates in a row of P */
    int64_t n_nodes;
    int32_t *node_start; /* [n_nodes + 1] rows of each node; NULL: node = row */
    int32_t *node_of;    /* [n_rows]; NULL: node = row */
    int dimension;
    const double *x; /* [n_nodes][dimension]; NULL: none */
    double *own_x;   /* x where it is not the caller's */
    int n_modes;
    /* [n_rows][n_modes] near-nullspace; then the rows of T, from their
     * aggregate's first coarse dof on */
    double *modes;
} weft_coarsening;
static inline int64_t weft_node_row(const weft_coarsening *level, int64_t node) {
    return level->node_start ? level->node_start[node] : node;
}
static inline int32_t weft_row_node(const weft_coarsening *level, int32_t row) {
    return level->node_of ? level->node_of[row] : row;
}

/* ---- graph and aggregates ------------------------------------------------------------------- */

enum {
    WEFT_CONNECTS = 1, /* the nodes may be in one aggregate */
    WEFT_SMOOTHS = 2   /* the coupling is in the row of A_F */
};
/** Couplings of nodes: the matrix, or for several rows a node the Frobenius norms of its blocks. */
typedef struct weft_node_graph {
    weft_csr couplings; /* [n_nodes][n_nodes]; borrowed from the matrix, or owned */
    bool owned;
    double *scale;   /* [n_nodes] 1 / sqrt of the diagonal; 0: a node without free rows */
    uint8_t *flags;  /* [entries] WEFT_CONNECTS, WEFT_SMOOTHS; 0 for the diagonal */
    uint8_t *active; /* [n_nodes] has a coupling with a flag */
} weft_node_graph;
weft_status weft_node_graph_make(const weft_coarsening *level, weft_node_graph *out,
                                 weft_error *error);
void weft_node_graph_clear(weft_node_graph *graph);

/** Disjoint sets of nodes, ascending within each. */
typedef struct weft_node_sets {
    int64_t n;
    int64_t *start; /* [n + 1] */
    int32_t *nodes; /* [start[n]] */
    int32_t *of;    /* [n_nodes]; -1: in no set */
} weft_node_sets;
void weft_node_sets_clear(weft_node_sets *sets);
/** List the nodes of sets by `n` and `of`.
 *  sets    gets start and nodes
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_node_sets_list(weft_device *device, int64_t n_nodes, weft_node_sets *sets,
                                weft_error *error);
/** Bisect the active nodes by their coordinates into sets of about aggregate_nodes; `of` is NULL.
 *  Errors  WEFT_ERROR_INPUT (a coordinate is not finite), WEFT_ERROR_MEMORY */
weft_status weft_nodes_bisect(const weft_coarsening *level, const weft_node_graph *graph,
                              weft_node_sets *out, weft_error *error);
/** Sets of nodes and the neighbours that they are connected to, without coordinates.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_nodes_gather(const weft_coarsening *level, const weft_node_graph *graph,
                              weft_node_sets *out, weft_error *error);
/** Split sets into their connected components, and join small components to the neighbour
 *  with the strongest couplings.
 *  sets    replaced; gets `of`
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_nodes_connect(const weft_coarsening *level, const weft_node_graph *graph,
                               weft_node_sets *sets, weft_error *error);

/* ---- prolongation --------------------------------------------------------------------------- */

/** Orthonormalise the near-nullspace on each aggregate: B = Q R.
 *  level   modes are replaced by Q
 *  coarse  gets node_start, node_of, modes (R), n_nodes, x (means of the aggregates' nodes)
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_tentative_make(weft_coarsening *level, const weft_node_sets *aggregates,
                                weft_coarsening *coarse, int64_t *n_coarse_rows, weft_error *error);
/** P = (I - 3/2 / lambda D_F^-1 A_F) T.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_prolongation_make(const weft_coarsening *level, const weft_node_graph *graph,
                                   const weft_node_sets *aggregates, const weft_coarsening *coarse,
                                   int64_t n_coarse_rows, weft_csr *P, weft_error *error);
/** Make the near-nullspace of the finest level; rows of constrained dofs are zero.
 *  modes   [n_rows][*n_modes]; caller's; free()
 *  Errors  WEFT_ERROR_INPUT (not finite), WEFT_ERROR_MEMORY */
weft_status weft_modes_make(weft_device *device, const weft_aggregation_options *options,
                            int64_t n_rows, const double *scale, double **modes, int *n_modes,
                            weft_error *error);
