/** Static condensation: bubbles are eliminated cell by cell from a matrix over several spaces, on the host. Not
 *  installed.
 *
 *      In: a matrix, the spaces that its rows belong to one after another.
 *      Out: with b the bubbles, which couple to no other cell, and r the rest,
 *
 *          A^-1 = [ 1                ] [ S^-1          ] [ 1  -A_rb A_bb^-1 ]
 *                 [ -A_bb^-1 A_br  1 ] [       A_bb^-1 ] [     1            ],   S = A_rr - A_rb A_bb^-1 A_br
 *
 *  What is used of S^-1 need not know how vertex functions and bubbles of an enriched element are normalised: S is
 *  the same for every basis. With the bubbles of linear functions it has the stiffness of these, and for a pressure
 *  the term that stabilises it.
 *
 *  Decision  docs/decisions/0043-block-preconditioner-reads-the-matrix.md */
#pragma once

#include "fem/multigrid/multigrid.h"
#include "fem/weft_preconditioner.h"

enum { WEFT_CONDENSE_SPACES_MAX = 16 };

typedef struct weft_condensation {
    bool is_local[WEFT_CONDENSE_SPACES_MAX]; /* spaces of bubbles */
    bool is_any;                             /* else the rest is {0} */
    weft_csr matrix;                         /* S; rows and columns of b: the identity */
    weft_csr down; /* r - A_rb A_bb^-1 b in the rows of r that are free; b in those of b */
    weft_csr up;   /* r in the rows of r, A_bb^-1 (b - A_br r) in those of b */
} weft_condensation;

/** Condense a matrix.
 *  A        borrowed; its pattern must be symmetric
 *  problem  spaces, at most WEFT_CONDENSE_SPACES_MAX, and constrained dofs
 *  out      weft_condensation_clear, also after an error; nothing is local where there are no bubbles, or
 *           some A_bb is singular
 *  Errors   WEFT_ERROR_MEMORY
 *  Source   Arnold, Brezzi and Fortin 1984, A stable finite element for the Stokes equations */
weft_status weft_condense(weft_device *device, const weft_csr *A,
                          const weft_preconditioner_problem *problem, weft_condensation *out,
                          weft_error *error);
void weft_condensation_clear(weft_condensation *condensation);
