#include "poisson.h"

#include <math.h>

static bool set_mesh(json_t *root, const poisson *run) {
    const weft_mesh *mesh = run->mesh;
    json_t *object = json_object();
    return app_json_set(root, "mesh", object) &&
           app_json_set(object, "cells", json_integer(mesh->n_cells)) &&
           app_json_set(object, "nodes", json_integer(mesh->n_nodes)) &&
           app_json_set(object, "dimension", json_integer(mesh->dimension)) &&
           app_json_set(object, "source", app_json_text(mesh->source)) &&
           app_json_set(object, "flipped_cells", json_integer(mesh->n_flipped_cells)) &&
           app_json_set(object, "dropped_nodes", json_integer(mesh->n_dropped_nodes)) &&
           app_json_set(object, "ignored_facets", json_integer(mesh->n_ignored_facets));
}

static bool set_plan(json_t *root, const poisson *run) {
    json_t *object = json_object();
    const char *kind = run->options->plan == WEFT_PLAN_FUSED ? "fused" : "unfused";
    return app_json_set(root, "assembly", json_string(weft_assembly_name(run->assembly))) &&
           app_json_set(root, "plan", object) && app_json_set(object, "kind", json_string(kind)) &&
           app_json_set(object, "kernels", json_integer(run->context.n_kernels)) &&
           app_json_set(root, "device", app_json_text(weft_device_limits(run->device)->name));
}

/* On the null device nothing was solved: "planned", and null for every number. */
static bool set_results(json_t *root, const poisson *run) {
    bool solved = !run->is_null;
    const char *outcome = solved ? weft_cg_outcome_name(run->cg.outcome) : "planned";
    return app_json_set(root, "iterations",
                        solved ? json_integer(run->cg.iterations) : json_null()) &&
           app_json_set(root, "outcome", json_string(outcome)) &&
           app_json_set(root, "residual", app_json_real(solved ? run->cg.residual : NAN)) &&
           app_json_set(root, "l2_error", app_json_real(run->l2_error)) &&
           app_json_set(root, "h1_error", app_json_real(run->h1_error)) &&
           app_json_set(root, "integral_u", app_json_real(solved ? run->integral_u : NAN)) &&
           app_json_set(root, "energy", app_json_real(solved ? run->energy : NAN));
}

static bool set_probes(json_t *root, const poisson *run) {
    json_t *array = json_array();
    bool fine = app_json_set(root, "probes", array);
    for (int i = 0; fine && i < run->options->n_probes; ++i) {
        const poisson_probe *probe = &run->options->probes[i];
        json_t *object = json_object(), *point = json_array();
        fine = json_array_append_new(array, object) == 0 && app_json_set(object, "point", point);
        for (int k = 0; fine && k < probe->n; ++k)
            fine = json_array_append_new(point, json_real(probe->point[k])) == 0;
        fine = fine && app_json_set(object, "u", app_json_real(run->probes ? run->probes[i] : NAN));
    }
    return fine;
}

static bool set_history(json_t *root, const poisson *run) {
    if (run->options->verbosity != APP_VERBOSE || !run->cg.history)
        return true;
    json_t *array = json_array();
    bool fine = app_json_set(root, "history", array);
    for (int i = 0; fine && i <= run->cg.iterations; ++i)
        fine = json_array_append_new(array, app_json_real(run->cg.history[i])) == 0;
    return fine;
}

static bool set_costs(json_t *root, const poisson *run) {
    const poisson_seconds *s = &run->seconds;
    json_t *object = json_object();
    json_int_t bytes = (json_int_t)weft_memory_peak();
    return app_json_set(root, "bytes_peak", json_integer(bytes)) &&
           app_json_set(root, "seconds", object) &&
           app_json_set(object, "mesh", app_json_real(s->mesh)) &&
           app_json_set(object, "order", app_json_real(s->order)) &&
           app_json_set(object, "plan", app_json_real(s->plan)) &&
           app_json_set(object, "compile", app_json_real(s->compile)) &&
           app_json_set(object, "assembly", app_json_real(s->assembly)) &&
           app_json_set(object, "solve", app_json_real(s->solve)) &&
           app_json_set(object, "output", app_json_real(s->output));
}

weft_status poisson_json_write(const poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->options->json)
        return WEFT_OK;
    json_t *root = json_object();
    if (!root || !set_mesh(root, run) || !set_plan(root, run) || !set_results(root, run) ||
        !set_probes(root, run) || !set_history(root, run) || !set_costs(root, run)) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    app_messages_clear(run->messages);
    TRY(app_json_write(run->options->json, root, error));
done:
    json_decref(root);
    return status;
}
