/* Conjugate gradients in one persistent kernel (kernels/solvers/cg_persistent.cu), for systems
 * whose vectors fit on the chip. Not installed.
 *
 *      pattern, limits -> shape -> layout -> placement -> program */
#pragma once

#include "fem/operator/operator.h"

/* ---- shape (fem/solve/persistent_plan.c) -------------------------------------------------- */

enum { WEFT_PERSISTENT_NODES = 40 /* maximum number of nodes per thread */ };

/** The grid: block b owns nodes [b n / n_blocks, (b + 1) n / n_blocks); its thread t owns
 *  positions t, t + threads, ... within the block. */
typedef struct weft_persistent_shape {
    int n_blocks, threads;
    int nodes; /* per thread */
} weft_persistent_shape;

/** Choose a grid from the limits. Returns false, and writes the reason, if the device is unsuitable
 *  or n nodes do not fit on the chip.
 *  reason  [size], a terminated string */
bool weft_persistent_fits(const weft_limits *limits, int64_t n, int64_t n_entries,
                          weft_persistent_shape *shape, char *reason, size_t size);

/* ---- layout (fem/solve/persistent_layout.c) ----------------------------------------------- */

/** Distribution of nodes and entries over threads.
 *
 *  Positions  [block][node of the thread][thread]. In each block, nodes that other blocks read come
 *             first; both groups are sorted by descending number of entries, then by number
 *  Entries    in pairs; node k of a thread has the pairs [starts[k], starts[k + 1])
 *  Columns    below nodes * threads a position in the block, from there on a halo node */
typedef struct weft_persistent_layout {
    weft_persistent_shape shape;
    bool has_diagonal; /* diagonal entries are stored like others */
    int64_t n;
    int halo;      /* halo nodes per thread */
    int published; /* largest number of nodes of a block that others read; a multiple of 16 */
    int pairs;     /* per thread */
    int starts[WEFT_PERSISTENT_NODES + 1];
    int32_t *node;     /* [n_blocks][nodes][threads]: number of the node, -1: none */
    int32_t *halo_at;  /* [n_blocks][halo][threads]: position of the halo node, -1: none */
    int32_t *n_sent;   /* [n_blocks]: nodes that other blocks read */
    int32_t *source;   /* [n_blocks][pairs][threads][2]: entry of the pattern, -1: none */
    uint16_t *columns; /* [n_blocks][pairs][threads][2] */
} weft_persistent_layout;

/** Runs on the device's threads; the result does not depend on their number.
 *  pattern  borrowed for the call
 *  out      caller's; weft_persistent_layout_free
 *  Errors   WEFT_ERROR_UNSUPPORTED (a block has more columns than 16 bits can number),
 *           WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_persistent_layout_make(weft_device *device, const weft_pattern *pattern,
                                        const weft_persistent_shape *shape, bool has_diagonal,
                                        weft_persistent_layout **out, weft_error *error);
void weft_persistent_layout_free(weft_persistent_layout **layout);

/* ---- placement (fem/solve/persistent_plan.c) ------------------------------------------------- */

/** Placement of data on a multiprocessor. */
typedef struct weft_persistent_placement {
    int register_pairs, shared_pairs; /* per thread; other pairs are read in each iteration */
    bool x_shared;                    /* x in shared memory, otherwise in registers */
    int weights;                      /* 0: none, 1: in registers, 2: read in each iteration */
    int shared_bytes;
    double read_bytes; /* read from memory per iteration, over the whole device */
} weft_persistent_placement;

/** Choose the placement. Returns false, and writes the reason, if the vectors do not fit.
 *  weighted  the norm of the residual differs from that of the scaled residual
 *  reason    [size], a terminated string */
bool weft_persistent_place(const weft_limits *limits, const weft_persistent_layout *layout,
                           bool weighted, weft_persistent_placement *placement, char *reason,
                           size_t size);
/** Append the kernel's macros, which precede its text. */
void weft_persistent_macros(const weft_persistent_layout *layout,
                            const weft_persistent_placement *placement, weft_text *out);
/** Number of 8-byte words for the partial sums of the blocks. */
size_t weft_persistent_slot_words(const weft_persistent_layout *layout);

/* ---- program (fem/solve/persistent.c) ----------------------------------------------------- */

/** Conjugate gradients in one kernel. */
typedef struct weft_persistent weft_persistent;
/** Lay out and compile the kernel for a pattern. The choice is logged (info).
 *  pattern  borrowed for the call
 *  jacobi   the inverse diagonal given later will be that of the matrix
 *  out      caller's; weft_persistent_free; NULL, which is not an error, if the system does not fit
 *  reason   [size], why the system does not fit
 *  Errors   WEFT_ERROR_MEMORY, WEFT_ERROR_COMPILER, WEFT_ERROR_DEVICE */
weft_status weft_persistent_make(weft_context *context, const weft_pattern *pattern, bool jacobi,
                                 weft_persistent **out, char *reason, size_t size,
                                 weft_error *error);
/** Whether `persistent` was made for this context, a pattern of these sizes, and this
 *  preconditioner. */
bool weft_persistent_suits(const weft_persistent *persistent, const weft_context *context,
                           int64_t n, int64_t n_entries, bool jacobi);
/** Load the matrix. To be repeated when either argument has changed; both are on the device and are
 *  read by this call only.
 *  entries  in the pattern's order
 *  inverse  1 / D, and 0 for constrained dofs */
weft_status weft_persistent_load(weft_persistent *persistent, weft_memory *entries,
                                 weft_memory *inverse, weft_error *error);

/** How a run ended, as reported by the kernel. */
typedef enum weft_persistent_end {
    WEFT_PERSISTENT_RUNNING,   /* the limit of iterations was reached */
    WEFT_PERSISTENT_CONVERGED, /* by the recurrence; the caller must check b - A x */
    WEFT_PERSISTENT_NAN,
    WEFT_PERSISTENT_BREAKDOWN,  /* r.z is not positive */
    WEFT_PERSISTENT_INDEFINITE, /* p.Ap is not positive */
    WEFT_PERSISTENT_STUCK       /* reported as an error */
} weft_persistent_end;

typedef struct weft_persistent_run {
    /* in */
    double limit;   /* on r.r */
    int iterations; /* limit */
    /* Called from time to time with r.r at the start and after each of n iterations, or NULL. */
    void (*report)(void *user, const double *rr, int n);
    void *user;
    /* out */
    weft_persistent_end end;
    int done;        /* iterations */
    double *history; /* [done + 1]: r.r at the start and after each; free() */
} weft_persistent_run;

/** Iterate and update x, in launches of at most 1024 iterations, with run->report after each.
 *  Bitwise repeatable. If the true residual afterwards contradicts run->end, the caller can run
 *  again from the true residual.
 *  residual  r = b - A x, 0 in constrained dofs; not changed
 *  Errors    WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE; x is unchanged
 *  Source    Chronopoulos and Gear 1989 */
weft_status weft_persistent_iterate(weft_persistent *persistent, weft_memory *residual,
                                    weft_memory *inverse, weft_memory *x, weft_persistent_run *run,
                                    weft_error *error);

void weft_persistent_free(weft_persistent **persistent);
