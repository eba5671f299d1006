/* Compiles the scripts of forms, binds them, and logs the plans. */
#include "fem/form/form.h"
#include "fusion/weft_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "poisson.weft + product.weft" */
static void add_names(weft_text *text, const weft_fragment *fragments, int n_fragments) {
    for (int i = 0; i < n_fragments; ++i)
        weft_text_add(text, "%s%s", i > 0 ? " + " : "", fragments[i].name);
}

/* "poisson.weft + product.weft: 1 kernel: jacobian_tform_dshape_mvmul (3 calls, 60 B loaded, ..."
 */
static void report_plan(const weft_context *context, const weft_fragment *fragments,
                        int n_fragments, const weft_compilation *compilation) {
    weft_text text = {0};
    const int n = weft_compilation_kernels(compilation);
    add_names(&text, fragments, n_fragments);
    weft_text_add(&text, ": %d kernel%s", n, n == 1 ? "" : "s");
    for (int i = 0; i < n; ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        weft_text_add(&text, "%s%s (%d call%s, %.0f B loaded, %.0f B stored, %.0f flop of %s)",
                      i > 0 ? ", " : ": ", info.name, info.n_calls, info.n_calls == 1 ? "" : "s",
                      info.bytes_loaded, info.bytes_stored, info.flops, info.index_set);
    }
    if (!text.failed)
        weft_log(context->monitor, WEFT_LOG_INFO, "%s", text.data);
    weft_text_free(&text);
}

/* Keep the plan on disk with its saving and, with a monitor, sum up the savings for reports. Scripts without an unfused
 * plan on this device add nothing. */
static weft_status add_saving(weft_context *context, const weft_fragment *fragments,
                              int n_fragments, const weft_compilation *compilation,
                              weft_error *error) {
    weft_saving *sum = &context->saving, one;
    weft_error reason = {0};
    weft_text names = {0};
    if (context->plan != WEFT_PLAN_FUSED ||
        (!context->monitor && weft_compilation_is_kept(compilation)))
        return WEFT_OK;
    const weft_status status = weft_compilation_saving(compilation, &one, &reason);
    if (status == WEFT_ERROR_MEMORY)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "%s", reason.message);
    if (status != WEFT_OK)
        return WEFT_OK;
    add_names(&names, fragments, n_fragments);
    if (context->monitor && !sum->calls[0] && one.calls[0] && !names.failed) {
        memcpy(sum->calls, one.calls, sizeof one.calls);
        memcpy(sum->index_set, one.index_set, sizeof one.index_set);
        sum->bytes = one.bytes;
        sum->bytes_unfused = one.bytes_unfused;
        snprintf(context->saving_script, sizeof context->saving_script, "%s", names.data);
    }
    weft_text_free(&names);
    sum->n_calls += one.n_calls;
    sum->n_kernels += one.n_kernels;
    sum->n_unfused += one.n_unfused;
    return weft_compilation_keep(compilation, &one, error);
}

weft_status weft_context_compile(const weft_context *context, const weft_fragment *fragments,
                                 int n_fragments, const weft_compile_options *options,
                                 weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compile_options planned = *options;
    weft_compilation *made = NULL;
    planned.plan = context->plan;
    planned.plans = context->device;
    TRY(weft_compile(context->library, weft_device_limits(context->device), fragments, n_fragments,
                     &planned, &made, error));
    TRY(weft_compilation_keep(made, NULL, error));
    *out = made;
    made = NULL;
done:
    weft_compilation_free(&made);
    return status;
}

/* Without reports, so that several threads may do it; seconds, kernels and savings go to the context. */
static weft_status make(weft_context *context, const weft_fragment *fragments, int n_fragments,
                        const weft_compile_options *options, weft_compiled *out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled made = {.data = context->data};
    weft_compile_options planned = *options;
    weft_arena *arena = NULL;
    planned.plan = context->plan;
    planned.distributed = context->comm && !planned.replicated;
    planned.plans = context->device;
    planned.corrected = true;
    double start = weft_clock();
    TRY(weft_arena_make(&arena, error));
    TRY(weft_context_tuned(context, fragments, n_fragments, &planned, arena, error));
    TRY(weft_compile(context->library, weft_device_limits(context->device), fragments, n_fragments,
                     &planned, &made.compilation, error));
    context->plan_seconds += weft_clock() - start;
    start = weft_clock();
    if (!weft_device_limits(context->device)->records_only)
        TRY(weft_compilation_correct(made.compilation, context->device, error));
    context->compile_seconds += weft_clock() - start;
    start = weft_clock();
    TRY(add_saving(context, fragments, n_fragments, made.compilation, error));
    context->plan_seconds += weft_clock() - start;
    start = weft_clock();
    TRY(weft_program_make(context->device, made.compilation, &made.program, error));
    context->compile_seconds += weft_clock() - start;
    context->n_kernels += weft_compilation_kernels(made.compilation);
    *out = made;
    made = (weft_compiled){0};
done:
    weft_arena_free(&arena);
    weft_compiled_free(&made);
    return status;
}

weft_status weft_compiled_make(weft_context *context, const weft_fragment *fragments,
                               int n_fragments, const weft_compile_options *options,
                               weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_progress(context->monitor, "compiling kernel", context->n_kernels + 1, 0);
    TRY(make(context, fragments, n_fragments, options, out, error));
    report_plan(context, fragments, n_fragments, out->compilation);
done:
    return status;
}

/* ---- several scripts at once ----------------------------------------------------------------- */

typedef struct compile_job {
    weft_context context; /* a copy, for what this script adds */
    const weft_compile_request *request;
    weft_compiled made;
    weft_status status;
    weft_error error;
} compile_job;

static void run_job(void *user, int64_t i) {
    compile_job *job = (compile_job *)user + i;
    const weft_compile_request *request = job->request;
    job->status = make(&job->context, request->fragments, request->n_fragments, request->options,
                       &job->made, &job->error);
}

/* What a job has counted; its seconds are a share of those of all. */
static void add_job(weft_context *context, const compile_job *job, double share) {
    const weft_saving *one = &job->context.saving;
    weft_saving *sum = &context->saving;
    context->plan_seconds += share * job->context.plan_seconds;
    context->compile_seconds += share * job->context.compile_seconds;
    context->n_kernels += job->context.n_kernels;
    if (!sum->calls[0] && one->calls[0]) {
        memcpy(context->saving_script, job->context.saving_script, sizeof context->saving_script);
        memcpy(sum->calls, one->calls, sizeof one->calls);
        memcpy(sum->index_set, one->index_set, sizeof one->index_set);
        sum->bytes = one->bytes;
        sum->bytes_unfused = one->bytes_unfused;
    }
    sum->n_calls += one->n_calls;
    sum->n_kernels += one->n_kernels;
    sum->n_unfused += one->n_unfused;
}

/* The first error in order, or the programs to their places. */
static weft_status finish_jobs(weft_context *context, compile_job *jobs, int n, double seconds,
                               weft_error *error) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += jobs[i].context.plan_seconds + jobs[i].context.compile_seconds;
        if (jobs[i].status != WEFT_OK) {
            if (error)
                *error = jobs[i].error;
            return jobs[i].status;
        }
    }
    for (int i = 0; i < n; ++i) {
        const weft_compile_request *request = jobs[i].request;
        add_job(context, &jobs[i], sum > 0 ? seconds / sum : 0);
        report_plan(context, request->fragments, request->n_fragments, jobs[i].made.compilation);
        *request->out = jobs[i].made;
        jobs[i].made = (weft_compiled){0};
    }
    return WEFT_OK;
}

weft_status weft_compiled_make_all(weft_context *context, const weft_compile_request *requests,
                                   int n, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    compile_job *jobs = n > 0 ? calloc((size_t)n, sizeof *jobs) : NULL;
    if (n == 0)
        goto done;
    if (!jobs)
        TRY(weft_out_of_memory(error, "scripts"));
    for (int i = 0; i < n; ++i) {
        jobs[i].request = &requests[i];
        jobs[i].context = *context;
        jobs[i].context.plan_seconds = jobs[i].context.compile_seconds = 0;
        jobs[i].context.n_kernels = 0;
        jobs[i].context.saving = (weft_saving){0};
    }
    weft_progress(context->monitor, "compiling kernel", context->n_kernels + 1, 0);
    if (weft_context_searches(context)) /* measurements do not share the device */
        for (int i = 0; i < n; ++i)
            run_job(jobs, i);
    else
        TRY(weft_device_for(context->device, n, run_job, jobs, error));
    TRY(finish_jobs(context, jobs, n, weft_clock() - start, error));
done:
    for (int i = 0; jobs && i < n; ++i)
        weft_compiled_free(&jobs[i].made);
    free(jobs);
    return status;
}

void weft_compiled_free(weft_compiled *compiled) {
    weft_program_free(&compiled->program);
    weft_compilation_free(&compiled->compilation);
}

weft_compile_options weft_form_options(const weft_form *form) {
    return (weft_compile_options){.size = sizeof(weft_compile_options),
                                  .expressions = form->expressions,
                                  .n_expressions = form->n_expressions,
                                  .parameters = form->parameters,
                                  .n_parameters = form->n_parameters};
}

weft_compile_options weft_form_vector_options(const weft_context *context, const weft_form *form) {
    weft_compile_options options = weft_form_options(form);
    if (weft_device_limits(context->device)->execution == WEFT_EXECUTION_SIMT)
        options.scatter = WEFT_SCATTER_GATHERED;
    return options;
}

/* Entries of all local matrices below which the compiler takes longer than what its better code saves in some assemblies: 0.6 s
 * for Q2-Q1 on hexahedra, whose matrix of 4e6 entries takes 0.1 s. */
static const double ENTRIES_ONCE = 1e7;

/* Elements of a connectivity, of all ranks; where these have different devices, which compile other programs, of this one. */
static weft_status count_elements(const weft_context *context, const weft_form *form, int64_t *out,
                                  weft_error *error) {
    const weft_share *share = weft_connectivity_from_share(form->dofs);
    *out = weft_connectivity_from(form->dofs);
    for (int64_t i = 0, n = *out; share && i < n; ++i)
        *out -= !share->marks[i];
    return weft_comm_is_mixed(context->comm) ? WEFT_OK : weft_comm_sum(context->comm, out, error);
}

weft_status weft_compiled_make_addto(weft_context *context, const weft_form *form,
                                     weft_connectivity *rows, bool is_first, weft_scatter scatter,
                                     weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool blocks = weft_form_components(form) > 1;
    const char *const tails[] = {"continue_matrix.weft",
                                 blocks ? "matrix_blocks.weft" : "matrix.weft"};
    const weft_parameter width = {"block_rows", weft_connectivity_width(rows)};
    weft_parameter storage[WEFT_PARAMETERS_MAX];
    weft_fragment fragments[3] = {{form->name, form->text}};
    weft_compile_options options = weft_form_options(form);
    int n = 1;
    for (int i = is_first; i < 2; ++i)
        fragments[n++] = (weft_fragment){tails[i], weft_fem_script(tails[i])};
    options.scatter = scatter;
    int64_t n_elements = 0;
    TRY(count_elements(context, form, &n_elements, error));
    options.runs_once =
        (double)n_elements * (double)width.value * (double)width.value < ENTRIES_ONCE;
    if (blocks)
        TRY(weft_options_add(&options, storage, &width, 1, error));
    TRY(weft_compiled_make(context, fragments, n, &options, out, error));
    TRY(weft_compiled_bind_form(out, form, error));
    if (blocks)
        TRY(weft_program_bind_connectivity(out->program, "rows_of", rows, error));
done:
    return status;
}

weft_status weft_compiled_bind_form(weft_compiled *compiled, const weft_form *form,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    if (form->dofs)
        TRY(weft_program_bind_connectivity(compiled->program, "dofs", form->dofs, error));
    for (int i = 0; i < form->n_connectivities; ++i)
        TRY(weft_program_bind_connectivity(compiled->program, form->connectivities[i].name,
                                           form->connectivities[i].connectivity, error));
    for (int i = 0; i < form->n_inputs; ++i)
        TRY(weft_program_bind(compiled->program, form->inputs[i].name, form->inputs[i].memory,
                              error));
    const weft_data_sites sites = {.elements = form->facets ? form->facets : form->dofs,
                                   .are_facets = form->facets != NULL,
                                   .points = form->points,
                                   .n = form->points != NULL};
    TRY(weft_data_bind(compiled->data, compiled->compilation, compiled->program, &sites, error));
done:
    return status;
}

weft_status weft_compiled_run(weft_context *context, const weft_compiled *compiled,
                              weft_memory *active, weft_error *error) {
    if (weft_device_captures(context->device))
        weft_program_predicate(compiled->program, active);
    return weft_program_run(compiled->program, error);
}

bool weft_context_is_on_gpu(const weft_context *context) {
    return weft_device_limits(context->device)->execution == WEFT_EXECUTION_SIMT ||
           weft_comm_is_mixed(context->comm);
}

double weft_context_clock(const weft_context *context) {
    return weft_clock() - context->plan_seconds - context->compile_seconds;
}
