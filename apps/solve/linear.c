/* Solves the linear system K u = b. */
#include "apps/solve/solve.h"

#include <math.h>

/* If no condition fixes the constant, check that b sums to zero, up to rounding and the quadrature
 * error of compatible data. */
static weft_status check_balance(const solve *run, weft_error *error) {
    if (!run->base.project)
        return WEFT_OK;
    const weft_balance balance = weft_balance_of(run->base.b_values, run->n_dofs);
    if (fabs(balance.sum) > balance.bound) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "nothing fixes the constant in u, so the vector must sum to zero, but its "
                       "sum is %.10g",
                       balance.sum);
        weft_error_hint(error,
                        "fix u somewhere by --dirichlet GROUP=EXPR, or subtract %.10g from "
                        "the source",
                        balance.sum / weft_mesh_measure(run->base.mesh));
        return WEFT_ERROR_INPUT;
    }
    if (fabs(balance.sum) > balance.rounding)
        weft_log(&run->base.messages->monitor, WEFT_LOG_WARNING,
                 "nothing fixes the constant in u, and the vector's sum is %.3g, not zero: its "
                 "mean is taken off",
                 balance.sum);
    return WEFT_OK;
}

weft_status solve_linear(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_balance(run, error));
    TRY(app_run_cg(&run->base, error));
done:
    return status;
}
