/* weft calibrate --validate: compares predicted with measured times of the validation scripts. */
#include "apps/weft/embedded_check.h"
#include "apps/weft/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPTS_MOST = 32 };

typedef struct checker {
    const weft_tool_options *options;
    const weft_library *library;
    weft_device *device;
    weft_tuning *tuning;
    weft_arena *arena;
    weft_cost_source source;
    char identity[33];
    json_t *json;   /* for --json; NULL: none */
    double unfused; /* seconds of the script's best plan without fusions */
    bool single;    /* of the current measurement */
    weft_search_case cases[SCRIPTS_MOST];
    int n;
    int n_of_class[WEFT_SCRIPT_CLASSES]; /* scripts of this precision so far */
    /* first within 5 % of the best; of ten covers and more: r >= 0.8 */
    int within, n_ranked, above;
} checker;

static weft_status keep(checker *c, const char *name, const char *script,
                        const weft_search_case *one_case, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_search_result *result = &one_case->result;
    char hash[33];
    for (int k = 0; k < result->n_measured; ++k) {
        const weft_search_candidate *one = &result->candidates[k];
        weft_hash(one->cover, strlen(one->cover), hash);
        const weft_tuning_kernel kernel = {hash, name, one_case->elements, one->predicted,
                                           one->measured};
        TRY(weft_tuning_add_kernel(c->tuning, c->identity, &kernel, error));
    }
    if (result->scatter > WEFT_SEARCH_SCATTER_MOST) {
        weft_log(weft_device_monitor(c->device), WEFT_LOG_WARNING,
                 "%s: repeated runs of the best plan differ by %.0f %%: the "
                 "machine is busy; its plan is not stored",
                 name, 100 * result->scatter);
        goto done;
    }
    const weft_search_candidate *best = &result->candidates[result->best];
    const weft_tuning_best_plan best_plan = {script, weft_tuning_size_class(one_case->elements),
                                             best->cover, best->predicted, best->measured};
    TRY(weft_tuning_store(c->tuning, c->identity, &best_plan, error));
done:
    return status;
}

static weft_status print_case(checker *c, const char *name, const weft_search_case *one,
                              weft_error *error) {
    const weft_search_result *result = &one->result;
    const int n = result->n_measured;
    double *values = calloc(2 * (size_t)(n > 0 ? n : 1), sizeof *values), error_sum = 0;
    char seconds[32], note[32] = "";
    if (!values)
        return weft_out_of_memory(error, NULL);
    for (int k = 0; k < n; ++k) {
        values[k] = result->candidates[k].predicted;
        values[n + k] = result->candidates[k].measured;
        error_sum += fabs(values[k] / values[n + k] - 1);
    }
    const double best = result->candidates[result->best].measured;
    const double first = result->candidates[0].measured / best;
    const double correlation = weft_rank_correlation(values, values + n, n);
    c->within += first <= 1.05;
    c->n_ranked += n >= 10;
    c->above += n >= 10 && correlation >= 0.8;
    if (!result->candidates[0].all_measured)
        snprintf(note, sizeof note, "  partly analytic");
    printf("%-20s %9lld %4d %9s %8.2f %9.0f %% %8.2f %6d %7.2f%s\n", name, (long long)one->elements,
           n, app_print_seconds(best, seconds), first, 100 * error_sum / n, correlation,
           result->best + 1, c->unfused / result->candidates[0].measured, note);
    fflush(stdout);
    free(values);
    return WEFT_OK;
}

static json_t *json_of_trial(const weft_search_candidate *candidate) {
    json_t *kernels = json_array();
    for (int i = 0; kernels && i < candidate->n_parts; ++i)
        json_array_append_new(kernels, json_pack("{s:f,s:f,s:f,s:f,s:i}", "transfer_seconds",
                                                 candidate->parts[i].transfer, "compute_seconds",
                                                 candidate->parts[i].compute, "bytes",
                                                 candidate->parts[i].bytes, "wait_seconds",
                                                 candidate->parts[i].latency, "barriers",
                                                 candidate->parts[i].barriers));
    return json_pack("{s:s,s:f,s:f,s:b,s:o}", "cover", candidate->cover, "predicted_seconds",
                     candidate->predicted, "measured_seconds", candidate->measured, "calibrated",
                     candidate->all_measured, "kernels", kernels);
}

static weft_status add_json(checker *c, const char *name, const weft_search_case *one,
                            weft_error *error) {
    json_t *candidates = json_array();
    for (int k = 0; candidates && k < one->result.n_measured; ++k)
        json_array_append_new(candidates, json_of_trial(&one->result.candidates[k]));
    json_t *script =
        json_pack("{s:o,s:s,s:I,s:o,s:o}", "script", app_json_text(name), "type",
                  c->single ? "float" : "double", "instances", (json_int_t)one->elements,
                  "unfused_seconds", app_json_real(c->unfused), "covers", candidates);
    if (json_array_append_new(json_object_get(c->json, "scripts"), script) != 0)
        return weft_out_of_memory(error, NULL);
    return WEFT_OK;
}

/* The fastest of the ten unfused plans with the best predictions. */
static weft_status measure_unfused(checker *c, const weft_fragment *fragments, int n,
                                   weft_compile_options options, int64_t elements,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_search_result result;
    const weft_search_options how = {.size = sizeof how, .most = 10, .elements = elements};
    const weft_search_script script = {c->library, fragments, n, &options};
    options.plan = WEFT_PLAN_UNFUSED;
    TRY(weft_search_covers(c->device, &script, &how, c->arena, &result, error));
    c->unfused = result.n_measured > 0 ? result.candidates[result.best].measured : NAN;
done:
    return status;
}

static weft_status check_script(checker *c, const char *name, const weft_fragment *fragments, int n,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    char hash[33];
    weft_compile_options options = {.size = sizeof options,
                                    .single = c->single,
                                    .parameters = c->options->parameters,
                                    .n_parameters = c->options->n_parameters,
                                    .costs = &c->source};
    weft_search_case *one = &c->cases[c->n];
    const weft_search_script script = {c->library, fragments, n, &options};
    one->elements = c->options->elements;
    if (one->elements <= 0)
        TRY(weft_search_elements(&script, weft_device_limits(c->device), &one->elements, error));
    options.elements = one->elements;
    const weft_search_options how = {.size = sizeof how,
                                     .most = c->options->tune > 0 ? c->options->tune : 10,
                                     .spread = c->options->tune > 0 ? 0 : 20,
                                     .all = true,
                                     .confirm = true,
                                     .elements = one->elements};
    TRY(weft_search_covers(c->device, &script, &how, c->arena, &one->result, error));
    TRY(measure_unfused(c, fragments, n, options, one->elements, error));
    one->script = c->n_of_class[one->result.script_class]++;
    ++c->n;
    TRY(print_case(c, name, one, error));
    TRY(weft_script_hash(c->library, fragments, n, &options, hash, error));
    TRY(keep(c, name, hash, one, error));
    if (c->json)
        TRY(add_json(c, name, one, error));
done:
    return status;
}

static const weft_embedded_file *find_kept(const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < weft_embedded_check_count; ++i) {
        const char *kept = weft_embedded_check[i].name;
        if (strncmp(kept, name, length) == 0 &&
            (kept[length] == '\0' || strcmp(kept + length, ".weft") == 0))
            return &weft_embedded_check[i];
    }
    return NULL;
}

/* Read the named scripts, or the embedded ones if none is named. */
static weft_status check_scripts(checker *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_scripts scripts = {0};
    for (size_t i = 0; c->options->n_arguments == 0 && i < weft_embedded_check_count; ++i) {
        const weft_fragment one = {weft_embedded_check[i].name, weft_embedded_check[i].text};
        if (c->n < SCRIPTS_MOST)
            TRY(check_script(c, one.name, &one, 1, error));
    }
    for (int i = 0; i < c->options->n_arguments; ++i) {
        const weft_embedded_file *kept = find_kept(c->options->arguments[i]);
        if (kept) {
            const weft_fragment one = {kept->name, kept->text};
            TRY(check_script(c, one.name, &one, 1, error));
            continue;
        }
        TRY(weft_tool_scripts_read(&c->options->arguments[i], 1, NULL, &scripts, error));
        TRY(check_script(c, c->options->arguments[i], scripts.fragments, scripts.n, error));
        weft_tool_scripts_clear(&scripts);
    }
done:
    weft_tool_scripts_clear(&scripts);
    return status;
}

static void print_terms(const weft_cost_terms *t) {
    if (t->launch_seconds > 0)
        printf(" launches");
    if (t->non_overlapped > 0)
        printf(" overlap (%.2f of the smaller part adds to the larger)", t->non_overlapped);
    if (t->non_overlapped_barrier > 0)
        printf(" barriers (%.2f of it more for each between calls)", t->non_overlapped_barrier);
    if (t->latency_overlap > 0)
        printf(" waits together (%.2f of those beside a longer one)", t->latency_overlap);
    if (t->cache_bytes > 0)
        printf(" caches (%.2f of the time where all fits)", t->cache_factor);
    printf(t->launch_seconds > 0 || t->non_overlapped > 0 || t->non_overlapped_barrier > 0 ||
                   t->latency_overlap > 0 || t->cache_bytes > 0
               ? "\n"
               : " none\n");
}

/* Fit the cost terms of a class of scripts. They are stored for later predictions if they improve
 * the predictions of scripts that were not used for the fit; otherwise none are. */
static weft_status fit(checker *c, weft_script_class script_class, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_prediction_errors e;
    weft_search_case cases[SCRIPTS_MOST];
    weft_cost_term names[WEFT_COST_TERMS];
    double launch = 0;
    bool found = false;
    int n = 0;
    for (int i = 0; i < c->n; ++i)
        if (c->cases[i].result.script_class == script_class)
            cases[n++] = c->cases[i];
    if (n == 0)
        goto done;
    TRY(weft_tuning_get(c->tuning, c->identity, "launch seconds", &launch, &found, error));
    weft_prediction_fit(cases, n, found ? launch : 0,
                        (double)weft_device_limits(c->device)->l2_bytes, &e);
    const char *with = script_class == WEFT_SCRIPT_INDIRECT ? "with" : "without";
    if (isnan(e.plain)) {
        printf("scripts %s connectivities: no terms are fitted, since no plan has only functions "
               "that weft calibrate has measured on this device\n",
               with);
        goto done;
    }
    printf(
        "scripts %s connectivities: mean error %.1f %% by equation 3; alone with launches of %.2g "
        "us %.1f %%, with overlap in part %.1f %%, with barriers %.1f %%, with waits together %.1f "
        "%%, with caches %.1f %%; ",
        with, 100 * e.plain, launch * 1e6, 100 * e.launch, 100 * e.overlap, 100 * e.barriers,
        100 * e.latency_overlap, 100 * e.cache);
    if (isnan(e.unseen))
        printf("%.1f %%, and with too few scripts to try on others, with:", 100 * e.all);
    else
        printf("%.1f %% on the scripts of the fit and %.1f %% on others with:", 100 * e.all,
               100 * e.unseen);
    print_terms(&e.terms);
    if (!(e.unseen < e.plain)) {
        printf("these terms are not used: they do not improve predictions of other scripts\n");
        e.terms = (weft_cost_terms){.launch_seconds = found ? launch : -1, .cache_factor = 1};
    }
    weft_cost_terms_names(script_class, &e.terms, names);
    for (int i = 0; i < WEFT_COST_TERMS; ++i)
        TRY(weft_tuning_set(c->tuning, c->identity, names[i].name, *names[i].value, error));
done:
    return status;
}

weft_status weft_tool_check_product_kernels(const weft_library *library, const weft_limits *limits,
                                            bool single, weft_cost_primitive_set *set,
                                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_compile_options options = {.size = sizeof options, .single = single};
    for (size_t i = 0; i < weft_embedded_check_count; ++i) {
        const weft_fragment one = {weft_embedded_check[i].name, weft_embedded_check[i].text};
        TRY(weft_cost_primitive_set_script(set, library, limits, &one, 1, &options, error));
    }
done:
    return status;
}

weft_status weft_tool_check_read(const weft_tool_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_scripts scripts = {0};
    for (int i = 0; i < options->n_arguments; ++i) {
        if (find_kept(options->arguments[i]))
            continue;
        TRY(weft_tool_scripts_read(&options->arguments[i], 1, NULL, &scripts, error));
        weft_tool_scripts_clear(&scripts);
    }
done:
    weft_tool_scripts_clear(&scripts);
    return status;
}

weft_status weft_tool_check(const weft_tool_options *options, const weft_library *library,
                            weft_device *device, weft_tuning *tuning, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_measured_costs *costs = NULL;
    const weft_limits *limits = weft_device_limits(device);
    checker *c = calloc(1, sizeof *c);
    if (!c)
        TRY(weft_out_of_memory(error, NULL));
    *c = (checker){.options = options, .library = library, .device = device, .tuning = tuning};
    if (limits->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the device %s: there is nothing to measure", limits->name));
    TRY(weft_arena_make(&c->arena, error));
    weft_device_identity(device, c->identity);
    TRY(weft_measured_costs_make(tuning, c->identity, limits, &costs, error));
    c->source = weft_measured_costs_source(costs);
    if (options->json) {
        c->json = json_pack("{s:o,s:[]}", "device", app_json_text(limits->name), "scripts");
        if (!c->json)
            TRY(weft_out_of_memory(error, NULL));
    }
    printf("%s, %d measured primitives\n", limits->name, weft_measured_costs_size(costs));
    for (int single = options->single; single < 2 - c->options->only_double; ++single) {
        c->single = single;
        memset(c->n_of_class, 0, sizeof c->n_of_class);
        printf("%-20s %9s %4s %9s %8s %11s %8s %6s %7s\n", single ? "float" : "double", "instances",
               "run", "best", "first", "mean error", "rank r", "best's", "unfused");
        TRY(check_scripts(c, error));
    }
    if (c->json)
        TRY(app_json_write(options->json, c->json, error));
    printf("%d of %d scripts: the first predicted is within 5 %% of the best; %d of %d with ten "
           "covers or more: rank correlation at least 0.8\n",
           c->within, c->n, c->above, c->n_ranked);
    for (int k = 0; k < WEFT_SCRIPT_CLASSES; ++k)
        TRY(fit(c, (weft_script_class)k, error));
done:
    weft_measured_costs_free(&costs);
    weft_arena_free(c ? &c->arena : NULL);
    json_decref(c ? c->json : NULL);
    free(c);
    return status;
}
