#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

weft_status poisson_output_write(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double start = weft_clock();
    if (!app_output_wanted(&run->options->run, run->cg.outcome == WEFT_CG_CONVERGED,
                           &run->messages->monitor))
        return WEFT_OK;
    const weft_field field = {.name = "u", .n_components = 1, .values = run->u_values};
    TRY(weft_result_write(run->options->run.output, run->mesh, &field, 1, error));
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
    app_cg_print(&run->cg);
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
    if (options->run.output &&
        (run->cg.outcome == WEFT_CG_CONVERGED || options->run.keep_unconverged))
        printf("output      %s\n", options->run.output);
    return app_stdout_check(error);
}
