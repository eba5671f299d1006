/* Computes errors, integrals and energy of the solution, its values at the probes, derived quantities and the balance. */
#include "apps/solve/solve.h"

static weft_status measure_errors(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double l2 = 0, h1 = 0;
    TRY(weft_problem_errors(run->base.problem, (const char *const *)run->exact, "--exact",
                            run->time.state.t, run->errors[0], run->errors[1], error));
    for (int k = 0; k < run->base.problem->fields.n_values; ++k) {
        l2 += run->errors[0][k] * run->errors[0][k];
        h1 += run->errors[1][k] * run->errors[1][k];
    }
    app_run_set_errors(&run->base, l2, h1);
done:
    return status;
}

weft_status solve_measure(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool has_energy = !run->options->nonlinear && !run->options->time.text;
    TRY(weft_problem_measure(run->base.problem, run->integral_u,
                             has_energy ? &run->base.energy : NULL, error));
    if (run->exact)
        TRY(measure_errors(run, error));
    if (run->options->sum)
        TRY(weft_problem_sum(run->base.problem, run->options->sum, &run->sum, error));
    TRY(app_run_measure_probes(&run->base, error));
done:
    return status;
}

weft_status solve_derive_make(solve *run, weft_error *error) {
    weft_derive_problem settings = {.aliases = run->aliases};
    if (run->program->name_coefficients)
        settings.n_aliases = run->program->name_coefficients(run, run->aliases);
    return app_run_derive_make(&run->base, &settings, error);
}

weft_status solve_balance_in_time(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_time_options *options = &run->options->time;
    weft_problem_balance *balance = &run->base.balance;
    if (!run->options->run.derived.reactions || run->time.state.outcome != WEFT_TRANSIENT_DONE)
        goto done;
    TRY(weft_problem_reactions_in_time(run->base.problem, run->time.transient, balance, error));
    if (!balance->is_made && weft_comm_rank(run->comm) == 0)
        weft_log(run->base.monitor, WEFT_LOG_WARNING, "no step was made: there are no reactions");
    if (solve_time_is_own(run))
        run->base.balance_note = "as the script writes its own scheme; storage is in 'equation'";
    else if (weft_time_scheme_about(options->scheme)->takes_theta && options->theta < 1)
        run->base.balance_note = "means over the last step";
done:
    return status;
}

weft_status solve_derive(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool in_time = run->options->time.text != NULL;
    if (run->base.derive && !(in_time && run->base.is_null))
        TRY(weft_derive_run(run->base.derive, run->time.state.t, error));
    if (run->options->run.derived.reactions && !run->base.is_null && !in_time)
        TRY(weft_problem_reactions(run->base.problem, &run->base.balance, error));
done:
    return status;
}
