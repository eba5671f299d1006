/* Compiles and runs a form once. */
#include "fem/form/form.h"
#include "fusion/connectivity/connectivity.h"

#include <string.h>

enum { OUTPUTS_MAX = 8 };

static weft_status compile(weft_context *context, const weft_form *form,
                           const weft_form_outputs *outputs, weft_compiled *compiled,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text returns = {0};
    for (int i = 0; i < outputs->n; ++i)
        weft_text_add(&returns, "%s %s", i ? "," : "return", outputs->names[i]);
    weft_text_add(&returns, ";\n");
    if (returns.failed) {
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the script %s", form->name);
        goto done;
    }
    weft_fragment fragments[] = {{form->name, form->text}, {"outputs", returns.data}};
    weft_compile_options options = weft_form_vector_options(context, form);
    options.runs_once = true;
    TRY(weft_compiled_make(context, fragments, 2, &options, compiled, error));
    TRY(weft_compiled_bind_form(compiled, form, error));
    for (int i = 0; i < outputs->n; ++i)
        if (outputs->memories[i])
            TRY(weft_program_bind(compiled->program, outputs->names[i], outputs->memories[i],
                                  error));
done:
    weft_text_free(&returns);
    return status;
}

weft_status weft_form_run(weft_context *context, const weft_form *form,
                          const weft_form_outputs *outputs, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled compiled = {0};
    TRY(compile(context, form, outputs, &compiled, error));
    if (outputs->index_set)
        TRY(weft_program_size(compiled.program, outputs->index_set, outputs->n_elements, error));
    TRY(weft_program_run(compiled.program, error));
done:
    weft_compiled_free(&compiled);
    return status;
}

/* Does a script read nothing of its cells but the nodes of one connectivity? */
static bool reads_nodes_alone(const weft_compilation *compilation) {
    const char *cells = NULL;
    int n_connectivities = 0;
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_name_info info;
        weft_compilation_name(compilation, i, &info);
        if (info.kind == WEFT_NAME_CONNECTIVITY) {
            cells = info.over;
            ++n_connectivities;
        }
        if ((info.kind == WEFT_NAME_INPUT || info.kind == WEFT_NAME_DATA) && info.over && cells &&
            strcmp(info.over, cells) == 0)
            return false;
    }
    return n_connectivities == 1;
}

/* Elements first .. first + n - 1 */
static weft_status run_range(const weft_compiled *compiled, weft_connectivity *dofs,
                             const weft_form_outputs *outputs, weft_range_done *done, void *user,
                             const weft_target_range *range, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memories[OUTPUTS_MAX];
    TRY(weft_program_bind_connectivity(compiled->program, "dofs", dofs, error));
    if (outputs->index_set)
        TRY(weft_program_size(compiled->program, outputs->index_set, range->n, error));
    TRY(weft_program_run(compiled->program, error));
    for (int i = 0; i < outputs->n && i < OUTPUTS_MAX; ++i)
        memories[i] = weft_program_result(compiled->program, outputs->names[i]);
    if (done)
        TRY(done(user, memories, range->first, range->n, error));
done:
    return status;
}

static bool is_real_over(const weft_compilation *compilation, const char *name,
                         const char *index_set) {
    weft_name_info info = {.name = NULL};
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_compilation_name(compilation, i, &info);
        if (strcmp(info.name, name) == 0)
            return info.over && strcmp(info.over, index_set) == 0 && info.rank == 0 && !info.sparse;
    }
    return false;
}

/* What is read range by range has one number for each element. */
static weft_status check_reals(const weft_compiled *compiled, const weft_form *form,
                               const weft_form_outputs *outputs, weft_error *error) {
    for (int i = 0; i < outputs->n; ++i) {
        if (is_real_over(compiled->compilation, outputs->names[i], outputs->index_set))
            continue;
        weft_error_set(error, WEFT_ERROR_INPUT, "'%s' is not a real over %s", outputs->names[i],
                       outputs->index_set);
        weft_error_location(error, form->name, NULL, 0, 0);
        weft_error_hint(error, "a number for each cell can be summed");
        return WEFT_ERROR_INPUT;
    }
    return WEFT_OK;
}

weft_status weft_form_run_ranges(weft_context *context, const weft_form *form,
                                 const weft_form_outputs *outputs, weft_range_done *done,
                                 void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled compiled = {0};
    weft_connectivity *dofs = NULL;
    const int64_t n = weft_connectivity_from(form->dofs);
    const size_t n_indices = (size_t)n * (size_t)weft_connectivity_width(form->dofs);
    int64_t most = n;
    TRY(compile(context, form, outputs, &compiled, error));
    if (done)
        TRY(check_reals(&compiled, form, outputs, error));
    if (reads_nodes_alone(compiled.compilation))
        most = n / weft_connectivity_ranges(weft_device_limits(context->device), n_indices);
    if (most < n)
        most = (most / WEFT_RANGE_UNIT + 1) * WEFT_RANGE_UNIT;
    if (most >= n) {
        TRY(run_range(&compiled, form->dofs, outputs, done, user, &(weft_target_range){0, n},
                      error));
        goto done;
    }
    for (int64_t first = 0; first < n; first += most) {
        const weft_target_range range = {first, first + most < n ? most : n - first};
        weft_connectivity_free(&dofs);
        TRY(weft_connectivity_range_make(form->dofs, range.first, range.n, &dofs, error));
        TRY(run_range(&compiled, dofs, outputs, done, user, &range, error));
    }
done:
    weft_compiled_free(&compiled);
    weft_connectivity_free(&dofs);
    return status;
}
