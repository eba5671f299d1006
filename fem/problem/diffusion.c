/* -div(k grad u) of degree 1, whose form is shipped: the form, and integrals by a kernel over the cells. */
#include "fem/problem/diffusion.h"

#include <string.h>

weft_status weft_diffusion_form(const weft_space *space, const char *k, const char *origin,
                                weft_bound_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_form_ship(space, k ? "poisson_diffusivity.weft" : "poisson.weft",
                       weft_space_cells(space), out, error));
    if (k)
        weft_form_bind_expression(out, "diffusivity", k, origin);
    out->form.product = k ? "stiffness_product_mean.weft" : "stiffness_product.weft";
done:
    return status;
}

/* int k |grad u|^2 and int u, in one pass */
static weft_status sum_cells(const weft_fields *fields, const weft_bound_form *cells,
                             weft_memory *u, double sums[2], weft_error *error) {
    static const char *const names[2] = {"E", "I"};
    static const char integral[] =
        "I = quadrature_integral(interpolate(U, degree = 1), J, degree = 1);\n";
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_bound_form form = *cells;
    form.form.inputs = form.inputs;
    form.form.name = "energy.weft";
    weft_text_add(&text, "%s%s%s", form.form.text, weft_fem_script("energy.weft"), integral);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    form.form.text = text.data;
    weft_form_bind_input(&form, "u", u);
    TRY(weft_form_sum(fields->context, &form, fields->mesh->n_cells, names, 2, sums, error));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_diffusion_measure(const weft_assembled *system, const weft_bound_form *form,
                                   double *integral, double *energy, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = system->fields;
    const size_t bytes = (size_t)fields->n_dofs * sizeof(double);
    double sums[2] = {0, 0}, rest[2];
    weft_memory *memory = NULL;
    TRY(sum_cells(fields, form, system->u, sums, error));
    memcpy(rest, sums, sizeof rest);
    if (system->rest && energy) {
        TRY(weft_memory_make(fields->context->device, bytes, &memory, error));
        TRY(weft_vector_push(memory, system->rest, fields->n_dofs, error));
        TRY(sum_cells(fields, form, memory, rest, error));
    }
    *integral = sums[1];
    if (energy)
        *energy = rest[0] / 2;
done:
    weft_memory_free(&memory);
    return status;
}
