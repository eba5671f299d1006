/* Sums the residual A u - b at the dofs of each Dirichlet condition. */
#include "fem/derive/derive.h"

#include <stdlib.h>

/* Constrained dofs, condition after condition. */
typedef struct dof_lists {
    int64_t n, *start; /* [n_conditions + 1] */
    int32_t *dofs;     /* [n] */
    weft_connectivity *at;
} dof_lists;

static weft_status lists_make(weft_context *context, const weft_bc *bc, int64_t n_dofs,
                              int n_conditions, dof_lists *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int32_t *constrained = weft_bc_constrained(bc, &out->n);
    int32_t *owners = weft_array_make((size_t)out->n, sizeof *owners);
    int64_t *next = NULL;
    out->start = calloc((size_t)n_conditions + 1, sizeof *out->start);
    out->dofs = weft_array_make((size_t)out->n, sizeof *out->dofs);
    next = calloc((size_t)n_conditions + 1, sizeof *next);
    if (!owners || !out->start || !out->dofs || !next)
        TRY(weft_out_of_memory(error, "reactions"));
    TRY(weft_bc_owners(bc, owners, error));
    for (int64_t i = 0; i < out->n; ++i)
        ++out->start[owners[i] + 1];
    for (int k = 0; k < n_conditions; ++k) {
        out->start[k + 1] += out->start[k];
        next[k] = out->start[k];
    }
    for (int64_t i = 0; i < out->n; ++i)
        out->dofs[next[owners[i]]++] = constrained[i];
    TRY(weft_connectivity_make(context->device, out->dofs, out->n, 1, n_dofs, &out->at, error));
done:
    free(owners);
    free(next);
    return status;
}

static void lists_free(dof_lists *lists) {
    weft_connectivity_free(&lists->at);
    free(lists->start);
    free(lists->dofs);
}

weft_status weft_reactions(weft_context *context, const weft_bc *bc, weft_operator *op,
                           weft_memory *u, weft_memory *b, double *out, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "r";
    const int64_t n_dofs = (int64_t)(weft_memory_bytes(u) / sizeof(double));
    const int64_t lanes = weft_device_limits(context->device)->lanes_double;
    dof_lists lists = {0};
    double *product = NULL, *values = NULL;
    weft_memory *p = NULL, *r = NULL;
    weft_bound_form form;
    for (int k = 0; k < n; ++k)
        out[k] = 0;
    TRY(lists_make(context, bc, n_dofs, n, &lists, error));
    if (lists.n == 0)
        goto done;
    TRY(weft_vector_make(context->device, n_dofs, &product, &p, error));
    TRY(weft_vector_make(context->device, (lists.n + lanes - 1) / lanes * lanes, &values, &r,
                         error));
    if (op)
        TRY(weft_operator_apply(op, u, p, error));
    weft_form_start("reaction.weft", weft_fem_script("reaction.weft"), lists.at, &form);
    weft_form_bind_input(&form, "p", op ? p : b);
    weft_form_bind_input(&form, "b", op ? b : p); /* else zero */
    TRY(weft_form_run(context, &form.form, &(weft_form_outputs){&output, &r, 1, "cells", lists.n},
                      error));
    if (weft_device_limits(context->device)->records_only)
        goto done;
    TRY(weft_vector_pull(r, values, lists.n, error));
    for (int k = 0; k < n; ++k)
        out[k] = weft_sum(values + lists.start[k], lists.start[k + 1] - lists.start[k]);
done:
    lists_free(&lists);
    weft_memory_free(&p);
    weft_memory_free(&r);
    free(product);
    free(values);
    return status;
}
