/* Compiles every formula of the command line and checks the output files before the run. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"

#include <string.h>

static weft_status collect(const solve_options *options, app_formulas *f, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_formulas_add(f, "--source", options->source, error));
    TRY(app_formulas_add(f, "--diffusivity", options->diffusivity, error));
    if (options->exact)
        TRY(app_formulas_add_list(f, "--exact", options->exact, error));
    for (int i = 0; i < options->run.conditions.n; ++i) {
        const app_condition *condition = &options->run.conditions.list[i];
        if (condition->alpha)
            TRY(app_formulas_add_list(f, condition->origin, condition->alpha, error));
        TRY(app_formulas_add_list(f, condition->origin, condition->value, error));
    }
    for (int i = 0; i < options->run.constraints.n; ++i) {
        const app_constraint *one = &options->run.constraints.list[i];
        for (int k = 0; k < one->n_values; ++k)
            if (strcmp(one->values[k], "free") != 0)
                TRY(app_formulas_add(f, one->origin, one->values[k], error));
    }
    for (int i = 0; i < options->inputs.n; ++i)
        TRY(app_formulas_add_list(f, options->inputs.list[i].origin, options->inputs.list[i].value,
                                  error));
done:
    return status;
}

static weft_status check_formulas(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    app_formulas f = {0};
    TRY(collect(run->options, &f, error));
    if (f.n > 0)
        TRY(app_expressions_check(run->base.library, weft_device_limits(run->base.device),
                                  run->options->time.text != NULL, &f, error));
done:
    app_formulas_clear(&f);
    return status;
}

static weft_status refuse_start(const char *origin, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "u at the start is given twice");
    weft_error_location(error, origin, NULL, 0, 0);
    weft_error_hint(error, "leave it out: --initial gives u at the start");
    return WEFT_ERROR_USAGE;
}

static weft_status check_nonlinear(const solve *run, weft_error *error) {
    if (run->options->nonlinear && run->options->run.solver.until_discretisation) {
        weft_error_set(error, WEFT_ERROR_USAGE, "Newton's method stops by --newton-tolerance");
        weft_error_location(error, "--until", NULL, 0, 0);
        weft_error_hint(error, "leave out --until discretisation");
        return WEFT_ERROR_USAGE;
    }
    if (!run->options->nonlinear && run->options->newton.load_steps > 1)
        weft_log(run->base.monitor, WEFT_LOG_WARNING,
                 "--load-steps has no effect on a linear problem, which takes one step");
    if (run->options->nonlinear && run->options->initial)
        for (int i = 0; i < run->options->inputs.n; ++i)
            if (strcmp(run->options->inputs.list[i].name, "u") == 0)
                return refuse_start(run->options->inputs.list[i].origin, error);
    return WEFT_OK;
}

weft_status solve_check(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_run_options *options = &run->options->run;
    if (run->options->time.text) {
        TRY(solve_time_check(run, error));
    } else if (run->options->eigen.n > 0) {
        TRY(solve_eigen_check(run, error));
    } else {
        TRY(app_files_check(options, run->options->script, NULL, error));
        TRY(app_output_check(options->output, error));
    }
    const double start = weft_clock();
    TRY(check_nonlinear(run, error));
    TRY(check_formulas(run, error));
    run->base.seconds.plan += weft_clock() - start;
    TRY(app_run_files_check(&run->base, error));
done:
    return status;
}
