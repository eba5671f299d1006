/* Writes results.json and results.csv, with every figure of every case. */
#include "apps/scaling/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool set_spread(json_t *object, const char *key, const app_spread *spread,
                       const double *values) {
    json_t *item = json_object();
    return app_json_set(object, key, item) &&
           app_json_set(item, "min", app_json_real(spread->min)) &&
           app_json_set(item, "median", app_json_real(spread->median)) &&
           app_json_set(item, "max", app_json_real(spread->max)) &&
           app_json_set(item, "values", app_json_list(values, spread->n));
}

/* Write an integer without a fraction. */
static json_t *number(double value) {
    bool whole = isfinite(value) && value == floor(value) && fabs(value) < 9e15;
    return whole ? json_integer((json_int_t)value) : app_json_real(value);
}

static json_t *case_json(const scaling_results *results, const scaling_result *result) {
    const scaling_case *item = result->item;
    json_t *object = json_object(), *seconds = json_object();
    bool fine =
        app_json_set(object, "mesh", app_json_text(item->level->name)) &&
        app_json_set(object, "refine", json_integer(item->level->refine)) &&
        app_json_set(object, "assembly", json_string(item->system)) &&
        (!item->preconditioner ||
         app_json_set(object, "preconditioner", json_string(item->preconditioner))) &&
        app_json_set(object, "device", app_json_text(item->device)) &&
        app_json_set(object, "device_name", app_json_text(result->device_name)) &&
        app_json_set(object, "runs", json_integer(result->n_runs)) &&
        app_json_set(object, "outcome", json_string(result->outcome)) &&
        app_json_set(object, "error", result->error ? app_json_text(result->error) : json_null());
    for (scaling_figure f = SCALING_CELLS; fine && f < SCALING_FIGURES; ++f)
        fine = app_json_set(object, scaling_figure_name(f), number(result->figures[f]));
    fine = fine && app_json_set(object, "iterations_min", number(result->iterations.min)) &&
           app_json_set(object, "iterations_max", number(result->iterations.max)) &&
           app_json_set(object, "seconds", seconds);
    for (int p = 0; fine && p < results->n_phases; ++p)
        if (result->phases[p].n > 0)
            fine = set_spread(seconds, results->phases[p], &result->phases[p], result->values[p]);
    if (fine)
        return object;
    json_decref(object);
    return NULL;
}

weft_status scaling_json_write(const char *folder, const scaling_results *results,
                               const json_t *configuration, weft_error *error) {
    weft_status status = WEFT_OK;
    char *path = NULL;
    json_t *root = json_object(), *cases = json_array();
    bool fine = app_json_set(root, "weft_scaling", json_integer(1)) &&
                app_json_set(root, "question", json_deep_copy(configuration)) &&
                app_json_set(root, "complete", json_boolean(results->n_missing == 0)) &&
                app_json_set(root, "cases", cases);
    for (int i = 0; fine && i < results->cases->n_cases; ++i)
        fine = json_array_append_new(cases, case_json(results, &results->results[i])) == 0;
    if (!fine || asprintf(&path, "%s/results.json", folder) < 0) {
        path = NULL;
        TRY(weft_out_of_memory(error, NULL));
    }
    TRY(app_json_write(path, root, error));
done:
    free(path);
    json_decref(root);
    return status;
}

/* RFC 4180: quote a text that contains a comma, a quote or a newline. */
static void add_text(weft_text *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        weft_text_add(out, "%s", text);
        return;
    }
    weft_text_add(out, "\"");
    for (const char *c = text; *c; ++c)
        weft_text_add(out, *c == '"' ? "\"\"" : "%c", *c);
    weft_text_add(out, "\"");
}

static void add_number(weft_text *out, double value) {
    if (isfinite(value))
        weft_text_add(out, ",%.17g", value);
    else
        weft_text_add(out, ",");
}

static void add_row(weft_text *out, const scaling_results *results, const scaling_result *result) {
    const scaling_case *item = result->item;
    const char *const texts[] = {item->level->name, item->system, item->device, result->outcome,
                                 result->error ? result->error : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        weft_text_add(out, i ? "," : "");
        add_text(out, texts[i]);
    }
    weft_text_add(out, ",%d,%d", item->level->refine, result->n_runs);
    for (scaling_figure f = SCALING_CELLS; f < SCALING_FIGURES; ++f)
        add_number(out, result->figures[f]);
    for (int p = 0; p < results->n_phases; ++p) {
        add_number(out, result->phases[p].min);
        add_number(out, result->phases[p].median);
        add_number(out, result->phases[p].max);
    }
    weft_text_add(out, "\r\n");
}

weft_status scaling_csv_write(const char *folder, const scaling_results *results,
                              weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, "mesh,assembly,device,outcome,error,refine,runs");
    for (scaling_figure f = SCALING_CELLS; f < SCALING_FIGURES; ++f)
        weft_text_add(&text, ",%s", scaling_figure_name(f));
    for (int p = 0; p < results->n_phases; ++p)
        weft_text_add(&text, ",%s_min,%s_median,%s_max", results->phases[p], results->phases[p],
                      results->phases[p]);
    weft_text_add(&text, "\r\n");
    for (int i = 0; i < results->cases->n_cases; ++i)
        add_row(&text, results, &results->results[i]);
    return app_folder_write(folder, "results.csv", &text, error);
}
