/* The preconditioner of the diffusion steps. */
#include "fem/time/private.h"

weft_status weft_ad_precondition(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_advection_diffusion_problem *problem = ad->problem;
    const size_t bytes = (size_t)ad->n * sizeof(double);
    weft_memory *r = NULL, *z = NULL;
    int64_t n = 0;
    const int32_t *kept = ad->bc ? weft_bc_constrained(ad->bc, &n) : NULL;
    if (!weft_ad_is_preconditioned(ad) || weft_device_limits(ad->context->device)->records_only)
        goto done;
    const weft_preconditioner_problem what = {.op = ad->operators[WEFT_AD_B],
                                              .constrained = kept,
                                              .n_constrained = n,
                                              .space = problem->space,
                                              .hierarchy = problem->hierarchy,
                                              .degree = problem->smoother_degree,
                                              .monitor = ad->context->monitor};
    TRY(weft_preconditioner_make(ad->context, problem->preconditioner, &what, &ad->preconditioner,
                                 error));
    TRY(weft_memory_make(ad->context->device, bytes, &r, error));
    TRY(weft_memory_make(ad->context->device, bytes, &z, error));
    TRY(weft_preconditioner_apply(ad->preconditioner, r, z,
                                  error)); /* later calls can be captured */
done:
    weft_memory_free(&r);
    weft_memory_free(&z);
    return status;
}

weft_status weft_ad_precondition_apply(void *user, const weft_program_product *product,
                                       weft_error *error) {
    const weft_advection_diffusion *ad = user;
    return ad->preconditioner
               ? weft_preconditioner_apply(ad->preconditioner, product->v, product->y, error)
               : WEFT_OK; /* a device that computes nothing */
}

bool weft_ad_is_preconditioned(const weft_advection_diffusion *ad) {
    return ad->diffuses && ad->problem->preconditioner >= 0;
}
