/* Checks names and formulas of the command line before the run. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"

static weft_status check_expressions(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    const ad_formulas *coefficients[] = {&options->velocity, &options->diffusivity};
    app_formulas all = {0};
    TRY(app_formulas_add(&all, "--initial", options->initial, error));
    TRY(app_formulas_add(&all, "--exact", options->exact, error));
    TRY(app_formulas_add(&all, "--source", options->source, error));
    TRY(app_formulas_add(&all, "--capacity", options->capacity, error));
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < coefficients[k]->n; ++i)
            TRY(app_formulas_add(&all, coefficients[k]->list[i].origin,
                                 coefficients[k]->list[i].text, error));
    for (int i = 0; i < options->run.conditions.n; ++i) {
        const app_condition *condition = &options->run.conditions.list[i];
        TRY(app_formulas_add(&all, condition->origin, condition->value, error));
        TRY(app_formulas_add(&all, condition->origin, condition->alpha, error));
    }
    TRY(app_expressions_check(run->base.library, weft_device_limits(run->base.device), true, &all,
                              error));
done:
    app_formulas_clear(&all);
    return status;
}

static weft_status check_rests(const ad_options *o, weft_error *error) {
    const char *without = o->files.output_every && !o->run.output && !o->run.json ? "--output-every"
                          : o->files.checkpoint_every && !o->files.checkpoint ? "--checkpoint-every"
                          : o->files.history_every && !o->files.history       ? "--history-every"
                                                                              : NULL;
    if (!without)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s says when to write, but not where", without);
    weft_error_hint(error, without[2] == 'o'   ? "add --output FILE.pvd or --json FILE"
                           : without[2] == 'h' ? "add --history FILE.csv"
                                               : "add --checkpoint FILE.vtkhdf");
    return WEFT_ERROR_USAGE;
}

weft_status ad_check(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    const weft_series_options series = ad_series_options(run);
    TRY(app_time_check(&run->base, NULL, &options->files, &series, error));
    TRY(check_rests(options, error));
    const double start = weft_clock();
    TRY(check_expressions(run, error));
    run->base.seconds.plan += weft_clock() - start;
    if (options->run.json)
        TRY(app_file_check(options->run.json, error));
done:
    return status;
}
