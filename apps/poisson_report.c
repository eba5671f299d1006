#include "poisson.h"

weft_status poisson_output_write(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *path = run->options->run.output;
    double start = weft_clock();
    if (!path)
        return WEFT_OK;
    if (run->cg.outcome != WEFT_CG_CONVERGED) {
        /* Half a solution must not stand where a whole one is expected. */
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "%s is not written, for CG has not converged", path);
        return WEFT_OK;
    }
    const weft_field field = {.name = "u", .n_components = 1, .values = run->u_values};
    TRY(weft_result_write(path, run->mesh, &field, 1, error));
done:
    run->seconds.output = weft_clock() - start;
    return status;
}

weft_status poisson_report_print(const poisson *run, weft_error *error) {
    const poisson_options *options = run->options;
    char bytes[32];
    if (app_is_silent(&options->run))
        return WEFT_OK;
    app_messages_clear(run->messages);
    app_mesh_print(run->mesh, &run->mesh_made);
    app_plan_print(&run->context, run->assembly, "");
    printf("CG          %s, %d iterations, relative residual %.2e\n",
           weft_cg_outcome_name(run->cg.outcome), run->cg.iterations, app_plain(run->cg.residual));
    if (options->run.verbosity == APP_VERBOSE)
        app_history_print(&run->cg);
    else
        app_history_line_print(&run->cg);
    if (options->exact)
        printf("error       L2 %.6e, H1 seminorm %.6e\n", app_plain(run->l2_error),
               app_plain(run->h1_error));
    printf("integral u  %.10g\n", app_plain(run->integral_u));
    printf("energy      %.10g\n", app_plain(run->energy));
    app_probes_print(&options->run.probes, "u", run->probes, 1);
    app_seconds_print(&run->seconds);
    printf("memory      %s at most\n", app_print_bytes((double)weft_memory_peak(), bytes));
    if (options->run.output && run->cg.outcome == WEFT_CG_CONVERGED)
        printf("output      %s\n", options->run.output);
    return app_stdout_check(error);
}
