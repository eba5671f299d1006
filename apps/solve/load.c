/* Makes the right-hand side, and checks what a problem without conditions needs of it. */
#include "apps/solve/solve.h"

/* Without a vector, and with nothing else that makes u differ from zero. u has its prescribed values. */
void solve_load_advise(const solve *run) {
    const bool is_form = run->script.ufl != NULL;
    bool is_zero = !run->base.problem->forms.vector && !run->base.is_null &&
                   !run->options->nonlinear && !app_has_constraints(run->base.options);
    for (int64_t i = 0; is_zero && i < run->base.problem->fields.n_dofs; ++i)
        is_zero = run->base.problem->system.u_values[i] == 0 &&
                  run->base.problem->system.b_values[i] == 0;
    if (is_zero && run->options->script)
        weft_log(run->base.monitor, WEFT_LOG_WARNING,
                 "%s has no %s, and no condition has a value other than 0, so that u = 0 is the "
                 "solution: write %s for a load",
                 run->options->script, is_form ? "form L" : "vector b",
                 is_form ? "L = f*v*dx" : "b[dofs] += ...;");
}

weft_status solve_load_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_vectors_compile(run->base.problem, error));
    if (!run->options->nonlinear || run->base.is_null)
        TRY(weft_problem_load(run->base.problem, 1, error));
done:
    return status;
}
