/** Accumulating stores that the owner of each target does, over a patch of cells: what such a kernel
 *  computes, and whether a kernel can be written so. */
#pragma once

#include "fusion/plan/plan.h"

/** An accumulating store done by the owner of each target (fusion/connectivity/vertex_patches.h): what its kernel
 *  computes for a cell. */
typedef struct weft_patch_computation {
    const weft_accumulation *accumulation;
    const int *calls, *variants; /* [n_calls] over the cells, in order */
    int n_calls;
    const weft_operand *loads; /* [n_loads] uniform, over the cells, or through the store's
                                  connectivity */
    int n_loads;
    int vector;         /* the value that LOAD(j) gives, of one component; -1: none */
    int nodes, threads; /* ROWS_NODES, ROWS_THREADS */
    bool edges;         /* by edge patches (fusion/connectivity/edge_patches.h), not of vertices */
} weft_patch_computation;

/** fusion/codegen/vertex_patch.c: can it be written so? Cells of 3 or 4 vertices; nothing given by cell that may
 *  depend on the numbering of its vertices (a size that is theirs). */
bool weft_patch_computation_fits(const weft_graph *graph, const weft_patch_computation *patch);
/** Does it read anything over the cells, so that words need their numbers? */
bool weft_patch_computation_reads_cells(const weft_graph *graph,
                                        const weft_patch_computation *patch);
/** Dynamic shared memory of a block where most_local nodes are in and round a patch. */
size_t weft_patch_computation_shared(const weft_graph *graph, const weft_patch_computation *patch,
                                     int most_local, size_t real_bytes);
/** What a plan's kernel computes in its patches. */
weft_patch_computation weft_patch_computation_of(const weft_graph *graph,
                                                 const weft_plan_kernel *kernel);

/** How arguments of patches are declared: those of vertex patches, then those of edge patches; of
 *  each the cells come last. */
enum { WEFT_PATCH_ARGUMENTS = 6, WEFT_EDGE_PATCH_ARGUMENTS = 5 };

enum { WEFT_PATCH_MATRIX_ARGUMENTS = 7 };
int weft_patch_load_count(const weft_graph *graph, const weft_operand *load);
/** Is it loaded through the store's connectivity? */
bool weft_patch_is_nodal(const weft_patch_computation *patch, const weft_operand *load);
/** Components of nodal data that are staged per node; components of the target. */
int weft_patch_staged_count(const weft_graph *graph, const weft_patch_computation *patch);
int weft_patch_result_count(const weft_graph *graph, const weft_patch_computation *patch);
