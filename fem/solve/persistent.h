/* Conjugate gradients as one kernel that stays on the device (kernels/solvers/cg_persistent.cu),
 * for systems whose vectors fit on the chip: shape -> layout -> places -> program. Not installed.
 */
#pragma once

#include "fem/operator/operator.h"

/* ---- shape (fem/solve/persistent_plan.c) ------------------------------------------------------------ */

enum { WEFT_PERSISTENT_NODES = 40 /* of a thread, at most */ };

/** The grid: block b owns nodes [b n / n_blocks, (b + 1) n / n_blocks), thread t of it the
 * positions t, t + threads, ...  */
typedef struct weft_persistent_shape {
    int n_blocks, threads;
    int nodes; /* of a thread */
} weft_persistent_shape;

/** Choose a grid from the limits. False with the reason where n nodes are too many for the chip, or
 *  the device is not of the kind. */
bool weft_persistent_fits(const weft_limits *limits, int64_t n, int64_t n_entries,
                          weft_persistent_shape *shape, char *reason, size_t size);

/* ---- layout (fem/solve/persistent_layout.c) --------------------------------------------------------- */

/** Who holds what. Positions are [block][node of the thread][thread]; a block's first are those
 * that others read, each of the two kinds ordered by falling number of entries, then by number.
 *  Entries go in pairs: the pairs of node k of a thread are [starts[k], starts[k + 1]).
 *  A column is a position within the block, or, from nodes * threads on, one of its halo. */
typedef struct weft_persistent_layout {
    weft_persistent_shape shape;
    bool has_diagonal; /* diagonal entries are stored like others */
    int64_t n;
    int halo;      /* halo nodes of a thread */
    int published; /* nodes of a block that others read, at most, a multiple of 16 */
    int pairs;     /* of a thread */
    int starts[WEFT_PERSISTENT_NODES + 1];
    int32_t *node;     /* [n_blocks][nodes][threads]: number of the node, -1: none */
    int32_t *halo_at;  /* [n_blocks][halo][threads]: position of the halo's node, -1: none */
    int32_t *n_sent;   /* [n_blocks]: nodes that others read */
    int32_t *source;   /* [n_blocks][pairs][threads][2]: entry of the pattern, -1: none */
    uint16_t *columns; /* [n_blocks][pairs][threads][2] */
} weft_persistent_layout;

/** Errors WEFT_ERROR_MEMORY; WEFT_ERROR_UNSUPPORTED: more columns in a block than 16 bits count;
 *  *out untouched. Deterministic; the blocks are worked on by the device's threads. */
weft_status weft_persistent_layout_make(weft_device *device, const weft_pattern *pattern,
                                        const weft_persistent_shape *shape, bool has_diagonal,
                                        weft_persistent_layout **out, weft_error *error);
void weft_persistent_layout_free(weft_persistent_layout **layout);

/* ---- places (fem/solve/persistent_plan.c) ----------------------------------------------------------- */

/** What a multiprocessor keeps where. */
typedef struct weft_persistent_places {
    int register_pairs, shared_pairs; /* of a thread; the others are read in each iteration */
    bool x_shared;                    /* else in registers */
    int weights;                      /* 0: none, 1: in registers, 2: read in each iteration */
    int shared_bytes;
    double read_bytes; /* of the whole device, in an iteration, that stay on no multiprocessor */
} weft_persistent_places;

/** weighted: the norm of the residual is not that of the scaled one. False with the reason where
 *  vectors do not fit. */
bool weft_persistent_place(const weft_limits *limits, const weft_persistent_layout *layout,
                           bool weighted, weft_persistent_places *places, char *reason,
                           size_t size);
/** The macros of the kernel, before its text. */
void weft_persistent_macros(const weft_persistent_layout *layout,
                            const weft_persistent_places *places, weft_text *out);
/** Words of 8 bytes that the blocks' sums take. */
size_t weft_persistent_slot_words(const weft_persistent_layout *layout);

/* ---- program (fem/solve/persistent.c) ----------------------------------------------------------------
 */

/** Conjugate gradients in one kernel. */
typedef struct weft_persistent weft_persistent;
/** jacobi: inverse diagonals given later are those of the matrix. Where the system does not fit,
 * *out is NULL and the reason is written (reason [size]); a NULL *out is no error. What was chosen
 * is logged (info). pattern  borrowed for the call Errors   WEFT_ERROR_MEMORY, WEFT_ERROR_COMPILER,
 * WEFT_ERROR_DEVICE */
weft_status weft_persistent_make(weft_context *context, const weft_pattern *pattern, bool jacobi,
                                 weft_persistent **out, char *reason, size_t size,
                                 weft_error *error);
/** Was it made for such a system? */
bool weft_persistent_suits(const weft_persistent *persistent, const weft_context *context,
                           const weft_pattern *pattern, bool jacobi);
/** Take the matrix: entries in the pattern's order, and 1 / D, 0 for constrained dofs; both
 * memories of the device, read once and on the device. To be called again when either has changed.
 */
weft_status weft_persistent_load(weft_persistent *persistent, weft_memory *entries,
                                 weft_memory *inverse, weft_error *error);

/** How a run ended, as the kernel says it. */
typedef enum weft_persistent_end {
    WEFT_PERSISTENT_RUNNING,   /* the iterations are used up */
    WEFT_PERSISTENT_CONVERGED, /* by the recurrence: ask b - A x */
    WEFT_PERSISTENT_NAN,
    WEFT_PERSISTENT_BREAKDOWN,  /* r.z is not positive */
    WEFT_PERSISTENT_INDEFINITE, /* p.Ap is not positive */
    WEFT_PERSISTENT_STUCK       /* becomes an error */
} weft_persistent_end;

typedef struct weft_persistent_run {
    /* in */
    double limit;   /* on r.r */
    int iterations; /* more, at most */
    /* With r.r at the start and after each of n iterations, now and then; may be NULL. */
    void (*report)(void *user, const double *rr, int n);
    void *user;
    /* out */
    weft_persistent_end end;
    int done;        /* iterations */
    double *history; /* [done + 1]: r.r at the start and after each; free() */
} weft_persistent_run;

/** Iterate from a residual r = b - A x (0 in constrained dofs), which is not changed, and add to x.
 *  Where the true residual contradicts the end, run again from that.
 *  Bitwise repeatable. In launches of at most 1024 iterations, `tell` after each.
 *  Source  Chronopoulos and Gear 1989
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE; x is as before then */
weft_status weft_persistent_iterate(weft_persistent *persistent, weft_memory *residual,
                                    weft_memory *inverse, weft_memory *x, weft_persistent_run *run,
                                    weft_error *error);

void weft_persistent_free(weft_persistent **persistent);
