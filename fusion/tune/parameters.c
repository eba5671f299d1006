/* Searches the settings of tuned parameters of a call for the fastest, on a script that has this call alone. */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "core/base/options.h"
#include "core/base/threads.h"
#include "core/search/search.h"
#include "fusion/base/array.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/library/function.h"
#include "fusion/plan/segment.h"
#include "fusion/tune/synthetic_data.h"
#include "fusion/tune/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16, RESULT_BYTES = 65536 };
static const double SECONDS = 60;

/* ---- a script with one call ---------------------------------------------------------------- */

/* `over rows, columns` of an argument; functions of elements are over cells. */
static const char *set_of(const weft_function *function, int over) {
    static const char *const nested[] = {"", " over rows", " over columns", " over rows, columns"};
    return function->index_sets[0] ? nested[over & 3] : " over cells";
}

/* keys  "degree = 2, width = 4", or "" */
static void write_script(const weft_element_request *request, const char *keys, weft_text *out) {
    const weft_function *function = request->function;
    weft_text_add(out, "%s\n",
                  !function->index_sets[0]   ? "index cells;"
                  : !function->index_sets[1] ? "index rows;"
                                             : "index rows, columns;");
    for (int i = 0; i < request->n_arguments; ++i) {
        weft_text_add(out, "input operand_%d : ", i);
        weft_shape_print(&request->arguments[i], out);
        weft_text_add(out, "%s;\n", set_of(function, function->arguments[i].over));
    }
    weft_text_add(out, "made = %s(", function->info.name);
    for (int i = 0; i < request->n_arguments; ++i)
        weft_text_add(out, "%soperand_%d", i > 0 ? ", " : "", i);
    weft_text_add(out, "%s%s);\nreturn made;\n", keys[0] && request->n_arguments > 0 ? ", " : "",
                  keys);
}

static void write_keys(const weft_element_request *request, weft_text *out) {
    for (int i = 0; i < request->n_keys; ++i)
        weft_text_add(out, "%s%s = %d", i > 0 ? ", " : "", request->keys[i],
                      request->key_values[i]);
}

/* ---- candidates ---------------------------------------------------------------------------- */

typedef struct candidate {
    weft_trial trial;
    const char *setting; /* "width = 4" */
    const char *script;
    weft_compilation *compilation;
    weft_program *program;
} candidate;

typedef struct tuner {
    weft_device *device;
    const weft_library *library;
    const weft_tune_options *options;
    const weft_element_request *request;
    weft_arena *arena;
    weft_tuned_name names[WEFT_TUNED_MAX];
    int n_names;
    candidate *candidates;
    weft_trials trials;
    weft_synthetic_run *run;
    void *results;            /* [bytes] of the standard setting, at most RESULT_BYTES */
    size_t bytes;             /* 0: not known yet */
    const candidate *differs; /* gives other results */
} tuner;

static int64_t elements_of(const tuner *t) {
    return t->options->elements > 0 ? t->options->elements : 1000000;
}

/* The settings that the function's constraints leave. */
static weft_status add_candidates(tuner *t, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    weft_specialisation *made = NULL;
    weft_error ignored;
    weft_text text = {0};
    const int n = weft_settings_count(t->request->function, t->names, t->n_names);
    TRY(WEFT_ALLOC(t->arena, t->candidates, (size_t)n + 1, error));
    for (int k = 0; k < n; ++k) {
        int values[WEFT_TUNED_MAX];
        candidate *c = &t->candidates[t->trials.n];
        TRY(weft_arena_make(&scratch, error));
        weft_setting_at(t->request->function, t->names, t->n_names, k, values);
        const weft_status fits = weft_setting_specialise(
            t->library, t->request, t->names, t->n_names, values, scratch, &made, &ignored);
        weft_arena_free(&scratch);
        if (fits == WEFT_ERROR_MEMORY)
            TRY(weft_out_of_memory(error, "a search"));
        if (fits != WEFT_OK)
            continue;
        weft_text_free(&text);
        weft_setting_print(t->names, t->n_names, values, &text);
        c->setting = text.failed ? NULL : weft_arena_copy(t->arena, text.data, text.length);
        weft_text_free(&text);
        write_keys(t->request, &text);
        weft_text_add(&text, "%s%s", t->request->n_keys > 0 ? ", " : "", c->setting);
        weft_text script = {0};
        write_script(t->request, text.data ? text.data : "", &script);
        c->script = text.failed || script.failed
                        ? NULL
                        : weft_arena_copy(t->arena, script.data, script.length);
        weft_text_free(&script);
        if (!c->setting || !c->script)
            TRY(weft_out_of_memory(error, "a search"));
        ++t->trials.n;
    }
    t->trials.first = t->candidates;
    t->trials.stride = sizeof *t->candidates;
done:
    weft_arena_free(&scratch);
    weft_text_free(&text);
    return status;
}

static weft_status compile_one(const tuner *t, candidate *c, weft_error *error) {
    weft_compile_options options = weft_compile_options_default();
    options.single = t->options->single;
    options.elements = elements_of(t);
    return weft_compile(t->library, weft_device_limits(t->device),
                        &(weft_fragment){c->setting, c->script}, 1, &options, &c->compilation,
                        error);
}

static void compile(void *user, int i) {
    const tuner *t = user;
    candidate *c = &t->candidates[i];
    weft_error ignored;
    if (c->trial.outcome == WEFT_TRIAL_RUNS)
        return;
    c->trial.outcome = WEFT_TRIAL_RUNS;
    if (t->options->measure)
        return;
    if ((!c->compilation && compile_one(t, c, &ignored) != WEFT_OK) ||
        weft_program_make(t->device, c->compilation, &c->program, &ignored) != WEFT_OK)
        c->trial.outcome = WEFT_TRIAL_REFUSED;
}

static double value_at(const tuner *t, const void *values, size_t i) {
    return t->options->single ? ((const float *)values)[i] : ((const double *)values)[i];
}

/* Are two results equal but for rounding? */
static bool is_equal(const tuner *t, const void *values) {
    const size_t n = t->bytes / (t->options->single ? sizeof(float) : sizeof(double));
    const double tolerance = t->options->single ? 1e-3 : 1e-8;
    double largest = 0, difference = 0;
    bool equal = true;
    for (size_t i = 0; i < n; ++i) {
        const double a = value_at(t, t->results, i), b = value_at(t, values, i);
        equal = equal && isfinite(a) == isfinite(b);
        if (!isfinite(a) || !isfinite(b))
            continue;
        largest = fmax(largest, fabs(a));
        difference = fmax(difference, fabs(a - b));
    }
    return equal && difference <= tolerance * largest;
}

/* Compare what a candidate has computed with what the standard one has, which is timed first. */
static weft_status check_result(tuner *t, const candidate *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_memory *memory = weft_program_result(c->program, "made");
    void *values = NULL;
    if (!memory || t->differs)
        goto done;
    const size_t all = weft_memory_bytes(memory);
    values = malloc(RESULT_BYTES);
    if (!values)
        TRY(weft_out_of_memory(error, "a search"));
    const size_t bytes = all < RESULT_BYTES ? all : RESULT_BYTES;
    TRY(weft_memory_read(memory, 0, values, bytes, error));
    if (!t->results) {
        t->results = values;
        t->bytes = bytes;
        values = NULL;
    } else if (!is_equal(t, values))
        t->differs = c;
done:
    free(values);
    return status;
}

/* All candidates have the same lists. */
static weft_status time_candidates(void *user, const int *list, int n, int stage, int rounds,
                                   double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    tuner *t = user;
    for (int r = 0; r < rounds; ++r)
        for (int i = 0; i < n; ++i) {
            candidate *c = &t->candidates[list[i]];
            double *to = &seconds[i * rounds + r];
            if (t->options->measure)
                TRY(t->options->measure(t->options->user, c->setting, to, error));
            else
                TRY(weft_synthetic_run_time(t->run, c->program, c->compilation, 0, to, error));
        }
    for (int i = 0; i < n && stage == 0 && !t->options->measure; ++i)
        TRY(check_result(t, &t->candidates[list[i]], error));
done:
    return status;
}

static void clear(tuner *t) {
    for (int i = 0; i < t->trials.n; ++i) {
        weft_program_free(&t->candidates[i].program);
        weft_compilation_free(&t->candidates[i].compilation);
    }
    weft_synthetic_run_free(&t->run);
    free(t->results);
}

/* ---- one call ------------------------------------------------------------------------------ */

/* The best of those that are as fast as the fastest: the standard one, if it is among them. */
static int best_of(const weft_search_found *found) {
    for (int i = 0; i < found->n_tied; ++i)
        if (found->tied[i] == 0 && !weft_fault("chance_decides"))
            return 0;
    return found->tied[0];
}

static weft_status store(const tuner *t, const weft_tune_result *result, weft_error *error) {
    weft_status status = WEFT_OK;
    char identity[33], key[33];
    if (!t->options->tuning)
        goto done;
    TRY(weft_tuned_key(t->request, t->options->single, key, error));
    weft_device_identity(t->device, identity);
    TRY(weft_tuning_describe(t->options->tuning, identity, weft_device_limits(t->device)->name,
                             error));
    TRY(weft_tuning_store(t->options->tuning, identity,
                          &(weft_tuning_best_plan){key, weft_tuning_size_class(elements_of(t)),
                                                   result->setting, result->standard_seconds,
                                                   result->seconds},
                          error));
done:
    return status;
}

static weft_status describe(const tuner *t, weft_tune_result *out, weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, "%s(", t->request->function->info.name);
    for (int i = 0; i < t->request->n_arguments; ++i) {
        weft_text_add(&text, "%s", i > 0 ? ", " : "");
        weft_shape_print(&t->request->arguments[i], &text);
    }
    weft_text_add(&text, "%s", t->request->n_keys > 0 ? ", " : "");
    write_keys(t->request, &text);
    weft_text_add(&text, ")");
    out->function = t->request->function->info.name;
    out->call = text.failed ? NULL : weft_arena_copy(t->arena, text.data, text.length);
    weft_text_free(&text);
    return out->call ? WEFT_OK : weft_out_of_memory(error, NULL);
}

static weft_status tune_call(tuner *t, weft_tune_result *out, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { LAST = WEFT_TRIAL_STAGES - 1 };
    weft_search_found found;
    weft_threads *pool = NULL;
    TRY(describe(t, out, error));
    TRY(add_candidates(t, error));
    out->n_settings = weft_settings_count(t->request->function, t->names, t->n_names);
    out->n_allowed = t->trials.n;
    if (t->trials.n == 0)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE, "%s: its where lines leave none of %d settings",
                           out->call, out->n_settings));
    TRY(weft_threads_make(weft_threads_available(), &pool, error));
    if (!t->options->measure) { /* mistakes of the call are reported */
        TRY(compile_one(t, &t->candidates[0], error));
        TRY(weft_synthetic_run_make(t->device, t->candidates[0].compilation, elements_of(t),
                                    &t->run, error));
    }
    const weft_search_problem problem = {.seconds = t->options->seconds > 0 ? t->options->seconds
                                                                            : SECONDS,
                                         .chunk = CHUNK,
                                         .device = weft_device_limits(t->device)->name,
                                         .threads = pool,
                                         .monitor = weft_device_monitor(t->device),
                                         .compile = compile,
                                         .time = time_candidates,
                                         .user = t};
    TRY(weft_search_run(&problem, &t->trials, &found, error));
    if (t->differs) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "%s: its result with %s is not that with %s, and tuned parameters must not "
                       "change it",
                       out->call, t->differs->setting, t->candidates[0].setting);
        weft_error_hint(error, "weft test compares all settings, and shows where they differ");
        TRY(WEFT_ERROR_INPUT);
    }
    const candidate *best = &t->candidates[best_of(&found)];
    out->setting = best->setting;
    out->standard = t->candidates[0].setting;
    out->seconds = best->trial.seconds[LAST];
    out->standard_seconds = t->candidates[0].trial.seconds[LAST];
    out->n_timed = found.n_timed;
    out->n_tied = found.n_tied;
    TRY(store(t, out, error));
done:
    clear(t);
    weft_threads_free(&pool);
    return status;
}

/* ---- the calls of a script ----------------------------------------------------------------- */

/* The call as the script has it: without the values that were chosen for it. */
static weft_status request_of(const weft_call *call, weft_arena *arena, weft_element_request *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_specialisation *made = call->specialisation;
    const weft_function *function = made->function;
    const char **keys = NULL;
    int *values = NULL, n = 0;
    TRY(WEFT_ALLOC(arena, keys, WEFT_FUNCTION_NAMES_MAX, error));
    TRY(WEFT_ALLOC(arena, values, WEFT_FUNCTION_NAMES_MAX, error));
    for (int i = 0; i < call->setting->n_given; ++i) {
        const int at = weft_function_name_index(function, call->setting->given[i]);
        keys[n] = function->names[at].name;
        values[n++] = made->values[at];
    }
    *out = (weft_element_request){.function = function,
                                  .arguments = made->arguments,
                                  .n_arguments = made->n_arguments,
                                  .keys = keys,
                                  .key_values = values,
                                  .n_keys = n};
done:
    return status;
}

static weft_status is_new(const weft_element_request *requests, int n, bool single, bool *out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    char key[33], other[33];
    *out = true;
    TRY(weft_tuned_key(&requests[n], single, key, error));
    for (int i = 0; i < n && *out; ++i) {
        TRY(weft_tuned_key(&requests[i], single, other, error));
        *out = strcmp(key, other) != 0;
    }
done:
    return status;
}

/* Different calls with tuned parameters. */
static weft_status find_calls(const weft_compilation *compilation, bool single, weft_arena *arena,
                              weft_element_request **out, int *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = compilation->control;
    size_t most = 1;
    for (int s = 0; s < control->n_segments; ++s)
        most += (size_t)control->segments[s]->graph->n_calls;
    *n = 0;
    TRY(WEFT_ALLOC(arena, *out, most, error));
    for (int s = 0; s < control->n_segments; ++s)
        for (int i = 0; i < control->segments[s]->graph->n_calls; ++i) {
            const weft_call *call = &control->segments[s]->graph->calls[i];
            bool is_one = false;
            if (!call->setting)
                continue;
            TRY(request_of(call, arena, &(*out)[*n], error));
            TRY(is_new(*out, *n, single, &is_one, error));
            *n += is_one;
        }
done:
    return status;
}

weft_status weft_tune_script(weft_device *device, const weft_search_script *script,
                             const weft_tune_options *options, weft_arena *arena,
                             weft_tune_result **out, int *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(device);
    weft_compilation *compilation = NULL;
    weft_element_request *requests = NULL;
    TRY(weft_options_check("weft_tune_options", options->size, sizeof *options, error));
    if (limits->records_only && !options->measure)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the device %s: there is nothing to measure", limits->name));
    weft_compile_options own = script->options ? *script->options : weft_compile_options_default();
    own.single = options->single;
    own.elements = options->elements;
    own.tuned = NULL;
    TRY(weft_compile(script->library, limits, script->fragments, script->n_fragments, &own,
                     &compilation, error));
    TRY(find_calls(compilation, options->single, arena, &requests, n, error));
    TRY(WEFT_ALLOC(arena, *out, (size_t)*n + 1, error));
    for (int i = 0; i < *n; ++i) {
        tuner t = {.device = device,
                   .library = script->library,
                   .options = options,
                   .request = &requests[i],
                   .arena = arena};
        t.n_names =
            weft_tuned_names(requests[i].function, requests[i].keys, requests[i].n_keys, t.names);
        TRY(tune_call(&t, &(*out)[i], error));
    }
done:
    weft_compilation_free(&compilation);
    return status;
}

static void write_result(const weft_tune_result *r, weft_text *out) {
    char seconds[32], standard[32];
    weft_number_print(r->seconds, 1, seconds);
    weft_number_print(r->standard_seconds, 1, standard);
    weft_text_add(out,
                  "{\"function\": \"%s\", \"call\": \"%s\", \"setting\": \"%s\", \"standard\": "
                  "\"%s\", \"seconds\": %s, \"standard_seconds\": %s, \"n_settings\": %d, "
                  "\"n_allowed\": %d, \"n_timed\": %d, \"n_tied\": %d}",
                  r->function, r->call, r->setting, r->standard, seconds, standard, r->n_settings,
                  r->n_allowed, r->n_timed, r->n_tied);
}

weft_status weft_tune_and_store(weft_device *device, const weft_search_script *script,
                                const weft_tune_options *options, weft_text *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_options how = weft_device_options_default(weft_device_monitor(device));
    weft_tune_options own = *options;
    weft_arena *arena = NULL;
    own.tuning = NULL;
    weft_tune_result *results = NULL;
    int n = 0;
    TRY(weft_arena_make(&arena, error));
    TRY(weft_tuning_open(&how, &own.tuning, error));
    TRY(weft_tune_script(device, script, &own, arena, &results, &n, error));
    weft_text_add(out, "[");
    for (int i = 0; i < n; ++i) {
        weft_text_add(out, "%s", i > 0 ? ", " : "");
        write_result(&results[i], out);
    }
    weft_text_add(out, "]");
    if (out->failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    weft_tuning_close(&own.tuning);
    weft_arena_free(&arena);
    return status;
}

/* ---- a function by its name ----------------------------------------------------------------- */

bool weft_is_tuned(const weft_library *library, const char *name) {
    const weft_function *function = weft_library_find(library, name);
    weft_tuned_name names[WEFT_TUNED_MAX];
    if (!function)
        function = weft_library_find_reduction(library, name);
    return function && weft_tuned_names(function, NULL, 0, names) > 0;
}

static void list_names(const weft_function *function, weft_text *out) {
    for (int i = 0, n = 0; i < function->n_names; ++i)
        if (function->names[i].n_choices == 0)
            weft_text_add(out, "%s%s", n++ > 0 ? ", " : "", function->names[i].name);
}

/* "n = 8, m = 3": values and which names have one */
static weft_status read_sizes(const weft_function *function, const char *sizes, int *values,
                              bool *given, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text list = {0};
    const char *at = sizes ? sizes : "";
    while (*at) {
        char name[64] = "";
        int value = 0, length = 0;
        if (sscanf(at, " %63[A-Za-z0-9_] = %d %n", name, &value, &length) < 2)
            TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "sizes are NAME=NUMBER,...",
                                  "write n=8,m=3, for example"));
        const int index = weft_function_name_index(function, name);
        if (index < 0) {
            list_names(function, &list);
            weft_error_set(error, WEFT_ERROR_USAGE, "%s has no size or parameter '%s'",
                           function->info.name, name);
            weft_error_hint(error, "its signature is %s; it has %s", function->info.signature,
                            list.data ? list.data : "none");
            TRY(WEFT_ERROR_USAGE);
        }
        values[index] = value;
        given[index] = true;
        at += length;
        at += *at == ',';
    }
done:
    weft_text_free(&list);
    return status;
}

weft_status weft_tune_text(const weft_library *library, const char *name, const char *sizes,
                           weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_function *function = weft_library_find(library, name);
    weft_shape shapes[WEFT_ARGUMENTS_MAX];
    const char *keys[WEFT_FUNCTION_NAMES_MAX];
    int values[WEFT_FUNCTION_NAMES_MAX] = {0}, key_values[WEFT_FUNCTION_NAMES_MAX], n_keys = 0;
    bool given[WEFT_FUNCTION_NAMES_MAX] = {false};
    weft_text text = {0};
    if (!function)
        function = weft_library_find_reduction(library, name);
    if (!function)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "there is no function '%.100s'", name));
    for (int i = 0; i < function->n_names; ++i)
        values[i] = function->names[i].value;
    TRY(read_sizes(function, sizes, values, given, error));
    for (int i = 0; i < function->n_names; ++i)
        if (function->names[i].is_parameter && given[i]) {
            keys[n_keys] = function->names[i].name;
            key_values[n_keys++] = values[i];
        }
    if (!weft_function_shapes(function, values, WEFT_ELEMENTS_MAX, shapes)) {
        weft_error_set(error, WEFT_ERROR_USAGE, "the sizes of %s are not known",
                       function->info.signature);
        weft_error_hint(error, "give each of its sizes a value, as in --sizes n=8");
        TRY(WEFT_ERROR_USAGE);
    }
    const weft_element_request request = {function,   shapes, function->n_arguments, keys,
                                          key_values, n_keys, {NULL, 0, 0},          false};
    write_keys(&request, &text);
    write_script(&request, text.data ? text.data : "", out);
    if (text.failed || out->failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    weft_text_free(&text);
    return status;
}
