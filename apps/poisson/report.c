/* Writes the result file and prints the report. */
#include "apps/poisson/poisson.h"

weft_status poisson_output_write(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double start = weft_clock();
    if (!app_output_wanted(&run->options->run, run->base.cg.outcome == WEFT_CG_CONVERGED,
                           &run->base.messages->monitor))
        return WEFT_OK;
    const weft_field field = {.name = "u", .n_components = 1, .values = run->base.u_values};
    TRY(weft_result_write(run->options->run.output, run->base.mesh, &field, 1, error));
done:
    run->base.seconds.output = weft_clock() - start;
    return status;
}

weft_status poisson_report_print(const poisson *run, weft_error *error) {
    const poisson_options *options = run->options;
    if (app_is_silent(&options->run))
        return WEFT_OK;
    app_messages_clear(run->base.messages);
    app_mesh_print(run->base.mesh, &run->base.mesh_made);
    app_plan_print(&run->base.context, run->base.assembly, "");
    app_cg_print(&run->base.cg);
    if (options->run.verbosity == APP_VERBOSE)
        app_history_print(&run->base.cg);
    else
        app_history_line_print(&run->base.cg);
    app_run_print_errors(&run->base, options->exact);
    printf("integral u  %.10g\n", app_strip_nan_sign(run->integral_u));
    printf("energy      %.10g\n", app_strip_nan_sign(run->base.energy));
    return app_run_print_end(&run->base, run->base.cg.outcome == WEFT_CG_CONVERGED, error);
}
