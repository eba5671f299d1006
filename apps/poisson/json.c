/* Writes the results of a run as JSON. */
#include "apps/poisson/poisson.h"

#include <math.h>

/* On the null device nothing is solved: the outcome is "planned" and every number is null. */
static bool set_results(json_t *root, const poisson *run) {
    bool solved = !run->base.is_null;
    return app_json_set_solution(root, &run->base.cg, solved) &&
           app_json_set(root, "l2_error", app_json_real(run->base.l2_error)) &&
           app_json_set(root, "h1_error", app_json_real(run->base.h1_error)) &&
           app_json_set(root, "integral_u", app_json_real(solved ? run->integral_u : NAN)) &&
           app_json_set(root, "energy", app_json_real(solved ? run->base.energy : NAN));
}

static bool set_history(json_t *root, const poisson *run) {
    return run->options->run.verbosity != APP_VERBOSE || app_json_set_history(root, &run->base.cg);
}

static bool set_amounts(json_t *root, const poisson *run) {
    json_int_t bytes = (json_int_t)weft_device_bytes_peak(run->base.device);
    return app_json_set(root, "dofs", json_integer(run->base.mesh->n_nodes)) &&
           app_json_set(root, "bytes_device", json_integer(bytes)) &&
           app_json_set(root, "bytes_product", app_json_real(run->product_bytes));
}

weft_status poisson_json_write(const poisson *run, weft_error *error) {
    const app_run *base = &run->base;
    if (!run->options->run.json)
        return WEFT_OK;
    json_t *root = json_object();
    const bool fine = root && app_json_set_mesh(root, base->mesh) &&
                      app_json_set_plan(root, &base->context, base->assembly) &&
                      set_results(root, run) &&
                      app_json_set_probes(root, &run->options->run.probes, base->probes, 1) &&
                      set_history(root, run) && set_amounts(root, run) &&
                      app_json_set_costs(root, &base->seconds);
    return app_run_write_json(base, root, fine, error);
}
