/* The app advection_diffusion: runs its steps in order and reports the outcome. */
#include "apps/advection_diffusion/advection_diffusion.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* mesh -> dofs -> coefficients -> stepper -> steps -> report */
static weft_status solve(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_run_start(&run->base, error));
    ad_problem_set(run);
    run->base.work = ad_work(run);
    TRY(app_run_open(&run->base, error));
    if (ad_is_first(run))
        TRY(ad_check(run, error));
    TRY(app_run_mesh_make(&run->base, error));
    TRY(ad_part_take(run, error));
    const double start = weft_context_clock(&run->base.context);
    TRY(ad_dofs_make(run, error));
    if (ad_is_first(run))
        TRY(ad_state(run, error));
    TRY(ad_coefficients_check(run, error));
    TRY(ad_stepper_make(run, error));
    TRY(ad_restart(run, error));
    if (ad_is_first(run))
        TRY(ad_derive_make(run, error));
    run->base.seconds.assembly = weft_context_clock(&run->base.context) - start;
    TRY(run->base.is_null ? ad_plan_print(run, error) : ad_solve(run, error));
    if (!ad_is_first(run))
        goto done;
    if (run->base.derive)
        TRY(weft_derive_run(run->base.derive, run->state.t, error));
    app_run_finish(&run->base);
    if (!run->base.is_null)
        TRY(ad_report_print(run, error));
    TRY(ad_json_write(run, error));
done:
    return status;
}

void ad_clear(ad_run *run) {
    app_history_close(&run->history);
    (void)weft_series_close(&run->series, NULL); /* after an error; else it is closed */
    weft_advection_diffusion_free(&run->stepper);
    weft_field_measure_free(&run->measure);
    for (int i = 0; i < run->n_records; ++i)
        free(run->records[i].probes);
    free(run->records);
    free(run->probe_cells);
    free(run->probe_weights);
    free(run->values);
    ad_part_clear(run);
    app_run_clear(&run->base);
}

/* An app_rank_steps of a run that has made nothing yet. */
static weft_status run_rank(void *user, weft_comm *comm, const weft_monitor *monitor,
                            weft_error *error) {
    const ad_run *given = user;
    ad_run *run = given->first, own;
    if (monitor) {
        own = *given;
        own.base.monitor = monitor;
        run = &own;
    }
    run->part.comm = comm;
    if (comm)
        weft_comm_device(comm, run->options->run.device, run->base.device_name,
                         sizeof run->base.device_name);
    const weft_status status = solve(run, error);
    if (monitor)
        ad_clear(&own);
    return status;
}

/* A failed solve is not an error of the program, but the exit code reports it. */
static int report_outcome(const ad_run *run) {
    static const char *const said[] = {
        [WEFT_STEP_NAN] = "T is no longer finite (NaN or infinite)",
        [WEFT_STEP_BLOW_UP] = "T has diverged: it is a million times the given values",
        [WEFT_STEP_ADVECTION] = "a solve with the mass matrix has not converged",
        [WEFT_STEP_DIFFUSION] = "the solve of the diffusion has not converged"};
    static const char *const advice[] = {
        [WEFT_STEP_NAN] = "take a smaller --dt (see the CFL number), or look for places where an "
                          "expression has no value",
        [WEFT_STEP_BLOW_UP] =
            "take a smaller --dt (see the CFL number); with --theta below 0.5, raise it",
        [WEFT_STEP_ADVECTION] = "raise --max-iterations or --tolerance",
        [WEFT_STEP_DIFFUSION] = "raise --max-iterations or --tolerance, or take a smaller --dt"};
    const weft_step_outcome outcome = run->state.outcome;
    if (run->base.is_null || outcome == WEFT_STEP_DONE)
        return 0;
    fprintf(stderr,
            "advection_diffusion: error: stopped after step %" PRId64
            " (t = %g), %s: %s\nhint: %s\n",
            run->state.step, run->state.t, weft_step_outcome_name(outcome), said[outcome],
            advice[outcome]);
    return 1;
}

/* A requested stop is not an error either: the exit code is 128 + signal, as in a shell. */
static int report_stop(const ad_run *run) {
    const ad_options *o = run->options;
    fprintf(stderr,
            "advection_diffusion: stopped by %s after step %" PRId64 " of %d (t = %g)\nhint: ",
            run->stopped == SIGINT ? "Ctrl-C (SIGINT)" : strsignal(run->stopped), run->state.step,
            o->steps, run->state.t);
    if (!o->files.checkpoint)
        fputs("with --checkpoint FILE a later run can continue it\n", stderr);
    else if (run->kept_step == run->state.step)
        fprintf(stderr, "continue with --restart %s\n", o->files.checkpoint);
    else
        fputs("no step was finished, so there is no new checkpoint\n", stderr);
    return 128 + run->stopped;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    ad_options options = {0};
    app_messages messages = {0};
    const weft_processes launch = weft_processes_find();
    weft_comm *processes = NULL;
    bool is_common = true;
    ad_run run = {.options = &options,
                  .base = {.options = &options.run, .monitor = &messages.monitor},
                  .limits = {NAN, NAN, INFINITY}};
    app_ensure_standard_streams();
    TRY(app_messages_make(&messages, "advection_diffusion", stderr, APP_NORMAL, &error));
    TRY(ad_options_read(argc, argv, &options, &error));
    TRY(weft_problem_resume_choices(options.files.resume, &options.run.solver, &error));
    TRY(app_messages_make(&messages, "advection_diffusion", stderr,
                          launch.rank > 0 ? APP_QUIET : options.run.verbosity, &error));
    TRY(app_ranks_check(&options.run, &launch, &error));
    is_common = false;
    if (launch.size > 1)
        TRY(weft_comm_mpi_make(NULL, &messages.monitor, &processes, &error));
    ad_run given = run; /* other ranks start from it, while the first one runs */
    given.first = &run;
    TRY(app_ranks_run(&options.run, processes, "advection_diffusion", run_rank, &given, &error));
done:
    app_messages_clear(&messages.monitor);
    int code = 0; /* of a process whose first one reports the outcome */
    if (status != WEFT_OK)
        code = app_ranks_fail(&launch, is_common, &messages, processes, &error);
    else if (launch.rank == 0)
        code = run.stopped ? report_stop(&run) : report_outcome(&run);
    ad_clear(&run);
    weft_comm_free(&processes);
    ad_options_clear(&options);
    return code;
}
