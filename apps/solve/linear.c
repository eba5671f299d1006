#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>

/* With nothing that fixes the constant, b must sum to zero: within rounding, or what quadrature
 * leaves of data that do. */
static weft_status check_balance(const solve *run, weft_error *error) {
    if (!run->project)
        return WEFT_OK;
    const weft_balance balance = weft_balance_of(run->b_values, run->n_dofs);
    if (fabs(balance.sum) > balance.bound) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "nothing fixes the constant in u, so the vector must sum to zero, but its "
                       "sum is %.10g",
                       balance.sum);
        weft_error_hint(error,
                        "fix u somewhere by --dirichlet GROUP=EXPR, or subtract %.10g from "
                        "the source",
                        balance.sum / weft_mesh_measure(run->mesh));
        return WEFT_ERROR_INPUT;
    }
    if (fabs(balance.sum) > balance.rounding)
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "nothing fixes the constant in u, and the vector's sum is %.3g, not zero: its "
                 "mean is taken off",
                 balance.sum);
    return WEFT_OK;
}

weft_status solve_linear(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_run_options *options = &run->options->run;
    const weft_cg_options cg = {.jacobi = options->jacobi,
                                .tolerance = options->tolerance,
                                .max_iterations = app_iterations_limit(options, run->mesh),
                                .constrained = run->constrained,
                                .n_constrained = run->n_constrained,
                                .project_mean = run->project,
                                .monitor = &run->messages->monitor};
    const double start = app_clock(&run->context);
    TRY(check_balance(run, error));
    TRY(weft_cg_solve(&run->context, run->op, run->b, run->u, &cg, &run->cg, error));
    TRY(weft_vector_pull(run->u, run->u_values, run->n_dofs, error));
done:
    run->seconds.solve = app_clock(&run->context) - start;
    return status;
}
