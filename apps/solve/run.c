/* Runs the steps of solve or poisson in order and reports the outcome. */
#include "apps/common/statement.h"
#include "apps/solve/solve.h"

#include <math.h>

/* What is solved, in words. */
static weft_status state(solve *run, weft_error *error) {
    const char *natural =
        run->base.problem->fields.is_natural || run->base.problem->fields.n > 1 ? "natural" : NULL;
    weft_text equation = {0};
    run->program->state(run, &equation);
    const weft_status status = app_run_state(
        &run->base, &equation, weft_fields_name(&run->base.problem->fields), natural, error);
    weft_text_free(&equation);
    return status;
}

/* u, b, and what the script reads */
static weft_status make_data(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = run->base.problem;
    const char *initial = run->options->initial;
    TRY(weft_problem_vectors_make(problem, error));
    TRY(weft_inputs_scale_loads(&problem->inputs, 1, error));
    if (problem->forms.n_parts > 0)
        TRY(weft_problem_make_inputs(problem, error));
    if (initial && !run->options->time.text)
        TRY(weft_problem_set_initial(problem, initial, "--initial", error));
    if (!run->options->nonlinear)
        weft_fields_set_conditions(&problem->fields, 1, problem->system.u_values);
    TRY(weft_vector_push(problem->system.u, problem->system.u_values,
                         run->base.problem->fields.n_dofs, error));
done:
    return status;
}

weft_status solve_problem_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    run->components = 1;
    if (run->options->script)
        TRY(solve_script_fit(run, error));
    weft_problem_presume_symmetric(run->base.problem);
    run->base.problem->system.is_symmetric |=
        !run->options->script; /* poisson's matrix is known to be */
    TRY(app_run_constraints_declare(
        &run->base,
        run->base.problem->fields.n > 0 ? run->base.problem->fields.n_values : run->components,
        error));
    TRY(weft_problem_choose(run->base.problem, error));
    TRY(app_run_space_make(&run->base, run->components, error));
    if (run->options->exact && !run->exact)
        TRY(weft_formula_components("--exact", run->options->exact,
                                    run->base.problem->fields.n_values, &run->exact, error));
    TRY(make_data(run, error));
    if (!run->options->time.text)
        TRY(run->program->form_make(run, error));
done:
    return status;
}

weft_status solve_show_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(state(run, error));
    TRY(solve_derive_make(run, error));
done:
    return status;
}

/* dofs -> inputs -> right-hand side -> operator */
static weft_status assemble(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_context_clock(&run->base.context);
    TRY(solve_problem_make(run, error));
    if (run->options->time.text) {
        if (!run->comm)
            TRY(state(run, error));
        TRY(solve_time_make(run, error));
        if (!run->comm)
            TRY(solve_derive_make(run, error));
        goto done;
    }
    if (run->options->eigen.n > 0) {
        TRY(state(run, error));
        goto done;
    }
    TRY(weft_problem_assemble(run->base.problem, error));
    if (!run->options->nonlinear && !run->base.is_null)
        weft_problem_precompile(run->base.problem);
    if (run->comm) /* what follows is for the whole mesh */
        goto done;
    TRY(solve_show_make(run, error));
done:
    run->base.seconds.assembly = weft_context_clock(&run->base.context) - start;
    return status;
}

/* Krylov method or Newton */
static weft_status compute(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->options->eigen.n > 0) {
        status = solve_eigen_compute(run, error);
        goto done;
    }
    const weft_newton_options *newton = run->options->nonlinear ? &run->options->newton : NULL;
    app_seconds *seconds = &run->base.seconds;
    TRY(run->options->time.text ? solve_time_run(run, error)
                                : weft_problem_compute(run->base.problem, newton, error));
    if (!run->options->time.text) {
        seconds->precondition = run->base.problem->system.linear.precondition_seconds;
        seconds->solve = run->base.problem->system.linear.solve_seconds;
    }
    if (run->comm)
        TRY(solve_join_parts(run, error));
    if (run->options->time.text)
        TRY(solve_balance_in_time(solve_shown(run), error));
done:
    return status;
}

/* Errors -> output */
static weft_status measure(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_context_clock(&run->base.context);
    if (run->eigen) {
        status = solve_eigen_write(run, error);
        goto done;
    }
    TRY(solve_measure(run, error));
    TRY(solve_derive(run, error));
    TRY(solve_gradient_compute(run, error));
    TRY(app_run_lines_write(&run->base, error));
    if (!run->options->time.text)
        run->base.seconds.measure =
            weft_context_clock(&run->base.context) - start + run->ranks.join;
    TRY(solve_output_write(run, error));
done:
    return status;
}

/* The time of scripts and forms relative to that of poisson, at most (docs/measurements.md). */
static const double FORM_WEIGHT = 2;

/* The highest degree whose work the prediction knows: local matrices of higher ones take longer. */
enum { DEGREE_MOST = 2 };

/* The work before the device is open. Mixed functions and those that are not continuous have other solvers than the prediction
 * knows, and the number of steps with --time-tolerance is not known. The device of a run that is continued must not depend on
 * the number of its steps. A script's u may have any number of components, and three are assumed. */
static app_work work_of(const solve *run) {
    const solve_options *options = run->options;
    const int method = options->run.solver.method;
    const weft_ufl_problem *problem = run->script.problem;
    const weft_ufl_set *unknown = problem ? &problem->sets[0] : NULL;
    const bool is_continued = options->time.files.checkpoint || options->time.files.resume;
    app_work work = {.is_known = options->time.tolerance == 0 && !is_continued,
                     .is_general = method != WEFT_AUTO &&
                                   !weft_method_about((weft_method)method)->needs_symmetric,
                     .reassembles = options->nonlinear,
                     .components = options->script ? 3 : 1,
                     .weight = options->script ? FORM_WEIGHT : 1,
                     .solves = run->base.problem->expected_solves};
    if (!unknown)
        return work;
    work.degree = unknown->sub[0].degree;
    work.components = problem->components;
    const weft_family_info *about = weft_family_about(unknown->sub[0].family);
    work.is_known = work.is_known && unknown->n == 1 && about->is_lattice && about->is_continuous &&
                    work.degree <= DEGREE_MOST;
    return work;
}

static double count_solves(const solve_options *options) {
    const double steps = options->time.dt > 0 ? ceil(options->time.end / options->time.dt)
                                              : options->newton.load_steps;
    return options->nonlinear     ? WEFT_NEWTON_USUAL * steps
           : options->time.dt > 0 ? steps
           : options->eigen.n > 0 ? options->eigen.n
                                  : 1;
}

/* script -> mesh -> ordering -> memory estimate -> dofs -> inputs -> right-hand side -> operator
 * -> Krylov method or Newton -> errors -> output */
weft_status solve_run_steps(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_first = weft_comm_rank(run->comm) == 0;
    TRY(app_run_start(&run->base, error)); /* the script is read first */
    run->base.problem->expected_solves = count_solves(run->options);
    if (run->options->script)
        TRY(solve_script_read(run, error));
    run->base.work = work_of(run);
    TRY(app_run_open(&run->base, error));
    run->base.context.comm = run->comm;
    if (run->options->script)
        TRY(solve_script_try(run, error));
    if (is_first)
        TRY(solve_check(run, error));
    if (!run->options->script && is_first)
        TRY(app_memory_forecast(run->base.device, run->base.options, error));
    TRY(app_run_mesh_make(&run->base, error));
    TRY(solve_take_part(run, error));
    TRY(weft_context_tune(&run->base.context, run->options->run.solver.tune,
                          run->base.mesh->n_cells, error));
    TRY(assemble(run, error));
    TRY(run->base.is_null ? solve_null_print(run, error) : compute(run, error));
    if (!is_first)
        goto done;
    run = solve_shown(run);
    if (!run->base.is_null)
        TRY(measure(run, error));
    app_run_finish(&run->base);
    if (!run->base.is_null)
        TRY(solve_report_print(run, error));
    TRY(solve_json_write(run, error));
done:
    return status;
}

void solve_run_clear(solve *run) {
    free(run->ranks.shares);
    weft_eigen_free(&run->eigen);
    solve_gradient_clear(run);
    solve_time_clear(run);
    solve_whole_free(run);
    weft_formula_list_free(&run->exact, run->base.problem ? run->base.problem->fields.n_values : 0);
    if (run->whole) /* parts of it are on the device */
        app_mesh_free(&run->whole, &run->whole_made);
    app_run_clear(&run->base);
    solve_script_clear(run); /* which the problem and the library read */
}

static int report_newton(const solve *run) {
    const app_run_options *options = &run->options->run;
    const weft_problem_iteration *last =
        run->base.problem->newton.n
            ? &run->base.problem->newton.iterations[run->base.problem->newton.n - 1]
            : NULL;
    char advice[WEFT_ADVICE_MAX];
    if (run->base.problem->newton.converged)
        return 0;
    fprintf(stderr, "solve: error: Newton's method has not converged: ");
    if (run->base.problem->system.linear.cg.outcome != WEFT_CG_CONVERGED)
        fprintf(stderr, "%s: %s, ",
                run->base.problem->system.linear.choice.method == WEFT_METHOD_CG
                    ? "conjugate gradients"
                    : weft_method_about(run->base.problem->system.linear.choice.method)->title,
                weft_cg_outcome_name(run->base.problem->system.linear.cg.outcome));
    if (last && isnan(last->residual))
        fprintf(stderr, "the residual is not a number");
    else
        fprintf(stderr, "relative residual %.2e", last ? last->residual : NAN);
    fprintf(stderr, " in load step %d, iteration %d (tolerance %g)\nhint: %s",
            last ? last->step : 0, last ? last->iteration : 0, run->options->newton.tolerance,
            weft_problem_advice(run->base.problem, advice));
    if (options->output && !options->keep_unconverged)
        fprintf(stderr, "; --keep-unconverged writes %s anyway", options->output);
    fputc('\n', stderr);
    return 1;
}

static int report_gradient(const solve *run) {
    if (!solve_gradient_is_wrong(run))
        return 0;
    fprintf(stderr,
            "%s: error: the adjoint problem of %s, or a projection, has not converged: the "
            "derivatives are wrong\n"
            "hint: raise --max-iterations, or choose another --preconditioner\n",
            run->program->name, run->options->gradient);
    return 1;
}

/* A solve that does not converge is not an error of the program, but the exit code reports it. */
static int report_outcome(const solve *run) {
    if (run->base.is_null)
        return 0;
    if (run->options->time.text)
        return solve_time_report(run);
    if (run->eigen)
        return solve_eigen_report(run);
    if (run->options->nonlinear)
        return report_newton(run) || report_gradient(run);
    if (run->base.problem->system.linear.cg.outcome == WEFT_CG_CONVERGED)
        return report_gradient(run);
    app_cg_complain(run->program->name, &run->base);
    return 1;
}

int solve_main(const solve_program *program, int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    solve_options options = {0};
    app_messages messages = {0};
    const weft_processes launch = weft_processes_find();
    weft_comm *processes = NULL;
    bool is_common = true;
    solve run = {.program = program,
                 .options = &options,
                 .base = {.options = &options.run,
                          .monitor = &messages.monitor,
                          .l2_error = NAN,
                          .h1_error = NAN,
                          .energy = NAN},
                 .sum = NAN};
    app_ensure_standard_streams();
    TRY(app_messages_make(&messages, program->name, stderr, APP_NORMAL, &error));
    TRY(program->options_read(argc, argv, &options, &error));
    TRY(weft_problem_resume_choices(options.time.files.resume, &options.run.solver, &error));
    TRY(app_messages_make(&messages, program->name, stderr,
                          launch.rank > 0 ? APP_QUIET : options.run.verbosity, &error));
    TRY(app_ranks_check(&options.run, &launch, &error));
    is_common = false;
    if (launch.size > 1)
        TRY(weft_comm_mpi_make(NULL, &messages.monitor, &processes, &error));
    TRY(solve_on_ranks(&run, processes, &error));
done:
    app_messages_clear(&messages.monitor);
    int code = 0; /* of a process whose first one reports the outcome */
    if (status != WEFT_OK)
        code = app_ranks_fail(&launch, is_common, &messages, processes, &error);
    else if (launch.rank == 0)
        code = report_outcome(solve_shown(&run));
    solve_run_clear(&run);
    weft_comm_free(&processes);
    solve_options_clear(&options);
    return code;
}
