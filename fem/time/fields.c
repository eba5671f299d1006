/* The functions of a mixed space in time: their conditions, and constants that the equations leave open. */
#include "fem/time/transient.h"

#include <stdlib.h>
#include <string.h>

static int64_t first_dof(const weft_transient_problem *problem, int field) {
    int64_t first = 0;
    for (int i = 0; i < field; ++i)
        first += weft_space_dofs(problem->fields[i].space);
    return first;
}

int64_t weft_time_dofs(const weft_transient_problem *problem) {
    return first_dof(problem, problem->n_fields);
}

void weft_time_fields_values(const weft_transient_problem *problem, double *u) {
    for (int i = 0; i < problem->n_fields; ++i)
        weft_bc_set(problem->fields[i].bc, 1, u + first_dof(problem, i));
}

void weft_time_fields_free(const weft_transient_problem *problem, double *is_free) {
    const int64_t all = weft_time_dofs(problem);
    for (int64_t i = 0; i < all; ++i)
        is_free[i] = 1;
    for (int i = 0; i < problem->n_fields; ++i) {
        int64_t n = 0;
        const int32_t *constrained = weft_bc_constrained(problem->fields[i].bc, &n);
        for (int64_t k = 0; k < n; ++k)
            is_free[first_dof(problem, i) + constrained[k]] = 0;
    }
}

/* One field takes u itself; others a part of its memory, which stays where it is. */
weft_status weft_time_fields_view(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = &transient->problem;
    char *address = weft_memory_address(transient->u);
    for (int i = 0; problem->n_fields > 1 && address && i < problem->n_fields; ++i)
        TRY(weft_memory_borrow(transient->vectors.context->device,
                               address + (size_t)first_dof(problem, i) * sizeof(double),
                               (size_t)weft_space_dofs(problem->fields[i].space) * sizeof(double),
                               &transient->views[i], error));
done:
    return status;
}

weft_status weft_time_fields_apply(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = &transient->problem;
    for (int i = 0; i < problem->n_fields; ++i)
        TRY(weft_bc_apply(problem->fields[i].bc,
                          transient->views[i] ? transient->views[i] : transient->u, error));
done:
    return status;
}

/* ---- open constants ---------------------------------------------------------------------- */

/* values = A g, g the prescribed values of x */
static weft_status apply_given(weft_transient *transient, weft_memory *x, double *values,
                               double *is_free, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = transient->vectors.n;
    TRY(weft_vector_pull(x, values, n, error));
    TRY(weft_vector_pull(transient->is_free, is_free, n, error));
    for (int64_t i = 0; i < n; ++i)
        values[i] = is_free[i] > 0.5 ? 0 : values[i];
    TRY(weft_vector_push(transient->work, values, n, error));
    TRY(weft_operator_apply(transient->system.total, transient->work, transient->of_given, error));
    TRY(weft_vector_pull(transient->of_given, values, n, error));
done:
    return status;
}

weft_status weft_time_fields_project(weft_transient *transient, weft_memory *b, weft_memory *x,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = &transient->problem;
    const int64_t n = transient->vectors.n;
    double *values = NULL, *given = NULL, *is_free = NULL;
    if (problem->n_open == 0 ||
        weft_device_limits(transient->vectors.context->device)->records_only)
        goto done;
    values = weft_array_make((size_t)n, sizeof *values);
    given = weft_array_make((size_t)n, sizeof *given);
    is_free = weft_array_make((size_t)n, sizeof *is_free);
    if (!values || !given || !is_free)
        TRY(weft_out_of_memory(error, "a form in time"));
    if (x)
        TRY(apply_given(transient, x, given, is_free, error));
    TRY(weft_vector_pull(b, values, n, error));
    TRY(weft_open_center(problem->open, problem->n_open, transient->vectors.share, given, values,
                         error));
    TRY(weft_vector_push(b, values, n, error));
done:
    free(values);
    free(given);
    free(is_free);
    return status;
}
