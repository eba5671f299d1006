/* Makes the right-hand side, and checks what a problem without conditions needs of it. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without a vector, and with nothing else that makes u differ from zero. u has its prescribed values. */
void solve_load_advise(const solve *run) {
    const bool is_form = run->script.ufl != NULL;
    bool is_zero = !run->base.problem->vector && !run->base.is_null && !run->options->nonlinear &&
                   !app_has_constraints(run->base.options);
    for (int64_t i = 0; is_zero && i < run->n_dofs; ++i)
        is_zero = run->base.problem->u_values[i] == 0 && run->base.problem->b_values[i] == 0;
    if (is_zero && run->options->script)
        weft_log(&run->base.messages->monitor, WEFT_LOG_WARNING,
                 "%s has no %s, and no condition has a value other than 0, so that u = 0 is the "
                 "solution: write %s for a load",
                 run->options->script, is_form ? "form L" : "vector b",
                 is_form ? "L = f*v*dx" : "b[dofs] += ...;");
}

weft_status solve_load_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_vectors_compile(run->base.problem, error));
    if (!run->options->nonlinear || run->base.is_null)
        TRY(weft_problem_load(run->base.problem, 1, run->options->run.derived.reactions, error));
done:
    return status;
}

void solve_load_release(solve *run) {
    const bool gathers = weft_assembly_about(run->base.problem->linear.choice.assembly)->scatter ==
                         WEFT_SCATTER_GATHERED;
    if (run->options->nonlinear)
        return;
    weft_problem_vectors_release(run->base.problem);
    for (int i = 0; i < run->base.problem->n_parts && !gathers; ++i)
        if (run->script.parts[i].dofs)
            weft_connectivity_release_transposed(run->script.parts[i].dofs[0].connectivity);
    if (!gathers)
        weft_connectivity_release_transposed(weft_space_cells(run->base.problem->space));
}

const char *solve_how_to_fix(const solve *run) {
    return run->script.ufl && run->options->run.conditions.n == 0
               ? "no condition is given, and a form file has none of its own: add --dirichlet "
                 "boundary=0 for u = 0 on the whole boundary"
               : "fix u somewhere by --dirichlet GROUP=EXPR or --robin GROUP=ALPHA,EXPR";
}

/* If no condition fixes the constant, check that b sums to zero, up to rounding and the quadrature
 * error of compatible data. */
weft_status solve_balance_check(solve *run, weft_error *error) {
    const weft_balance balance = weft_balance_of(run->base.problem->b_values, run->n_dofs);
    if (fabs(balance.sum) > balance.bound) {
        weft_error_set(
            error, WEFT_ERROR_INPUT,
            "nothing fixes the constant in u, so the vector must sum to zero, but its sum is %.10g",
            balance.sum);
        weft_error_hint(error, "%s, or subtract %.10g from the source", solve_how_to_fix(run),
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
