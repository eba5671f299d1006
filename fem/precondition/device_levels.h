/** The level that is being coarsened, while levels of multigrid are made on a device. Not installed.
 *
 *      In: an operator whose matrix was made on the device.
 *      Out: diagonals, scaled matrices, the last level's matrix on the host. */
#pragma once

#include "fem/precondition/levels.h"
#include "fem/sparse/on_device.h"

/** Clear with weft_device_level_clear. */
typedef struct weft_device_level {
    weft_device_matrix csr; /* that of the finest is {0} */
    weft_sell_matrix *sell; /* the matrix of op */
    weft_operator *op;      /* in double precision; the finest: borrowed */
    weft_memory *fixed;     /* bytes, 1: constrained */
} weft_device_level;

typedef struct weft_levels_work {
    weft_context *context;
    weft_setup *setup;
    weft_levels *out;
    bool half_precision;          /* for weft_sell_matrix_scaled */
    weft_eigenvalue_steps *bound; /* kept from level to level */
} weft_levels_work;

/** finest  the operator that a level may borrow */
void weft_device_level_clear(weft_device_level *level, const weft_operator *finest);
/** The operator's matrix and the constrained dofs.
 *  work    gets setup and half_precision
 *  made    false: the matrix is on the host
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_level_open(weft_levels_work *work,
                                   const weft_preconditioner_problem *problem,
                                   weft_device_level *level, bool *made, weft_error *error);
/** source->a, the diagonal in single precision, and lambda unless it is set.
 *  Errors  WEFT_ERROR_UNSUPPORTED (an entry of the diagonal or the matrix is not positive), _MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_level_diagonal(const weft_levels_work *work, const weft_device_level *level,
                                       weft_cycle_source *source, weft_error *error);
/** source->op, the matrix in single precision divided by source->a; csr may lose its columns. */
weft_status weft_device_level_scaled(const weft_levels_work *work, weft_device_level *level,
                                     weft_cycle_source *source, weft_error *error);
/** sell and op of a coarse level from csr. */
weft_status weft_device_level_lay_out(const weft_levels_work *work, weft_device_level *coarse,
                                      weft_error *error);
/** The matrix and the constrained dofs of the last level, in work->out. */
weft_status weft_device_level_read(const weft_levels_work *work, const weft_device_level *level,
                                   weft_error *error);
/** All levels by aggregation, as weft_levels_on_device. */
weft_status weft_levels_by_aggregation(weft_levels_work *work, const weft_levels_options *options,
                                       bool *made, weft_error *error);
