/* Compiles the problem of a form file: its scripts, and the functions that they call. */
#include "forms/compile/compile.h"

/* The problem, made by the first call. */
static weft_status find_problem(weft_ufl *ufl, weft_error *error) {
    weft_error ignored = {0};
    if (ufl->problem)
        return WEFT_OK;
    ufl->context.status = WEFT_OK;
    ufl->context.error = error ? error : &ignored;
    ufl->problem = ufl_problem_make(ufl, false, NULL);
    ufl->context.error = NULL;
    return ufl->context.status;
}

weft_status weft_ufl_problem_in_time(weft_ufl *ufl, const char *mass, const weft_ufl_problem **out,
                                     weft_error *error) {
    weft_error ignored = {0};
    ufl->context.status = WEFT_OK;
    ufl->context.error = error ? error : &ignored;
    const ufl_problem *problem = ufl_problem_make(ufl, true, mass);
    ufl->context.error = NULL;
    if (ufl->context.status == WEFT_OK) {
        ufl->problem = problem;
        *out = &problem->shown;
    }
    return ufl->context.status;
}

weft_status weft_ufl_problem_of(weft_ufl *ufl, const weft_ufl_problem **out, weft_error *error) {
    if (ufl->problem && ufl->problem->shown.mass)
        ufl->problem = NULL; /* the last one was in time; the arena keeps it */
    const weft_status status = find_problem(ufl, error);
    if (status == WEFT_OK)
        *out = &ufl->problem->shown;
    return status;
}

/* "", "_ds", "_dx_2" */
static const char *suffix_of(weft_ufl *ufl, const weft_ufl_part *part, bool is_first) {
    const char *measure = ufl_measure_name((ufl_integral_type)part->domain);
    if (is_first)
        return "";
    const char *text = part->id == UFL_ID_EVERYWHERE
                           ? ufl_print(&ufl->context, "_%s", measure)
                           : ufl_print(&ufl->context, "_%s_%d", measure, part->id);
    for (int side = 0; side < 2 && text && part->facets[side] >= 0; ++side)
        text = ufl_print(&ufl->context, "%s_at_%d", text, part->facets[side]);
    return text;
}

weft_status weft_ufl_script(weft_ufl *ufl, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error ignored = {0};
    ufl_inputs declared = {.n = 0};
    TRY(find_problem(ufl, error));
    const weft_ufl_problem *shown = &ufl->problem->shown;
    ufl->context.error = error ? error : &ignored;
    weft_text_add(out, "# The forms %s%s%s of %s.\n", shown->matrix, shown->vector ? " and " : "",
                  shown->vector ? shown->vector : "", ufl->file);
    for (int i = 0; i < shown->n_parts; ++i) {
        const char *suffix = suffix_of(ufl, &shown->parts[i], i == 0);
        if (!suffix || !ufl_write_part(ufl, ufl->problem, i, suffix, &declared, out))
            break;
    }
    ufl->context.error = NULL;
    TRY(ufl->context.status);
    if (out->failed)
        status = weft_out_of_memory(error, NULL);
done:
    return status;
}

weft_status weft_ufl_add_functions(weft_ufl *ufl, weft_library *library, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(find_problem(ufl, error));
    for (int i = 0; i < ufl->problem->shown.n_parts; ++i) {
        const ufl_part_calls *calls = &ufl->problem->calls[i];
        TRY(ufl_lowered_add(calls->matrix.list, calls->matrix.n, library, error));
        TRY(ufl_lowered_add(calls->vector.list, calls->vector.n, library, error));
        TRY(ufl_lowered_add(calls->action.list, calls->action.n, library, error));
        TRY(ufl_lowered_add(calls->diagonal.list, calls->diagonal.n, library, error));
        TRY(ufl_lowered_add(calls->mass.list, calls->mass.n, library, error));
    }
done:
    return status;
}

weft_status weft_ufl_print_kernels(weft_ufl *ufl, const char *form, weft_text *out,
                                   weft_error *error) {
    weft_error ignored = {0};
    ufl->context.status = WEFT_OK;
    ufl->context.error = error ? error : &ignored;
    const int wanted = form ? ufl_module_form(ufl->module, form) : -1;
    for (int i = 0; i < ufl->module->n_forms && ufl->context.status == WEFT_OK; ++i) {
        const char *name = ufl->module->forms[i].name;
        const ufl_prepared *prepared = ufl->prepared[i];
        if (form && i != wanted)
            continue;
        for (int k = 0; k < prepared->form.n_integrals; ++k) {
            const ufl_integral *integral = &prepared->form.integrals[k];
            const int n = integral->type == UFL_CELL
                              ? 1
                              : ufl_cell_entities(integral->mesh->cell, integral->mesh->tdim - 1);
            const int pairs = integral->type == UFL_INTERIOR_FACET ? n : 1;
            for (int at = 0; at < n * pairs; ++at) {
                const int facets[2] = {at / pairs, at % pairs};
                const char *function = ufl_kernel_name(ufl, name, k);
                if (function && integral->type == UFL_EXTERIOR_FACET)
                    function = ufl_print(&ufl->context, "%s_facet_%d", function, facets[0]);
                if (function && integral->type == UFL_INTERIOR_FACET)
                    function =
                        ufl_print(&ufl->context, "%s_facets_%d_%d", function, facets[0], facets[1]);
                const ufl_lowered *lowered = ufl_lower_integral(
                    &ufl->graph, prepared, k, function, integral->type == UFL_CELL ? NULL : facets);
                if (lowered)
                    weft_text_add(out, "%s\n", lowered->text);
            }
        }
    }
    const weft_status status = ufl->context.status;
    ufl->context.error = NULL;
    if (status == WEFT_OK && form && wanted < 0)
        return weft_ufl_print_forms(ufl, form, out, error); /* names the forms that there are */
    return status == WEFT_OK && out->failed ? weft_out_of_memory(error, NULL) : status;
}
