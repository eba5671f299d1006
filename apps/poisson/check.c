/* Compiles every formula of the command line and checks the output files before the run. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"

#include <stdlib.h>

/* Maximum number of expressions: three, and two per condition. */
static int collect(const poisson_options *options, weft_expression *out) {
    int n = 0;
    out[n++] = (weft_expression){NULL, options->source, "--source"};
    if (options->diffusivity)
        out[n++] = (weft_expression){NULL, options->diffusivity, "--diffusivity"};
    if (options->exact)
        out[n++] = (weft_expression){NULL, options->exact, "--exact"};
    for (int i = 0; i < options->run.conditions.n; ++i) {
        const app_condition *condition = &options->run.conditions.list[i];
        if (condition->alpha)
            out[n++] = (weft_expression){NULL, condition->alpha, condition->origin};
        out[n++] = (weft_expression){NULL, condition->value, condition->origin};
    }
    return n;
}

static weft_status check_expressions(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_expression *expressions =
        calloc(3 + 2 * (size_t)run->options->run.conditions.n, sizeof *expressions);
    if (!expressions)
        return weft_out_of_memory(error, NULL);
    const int n = collect(run->options, expressions);
    TRY(app_expressions_check(run->base.library, weft_device_limits(run->base.device), false,
                              expressions, n, error));
done:
    free(expressions);
    return status;
}

weft_status poisson_check(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    TRY(app_outputs_check(options->run.mesh.name, options->run.output, options->run.json, error));
    double start = weft_clock();
    TRY(check_expressions(run, error));
    run->base.seconds.plan += weft_clock() - start;
    TRY(app_run_files_check(&run->base, error));
done:
    return status;
}
