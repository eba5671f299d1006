/* The part of a step that sources and conditions on facets have: the load of the diffusion, and Robin's
 * matrices in its operators. */
#include "fem/time/private.h"
#include "fem/time/rename.h"

#include <stdlib.h>

void weft_ad_load_set(weft_advection_diffusion *ad) {
    const weft_advection_diffusion_problem *problem = ad->problem;
    const weft_form *robin = NULL;
    ad->has_flux = problem->n_conditions > ad->n_kept;
    ad->has_load = problem->source.text || ad->has_flux;
    ad->load_moves = (problem->source.text && weft_has_word(problem->source.text, "t")) ||
                     (ad->has_flux && weft_bc_moves(ad->bc).flux);
    ad->n_robin = ad->has_flux ? weft_bc_forms(ad->bc, &robin) : 0;
}

/* y = the load at the time `when`. On devices that capture, further calls only launch, zero and copy. */
static weft_status compute(weft_advection_diffusion *ad, weft_memory *y, weft_error *error) {
    weft_status status = WEFT_OK;
    if (ad->source.program) {
        TRY(weft_program_bind(ad->source.program, "b", y, error));
        TRY(weft_program_run(ad->source.program, error));
    } else {
        TRY(weft_memory_zero(y, error));
    }
    if (ad->has_flux) {
        TRY(weft_ad_conditions_at(ad, error));
        TRY(weft_bc_add_fluxes(ad->bc, y, error));
    }
done:
    return status;
}

weft_status weft_ad_conditions_at(weft_advection_diffusion *ad, weft_error *error) {
    return ad->has_flux ? weft_memory_copy(weft_bc_time(ad->bc), ad->values[WEFT_AD_WHEN],
                                           sizeof(double), error)
                        : WEFT_OK;
}

weft_status weft_ad_load_compute(void *user, const weft_program_product *product,
                                 weft_error *error) {
    return compute(user, product->y, error);
}

static weft_status make_source(weft_advection_diffusion *ad, weft_error *error) {
    static const char name[] = "load_time.weft";
    weft_status status = WEFT_OK;
    weft_bound_form form;
    weft_form_start(name, weft_fem_script(name), ad->cells, &form);
    weft_form_bind_input(&form, "x", ad->x);
    weft_form_bind_input(&form, "when", ad->values[WEFT_AD_WHEN]);
    weft_form_bind_parameter(&form, "d", ad->mesh->dimension);
    weft_form_bind_expression(&form, "source", ad->problem->source.text,
                              ad->problem->source.origin);
    const weft_fragment fragments[] = {{name, form.form.text}, {"outputs", "return b;\n"}};
    const weft_compile_options options = weft_form_vector_options(ad->context, &form.form);
    TRY(weft_compiled_make(ad->context, fragments, 2, &options, &ad->source, error));
    TRY(weft_compiled_bind_form(&ad->source, &form.form, error));
done:
    return status;
}

weft_status weft_ad_load_make(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!ad->has_load)
        goto done;
    if (ad->problem->source.text)
        TRY(make_source(ad, error));
    TRY(compute(ad, ad->lists[WEFT_AD_LOAD], error));
done:
    return status;
}

weft_status weft_ad_robin_forms(weft_advection_diffusion *ad, weft_ad_operator which,
                                weft_memory *share, weft_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *robin = NULL;
    struct weft_ad_robin *made = &ad->robin[which == WEFT_AD_C];
    if (ad->n_robin == 0)
        goto done;
    (void)weft_bc_forms(ad->bc, &robin);
    made->forms = calloc((size_t)ad->n_robin, sizeof *made->forms);
    made->texts = calloc((size_t)ad->n_robin, sizeof *made->texts);
    if (!made->forms || !made->texts)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    for (int i = 0; i < ad->n_robin; ++i) {
        TRY(weft_time_scale_form(&robin[i], share, &made->texts[i], &made->forms[i], error));
        out[i] = made->forms[i].form;
    }
done:
    return status;
}

void weft_ad_load_clear(weft_advection_diffusion *ad) {
    weft_compiled_free(&ad->source);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; ad->robin[k].texts && i < ad->n_robin; ++i)
            weft_text_free(&ad->robin[k].texts[i]);
        free(ad->robin[k].texts);
        free(ad->robin[k].forms);
    }
}
