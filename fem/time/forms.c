/* Makes the operators of a step from shipped scripts, the user's formulas and uniform values. */
#include "fem/time/private.h"

#include <stdlib.h>

static void add_expressions(weft_bound_form *form, const char *const *names,
                            const weft_expression *given, int n) {
    for (int i = 0; i < n; ++i)
        weft_form_bind_expression(form, names[i], given[i].text, given[i].origin);
}

static weft_status form_start(weft_advection_diffusion *ad, weft_ad_operator which,
                              const char *script, weft_error *error) {
    const char *text = weft_fem_script(script);
    if (!text)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "the script %s is not part of this build",
                              script);
    weft_form_start(script, text, ad->cells, &ad->forms[which]);
    weft_form_bind_input(&ad->forms[which], "x", ad->x);
    return WEFT_OK;
}

static void add_capacity(weft_advection_diffusion *ad, weft_ad_operator which) {
    const weft_expression *capacity = &ad->problem->capacity;
    if (capacity->text)
        weft_form_bind_expression(&ad->forms[which], "capacity", capacity->text, capacity->origin);
}

static weft_status make_mass(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_advection_diffusion_problem *problem = ad->problem;
    TRY(form_start(ad, WEFT_AD_M, problem->lumped ? "mass_lumped.weft" : "mass.weft", error));
    weft_form_bind_parameter(&ad->forms[WEFT_AD_M], "d", ad->mesh->dimension);
    add_capacity(ad, WEFT_AD_M);
done:
    return status;
}

static weft_status make_advection(weft_advection_diffusion *ad, weft_error *error) {
    static const char *const names[] = {"velocity_0", "velocity_1", "velocity_2"};
    weft_status status = WEFT_OK;
    const weft_advection_diffusion_problem *problem = ad->problem;
    const int d = ad->mesh->dimension;
    TRY(form_start(ad, WEFT_AD_A, d == 2 ? "advection_2.weft" : "advection_3.weft", error));
    weft_form_bind_input(&ad->forms[WEFT_AD_A], "when", ad->values[WEFT_AD_WHEN]);
    add_expressions(&ad->forms[WEFT_AD_A], names, problem->velocity, d);
    add_capacity(ad, WEFT_AD_A);
done:
    return status;
}

/* M + share S */
static weft_status make_theta(weft_advection_diffusion *ad, weft_ad_operator which,
                              weft_ad_value share, weft_error *error) {
    static const char *const names[] = {"diffusivity_0", "diffusivity_1", "diffusivity_2",
                                        "diffusivity_3", "diffusivity_4", "diffusivity_5",
                                        "diffusivity_6", "diffusivity_7", "diffusivity_8"};
    weft_status status = WEFT_OK;
    const weft_advection_diffusion_problem *problem = ad->problem;
    weft_bound_form *form = &ad->forms[which];
    TRY(form_start(ad, which,
                   problem->n_diffusivity <= 1 ? "theta_scalar.weft"
                   : ad->mesh->dimension == 2  ? "theta_tensor_2.weft"
                                               : "theta_tensor_3.weft",
                   error));
    weft_form_bind_input(form, "when", ad->values[WEFT_AD_WHEN]);
    weft_form_bind_input(form, "share", ad->values[share]);
    if (problem->n_diffusivity > 0)
        add_expressions(form, names, problem->diffusivity, problem->n_diffusivity);
    else /* a source alone */
        weft_form_bind_expression(form, names[0], "0", "diffusivity");
    add_capacity(ad, which);
    weft_form_bind_parameter(form, "d", ad->mesh->dimension);
    weft_form_bind_parameter(form, "lumped", problem->lumped);
done:
    return status;
}

/* Advection is not symmetric, which the assembly edge requires. */
static weft_assembly assembly_of(const weft_advection_diffusion *ad, weft_ad_operator which) {
    const weft_assembly assembly = ad->problem->assembly;
    return which == WEFT_AD_A && weft_assembly_about(assembly)->symmetric_only ? WEFT_ASSEMBLY_CSR
                                                                               : assembly;
}

static weft_status make_operator(weft_advection_diffusion *ad, weft_ad_operator which,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const bool has_robin = which == WEFT_AD_B || which == WEFT_AD_C;
    const int n = 1 + (has_robin ? ad->n_robin : 0);
    weft_form *forms = calloc((size_t)n, sizeof *forms);
    if (!forms)
        TRY(weft_out_of_memory(error, "advection and diffusion"));
    forms[0] = ad->forms[which].form;
    if (has_robin)
        TRY(weft_ad_robin_forms(ad, which,
                                ad->values[which == WEFT_AD_B ? WEFT_AD_SHARE_B : WEFT_AD_SHARE_C],
                                forms + 1, error));
    TRY(weft_operator_make(ad->context, assembly_of(ad, which), forms, n, &ad->operators[which],
                           error));
    weft_operator_distribute(ad->operators[which], ad->layout);
    TRY(weft_operator_in_script_make(ad->operators[which], &ad->in_script[which], error));
done:
    free(forms);
    return status;
}

weft_status weft_ad_operators_make(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    if (ad->advects) {
        TRY(make_mass(ad, error));
        TRY(make_advection(ad, error));
    }
    if (ad->diffuses) {
        TRY(make_theta(ad, WEFT_AD_B, WEFT_AD_SHARE_B, error));
        TRY(make_theta(ad, WEFT_AD_C, WEFT_AD_SHARE_C, error));
    }
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i)
        if (weft_ad_has_operator(ad, (weft_ad_operator)i))
            TRY(make_operator(ad, (weft_ad_operator)i, error));
done:
    return status;
}

weft_status weft_ad_operators_assemble(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i)
        if (ad->operators[i])
            TRY(weft_operator_assemble(ad->operators[i], error));
done:
    return status;
}
