/* Gathers the runs of a study into figures and phases per case. */
#include "apps/scaling/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Phases that the apps do not report: assembly, preconditioner and solve together, and the whole process. */
#define COMPUTE "compute"
#define PROCESS "process"

static const char *const figure_names[] = {
    [SCALING_CELLS] = "cells",
    [SCALING_NODES] = "nodes",
    [SCALING_DOFS] = "dofs",
    [SCALING_DIMENSION] = "dimension",
    [SCALING_ITERATIONS] = "iterations",
    [SCALING_L2_ERROR] = "l2_error",
    [SCALING_H1_ERROR] = "h1_error",
    [SCALING_BYTES_PEAK] = "bytes_peak",
    [SCALING_BYTES_DEVICE] = "bytes_device",
    [SCALING_BYTES_PRODUCT] = "bytes_product",
    [SCALING_L2_ORDER] = "l2_order",
    [SCALING_H1_ORDER] = "h1_order",
    [SCALING_DOFS_PER_SECOND] = "dofs_per_second",
    [SCALING_SECONDS_PER_DOF] = "seconds_per_dof",
    [SCALING_SPEED_UP] = "speed_up",
    [SCALING_THREADS] = "threads",
    [SCALING_PARALLEL_SPEED_UP] = "parallel_speed_up",
    [SCALING_PARALLEL_EFFICIENCY] = "parallel_efficiency",
};

const char *scaling_figure_name(scaling_figure figure) {
    return figure_names[figure];
}

int scaling_phase_find(const scaling_results *results, const char *name) {
    for (int i = 0; i < results->n_phases; ++i)
        if (strcmp(results->phases[i], name) == 0)
            return i;
    return -1;
}

static int add_phase(scaling_results *results, const char *name) {
    int found = scaling_phase_find(results, name);
    if (found >= 0 || results->n_phases == SCALING_PHASES_MAX)
        return found;
    snprintf(results->phases[results->n_phases], SCALING_PHASE_NAME, "%s", name);
    return results->n_phases++;
}

static const json_t *run_of(const scaling_study *study, int index, int run, int warmup) {
    return scaling_study_at(study, index, warmup + run);
}

/* Find all phases of the runs; the time of the whole process comes last. */
static void find_phases(const scaling_study *study, scaling_results *results) {
    for (int i = 0; i < study->n_cases * study->rounds; ++i) {
        const json_t *result = json_object_get(study->records[i], "result");
        const json_t *seconds = json_object_get(result, "seconds");
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)seconds, name,
                            value) if (json_is_number(value) && strcmp(name, COMPUTE) != 0 &&
                                       strcmp(name, PROCESS) != 0 &&
                                       results->n_phases < SCALING_PHASES_MAX - 2)
            add_phase(results, name);
    }
    if (scaling_phase_find(results, "assembly") >= 0 && scaling_phase_find(results, "solve") >= 0)
        add_phase(results, COMPUTE);
    results->basis = add_phase(results, PROCESS);
    if (scaling_phase_find(results, COMPUTE) >= 0)
        results->basis = scaling_phase_find(results, COMPUTE);
}

/* Find a figure in an app's JSON, at its top or under the mesh. Without "dofs" there is one per
 * node. */
static double figure_of(const json_t *result, scaling_figure figure) {
    const char *name = figure_names[figure];
    const json_t *mesh = json_object_get(result, "mesh"), *value = json_object_get(result, name);
    if (!value)
        value = json_object_get(mesh, figure == SCALING_DOFS ? "nodes" : name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double phase_of_app(const json_t *seconds, const char *name) {
    const json_t *value = json_object_get(seconds, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double phase_of(const json_t *record, const char *name) {
    const json_t *seconds = json_object_get(json_object_get(record, "result"), "seconds");
    if (strcmp(name, COMPUTE) == 0) {
        const double set_up = phase_of_app(seconds, "preconditioner"); /* of poisson alone */
        return phase_of_app(seconds, "assembly") + phase_of_app(seconds, "solve") +
               (isnan(set_up) ? 0 : set_up);
    }
    return strcmp(name, PROCESS) == 0 ? phase_of_app(record, "seconds")
                                      : phase_of_app(seconds, name);
}

static weft_status sum_phases(const scaling_study *study, int index, int warmup,
                              const scaling_results *results, scaling_result *out,
                              weft_error *error) {
    for (int p = 0; p < results->n_phases; ++p) {
        double *values = calloc((size_t)study->rounds, sizeof *values);
        int n = 0;
        if (!values)
            return weft_out_of_memory(error, NULL);
        for (int run = 0; run < study->rounds - warmup; ++run) {
            double value = phase_of(run_of(study, index, run, warmup), results->phases[p]);
            if (!isnan(value))
                values[n++] = value;
        }
        out->values[p] = values;
        out->phases[p] = app_spread_of(values, n);
    }
    return WEFT_OK;
}

static weft_status sum_resources(const scaling_study *study, int index, int warmup,
                                 scaling_result *out, weft_error *error) {
    double *values = calloc((size_t)study->rounds, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, NULL);
    for (scaling_figure f = SCALING_CELLS; f < SCALING_FIGURES; ++f) {
        int n = 0;
        for (int run = 0; run < study->rounds - warmup; ++run) {
            const json_t *record = run_of(study, index, run, warmup);
            double value = figure_of(json_object_get(record, "result"), f);
            if (!isnan(value))
                values[n++] = value;
        }
        app_spread spread = app_spread_of(values, n);
        out->figures[f] = spread.median;
        if (f == SCALING_ITERATIONS)
            out->iterations = spread;
    }
    free(values);
    return WEFT_OK;
}

/* The first outcome that is not a success, if any. */
static void find_outcome(const scaling_study *study, int index, int warmup, const char *success,
                         scaling_result *out) {
    for (int run = 0; run < study->rounds - warmup; ++run) {
        const json_t *record = run_of(study, index, run, warmup);
        const json_t *result = json_object_get(record, "result");
        const char *outcome = json_string_value(json_object_get(result, "outcome"));
        const char *device = json_string_value(json_object_get(result, "device"));
        out->n_runs += record != NULL;
        if (outcome && (!out->outcome[0] || strcmp(out->outcome, success) == 0))
            snprintf(out->outcome, sizeof out->outcome, "%s", outcome);
        if (device)
            snprintf(out->device_name, sizeof out->device_name, "%s", device);
    }
}

/* Order log(e0 / e1) / log(h0 / h1) with the mean cell size h = (measure / cells)^(1/d) */
static double order_of(const scaling_result *coarse, const scaling_result *fine,
                       scaling_figure figure) {
    const double *a = coarse->figures, *b = fine->figures;
    double ratio = b[SCALING_CELLS] / a[SCALING_CELLS];
    if (!(ratio > 1) || a[SCALING_DIMENSION] != b[SCALING_DIMENSION] || !(a[figure] > 0) ||
        !(b[figure] > 0))
        return NAN;
    return log(a[figure] / b[figure]) / (log(ratio) / b[SCALING_DIMENSION]);
}

/* Derive parallel speed-ups relative to the fewest threads of the same level and assembly; NaN if
 * only one number of threads was run. */
static void derive_threads(scaling_results *results) {
    for (int i = 0; i < results->cases->n_cases; ++i) {
        double *f = results->results[i].figures;
        const char *device = results->results[i].item->device;
        const double threads = strncmp(device, "host:", 5) == 0 ? strtod(device + 5, NULL) : 0;
        f[SCALING_THREADS] = threads > 0 ? threads : NAN; /* "host:avx2" has none */
        f[SCALING_PARALLEL_SPEED_UP] = f[SCALING_PARALLEL_EFFICIENCY] = NAN;
    }
    for (int i = 0; i < results->cases->n_cases; ++i) {
        scaling_result *result = &results->results[i];
        const scaling_result *fewest = result;
        double *f = result->figures, most = f[SCALING_THREADS];
        for (int k = 0; k < results->cases->n_cases; ++k) {
            const scaling_result *other = &results->results[k];
            if (other->item->level != result->item->level ||
                strcmp(other->item->system, result->item->system) != 0)
                continue;
            fewest =
                other->figures[SCALING_THREADS] < fewest->figures[SCALING_THREADS] ? other : fewest;
            most = fmax(most, other->figures[SCALING_THREADS]);
        }
        if (!(most > fewest->figures[SCALING_THREADS]))
            continue;
        f[SCALING_PARALLEL_SPEED_UP] =
            fewest->phases[results->basis].median / result->phases[results->basis].median;
        f[SCALING_PARALLEL_EFFICIENCY] =
            f[SCALING_PARALLEL_SPEED_UP] * fewest->figures[SCALING_THREADS] / f[SCALING_THREADS];
    }
}

static void derive(scaling_results *results) {
    const scaling_cases *cases = results->cases;
    const int per_level = cases->n_cases / cases->n_levels;
    const int solve = scaling_phase_find(results, "solve");
    for (int i = 0; i < cases->n_cases; ++i) {
        scaling_result *result = &results->results[i];
        const scaling_result *first = &results->results[i / per_level * per_level];
        double *f = result->figures;
        f[SCALING_L2_ORDER] = f[SCALING_H1_ORDER] = NAN;
        if (i >= per_level) {
            f[SCALING_L2_ORDER] =
                order_of(&results->results[i - per_level], result, SCALING_L2_ERROR);
            f[SCALING_H1_ORDER] =
                order_of(&results->results[i - per_level], result, SCALING_H1_ERROR);
        }
        f[SCALING_DOFS_PER_SECOND] =
            solve < 0 ? NAN
                      : f[SCALING_DOFS] * f[SCALING_ITERATIONS] / result->phases[solve].median;
        f[SCALING_SECONDS_PER_DOF] = result->phases[results->basis].median / f[SCALING_DOFS];
        f[SCALING_SPEED_UP] =
            first->phases[results->basis].median / result->phases[results->basis].median;
    }
}

bool scaling_result_failed(const scaling_results *results, const scaling_result *result) {
    const char *success = scaling_app_at(results->options->app)->success;
    return result->error || (result->n_runs > 0 && strcmp(result->outcome, success) != 0);
}

weft_status scaling_results_make(const scaling_options *options, const scaling_cases *cases,
                                 const scaling_study *study, char *const *failed,
                                 scaling_results *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (scaling_results){.options = options, .cases = cases};
    out->results = calloc((size_t)cases->n_cases, sizeof *out->results);
    if (!out->results)
        TRY(weft_out_of_memory(error, NULL));
    find_phases(study, out);
    for (int i = 0; i < cases->n_cases; ++i) {
        scaling_result *result = &out->results[i];
        result->item = &cases->cases[i];
        result->error = failed[i];
        find_outcome(study, i, options->warmup, scaling_app_at(options->app)->success, result);
        TRY(sum_phases(study, i, options->warmup, out, result, error));
        TRY(sum_resources(study, i, options->warmup, result, error));
        for (int round = 0; round < study->rounds; ++round)
            out->n_missing += !scaling_study_at(study, i, round) && !failed[i];
    }
    derive(out);
    derive_threads(out);
done:
    if (status != WEFT_OK)
        scaling_results_clear(out);
    return status;
}

void scaling_results_clear(scaling_results *results) {
    for (int i = 0; results->results && i < results->cases->n_cases; ++i)
        for (int p = 0; p < SCALING_PHASES_MAX; ++p)
            free(results->results[i].values[p]);
    free(results->results);
    *results = (scaling_results){0};
}
