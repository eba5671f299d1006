/** Owner-computes accumulation over patches of cells: what such a kernel computes, and whether a
 *  kernel can be generated in this form. */
#pragma once

#include "fusion/plan/permutation.h"
#include "fusion/plan/plan.h"

/** What a patch kernel computes per cell (fusion/connectivity/vertex_patches.h). */
typedef struct weft_patch_computation {
    const weft_accumulation *accumulation;
    const int *calls, *variants; /* [n_calls] over the cells, in order of execution */
    int n_calls;
    const weft_operand *loads; /* [n_loads] uniform, per cell or through the store's connectivity */
    int n_loads;
    int vector;         /* the value that LOAD(j) reads, of one component; -1: none */
    int nodes, threads; /* per patch; per block (ROWS_NODES, ROWS_THREADS in the kernel) */
    bool edges;         /* edge patches (fusion/connectivity/edge_patches.h), not vertex patches */
} weft_patch_computation;

/** Can calls be generated in this form? They need cells of 3 or 4 vertices (matrices: 2 to 4), and
 *  read uniform values, values per cell, and others through the store's connectivity. Whether cells
 *  may be permuted, as this form does, is another question (fusion/plan/legality.h). */
bool weft_patch_fits(const weft_graph *graph, const weft_cell_sum *sum);
/** Does it read per-cell values, so that the patches must contain cell numbers? */
bool weft_patch_computation_reads_cells(const weft_graph *graph,
                                        const weft_patch_computation *patch);
/** Dynamic shared memory per block, in bytes.
 *  most_local  maximum of own and halo nodes over the patches */
size_t weft_patch_computation_shared(const weft_graph *graph, const weft_patch_computation *patch,
                                     int most_local, size_t real_bytes);
/** The computation of a plan's kernel. */
weft_patch_computation weft_patch_computation_of(const weft_graph *graph,
                                                 const weft_plan_kernel *kernel);

/** Number of arguments per kind of patch. Their declarations are in one table, vertex patches
 *  before edge patches; the cells are the last argument of each. */
enum { WEFT_PATCH_ARGUMENTS = 6, WEFT_EDGE_PATCH_ARGUMENTS = 5 };

enum { WEFT_PATCH_MATRIX_ARGUMENTS = 8 };
/** Components of a load. */
int weft_patch_load_count(const weft_graph *graph, const weft_operand *load);
/** Is it loaded through the store's connectivity? */
bool weft_patch_is_nodal(const weft_patch_computation *patch, const weft_operand *load);
/** Components of nodal data that are staged per node. */
int weft_patch_staged_count(const weft_graph *graph, const weft_patch_computation *patch);
/** Components of the target. */
int weft_patch_result_count(const weft_graph *graph, const weft_patch_computation *patch);
