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
    for (int64_t i = 0; is_zero && i < run->base.problem->n_dofs; ++i)
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
        TRY(weft_problem_load(run->base.problem, 1, error));
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
        if (run->base.problem->parts[i].dofs)
            weft_connectivity_release_transposed(run->base.problem->parts[i].dofs);
    if (!gathers)
        weft_connectivity_release_transposed(weft_space_cells(run->base.problem->space));
}
