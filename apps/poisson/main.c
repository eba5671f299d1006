#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>

static weft_status open_device(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_device_open(run->options->run.device, run->options->run.plan, &run->messages->monitor,
                        &run->device, &run->library, &run->context, error));
    run->is_null = weft_device_limits(run->device)->records_only;
done:
    return status;
}

/* mesh -> ordering -> assembly and forecast -> dofs -> data -> operator -> right-hand side -> CG ->
 * errors -> output */
static weft_status solve(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    run->seconds.started = weft_clock();
    TRY(open_device(run, error));
    TRY(poisson_check(run, error));
    TRY(poisson_mesh_make(run, error));
    TRY(weft_context_tune(&run->context, run->options->run.tune, run->mesh->n_cells, error));
    TRY(poisson_forecast_make(run, error));
    const double start = app_clock(&run->context);
    TRY(poisson_dofs_make(run, error));
    TRY(poisson_data_make(run, error));
    TRY(poisson_operator_make(run, error));
    TRY(poisson_load_make(run, error));
    run->seconds.assembly = app_clock(&run->context) - start;
    if (run->is_null) {
        TRY(poisson_plan_print(run, error));
    } else {
        TRY(poisson_solve(run, error));
        TRY(poisson_measure(run, error));
        TRY(poisson_output_write(run, error));
    }
    app_forecast_compare(run->device, run->foreseen_bytes, &run->messages->monitor);
    run->seconds.plan += run->context.plan_seconds;
    run->seconds.compile = run->context.compile_seconds;
    if (!run->is_null)
        TRY(poisson_report_print(run, error));
    TRY(poisson_json_write(run, error));
done:
    return status;
}

void poisson_clear(poisson *run) {
    weft_operator_free(&run->op);
    weft_bc_free(&run->bc);
    app_pieces_free(&run->pieces);
    weft_space_free(&run->space);
    weft_memory_free(&run->u);
    weft_memory_free(&run->b);
    free(run->u_values);
    free(run->b_values);
    free(run->cg.history);
    free(run->probes);
    weft_mesh_free(&run->mesh);
    weft_library_free(&run->library);
    weft_context_tune_free(&run->context);
    weft_device_free(&run->device);
}

/* Not converged is no error of ours, but a user who looks at the exit code alone must know. */
static int report_outcome(const poisson *run) {
    static const app_cg_advice advice = {
        .indefinite = "the operator is not positive definite: check --diffusivity <= 0 and "
                      "ALPHA < 0 in --robin",
        .breakdown = "look at --diffusivity and --robin, or try --preconditioner none",
        .nan = "a value is not a number or too large: look at --diffusivity and ALPHA in --robin"};
    if (run->is_null || run->cg.outcome == WEFT_CG_CONVERGED)
        return 0;
    app_cg_complain("poisson", &run->options->run, &run->cg, &advice);
    return 1;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    poisson_options options = {0};
    app_messages messages = {0};
    poisson run = {.options = &options, .messages = &messages, .l2_error = NAN, .h1_error = NAN};
    app_streams_guard();
    TRY(app_messages_make(&messages, "poisson", stderr, APP_NORMAL, &error));
    TRY(poisson_options_read(argc, argv, &options, &error));
    TRY(app_messages_make(&messages, "poisson", stderr, options.run.verbosity, &error));
    TRY(solve(&run, &error));
done:
    app_messages_clear(&messages);
    int code = status == WEFT_OK ? report_outcome(&run) : app_messages_fail(&messages, &error);
    poisson_clear(&run);
    poisson_options_clear(&options);
    return code;
}
