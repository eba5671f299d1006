/** Operators. In: forms of a context. Out: products, the diagonal, the matrix. */
#ifndef FEM_OPERATOR_OPERATOR_H
#define FEM_OPERATOR_OPERATOR_H

#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"

/** What a kind of operator does. assemble may be NULL: nothing is stored. */
typedef struct weft_operator_table {
    weft_status (*assemble)(weft_operator *op, weft_error *error);
    weft_status (*apply)(weft_operator *op, weft_memory *v, weft_memory *y, weft_error *error);
    weft_status (*diagonal)(weft_operator *op, weft_memory *d, weft_error *error);
    void (*free)(weft_operator *op);
    /* the same product in a loop, by launches that do nothing where product->go, which is not NULL,
     * holds 0 when they run; NULL: there is none */
    weft_status (*apply_guarded)(weft_operator *op, const weft_program_product *product,
                                 weft_error *error);
    /* what a rows routine needs for the same product, borrowed; NULL: there is none */
    const weft_rows *(*rows)(const weft_operator *op);
} weft_operator_table;

/** Programs of conjugate gradients (fem/solve/steps.c), made when first needed. */
typedef struct weft_cg_programs weft_cg_programs;

/** Conjugate gradients in one kernel (fem/solve/persistent.c), made when first needed. */
typedef struct weft_persistent weft_persistent;

struct weft_operator {
    const weft_operator_table *table;
    void *state; /* the kind's own */
    int64_t n_dofs;
    weft_pattern *pattern;                  /* csr only */
    weft_memory *values;                    /* csr only */
    weft_cg_programs *cg;                   /* NULL before the first solve */
    weft_persistent *persistent;            /* the same, and where there is none */
    void (*free_solver)(weft_operator *op); /* frees these two; set by the solver that made them */
};

/** What a script's loop calls for its product with op, which must not ask for vy. */
weft_status weft_operator_apply_in_loop(weft_operator *op, const weft_program_product *product,
                                        weft_error *error);

#endif
