/* Chooses plans by the tuning database: measured costs of the device, stored covers, and the search
 * for the fastest cover. */
#include "fusion/tune/tuned.h"
#include "fem/form/form.h"
#include "fusion/cost/measured.h"

#include <stdlib.h>
#include <string.h>

struct weft_context_tuning {
    weft_tuning *tuning;
    weft_measured_costs *costs;
    weft_cost_source source;
    weft_tuned *parameters;
    char identity[33];
    int most;         /* limit of covers to measure; 0: no search */
    int64_t elements; /* number of cells that plans are made for */
};

weft_status weft_context_tune(weft_context *context, int most, int64_t n_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(context->device);
    weft_device_options options = weft_device_options_default(context->monitor);
    struct weft_context_tuning *made = NULL;
    if (limits->records_only)
        goto done;
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "measured times"));
    if (most == 0 && options.cache == WEFT_CACHE_ON)
        options.cache = WEFT_CACHE_READ; /* without a search nothing is stored */
    made->most = most;
    made->elements = n_cells;
    weft_device_identity(context->device, made->identity);
    TRY(weft_tuning_open(&options, &made->tuning, error));
    TRY(weft_measured_costs_make(made->tuning, made->identity, limits, &made->costs, error));
    made->source = weft_measured_costs_source(made->costs);
    TRY(weft_tuned_make(made->tuning, made->identity, &made->parameters, error));
    if (most > 0)
        TRY(weft_tuning_describe(made->tuning, made->identity, limits->name, error));
    if (weft_measured_costs_size(made->costs) > 0)
        weft_log(context->monitor, WEFT_LOG_INFO, "plans by the times of %d measured primitives",
                 weft_measured_costs_size(made->costs));
    weft_context_tune_free(context);
    context->tuning = made;
    made = NULL;
done:
    if (made) {
        weft_tuned_free(&made->parameters);
        weft_measured_costs_free(&made->costs);
        weft_tuning_close(&made->tuning);
    }
    free(made);
    return status;
}

void weft_context_tune_free(weft_context *context) {
    if (!context->tuning)
        return;
    weft_tuned_free(&context->tuning->parameters);
    weft_measured_costs_free(&context->tuning->costs);
    weft_tuning_close(&context->tuning->tuning);
    free(context->tuning);
    context->tuning = NULL;
}

/* Search for the fastest cover. Scripts that cannot run on synthetic data keep their plan. */
static weft_status search(const weft_context *context, const weft_search_script *searched,
                          const char *script, int size_class, weft_arena *arena,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    const struct weft_context_tuning *t = context->tuning;
    weft_search_result result;
    const weft_search_options how = {.size = sizeof how,
                                     .most = t->most,
                                     .elements = searched->options->elements,
                                     .confirm = true};
    status = weft_search_covers(context->device, searched, &how, arena, &result, error);
    if (status == WEFT_ERROR_UNSUPPORTED) {
        status = WEFT_OK;
        goto done;
    }
    TRY(status);
    if (result.scatter > WEFT_SEARCH_SCATTER_MOST) {
        weft_log(context->monitor, WEFT_LOG_WARNING,
                 "%s: repeated runs of the best plan differ by %.0f %%: the "
                 "machine is busy; no plan is stored",
                 searched->fragments[0].name, 100 * result.scatter);
        goto done;
    }
    const weft_search_candidate *best = &result.candidates[result.best];
    weft_log(
        context->monitor, WEFT_LOG_INFO,
        "%s: %d covers measured, the fastest was predicted as number %d: %.3g s, the first %.3g s",
        searched->fragments[0].name, result.n_measured, result.best + 1, best->measured,
        result.candidates[0].measured);
    const weft_tuning_best_plan best_plan = {script, size_class, best->cover, best->predicted,
                                             best->measured};
    TRY(weft_tuning_store(t->tuning, t->identity, &best_plan, error));
done:
    return status;
}

void weft_context_costs(const weft_context *context, weft_compile_options *options) {
    const struct weft_context_tuning *t = context->tuning;
    if (t && options->elements == 0)
        options->elements = t->elements;
    if (t && weft_measured_costs_size(t->costs) > 0)
        options->costs = &t->source;
    if (t)
        options->tuned = weft_tuned_source_of(t->parameters);
}

bool weft_context_searches(const weft_context *context) {
    return context->tuning && context->tuning->most > 0;
}

weft_status weft_context_tuned(const weft_context *context, const weft_fragment *fragments,
                               int n_fragments, weft_compile_options *options, weft_arena *arena,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const struct weft_context_tuning *t = context->tuning;
    weft_tuning_best_plan best_plan;
    char script[33];
    if (!t)
        goto done;
    weft_context_costs(context, options);
    const int size_class = weft_tuning_size_class(options->elements);
    TRY(weft_script_hash(context->library, fragments, n_fragments, options, script, error));
    TRY(weft_tuning_lookup(t->tuning, t->identity, script, size_class, arena, &best_plan, error));
    if (!best_plan.cover && t->most > 0) {
        const weft_search_script searched = {context->library, fragments, n_fragments, options};
        TRY(search(context, &searched, script, size_class, arena, error));
        TRY(weft_tuning_lookup(t->tuning, t->identity, script, size_class, arena, &best_plan,
                               error));
    }
    options->cover = best_plan.cover;
    if (best_plan.cover)
        weft_log(context->monitor, WEFT_LOG_INFO,
                 "%s: the cover that a search found best is remembered", fragments[0].name);
done:
    return status;
}
