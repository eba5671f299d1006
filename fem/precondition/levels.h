/** Levels of multigrid, geometric or by aggregation, made on a device. Not installed.
 *
 *      In: an operator whose matrix was made on the device, a hierarchy of meshes or the coordinates of a space.
 *      Out: levels of a cycle, and the coarsest matrix on the host. */
#pragma once

#include "fem/precondition/cycle.h"

typedef struct weft_levels_options {
    const weft_preconditioner_problem *problem;
    const weft_hierarchy *hierarchy; /* NULL: by aggregation */
    int components;                  /* dofs per node */
    int degree;                      /* of the smoothing */
    int most_levels;                 /* with the coarsest; at most hierarchy->n_levels */
    int64_t coarsest_rows;           /* a level of at most this many rows is the last */
} weft_levels_options;

/** All levels but the coarsest, [0] the finest. Free with weft_levels_clear. */
typedef struct weft_levels {
    int n;
    weft_cycle_source sources[WEFT_PRECONDITIONER_LEVELS_MAX];
    weft_csr last; /* the matrix of the coarsest */
    const weft_mesh *mesh;
    int32_t *constrained; /* [n_constrained] its constrained dofs, ascending */
    int64_t n_constrained;
    /* by aggregation, in place of mesh and constrained: [n_nodes][dimension] coordinates, [rows of last][n_modes]
     * the near-nullspace; [n_nodes + 1] rows of each node, NULL: one */
    double *x, *modes;
    int32_t *node_start;
    int64_t n_nodes;
    int n_modes;
    bool is_complete; /* while they are made: the last exists */
} weft_levels;

/** Make the levels on a device on which set-up runs; by aggregation with the constants, or with as many components as
 *  dimensions, from two on, with rigid body modes.
 *  made    false: the matrix or the set-up is on the host, there are more than six components, or aggregation finds
 *          few strong couplings, and *out is {0}
 *  Errors  WEFT_ERROR_UNSUPPORTED (a row of a coarse matrix is too long; a node is next to too many aggregates; an
 *          entry of the diagonal or the matrix is not positive), _MEMORY, _COMPILER, _DEVICE; *out is {0} */
weft_status weft_levels_on_device(weft_context *context, const weft_levels_options *options,
                                  weft_levels *out, bool *made, weft_error *error);
/** Make the matrix and the inverse diagonal of the finest level alone on such a device.
 *  source  gets op and a, and lambda if it is 0
 *  made    as above; otherwise op and a are untouched
 *  Errors  as above */
weft_status weft_levels_finest(weft_context *context, const weft_preconditioner_problem *problem,
                               weft_cycle_source *source, bool *made, weft_error *error);
void weft_levels_clear(weft_levels *levels);

/** Parents of dofs from those of nodes, [dofs of the level][2], twice the same for a dof of the
 *  coarser level. free(); NULL without memory. */
int32_t *weft_dof_parents(weft_device *device, const weft_hierarchy_level *level, int components);

/** The present matrix of the operator, on the host. Arrays are borrowed, but values from a GPU.
 *  own     NULL, or these values; caller's; free()
 *  Errors  WEFT_ERROR_UNSUPPORTED (the operator stores no matrix), _MEMORY, _DEVICE */
weft_status weft_matrix_on_host(const weft_preconditioner_problem *problem, weft_csr *out,
                                double **own, weft_error *error);

/** Does a space have higher degree, so that linear functions on its mesh are a coarser level? */
bool weft_space_coarsens(const weft_space *space);
/** The prolongation from linear functions. Rows of constrained dofs are empty; columns of constrained coarse dofs, those of
 *  vertices whose own dof is constrained, have no entries.
 *  P       [dofs][mesh nodes * components]; caller's; weft_csr_clear
 *  coarse  [*n_coarse] ascending; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_degree_prolongation(const weft_space *space, const int32_t *constrained,
                                     int64_t n_constrained, weft_csr *P, int32_t **coarse,
                                     int64_t *n_coarse, weft_error *error);
