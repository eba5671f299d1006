/* The app poisson: runs its steps in order and reports the outcome. */
#include "apps/poisson/poisson.h"

#include <math.h>
#include <stdlib.h>

/* mesh -> ordering -> assembly and memory estimate -> dofs -> data -> operator -> right-hand side
 * -> CG -> errors -> output */
static weft_status solve(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_run_open(&run->base, error));
    TRY(poisson_check(run, error));
    TRY(app_run_mesh_make(&run->base, error));
    TRY(weft_context_tune(&run->base.context, run->options->run.tune, run->base.mesh->n_cells,
                          error));
    TRY(poisson_memory_estimate_make(run, error));
    const double start = app_clock(&run->base.context);
    TRY(poisson_dofs_make(run, error));
    TRY(poisson_data_make(run, error));
    TRY(poisson_operator_make(run, error));
    TRY(poisson_load_make(run, error));
    run->base.seconds.assembly = app_clock(&run->base.context) - start;
    if (run->base.is_null) {
        TRY(poisson_plan_print(run, error));
    } else {
        TRY(app_run_cg(&run->base, error));
        TRY(poisson_measure(run, error));
        TRY(poisson_output_write(run, error));
    }
    app_run_finish(&run->base);
    if (!run->base.is_null)
        TRY(poisson_report_print(run, error));
    TRY(poisson_json_write(run, error));
done:
    return status;
}

/* A solve that does not converge is not an error of the program, but the exit code reports it. */
static int report_outcome(const poisson *run) {
    static const app_cg_advice advice = {
        .indefinite = "the operator is not positive definite: check --diffusivity <= 0 and "
                      "ALPHA < 0 in --robin",
        .breakdown = "look at --diffusivity and --robin, or try --preconditioner none",
        .nan = "a value is not a number or too large: look at --diffusivity and ALPHA in --robin"};
    if (run->base.is_null || run->base.cg.outcome == WEFT_CG_CONVERGED)
        return 0;
    app_cg_complain("poisson", &run->options->run, &run->base.cg, &advice);
    return 1;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    poisson_options options = {0};
    app_messages messages = {0};
    poisson run = {
        .options = &options,
        .base = {.options = &options.run, .messages = &messages, .l2_error = NAN, .h1_error = NAN}};
    app_ensure_standard_streams();
    TRY(app_messages_make(&messages, "poisson", stderr, APP_NORMAL, &error));
    TRY(poisson_options_read(argc, argv, &options, &error));
    TRY(app_messages_make(&messages, "poisson", stderr, options.run.verbosity, &error));
    TRY(solve(&run, &error));
done:
    app_messages_clear(&messages);
    int code = status == WEFT_OK ? report_outcome(&run) : app_messages_fail(&messages, &error);
    app_run_clear(&run.base);
    poisson_options_clear(&options);
    return code;
}
