/** Whether a sum over cells may be computed with the entries of a cell in another order.
 *  In:  the calls of a kernel and its accumulation through a connectivity
 *  Out: proved, or not
 *  Decision  docs/decisions/0056-owners-permute-what-is-proved.md */
#pragma once

#include "fusion/graph/graph.h"

/** The orders in which a kernel reads the entries of a cell. */
typedef enum weft_permutations {
    PERMUTATIONS_EVEN, /* even ones; of two entries, both orders */
    PERMUTATIONS_ALL
} weft_permutations;

/** Calls that compute the source of an accumulation. */
typedef struct weft_cell_sum {
    const weft_accumulation *accumulation;
    const int *calls; /* [n_calls], each behind those whose results it reads */
    int n_calls;
} weft_cell_sum;

/** Is target[dofs] += f(u[dofs], c), or target[dofs,dofs] += f(u[dofs], c), the same for every order
 *  of the entries of dofs: does f(P u, c) = P f(u, c) hold for every permutation P, for every u and
 *  for every value c of what the calls read per cell, and uniformly? Then whoever sums the cells of
 *  a node may start from the node. The values c are those of the cell as it is: a Jacobian that
 *  another kernel has stored is not permuted, so that what uses it is found to depend on the order.
 *
 *  The identity is computed at a random point, modulo a prime (fusion/base/residues.h). A "yes" is
 *  right with overwhelming probability, whatever the mesh and the data, and it is always the same
 *  for the same calls; "no" means that it was not proved.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_cell_sum_commutes(const weft_graph *graph, const weft_cell_sum *sum,
                                   weft_permutations permutations, bool *out, weft_error *error);
