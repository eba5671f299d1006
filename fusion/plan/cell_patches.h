/** Accumulation over patches of consecutive cells, with any number of connectivities
 *  (fusion/connectivity/cell_patches.h): when a kernel has this form, and its sizes. */
#pragma once

#include "fusion/plan/plan.h"

enum { WEFT_CELL_PATCH_MOST = 256 /* cells of a patch */ };

/** Parts of ARGUMENT_CELL_PATCH. */
enum {
    CELL_PATCH_START,
    CELL_PATCH_NODES,
    CELL_PATCH_PLACES,
    CELL_PATCH_ROW_START, /* from here on those of sums */
    CELL_PATCH_ORDER,
    CELL_PATCH_PAIRS,
    CELL_PATCH_BORDER,
    CELL_PATCH_BORDER_START,
    CELL_PATCH_BORDER_SLOTS,
    CELL_PATCH_PARTS
};

/** The argument `part` of the patches of a connectivity with this number of cells. */
weft_argument weft_cell_patch_argument(int connectivity, int cells, int part);
/** Its cells, and one of the parts above. */
int weft_cell_patch_cells_of(const weft_argument *argument);
int weft_cell_patch_part_of(const weft_argument *argument);

/** Is it faster than atomic additions? Cells with many nodes have few contributions per node. */
bool weft_cell_patch_pays(const weft_graph *graph, const weft_plan_kernel *kernel);
/** Can a kernel be generated in this form? It has one accumulation, into a list, no stores and no
 *  reductions, and loads uniform values, lists over its elements and lists through connectivities. */
bool weft_cell_patch_fits(const weft_graph *graph, const weft_plan_kernel *kernel);
/** Cells of a patch: the most whose contributions take a limited part of the shared memory. */
int weft_cell_patch_cells(const weft_graph *graph, const weft_accumulation *accumulation,
                          const weft_compile_options *options);
/** Threads of a block for patches of this number of cells. */
int weft_cell_patch_threads(int cells);
/** Components that a kernel stages per node of a connectivity. */
int weft_cell_patch_staged(const weft_graph *graph, const weft_plan_kernel *kernel,
                           int connectivity);
/** Components of the contributions of a patch: per component of the target one of each node of each
 *  cell, and a zero. */
int weft_cell_patch_contributions(const weft_graph *graph, const weft_plan_kernel *kernel);
/** Blocks of a multiprocessor for which registers are allotted. */
int weft_cell_patch_resident(const weft_graph *graph, const weft_plan *plan,
                             const weft_plan_kernel *kernel, bool single);
