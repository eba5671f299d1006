/* The conditions of a stepper and T at t = 0, by formulas or values. */
#include "fem/space/space.h"
#include "fem/time/private.h"
#include "fem/weft_function.h"

#include <math.h>
#include <stdlib.h>

/* Those of Dirichlet first: the script of a step numbers them. */
static weft_status make_conditions(weft_advection_diffusion *ad, weft_error *error) {
    const weft_advection_diffusion_problem *problem = ad->problem;
    const int n = problem->n_conditions;
    int k = 0;
    if (n == 0) /* for weft_bc_make this would be T = 0 on the boundary */
        return WEFT_OK;
    ad->conditions = calloc((size_t)n, sizeof *ad->conditions);
    if (!ad->conditions)
        return weft_out_of_memory(error, "advection and diffusion");
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < n; ++i)
            if ((problem->conditions[i].kind == WEFT_DIRICHLET) == (pass == 0))
                ad->conditions[k++] = problem->conditions[i];
        if (pass == 0)
            ad->n_kept = k;
    }
    for (int i = 0; i < n; ++i)
        if (!ad->conditions[i].origin)
            ad->conditions[i].origin = ad->conditions[i].group;
    return weft_bc_make(ad->context, problem->space, ad->conditions, n, &ad->bc, error);
}

/* T at t = 0 by the formula. */
static weft_status evaluate(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_expression *given = &ad->problem->initial;
    weft_memory *when = NULL, *memory = NULL;
    double *values = NULL, constant = 0;
    const bool is_constant = weft_formula_constant(given->text, &constant);
    if (!is_constant) {
        TRY(weft_memory_make(ad->context->device, sizeof(double), &when, error));
        TRY(weft_vector_make(ad->context->device, ad->n, &values, &memory, error));
        TRY(weft_space_evaluate_timed(ad->context, ad->problem->space,
                                      &(weft_timed_formula){given->text, given->origin, when},
                                      memory, values, error));
    }
    for (int64_t i = 0; i < ad->n; ++i) {
        ad->initial[i] = is_constant ? constant : values[i];
        if (!isfinite(ad->initial[i]))
            TRY(weft_formula_refuse(ad->problem->space, given->text, given->origin, i, error));
    }
done:
    weft_memory_free(&memory);
    weft_memory_free(&when);
    free(values);
    return status;
}

weft_status weft_ad_start(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const double *given = ad->problem->initial_values;
    ad->initial = weft_array_make((size_t)ad->n, sizeof *ad->initial);
    if (!ad->initial)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    if (ad->problem->initial.text)
        TRY(evaluate(ad, error));
    for (int64_t i = 0; i < ad->n && !ad->problem->initial.text && given; ++i)
        ad->initial[i] = given[i];
    TRY(make_conditions(ad, error));
    if (ad->bc)
        weft_bc_set(ad->bc, 1, ad->initial);
done:
    return status;
}

/* free = 1, which = 0; at nodes of Dirichlet conditions free = 0, which = the condition's number. */
static weft_status mark(const weft_advection_diffusion *ad, double *free_nodes, double *which,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    const int32_t *nodes = ad->bc ? weft_bc_constrained(ad->bc, &n) : NULL;
    int32_t *owners = weft_array_make((size_t)n, sizeof *owners);
    if (!owners)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    if (ad->bc)
        TRY(weft_bc_owners(ad->bc, owners, error));
    for (int64_t i = 0; i < ad->n; ++i)
        free_nodes[i] = 1;
    for (int64_t i = 0; i < n; ++i) {
        free_nodes[nodes[i]] = 0;
        which[nodes[i]] = owners[i] + 1;
    }
done:
    free(owners);
    return status;
}

weft_status weft_ad_list_write(weft_advection_diffusion *ad, weft_ad_list list,
                               const double *values, weft_error *error) {
    return ad->lists[list] ? weft_vector_push(ad->lists[list], values, ad->n, error) : WEFT_OK;
}

weft_status weft_ad_lists_set(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    double *free_nodes = weft_array_make((size_t)ad->n, sizeof *free_nodes);
    double *which = weft_array_make((size_t)ad->n, sizeof *which);
    if (!free_nodes || !which)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    TRY(mark(ad, free_nodes, which, error));
    TRY(weft_ad_list_write(ad, WEFT_AD_T, ad->initial, error));
    TRY(weft_ad_list_write(ad, WEFT_AD_G, ad->initial, error));
    TRY(weft_ad_list_write(ad, WEFT_AD_FREE, free_nodes, error));
    TRY(weft_ad_list_write(ad, WEFT_AD_WHICH, which, error));
done:
    free(free_nodes);
    free(which);
    return status;
}
