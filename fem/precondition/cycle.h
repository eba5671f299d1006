/* The multigrid V-cycle on given levels. Not installed.
 *
 *      In: matrices, prolongations and bounds of eigenvalues.  Out: z = V r.
 *
 *  Each level has scripts (fem/precondition/level.c): `down` smooths from zero and restricts the
 *  residual, `up` adds the prolonged correction and smooths. The coarsest level is solved by the
 *  inverse of its matrix (coarsest.c). Everything is in single precision, unless the problem asks for
 *  double precision on the host. Matrices and right-hand sides are divided by the diagonal, D^-1 A and D^-1 b, so that
 *  smoothing needs no list of it; the rows of constrained dofs are left out of D^-1 A.
 *
 * Decision  docs/decisions/0039-multigrid-is-levels-and-scripts.md */
#pragma once

#include "fem/multigrid/multigrid.h"
#include "fem/precondition/ranks.h"
#include "fem/sparse/lists.h"

/** square = r.r */
extern const char weft_cycle_size_script[];

/** A level of a cycle to be made, [0] the finest; borrowed for the call unless noted. */
typedef struct weft_cycle_source {
    weft_csr *A; /* NULL: made on the device, with the next two */
    /* the arrays of A, which is then {0}; otherwise its pattern must outlive the cycle */
    bool takes;
    weft_operator *op; /* D^-1 A in the cycle's precision; moved */
    weft_memory *a;    /* [n] the diagonal D, -1 at constrained dofs; moved */
    bool is_masked;    /* the transfer leads to constrained dofs */
    const weft_csr *P; /* from the next coarser level; NULL on the coarsest */
    int32_t *parents; /* [n][2] coarser dofs whose mean is the dof, in place of P, or NULL; moved */
    /* P made on the device, or NULL: dofs -> columns of P, with the next; moved */
    weft_connectivity *transfer;
    weft_memory *weights; /* [n][width] in the cycle's precision; moved */
    double lambda;
    int degree;            /* of the smoothing polynomial */
    bool is_twice;         /* the cycle from here on is run twice, where it replaces a solution */
    weft_level_part *part; /* what this rank has of it, or NULL: everything; moved */
} weft_cycle_source;

/** Free what a cycle would take. */
void weft_cycle_source_clear(weft_cycle_source *source);

/** The programs of a level. */
typedef enum weft_cycle_step {
    WEFT_CYCLE_DOWN,  /* smooth from zero and restrict */
    WEFT_CYCLE_AGAIN, /* the same from z, with is_twice */
    WEFT_CYCLE_UP,
    WEFT_CYCLE_STEPS
} weft_cycle_step;
/** A level, [0] the finest. */
typedef struct weft_cycle_level {
    int64_t n;
    int degree;                 /* of the smoothing polynomial */
    weft_operator *op;          /* its matrix, D^-1 A; NULL on the coarsest level */
    weft_memory *a, *inverse;   /* [n] diagonal D, -1 at constrained dofs; [1] 1 / lambda */
    weft_memory *b, *x, *z;     /* [n] right-hand side, D^-1 of it; smoothed from zero; result */
    weft_connectivity *parents; /* dofs -> dofs of the coarser level; NULL on the coarsest level */
    int32_t *parent_indices;
    weft_memory *weights; /* [n][width] of P, or [2], the same for every dof */
    bool has_dof_weights; /* [n][width] */
    bool is_masked;       /* the transfer leads to constrained dofs, where corrections are 0 */
    bool is_twice;
    weft_level_part *part; /* NULL: each rank has everything */
    weft_compiled programs[WEFT_CYCLE_STEPS];
    weft_operator_in_script operators[WEFT_CYCLE_STEPS]; /* A of each */
} weft_cycle_level;

/** Does this rank have a part of the level alone? */
static inline bool weft_cycle_is_divided(const weft_cycle_level *level) {
    return level->part && level->part->product;
}

/** The finest rows in the lists of a caller on one of several ranks. */
typedef struct weft_cycle_outer {
    int64_t n, n_own; /* in the caller's lists: rows, and its own ones */
    int32_t *own;     /* [n_own] where these are */
    const weft_share *
        share; /* of these; borrowed; NULL: there is one rank, and lists are those of the finest level */
    weft_memory *r, *z; /* of the finest level, as doubles */
} weft_cycle_outer;

typedef struct weft_cycle_full weft_cycle_full;             /* fem/precondition/full.c */
typedef struct weft_coarsest_factors weft_coarsest_factors; /* fem/precondition/coarsest.c */

typedef struct weft_cycle {
    weft_context *context;
    bool single; /* lists and matrices are float */
    int n_levels;
    weft_cycle_level *levels;
    weft_cycle_outer outer;
    /* the coarsest level: z = A^-1 b, by a product with the inverse, or by a factorization on the host */
    weft_memory *coarsest_inverse;
    weft_compiled coarsest;
    weft_coarsest_factors *factors; /* NULL: there is an inverse */
    /* conversion of r and z (convert.c); with single precision: */
    weft_compiled size;
    weft_memory *square; /* r.r, where the caller has none */
    weft_lists *lists;
    weft_compiled divide;         /* with double precision */
    weft_cycle_full *full;        /* NULL before its first use */
    bool is_predicated;           /* programs are compiled so that launches can be skipped */
    weft_shared_buffers *buffers; /* of all programs */
} weft_cycle;

/** problem  its constrained dofs and project_mean are read
 *  whole    NULL; on several ranks what the sources were made from, of which this rank then keeps its part
 *  out      weft_cycle_clear, also after an error
 *  Errors   WEFT_ERROR_MEMORY, _COMPILER, _DEVICE, _UNSUPPORTED */
weft_status weft_cycle_make(weft_context *context, weft_cycle_source *sources, int n_levels,
                            const weft_preconditioner_problem *problem, const weft_whole *whole,
                            weft_cycle *out, weft_error *error);
void weft_cycle_clear(weft_cycle *cycle);
/** z = V r; [n] doubles, or in z of the finest level, as floats and divided by the root of square, which is then given.
 *  square  r.r, on the device; NULL: computed where it is needed
 *  active  NULL, or see weft_program_product */
weft_status weft_cycle_run(weft_cycle *cycle, weft_memory *r, weft_memory *z, weft_memory *square,
                           weft_memory *active, weft_error *error);

/** z = F r, full multigrid on the levels of meshes with `cycles` V-cycles each; [n] doubles. */
weft_status weft_cycle_run_full(weft_cycle *cycle, int cycles, weft_memory *r, weft_memory *z,
                                weft_full_report *report, weft_error *error);

/** z = what full multigrid has on the next coarser level, interpolated to the finest, which has no cycle of its
 *  own. */
weft_status weft_cycle_run_start(weft_cycle *cycle, int cycles, weft_memory *r, weft_memory *z,
                                 weft_error *error);

/* ---- parts ---- */

/** z of a level from its b, which is kept; those of coarser levels change. */
weft_status weft_cycle_run_from(weft_cycle *cycle, int number, weft_memory *active,
                                weft_error *error);
void weft_cycle_full_free(weft_cycle_full **full);

/** Let other threads compile the programs of full multigrid (weft_compile_in_background). */
weft_status weft_cycle_compile_full_in_background(const weft_cycle *cycle, weft_error *error);
/** Make the programs of all levels but the coarsest and bind them; the lists of all levels exist. */
weft_status weft_cycle_programs(weft_cycle *cycle, weft_error *error);
/** Make the inverse of the coarsest matrix, for D^-1 b, and its program; or, where coarsening has ended with many rows, factors
 *  on the host by the library of lu, if there is one, else nothing but the diagonal.
 *  a            [n] the diagonal; rows that are not positive get zero rows
 *  is_singular  the constants are the null space, on which the inverse does not matter */
weft_status weft_cycle_coarsest(weft_cycle *cycle, const weft_csr *A, const double *a,
                                bool is_singular, weft_error *error);
/** "lu", "its inverse" or "its diagonal". */
const char *weft_cycle_coarsest_name(const weft_cycle *cycle);
/** z of the coarsest level from its b. */
weft_status weft_cycle_coarsest_run(weft_cycle *cycle, weft_error *error);
void weft_cycle_coarsest_free(weft_cycle *cycle);
/** Make what converts r to levels[0].b, and a list of the finest level to z. */
weft_status weft_cycle_conversion(weft_cycle *cycle, weft_error *error);
/** square  in double precision not read */
weft_status weft_cycle_convert_in(weft_cycle *cycle, weft_memory *r, weft_memory *square,
                                  weft_error *error);
weft_status weft_cycle_convert_out(weft_cycle *cycle, weft_memory *from, weft_memory *square,
                                   weft_memory *z, weft_error *error);
/** cycle->square = r.r */
weft_status weft_cycle_size(weft_cycle *cycle, weft_memory *r, weft_memory *active,
                            weft_error *error);
/** a_ii, and -1 where a row is constrained or empty; free(); NULL without memory.
 *  problem  whose constrained dofs these are; NULL: none */
double *weft_level_diagonal(const weft_csr *A, const weft_preconditioner_problem *problem);
/** The length of the longest row, at least 1. */
int weft_widest_row(const weft_csr *P);
/** What `exchange` applies in scripts of a divided level, the user: a list with the residuals of other ranks' rows that are restricted
 *  to own ones. */
weft_status weft_cycle_exchange(void *level, const weft_program_product *product,
                                weft_error *error);
/** Lists of a caller on one of several ranks: own rows of r become outer.r, and those of outer.z become z. */
weft_status weft_cycle_take_in(weft_cycle *cycle, weft_memory *r, weft_memory *active,
                               weft_error *error);
weft_status weft_cycle_put_out(weft_cycle *cycle, weft_memory *z, weft_error *error);
/** Bring copies of other ranks' rows in a list of reals of the cycle up to date.
 *  layout  NULL: there are none
 *  active  NULL, or see weft_program_product */
weft_status weft_cycle_update(const weft_cycle *cycle, weft_layout *layout, weft_memory *list,
                              weft_memory *active, weft_error *error);
/** Place doubles on the device as reals of the cycle. */
weft_status weft_cycle_place(const weft_cycle *cycle, const double *values, int64_t n,
                             weft_memory **out, weft_error *error);
