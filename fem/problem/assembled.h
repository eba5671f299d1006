/** The system A u = b of a problem, or r(u) = 0 with its tangent A, and what holds u besides conditions.
 *
 *      In: fields, an operator and a right-hand side. Out: modes and constants that nothing fixes, b without their part, and u. */
#pragma once

#include "fem/form/vectors.h"
#include "fem/linear/linear.h"
#include "fem/problem/fields.h"
#include "fem/weft_modes.h"
#include "fem/weft_transient.h"

/** Components of mixed u that a constant can be added to, and their dofs (nullspace.c). */
typedef struct weft_open {
    int values[WEFT_VALUES_MAX], n;
    weft_transient_open list[WEFT_VALUES_MAX];
} weft_open;

typedef struct weft_assembled {
    const weft_fields *fields;   /* of u; borrowed */
    weft_memory *u, *b;          /* solution, right-hand side */
    double *u_values, *b_values; /* the arrays that u and b wrap */
    double *flux;                /* [n_dofs] of Neumann and Robin conditions; NULL: none */
    weft_memory *flux_memory;    /* which wraps it */
    weft_operator *op;
    weft_operator *robin;         /* of Robin conditions alone; NULL: none, or not made */
    weft_vector_programs vectors; /* sums of vectors [n_dofs] */
    weft_memory *scratch;         /* [n_dofs]; NULL: not yet */
    weft_linear linear;           /* solves systems; has the choices */
    bool is_uncoupled;            /* derivatives couple no components of u, as was measured */
    double asymmetry;             /* the largest |K - K^T| / |K| found */
    bool is_symmetric;            /* the matrix, as far as known: all tangents yet */
    /* what holds u besides conditions: u = C v + g, and modes (constraints.c, held.c) */
    weft_constraints *constraints; /* NULL: none, and nothing floats */
    weft_free_modes modes;
    bool modes_are_pinned;     /* those that weak terms hold too */
    double *rest;              /* u without these; NULL: there are none */
    weft_reduction *reduction; /* NULL: no dependent dofs */
    weft_open open;
} weft_assembled;

/** Computes nothing, but records what would be. */
bool weft_records_only(const weft_context *context);

/* ---- modes that weak terms hold (held.c) ------------------------------------------------------ */

/** After weft_problem_release: the amounts of modes that weak terms hold. u is without them before, and the balanced b
 *  becomes the load again.
 *  options  of the solve */
weft_status weft_held_add(weft_assembled *system, const weft_cg_options *options,
                          weft_error *error);
/** values = A u of the solution, without what rounding leaves of stiff terms in modes that weak ones hold.
 *  scratch  [n_dofs] on the device */
weft_status weft_held_product(const weft_assembled *system, weft_memory *scratch, double *values,
                              weft_error *error);

/** The dofs of component k of u, its enrichments' too. (nullspace.c) */
weft_transient_open weft_component_dofs(const weft_assembled *system, int k);
/** Add a number to the values of component k of u. (nullspace.c) */
weft_status weft_component_shift(weft_assembled *system, int k, double by, weft_error *error);

/** u.(A - R) u / 2, R of Robin conditions; their operator is made, where there are some. (energy.c) */
weft_status weft_assembled_energy(weft_assembled *system, double *out, weft_error *error);

/* ---- open components of a mixed u (nullspace.c) ------------------------------------------- */

/** Find components that are determined up to a constant. */
weft_status weft_nullspace_find(weft_assembled *system, weft_error *error);
/** Make the load compatible with them, with the prescribed values in u. */
weft_status weft_nullspace_project(weft_assembled *system, weft_error *error);
/** Take from the right-hand side r of a tangent what rounding leaves in it that is not compatible with them, with the prescribed
 *  values in du. What is more than rounding stays. */
weft_status weft_nullspace_balance(weft_assembled *system, weft_memory *r, weft_memory *du,
                                   weft_error *error);
/** Set their means to zero. */
weft_status weft_nullspace_remove(weft_assembled *system, weft_error *error);
/* ---- curls or divergences alone (kernel.c) ------------------------------------------------- */

typedef struct weft_kernel weft_kernel;
/** Find the gradients, or curls, that the matrix does not see, and let `auto` take what suits them.
 *  out     weft_kernel_free; NULL: there are none
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_kernel_make(weft_assembled *system, weft_kernel **out, weft_error *error);
void weft_kernel_free(weft_kernel **of);
/** Make the load compatible with them; a warning says so if that is more than an error of shapes. */
weft_status weft_kernel_project(weft_assembled *system, const weft_kernel *of, weft_error *error);
/** Take them off u. */
weft_status weft_kernel_remove(weft_assembled *system, const weft_kernel *of, weft_error *error);

/** What the residual in b of an open component adds up to, over the sum of its sizes: the largest. More than 0.01 cannot be
 *  solved.
 *  value  the component; unchanged if there is none */
double weft_nullspace_imbalance(const weft_assembled *system, int *value);
