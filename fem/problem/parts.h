/** The forms of a problem, each integrated over one domain: they add up to K and b, or to r(u) and its derivative K.
 *
 *      In: scripts, with their inputs. Out: the vector b, or r(u). */
#pragma once

#include "fem/problem/balance.h"
#include "fem/weft_problem.h"
#include "fem/weft_space.h"

/** What a part is integrated over. */
typedef enum weft_part_domain {
    WEFT_PART_CELLS,
    WEFT_PART_BOUNDARY,
    WEFT_PART_BETWEEN_CELLS
} weft_part_domain;

typedef struct weft_problem_part {
    const char *text; /* borrowed */
    weft_part_domain domain;
    int id; /* of a physical group; -1: everywhere. For names, as ds(2) */
    bool has_matrix, has_vector, has_mass;
    weft_text cells; /* the text, followed by K = MATRIX */
    /* of its cells or facets to the dofs of u; borrowed; NULL: that of the space of u */
    weft_connectivity *dofs;
    weft_compilation *compilation; /* of the text; owns the names that inputs have */
    weft_bound_form bound;         /* of cells, with its inputs */
    weft_symmetry *symmetry;       /* of the matrix; NULL: not yet */
    weft_compilation *vector_compilation;
    weft_program *vector_program;
    double vector_sums[WEFT_VALUES_MAX]; /* of the vector, by component of u, over the boundary */
} weft_problem_part;

/** Make n parts, of zeros.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_problem_parts_make(weft_problem *problem, int n, weft_error *error);
void weft_problem_parts_clear(weft_problem *problem);
/** Compile the vectors of all parts, and compute the fluxes of conditions, and of a residual the loads at points.
 *  Errors  those of weft_compile, weft_program_make and weft_bc_load_make */
weft_status weft_problem_vectors_compile(weft_problem *problem, weft_error *error);
/** Compute b: the vectors of all parts for the present u, plus factor * fluxes.
 *  Errors  WEFT_ERROR_INPUT: it is not finite */
weft_status weft_problem_load(weft_problem *problem, double factor, weft_error *error);
/** b = r(u) + alpha u - factor * fluxes, on the device. */
weft_status weft_problem_residual(weft_problem *problem, double factor, weft_error *error);
/** Make the operator of Robin conditions alone, if there are any. */
weft_status weft_problem_robin_make(weft_problem *problem, weft_error *error);
/** Free the programs of the vectors. */
void weft_problem_release_vectors(weft_problem *problem);
/** Free what only the load of a linear problem needed: the programs of the vectors, and the transposed connectivities, which
 *  products by gathering need too. */
void weft_problem_release_load(weft_problem *problem);
/** Make the problem's scratch vector `more`, if it is not there. */
weft_status weft_problem_more_make(weft_problem *problem, weft_error *error);
