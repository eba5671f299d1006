/* Sets compiler options from the tuning database: measured costs and the best known plan. */
#include "apps/weft/tool.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ELEMENTS = 1000000 };

int64_t weft_tool_elements(const weft_compile_options *options) {
    return options->elements > 0 ? options->elements : DEFAULT_ELEMENTS;
}

static int size_class_of(const weft_compile_options *options) {
    return weft_tuning_size_class(weft_tool_elements(options));
}

static void print_trials(const weft_search_result *result) {
    char predicted[32], measured[32];
    for (int k = 0; k < result->n_measured; ++k)
        fprintf(stderr, "cover %d: predicted %s, measured %s%s\n", k,
                app_print_seconds(result->candidates[k].predicted, predicted),
                app_print_seconds(result->candidates[k].measured, measured),
                k == result->best ? "  the best" : "");
    if (result->n_measured < result->n)
        fprintf(stderr, "none of the other plans can be faster\n");
}

/* Measure the best covers and store the best plan. */
static weft_status search(weft_tool_tuned *t, weft_device *device, const weft_library *library,
                          const weft_tool_scripts *scripts, const weft_compile_options *options,
                          int most, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_search_result result;
    const weft_search_options how = {
        .size = sizeof how, .most = most, .elements = options->elements, .confirm = true};
    const weft_search_script script = {library, scripts->fragments, scripts->n, options};
    TRY(weft_search_covers(device, &script, &how, t->arena, &result, error));
    print_trials(&result);
    if (result.scatter > WEFT_SEARCH_SCATTER_MOST) {
        weft_log(weft_device_monitor(device), WEFT_LOG_WARNING,
                 "repeated runs of the best plan differ by %.0f %%: the "
                 "machine is busy; no plan is stored; repeat the search when the machine is idle",
                 100 * result.scatter);
        goto done;
    }
    const weft_search_candidate *best = &result.candidates[result.best];
    const weft_tuning_best_plan best_plan = {t->script, size_class_of(options), best->cover,
                                             best->predicted, best->measured};
    TRY(weft_tuning_describe(t->tuning, t->identity, weft_device_limits(device)->name, error));
    TRY(weft_tuning_store(t->tuning, t->identity, &best_plan, error));
done:
    return status;
}

weft_status weft_tool_tune(weft_tool_tuned *t, weft_device *device, const weft_library *library,
                           const weft_tool_scripts *scripts, weft_compile_options *options,
                           int most, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning_best_plan best_plan;
    weft_device_options how = weft_device_options_default(weft_device_monitor(device));
    const weft_limits *limits = weft_device_limits(device);
    if (limits->records_only) {
        if (most > 0)
            status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                    "the device %s: there is nothing to measure", limits->name);
        goto done;
    }
    if (most == 0 && how.cache == WEFT_CACHE_ON)
        how.cache = WEFT_CACHE_READ; /* read-only use must not create the database */
    TRY(weft_tuning_open(&how, &t->tuning, error));
    TRY(weft_arena_make(&t->arena, error));
    weft_device_identity(device, t->identity);
    TRY(weft_measured_costs_make(t->tuning, t->identity, limits, &t->costs, error));
    if (weft_measured_costs_size(t->costs) > 0) {
        t->source = weft_measured_costs_source(t->costs);
        options->costs = &t->source;
    }
    TRY(weft_tuned_make(t->tuning, t->identity, &t->parameters, error));
    options->tuned = weft_tuned_source_of(t->parameters);
    TRY(weft_script_hash(library, scripts->fragments, scripts->n, options, t->script, error));
    if (most > 0)
        TRY(search(t, device, library, scripts, options, most, error));
    TRY(weft_tuning_lookup(t->tuning, t->identity, t->script, size_class_of(options), t->arena,
                           &best_plan, error));
    options->cover = best_plan.cover;
done:
    return status;
}

void weft_tool_tune_log(const weft_tool_tuned *t, const weft_compile_options *options,
                        const weft_compilation *compilation, const weft_monitor *monitor) {
    const bool recalled = weft_compilation_recalled(compilation);
    if (t->costs && weft_measured_costs_size(t->costs) > 0)
        weft_log(monitor, WEFT_LOG_INFO, "times of %d measured primitives",
                 weft_measured_costs_size(t->costs));
    if (options->cover)
        weft_log(monitor, WEFT_LOG_INFO,
                 recalled ? "the stored best cover is used"
                          : "the stored best cover is no longer among the candidates: "
                            "the cover predicted best is used");
}

void weft_tool_tune_explain(const weft_compile_options *options,
                            const weft_compilation *compilation, weft_text *out) {
    int n = 0;
    const int measured = weft_compilation_measured(compilation, &n);
    if (!options->costs)
        weft_text_add(out, "\npredicted times: analytic, from the device's nominal figures\n");
    else
        weft_text_add(
            out,
            "\npredicted times: measured for every primitive of %d of %d kernel%s, else analytic\n",
            measured, n, n == 1 ? "" : "s");
    if (weft_compilation_recalled(compilation))
        weft_text_add(out, "the plan is the one that a search found best\n");
}

void weft_tool_tune_clear(weft_tool_tuned *t) {
    weft_measured_costs_free(&t->costs);
    weft_tuned_free(&t->parameters);
    weft_arena_free(&t->arena);
    weft_tuning_close(&t->tuning);
}
