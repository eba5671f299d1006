#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"

#include <math.h>

/* On the null device nothing was solved: "planned", and null for every number. */
static bool set_results(json_t *root, const poisson *run) {
    bool solved = !run->is_null;
    return app_json_set_solution(root, &run->cg, solved) &&
           app_json_set(root, "l2_error", app_json_real(run->l2_error)) &&
           app_json_set(root, "h1_error", app_json_real(run->h1_error)) &&
           app_json_set(root, "integral_u", app_json_real(solved ? run->integral_u : NAN)) &&
           app_json_set(root, "energy", app_json_real(solved ? run->energy : NAN));
}

static bool set_history(json_t *root, const poisson *run) {
    return run->options->run.verbosity != APP_VERBOSE || app_json_set_history(root, &run->cg);
}

static bool set_amounts(json_t *root, const poisson *run) {
    json_int_t bytes = (json_int_t)weft_device_bytes_peak(run->device);
    return app_json_set(root, "dofs", json_integer(run->mesh->n_nodes)) &&
           app_json_set(root, "bytes_device", json_integer(bytes)) &&
           app_json_set(root, "bytes_product", app_json_real(run->product_bytes));
}

weft_status poisson_json_write(const poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->options->run.json)
        return WEFT_OK;
    json_t *root = json_object();
    if (!root || !app_json_set_mesh(root, run->mesh) ||
        !app_json_set_plan(root, &run->context, run->assembly) || !set_results(root, run) ||
        !app_json_set_probes(root, &run->options->run.probes, run->probes, 1) ||
        !set_history(root, run) || !set_amounts(root, run) ||
        !app_json_set_costs(root, &run->seconds)) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    app_messages_clear(run->messages);
    TRY(app_json_write(run->options->run.json, root, error));
done:
    json_decref(root);
    return status;
}
