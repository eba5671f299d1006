/* Compiles the script of a step, and binds it to the stepper's operators and memories. */
#include "fem/time/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reassemble an operator, and compute its diagonal if the script needs it. */
static weft_status renewal(void *user, const weft_program_product *product, weft_error *error) {
    weft_status status = WEFT_OK;
    const struct weft_ad_renewal *called = user;
    weft_operator *op = called->owner->operators[called->which];
    TRY(weft_ad_conditions_at(called->owner, error));
    TRY(weft_operator_assemble(op, error));
    if (called->which == WEFT_AD_M || called->which == WEFT_AD_B)
        TRY(weft_operator_diagonal(op, product->y, error));
    if (called->owner->layout)
        TRY(weft_layout_exchange(called->owner->layout, product->y, false, product->active, error));
done:
    return status;
}

/* Whether the script applies A, or reassemble_A. */
static bool is_applied(const weft_advection_diffusion *ad, const char *before, int which) {
    char text[24];
    (void)snprintf(text, sizeof text, "apply(%s%s,", before,
                   weft_ad_operator_name((weft_ad_operator)which));
    return strstr(ad->text.data, text) != NULL;
}

static weft_status compile(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"step.weft", ad->text.data};
    weft_operator_choice choices[WEFT_AD_OPERATORS];
    int n_choices = 0, n_kept = 0;
    weft_expression *dirichlet = calloc((size_t)ad->n_kept + 1, sizeof *dirichlet);
    char(*names)[16] = calloc((size_t)ad->n_kept + 1, sizeof *names);
    if (!dirichlet || !names)
        TRY(weft_out_of_memory(error, "the script of a step"));
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i) {
        const char *name = weft_ad_operator_name((weft_ad_operator)i);
        if (ad->operators[i] && is_applied(ad, "", i))
            choices[n_choices++] = weft_operator_in_script_choice(&ad->in_script[i], name);
    }
    for (int i = 0; strstr(ad->text.data, "kept_1") && i < ad->n_kept; ++i) {
        (void)snprintf(names[i], sizeof names[i], "kept_%d", i + 1);
        dirichlet[n_kept++] =
            (weft_expression){names[i], ad->conditions[i].value, ad->conditions[i].origin};
    }
    const weft_compile_options options = {.size = sizeof options,
                                          .expressions = dirichlet,
                                          .n_expressions = n_kept,
                                          .operators = choices,
                                          .n_operators = n_choices};
    TRY(weft_compiled_make(ad->context, &fragment, 1, &options, &ad->step, error));
done:
    free(dirichlet);
    free(names);
    return status;
}

static weft_status bind_operator(weft_advection_diffusion *ad, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *program = ad->step.program;
    const char *name = weft_ad_operator_name((weft_ad_operator)i);
    char renewed[16];
    ad->renewals[i] = (struct weft_ad_renewal){ad, (weft_ad_operator)i};
    (void)snprintf(renewed, sizeof renewed, "reassemble_%s", name);
    if (is_applied(ad, "reassemble_", i))
        TRY(weft_program_bind_operator(program, renewed, renewal, &ad->renewals[i], error));
    if (is_applied(ad, "", i))
        TRY(weft_operator_in_script_bind(&ad->in_script[i], program, name, error));
done:
    return status;
}

weft_status weft_ad_step_make(weft_advection_diffusion *ad, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(compile(ad, error));
    weft_program *program = ad->step.program;
    TRY(weft_program_size(program, "nodes", ad->n, error));
    if (ad->layout)
        TRY(weft_program_share(program, "nodes", weft_layout_share(ad->layout), error));
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i)
        if (ad->operators[i])
            TRY(bind_operator(ad, i, error));
    if (weft_ad_is_preconditioned(ad))
        TRY(weft_program_bind_operator(program, "P", weft_ad_precondition_apply, ad, error));
    if (ad->load_moves)
        TRY(weft_program_bind_operator(program, "reassemble_load", weft_ad_load_compute, ad,
                                       error));
    for (int i = 0; i < WEFT_AD_LISTS; ++i)
        if (ad->lists[i] && weft_ad_has_list(ad, (weft_ad_list)i))
            TRY(weft_program_bind(program, weft_ad_list_name((weft_ad_list)i), ad->lists[i],
                                  error));
    for (int i = 0; i < WEFT_AD_VALUES; ++i)
        if (weft_ad_has_value(ad, (weft_ad_value)i))
            TRY(weft_program_bind(program, weft_ad_value_name((weft_ad_value)i), ad->values[i],
                                  error));
    if (strstr(ad->text.data, "kept_1"))
        TRY(weft_program_bind(program, "x", ad->x, error));
    TRY(weft_program_time_operators(program, error));
    const weft_data_points nodes = weft_data_nodes(ad->mesh, "nodes");
    TRY(weft_data_bind(ad->context->data, ad->step.compilation, program,
                       &(weft_data_sites){.elements = ad->cells, .points = &nodes, .n = 1}, error));
done:
    return status;
}
