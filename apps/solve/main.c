/* The app solve: runs its steps in order and reports the outcome. */
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>

/* script -> mesh -> ordering -> dofs -> inputs -> operator -> right-hand side -> CG or Newton ->
 * errors -> output */
static weft_status solve_all(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    run->base.seconds.started = weft_clock(); /* the script is read first */
    TRY(solve_script_read(run, error));
    TRY(app_run_open(&run->base, error));
    TRY(solve_script_try(run, error));
    TRY(solve_check(run, error));
    TRY(app_run_mesh_make(&run->base, error));
    TRY(weft_context_tune(&run->base.context, run->options->run.tune, run->base.mesh->n_cells,
                          error));
    const double start = app_clock(&run->base.context);
    TRY(solve_script_fit(run, error));
    TRY(solve_dofs_make(run, error));
    TRY(solve_data_make(run, error));
    TRY(solve_operator_make(run, error));
    TRY(solve_load_make(run, error));
    run->base.seconds.assembly = app_clock(&run->base.context) - start;
    if (run->base.is_null) {
        TRY(solve_plan_print(run, error));
    } else {
        TRY(run->options->nonlinear ? solve_newton(run, error) : solve_linear(run, error));
        TRY(solve_measure(run, error));
        TRY(solve_output_write(run, error));
    }
    app_run_finish(&run->base);
    if (!run->base.is_null)
        TRY(solve_report_print(run, error));
    TRY(solve_json_write(run, error));
done:
    return status;
}

void solve_clear(solve *run) {
    weft_program_free(&run->vector_program);
    weft_compilation_free(&run->vector_compilation);
    weft_operator_free(&run->robin);
    weft_symmetry_free(&run->symmetry);
    for (int i = 0; i < run->n_inputs; ++i) {
        weft_memory_free(&run->inputs[i].memory);
        free(run->inputs[i].values);
    }
    free(run->inputs);
    app_free_list(&run->exact, run->components);
    weft_memory_free(&run->load);
    free(run->flux);
    free(run->iterations);
    solve_script_clear(&run->script);
    app_run_clear(&run->base);
}

static const app_cg_advice linear_advice = {
    .indefinite = "the matrix is not positive definite: look at the signs in the script, at "
                  "coefficients <= 0, and at ALPHA < 0 in --robin",
    .breakdown = "look at the coefficients, or try --preconditioner none",
    .nan = "a value is not a number or too large: look at --input and --define"};

static const char *newton_advice(const weft_cg_result *cg) {
    switch (cg->outcome) {
    case WEFT_CG_CONVERGED:
        return "take more --load-steps or --newton-iterations; where the residuals fall no more, "
               "raise --newton-tolerance, or look whether K is the derivative of r";
    case WEFT_CG_INDEFINITE:
        return "the tangent is not positive definite there, for example because a part buckles: "
               "take smaller "
               "loads or more --load-steps";
    case WEFT_CG_MAX_ITERATIONS:
        return "raise --max-iterations or --tolerance";
    case WEFT_CG_NAN:
        return "a value is not a number or too large: take more --load-steps, or look at --input "
               "and "
               "--define";
    default:
        return "the tangent is nearly singular there: take smaller loads or more --load-steps, or "
               "fix u in more places";
    }
}

static int report_newton(const solve *run) {
    const app_run_options *options = &run->options->run;
    const solve_iteration *last =
        run->n_iterations ? &run->iterations[run->n_iterations - 1] : NULL;
    if (run->newton_converged)
        return 0;
    fprintf(stderr, "solve: error: Newton's method has not converged: ");
    if (run->base.cg.outcome != WEFT_CG_CONVERGED)
        fprintf(stderr, "conjugate gradients: %s, ", weft_cg_outcome_name(run->base.cg.outcome));
    if (last && isnan(last->residual))
        fprintf(stderr, "the residual is not a number");
    else
        fprintf(stderr, "relative residual %.2e", last ? last->residual : NAN);
    fprintf(stderr, " in load step %d, iteration %d (tolerance %g)\nhint: %s",
            last ? last->step : 0, last ? last->iteration : 0, run->options->newton_tolerance,
            newton_advice(&run->base.cg));
    if (options->output && !options->keep_unconverged)
        fprintf(stderr, "; --keep-unconverged writes %s anyway", options->output);
    fputc('\n', stderr);
    return 1;
}

/* A solve that does not converge is not an error of the program, but the exit code reports it. */
static int report_outcome(const solve *run) {
    if (run->base.is_null)
        return 0;
    if (run->options->nonlinear)
        return report_newton(run);
    if (run->base.cg.outcome == WEFT_CG_CONVERGED)
        return 0;
    app_cg_complain("solve", &run->options->run, &run->base.cg, &linear_advice);
    return 1;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    solve_options options = {0};
    app_messages messages = {0};
    solve run = {.options = &options,
                 .base = {.options = &options.run,
                          .messages = &messages,
                          .l2_error = NAN,
                          .h1_error = NAN,
                          .energy = NAN},
                 .sum = NAN};
    app_ensure_standard_streams();
    TRY(app_messages_make(&messages, "solve", stderr, APP_NORMAL, &error));
    TRY(solve_options_read(argc, argv, &options, &error));
    TRY(app_messages_make(&messages, "solve", stderr, options.run.verbosity, &error));
    TRY(solve_all(&run, &error));
done:
    app_messages_clear(&messages);
    int code = status == WEFT_OK ? report_outcome(&run) : app_messages_fail(&messages, &error);
    solve_clear(&run);
    solve_options_clear(&options);
    return code;
}
