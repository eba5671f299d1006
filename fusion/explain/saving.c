/* Computes what fusion saves in a script, compared with one kernel per call. */
#include "fusion/base/array.h"
#include "fusion/control/kept_plan.h"
#include "fusion/explain/private.h"
#include "fusion/plan/implementations.h"

#include <stdio.h>

enum { CALLS_MOST = 4 }; /* most calls that are named */

static double moved(const weft_plan_kernel *kernel) {
    return kernel->bytes_loaded + kernel->bytes_stored;
}

static bool is_made_by(const weft_plan_kernel *kernel, int call) {
    const weft_implementation *made = kernel->implementation; /* NULL: a gather */
    return made && weft_fusion_contains(made->fusion, call);
}

/* Bytes per element that the calls of one kernel move in the unfused plan. */
static double moved_apart(const weft_plan *unfused, const weft_plan_kernel *kernel) {
    double sum = 0;
    for (int i = 0; i < kernel->implementation->fusion->n_calls; ++i)
        for (int k = 0; k < unfused->n_kernels; ++k)
            if (is_made_by(&unfused->kernels[k], kernel->implementation->order[i]))
                sum += moved(&unfused->kernels[k]);
    return sum;
}

/* "jacobian, tform_dshape and dshape_dot_dshape": each name once. */
static void name_calls(const weft_graph *graph, const weft_plan_kernel *kernel, char *out,
                       size_t size) {
    const weft_implementation *made = kernel->implementation;
    const char *names[CALLS_MOST];
    int n = 0;
    bool more = false;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const char *label = graph->calls[made->order[i]].label;
        const bool is_new = weft_name_index(names, n, sizeof *names, label) < 0;
        if (is_new && n < CALLS_MOST)
            names[n++] = label;
        else if (is_new)
            more = true;
    }
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < n && length < size; ++i) {
        const char *between = i == 0 ? "" : i == n - 1 && !more ? " and " : ", ";
        length += (size_t)snprintf(out + length, size - length, "%s%s", between, names[i]);
    }
    if (more && length < size)
        snprintf(out + length, size - length, " and others");
}

static weft_status add_saving(const weft_segment *c, weft_saving *sum, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    explanation e = {.segment = c, .graph = c->graph};
    TRY(weft_arena_make(&scratch, error));
    TRY(weft_explain_plans(&e, scratch, error));
    const weft_plan *fused = e.plans[WEFT_PLAN_FUSED], *unfused = e.plans[WEFT_PLAN_UNFUSED];
    sum->n_calls += c->graph->n_calls;
    sum->n_kernels += c->plan->n_kernels - c->plan->n_groups;
    sum->n_unfused += unfused->n_kernels;
    for (int i = 0; i < fused->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &fused->kernels[i];
        if (!kernel->implementation || kernel->implementation->fusion->n_calls < 2)
            continue;
        const double apart = moved_apart(unfused, kernel);
        if (!(apart - moved(kernel) > sum->bytes_unfused - sum->bytes))
            continue;
        sum->bytes = moved(kernel);
        sum->bytes_unfused = apart;
        snprintf(sum->index_set, sizeof sum->index_set, "%s",
                 c->graph->index_sets[kernel->index_set].name);
        name_calls(c->graph, kernel, sum->calls, sizeof sum->calls);
    }
done:
    weft_arena_free(&scratch);
    return status;
}

weft_status weft_compilation_saving(const weft_compilation *compilation, weft_saving *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = compilation->control;
    const weft_kept_plan *kept = compilation->kept;
    if (kept && !kept->has_saving)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "the kept plan has no saving"));
    *out = kept ? kept->saving : (weft_saving){0};
    if (kept)
        goto done;
    for (int i = 0; i < control->n_segments; ++i)
        TRY(add_saving(control->segments[i], out, error));
done:
    return status;
}
