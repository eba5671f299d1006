/* Writes the results of a run as JSON. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/statement.h"

#include <math.h>

static bool set_mesh(json_t *root, const weft_mesh *mesh) {
    return app_json_set_mesh(root, mesh) &&
           app_json_set(root, "cells", json_integer(mesh->n_cells)) &&
           app_json_set(root, "dofs", json_integer(mesh->n_nodes));
}

static bool set_plan(json_t *root, const ad_run *run) {
    const ad_options *options = run->options;
    return app_json_set_plan(root, &run->base.context, run->base.device_reason,
                             run->base.problem->system.linear.choice.assembly) &&
           app_json_set(root, "scheme",
                        json_string(weft_runge_kutta_about(options->runge_kutta)->name)) &&
           app_json_set(root, "splitting",
                        json_string(weft_splitting_about(options->splitting)->name)) &&
           app_json_set(root, "mass", json_string(options->lumped ? "lumped" : "consistent")) &&
           app_json_set(root, "reassemble",
                        json_string(weft_advection_diffusion_reassembles(&run->problem)
                                        ? "every-step"
                                        : "once")) &&
           app_json_set(root, "dt", app_json_real(options->dt)) &&
           app_json_set(root, "theta", app_json_real(options->theta)) &&
           (run->n_ranks == 0 || app_json_set(root, "ranks",
                                              json_pack("{s:i, s:s}", "number", run->n_ranks,
                                                        "kind", run->rank_kind))) &&
           app_json_set(root, "cfl", app_json_real(run->limits.cfl)) &&
           app_json_set(root, "cfl_limit", app_json_real(run->limits.cfl_limit));
}

static bool set_measures(json_t *object, const ad_run *run, const weft_field_measures *m) {
    const int d = run->base.mesh->dimension;
    return app_json_set(object, "mass", app_json_real(m->mass)) &&
           app_json_set(object, "centroid", app_json_list(m->centroid, d)) &&
           app_json_set(object, "minimum", app_json_real(m->minimum)) &&
           app_json_set(object, "maximum", app_json_real(m->maximum)) &&
           app_json_set(object, "l2_norm", app_json_real(m->l2_norm)) &&
           app_json_set(object, "l2_error", app_json_real(m->l2_error));
}

static bool set_record(json_t *array, const ad_run *run, const ad_record *record) {
    json_t *object = json_object(), *iterations = json_object(), *stages = json_array();
    bool fine = json_array_append_new(array, object) == 0 &&
                app_json_set(object, "step", json_integer(record->state.step)) &&
                app_json_set(object, "t", app_json_real(record->state.t)) &&
                set_measures(object, run, &record->measures) &&
                app_json_set(object, "iterations", iterations) &&
                app_json_set(iterations, "advection", stages) &&
                app_json_set(iterations, "diffusion", json_integer(record->state.diffusion));
    for (int i = 0; fine && i < 4; ++i)
        fine = json_array_append_new(stages, json_integer(record->state.advection[i])) == 0;
    return fine &&
           (run->base.points.n == 0 ||
            app_json_set(object, "probes", app_json_list(record->probes, run->base.points.n)));
}

/* On the null device nothing is solved: the outcome is "planned" and every number is null. */
static bool set_results(json_t *root, const ad_run *run) {
    const ad_record *last = run->n_records > 0 ? &run->records[run->n_records - 1] : NULL;
    const char *outcome = run->base.is_null ? "planned"
                          : run->stopped    ? "stopped"
                                            : weft_step_outcome_name(run->state.outcome);
    json_t *array = json_array();
    bool fine =
        app_json_set(root, "outcome", json_string(outcome)) &&
        app_json_set(root, "steps",
                     run->base.is_null ? json_null() : json_integer(run->state.step)) &&
        app_json_set(root, "first_step", json_integer(run->first_step)) &&
        app_json_set(root, "t", app_json_real(run->base.is_null ? NAN : run->state.t)) &&
        app_json_set(root, "iterations",
                     run->base.is_null ? json_null() : json_integer(run->state.iterations)) &&
        app_json_set(root, "l2_error", app_json_real(last ? last->measures.l2_error : NAN)) &&
        app_json_set(root, "series", array);
    for (int i = 0; fine && i < run->n_records; ++i)
        fine = set_record(array, run, &run->records[i]);
    return fine;
}

static bool set_probes(json_t *root, const ad_run *run) {
    const double *last = run->n_records > 0 ? run->records[run->n_records - 1].probes : NULL;
    return app_json_set_probes(root, &run->base.points, last, 1);
}

weft_status ad_json_write(const ad_run *run, weft_error *error) {
    if (!run->options->run.json)
        return WEFT_OK;
    json_t *root = json_object();
    const bool fine = root && set_mesh(root, run->base.mesh) &&
                      app_run_json_statement(root, &run->base) && set_plan(root, run) &&
                      set_results(root, run) && set_probes(root, run) &&
                      app_run_json_derived(root, &run->base) &&
                      app_json_set_costs(root, run->base.device, &run->base.seconds, true);
    return app_run_write_json(&run->base, root, fine, error);
}
