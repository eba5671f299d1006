#include "apps/common/fem.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fusion/weft_program.h"

weft_status poisson_form_make(const poisson *run, const char *script, weft_connectivity *dofs,
                              app_form *out, weft_error *error) {
    return app_form_make(script, run->mesh->dimension, run->x, dofs, out, error);
}

weft_status poisson_form_cells(const poisson *run, app_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *diffusivity = run->options->diffusivity;
    TRY(poisson_form_make(run, diffusivity ? "poisson_diffusivity.weft" : "poisson.weft",
                          run->cells, out, error));
    if (diffusivity)
        app_form_expression(out, "diffusivity", diffusivity, "--diffusivity");
    out->form.product = diffusivity ? "stiffness_product_mean.weft" : "stiffness_product.weft";
done:
    return status;
}
