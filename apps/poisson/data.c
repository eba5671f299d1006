/* Makes the vectors, the operator and the right-hand side. */
#include "apps/poisson/poisson.h"

#include <math.h>
#include <stdlib.h>

weft_status poisson_data_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    app_run *base = &run->base;
    TRY(app_run_vectors_make(base, error));
    weft_bc_set(base->bc, 1, base->u_values);
    TRY(weft_vector_push(base->u, base->u_values, weft_space_dofs(base->space), error));
done:
    return status;
}

weft_status poisson_form_cells(const poisson *run, weft_bound_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *diffusivity = run->options->diffusivity;
    TRY(weft_form_ship(run->base.space, diffusivity ? "poisson_diffusivity.weft" : "poisson.weft",
                       weft_space_cells(run->base.space), out, error));
    if (diffusivity)
        weft_form_bind_expression(out, "diffusivity", diffusivity, "--diffusivity");
    out->form.product = diffusivity ? "stiffness_product_mean.weft" : "stiffness_product.weft";
done:
    return status;
}

/* K of the cells, and int alpha phi_i phi_j over the facets of each Robin condition. */
weft_status poisson_operator_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(poisson_form_cells(run, &run->base.form, error));
    TRY(weft_bc_operator_make(run->base.bc, run->base.assembly, &run->base.form.form, &run->base.op,
                              error));
done:
    return status;
}

/* -div(k grad u) = f and k du/dn = g: int f + int g = 0 is needed for a solution. */
static weft_status check_sum(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_balance balance;
    TRY(weft_bc_balance(run->base.bc, run->options->source, "--source", &balance, error));
    weft_log(
        &run->base.messages->monitor, WEFT_LOG_INFO,
        "pure Neumann: integrals %.10g (source) and %.10g (flux), sum %.3g, accepted up to %.3g",
        balance.source, balance.flux, balance.sum, balance.bound);
    if (fabs(balance.sum) <= balance.bound)
        goto done;
    status = weft_error_set(
        error, WEFT_ERROR_INPUT,
        "with Neumann conditions alone the source and the fluxes must sum to zero, but their "
        "integrals are %.10g (--source) and %.10g (--neumann, --robin)",
        balance.source, balance.flux);
    weft_error_location(error, "--neumann", NULL, 0, 0);
    weft_error_hint(error,
                    "subtract %.10g from --source, or fix u somewhere by --dirichlet GROUP=EXPR",
                    balance.sum / weft_mesh_measure(run->base.mesh));
done:
    return status;
}

weft_status poisson_load_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->base.project && !run->base.is_null)
        TRY(check_sum(run, error));
    TRY(weft_bc_load_make(run->base.bc, run->options->source, "--source", WEFT_LOAD_DEGREE,
                          run->base.b, run->base.b_values, error));
done:
    return status;
}
